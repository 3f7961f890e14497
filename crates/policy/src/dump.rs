//! Dumping a pool's page numbers before a restart, and loading them after it: which pages, in which
//! order, how fast.
//!
//! A dump lists the pages of each instance from the hottest on, up to a percentage. InnoDB's load sorts
//! them as they lie on disk, which is fast but forgets which were hot: every page enters old, in the
//! order of its number. [`disk_order`] keeps the rank beside the page, so that a pool can read in one
//! order and keep the other. And where a dump is larger than the pool, [`keep_hottest`] drops the
//! coldest pages, not whatever comes last in the file.

use std::time::Duration;

use crate::page::PageId;
use crate::time::Time;
use crate::variant::DumpBasis;

/// `innodb_buffer_pool_dump_pct` when it is not set.
pub const DUMP_PCT_DEFAULT: u64 = 25;

/// How many pages a dump has of an instance whose list has `lru_pages`, in a pool of `pool_pages`
/// frames in all, at `innodb_buffer_pool_dump_pct` = `percent` (1 to 100; others are taken as the
/// nearest). Hottest first; at least one page of a list that has any.
pub fn dumped_pages(basis: DumpBasis, percent: u64, lru_pages: u64, pool_pages: u64) -> u64 {
    let percent = percent.clamp(1, 100);
    let whole = match basis {
        DumpBasis::InstanceList => lru_pages,
        DumpBasis::PoolFrames => pool_pages,
    };
    let share = u128::from(whole) * u128::from(percent) / 100;
    u64::try_from(share).unwrap_or(u64::MAX).max(1).min(lru_pages)
}

/// Puts pages into the order in which a server's load reads them: by tablespace, then page number.
pub fn sort_for_load(pages: &mut [PageId]) {
    pages.sort_unstable();
}

/// A page of a dump and its rank in it, from 0, the hottest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankedPage {
    /// The page.
    pub page: PageId,
    /// Its rank.
    pub rank: u32,
}

/// Puts the pages of a dump, hottest first, into the order of the disk, each with its rank. A page named
/// twice keeps its hotter rank. Ranks beyond 2^32 - 1 are all taken as that.
pub fn disk_order(hottest_first: impl IntoIterator<Item = PageId>) -> Vec<RankedPage> {
    let mut ranked: Vec<RankedPage> = hottest_first
        .into_iter()
        .enumerate()
        .map(|(rank, page)| RankedPage { page, rank: u32::try_from(rank).unwrap_or(u32::MAX) })
        .collect();
    ranked.sort_unstable();
    ranked.dedup_by_key(|ranked| ranked.page);
    ranked
}

/// How many pages to keep of each run (each instance's part of a dump, hottest first) when there is
/// room for `room_pages`: the same share of each, for a page's place in its own run is all that is known
/// of its heat. Keeps `min(room_pages, all)` pages in all; what is left over by rounding goes to the
/// first runs.
pub fn keep_hottest(run_pages: &[u64], room_pages: u64) -> Vec<u64> {
    let all: u64 = run_pages.iter().sum();
    if all <= room_pages {
        return run_pages.to_vec();
    }
    let share = |pages: u64| {
        let kept = u128::from(pages) * u128::from(room_pages) / u128::from(all);
        u64::try_from(kept).unwrap_or(u64::MAX)
    };
    let mut kept: Vec<u64> = run_pages.iter().map(|&pages| share(pages)).collect();
    let mut left = room_pages - kept.iter().sum::<u64>();
    for (kept, &pages) in kept.iter_mut().zip(run_pages) {
        if left > 0 && *kept < pages {
            *kept += 1;
            left -= 1;
        }
    }
    kept
}

/// The brake of a load on a busy server (`buf_load_throttle_if_needed`): `innodb_io_capacity` pages,
/// then the rest of the second is slept. On an idle server it never brakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadThrottle {
    io_capacity: u64,
    reads: u64,
    checked_at: Time,
    activity: u64,
}

const CHECK_PERIOD: Duration = Duration::from_secs(1);

impl LoadThrottle {
    /// Begins a load at `now`; `activity` is a count that rises with whatever else the server does.
    pub fn new(io_capacity: u64, now: Time, activity: u64) -> LoadThrottle {
        LoadThrottle { io_capacity: io_capacity.max(1), reads: 0, checked_at: now, activity }
    }

    /// Counts a page read. Returns how long to sleep before the next, and expects that to be done: the
    /// next second begins when the sleep ends.
    pub fn after_read(&mut self, now: Time, activity: u64) -> Option<Duration> {
        self.reads += 1;
        if self.reads < self.io_capacity {
            return None;
        }
        self.reads = 0;
        let busy = activity != self.activity;
        let rest = CHECK_PERIOD.saturating_sub(now.since(self.checked_at));
        let sleep = (busy && rest > Duration::ZERO).then_some(rest);
        let slept = u64::try_from(sleep.unwrap_or_default().as_micros()).unwrap_or(u64::MAX);
        self.checked_at = Time::from_micros(now.micros().saturating_add(slept));
        self.activity = activity;
        sleep
    }
}
