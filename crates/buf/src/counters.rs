//! Counters that cost next to nothing to raise.
//!
//! A counter shared by all threads would be a cache line that every hit fights for. So each instance has a row of
//! counters per thread; a row belongs to one thread, which raises its counters by plain additions, and a reader sums
//! the rows. A thread beyond the number of rows uses the last one together with others, by atomic additions.
//! A sum read while threads count is a moment's picture, not a cut through time.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

/// What is counted. Meanings are those of InnoDB's status variables ([`crate::stats::PoolStats`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Counter {
    Gets,
    NotMadeYoung,
    MadeYoung,
    DemandReads,
    ReadAhead,
    ReadAheadRandom,
    LoadReads,
    PagesRead,
    PagesCreated,
    PagesWritten,
    ReadAheadEvicted,
    Evicted,
    WaitFree,
    WriteRequests,
    PromotionsQueued,
    PromotionsDropped,
}

const COUNTERS: usize = Counter::PromotionsDropped as usize + 1;
const ROWS: usize = 64;
const SHARED_ROW: usize = ROWS - 1;

type Row = CachePadded<[AtomicU64; COUNTERS]>;

/// The counters of one instance.
pub(crate) struct Counters {
    rows: Box<[Row; ROWS]>,
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters { rows: Box::new(std::array::from_fn(|_| Row::default())) }
    }

    #[inline]
    pub(crate) fn add(&self, counter: Counter, amount: u64) {
        let row = ROW.with(Cell::get);
        if row < SHARED_ROW {
            // No other thread writes this row.
            let cell = &self.rows[row][counter as usize];
            cell.store(cell.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        } else {
            self.add_without_row(row, counter, amount);
        }
    }

    /// Counts for a thread that has no row to itself: not yet, or because there are too many threads.
    #[cold]
    fn add_without_row(&self, row: usize, counter: Counter, amount: u64) {
        if row == NO_ROW {
            let own = OWN_ROW.try_with(|own| own.0).unwrap_or(SHARED_ROW);
            ROW.with(|cell| cell.set(own));
            self.add(counter, amount);
        } else {
            self.rows[SHARED_ROW][counter as usize].fetch_add(amount, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    pub(crate) fn sum(&self, counter: Counter) -> u64 {
        let cells = self.rows.iter().map(|row| row[counter as usize].load(Ordering::Relaxed));
        cells.fold(0, u64::wrapping_add)
    }
}

/// Rows that ended threads gave back, and how many were ever taken. The lock orders a row's old owner before its new.
static FREE_ROWS: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

/// A thread's row, given back when the thread ends.
struct OwnRow(usize);

impl OwnRow {
    fn take() -> OwnRow {
        let mut free = FREE_ROWS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let row = free.0.pop().unwrap_or_else(|| {
            let next = free.1.min(SHARED_ROW);
            free.1 = next + 1;
            next
        });
        OwnRow(row)
    }
}

impl Drop for OwnRow {
    fn drop(&mut self) {
        // A thread that still counts while it ends, after this, uses the shared row.
        let _ = ROW.try_with(|row| row.set(SHARED_ROW));
        if self.0 != SHARED_ROW {
            let mut free = FREE_ROWS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            free.0.push(self.0);
        }
    }
}

const NO_ROW: usize = usize::MAX;

thread_local! {
    /// The row this thread counts in; a plain cell, since a value with a destructor costs a check at every use.
    static ROW: Cell<usize> = const { Cell::new(NO_ROW) };
    static OWN_ROW: OwnRow = OwnRow::take();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_rows_lose_no_count() {
        let counters = Counters::new();
        std::thread::scope(|scope| {
            for _ in 0..ROWS * 2 {
                scope.spawn(|| (0..1000).for_each(|_| counters.count(Counter::Gets)));
            }
        });
        assert_eq!(counters.sum(Counter::Gets), ROWS as u64 * 2 * 1000);
    }

    #[test]
    fn a_row_is_used_again_when_its_thread_has_ended() {
        let counters = Counters::new();
        for _ in 0..ROWS * 3 {
            std::thread::scope(|scope| {
                scope.spawn(|| counters.count(Counter::Evicted));
            });
        }
        assert_eq!(counters.sum(Counter::Evicted), ROWS as u64 * 3);
    }
}
