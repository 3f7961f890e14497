//! The report for a ticket: the same order as the terminal page, with statements in code blocks.

use innopool_advice::{Finding, Report};

use super::layout::{Page, plain};
use super::{action, evidence, server};

/// Writes the report as GitHub-flavoured Markdown.
pub(super) fn report(report: &Report, page: Page) -> String {
    let mut out = Vec::new();
    out.push(format!("# Buffer pool of {}", escaped(&report.name)));
    out.push(format!("{}.", escaped(&server::description(report))));
    if !report.headline.is_empty() {
        out.push(escaped(&report.headline));
    }
    out.extend(table(
        &["Severity", "Finding", "What is so"],
        report.findings.iter().map(|finding| {
            vec![
                finding.severity.as_str().to_owned(),
                format!("`{}`", finding.code),
                escaped(&finding.summary),
            ]
        }),
    ));
    let figures = server::figures(report);
    if !figures.is_empty() {
        let lines: Vec<_> =
            figures.iter().map(|(label, text)| format!("- {label}: {}", escaped(text))).collect();
        out.push(lines.join("\n"));
    }
    for finding in &report.findings {
        details(&mut out, finding);
    }
    memory(&mut out, report);
    rest(&mut out, report, page);
    out.join("\n\n") + "\n"
}

fn details(out: &mut Vec<String>, finding: &Finding) {
    out.push(format!("## {}", finding.code));
    if !finding.why.is_empty() {
        out.push(escaped(&finding.why));
    }
    out.extend(table(
        &["Evidence", "Value", "Source"],
        finding.evidence.iter().map(|item| {
            vec![
                escaped(&evidence::name(item)),
                escaped(&evidence::value(item)),
                escaped(&item.source),
            ]
        }),
    ));
    let mut typed: Vec<&str> = Vec::new();
    for line in action::lines(&finding.action) {
        match line {
            action::Line::Typed(text) => typed.push(text),
            action::Line::Prose(text) => {
                out.extend(code_block(&std::mem::take(&mut typed)));
                out.push(escaped(text));
            }
        }
    }
    out.extend(code_block(&typed));
}

fn memory(out: &mut Vec<String>, report: &Report) {
    let terms = &report.memory.budget;
    if terms.is_empty() {
        return;
    }
    out.push("## Memory budget".to_owned());
    out.extend(table(
        &["Term", "Value", "Source"],
        terms.iter().map(|term| {
            vec![
                escaped(&evidence::name(term)),
                escaped(&evidence::value(term)),
                escaped(&term.source),
            ]
        }),
    ));
}

fn rest(out: &mut Vec<String>, report: &Report, page: Page) {
    out.push("## Also looked at".to_owned());
    let mut lines = Vec::new();
    if page.verbose {
        for fine in &report.fine {
            lines.push(format!("- `{}` is fine: {}", fine.code, escaped(&fine.summary)));
        }
    } else {
        lines.push(format!("- {} more things, which are fine", report.fine.len()));
    }
    for unknown in &report.unknown {
        lines.push(format!("- `{}` not judged: {}", unknown.code, escaped(&unknown.why)));
    }
    for item in &report.not_read {
        lines.push(format!("- not read: {}: {}", escaped(&item.what), escaped(&item.why)));
    }
    out.push(lines.join("\n"));
}

/// A table, or nothing when it has no rows.
pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Option<String> {
    let mut lines =
        vec![format!("| {} |", head.join(" | ")), format!("|{}", "---|".repeat(head.len()))];
    lines.extend(rows.map(|cells| format!("| {} |", cells.join(" | "))));
    (lines.len() > 2).then(|| lines.join("\n"))
}

/// A code block whose fence is longer than any run of backticks in it.
pub(super) fn code_block(lines: &[&str]) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let text: Vec<_> = lines.iter().map(|line| plain(line)).collect();
    let text = text.join("\n");
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    Some(format!("{fence}\n{text}\n{fence}"))
}

/// Text that shows as itself wherever it stands: markup characters are escaped. An underscore
/// inside a word is none.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = plain(text);
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let inside =
            before.is_alphanumeric() && characters.peek().is_some_and(|c| c.is_alphanumeric());
        let is_markup = match character {
            '\\' | '`' | '*' | '|' | '<' | '>' | '[' | ']' | '#' | '~' => true,
            '_' => !inside,
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(character);
        before = character;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_servers_text_stays_text() {
        assert_eq!(escaped("a|b <i>_x_</i>"), "a\\|b \\<i\\>\\_x\\_\\</i\\>");
        assert_eq!(code_block(&["SET x = '```';"]).unwrap(), "````\nSET x = '```';\n````");
        assert_eq!(code_block(&[]), None);
    }
}
