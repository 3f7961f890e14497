//! The page of `innopool size`: the answer, the curve, why, what being wrong costs, what to type.
//! With `--explain` also the memory budget term by term and the evidence of every value.

use innopool_advice::size::{Price, PricePoint, Setting, SizeReport};
use innopool_advice::words;

use super::layout::{Page, Paper, Style, padded, padded_left, width};
use super::size_table::{Cells, HEADINGS, Row, rows};
use super::{action, evidence, server};

/// Writes the page.
pub(super) fn report(report: &SizeReport, page: Page) -> String {
    let mut paper = Paper::new(page);
    head(&mut paper, report);
    table(&mut paper, &rows(report));
    why(&mut paper, report);
    if page.verbose {
        budget(&mut paper, report);
    }
    typed(&mut paper, report);
    settings(&mut paper, &report.settings, page.verbose);
    rest(&mut paper, report);
    next(&mut paper, report, page);
    paper.finish()
}

fn head(paper: &mut Paper, report: &SizeReport) {
    let name = super::plain(&report.name);
    let description = server::described(&report.server, report.basis, report.interval_seconds);
    let labels = [(&*name, Style::Strong), ("  ", Style::Plain)];
    let labels = if name.is_empty() { &labels[1..] } else { &labels };
    paper.labelled(labels, 2, &description, Style::Plain);
    paper.gap();
    paper.labelled(&[("  ", Style::Plain)], 2, &report.headline, Style::Strong);
    paper.gap();
}

/// The rows in columns; columns that do not fit beside the others are left out, the last first.
fn table(paper: &mut Paper, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    let size_columns = rows.iter().map(|row| width(&row.size)).max().unwrap_or(0).max(4);
    let columns: Vec<usize> = HEADINGS
        .iter()
        .enumerate()
        .map(|(position, heading)| {
            let cells = rows.iter().filter_map(|row| match &row.cells {
                Cells::Known(cells) => cells.get(position).map(|cell| width(cell)),
                Cells::Words(_) => None,
            });
            cells.max().unwrap_or(0).max(width(heading))
        })
        .collect();
    let mut used = 4 + size_columns;
    let shown = columns
        .iter()
        .take_while(|columns| {
            used += 3 + **columns;
            used <= paper.columns()
        })
        .count();
    let line = |mark: &str, size: &str, cells: &[&str]| {
        let mut text = format!("  {mark} {}", padded_left(size, size_columns));
        for (cell, columns) in cells.iter().zip(&columns).take(shown) {
            text.push_str("   ");
            text.push_str(&padded_left(cell, *columns));
        }
        text
    };
    paper.verbatim(0, &line(" ", "pool", &HEADINGS));
    for row in rows {
        let mark = if row.recommended { ">" } else { " " };
        match &row.cells {
            Cells::Known(cells) => {
                let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
                paper.verbatim(0, &line(mark, &row.size, &cells));
            }
            Cells::Words(words) => {
                paper.hanging(&format!("{}   ", line(mark, &row.size, &[])), words);
            }
        }
    }
    paper.gap();
}

fn why(paper: &mut Paper, report: &SizeReport) {
    for (label, text) in
        [("Pool", server::pool(&report.pool)), ("Reads", server::reads(&report.pool))]
    {
        if !text.is_empty() {
            paper.hanging(&format!("  {label:8}"), &text);
        }
    }
    if let Some(ceiling) = report.memory_budget.ceiling_bytes {
        let limit = report.memory_budget.terms.first();
        let of = limit.map_or_else(String::new, |l| format!(" of {}", words::bytes(l.bytes)));
        let text = format!("a pool of {} at most{of}", words::bytes(ceiling));
        paper.hanging("  Memory  ", &text);
    }
    paper.gap();
    if let Some(answer) = &report.recommendation {
        for reason in &answer.reasons {
            paper.prose(2, reason);
        }
        paper.gap();
    }
    if let Some(price) = &report.price {
        for line in sides(price) {
            paper.prose(2, &line);
        }
        paper.gap();
    }
}

/// What being wrong costs: a line for each side that there is.
pub(super) fn sides(price: &Price) -> Vec<String> {
    let side = |what: &str, point: &PricePoint| {
        let mut text = format!(
            "{what} {}: {} disk reads/s",
            words::bytes(point.pool_size_bytes),
            words::rate(point.disk_reads_per_second)
        );
        if let Some(share) = point.read_time_ratio {
            text.push_str(&format!(", {} of today's time", words::percent(share)));
        }
        if let Some(left) = point.memory_left_bytes {
            text.push_str(&format!(", {} of the budget left", words::bytes(left)));
        }
        text.push('.');
        text
    };
    let here = price.recommended.pool_size_bytes;
    let mut lines = Vec::new();
    if price.low.pool_size_bytes < here {
        lines.push(side("As small as", &price.low));
    }
    lines.push(side("At", &price.recommended));
    if price.high.pool_size_bytes > here {
        lines.push(side("As large as", &price.high));
    }
    lines
}

fn budget(paper: &mut Paper, report: &SizeReport) {
    let budget = &report.memory_budget;
    let Some(ceiling) = budget.ceiling_bytes else {
        return;
    };
    paper.heading(2, "How the memory budget adds up");
    let values: Vec<_> = budget.terms.iter().map(|term| words::bytes(term.bytes)).collect();
    let columns = values.iter().map(|value| width(value)).max().unwrap_or(0);
    let columns = columns.max(width(&words::bytes(ceiling)));
    for (position, (term, value)) in budget.terms.iter().zip(&values).enumerate() {
        let sign = if position == 0 { ' ' } else { '-' };
        let label = format!("    {sign} {}  ", padded_left(value, columns));
        paper.hanging(&label, &format!("{} ({})", term.name.replace('_', " "), term.source));
    }
    let label = format!("    = {}  ", padded_left(&words::bytes(ceiling), columns));
    paper.hanging(&label, "the largest pool that fits");
    paper.gap();
}

fn typed(paper: &mut Paper, report: &SizeReport) {
    if report.action.is_empty() {
        return;
    }
    paper.heading(2, "To have it");
    for line in action::lines(&report.action) {
        match line {
            action::Line::Prose(text) => paper.prose(4, text),
            action::Line::Typed(text) => paper.verbatim(8, text),
        }
    }
    paper.gap();
}

fn settings(paper: &mut Paper, settings: &[Setting], explain: bool) {
    for setting in settings {
        paper.heading(2, &changed(setting));
        paper.prose(4, &setting.reason);
        for item in setting.evidence.iter().filter(|_| explain) {
            let label = format!("    {}: ", evidence::name(item));
            let text = format!("{} ({})", evidence::value(item), item.source);
            paper.labelled(&[(&label, Style::Faint)], 8, &text, Style::Plain);
        }
        for line in action::lines(&setting.action) {
            match line {
                action::Line::Prose(text) => paper.prose(4, text),
                action::Line::Typed(text) => paper.verbatim(8, text),
            }
        }
        paper.gap();
    }
}

/// `innodb_io_capacity: 200, better 1,000`.
pub(super) fn changed(setting: &Setting) -> String {
    let value = |value: u64| match setting.unit {
        "bytes" => words::bytes(value),
        _ => words::count(value),
    };
    let now = setting.current.map_or_else(|| "not set".to_owned(), value);
    format!("{}: {now}, better {}", setting.name, value(setting.recommended))
}

fn rest(paper: &mut Paper, report: &SizeReport) {
    for remark in &report.remarks {
        paper.prose(2, remark);
    }
    paper.gap();
    for item in &report.not_read {
        paper.labelled(
            &[("  Not read: ", Style::Plain)],
            14,
            &format!("{}: {}.", item.what, item.why),
            Style::Plain,
        );
    }
    paper.gap();
}

fn next(paper: &mut Paper, report: &SizeReport, page: Page) {
    let mut rows: Vec<(String, String)> = report
        .better_evidence
        .iter()
        .map(|better| match better.command.as_str() {
            // What is saved cannot be watched longer.
            "add --interval 60" if !page.live => {
                ("innopool collect -o DIR".to_owned(), better.changes.clone())
            }
            command => (command.to_owned(), better.changes.clone()),
        })
        .collect();
    if !page.verbose {
        rows.push(("add --explain".to_owned(), "how the memory budget adds up".to_owned()));
    }
    let command_columns = rows.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
    let beside = 9 + command_columns + 3 + 24 <= paper.columns();
    for (position, (command, changes)) in rows.iter().enumerate() {
        let label = if position == 0 { "  Next:  " } else { "         " };
        if beside {
            paper.hanging(&format!("{label}{}   ", padded(command, command_columns)), changes);
        } else {
            paper.verbatim(0, &format!("{label}{command}"));
            paper.prose(11, changes);
        }
    }
}
