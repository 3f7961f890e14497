//! Arguments that clap refuses, in words that never repeat a password.
//!
//! clap quotes the words it stumbles over. Where a password may be among them (`--password tulip`,
//! `mysql://ada:tulip@db1` in a wrong place) the quotation is left out.

use std::ffi::OsString;

use clap::error::{Error, ErrorKind};

/// What to say about refused arguments, or the help that was asked for.
pub(crate) enum Refusal {
    /// Text for stdout; nothing is wrong.
    Asked(String),
    /// Text for stderr.
    Wrong(String),
}

/// Puts clap's answer to `words` in a form that can be shown.
pub(crate) fn explain(error: &Error, words: &[OsString]) -> Refusal {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Asked(text),
        // Names options and not what was typed after them.
        ErrorKind::ArgumentConflict => Refusal::Wrong(after_error(&text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Refusal::Wrong(text),
        _ if words.iter().any(|word| may_be_secret(&word.to_string_lossy())) => {
            Refusal::Wrong(NOT_REPEATED.to_owned())
        }
        // The parsers of values say themselves what may be written.
        ErrorKind::ValueValidation => {
            Refusal::Wrong(after_error(text.lines().next().unwrap_or_default()) + "\n")
        }
        _ => Refusal::Wrong(after_error(&text)),
    }
}

fn after_error(text: &str) -> String {
    format!("innopool: {}", text.strip_prefix("error: ").unwrap_or(text))
}

const NOT_REPEATED: &str = "\
innopool: these arguments are wrong, and are not repeated here since a password may be among them.
--password takes no value, since every user of this machine could see it in the process list: write
it alone and type the password when asked, or put it in an option file or in MYSQL_PWD.
See innopool check --help.
";

fn may_be_secret(word: &str) -> bool {
    let account = word.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    word.starts_with("--pass")
        || (word.starts_with("-p") && !word.starts_with("--"))
        || account.is_some_and(|(account, _)| account.contains(':'))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Arguments;

    fn said(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let error = Arguments::try_parse_from(&words).unwrap_err();
        match explain(&error, &words) {
            Refusal::Asked(text) | Refusal::Wrong(text) => text,
        }
    }

    #[test]
    fn a_password_in_a_wrong_place_is_not_repeated() {
        for words in [
            &["innopool", "check", "mysql://ada@db1", "--password", "tulip"][..],
            &["innopool", "check", "-ptulip"],
            &["innopool", "check", "mysql://db1", "-p", "tulip"],
            &["innopool", "check", "--port", "mysql://ada:tulip@db1"],
            &["innopool", "check", "mysql://db1", "mysql://ada:tulip@db2"],
            &["innopool", "mysql://ada:tulip@db1"],
            &["innopool", "check", "x", "--passwort=tulip"],
            &["innopool", "check", "--password=tulip"],
        ] {
            let said = said(words);
            assert!(!said.contains("tulip"), "{words:?}: {said}");
        }
    }

    #[test]
    fn other_mistakes_are_named() {
        assert!(said(&["innopool", "check", "--intervall", "5"]).contains("--interval"));
        assert!(said(&["innopool", "check", "--interval", "soon"]).contains("90s"));
        assert!(said(&["innopool", "chek"]).contains("check"));
        let said = said(&["innopool", "check", "--from", "x", "-p"]);
        assert!(said.contains("--from") && said.contains("--password"), "{said}");
    }

    #[test]
    fn a_wrong_value_is_one_line_that_says_what_may_be_written() {
        for (option, value, right) in [
            ("--interval", "-5", "90s"),
            ("--statement-timeout", "-1", "90s"),
            ("--host-memory", "-1", "32G"),
            ("-P", "abc", "from 1 to 65535"),
            ("-P", "0", "from 1 to 65535"),
            ("--port", "-1", "from 1 to 65535"),
        ] {
            let said = said(&["innopool", "check", option, value]);
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(said.contains(right) && said.contains(value), "{said}");
        }
    }
}
