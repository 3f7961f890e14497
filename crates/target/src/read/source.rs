//! The lines of one pasted file, raw and in tidy form, and which of them plainly begin something.

use super::tidy::{is_rule, tidy};
use super::{configuration, error_log};

/// A file as lines.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    /// As they stand in the file.
    pub(crate) raw: Vec<&'t str>,
    /// As [`tidy`] makes them.
    pub(crate) tidy: Vec<String>,
}

impl<'t> Lines<'t> {
    /// Splits a text at `\n`, `\r\n` and lone `\r`.
    pub(crate) fn new(text: &'t str) -> Self {
        let raw: Vec<&str> = text
            .split('\n')
            .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
            .collect();
        let tidy = raw.iter().map(|line| tidy(line)).collect();
        Self { raw, tidy }
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// The raw line, or an empty one beyond the end.
    pub(crate) fn raw(&self, at: usize) -> &'t str {
        self.raw.get(at).copied().unwrap_or("")
    }

    /// The tidy line, or an empty one beyond the end.
    pub(crate) fn tidy(&self, at: usize) -> &str {
        self.tidy.get(at).map_or("", String::as_str)
    }

    /// True when a line can only be the beginning of some other output, so that a text which lacks
    /// its own end mark is over here.
    pub(crate) fn begins_output(&self, at: usize) -> bool {
        let (raw, tidy) = (self.raw(at), self.tidy(at));
        is_prompt(tidy)
            || raw.starts_with("+--")
            || is_vertical_row_mark(raw)
            || tidy.starts_with("# help mysql_")
            || tidy.starts_with("# type mysql_")
            || tidy.starts_with("memtotal:")
            || is_name_value_header(raw)
            || configuration::group(raw).is_some()
            || error_log::is_log_line(raw)
    }
}

/// The prompt of a client: `mysql>`, `MariaDB [shop]>`.
pub(crate) fn is_prompt(tidy: &str) -> bool {
    tidy.starts_with("mysql>") || tidy.starts_with("mysql [") || tidy.starts_with("mariadb [")
}

/// The line above each row of `\G` output: `***** 1. row *****`.
pub(crate) fn is_vertical_row_mark(raw: &str) -> bool {
    let inner = raw.trim();
    if !inner.starts_with("***") {
        return false;
    }
    let inner = inner.trim_matches(['*', ' ']);
    inner
        .strip_suffix(" row")
        .and_then(|number| number.strip_suffix('.'))
        .is_some_and(|number| number.len() <= 10 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The tab-separated heading of a name and value listing.
fn is_name_value_header(raw: &str) -> bool {
    let Some((name, value)) = raw.trim().split_once('\t') else {
        return false;
    };
    name.eq_ignore_ascii_case("variable_name")
        && (value.eq_ignore_ascii_case("value") || value.eq_ignore_ascii_case("variable_value"))
}

/// True when a rule line stands next to `at`, blank lines not counted.
pub(crate) fn has_rule_beside(tidy: &[String], at: usize) -> bool {
    let next = tidy.iter().skip(at + 1).take(3).find(|line| !line.is_empty());
    let before =
        tidy.get(..at).and_then(|lines| lines.iter().rev().take(3).find(|line| !line.is_empty()));
    [before, next].into_iter().flatten().any(|line| is_rule(line))
}
