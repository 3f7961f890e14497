//! The report for programs.

use innopool_advice::Report;

/// The report as `innopool.check/1`, indented, with a newline at its end.
pub(super) fn report(report: &Report) -> String {
    // Serialising can fail only for maps whose keys are not text and for writers that fail; a
    // report is structs with named fields, written to memory.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
