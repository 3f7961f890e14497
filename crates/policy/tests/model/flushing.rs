//! How many pages a second of flushing should write, as the formulas say.

use super::Server;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub io_capacity: u64,
    pub io_capacity_max: u64,
    pub max_dirty_pct: f64,
    pub max_dirty_pct_lwm: f64,
    pub adaptive: bool,
    pub adaptive_lwm_pct: f64,
}

pub fn dirty_pct(flush_list_len: u64, lru_len: u64, free_len: u64) -> f64 {
    100.0 * flush_list_len as f64 / (1 + lru_len + free_len) as f64
}

/// Share of `io_capacity`, in percent, that the number of dirty pages asks for.
pub fn pct_for_dirty(s: &Settings, dirty_pages: u64, dirty_pct: f64) -> u64 {
    if dirty_pages == 0 {
        return 0;
    }
    if s.max_dirty_pct_lwm == 0.0 {
        return if dirty_pct >= s.max_dirty_pct { 100 } else { 0 };
    }
    if dirty_pct >= s.max_dirty_pct_lwm {
        return (dirty_pct * 100.0 / (s.max_dirty_pct + 1.0)) as u64;
    }
    0
}

/// Share of `io_capacity`, in percent, that the age of the oldest change asks for.
pub fn pct_for_lsn(server: Server, s: &Settings, age: u64, capacity: u64, async_limit: u64) -> u64 {
    if (age as f64) < s.adaptive_lwm_pct * capacity as f64 / 100.0 {
        return 0;
    }
    if age < async_limit && !s.adaptive {
        return 0;
    }
    let factor = match server {
        Server::MySql57 => (100 * age / async_limit) as f64,
        _ => 100.0 * age as f64 / async_limit as f64,
    };
    let io_ratio = (s.io_capacity_max / s.io_capacity) as f64;
    (io_ratio * factor * factor.sqrt() / 7.5) as u64
}

pub fn pct_io(io_capacity: u64, pct: u64) -> u64 {
    io_capacity * pct / 100
}

/// `(PCT_IO(pct_total) + page_avg + pages_for_lsn) / 3`, at most `io_capacity_max`.
pub fn pages(s: &Settings, pct_total: u64, page_avg: u64, pages_for_lsn: u64) -> u64 {
    let wanted = (pct_io(s.io_capacity, pct_total) + page_avg + pages_for_lsn) / 3;
    wanted.min(s.io_capacity_max)
}

/// Pages to write so that the oldest change keeps up with the log: a third of those below the
/// target, at least one, at most `2 * io_capacity_max`.
pub fn pages_for_lsn(s: &Settings, below_target: u64) -> u64 {
    (below_target / 3).max(1).min(2 * s.io_capacity_max)
}

pub fn target_lsn(oldest: u64, lsn_avg: u64) -> u64 {
    oldest + 3 * lsn_avg
}

/// The decaying means of pages written and log written per second.
pub fn next_page_avg(avg: u64, flushed: u64, elapsed_s: f64) -> u64 {
    ((flushed as f64 / elapsed_s + avg as f64) / 2.0) as u64
}

pub fn next_lsn_avg(avg: u64, rate: u64) -> u64 {
    (avg + rate) / 2
}
