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

use crate::rules::{ListRules, OLD_RATIO_DIVISOR, Replacement};
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
pub fn judge(rules: &ListRules, page: PageRecency, pool: PoolClock, now: Time) -> Verdict {
    if rules.replacement == Replacement::Lru {
        return Verdict::MakeYoung;
    }
    if pool.freed_page_clock == 0 {
        return Verdict::Stay;
    }
    if page.is_old && rules.old_blocks_time > Duration::ZERO {
        let proven =
            page.first_access.is_some_and(|first| has_waited(first, now, rules.old_blocks_time));
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
pub fn is_young_enough(rules: &ListRules, page_clock: u64, pool: PoolClock) -> bool {
    let young_ratio = OLD_RATIO_DIVISOR.saturating_sub(rules.old_ratio);
    let window = pool.size_pages.saturating_mul(young_ratio) / (OLD_RATIO_DIVISOR * 4);
    pool.freed_page_clock < page_clock.saturating_add(window)
}

/// The server compares whole milliseconds.
fn has_waited(first: Time, now: Time, wait: Duration) -> bool {
    u128::from(now.millis().saturating_sub(first.millis())) >= wait.as_millis()
}
