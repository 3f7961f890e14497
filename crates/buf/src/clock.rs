//! The pool's clock: what "one second later" is measured by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use innopool_policy::Time;

/// Where a pool takes the time from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The system's monotonic clock, to within a few milliseconds: cheap enough for every access.
    #[default]
    System,
    /// A clock that its owner sets: a recording is replayed with it, and a test lets a second pass.
    Manual(ManualClock),
}

impl Clock {
    pub(crate) fn now(&self) -> Time {
        match self {
            Clock::System => system_time(),
            Clock::Manual(clock) => clock.now(),
        }
    }
}

fn system_time() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    // A monotonic clock counts from the start of the machine: neither part is negative.
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    Time::from_micros(seconds.saturating_mul(1_000_000).saturating_add(nanos / 1000))
}

/// A clock that stands still until it is told the time. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// Returns a clock that shows the start of time.
    pub fn new() -> ManualClock {
        ManualClock::default()
    }

    /// The time it shows.
    pub fn now(&self) -> Time {
        Time::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// Sets the time. Setting it back is allowed and makes waits longer, not wrong.
    pub fn set(&self, now: Time) {
        self.0.store(now.micros(), Ordering::Relaxed);
    }
}
