//! Pages read and written lately: what InnoDB prints as `I/O sum` and `cur`.
//!
//! The server keeps these to choose whether a compressed page's frame or a whole page is evicted. This pool has no compressed
//! pages and decides nothing by them; they are kept for the reader of the status text, who sees whether the pool is at work
//! *now*, whatever interval the rates are of.

/// Intervals that are summed.
const INTERVALS: usize = 50;

/// Pages of I/O in each of the last intervals. An interval ends with a full pass of the page cleaner: about a second.
#[derive(Clone, Debug)]
pub(crate) struct IoHistory {
    ended: [u64; INTERVALS],
    next: usize,
    sum: u64,
    total_at_last_end: u64,
}

impl IoHistory {
    pub(crate) fn new() -> IoHistory {
        IoHistory { ended: [0; INTERVALS], next: 0, sum: 0, total_at_last_end: 0 }
    }

    /// Ends an interval. `total` is the I/O since the pool was made, in pages.
    pub(crate) fn end_interval(&mut self, total: u64) {
        let now = self.current(total);
        self.sum = self.sum - self.ended[self.next] + now;
        self.ended[self.next] = now;
        self.next = (self.next + 1) % INTERVALS;
        self.total_at_last_end = total;
    }

    /// Pages in the last 50 intervals that have ended.
    pub(crate) fn sum(&self) -> u64 {
        self.sum
    }

    /// Pages in the interval that has not ended.
    pub(crate) fn current(&self, total: u64) -> u64 {
        total.saturating_sub(self.total_at_last_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_forgotten_after_fifty() {
        let mut history = IoHistory::new();
        assert_eq!((history.sum(), history.current(7)), (0, 7));
        history.end_interval(7);
        assert_eq!((history.sum(), history.current(7), history.current(10)), (7, 0, 3));
        for second in 1..50 {
            history.end_interval(7 + second * 2);
        }
        assert_eq!(history.sum(), 7 + 49 * 2);
        history.end_interval(7 + 49 * 2);
        assert_eq!(history.sum(), 49 * 2, "the 7 pages were 50 intervals ago");
    }
}
