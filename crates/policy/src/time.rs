//! Time and log positions, as values that come in from outside.
//!
//! Nothing in this crate reads a clock. Whoever drives the rules says what time it is, which is what
//! makes a recording replay to the same end every time.

use std::time::Duration;

/// A moment, in microseconds since a start that the caller chooses. Never runs backwards within one
/// pool. Access times are such moments; "never accessed" is `None` beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// Returns the moment `micros` microseconds after the start.
    pub const fn from_micros(micros: u64) -> Time {
        Time(micros)
    }

    /// Returns the moment `millis` milliseconds after the start; stops at the end of time.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis.saturating_mul(1000))
    }

    /// Microseconds since the start.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the start, as InnoDB up to 8.0 and MariaDB keep access times.
    pub const fn millis(self) -> u64 {
        self.0 / 1000
    }

    /// Time passed since `earlier`, or nothing when `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Log sequence number: a position in the redo log, in bytes from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lsn(pub u64);

impl Lsn {
    /// Bytes of log from `earlier` to here, 0 when `earlier` is later: an age.
    pub const fn age_bytes(self, earlier: Lsn) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
