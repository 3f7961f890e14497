//! A size without a curve: from counters over an interval, else from memory and data size.
//!
//! Counters tell whether the pool is too small, never by how much (DESIGN 5.4): a pool with free
//! pages, or with all data in it, or that costs next to nothing in reads, has what is asked of it; one
//! that waits for the disk is grown to all data or to what memory allows.

use super::EvidenceLevel;
use super::ceiling::Ceiling;
use super::steps::Steps;
use crate::facts::Facts;
use crate::finding::{Severity, Verdict};
use crate::growth::{Growth, grow};
use crate::report::Basis;
use crate::words;

/// At this level a size is left where it is unless it differs by so much.
const RULE_DIFFERS: f64 = 1.25;

/// A size and why.
pub(crate) struct Counted {
    pub(crate) bytes: u64,
    pub(crate) low_bytes: Option<u64>,
    pub(crate) high_bytes: Option<u64>,
    pub(crate) level: EvidenceLevel,
    pub(crate) reasons: Vec<String>,
}

impl Counted {
    fn new(bytes: u64, level: EvidenceLevel, reason: impl Into<String>) -> Self {
        Self { bytes, low_bytes: None, high_bytes: None, level, reasons: vec![reason.into()] }
    }
}

/// The size; else what is missing.
pub(crate) fn size(
    facts: &Facts<'_>,
    ceiling: &Ceiling,
    steps: &Steps<'_>,
) -> Result<Counted, String> {
    let current = facts.pool.size_bytes.as_ref().map(|size| size.value);
    if let (Some(current), Some(hard)) = (current, ceiling.hard_bytes)
        && current > hard
    {
        return over_budget(current, hard, ceiling, steps);
    }
    let Some(current) = current else {
        return by_rule(facts, ceiling, steps, None);
    };
    match crate::rules::size::pool_too_small(facts) {
        Verdict::Fine(margin) => {
            let mut counted =
                Counted::new(current, level(facts), format!("{}.", words::sentence_start(&margin)));
            if let Some(data) =
                facts.data_bytes().filter(|data| data.saturating_add(data / 20) <= current)
            {
                counted.low_bytes =
                    Some(steps.up(data.saturating_add(data / 10))).filter(|low| *low <= current);
                counted.high_bytes = Some(current);
            }
            if facts.basis == Basis::SinceStart {
                counted.reasons.push(AVERAGES.to_owned());
            }
            Ok(counted)
        }
        Verdict::Found(finding) => {
            let mut counted = grown(facts, ceiling, steps, current);
            if finding.severity >= Severity::Notice {
                counted.reasons.insert(0, format!("{}.", words::sentence_start(&finding.summary)));
            }
            if facts.basis == Basis::SinceStart {
                counted.reasons.push(AVERAGES.to_owned());
            }
            Ok(counted)
        }
        Verdict::Unknown(_) | Verdict::NotApplicable => {
            by_rule(facts, ceiling, steps, Some(current))
        }
    }
}

const AVERAGES: &str = "Rates are averages since the server started: they hide the present.";

fn level(facts: &Facts<'_>) -> EvidenceLevel {
    match facts.basis {
        Basis::Moment if facts.pool.printed_hit_rate.is_none() => EvidenceLevel::Rule,
        _ => EvidenceLevel::Counters,
    }
}

fn over_budget(
    current: u64,
    hard: u64,
    ceiling: &Ceiling,
    steps: &Steps<'_>,
) -> Result<Counted, String> {
    let Some(bytes) = ceiling.move_bytes.and_then(|most| steps.down(most)) else {
        return Err(format!(
            "a memory budget for the pool: {} is left, which is no pool this server can have",
            words::bytes(hard)
        ));
    };
    let mut reason =
        format!("{} is above what memory allows ({}).", words::bytes(current), words::bytes(hard));
    if ceiling.swaps {
        reason.push_str(" The machine swaps in.");
    }
    Ok(Counted::new(bytes, EvidenceLevel::Rule, reason))
}

/// Up to what all data needs, or what memory allows.
fn grown(facts: &Facts<'_>, ceiling: &Ceiling, steps: &Steps<'_>, current: u64) -> Counted {
    let (wanted, reason) = match grow(facts, current) {
        Growth::To { bytes, reason } => (bytes, reason),
        Growth::NoRoom { reason } => (current, reason),
    };
    let bytes = fitted(wanted, ceiling, steps).unwrap_or(current);
    if bytes as f64 <= current as f64 * 1.05 {
        let reason = ceiling
            .held_back_by
            .clone()
            .filter(|_| ceiling.swaps)
            .unwrap_or_else(|| no_room(ceiling, reason, wanted > current));
        return Counted::new(current, level(facts), format!("{}.", words::sentence_start(&reason)));
    }
    Counted::new(bytes, level(facts), format!("{}.", words::sentence_start(&reason)))
}

fn no_room(ceiling: &Ceiling, reason: String, wanted_more: bool) -> String {
    match ceiling.hard_bytes {
        Some(hard) if wanted_more => {
            format!("the pool already has what its memory budget allows ({})", words::bytes(hard))
        }
        _ => reason,
    }
}

/// The size the server makes of `bytes`, within the ceiling.
fn fitted(bytes: u64, ceiling: &Ceiling, steps: &Steps<'_>) -> Option<u64> {
    let up = steps.up(bytes);
    match ceiling.move_bytes {
        Some(most) if steps.made_of(up) > most => steps.down(most.min(bytes)),
        _ => Some(up),
    }
}

/// From memory and data size alone.
fn by_rule(
    facts: &Facts<'_>,
    ceiling: &Ceiling,
    steps: &Steps<'_>,
    current: Option<u64>,
) -> Result<Counted, String> {
    let wanted = facts.data_bytes().map(|data| data.saturating_add(data / 10));
    let (Some(most), target) = (ceiling.move_bytes, wanted) else {
        return match (current, wanted) {
            (Some(current), Some(wanted)) if wanted <= current => Ok(Counted::new(
                current,
                EvidenceLevel::Rule,
                "All data and a tenth more fits in the pool.",
            )),
            _ => Err("the memory of the server's machine (--host-memory)".to_owned()),
        };
    };
    let bytes = fitted(target.unwrap_or(most).min(most), ceiling, steps).or(current);
    let Some(bytes) = bytes else {
        return Err("a memory budget that holds a pool".to_owned());
    };
    let reason = match target {
        Some(target) if target <= most => "All data and a tenth more fits in memory.",
        Some(_) => "The data is larger than memory: what memory allows.",
        None => "What memory allows; neither the load nor the data's size is known.",
    };
    match current {
        Some(current) if (bytes as f64) < current as f64 * RULE_DIFFERS => {
            let reason = "No counters over time are known, and the rule of memory and data size \
                          would not change much.";
            Ok(Counted::new(current, EvidenceLevel::Rule, reason))
        }
        _ => Ok(Counted::new(bytes, EvidenceLevel::Rule, reason)),
    }
}
