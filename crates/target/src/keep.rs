//! What of an option file may be kept: settings on the allow-list in the server's groups. Everything
//! else becomes a blank line, so that line numbers stay true.

use crate::allow;
use crate::option_file::server_reads_group;
use crate::variables::normalise_name;
use crate::version::Server;

/// What a line of an option file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing that may be kept.
    Nothing,
    /// The head of a server's group, as it is kept.
    Group(String),
    /// An allowed setting in such a group, without a comment behind it.
    Setting(String),
    /// `!include` or `!includedir`, with the path.
    Include {
        /// True for a directory.
        directory: bool,
        /// The path as written.
        path: String,
    },
}

/// Reads the lines of one option file, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionFileLines {
    in_server_group: bool,
    /// `--defaults-group-suffix`: `[mysqld_blue]` counts as `[mysqld]` with `_blue`.
    group_suffix: Option<String>,
}

impl OptionFileLines {
    /// For a server that was started with a group suffix.
    pub(crate) fn with_group_suffix(suffix: Option<String>) -> Self {
        Self { in_server_group: false, group_suffix: suffix.filter(|suffix| !suffix.is_empty()) }
    }

    /// Says what may be kept of the next line.
    pub(crate) fn next(&mut self, line: &str) -> Kept {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((group, _)) = rest.split_once(']') else {
                return Kept::Nothing;
            };
            return self.group(group);
        }
        if let Some(rest) = line.strip_prefix('!') {
            return include(rest).unwrap_or(Kept::Nothing);
        }
        if line.starts_with(['#', ';']) || !self.in_server_group {
            return Kept::Nothing;
        }
        // Also where another sign or a blank stands for the `=`: the mistake is worth knowing of.
        let ends_name = |c: char| "=:#".contains(c) || c.is_whitespace();
        let name = line.split(ends_name).next().unwrap_or_default();
        if is_allowed(name) {
            Kept::Setting(without_comment(line).to_owned())
        } else {
            Kept::Nothing
        }
    }

    fn group(&mut self, group: &str) -> Kept {
        let suffix = self.group_suffix.as_deref();
        let base = suffix.and_then(|suffix| group.strip_suffix(suffix));
        let kept = match base {
            Some(base) if is_server_group(base) => Some(base),
            _ => is_server_group(group).then_some(group),
        };
        self.in_server_group = kept.is_some();
        kept.map_or(Kept::Nothing, |group| Kept::Group(format!("[{group}]")))
    }
}

/// True when some server reads the group: which one this is may not be known yet.
fn is_server_group(group: &str) -> bool {
    server_reads_group(group.trim(), &Server::default())
}

/// True when the setting, with or without the prefixes a server takes, is on the allow-list.
pub(crate) fn is_allowed(name: &str) -> bool {
    let name = normalise_name(name);
    let mut bare = name.as_str();
    loop {
        if allow::is_variable(bare) {
            return true;
        }
        let prefixes = ["loose_", "skip_", "enable_", "disable_", "maximum_"];
        match prefixes.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
            Some(rest) => bare = rest,
            None => return false,
        }
    }
}

fn include(rest: &str) -> Option<Kept> {
    let (word, path) = rest.split_once(|c: char| c.is_ascii_whitespace())?;
    let path = path.trim().to_owned();
    match word {
        "include" => Some(Kept::Include { directory: false, path }),
        "includedir" => Some(Kept::Include { directory: true, path }),
        _ => None,
    }
}

/// Cuts the line before a `#` that stands outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (None, '#') => return line.get(..at).unwrap_or(line).trim_end(),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    line
}

/// The text with everything blanked out that may not be kept. Includes stay.
pub(crate) fn option_file(text: &str) -> String {
    let mut lines = OptionFileLines::default();
    let mut kept = String::new();
    for line in text.lines() {
        match lines.next(line) {
            Kept::Nothing => {}
            Kept::Group(line) | Kept::Setting(line) => kept.push_str(&line),
            Kept::Include { directory, path } => {
                kept.push_str(if directory { "!includedir " } else { "!include " });
                kept.push_str(&path);
            }
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::option_file;

    #[test]
    fn keeps_allowed_settings_on_their_lines() {
        let text = "\
[client]
password = one # secret
[mysqld]
user = mysql
loose-innodb_io_capacity = 900  # for the new disks of Jane
wsrep_sst_auth = \"sst:two\"
skip-innodb-doublewrite
innodb_buffer_pool_size: 4G
innodb_data_home_dir = '/a # b'
!includedir /etc/mysql/conf.d/
[mysqldump]
innodb_io_capacity = 1
";
        let kept = option_file(text);
        let expected = "

[mysqld]

loose-innodb_io_capacity = 900

skip-innodb-doublewrite
innodb_buffer_pool_size: 4G
innodb_data_home_dir = '/a # b'
!includedir /etc/mysql/conf.d/


";
        assert_eq!(kept, expected);
        assert_eq!(option_file(&kept), kept, "a second time changes nothing");
    }
}
