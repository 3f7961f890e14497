//! Flushing: how many modified pages the page cleaner writes, and why.
//!
//! A pool full of dirty pages has two troubles. The redo log comes round and must not overwrite what the
//! pages still need: so the nearer the oldest modification is to the end of the log, the more pages are
//! written. And dirty pages cannot be evicted: so their share is bounded. Between the two, writing
//! should be even, so the last interval's averages count too. Once a second the server computes from
//! all that how many pages to write; [`adaptive`] for MySQL and [`mariadb`] do the same sums, step by step,
//! whole numbers where the server has whole numbers.
//!
//! [`redo`] has the ages at which the log becomes urgent, [`averages`] the memory between iterations,
//! [`neighbours`] which pages are written along with one.

pub mod adaptive;
pub mod averages;
pub mod mariadb;
pub mod neighbours;
pub mod redo;

use crate::variant::FlushDefaults;

/// The administrator's settings of flushing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlushSettings {
    /// `innodb_io_capacity`, pages a second.
    pub io_capacity: u64,
    /// `innodb_io_capacity_max`, pages a second.
    pub io_capacity_max: u64,
    /// `innodb_max_dirty_pages_pct`.
    pub max_dirty_pct: f64,
    /// `innodb_max_dirty_pages_pct_lwm`; 0 is off.
    pub max_dirty_pct_lwm: f64,
    /// `innodb_adaptive_flushing`.
    pub adaptive: bool,
    /// `innodb_adaptive_flushing_lwm`: percent of the log's capacity below which age counts nothing.
    pub adaptive_lwm_pct: u64,
    /// `innodb_flushing_avg_loops`: iterations, or seconds, that averages are taken over.
    pub avg_loops: u64,
    /// `innodb_idle_flush_pct`: percent of `io_capacity` that is written when nothing else happens.
    pub idle_pct: u64,
}

impl FlushSettings {
    /// The settings of a server on which nobody has set any.
    pub fn new(defaults: &FlushDefaults) -> FlushSettings {
        FlushSettings {
            io_capacity: defaults.io_capacity,
            io_capacity_max: defaults.io_capacity_max(defaults.io_capacity),
            max_dirty_pct: defaults.max_dirty_pct,
            max_dirty_pct_lwm: defaults.max_dirty_pct_lwm,
            adaptive: true,
            adaptive_lwm_pct: 10,
            avg_loops: 30,
            idle_pct: 100,
        }
    }

    /// That percentage of `io_capacity`, in pages.
    pub fn pct_of_io_capacity(&self, percent: u64) -> u64 {
        self.io_capacity.saturating_mul(percent) / 100
    }

    /// Pages to write in a second in which the server was idle.
    pub fn idle_flush_pages(&self) -> u64 {
        self.pct_of_io_capacity(self.idle_pct)
    }
}

impl FlushDefaults {
    /// `innodb_io_capacity_max` when it is not set, beside an `innodb_io_capacity` of `io_capacity`.
    pub fn io_capacity_max(&self, io_capacity: u64) -> u64 {
        io_capacity.saturating_mul(2).max(self.io_capacity_max_floor)
    }
}

/// Share of the pages that are dirty, in percent: `dirty_pages` of the `lru_pages` in lists and the
/// `free_pages` beside them.
pub fn dirty_pct(dirty_pages: u64, lru_pages: u64, free_pages: u64) -> f64 {
    100.0 * dirty_pages as f64 / (1 + lru_pages + free_pages) as f64
}

/// Cuts to a whole number, as a server's cast to an integer does; what is below 0 becomes 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the servers cut here; a cast of a float saturates"
)]
fn cut(value: f64) -> u64 {
    value as u64
}
