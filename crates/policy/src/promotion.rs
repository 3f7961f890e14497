//! Whether an access moves a page to the head of the LRU list: "made young", or not.
//!
//! InnoDB is lazy here (`buf_page_peek_if_too_old`). A page near the head gains nothing by moving, so
//! a page is left where it is until a quarter of the young sublist's worth of evictions has passed since
//! it was put there. And a page in the old sublist must prove itself: an access counts only
//! `innodb_old_blocks_time` after the first, so the burst of accesses of one scan over a page does not.
//!
//! The verdict needs only a few numbers of the page and the pool, all of which may be read without a
//! lock; the move itself is made under the list's lock.

use std::time::Duration;

use crate::rules::{ClockComparison, ListRules, OLD_RATIO_DIVISOR, Replacement, TimeResolution};
use crate::time::Time;

/// What the verdict needs to know of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRecency {
    /// Whether the page is in the old sublist.
    pub is_old: bool,
    /// When the page was first accessed since it was read or created; the access being judged
    /// has set it already, so it is `None` only where a caller judges without an access.
    pub first_access: Option<Time>,
    /// Eviction clock when the page was last put at the head; 0 when it never was.
    pub freed_page_clock: u64,
}

/// What the verdict needs to know of the page's instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolClock {
    /// Pages evicted since the pool was made.
    pub freed_page_clock: u64,
    /// Size of the instance in pages (`curr_size`).
    pub size_pages: u64,
}

/// What an access does to its page's place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The page stays, and nothing is counted: it is young enough, or nothing was ever evicted.
    Stay,
    /// The page stays because it is old and not yet proven: counted as "not made young".
    NotYoung,
    /// The page moves to the head.
    MakeYoung,
}

/// Judges an access to a page, at `now`.
#[inline]
pub fn judge(rules: &ListRules, page: PageRecency, pool: PoolClock, now: Time) -> Verdict {
    match rules.replacement {
        Replacement::Midpoint => {}
        Replacement::Lru => return Verdict::MakeYoung,
        Replacement::Clock => return Verdict::Stay,
    }
    if pool.freed_page_clock == 0 {
        return Verdict::Stay;
    }
    if page.is_old && rules.old_blocks_time > Duration::ZERO {
        let proven = page.first_access.is_some_and(|first| has_waited(rules, first, now));
        return if proven { Verdict::MakeYoung } else { Verdict::NotYoung };
    }
    if is_young_enough(rules, page.freed_page_clock, pool) {
        Verdict::Stay
    } else {
        Verdict::MakeYoung
    }
}

/// Whether fewer evictions than a quarter of the young sublist have happened since the page was last
/// put at the head (`buf_page_peek_if_young`). True of a page that never was while the clock itself
/// is below that window.
#[inline]
pub fn is_young_enough(rules: &ListRules, page_clock: u64, pool: PoolClock) -> bool {
    let window = young_window_pages(rules, pool.size_pages);
    let now = pool.freed_page_clock;
    match rules.clock_comparison {
        ClockComparison::Wide => now < page_clock.saturating_add(window),
        ClockComparison::Truncated => {
            now & CLOCK_MASK < (page_clock & CLOCK_MASK).saturating_add(window)
        }
        ClockComparison::Modular => now.wrapping_sub(page_clock) & CLOCK_MASK < window,
    }
}

/// A bound, in one number, that spares most accesses the verdict: of a page that it says is settled, [`judge`] says
/// [`Verdict::Stay`] at any time. It holds for one state of the instance and is made anew when that changes.
///
/// It says nothing of the others: some of them stay too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledFrom(u64);

impl SettledFrom {
    /// No page is settled.
    const NEVER: SettledFrom = SettledFrom(u64::MAX);
    /// Every page is.
    const ALWAYS: SettledFrom = SettledFrom(0);

    /// The bound for an instance.
    pub fn new(rules: &ListRules, pool: PoolClock) -> SettledFrom {
        match rules.replacement {
            Replacement::Lru => return SettledFrom::NEVER,
            Replacement::Clock => return SettledFrom::ALWAYS,
            Replacement::Midpoint if pool.freed_page_clock == 0 => return SettledFrom::ALWAYS,
            Replacement::Midpoint => {}
        }
        let window = young_window_pages(rules, pool.size_pages);
        if window == 0 {
            return SettledFrom::NEVER;
        }
        let now = pool.freed_page_clock;
        let least_stamp = (now + 1).saturating_sub(window);
        let of_this_round = match rules.clock_comparison {
            ClockComparison::Wide => 0,
            // Of stamps cut to 31 bits, those of the clock's present round compare as whole ones do.
            ClockComparison::Truncated | ClockComparison::Modular => now & !CLOCK_MASK,
        };
        // One more than the stamp: below it is the place of old pages, which are settled only when all are.
        SettledFrom(least_stamp.max(of_this_round) + 1)
    }

    /// Whether an access to the page surely moves and counts nothing. `freed_page_clock` is the page's stamp, which is at most
    /// the clock the bound was made for.
    #[inline]
    pub fn is_settled(self, is_old: bool, freed_page_clock: u64) -> bool {
        let place = if is_old { 0 } else { freed_page_clock + 1 };
        place >= self.0
    }

    /// The bound as a number, to be kept in an atomic.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The bound that [`SettledFrom::to_bits`] gave.
    #[inline]
    pub fn from_bits(bits: u64) -> SettledFrom {
        SettledFrom(bits)
    }
}

/// A quarter of the young sublist of an instance of `size_pages`: the evictions for which a page that
/// was put at the head is left where it is. 1292 for 8192 pages at the default.
#[inline]
pub fn young_window_pages(rules: &ListRules, size_pages: u64) -> u64 {
    let young_ratio = OLD_RATIO_DIVISOR.saturating_sub(rules.old_ratio);
    size_pages.saturating_mul(young_ratio) / (OLD_RATIO_DIVISOR * 4)
}

/// The 31 bits in which the servers keep the clock.
const CLOCK_MASK: u64 = (1 << 31) - 1;

fn has_waited(rules: &ListRules, first: Time, now: Time) -> bool {
    let wait = rules.old_blocks_time;
    match rules.time_resolution {
        TimeResolution::Millis => {
            u128::from(now.millis().saturating_sub(first.millis())) >= wait.as_millis()
        }
        TimeResolution::Native => now.since(first) >= wait,
    }
}
