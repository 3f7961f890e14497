//! Global status: the server's own counters and gauges, by lower-case name.

use std::collections::BTreeMap;

use crate::provenance::{Fact, Source};
use crate::table::parse_count;

/// The rows of `SHOW GLOBAL STATUS` that innopool keeps (see [`crate::allow`]).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GlobalStatus {
    values: BTreeMap<String, Fact<String>>,
}

impl GlobalStatus {
    /// True when nothing was read.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds or replaces one value; the name is kept in lower case.
    pub fn insert(&mut self, name: &str, value: impl Into<String>, source: Source) {
        self.values.insert(name.to_ascii_lowercase(), Fact::new(value.into(), source));
    }

    /// A value as printed. The name may be in any case.
    pub fn text(&self, name: &str) -> Option<&Fact<String>> {
        self.values.get(&name.to_ascii_lowercase())
    }

    /// A counter or gauge; `None` if absent or not a non-negative number.
    pub fn count(&self, name: &str) -> Option<Fact<u64>> {
        let fact = self.text(name)?;
        Some(Fact::new(parse_count(&fact.value)?, fact.source.clone()))
    }

    /// All values, by lower-case name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Fact<String>)> {
        self.values.iter().map(|(name, fact)| (name.as_str(), fact))
    }
}
