//! The answer in a sentence or two, before any evidence.

use crate::facts::Facts;
use crate::finding::Severity;
use crate::read_cost::{ReadCost, ShareOf};
use crate::report::{Basis, Report};
use crate::words;

/// Says what matters most about this pool.
pub(crate) fn of(facts: &Facts<'_>, report: &Report) -> String {
    let first = report.findings.iter().find(|finding| finding.severity > Severity::Notice);
    let mut text = match first.map(|finding| finding.code) {
        None => calm(facts, report),
        Some("pool-too-small") => {
            let far = first.is_some_and(|finding| finding.severity == Severity::Critical);
            too_small(facts, far)
        }
        Some("pool-default-size") => {
            "The pool still has the size a server starts with, and is read into all the time."
                .to_owned()
        }
        Some("pool-over-memory-budget") => "The pool is larger than its memory allows.".to_owned(),
        Some("host-swapping") => {
            "The machine swaps: the pool, or something beside it, is too large.".to_owned()
        }
        Some(_) => others(report),
    };
    if facts.basis == Basis::SinceStart && !text.is_empty() {
        text.push_str(" Rates are averages since the server started: they hide the present.");
    }
    text
}

fn too_small(facts: &Facts<'_>, far: bool) -> String {
    let size = facts.pool.size_bytes.as_ref().map_or_else(String::new, |f| words::bytes(f.value));
    let memory = facts
        .budget
        .as_ref()
        .map(|budget| format!(" on {} of memory", words::bytes(budget.limit.value)))
        .unwrap_or_default();
    let cost = match ReadCost::of(facts) {
        Some(ReadCost::Share { ratio, of: ShareOf::StatementTime }) => {
            format!(
                " Reading from disk takes {} of all statement time.",
                words::percent(ratio.value)
            )
        }
        Some(ReadCost::Share { ratio, of: ShareOf::RunningThreads }) => {
            format!(" Of the threads that run, {} wait for the disk.", words::percent(ratio.value))
        }
        Some(ReadCost::InFlight(reads)) => {
            format!(" At any moment {} requests wait for the disk.", words::rate(reads.value))
        }
        Some(ReadCost::HitPerMille(hits)) => {
            let misses = 1000_u64.saturating_sub(hits.value);
            format!(" {misses} of 1000 requests had to be read from disk.")
        }
        _ => String::new(),
    };
    let far = if far { "far " } else { "" };
    format!("The pool is {far}too small: {size}{memory}.{cost}")
}

fn others(report: &Report) -> String {
    let count = |severity| report.findings.iter().filter(|f| f.severity == severity).count();
    let (critical, warnings) = (count(Severity::Critical), count(Severity::Warning));
    let things = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    };
    if critical + warnings == 1
        && !size_is_fine(report)
        && let Some(first) = report.findings.first()
    {
        return sentence(&first.summary);
    }
    match (critical, warnings) {
        (0, warnings) if size_is_fine(report) => format!(
            "The pool's size is not the trouble; {} beside it.",
            things(warnings, "warning")
        ),
        (0, warnings) => format!("{}.", things(warnings, "warning")),
        (critical, 0) => format!("{}.", things(critical, "critical finding")),
        (critical, warnings) => {
            format!("{} and {}.", things(critical, "critical finding"), things(warnings, "warning"))
        }
    }
}

/// A summary as a sentence of its own.
fn sentence(summary: &str) -> String {
    let mut text = summary.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !text.ends_with(['.', '?', '!']) {
        text.push('.');
    }
    text
}

/// True when the size was judged, and fits both the work and the memory.
fn size_is_fine(report: &Report) -> bool {
    let found = |code: &str| report.findings.iter().any(|finding| finding.code == code);
    report.fine.iter().any(|fine| fine.code == "pool-too-small")
        && !found("pool-over-memory-budget")
        && !found("size-rounded")
        && !found("cold-pool")
}

fn calm(facts: &Facts<'_>, report: &Report) -> String {
    if facts.pool.size_bytes.is_none() {
        return match report.findings.len() {
            0 => "The evidence does not tell the pool's size: nothing to judge.".to_owned(),
            _ => "Nothing urgent; the evidence does not tell the pool's size.".to_owned(),
        };
    }
    let size =
        facts.pool.size_bytes.as_ref().map_or_else(String::new, |fact| words::bytes(fact.value));
    let reads = facts
        .rate(|i| i.disk_reads_per_second.as_ref())
        .map(|rate| format!(": {} disk reads/s {}", words::rate(rate.value), facts.when()))
        .unwrap_or_default();
    if report.findings.iter().any(|finding| finding.code == "cold-pool") {
        format!("The {size} pool is still filling: too early to judge its size{reads}.")
    } else if size_is_fine(report) {
        format!("The {size} pool is large enough{reads}.")
    } else {
        format!("Nothing urgent was found; whether {size} is enough the evidence does not tell.")
    }
}
