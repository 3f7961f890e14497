//! What each finding means, at length: the text behind `innopool explain CODE`.

use crate::thresholds::{self, Threshold};

/// The long explanation of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The code.
    pub code: &'static str,
    /// The finding in one line.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How innopool tells.
    pub how: &'static str,
    /// What to do, in general.
    pub action: &'static str,
    /// Where the rule comes from: manual pages, bug numbers, measurements.
    pub sources: &'static [&'static str],
}

impl Entry {
    /// The thresholds of this finding.
    pub fn thresholds(&self) -> impl Iterator<Item = &'static Threshold> + use<> {
        let code = self.code;
        thresholds::ALL
            .iter()
            .filter(move |threshold| threshold.code == code)
    }
}

/// All entries, in the order a person should act.
pub const ALL: &[Entry] = &[];

/// The entry of a code.
pub fn find(code: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.code == code)
}
