//! Option files as `mysqld` and `mariadbd` read them, keeping the file and line of every value.
//!
//! Reading never fails as a whole: what a server would refuse is kept as a [`Problem`] with its
//! place, and the rest is read on.

use crate::provenance::{Fact, Source};
use crate::variables::normalise_name;
use crate::version::Flavor;

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
    /// Line in it, from 1.
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
    /// The winning assignment of a name, if any.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        let name = normalise_name(name);
        self.settings
            .iter()
            .rev()
            .find(|setting| setting.name == name)
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
        Some(Fact::new(
            crate::variables::parse_flag(&fact.value)?,
            fact.source,
        ))
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
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("'{text}' is not a number the server accepts"))?;
    let shift = match rest.chars().next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some('t' | 'T') => 40,
        Some('p' | 'P') => 50,
        Some('e' | 'E') => 60,
        Some(other) => {
            return Err(format!(
                "the server refuses '{other}' after the digits of '{text}'"
            ));
        }
    };
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("'{text}' is larger than the server can hold"))
}

/// True when a server of this flavour reads the group `[name]`; unknown flavours read all of them.
pub fn is_server_group(group: &str, flavor: Flavor) -> bool {
    let group = group.trim();
    let both = group == "mysqld" || group == "server" || group.starts_with("mysqld-");
    let mariadb = group == "mariadb"
        || group == "mariadbd"
        || group == "galera"
        || group.starts_with("mariadb-")
        || group.starts_with("mariadbd-");
    both || (mariadb && !flavor.is_mysql_like())
}
