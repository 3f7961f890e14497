//! What a number of disk reads costs: the time the same work takes.
//!
//! Statements take the time of their own work, which does not depend on the pool, plus reads times
//! the latency of a read. With as many sessions as before, throughput is the inverse of that time,
//! so the throughput at one size over that at another is
//!
//! ```text
//!   throughput(a)   other + reads(b) x latency
//!   ------------- = --------------------------
//!   throughput(b)   other + reads(a) x latency
//! ```
//!
//! Latency is taken to be the same at all sizes. A disk that is overloaded answers faster when less
//! is asked of it, so where it errs, a larger pool gives more than this says.

use super::curve::{Curve, Reads};
use crate::facts::Facts;
use crate::read_cost::{ReadCost, ShareOf};
use crate::thresholds::{READS_WORTH_A_LOOK, SIZE_WITHIN};

/// What the time is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeBasis {
    /// Read latency and statement time.
    StatementTime,
    /// Reads in flight among running threads.
    RunningThreads,
    /// Neither: sizes are compared by their reads alone.
    ReadsAlone,
}

/// The time of the work, as it depends on the reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorkTime {
    /// Time per second beside reading.
    pub(crate) other: f64,
    /// Time of one read, in the same unit.
    pub(crate) per_read: f64,
    /// Reads per second at the size that was recorded.
    pub(crate) recorded_reads: f64,
    /// What it is known from.
    pub(crate) basis: TimeBasis,
}

impl WorkTime {
    /// By the curve's own measure of time, else by the look's, else by reads alone.
    pub(crate) fn of(facts: &Facts<'_>, curve: &Curve, recorded: Option<Reads>) -> Self {
        let reads = recorded.map_or(0.0, |reads| reads.estimate);
        let measured = |value: Option<f64>| value.filter(|v| v.is_finite() && *v > 0.0);
        if let (Some(latency), Some(statements)) =
            (measured(curve.read_latency_seconds), measured(curve.statement_seconds_per_second))
        {
            let other = (statements - reads * latency).max(0.0);
            return Self {
                other,
                per_read: latency,
                recorded_reads: reads,
                basis: TimeBasis::StatementTime,
            };
        }
        // The look's share is of the size in force, so it fits the curve only at that size.
        let same = facts.pool.size_bytes.as_ref().is_some_and(|now| {
            now.value.abs_diff(curve.recorded_size_bytes) <= curve.recorded_size_bytes / 20
        });
        match ReadCost::of(facts) {
            Some(ReadCost::Share { ratio, of }) if same && reads > 0.0 && ratio.value > 0.0 => {
                let basis = match of {
                    ShareOf::StatementTime => TimeBasis::StatementTime,
                    ShareOf::RunningThreads => TimeBasis::RunningThreads,
                };
                let share = ratio.value.clamp(0.0, 1.0);
                Self { other: 1.0 - share, per_read: share / reads, recorded_reads: reads, basis }
            }
            _ => Self::reads_alone(reads),
        }
    }

    /// Without any time the work counts as much as makes reads that are not worth a look
    /// disappear in what may be lost; beyond that, reads are taken to be all there is, so what
    /// holds for them holds for any work beside them.
    pub(crate) fn reads_alone(recorded_reads: f64) -> Self {
        let worth = READS_WORTH_A_LOOK.notice.unwrap_or(0.0);
        let other = worth / (SIZE_WITHIN - 1.0);
        Self { other, per_read: 1.0, recorded_reads, basis: TimeBasis::ReadsAlone }
    }

    /// Time of the work with so many reads per second.
    pub(crate) fn time(&self, reads_per_second: f64) -> f64 {
        self.other + reads_per_second * self.per_read
    }

    /// Reading as a share of all the time the work took at the recorded size, as `whatif` gives it;
    /// `None` where time is not known.
    pub(crate) fn reading_share(&self, reads_per_second: f64) -> Option<f64> {
        let time = self.time(self.recorded_reads);
        (self.basis != TimeBasis::ReadsAlone && time > 0.0)
            .then(|| reads_per_second * self.per_read / time)
    }

    /// The throughput with `reads` over that with `best`; `None` where time is not known.
    pub(crate) fn throughput_ratio(&self, reads: f64, best: f64) -> Option<f64> {
        let time = self.time(reads);
        (self.basis != TimeBasis::ReadsAlone && time > 0.0).then(|| self.time(best) / time)
    }
}
