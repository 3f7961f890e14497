//! The choice of a size on a curve: numbers in, a size out.
//!
//! **Which size.** The smallest whose time is within [`SIZE_CHOSEN_WITHIN`] of the best affordable
//! one, wherever in the band the truth lies. A curve's errors are mostly common to all its sizes
//! (pages never seen before, a replay that counts a little too much), so the low reads of two sizes
//! are compared, their estimates, and their high reads; time is linear in the reads, so what holds
//! at these three holds between them. The rest up to [`SIZE_WITHIN`] is for what is not common.
//!
//! **Whether to move.** Up, when today's size is estimated to lose more than [`SIZE_WITHIN`]. Down,
//! when it gives back at least [`SHRINK_WORTH`] of the pool and loses next to nothing even if the
//! band is twice as wide and the errors of two sizes differ as much as they can; so a size that was
//! chosen on one curve is not left because of the noise of the next. (A shrink may be followed by
//! another, never below what the first curve would have chosen for a server without a size.) A size
//! above the ceiling is always left.

use super::curve::{Reads, reads_at};
use super::work::WorkTime;
use crate::thresholds::{NOTHING_MORE_WITHIN, SHRINK_WORTH, SIZE_CHOSEN_WITHIN, SIZE_WITHIN};

/// What there is to choose from.
pub(crate) struct Question<'c> {
    /// Rows of the curve by size, with reads that never rise.
    pub(crate) rows: &'c [(u64, Reads)],
    /// Sizes that the server can have and that may be moved to, smallest first; none is below the
    /// smallest row or above the ceiling.
    pub(crate) candidates: &'c [u64],
    /// Today's size; `None` where it is above the ceiling or below the smallest row.
    pub(crate) current_bytes: Option<u64>,
    /// What reads cost.
    pub(crate) work: WorkTime,
}

/// The size to have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    /// The size.
    pub(crate) bytes: u64,
    /// It is today's.
    pub(crate) keep: bool,
    /// Why today's is kept or left.
    pub(crate) why: Why,
    /// The smallest that is estimated to be within what may be lost.
    pub(crate) low_bytes: u64,
    /// From here on more memory gives nothing that could be measured.
    pub(crate) high_bytes: u64,
    /// The best of what may be had, and its reads.
    pub(crate) best_bytes: u64,
}

/// Why today's size is kept or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is the size to have.
    Right,
    /// A larger one gives no more than may be lost.
    GainTooSmall,
    /// A smaller one would do, but not surely, or it gives back little.
    NotWorthShrinking,
    /// A larger one gives more.
    Grow,
    /// A smaller one gives as much.
    Shrink,
    /// Today's size may not stay, or is not known.
    Elsewhere,
}

impl Question<'_> {
    /// The answer; `None` when there is nothing to choose from.
    pub(crate) fn choose(&self) -> Option<Choice> {
        let mut sizes = self.candidates.to_vec();
        sizes.extend(self.current_bytes);
        sizes.sort_unstable();
        sizes.dedup();
        sizes.retain(|bytes| reads_at(self.rows, *bytes).is_some());
        let largest = *sizes.last()?;
        let best = self.reads(largest);
        let smallest = |holds: &dyn Fn(Reads) -> bool| {
            sizes.iter().copied().find(|bytes| holds(self.reads(*bytes))).unwrap_or(largest)
        };
        let estimated_within =
            |limit: f64| smallest(&|reads| self.within(reads.estimate, best.estimate, limit));
        let right = smallest(&|reads| self.surely_within(reads, best));
        let (bytes, why) = match self.current_bytes {
            None => (right, Why::Elsewhere),
            Some(current) => self.move_or_stay(current, right, best, &sizes),
        };
        Some(Choice {
            bytes,
            keep: self.current_bytes == Some(bytes),
            why,
            low_bytes: estimated_within(SIZE_WITHIN).min(bytes),
            high_bytes: estimated_within(NOTHING_MORE_WITHIN).max(bytes),
            best_bytes: estimated_within(1.0),
        })
    }

    /// True when bounds alone are enough for a choice: at worst it loses no more to the best,
    /// at its best, than may be lost.
    pub(crate) fn bounds_decide(&self, choice: &Choice) -> bool {
        let best = self.reads(self.largest().unwrap_or(choice.bytes));
        self.within(self.reads(choice.bytes).high, best.low, SIZE_WITHIN)
    }

    /// The largest size there is to choose; reads never rise, so it has the fewest.
    fn largest(&self) -> Option<u64> {
        self.candidates.iter().copied().chain(self.current_bytes).max()
    }

    /// Today's size or another, and why.
    fn move_or_stay(&self, current: u64, right: u64, best: Reads, sizes: &[u64]) -> (u64, Why) {
        let now = self.reads(current);
        if !self.within(now.estimate, best.estimate, SIZE_WITHIN) {
            return (right, Why::Grow);
        }
        if current == right {
            return (current, Why::Right);
        }
        if current < right {
            return (current, Why::GainTooSmall);
        }
        let smaller =
            sizes.iter().copied().find(|bytes| self.certainly_within(self.reads(*bytes), best));
        match smaller {
            Some(bytes) if bytes as f64 <= current as f64 * (1.0 - SHRINK_WORTH) => {
                (bytes, Why::Shrink)
            }
            _ => (current, Why::NotWorthShrinking),
        }
    }

    fn reads(&self, bytes: u64) -> Reads {
        // Sizes below the smallest row were left out; nothing would read as much as this.
        reads_at(self.rows, bytes).unwrap_or(Reads {
            low: f64::MAX,
            estimate: f64::MAX,
            high: f64::MAX,
        })
    }

    fn within(&self, reads: f64, best: f64, limit: f64) -> bool {
        self.work.time(reads) <= self.work.time(best) * limit
    }

    /// Whatever the common place in the band.
    fn surely_within(&self, reads: Reads, best: Reads) -> bool {
        let within = |reads, best| self.within(reads, best, SIZE_CHOSEN_WITHIN);
        within(reads.low, best.low)
            && within(reads.estimate, best.estimate)
            && within(reads.high, best.high)
    }

    /// Whatever each size's own place in a band twice as wide: then no curve within the band of
    /// this one would have asked for a larger size.
    fn certainly_within(&self, reads: Reads, best: Reads) -> bool {
        self.within(reads.widened().high, best.widened().low, SIZE_CHOSEN_WITHIN)
    }
}
