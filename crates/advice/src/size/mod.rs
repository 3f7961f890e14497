//! How big should the pool be, and how sure is that: one recommendation with its evidence level.
//!
//! [`size()`] takes what `check` takes and, where there is one, a [`Curve`] of disk reads against
//! size. `ceiling` says how large the pool may be, `steps` which sizes the server can have, `work`
//! what reads cost, and `choose` takes the smallest affordable size that costs no more than the best
//! one. Without a curve that may be used, `counted` goes by counters, or by memory and data size.
//! `wording` puts the answer into sentences; `settings` adds the values that go with the size.

mod ceiling;
mod choose;
mod counted;
mod curve;
mod report;
mod settings;
mod steps;
#[cfg(test)]
mod tests;
mod wording;
mod work;

use innopool_target::Observation;

pub use curve::{Curve, CurvePoint};
pub use report::{
    BetterEvidence, BudgetTerm, CurveRow, CurveSource, EvidenceLevel, MemoryBudget, Price,
    PricePoint, Recommendation, SCHEMA, Setting, SizeReport, VerifiedRow,
};

use crate::check;
use crate::facts::Facts;
use crate::rules::size::set_size;
use ceiling::Ceiling;
use choose::{Choice, Question};
use curve::{Reads, falling, reads_at};
use steps::Steps;
use work::WorkTime;

/// Recommends a size for the pool of one server.
///
/// The curve is of the same server under the load that matters. Never recommends more than the
/// memory budget, where that is known, nor a size of which the curve says nothing.
pub fn size(observation: &Observation, curve: Option<&Curve>) -> SizeReport {
    let facts = Facts::of(observation);
    let steps = Steps::of(&facts);
    let ceiling = Ceiling::of(&facts);
    let on_curve = curve.map(|curve| on_curve(&facts, curve, &ceiling, &steps));
    let mut remarks = Vec::new();
    let mut price = None;
    let recommendation = match on_curve {
        Some(Ok(found)) => {
            price = Some(found.price(&ceiling));
            remarks.extend(wording::remarks(&found, curve, &ceiling));
            Some(wording::on_curve(&facts, &found, &ceiling))
        }
        other => {
            let refusal = other.and_then(Result::err);
            match counted::size(&facts, &ceiling, &steps) {
                Ok(counted) => {
                    let mut answer = wording::counted(&facts, counted);
                    // Before why this size: why not by the stronger evidence.
                    answer.reasons.splice(0..0, refusal);
                    Some(answer)
                }
                Err(missing) => {
                    remarks.extend(refusal);
                    remarks.push(format!("No size can be recommended without {missing}."));
                    None
                }
            }
        }
    };
    remarks.extend(curve.iter().flat_map(|curve| curve.remarks.iter().cloned()));
    let current = current_bytes(&facts, curve);
    let bytes = recommendation.as_ref().map(|r| r.pool_size_bytes);
    SizeReport {
        schema: SCHEMA,
        name: observation.name.clone(),
        server: check::server(&facts),
        interval_seconds: facts.watched().map(|interval| interval.seconds),
        basis: facts.basis,
        headline: wording::headline(&facts, recommendation.as_ref(), curve, current),
        memory_budget: ceiling::shown(&facts, &ceiling),
        pool: check::pool(&facts),
        curve_from: curve.map(|curve| CurveSource {
            level: curve.level,
            made_from: curve.made_from.clone(),
            recorded_size_bytes: curve.recorded_size_bytes,
            refused_because: curve.refused_because.clone(),
        }),
        curve: curve.map(|curve| rows(curve, &ceiling)).unwrap_or_default(),
        verified: None,
        settings: settings::of(&facts, bytes.or(current).unwrap_or(0)),
        action: match &recommendation {
            Some(r) if !r.keep_current => set_size(&facts, r.pool_size_bytes),
            _ => String::new(),
        },
        better_evidence: wording::better_evidence(&facts, recommendation.as_ref(), curve),
        recommendation,
        price,
        remarks,
        not_read: check::not_read(observation),
    }
}

/// The pool in force, else the one that was recorded.
fn current_bytes(facts: &Facts<'_>, curve: Option<&Curve>) -> Option<u64> {
    let now = facts.pool.size_bytes.as_ref().map(|size| size.value);
    now.or_else(|| curve.map(|curve| curve.recorded_size_bytes)).filter(|bytes| *bytes > 0)
}

/// The curve's rows with whether each may be had.
fn rows(curve: &Curve, ceiling: &Ceiling) -> Vec<CurveRow> {
    let row = |point: &CurvePoint| CurveRow {
        within_budget: ceiling.hard_bytes.map(|hard| point.pool_size_bytes <= hard),
        point: point.clone(),
    };
    curve.points.iter().map(row).collect()
}

/// A choice made on a curve, with what it was made of.
struct OnCurve {
    choice: Choice,
    rows: Vec<(u64, Reads)>,
    work: WorkTime,
    level: EvidenceLevel,
    /// Only bounds were known, and they were enough.
    by_bounds: bool,
    /// Of the size chosen only the worst is known.
    worst_only: bool,
    current_bytes: Option<u64>,
}

/// Chooses on the curve, or says why not, a sentence.
fn on_curve(
    facts: &Facts<'_>,
    curve: &Curve,
    ceiling: &Ceiling,
    steps: &Steps<'_>,
) -> Result<OnCurve, String> {
    if let Some(because) = &curve.refused_because {
        return Err(format!("No size is recommended from the curve: {because}"));
    }
    let current = current_bytes(facts, Some(curve));
    let by_bounds = curve.points.iter().all(|point| point.estimated().is_none());
    let reads_of = if by_bounds { CurvePoint::bounded } else { CurvePoint::estimated_or_worst };
    let rows = falling(&curve.points, reads_of);
    let Some((smallest, _)) = rows.first().copied() else {
        return Err("The curve says nothing of any size.".to_owned());
    };
    let mut candidates: Vec<u64> = rows.iter().map(|(bytes, _)| steps.up(*bytes)).collect();
    candidates.retain(|bytes| ceiling.move_bytes.is_none_or(|most| steps.made_of(*bytes) <= most));
    let stays = |bytes: &u64| *bytes >= smallest && ceiling.allows(*bytes);
    let work = WorkTime::of(facts, curve, reads_at(&rows, curve.recorded_size_bytes));
    let question = Question {
        rows: &rows,
        candidates: &candidates,
        current_bytes: current.filter(stays),
        work,
    };
    let Some(choice) = question.choose() else {
        return Err("No size on the curve is within the memory budget.".to_owned());
    };
    if by_bounds && !question.bounds_decide(&choice) {
        return Err(
            "The curve has only bounds, and they are too far apart to choose by.".to_owned()
        );
    }
    let worst_only = !by_bounds && is_worst_only(curve, choice.bytes);
    Ok(OnCurve {
        choice,
        rows,
        work,
        level: curve.level,
        by_bounds,
        worst_only,
        current_bytes: current,
    })
}

/// True when the row a size goes by has no estimate.
fn is_worst_only(curve: &Curve, bytes: u64) -> bool {
    let rows = curve.points.iter().filter(|point| point.estimated_or_worst().is_some());
    rows.filter(|point| point.pool_size_bytes <= bytes)
        .max_by_key(|point| point.pool_size_bytes)
        .is_some_and(|point| point.estimated().is_none())
}

impl OnCurve {
    fn price(&self, ceiling: &Ceiling) -> Price {
        let best = self.reads(self.choice.best_bytes);
        let point = |bytes: u64| {
            let reads = self.reads(bytes);
            PricePoint {
                pool_size_bytes: bytes,
                disk_reads_per_second: reads,
                read_time_ratio: self.work.reading_share(reads),
                throughput_ratio: self.work.throughput_ratio(reads, best),
                memory_left_bytes: ceiling.hard_bytes.map(|hard| hard.saturating_sub(bytes)),
            }
        };
        Price {
            low: point(self.choice.low_bytes),
            recommended: point(self.choice.bytes),
            high: point(self.choice.high_bytes),
        }
    }

    fn reads(&self, bytes: u64) -> f64 {
        reads_at(&self.rows, bytes).map_or(0.0, |reads| reads.estimate)
    }
}
