//! How many pages a second of flushing should write, as the formulas say.

use super::Server;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub io_capacity: u64,
    pub io_capacity_max: u64,
    pub max_dirty_pct: f64,
    pub max_dirty_pct_lwm: f64,
    pub adaptive: bool,
    pub adaptive_lwm_pct: u64,
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
    if age < s.adaptive_lwm_pct * capacity / 100 {
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

/// What one iteration writes when the log has moved since the last; nothing when it has not.
pub fn recommend(
    s: &Settings,
    log_moved: bool,
    for_dirty: u64,
    for_lsn: u64,
    page_avg: u64,
    below_target: u64,
) -> u64 {
    if !log_moved {
        return 0;
    }
    pages(s, for_dirty.max(for_lsn), page_avg, pages_for_lsn(s, below_target))
}

/// One instance's part of `pages`. Above 30 % of urgency those write more that have more to write.
pub fn share(
    server: Server,
    pages: u64,
    for_lsn: u64,
    instances: u64,
    own: u64,
    total: u64,
) -> u64 {
    if for_lsn > 30 {
        return pages * own / total + 1;
    }
    match server {
        Server::MySql57 => pages / instances,
        _ => pages / instances + 1,
    }
}

/// How many pages of one instance's flush list are looked at; 5.7 looks at all.
pub fn count_limit(server: Server, io_capacity_max: u64, instances: u64) -> Option<u64> {
    match server {
        Server::MySql57 => None,
        _ => Some(2 * io_capacity_max / instances * 3 * 2),
    }
}

/// The means of pages written and of log written in a second, renewed every `loops` iterations or
/// `loops` seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Averages {
    pub pages: u64,
    pub lsn: u64,
    pub since_s: u64,
    pub since_lsn: u64,
    pub last_lsn: u64,
    pub iterations: u64,
    pub flushed: u64,
}

impl Averages {
    pub fn new(now_s: u64, lsn: u64) -> Averages {
        Averages { since_s: now_s, since_lsn: lsn, last_lsn: lsn, ..Averages::default() }
    }

    /// False when the log has not moved: such an iteration is not counted, but its pages were written
    /// all the same.
    pub fn iterate(&mut self, now_s: u64, lsn: u64, flushed: u64, loops: u64) -> bool {
        self.flushed += flushed;
        if lsn == self.last_lsn {
            return false;
        }
        self.last_lsn = lsn;
        self.iterations += 1;
        let elapsed = now_s - self.since_s;
        if self.iterations >= loops || elapsed >= loops {
            let elapsed = elapsed.max(1);
            let rate = self.flushed as f64 / elapsed as f64;
            self.pages = ((rate + self.pages as f64) / 2.0) as u64;
            self.lsn = (self.lsn + (lsn - self.since_lsn) / elapsed) / 2;
            (self.since_s, self.since_lsn) = (now_s, lsn);
            (self.iterations, self.flushed) = (0, 0);
        }
        true
    }
}
