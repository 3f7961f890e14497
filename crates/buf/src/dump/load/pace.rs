//! An I/O budget in pages a second.

use std::num::NonZeroU32;
use std::time::Duration;

/// What is read at once under a budget is at most so long a time's worth of it, so that others' reads are not held up by
/// bursts.
const BURST: Duration = Duration::from_millis(50);

/// Says when a load may read on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    budget_pages_per_s: Option<NonZeroU32>,
}

impl Pace {
    pub(super) fn new(budget_pages_per_s: Option<NonZeroU32>) -> Pace {
        Pace { budget_pages_per_s }
    }

    /// Most pages to read at once, of `most`.
    pub(super) fn batch_pages(self, most: usize) -> usize {
        let Some(budget) = self.budget_pages_per_s else { return most };
        let burst = u128::from(budget.get()) * BURST.as_millis() / 1000;
        usize::try_from(burst).unwrap_or(most).clamp(1, most)
    }

    /// How long to wait, `elapsed` after the start, before reading on when `started_pages` have been. A load that fell
    /// behind does not catch up beyond its budget of the whole time.
    pub(super) fn wait(self, elapsed: Duration, started_pages: u64) -> Duration {
        let Some(budget) = self.budget_pages_per_s else { return Duration::ZERO };
        let nanos = u128::from(started_pages) * 1_000_000_000 / u128::from(budget.get());
        let due = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        due.saturating_sub(elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_spreads_the_pages_over_the_time() {
        let pace = Pace::new(NonZeroU32::new(200));
        assert_eq!(pace.batch_pages(64), 10);
        assert_eq!(pace.wait(Duration::ZERO, 0), Duration::ZERO);
        assert_eq!(pace.wait(Duration::ZERO, 10), Duration::from_millis(50));
        assert_eq!(pace.wait(Duration::from_millis(30), 10), Duration::from_millis(20));
        assert_eq!(pace.wait(Duration::from_secs(2), 10), Duration::ZERO);
        assert_eq!(Pace::new(NonZeroU32::new(1)).batch_pages(64), 1);
        assert_eq!(Pace::new(NonZeroU32::new(1_000_000)).batch_pages(64), 64);
        let slow = Pace::new(NonZeroU32::new(1));
        assert!(slow.wait(Duration::ZERO, u64::MAX) > Duration::from_secs(1 << 30));
    }

    #[test]
    fn without_a_budget_nothing_waits() {
        let pace = Pace::new(None);
        assert_eq!(pace.batch_pages(64), 64);
        assert_eq!(pace.wait(Duration::ZERO, u64::MAX), Duration::ZERO);
    }
}
