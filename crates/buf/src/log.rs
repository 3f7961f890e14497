//! The write-ahead log, as far as the pool needs one.

use std::sync::atomic::{AtomicU64, Ordering};

use innopool_policy::Lsn;

/// A write-ahead log. A page is written to the store only after [`make_durable`](Log::make_durable) has returned for
/// its newest LSN (rule 6). Its methods are called by threads that may hold latches, so they must not get pages (rule 9).
pub trait Log: Send + Sync + 'static {
    /// LSN up to which every change in the log has been noted by
    /// [`mark_dirty`](crate::ExclusiveGuard::mark_dirty): a checkpoint may be as late as this when no page is dirty. With
    /// one thread appending at a time this is the end of the log; a log that lets threads overtake each other between
    /// reserving their place and noting the change must hold it back meanwhile, or a checkpoint would lose a change.
    fn current_lsn(&self) -> Lsn;

    /// LSN up to which the log is durable. Never moves back.
    fn durable_lsn(&self) -> Lsn;

    /// Makes the log durable up to `lsn`, waiting for it.
    ///
    /// # Errors
    ///
    /// What the log's device said. The pool then keeps the pages that depend on it.
    fn make_durable(&self, lsn: Lsn) -> Result<(), String>;

    /// Bytes the log may hold between the checkpoint and its end; the page cleaner flushes so that they are never
    /// used up. `None`: no limit, so age alone makes nobody flush.
    fn capacity_bytes(&self) -> Option<u64> {
        None
    }
}

/// No log: for pools whose pages can be made again, and for caches. LSNs are still given, to order the flush list.
#[derive(Debug, Default)]
pub struct NoLog(AtomicU64);

impl NoLog {
    /// Returns a "log" at LSN 1.
    pub fn new() -> NoLog {
        NoLog(AtomicU64::new(1))
    }

    /// Gives out the next LSN.
    pub fn advance(&self) -> Lsn {
        Lsn(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Log for NoLog {
    fn current_lsn(&self) -> Lsn {
        Lsn(self.0.load(Ordering::Relaxed))
    }

    fn durable_lsn(&self) -> Lsn {
        self.current_lsn()
    }

    fn make_durable(&self, _lsn: Lsn) -> Result<(), String> {
        Ok(())
    }
}
