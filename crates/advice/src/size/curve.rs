//! Disk reads against pool size, as a replay of recorded page accesses or a sweep gives them.

use serde::Serialize;

use super::EvidenceLevel;

/// A curve of one server under one load, smallest size first.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What kind of evidence it is: `snapshots`, `capture` or `sweep`.
    pub level: EvidenceLevel,
    /// How it was made, for people: `60 s of page accesses (events)`.
    pub made_from: String,
    /// `innodb_buffer_pool_size` while it was recorded.
    pub recorded_size_bytes: u64,
    /// Mean time of a read meanwhile.
    pub read_latency_seconds: Option<f64>,
    /// Time that statements took per second meanwhile, over all sessions.
    pub statement_seconds_per_second: Option<f64>,
    /// The rows.
    pub points: Vec<CurvePoint>,
    /// Why no size may be recommended from it, where that is so.
    pub refused_because: Option<String>,
    /// What a reader must know, a sentence each.
    pub remarks: Vec<String>,
}

/// One size. Keys are those of `innopool.whatif/1`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CurvePoint {
    /// The size.
    pub pool_size_bytes: u64,
    /// Of the recorded size.
    pub size_factor: f64,
    /// Demand reads.
    pub disk_reads_per_second: Option<f64>,
    /// Not fewer.
    pub disk_reads_low_per_second: Option<f64>,
    /// Not more.
    pub disk_reads_high_per_second: Option<f64>,
    /// Demand reads.
    pub disk_reads_per_transaction: Option<f64>,
    /// Demand reads of a thousand requests for a page.
    pub miss_per_mille: Option<f64>,
    /// Reads times latency, as a share of the time statements took at the recorded size.
    pub read_time_ratio: Option<f64>,
    /// Reads saved for each GB more than the row before.
    pub reads_saved_per_second_per_gb: Option<f64>,
    /// Only low and high can be told, or not even both.
    pub bound_only: bool,
}

/// Demand reads per second at one size, with what they may be at least and at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reads {
    pub(crate) low: f64,
    pub(crate) estimate: f64,
    pub(crate) high: f64,
}

impl Reads {
    /// With a band twice as wide.
    pub(crate) fn widened(self) -> Self {
        let width = self.high - self.low;
        Self { low: (self.low - width).max(0.0), high: self.high + width, ..self }
    }

    /// The least of both in every respect.
    fn least(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            estimate: self.estimate.min(other.estimate),
            high: self.high.min(other.high),
        }
    }
}

impl CurvePoint {
    /// The reads where the curve has an estimate; bounds that are missing are the estimate.
    pub(crate) fn estimated(&self) -> Option<Reads> {
        let estimate = number(self.disk_reads_per_second).filter(|_| !self.bound_only)?;
        let low = number(self.disk_reads_low_per_second).unwrap_or(estimate).min(estimate);
        let high = number(self.disk_reads_high_per_second).unwrap_or(estimate).max(estimate);
        Some(Reads { low, estimate, high })
    }

    /// The reads where the curve has only bounds, both of them; the worse one stands for the estimate.
    pub(crate) fn bounded(&self) -> Option<Reads> {
        let low = number(self.disk_reads_low_per_second)?;
        let high = number(self.disk_reads_high_per_second)?.max(low);
        Some(Reads { low, estimate: high, high })
    }

    /// The estimate, else what the reads are at worst: a size of which no more is known is worth
    /// having only where its worst is better than what is known of others.
    pub(crate) fn estimated_or_worst(&self) -> Option<Reads> {
        let worst = || {
            let high = number(self.disk_reads_high_per_second)?;
            Some(Reads { low: high, estimate: high, high })
        };
        self.estimated().or_else(worst)
    }
}

/// A rate that can be one.
fn number(rate: Option<f64>) -> Option<f64> {
    rate.filter(|rate| rate.is_finite() && *rate >= 0.0)
}

/// The rows that say something, by size, with reads that never rise with the size: a larger pool
/// holds what a smaller one holds, and where two rows say otherwise, that is their noise.
pub(crate) fn falling(
    points: &[CurvePoint],
    reads_of: fn(&CurvePoint) -> Option<Reads>,
) -> Vec<(u64, Reads)> {
    let mut rows: Vec<_> = points
        .iter()
        .filter_map(|point| Some((point.pool_size_bytes, reads_of(point)?)))
        .filter(|(bytes, _)| *bytes > 0)
        .collect();
    rows.sort_by_key(|(bytes, _)| *bytes);
    let mut least: Option<Reads> = None;
    for (_, reads) in &mut rows {
        *reads = least.map_or(*reads, |least| reads.least(least));
        least = Some(*reads);
    }
    rows
}

/// The reads at a size: those of the largest row that is not larger.
pub(crate) fn reads_at(rows: &[(u64, Reads)], bytes: u64) -> Option<Reads> {
    rows.iter().rev().find(|(row, _)| *row <= bytes).map(|(_, reads)| *reads)
}
