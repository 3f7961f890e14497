//! What the page cleaner remembers from one iteration to the next: how fast pages were written, and how
//! fast the log grew.
//!
//! Averages are taken over `innodb_flushing_avg_loops` iterations or that many seconds, whichever comes
//! first, each new one weighing as much as all before it.

use crate::time::{Lsn, Time};

/// How much log ahead of the average rate an iteration provides for.
pub const LSN_SCAN_FACTOR: u64 = 3;

/// The averages, and what has come together for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushAverages {
    /// Pages written a second.
    pub pages_per_second: u64,
    /// Bytes of log written a second.
    pub lsn_bytes_per_second: u64,
    from_time: Time,
    from_lsn: Lsn,
    last_lsn: Lsn,
    iterations: u64,
    pages: u64,
}

impl FlushAverages {
    /// Begins at `now`, the log being at `lsn`; both averages are 0.
    pub fn new(now: Time, lsn: Lsn) -> FlushAverages {
        FlushAverages {
            pages_per_second: 0,
            lsn_bytes_per_second: 0,
            from_time: now,
            from_lsn: lsn,
            last_lsn: lsn,
            iterations: 0,
            pages: 0,
        }
    }

    /// Begins an iteration: the last one wrote `pages`, and the log is at `lsn` now. Returns whether
    /// the log has moved since the last iteration; when it has not, nothing is to be written for the
    /// log's sake, and the iteration does not count here.
    pub fn iterate(&mut self, now: Time, lsn: Lsn, pages: u64, avg_loops: u64) -> bool {
        self.pages = self.pages.saturating_add(pages);
        if lsn == self.last_lsn {
            return false;
        }
        self.last_lsn = lsn;
        self.iterations += 1;
        let seconds = now.since(self.from_time).as_secs();
        if self.iterations >= avg_loops || seconds >= avg_loops {
            self.renew(now, lsn, seconds.max(1));
        }
        true
    }

    fn renew(&mut self, now: Time, lsn: Lsn, seconds: u64) {
        let pages = self.pages / seconds;
        let bytes = lsn.age_bytes(self.from_lsn) / seconds;
        self.pages_per_second = mean(self.pages_per_second, pages);
        self.lsn_bytes_per_second = mean(self.lsn_bytes_per_second, bytes);
        self.from_time = now;
        self.from_lsn = lsn;
        self.iterations = 0;
        self.pages = 0;
    }

    /// The log position up to which pages are counted, and written in a synchronous flush: three seconds
    /// of the average rate beyond `from`, which is the oldest modification, or what was asked for.
    pub fn target_lsn(&self, from: Lsn) -> Lsn {
        Lsn(from.0.saturating_add(self.lsn_bytes_per_second.saturating_mul(LSN_SCAN_FACTOR)))
    }
}

fn mean(one: u64, other: u64) -> u64 {
    one.midpoint(other)
}
