//! One line of an option file, taken apart exactly as servers and their clients do it: what counts
//! as a comment, where a name ends, which quotes and escapes go away.

/// What one line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// A comment or nothing.
    Nothing,
    /// `[group]`: the text between the brackets without blanks at its end.
    Group(&'t str),
    /// `[` without a `]`.
    UnclosedGroup,
    /// `!include` and the path.
    Include(&'t str),
    /// `!includedir` and the path.
    IncludeDirectory(&'t str),
    /// An include directive without a path.
    IncludeNothing,
    /// Any other line that begins with `!`: servers pass over it in silence.
    UnknownDirective,
    /// An option, its name as written.
    Assignment {
        /// The part before the first `=`, or the whole line.
        name: &'t str,
        /// The part after it, without quotes and with escapes resolved; `None` without a `=`.
        value: Option<String>,
    },
}

/// The characters servers skip round names and values.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// Takes a line apart; it may end with its line break.
pub(crate) fn take_apart(line: &str) -> Line<'_> {
    take_apart_with(line, without_comment)
}

/// Takes a line of a login path file apart, where a `#` after other text begins no comment.
pub(crate) fn take_apart_login(line: &str) -> Line<'_> {
    take_apart_with(line, |line| line)
}

fn take_apart_with<'t>(line: &'t str, uncomment: impl Fn(&'t str) -> &'t str) -> Line<'t> {
    // To a server, which reads C strings, a line ends at the first NUL.
    let line = line.split('\0').next().unwrap_or_default();
    let line = line.trim_matches(is_blank);
    match line.chars().next() {
        None | Some('#' | ';') => Line::Nothing,
        Some('!') => directive(line.get(1..).unwrap_or_default()),
        Some('[') => {
            let inside = line.get(1..).unwrap_or_default();
            match inside.split_once(']') {
                Some((group, _)) => Line::Group(group.trim_end_matches(is_blank)),
                None => Line::UnclosedGroup,
            }
        }
        Some(_) => assignment(uncomment(line)),
    }
}

fn directive(text: &str) -> Line<'_> {
    let text = text.trim_start_matches(is_blank);
    let end = text.find(is_blank).unwrap_or(text.len());
    let (word, path) = text.split_at(end);
    let path = path.trim_matches(is_blank);
    match word {
        "include" | "includedir" if path.is_empty() => Line::IncludeNothing,
        "include" => Line::Include(path),
        "includedir" => Line::IncludeDirectory(path),
        _ => Line::UnknownDirective,
    }
}

fn assignment(line: &str) -> Line<'_> {
    match line.split_once('=') {
        None => Line::Assignment { name: line.trim_end_matches(is_blank), value: None },
        Some((name, value)) => Line::Assignment {
            name: name.trim_end_matches(is_blank),
            value: Some(unescape(unquote(value.trim_matches(is_blank)))),
        },
    }
}

/// Cuts the line at the first `#` that is not inside quotes. A quote may open anywhere: the
/// apostrophe of `don't` does.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if matches!(c, '\'' | '"') && !escaped {
            match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => {}
            }
        }
        if quote.is_none() && c == '#' {
            return line.get(..at).unwrap_or_default();
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
    }
    line
}

/// Takes one pair of equal quotes off.
fn unquote(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value)
}

/// Resolves escapes; an unknown one keeps its backslash, and so does the last character.
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            None => text.push('\\'),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('s') => text.push(' '),
            Some(c @ ('"' | '\'' | '\\')) => text.push(c),
            Some(other) => {
                text.push('\\');
                text.push(other);
            }
        }
    }
    text
}

/// Writes a value so that [`take_apart`] gives it back.
pub(crate) fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+%@=~*".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(line: &str) -> Option<String> {
        match take_apart(line) {
            Line::Assignment { value, .. } => value,
            other => panic!("{line:?} is not an assignment but {other:?}"),
        }
    }

    #[test]
    fn finds_groups_and_directives() {
        assert_eq!(take_apart("  [mysqld ]  # x"), Line::Group("mysqld"));
        assert_eq!(take_apart("[ mysqld]"), Line::Group(" mysqld"));
        assert_eq!(take_apart("[mysqld] a=1"), Line::Group("mysqld"));
        assert_eq!(take_apart("[]"), Line::Group(""));
        assert_eq!(take_apart("[mysqld"), Line::UnclosedGroup);
        assert_eq!(take_apart("!includedir\t/etc/x/ \r\n"), Line::IncludeDirectory("/etc/x/"));
        assert_eq!(take_apart("! include a b # c"), Line::Include("a b # c"));
        assert_eq!(take_apart("!include \n"), Line::IncludeNothing);
        assert_eq!(take_apart("!includes x"), Line::UnknownDirective);
        assert_eq!(take_apart("!"), Line::UnknownDirective);
        for nothing in ["", " \t\r\n", " # a=1", ";a=1", "\0a=1"] {
            assert_eq!(take_apart(nothing), Line::Nothing, "{nothing:?}");
        }
    }

    /// The expected values are what MySQL 9.7 and MariaDB 10.11 made of these lines.
    #[test]
    fn resolves_quotes_escapes_and_comments() {
        for (line, expected) in [
            ("a=don't # c", "don't # c"),
            ("b=\"x", "\"x"),
            ("c='x\"", "'x\""),
            ("d=\"a\"b\"", "a\"b"),
            ("e=", ""),
            ("f=\"\"", ""),
            ("g='", "'"),
            ("i=a\\sb\\q\\", "a b\\q\\"),
            ("j=\"a\\\"", "a\\"),
            ("k==b", "=b"),
            ("l = one ; two # three", "one ; two"),
            ("m = \"one # two\" # three", "one # two"),
            ("n = 'it\\'s # in' # out", "it's # in"),
            ("o = a\\\\nb\\tc", "a\\nb\tc"),
            ("p = \"C:\\mysql\\data\\\"", "C:\\mysql\\data\\"),
        ] {
            assert_eq!(value(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(value("log_bin # switch"), None);
    }

    #[test]
    fn a_login_path_file_has_no_comments_behind_values() {
        let line = take_apart_login("password = a#b # c\n");
        let value = Some("a#b # c".to_owned());
        assert_eq!(line, Line::Assignment { name: "password", value });
        assert_eq!(take_apart_login("# x"), Line::Nothing);
    }

    #[test]
    fn a_name_ends_at_the_first_equals_sign() {
        let line = take_apart("=v");
        assert!(matches!(line, Line::Assignment { name: "", .. }), "{line:?}");
        let line = take_apart("innodb_buffer_pool_size: 2G");
        let name = "innodb_buffer_pool_size: 2G";
        assert_eq!(line, Line::Assignment { name, value: None });
    }

    proptest! {
        #[test]
        fn a_quoted_value_comes_back(text in "[^\0]{0,40}") {
            let line = format!("name = {}", quote(&text));
            prop_assert_eq!(value(&line), Some(text));
        }

        #[test]
        fn any_line_is_taken_apart(line in any::<String>()) {
            take_apart(&line);
        }
    }
}
