//! The recommended size for a ticket: the same order as the page, everything in it.

use innopool_advice::size::SizeReport;
use innopool_advice::words;

use super::markdown::{code_block, escaped, table};
use super::size_table::{Cells, HEADINGS, rows};
use super::{action, server, size};

/// Writes the answer as GitHub-flavoured Markdown.
pub(super) fn report(report: &SizeReport) -> String {
    let mut out = vec![format!("# Size of the buffer pool of {}", escaped(&report.name))];
    let description = server::described(&report.server, report.basis, report.interval_seconds);
    out.push(format!("{}.", escaped(&description)));
    out.push(format!("**{}**", escaped(&report.headline)));
    curve(&mut out, report);
    if let Some(answer) = &report.recommendation {
        let lines: Vec<_> =
            answer.reasons.iter().map(|why| format!("- {}", escaped(why))).collect();
        out.push(lines.join("\n"));
    }
    if let Some(price) = &report.price {
        let lines: Vec<_> =
            size::sides(price).iter().map(|side| format!("- {}", escaped(side))).collect();
        out.push(lines.join("\n"));
    }
    typed(&mut out, &report.action);
    for setting in &report.settings {
        out.push(format!("## {}", escaped(&size::changed(setting))));
        out.push(escaped(&setting.reason));
        typed(&mut out, &setting.action);
    }
    budget(&mut out, report);
    let mut notes: Vec<String> =
        report.remarks.iter().map(|remark| format!("- {}", escaped(remark))).collect();
    notes.extend(
        report
            .not_read
            .iter()
            .map(|item| format!("- not read: {}: {}", escaped(&item.what), escaped(&item.why))),
    );
    notes.extend(
        report
            .better_evidence
            .iter()
            .map(|better| format!("- `{}`: {}", better.command, escaped(&better.changes))),
    );
    if !notes.is_empty() {
        out.push("## To know".to_owned());
        out.push(notes.join("\n"));
    }
    out.join("\n\n") + "\n"
}

fn curve(out: &mut Vec<String>, report: &SizeReport) {
    let head: Vec<&str> = ["pool"].into_iter().chain(HEADINGS).collect();
    let lines = rows(report).into_iter().map(|row| {
        let size = escaped(&row.size);
        let mut line = vec![if row.recommended { format!("**{size}**") } else { size }];
        match row.cells {
            Cells::Known(cells) => line.extend(cells.iter().map(|cell| escaped(cell))),
            Cells::Words(words) => {
                line.push(escaped(&words));
                line.extend(["", "", ""].map(str::to_owned));
            }
        }
        line
    });
    out.extend(table(&head, lines));
}

fn typed(out: &mut Vec<String>, text: &str) {
    let mut lines: Vec<&str> = Vec::new();
    for line in action::lines(text) {
        match line {
            action::Line::Typed(text) => lines.push(text),
            action::Line::Prose(text) => {
                out.extend(code_block(&std::mem::take(&mut lines)));
                out.push(escaped(text));
            }
        }
    }
    out.extend(code_block(&lines));
}

fn budget(out: &mut Vec<String>, report: &SizeReport) {
    let budget = &report.memory_budget;
    let Some(ceiling) = budget.ceiling_bytes else {
        return;
    };
    out.push("## Memory budget".to_owned());
    let terms = budget.terms.iter().enumerate().map(|(position, term)| {
        let sign = if position == 0 { "" } else { "- " };
        vec![
            escaped(&term.name.replace('_', " ")),
            format!("{sign}{}", words::bytes(term.bytes)),
            escaped(&term.source),
        ]
    });
    let sum = vec!["the largest pool that fits".to_owned(), words::bytes(ceiling), String::new()];
    out.extend(table(&["Term", "Bytes", "Source"], terms.chain([sum])));
}
