//! `innopool explain`: what a finding means.

use innopool_advice::catalog;

use crate::args::ExplainArgs;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::{render, terminal};

/// Prints the explanation of a code, or the list of all.
///
/// # Errors
/// When there is no such code; the most similar one is named.
pub(crate) fn run(args: &ExplainArgs, environment: &Environment) -> Result<Exit, Failure> {
    let page = terminal::page(environment, false, true);
    let text = match &args.code {
        None => render::explain_list(catalog::ALL, page),
        Some(code) => {
            let entry = catalog::find(&code.to_ascii_lowercase()).ok_or_else(|| unknown(code))?;
            render::explain_entry(entry, page)
        }
    };
    terminal::print(&text)?;
    Ok(Exit::Done)
}

fn unknown(code: &str) -> Failure {
    let hint = nearest(code).map_or_else(
        || "innopool explain lists them all".to_owned(),
        |nearest| format!("did you mean {nearest}?"),
    );
    Failure::usage(format!("there is no finding {code:?}; {hint}"))
}

/// The code that is most like what was typed, if any is.
fn nearest(typed: &str) -> Option<&'static str> {
    let typed = typed.to_ascii_lowercase().replace([' ', '_'], "-");
    // A beginning is meant as such, whatever the length of the rest.
    let begins =
        catalog::ALL.iter().find(|entry| typed.len() >= 3 && entry.code.starts_with(&typed));
    if let Some(entry) = begins {
        return Some(entry.code);
    }
    catalog::ALL
        .iter()
        .map(|entry| (distance(&typed, entry.code), entry.code))
        .min()
        .filter(|(distance, code)| *distance <= code.len() / 3)
        .map(|(_, code)| code)
}

/// The number of characters to insert, delete or replace (Levenshtein). What is far longer than
/// any code is not looked at.
fn distance(a: &str, b: &str) -> usize {
    const LENGTH_MAX: usize = 64;
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, from) in a.chars().take(LENGTH_MAX).enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("pool-to-small", "pool-too-small", 1),
            ("same", "same", 0),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_code_is_found_for_typos_and_beginnings_only() {
        assert_eq!(nearest("pool-to-smal"), Some("pool-too-small"));
        assert_eq!(nearest("Pool_too_small"), Some("pool-too-small"));
        assert_eq!(nearest("warmup-not"), Some("warmup-not-configured"));
        assert_eq!(nearest("entirely different"), None);
        assert_eq!(nearest(&"x".repeat(100_000)), None);
    }
}
