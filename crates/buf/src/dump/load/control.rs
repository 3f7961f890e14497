//! Watching a load, and stopping it, from another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far a load is, and whether it shall go on. Clones are the same control: one for who loads, one for who
/// watches.
#[derive(Clone, Debug, Default)]
pub struct LoadControl(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    total_pages: AtomicU64,
    ended_pages: AtomicU64,
    /// When the reading began, and how long it took once it has ended.
    time: Mutex<(Option<Instant>, Option<Duration>)>,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadProgress {
    /// Pages read, those whose read failed included.
    pub pages: u64,
    /// Pages that are to be read; falls when frames that were counted on are taken by others.
    pub total_pages: u64,
    /// Since the reading began; 0 before.
    pub pages_per_second: f64,
}

impl LoadControl {
    /// Returns a control of a load that has not begun.
    pub fn new() -> LoadControl {
        LoadControl::default()
    }

    /// Asks the load to stop. It waits for the reads that the store has, keeps what was read, and returns. A load that is
    /// given a cancelled control reads nothing.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// How far the load is.
    pub fn progress(&self) -> LoadProgress {
        let pages = self.0.ended_pages.load(Ordering::Relaxed);
        let time = *self.0.time.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = match time {
            (_, Some(took)) => took.as_secs_f64(),
            (Some(began), None) => began.elapsed().as_secs_f64(),
            (None, None) => 0.0,
        };
        LoadProgress {
            pages,
            total_pages: self.0.total_pages.load(Ordering::Relaxed),
            pages_per_second: if seconds > 0.0 { pages as f64 / seconds } else { 0.0 },
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    pub(super) fn begin(&self) {
        self.0.ended_pages.store(0, Ordering::Relaxed);
        *self.0.time.lock().unwrap_or_else(PoisonError::into_inner) = (Some(Instant::now()), None);
    }

    pub(super) fn end(&self) {
        let mut time = self.0.time.lock().unwrap_or_else(PoisonError::into_inner);
        time.1 = time.0.map(|began| began.elapsed());
    }

    pub(super) fn set_total(&self, pages: u64) {
        self.0.total_pages.store(pages, Ordering::Relaxed);
    }

    pub(super) fn count_ended(&self) {
        self.0.ended_pages.fetch_add(1, Ordering::Relaxed);
    }
}
