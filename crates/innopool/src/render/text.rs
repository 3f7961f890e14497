//! The terminal page: the answer, the evidence, then what to type.
//!
//! Top to bottom: which server and how it was looked at; the headline; one line per finding, most
//! pressing first; the figures of the pool; for each warning and critical finding why it matters
//! and what to type; what is fine, not known and not read; what to do next. With `-v` also every
//! finding's evidence with its sources, the margins of what is fine, and the memory budget.

use innopool_advice::report::{Basis, Report};
use innopool_advice::{Finding, Severity, words};

use super::layout::{Page, Paper, Style, padded, padded_left, width};
use super::{action, evidence, server};

/// Columns the text beside a finding's code needs; with less it goes on a line of its own.
const SUMMARY_COLUMNS_MIN: usize = 36;
/// Columns the server's description needs beside its name.
const DESCRIPTION_COLUMNS_MIN: usize = 24;
/// Findings not judged that are named; of more only their number is told.
const NOT_JUDGED_MAX: usize = 5;
/// Margins that a healthy page shows.
const MARGINS_MAX: usize = 6;
/// Those that interest people first.
const MARGINS_FIRST: &[&str] = &[
    "pool-too-small",
    "pool-over-memory-budget",
    "pool-larger-than-data",
    "host-swapping",
    "redo-too-small",
    "dirty-pages-high",
    "warmup-not-configured",
];

/// Writes the page.
pub(super) fn report(report: &Report, page: Page) -> String {
    let mut paper = Paper::new(page);
    head(&mut paper, report);
    findings(&mut paper, report);
    figures(&mut paper, report);
    for finding in &report.findings {
        if page.verbose || finding.severity >= Severity::Warning {
            details(&mut paper, finding, page.verbose);
        }
    }
    if page.verbose {
        budget(&mut paper, report);
    }
    looked_at(&mut paper, report, page.verbose);
    next(&mut paper, report, page);
    paper.finish()
}

fn head(paper: &mut Paper, report: &Report) {
    let name = super::plain(&report.name);
    let description = server::description(report);
    // A name as long as the line stands alone.
    if width(&name) + DESCRIPTION_COLUMNS_MIN <= paper.columns() {
        let labels = [(&*name, Style::Strong), ("  ", Style::Plain)];
        let labels = if name.is_empty() { &labels[1..] } else { &labels };
        paper.labelled(labels, 2, &description, Style::Plain);
    } else {
        paper.labelled(&[], 2, &name, Style::Strong);
        paper.prose(2, &description);
    }
    paper.gap();
    if !report.headline.is_empty() {
        paper.prose(2, &report.headline);
        paper.gap();
    }
}

fn findings(paper: &mut Paper, report: &Report) {
    let code_columns = report.findings.iter().map(|finding| width(finding.code)).max().unwrap_or(0);
    let indent = 2 + 10 + code_columns + 2;
    let beside = indent + SUMMARY_COLUMNS_MIN <= paper.columns();
    for finding in &report.findings {
        let (label, style) = severity(finding.severity);
        if beside {
            let code = padded(finding.code, code_columns + 2);
            let labels = [("  ", Style::Plain), (label, style), (&code, Style::Plain)];
            paper.labelled(&labels, indent, &finding.summary, Style::Plain);
        } else {
            let labels = [("  ", Style::Plain), (label, style)];
            paper.labelled(&labels, 4, finding.code, Style::Plain);
            paper.prose(4, &finding.summary);
        }
    }
    paper.gap();
}

/// The severity as shown, ten columns wide, and its style.
fn severity(severity: Severity) -> (&'static str, Style) {
    match severity {
        Severity::Critical => ("CRITICAL  ", Style::Red),
        Severity::Warning => ("WARNING   ", Style::Yellow),
        Severity::Notice => ("notice    ", Style::Plain),
    }
}

fn figures(paper: &mut Paper, report: &Report) {
    for (label, text) in server::figures(report) {
        paper.hanging(&format!("  {label:8}"), &text);
    }
    paper.gap();
}

fn details(paper: &mut Paper, finding: &Finding, verbose: bool) {
    let shown: &[_] = if verbose { &finding.evidence } else { &[] };
    if finding.why.is_empty() && finding.action.is_empty() && shown.is_empty() {
        return;
    }
    paper.heading(2, finding.code);
    if !finding.why.is_empty() {
        paper.prose(4, &finding.why);
    }
    for item in shown {
        let label = format!("    {}: ", evidence::name(item));
        let value = evidence::value(item);
        let source = super::plain(&item.source);
        let text = if source.is_empty() { value } else { format!("{value} ({source})") };
        paper.labelled(&[(&label, Style::Faint)], 8, &text, Style::Plain);
    }
    for line in action::lines(&finding.action) {
        match line {
            action::Line::Prose(text) => paper.prose(4, text),
            action::Line::Typed(text) => paper.verbatim(8, text),
        }
    }
    paper.gap();
}

fn budget(paper: &mut Paper, report: &Report) {
    let terms = &report.memory.budget;
    let values: Vec<_> = terms.iter().map(evidence::value).collect();
    let columns = values.iter().map(|value| width(value)).max().unwrap_or(0);
    if terms.is_empty() {
        return;
    }
    paper.heading(2, "How the memory budget adds up");
    for (position, (term, value)) in terms.iter().zip(&values).enumerate() {
        let sign = match position {
            0 => ' ',
            _ if position + 1 == terms.len() => '=',
            _ => '-',
        };
        let label = format!("    {sign} {}  ", padded_left(value, columns));
        let text = format!("{} ({})", evidence::name(term), term.source);
        paper.hanging(&label, &text);
    }
    paper.gap();
}

fn looked_at(paper: &mut Paper, report: &Report, verbose: bool) {
    if verbose {
        list(paper, "Fine", report.fine.iter().map(|fine| (fine.code, &*fine.summary)));
        list(
            paper,
            "Not judged",
            report.unknown.iter().map(|unknown| (unknown.code, &*unknown.why)),
        );
    } else if report.findings.is_empty() {
        list(paper, "", margins(report));
    }
    paper.prose(2, &counts(report, verbose));
    if !verbose && (1..=NOT_JUDGED_MAX).contains(&report.unknown.len()) {
        let codes: Vec<_> = report.unknown.iter().map(|unknown| unknown.code).collect();
        let text = format!("{} (-v says why).", codes.join(", "));
        paper.labelled(&[("  Not judged: ", Style::Plain)], 4, &text, Style::Plain);
    }
    for (position, item) in report.not_read.iter().enumerate() {
        let label = if position == 0 { "  Not read: " } else { "            " };
        let text = format!("{}: {}.", item.what, item.why);
        let indent = if position == 0 { 14 } else { width(label) + 2 };
        paper.labelled(&[(label, Style::Plain)], indent, &text, Style::Plain);
    }
    paper.gap();
}

/// Lines of a code and a sentence under a heading.
fn list<'a>(paper: &mut Paper, heading: &str, items: impl Iterator<Item = (&'a str, &'a str)>) {
    let items: Vec<_> = items.collect();
    if items.is_empty() {
        return;
    }
    if !heading.is_empty() {
        paper.heading(2, heading);
    }
    let columns = items.iter().map(|(code, _)| width(code)).max().unwrap_or(0) + 2;
    let beside = 4 + columns + SUMMARY_COLUMNS_MIN <= paper.columns();
    for (code, text) in items {
        if beside {
            paper.hanging(&format!("    {}", padded(code, columns)), text);
        } else {
            paper.prose(4, code);
            paper.prose(6, text);
        }
    }
    paper.gap();
}

/// What a healthy page tells of its margins: those people ask for first.
fn margins(report: &Report) -> impl Iterator<Item = (&str, &str)> {
    MARGINS_FIRST
        .iter()
        .filter_map(|code| report.fine.iter().find(|fine| fine.code == *code))
        .filter(|fine| !fine.summary.is_empty())
        .take(MARGINS_MAX)
        .map(|fine| (fine.code, &*fine.summary))
}

fn counts(report: &Report, verbose: bool) -> String {
    let (found, fine) = (report.findings.len(), report.fine.len());
    let mut text = match (found, fine) {
        (0, 0) => "Nothing could be judged".to_owned(),
        (0, 1) => "Looked at 1 thing; it is fine".to_owned(),
        (0, _) => format!("Looked at {}; all are fine", things(fine)),
        (_, 0) => format!("Looked at {}", things(found)),
        (_, 1) => format!("Looked at {}; 1 is fine", things(found + 1)),
        (_, _) => format!("Looked at {}; {fine} are fine", things(found + fine)),
    };
    match report.unknown.len() {
        0 => {}
        unknown if found + fine == 0 => text = format!("{} could not be judged", things(unknown)),
        unknown => text.push_str(&format!("; {unknown} more could not be judged")),
    }
    if !verbose && report.unknown.len() > NOT_JUDGED_MAX {
        text.push_str(" (-v says which and why)");
    }
    text.push('.');
    text
}

fn things(count: usize) -> String {
    let number = words::count(u64::try_from(count).unwrap_or(u64::MAX));
    format!("{number} {}", if count == 1 { "thing" } else { "things" })
}

fn next(paper: &mut Paper, report: &Report, page: Page) {
    let mut rows = Vec::new();
    if let Some(first) = report.findings.first() {
        rows.push((format!("innopool explain {}", first.code), "why, and what the numbers mean"));
    }
    match report.basis {
        Basis::Interval if report.interval_seconds.is_some_and(|seconds| seconds >= 59.0) => {}
        Basis::Interval if page.live => {
            rows.push(("add --interval 60".to_owned(), "the same, watched for a minute"));
        }
        Basis::SinceStart if page.live => {
            rows.push(("add --interval 10".to_owned(), "what happens now"));
        }
        Basis::SinceStart | Basis::Moment if !page.live => {
            rows.push((
                "innopool collect -o DIR".to_owned(),
                "two looks at the server, for what happens between them",
            ));
        }
        _ => {}
    }
    if !page.verbose {
        rows.push(("add -v".to_owned(), "all the evidence"));
    }
    let command_columns = rows.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
    let why_columns = rows.iter().map(|(_, why)| width(why)).max().unwrap_or(0);
    let beside = 9 + command_columns + 3 + why_columns <= paper.columns();
    for (position, (command, why)) in rows.iter().enumerate() {
        let label = if position == 0 { "  Next:  " } else { "         " };
        if beside {
            paper.hanging(&format!("{label}{}   ", padded(command, command_columns)), why);
        } else {
            paper.verbatim(0, &format!("{label}{command}"));
            paper.prose(11, why);
        }
    }
}
