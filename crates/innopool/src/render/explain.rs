//! The long explanation of a finding: `innopool explain CODE`, and the list of all codes.

use innopool_advice::catalog::Entry;
use innopool_advice::thresholds::Threshold;
use innopool_advice::words;

use super::action;
use super::layout::{Page, Paper, Style, padded, width};

/// One line per code, in the order a person should act.
pub(crate) fn list(entries: &[Entry], page: Page) -> String {
    let mut paper = Paper::new(page);
    let columns = entries.iter().map(|entry| width(entry.code)).max().unwrap_or(0) + 2;
    for entry in entries {
        let code = padded(entry.code, columns);
        paper.labelled(&[(&code, Style::Strong)], columns, entry.title, Style::Plain);
    }
    paper.gap();
    paper.prose(0, "innopool explain CODE tells more of one.");
    paper.finish()
}

/// Everything there is to say about one finding.
pub(crate) fn entry(entry: &Entry, page: Page) -> String {
    let mut paper = Paper::new(page);
    let code = format!("{}  ", entry.code);
    paper.labelled(&[(&code, Style::Strong)], 2, entry.title, Style::Plain);
    for (heading, text) in [
        ("Why it matters", entry.why),
        ("How innopool tells", entry.how),
        ("What to do", entry.action),
    ] {
        section(&mut paper, heading, text);
    }
    let thresholds: Vec<_> = entry.thresholds().collect();
    if !thresholds.is_empty() {
        paper.gap();
        paper.heading(2, "Thresholds");
        for threshold in thresholds {
            paper.labelled(&[("    ", Style::Plain)], 6, &limits(threshold), Style::Plain);
            if !threshold.reason.is_empty() {
                paper.prose(6, threshold.reason);
            }
        }
    }
    if !entry.sources.is_empty() {
        paper.gap();
        paper.heading(2, "Sources");
        for source in entry.sources {
            paper.labelled(&[("    ", Style::Plain)], 6, source, Style::Plain);
        }
    }
    paper.finish()
}

fn section(paper: &mut Paper, heading: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    paper.gap();
    paper.heading(2, heading);
    for line in action::lines(text) {
        match line {
            action::Line::Prose(text) => paper.prose(4, text),
            action::Line::Typed(text) => paper.verbatim(8, text),
        }
    }
}

/// `disk reads per second: notice from 10/s, warning from ...`.
fn limits(threshold: &Threshold) -> String {
    let levels: Vec<_> = [
        ("notice", threshold.notice),
        ("warning", threshold.warning),
        ("critical", threshold.critical),
    ]
    .into_iter()
    .filter_map(|(level, from)| Some(format!("{level} from {}", figure(from?, threshold.unit))))
    .collect();
    format!("{}: {}", threshold.figure, levels.join(", "))
}

fn figure(value: f64, unit: &str) -> String {
    // A share of more than one ("1.5 times") reads badly as a percentage.
    if unit == "ratio" && value > 1.0 {
        return format!("{} times", words::rate(value));
    }
    let item = innopool_advice::EvidenceItem::new("threshold", "", value, "");
    match unit {
        "ratio" => words::percent(value),
        "per_second" => format!("{}/s", words::rate(value)),
        "per_mille" => format!("{} of 1000", words::rate(value)),
        "seconds" => words::duration(value),
        // Thresholds are positive and far below 2^63; the cast saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        "bytes" => words::bytes(value as u64),
        "" => super::evidence::value(&item),
        other => format!("{} {}", words::rate(value), other.replace('_', " ")),
    }
}
