//! A pool in miniature: simulating a spatial sample of the pages in a pool scaled down as much.
//!
//! When only pages whose hash falls below a threshold are looked at, a share R of all pages, a pool of R
//! times the size behaves towards them as the whole pool towards all, provided that every number counted
//! in pages is scaled along: the length from which a list has an old sublist, its tolerance, the
//! reserve. Left at 512, a small pool would silently be plain LRU. Times are not scaled: the pages of
//! the sample are accessed as they were.

use crate::replay::PoolConfig;
use crate::rules::ListRules;
use crate::variant::ReserveRules;

/// The sampled share of the pages, above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Scale(f64);

impl Scale {
    /// Everything, nothing scaled.
    pub const FULL: Scale = Scale(1.0);

    /// Returns the scale of a sample of the share `rate`; `None` unless that is above 0 and at most 1.
    pub fn new(rate: f64) -> Option<Scale> {
        (rate > 0.0 && rate <= 1.0).then_some(Scale(rate))
    }

    /// The share.
    pub fn rate(self) -> f64 {
        self.0
    }

    /// A number of pages, scaled and rounded to the nearest.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded to whole pages on purpose; not negative, and no larger than it was"
    )]
    pub fn pages(self, pages: u64) -> u64 {
        if self == Scale::FULL { pages } else { (pages as f64 * self.0).round() as u64 }
    }

    /// What a count seen in the sample stands for in all: misses, reads, evictions. Not requests: a few
    /// hot pages within or without the sample decide those, so they are taken from the server.
    pub fn count_in_all(self, counted: u64) -> f64 {
        counted as f64 / self.0
    }

    /// The list's numbers, scaled. A list keeps at least one young page, and an old sublist as soon as
    /// it has two pages; the tolerance may become 0.
    pub fn list(self, rules: ListRules) -> ListRules {
        let at_least = |pages, least: u64| self.pages(pages).max(least);
        ListRules {
            old_min_len_pages: at_least(rules.old_min_len_pages, 2),
            old_tolerance_pages: self.pages(rules.old_tolerance_pages),
            non_old_min_len_pages: at_least(rules.non_old_min_len_pages, 1),
            ..rules
        }
    }

    /// The reserve's numbers, scaled. A search looks at one page at least.
    pub fn reserve(self, rules: ReserveRules) -> ReserveRules {
        ReserveRules {
            scan_depth_pages: self.pages(rules.scan_depth_pages),
            lru_min_len_pages: self.pages(rules.lru_min_len_pages),
            tail_scan_pages: self.pages(rules.tail_scan_pages).max(1),
            ..rules
        }
    }

    /// A whole pool, scaled; an instance keeps at least one frame. Read-ahead is turned off below
    /// [`Scale::FULL`]: a sample of single pages has no neighbours to judge by.
    pub fn pool(self, config: PoolConfig) -> PoolConfig {
        if self == Scale::FULL {
            return config;
        }
        let mut rules = config.rules;
        rules.list = self.list(rules.list);
        rules.reserve = self.reserve(rules.reserve);
        let misc_pages = self.pages(config.misc_pages);
        let least = misc_pages.saturating_add(config.instances as u64);
        PoolConfig {
            rules,
            misc_pages,
            size_pages: self.pages(config.size_pages).max(least),
            read_ahead: crate::read_ahead::ReadAheadSettings::OFF,
            ..config
        }
    }
}
