//! The server's own counters during a recording: what a replay is held against.

use innopool_policy::time::Time;
use serde::{Deserialize, Serialize};

/// The counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSample {
    /// Microseconds since the window began.
    pub time_us: u64,
    /// What the server said.
    pub counters: Counters,
}

impl CounterSample {
    /// Since the window began.
    pub fn time(&self) -> Time {
        Time::from_micros(self.time_us)
    }
}

/// Counters and gauges of one moment; what the server did not tell is `None`.
///
/// Names and meanings are those of the status variables (`Innodb_` and `Innodb_buffer_pool_` left
/// out), counted from the server's start unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// `Innodb_buffer_pool_read_requests`: requests for pages.
    pub read_requests: Option<u64>,
    /// `Innodb_buffer_pool_reads`: requests that had to read; random read-ahead and loads are in it too.
    pub reads: Option<u64>,
    /// `Innodb_pages_read`: all pages read.
    pub pages_read: Option<u64>,
    /// `Innodb_buffer_pool_read_ahead`: by linear read-ahead.
    pub read_ahead: Option<u64>,
    /// `Innodb_buffer_pool_read_ahead_rnd`: by random read-ahead.
    pub read_ahead_rnd: Option<u64>,
    /// `Innodb_buffer_pool_read_ahead_evicted`.
    pub read_ahead_evicted: Option<u64>,
    /// `Innodb_pages_created`.
    pub pages_created: Option<u64>,
    /// `Innodb_pages_written`.
    pub pages_written: Option<u64>,
    /// `PAGES_MADE_YOUNG`, over all instances.
    pub made_young: Option<u64>,
    /// `PAGES_NOT_MADE_YOUNG`, over all instances.
    pub not_made_young: Option<u64>,
    /// `Innodb_buffer_pool_pages_total`, now.
    pub pages_total: Option<u64>,
    /// `Innodb_buffer_pool_pages_data`, now.
    pub pages_data: Option<u64>,
    /// `Innodb_buffer_pool_pages_free`, now.
    pub pages_free: Option<u64>,
    /// `Innodb_buffer_pool_pages_dirty`, now.
    pub pages_dirty: Option<u64>,
    /// `Innodb_buffer_pool_pages_misc`, now.
    pub pages_misc: Option<u64>,
    /// Transactions ended: `Com_commit` and `Com_rollback`, `Handler_commit` where statements commit by
    /// themselves. How it was put together is the recorder's concern; only differences count.
    pub transactions: Option<u64>,
    /// `Questions`.
    pub questions: Option<u64>,
    /// Time that statements took, picoseconds, summed over sessions (performance schema).
    pub statement_time_ps: Option<u64>,
    /// Time that reads of data files took, picoseconds, and how many there were (performance schema).
    pub data_read_time_ps: Option<u64>,
    /// Reads of data files (performance schema).
    pub data_reads: Option<u64>,
    /// Redo written, bytes: `Innodb_os_log_written`.
    pub os_log_written: Option<u64>,
    /// `Uptime`, seconds.
    pub uptime_seconds: Option<u64>,
}
