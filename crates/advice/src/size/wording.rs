//! The answer in sentences: headline, reasons, remarks, and what better evidence would change.

use super::OnCurve;
use super::ceiling::Ceiling;
use super::choose::Why;
use super::counted::Counted;
use super::curve::{Curve, reads_at};
use super::report::{BetterEvidence, EvidenceLevel, Recommendation};
use super::work::TimeBasis;
use crate::facts::Facts;
use crate::report::Basis;
use crate::thresholds::{SHRINK_WORTH, SIZE_WITHIN};
use crate::words;

/// More of memory than people give even to a dedicated server.
const LARGE_SHARE: f64 = 0.8;

/// The answer in a sentence or two.
pub(super) fn headline(
    facts: &Facts<'_>,
    recommendation: Option<&Recommendation>,
    curve: Option<&Curve>,
    current: Option<u64>,
) -> String {
    let Some(answer) = recommendation else {
        return match current {
            Some(bytes) => format!(
                "The pool has {}; whether that is right the evidence does not tell.",
                words::bytes(bytes)
            ),
            None => "The evidence does not tell how large the pool is or may be.".to_owned(),
        };
    };
    let size = words::bytes(answer.pool_size_bytes);
    let range = match (answer.low_bytes, answer.high_bytes) {
        (Some(low), Some(high)) if words::bytes(low) != words::bytes(high) => {
            format!(" ({} would do)", span(low, high))
        }
        _ => String::new(),
    };
    let from = match (answer.evidence_level, curve) {
        (EvidenceLevel::Rule, _) => "from memory and data size alone".to_owned(),
        (EvidenceLevel::Counters, _) => match facts.watched() {
            Some(interval) => {
                format!("from counters over {}", words::duration(interval.seconds))
            }
            None if facts.basis == Basis::SinceStart => {
                "from counters since the server started".to_owned()
            }
            None => "from one look at what the server prints".to_owned(),
        },
        (_, Some(curve)) => format!("from {}", curve.made_from),
        (level, None) => format!("from a {}", level.as_str()),
    };
    match (answer.keep_current, current) {
        (true, _) => format!("Leave it at {size}{range}, {from}."),
        (false, Some(now)) if now != answer.pool_size_bytes => {
            format!("{size}{range} instead of {}, {from}.", words::bytes(now))
        }
        _ => format!("{size}{range}, {from}."),
    }
}

/// `18-24 GB`, or both with their units where these differ.
fn span(low: u64, high: u64) -> String {
    let (low, high) = (words::bytes(low), words::bytes(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}-{high}"),
        _ => format!("{low} to {high}"),
    }
}

/// A choice on a curve as a recommendation.
pub(super) fn on_curve(facts: &Facts<'_>, found: &OnCurve, ceiling: &Ceiling) -> Recommendation {
    let choice = &found.choice;
    let mut reasons = vec![why(found)];
    reasons.push(cost(found));
    if found.by_bounds {
        reasons.push("The curve has only bounds; these are close enough to choose by.".to_owned());
    }
    if found.worst_only {
        reasons.push(
            "Of this size the curve knows only the worst, and that is better than what it knows of \
             smaller ones; it may be better still."
                .to_owned(),
        );
    }
    if let Some(held) = &ceiling.held_back_by {
        reasons.push(format!("{}.", words::sentence_start(held)));
    }
    reasons.extend(share_of_memory(facts, choice.bytes));
    Recommendation {
        pool_size_bytes: choice.bytes,
        low_bytes: Some(choice.low_bytes),
        high_bytes: Some(choice.high_bytes),
        evidence_level: found.level,
        keep_current: choice.keep,
        reasons,
    }
}

fn why(found: &OnCurve) -> String {
    let choice = &found.choice;
    let within = words::percent(SIZE_WITHIN - 1.0);
    let best = words::bytes(choice.best_bytes);
    match choice.why {
        Why::Right => format!(
            "It is the smallest size that is within {within} of the best one that fits ({best}), \
             and it is today's."
        ),
        Why::GainTooSmall => format!(
            "A larger pool ({best} is the best that fits) would give less than {within} more, \
             which is within noise."
        ),
        Why::NotWorthShrinking => format!(
            "A smaller pool might do, but not beyond doubt, or it would give back less than {} of \
             this one: not worth a resize.",
            words::percent(SHRINK_WORTH)
        ),
        Why::Grow => {
            format!("The smallest size that is within {within} of the best one that fits ({best}).")
        }
        Why::Shrink => format!(
            "It does the same work with less memory, even if the curve's band were twice as wide \
             (the best size that fits is {best})."
        ),
        Why::Elsewhere => match found.current_bytes {
            Some(now) => format!(
                "Today's {} cannot stay: it is above what memory allows, or below where the curve \
                 begins. Of the rest this is the smallest within {within} of the best ({best}).",
                words::bytes(now)
            ),
            None => format!("The smallest size that is within {within} of the best one ({best})."),
        },
    }
}

/// What reading costs at the size.
fn cost(found: &OnCurve) -> String {
    let reads = found.reads(found.choice.bytes);
    let of = match found.work.basis {
        TimeBasis::StatementTime => "statement time",
        TimeBasis::RunningThreads => "running threads' time",
        TimeBasis::ReadsAlone => {
            return format!(
                "{} disk reads/s are left there. Read latency and statement time are not known, so \
                 sizes are compared by their reads alone, as if all work were reading.",
                words::rate(reads)
            );
        }
    };
    let recorded = found.work.recorded_reads;
    if recorded.total_cmp(&reads).is_eq() {
        let share = found.work.reading_share(reads).unwrap_or(0.0);
        return format!(
            "{} disk reads/s are {} of {of}.",
            words::rate(reads),
            words::percent(share)
        );
    }
    let (Some(share), Some(before)) =
        (found.work.reading_share(reads), found.work.reading_share(recorded))
    else {
        return format!("{} disk reads/s are left there.", words::rate(reads));
    };
    format!(
        "{} disk reads/s would be left of {}: {} of {of} instead of {}.",
        words::rate(reads),
        words::rate(recorded),
        words::percent(share),
        words::percent(before)
    )
}

/// A word of warning for a size that people would not give.
fn share_of_memory(facts: &Facts<'_>, bytes: u64) -> Option<String> {
    let limit = facts.budget.as_ref()?.limit.value;
    let share = bytes as f64 / limit.max(1) as f64;
    (share > LARGE_SHARE).then(|| {
        format!(
            "That is {} of memory, more than the usual 70 to 80 %: the budget has room for it, but \
             watch for swap-ins.",
            words::percent(share)
        )
    })
}

/// A size by counters or by rule as a recommendation.
pub(super) fn counted(facts: &Facts<'_>, counted: Counted) -> Recommendation {
    let current = facts.pool.size_bytes.as_ref().map(|size| size.value);
    let mut reasons = counted.reasons;
    reasons.extend(share_of_memory(facts, counted.bytes));
    if facts.budget.is_none() && !reasons.iter().any(|reason| reason.contains("--host-memory")) {
        reasons.push(NO_BUDGET.to_owned());
    }
    Recommendation {
        pool_size_bytes: counted.bytes,
        low_bytes: counted.low_bytes,
        high_bytes: counted.high_bytes,
        evidence_level: counted.level,
        keep_current: current == Some(counted.bytes),
        reasons,
    }
}

const NO_BUDGET: &str = "The memory of the server's machine is not known, so nothing limits the size: \
                         --host-memory says it.";

/// What a reader of a choice on a curve must know.
pub(super) fn remarks(found: &OnCurve, curve: Option<&Curve>, ceiling: &Ceiling) -> Vec<String> {
    let mut remarks = Vec::new();
    if ceiling.hard_bytes.is_none() {
        remarks.push(NO_BUDGET.to_owned());
    }
    let largest_known = curve
        .iter()
        .flat_map(|curve| &curve.points)
        .filter(|point| point.estimated().is_some())
        .map(|point| point.pool_size_bytes)
        .max()
        .unwrap_or(0);
    let beyond = curve.is_some_and(|curve| {
        curve.points.iter().any(|point| {
            point.pool_size_bytes > largest_known && ceiling.allows(point.pool_size_bytes)
        })
    });
    let left = reads_at(&found.rows, found.choice.bytes).map_or(0.0, |reads| reads.estimate);
    if beyond && found.work.time(left) > found.work.time(0.0) * SIZE_WITHIN {
        let from = words::bytes(found.choice.bytes);
        remarks.push(format!(
            "Above {} the curve has no estimate, and at {from} reads are left to save: record again \
             there.",
            words::bytes(largest_known)
        ));
    }
    remarks
}

/// What stronger evidence would change, and how to get it.
pub(super) fn better_evidence(
    facts: &Facts<'_>,
    recommendation: Option<&Recommendation>,
    curve: Option<&Curve>,
) -> Vec<BetterEvidence> {
    let level = recommendation.map(|answer| answer.evidence_level);
    let mut better = Vec::new();
    if facts.budget.is_none() {
        better.push(BetterEvidence {
            level: level.unwrap_or(EvidenceLevel::Rule),
            command: "add --host-memory 32G".to_owned(),
            changes: "how large the pool may be at most".to_owned(),
        });
    }
    if level.is_none_or(|level| level < EvidenceLevel::Counters) && facts.watched().is_none() {
        better.push(BetterEvidence {
            level: EvidenceLevel::Counters,
            command: "add --interval 60".to_owned(),
            changes: "whether the pool is too small under this load".to_owned(),
        });
    }
    match level {
        Some(EvidenceLevel::Capture | EvidenceLevel::Sweep) => better.push(BetterEvidence {
            level: EvidenceLevel::Capture,
            command: "innopool capture --for 7d --every 30m --window 60s".to_owned(),
            changes: "the same for nights and batches".to_owned(),
        }),
        _ if curve.is_none() || level < Some(EvidenceLevel::Capture) => {
            better.push(BetterEvidence {
                level: EvidenceLevel::Capture,
                command: "innopool capture -o FILE".to_owned(),
                changes: "disk reads at every size: the smallest that does, then innopool size \
                          --recording FILE"
                    .to_owned(),
            });
        }
        _ => {}
    }
    better
}
