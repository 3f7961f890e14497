//! The rates a server prints: what happened between two looks, per second and per thousand requests.
//!
//! A server prints them in the status text and in `INNODB_BUFFER_POOL_STATS`, for the time since
//! anybody last looked. The hit rate is cut to whole per mille by integer arithmetic, in one of two ways
//! that differ where it matters: MySQL's counts pages read ahead as misses and so can wrap below zero,
//! and shows 1000 while there are still reads; MariaDB's shows 999 then.

use std::time::Duration;

use crate::counters::PoolStats;
use crate::variant::{ElapsedForm, HitRateForm};

/// Seconds that a server adds to every interval, so as not to divide by nothing.
const ELAPSED_EXTRA_SECONDS: f64 = 0.001;
const PER_MILLE: u64 = 1000;

/// What happened between two looks, and how long they were apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The difference of the counters.
    pub delta: PoolStats,
    /// The time between the looks.
    pub elapsed: Duration,
}

impl ElapsedForm {
    /// The seconds by which a server divides the counts of an interval.
    pub fn seconds(self, elapsed: Duration) -> f64 {
        let seconds = match self {
            // Whole seconds of any interval that can be lived through are exact in a float.
            ElapsedForm::WholeSeconds => elapsed.as_secs() as f64,
            ElapsedForm::Fractional => elapsed.as_secs_f64(),
        };
        seconds + ELAPSED_EXTRA_SECONDS
    }
}

impl Interval {
    /// The rate of a count, per second.
    pub fn per_second(&self, count: u64, form: ElapsedForm) -> f64 {
        count as f64 / form.seconds(self.elapsed)
    }

    /// `Buffer pool hit rate <n> / 1000`. `None` when no page was asked for: a server then prints that
    /// there were no gets, and shows 0 in `INNODB_BUFFER_POOL_STATS`.
    ///
    /// [`HitRateForm::Wrapping`] gives numbers near 2^64 when more pages were read than asked for.
    pub fn hit_rate_per_mille(&self, form: HitRateForm) -> Option<u64> {
        let (gets, reads) = (self.delta.read_requests, self.delta.pages_read);
        if gets == 0 {
            return None;
        }
        Some(match form {
            HitRateForm::Wrapping => PER_MILLE.wrapping_sub(PER_MILLE.wrapping_mul(reads) / gets),
            HitRateForm::Capped => capped_per_mille(reads, gets),
        })
    }

    /// `young-making rate <n> / 1000`; `None` when no page was asked for.
    pub fn made_young_per_mille(&self) -> Option<u64> {
        self.per_mille(self.delta.made_young)
    }

    /// `not <n> / 1000`; `None` when no page was asked for.
    pub fn not_made_young_per_mille(&self) -> Option<u64> {
        self.per_mille(self.delta.not_made_young)
    }

    fn per_mille(&self, count: u64) -> Option<u64> {
        PER_MILLE.wrapping_mul(count).checked_div(self.delta.read_requests)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut to whole per mille on purpose; between 0 and 1000"
)]
fn capped_per_mille(reads: u64, gets: u64) -> u64 {
    let missed = (reads as f64 / gets as f64).min(1.0);
    (PER_MILLE as f64 * (1.0 - missed)) as u64
}
