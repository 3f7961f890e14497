//! An answer for programs.

use serde::Serialize;

/// An answer as JSON, indented, with a newline at its end.
pub(super) fn text(answer: &impl Serialize) -> String {
    // Serialising can fail only for maps whose keys are not text and for writers that fail; an
    // answer is structs with named fields, written to memory.
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    text
}
