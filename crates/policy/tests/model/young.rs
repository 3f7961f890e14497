//! The test every get makes: move the page to the head, leave it, or leave it and count that.

use super::Server;
use super::lru::Page;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Move to the head.
    Move,
    /// Leave, and count "not made young".
    TooRecent,
    /// Leave, and count nothing.
    Stay,
}

/// What the test needs to know of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub clock: u64,
    /// Pages the instance has room for.
    pub curr_size: u64,
    pub ratio: u64,
    pub old_blocks_time_ms: u64,
}

/// Has the page been at the head within a quarter of the young part's worth of evictions?
pub fn is_young(server: Server, page: &Page, of: &Instance) -> bool {
    let window = of.curr_size * (1024 - of.ratio) / 4096;
    let clock = of.clock % (1 << 31);
    if server == Server::MariaDb {
        // Age modulo 2^31, so that the clock's wrap does not show.
        let age = (clock + (1 << 31) - page.clock) % (1 << 31);
        age < window
    } else {
        clock < page.clock + window
    }
}

/// The whole test, at the moment `now` (microseconds).
pub fn judge(server: Server, page: &Page, of: &Instance, now: u64) -> Verdict {
    if of.clock == 0 {
        return Verdict::Stay;
    }
    if of.old_blocks_time_ms != 0 && page.old {
        let Some(access) = page.access else {
            return Verdict::TooRecent;
        };
        let passed = server.kept_time(now) - access;
        if passed >= of.old_blocks_time_ms * 1000 {
            return Verdict::Move;
        }
        return Verdict::TooRecent;
    }
    if is_young(server, page, of) { Verdict::Stay } else { Verdict::Move }
}
