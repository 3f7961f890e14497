//! The numbers of the LRU list: how long the old sublist is, and how long a page must wait in it.
//!
//! All of them are per instance. `innodb_old_blocks_pct` and `innodb_old_blocks_time` are the
//! administrator's; the others are constants of the server (`buf0lru.h`), kept as data here so that a
//! sample of the pages can be simulated with constants of the sample's size.

use std::time::Duration;

/// Denominator of the ratio that `innodb_old_blocks_pct` is turned into.
pub const OLD_RATIO_DIVISOR: u64 = 1024;

const OLD_BLOCKS_PCT_DEFAULT: u32 = 37;
const OLD_MIN_LEN_PAGES: u64 = 512;
const OLD_TOLERANCE_PAGES: u64 = 20;
const NON_OLD_MIN_LEN_PAGES: u64 = 5;
const OLD_BLOCKS_TIME_DEFAULT: Duration = Duration::from_millis(1000);

/// Which list is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Replacement {
    /// InnoDB's: a page read from disk enters in the middle and must earn its place at the head.
    Midpoint,
    /// Plain LRU, as a baseline: every page enters at the head, every access moves it there.
    Lru,
    /// CLOCK, as a baseline: every page enters at the head and no access moves it; who evicts passes
    /// over a page accessed since, and puts it at the head.
    Clock,
}

/// How a page's stamp is compared with the eviction clock. They differ after 2^31 evictions only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockComparison {
    /// In 64 bits, which never end.
    Wide,
    /// Both cut to 31 bits: pages stamped just before the clock starts again look young for as long as
    /// the clock is below their stamp (MySQL).
    Truncated,
    /// Age in 31-bit arithmetic that wraps (MariaDB since MDEV-41036).
    Modular,
}

/// The resolution in which access times are kept and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeResolution {
    /// Whole milliseconds (MySQL up to 8.0, MariaDB).
    Millis,
    /// As fine as [`crate::Time`] is (MySQL 8.4 on).
    Native,
}

/// The numbers of one instance's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRules {
    /// Which list is kept.
    pub replacement: Replacement,
    /// Share of the old sublist, in 1/1024 of the list (51 to 1024).
    pub old_ratio: u64,
    /// Length from which the list has an old sublist at all, in pages.
    pub old_min_len_pages: u64,
    /// How far the old sublist may be from its share before the boundary moves, in pages.
    pub old_tolerance_pages: u64,
    /// Pages that always stay young, beyond the tolerance.
    pub non_old_min_len_pages: u64,
    /// How long after its first access an old page must be accessed again to become young.
    /// Zero: the first access that finds it old and past the young window is enough.
    pub old_blocks_time: Duration,
    /// How stamps are compared with the eviction clock.
    pub clock_comparison: ClockComparison,
    /// How fine access times are.
    pub time_resolution: TimeResolution,
}

impl Default for ListRules {
    /// The server's defaults: 3/8 of the list is old, and a page stays in it for a second.
    fn default() -> ListRules {
        ListRules {
            replacement: Replacement::Midpoint,
            old_ratio: old_ratio(OLD_BLOCKS_PCT_DEFAULT),
            old_min_len_pages: OLD_MIN_LEN_PAGES,
            old_tolerance_pages: OLD_TOLERANCE_PAGES,
            non_old_min_len_pages: NON_OLD_MIN_LEN_PAGES,
            old_blocks_time: OLD_BLOCKS_TIME_DEFAULT,
            clock_comparison: ClockComparison::Wide,
            time_resolution: TimeResolution::Millis,
        }
    }
}

impl ListRules {
    /// Plain LRU, the baseline.
    pub fn lru() -> ListRules {
        ListRules { replacement: Replacement::Lru, ..ListRules::default() }
    }

    /// CLOCK, the other baseline.
    pub fn clock() -> ListRules {
        ListRules { replacement: Replacement::Clock, ..ListRules::default() }
    }

    /// Sets `innodb_old_blocks_pct`, clamped to its range of 5 to 95.
    #[must_use]
    pub fn with_old_blocks_pct(self, percent: u32) -> ListRules {
        ListRules { old_ratio: old_ratio(percent), ..self }
    }

    /// Sets `innodb_old_blocks_time`.
    #[must_use]
    pub fn with_old_blocks_time(self, time: Duration) -> ListRules {
        ListRules { old_blocks_time: time, ..self }
    }

    /// How many pages of a list of `len_pages` should be old (`buf_LRU_old_adjust_len`).
    pub fn desired_old_pages(&self, len_pages: u64) -> u64 {
        let share = len_pages.saturating_mul(self.old_ratio) / OLD_RATIO_DIVISOR;
        let most = len_pages.saturating_sub(self.old_tolerance_pages + self.non_old_min_len_pages);
        share.min(most)
    }
}

/// 37 gives 378/1024, which the manual calls 3/8.
fn old_ratio(percent: u32) -> u64 {
    u64::from(percent.clamp(5, 95)) * OLD_RATIO_DIVISOR / 100
}
