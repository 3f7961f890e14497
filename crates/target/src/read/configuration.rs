//! Telling option files and `mysqld-auto.cnf` from everything else. What stands in them is read by
//! [`crate::option_file`]; here only their place in a pasted file matters.

use std::ops::Range;

use super::source::Lines;

/// Groups of programs that read MySQL option files, by how their names begin.
const GROUPS: &[&str] = &[
    "client",
    "embedded",
    "galera",
    "isamchk",
    "mariadb",
    "myisam",
    "mysql",
    "ndb",
    "percona",
    "safe_mysqld",
    "server",
    "sst",
    "xtrabackup",
];

/// Keys at the top of MySQL's persisted variables, by server version.
const AUTO_KEYS: &[&str] = &[
    "\"mysql_server\"",
    "\"mysql_server_static_options\"",
    "\"mysql_static_variables\"",
    "\"mysql_dynamic_variables\"",
    "\"mysql_static_parse_early_variables\"",
    "\"mysql_dynamic_parse_early_variables\"",
    "\"mysql_static_sensitive_variables\"",
    "\"mysql_dynamic_sensitive_variables\"",
];

/// The group a line opens, if it is one a MySQL program reads: `[mysqld]`, but not `[Note]`.
pub(crate) fn group(raw: &str) -> Option<&str> {
    let (name, rest) = raw.trim_start().strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim_start();
    let comment = rest.is_empty() || rest.starts_with(['#', ';']);
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let known = name.len() <= 64
        && name.chars().all(plain)
        && GROUPS.iter().any(|group| {
            name.get(..group.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(group))
        });
    (comment && known).then_some(name)
}

/// `!include FILE` or `!includedir DIR`.
fn is_include(raw: &str) -> bool {
    let rest = raw.trim_start();
    ["!includedir ", "!include ", "!includedir\t", "!include\t"]
        .iter()
        .any(|word| rest.strip_prefix(word).is_some_and(|path| !path.trim().is_empty()))
}

/// The option file that begins at line `at`, up to other output or `until`.
pub(crate) fn option_file_at(lines: &Lines<'_>, at: usize, until: usize) -> Option<Range<usize>> {
    if group(lines.raw(at)).is_none() && !is_include(lines.raw(at)) {
        return None;
    }
    let end = (at + 1..until)
        .find(|line| {
            group(lines.raw(*line)).is_none()
                && (lines.begins_output(*line) || is_boxed_row(lines.raw(*line)))
        })
        .unwrap_or(until);
    Some(at..end)
}

/// A line of a boxed table; no option begins so.
fn is_boxed_row(raw: &str) -> bool {
    raw.starts_with('|')
}

/// Finds `mysqld-auto.cnf` in a file.
#[derive(Debug, Default)]
pub(crate) struct AutoFinder {
    /// Objects that begin before this line were looked at already.
    looked_until: usize,
    /// An object was found that never closes: no later one can either.
    unclosed: bool,
}

impl AutoFinder {
    /// The lines of the persisted variables that begin at line `at`.
    pub(crate) fn find(&mut self, lines: &Lines<'_>, at: usize) -> Option<Range<usize>> {
        if at < self.looked_until || self.unclosed || !lines.raw(at).trim_start().starts_with('{') {
            return None;
        }
        let end = object_end(lines, at).unwrap_or_else(|| {
            self.unclosed = true;
            lines.len()
        });
        self.looked_until = end;
        let holds_key = lines
            .raw
            .get(at..end)?
            .iter()
            .any(|line| AUTO_KEYS.iter().any(|key| line.contains(key)));
        holds_key.then_some(at..end)
    }
}

/// The line behind the one in which the JSON object that begins at line `at` closes.
fn object_end(lines: &Lines<'_>, at: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for line in at..lines.len() {
        for byte in lines.raw(line).bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' if !in_string => depth += 1,
                b'}' if !in_string => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(line + 1);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_alone_make_no_option_file() {
        assert_eq!(group("\t[mysqld-8.0]  # live"), Some("mysqld-8.0"));
        assert_eq!(group("[MariaDB]"), Some("MariaDB"));
        for line in ["[Note] InnoDB: x", "[Note]", "[0, 0, 0]", "[Service]", "[mysqld] x=1", "["] {
            assert_eq!(group(line), None, "{line}");
        }
        assert!(is_include("!includedir /etc/my.cnf.d/"));
        assert!(!is_include("!included"));
    }

    #[test]
    fn an_option_file_ends_where_other_output_begins() {
        let text = "[client]\nuser=x\n[mysqld]\na = 1\n\nmysql> show global status;\n+---+\n";
        let lines = Lines::new(text);
        assert_eq!(option_file_at(&lines, 0, lines.len()), Some(0..5));
    }

    #[test]
    fn persisted_variables_are_told_from_other_json() {
        let text = "{\"a\": \"}\"}\n{\n \"mysql_dynamic_variables\": {\n }\n}\nx";
        let lines = Lines::new(text);
        let mut finder = AutoFinder::default();
        assert_eq!(finder.find(&lines, 0), None);
        assert_eq!(finder.find(&lines, 1), Some(1..5));
        // Deep nesting that never closes is scanned once.
        let deep = "{\n".repeat(200_000);
        let lines = Lines::new(&deep);
        let mut finder = AutoFinder::default();
        assert!((0..lines.len()).all(|at| finder.find(&lines, at).is_none()));
    }
}
