//! System variables: the value in force, and who put it there.

use std::collections::BTreeMap;

use crate::provenance::{Fact, Source};
use crate::table::parse_count;

/// How a variable got the value it has now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// The server's built-in default.
    Compiled,
    /// Computed by the server at start-up (MariaDB's `AUTO`).
    Auto,
    /// An option file, by its path.
    File(String),
    /// The server's command line.
    CommandLine,
    /// MySQL's `mysqld-auto.cnf`.
    Persisted,
    /// `SET` on the running server.
    Dynamic,
    /// The evidence does not say.
    #[default]
    Unknown,
}

/// Which account set a variable at run time. Saved evidence never names accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetBy {
    /// The account innopool connects as.
    ThisAccount,
    /// Another account; its name only on a live connection.
    AnotherAccount(Option<String>),
}

/// One variable in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The value as the server prints it.
    pub value: String,
    /// How it came to be.
    pub origin: Origin,
    /// When it was last set at run time, as the server prints it.
    pub set_at: Option<String>,
    /// Who set it at run time.
    pub set_by: Option<SetBy>,
    /// Where we read it.
    pub source: Source,
}

/// The variables innopool keeps (see [`crate::allow`]), by lower-case name with underscores.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variables {
    values: BTreeMap<String, Variable>,
}

/// The form in which variable names are compared: lower case, `_` for `-`.
pub fn normalise_name(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

impl Variables {
    /// True when nothing was read.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds or replaces a value of unknown origin.
    pub fn insert(&mut self, name: &str, value: impl Into<String>, source: Source) {
        let variable = Variable {
            value: value.into(),
            origin: Origin::Unknown,
            set_at: None,
            set_by: None,
            source,
        };
        self.values.insert(normalise_name(name), variable);
    }

    /// Adds or replaces a variable with all that is known of it.
    pub fn insert_whole(&mut self, name: &str, variable: Variable) {
        self.values.insert(normalise_name(name), variable);
    }

    /// The whole entry of a variable.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.values.get(&normalise_name(name))
    }

    /// The entry of a variable, to add its origin.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Variable> {
        self.values.get_mut(&normalise_name(name))
    }

    /// The value as text.
    pub fn text(&self, name: &str) -> Option<Fact<String>> {
        self.get(name).map(|v| Fact::new(v.value.clone(), v.source.clone()))
    }

    /// The value as a non-negative number (bytes, pages or a plain count).
    pub fn count(&self, name: &str) -> Option<Fact<u64>> {
        let variable = self.get(name)?;
        Some(Fact::new(parse_count(&variable.value)?, variable.source.clone()))
    }

    /// The value as a decimal number.
    pub fn decimal(&self, name: &str) -> Option<Fact<f64>> {
        let variable = self.get(name)?;
        let value: f64 = variable.value.trim().parse().ok()?;
        Some(Fact::new(value, variable.source.clone()))
    }

    /// The value as a switch: `ON`, `1`, `YES`, `TRUE` against `OFF`, `0`, `NO`, `FALSE`.
    pub fn flag(&self, name: &str) -> Option<Fact<bool>> {
        let variable = self.get(name)?;
        let value = parse_flag(&variable.value)?;
        Some(Fact::new(value, variable.source.clone()))
    }

    /// All variables, by normalised name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.values.iter().map(|(name, variable)| (name.as_str(), variable))
    }
}

/// Reads an on/off value as servers print it; `None` for anything else.
pub fn parse_flag(text: &str) -> Option<bool> {
    let text = text.trim();
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&["on", "1", "yes", "true"]) {
        Some(true)
    } else if is(&["off", "0", "no", "false"]) {
        Some(false)
    } else {
        None
    }
}
