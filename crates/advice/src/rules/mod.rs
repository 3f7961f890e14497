//! The rules.

use crate::facts::Facts;
use crate::finding::Verdict;

/// One thing innopool looks at.
pub(crate) struct Rule {
    /// The code of its finding.
    pub(crate) code: &'static str,
    /// Looks.
    pub(crate) judge: fn(&Facts<'_>) -> Verdict,
}

/// All rules.
pub(crate) const ALL: &[Rule] = &[];
