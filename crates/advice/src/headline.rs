//! The answer in a sentence or two, before any evidence.

use crate::facts::Facts;
use crate::report::Report;

/// Says what matters most about this pool.
pub(crate) fn of(_facts: &Facts<'_>, report: &Report) -> String {
    report
        .findings
        .first()
        .map(|finding| finding.summary.clone())
        .unwrap_or_default()
}
