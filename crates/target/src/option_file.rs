//! Option files as `mysqld` and `mariadbd` read them, keeping the file and line of every value.
//!
//! Reading never fails as a whole: what a server would refuse is kept as a [`Problem`] with its
//! place, and the rest is read on.

use crate::provenance::{Fact, Source};
use crate::variables::normalise_name;
use crate::version::{Flavor, Server};

/// Everything read from option files, in the order a server would read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration {
    /// Assignments in the server's groups, in reading order: the last of a name wins.
    pub settings: Vec<Setting>,
    /// What a server would refuse or ignore.
    pub problems: Vec<Problem>,
    /// The files read, in order.
    pub files: Vec<String>,
}

/// One line of an option file that sets something for the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Normalised name: lower case, underscores, prefixes such as `loose_` removed.
    pub name: String,
    /// The value with quotes and escapes resolved; `None` for a bare option.
    pub value: Option<String>,
    /// The group it stands in, without brackets.
    pub group: String,
    /// The file.
    pub path: String,
    /// Line in it, from 1.
    pub line: u32,
    /// Written with `loose_`: an unknown name is not an error.
    pub loose: bool,
}

/// Something in an option file that a server refuses, ignores or reads otherwise than it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: String,
    /// Line in it, from 1; 0 for the file as a whole.
    pub line: u32,
    /// What is wrong and what to write instead.
    pub message: String,
    /// True when the server would not start.
    pub fatal: bool,
}

impl Setting {
    /// Where it stands.
    pub fn source(&self) -> Source {
        Source::at_line(self.path.as_str(), self.line, self.name.clone())
    }
}

impl Configuration {
    /// Adds what was read after this: its settings win over those here.
    pub fn append(&mut self, later: Self) {
        self.settings.extend(later.settings);
        self.problems.extend(later.problems);
        self.files.extend(later.files);
    }

    /// Drops every setting that saved evidence may not contain (see [`crate::allow`]).
    pub fn keep_allowed(&mut self) {
        self.settings.retain(|setting| crate::allow::is_variable(&setting.name));
    }

    /// The winning assignment of a name, if any.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        let name = normalise_name(name);
        self.settings.iter().rev().find(|setting| setting.name == name)
    }

    /// The winning value as text; a bare option counts as `ON`.
    pub fn text(&self, name: &str) -> Option<Fact<String>> {
        let setting = self.get(name)?;
        let value = setting.value.clone().unwrap_or_else(|| "ON".to_owned());
        Some(Fact::new(value, setting.source()))
    }

    /// The winning value as a switch.
    pub fn flag(&self, name: &str) -> Option<Fact<bool>> {
        let fact = self.text(name)?;
        Some(Fact::new(crate::variables::parse_flag(&fact.value)?, fact.source))
    }

    /// The winning value as a number, with its suffix; `None` where the server would refuse it.
    pub fn number(&self, name: &str) -> Option<Fact<u64>> {
        let fact = self.text(name)?;
        Some(Fact::new(parse_size(&fact.value).ok()?, fact.source))
    }
}

/// Reads a number as an option file takes it: only the one character after the digits counts
/// (`4GB` is `4G`), and `1.5G` or `4 GB` is refused.
///
/// # Errors
/// A sentence that says what the server does with such a value.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let blank = |c: char| c.is_ascii_whitespace();
    let text = text.trim_matches(blank);
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    let (digits, rest) = unsigned.split_at(end);
    let number: u64 =
        digits.parse().map_err(|_| format!("'{text}' is not a number the server accepts"))?;
    let shift = match rest.chars().next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some('t' | 'T') => 40,
        Some('p' | 'P') => 50,
        Some('e' | 'E') => 60,
        Some(other) => {
            return Err(format!("the server refuses '{other}' after the digits of '{text}'"));
        }
    };
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("'{text}' is larger than the server can hold"))
}

/// True when a server reads the group `[group]`, given as it stands between the brackets.
///
/// Case does not count, but a leading blank does: servers take `[ mysqld]` for another group. Where
/// the flavour is unknown the groups of all flavours count, and where the version is unknown the
/// groups of all versions do.
pub fn server_reads_group(group: &str, server: &Server) -> bool {
    let group = group.to_ascii_lowercase();
    let (base, version) = match group.rsplit_once('-') {
        Some((base, version)) if is_series(version) => (base, Some(version)),
        _ => (group.as_str(), None),
    };
    let of_mysql = server.flavor != Flavor::Mariadb;
    let of_mariadb = !server.flavor.is_mysql_like();
    let read = match (base, version.is_some()) {
        ("mysqld", _) | ("server", false) => true,
        ("mysql_cluster", false) => of_mysql,
        ("mariadb" | "mariadbd", _) | ("client-server" | "galera", false) => of_mariadb,
        _ => false,
    };
    let this_version = match (version, server.version) {
        (Some(series), Some(v)) => series == format!("{}.{}", v.major, v.minor),
        _ => true,
    };
    read && this_version
}

/// True for the `8.0` of `[mysqld-8.0]`.
fn is_series(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    matches!(text.split_once('.'), Some((major, minor)) if number(major) && number(minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(version: &str) -> Server {
        Server::detect(version, "")
    }

    #[test]
    fn each_flavour_reads_its_own_groups() {
        let mysql = server("8.0.36");
        let mariadb = server("10.11.6-MariaDB");
        let unknown = Server::default();
        for (group, of_mysql, of_mariadb) in [
            ("mysqld", true, true),
            ("MySQLd", true, true),
            ("server", true, true),
            ("mysqld-8.0", true, false),
            ("mysqld-10.11", false, true),
            ("mariadb", false, true),
            ("mariadbd-10.11", false, true),
            ("mariadb-10.6", false, false),
            ("galera", false, true),
            ("client-server", false, true),
            ("mysql_cluster", true, false),
            ("mysqld_safe", false, false),
            ("mysqld-auto", false, false),
            ("client", false, false),
            (" mysqld", false, false),
            ("", false, false),
        ] {
            assert_eq!(server_reads_group(group, &mysql), of_mysql, "[{group}] by MySQL");
            assert_eq!(server_reads_group(group, &mariadb), of_mariadb, "[{group}] by MariaDB");
        }
        assert!(server_reads_group("mariadb-10.6", &unknown));
        assert!(server_reads_group("mysqld-5.7", &unknown));
    }

    #[test]
    fn sizes_are_read_as_servers_read_them() {
        for (text, bytes) in [
            ("128M", 134_217_728),
            ("16MB", 16_777_216),
            ("16kb", 16_384),
            ("1g", 1_073_741_824),
            ("2T", 2_199_023_255_552),
            ("+300M", 314_572_800),
            (" 42 ", 42),
            ("0", 0),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "1.5G",
            "4 GB",
            "1/2/0",
            "0x10",
            "-1",
            "G",
            "99999999999999999999",
            "99999999E",
            "\u{a0}4G",
            "4\u{a0}G",
            "++1",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
