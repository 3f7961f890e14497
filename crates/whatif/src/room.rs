//! How many frames of a pool hold pages, at the recorded size and at others.
//!
//! A pool of N frames does not hold N pages: the page cleaner of a server that writes keeps a reserve
//! free, and locks and the adaptive hash index take frames too. How many, the gauges of the recording
//! say; a server that only reads keeps no reserve (seen with MySQL 9.7), and then they say that. The
//! reserve is a setting, not a share of the pool, and is carried over to other sizes as it is. So is
//! what locks take; what a hash index takes grows with the pool.

use std::time::Duration;

use innopool_policy::Variant;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{DirtyPages, PoolConfig, ReserveKeeping};
use innopool_policy::scale::Scale;
use innopool_policy::variant::{InstanceDefault, VariantRules};
use innopool_recording::{Flavor, PoolSettings, Provenance};

use crate::question::Question;
use crate::window::Window;

const GIB: u64 = 1 << 30;
/// Of a pool that evicts, a reserve and the rest cannot take more than this share.
const UNUSED_SHARE_MAX: f64 = 0.5;
/// A pool whose free frames outnumber its reserve by this share of its size has not been filled yet.
const ROOM_LEFT_SHARE: f64 = 0.02;

/// What the gauges of a window say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Room {
    /// Frames.
    pub(crate) total_pages: u64,
    /// Frames that hold neither a page nor nothing.
    pub(crate) misc_pages: u64,
    /// Frames free on average, while the pool evicts.
    pub(crate) free_pages: u64,
    /// Whether pages are evicted: whether the pool is full but for its reserve.
    pub(crate) full: bool,
}

impl Room {
    pub(crate) fn of(window: &Window, pool: &PoolSettings) -> Room {
        let by_size = pool.size_bytes / u64::from(pool.page_size_bytes.max(1));
        let total = window.mean(|c| c.pages_total).filter(|&t| t > 0.0).unwrap_or(by_size as f64);
        let residents = window.resident_pages() as f64;
        let data = window.mean(|c| c.pages_data).unwrap_or(if residents > 0.0 {
            residents
        } else {
            total
        });
        let free = window.mean(|c| c.pages_free).unwrap_or((total - data).max(0.0));
        let misc = window.mean(|c| c.pages_misc).unwrap_or((total - data - free).max(0.0));
        let reserve = pool.lru_scan_depth as f64 * f64::from(pool.instances.max(1));
        let last_free = window.last.pages_free.map_or(free, |pages| pages as f64);
        let full = last_free <= reserve * 1.25 + total * ROOM_LEFT_SHARE;
        let (misc, free) = (misc.min(total * UNUSED_SHARE_MAX), free.min(total * UNUSED_SHARE_MAX));
        Room {
            total_pages: to_pages(total),
            misc_pages: to_pages(misc),
            free_pages: if full { to_pages(free) } else { 0 },
            full,
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pages; never negative")]
pub(crate) fn to_pages(pages: f64) -> u64 {
    pages.round().max(0.0) as u64
}

/// The variant of the server that was recorded.
pub(crate) fn variant_of(provenance: &Provenance) -> Variant {
    match provenance.flavor {
        Flavor::Mariadb => Variant::Mariadb,
        Flavor::Embedded => Variant::Mysql84,
        Flavor::Mysql | Flavor::Percona => {
            let mut parts = provenance.server_version.split(['.', '-']).map(str::parse::<u32>);
            match (parts.next(), parts.next()) {
                (Some(Ok(5)), _) => Variant::Mysql57,
                (Some(Ok(8)), Some(Ok(0..=3))) => Variant::Mysql80,
                _ => Variant::Mysql84,
            }
        }
    }
}

/// Makes pools of other sizes after the recorded one.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    rules: VariantRules,
    /// The server's own, whatever is asked.
    recorded_rules: VariantRules,
    scale: Scale,
    settings: PoolSettings,
    room: Room,
}

impl Pools {
    pub(crate) fn new(provenance: &Provenance, question: &Question, room: Room) -> Pools {
        let settings = provenance.pool.clone();
        let served = Duration::from_millis(settings.old_blocks_time_ms);
        let set = |variant: Variant, wait| {
            let mut rules = variant.rules();
            let list = rules.list.with_old_blocks_pct(to_percent(settings.old_blocks_pct));
            rules.list = list.with_old_blocks_time(wait);
            rules
        };
        let recorded = variant_of(provenance);
        let rules =
            set(question.policy.unwrap_or(recorded), question.old_blocks_time.unwrap_or(served));
        Pools { rules, recorded_rules: set(recorded, served), scale: Scale::FULL, settings, room }
    }

    /// The same for a sample of the pages.
    pub(crate) fn in_miniature(self, scale: Scale) -> Pools {
        Pools { scale, ..self }
    }

    pub(crate) fn recorded_rules(&self) -> &VariantRules {
        &self.recorded_rules
    }

    /// The pool that was recorded, whatever is asked.
    pub(crate) fn recorded(&self) -> PoolConfig {
        let config = self.whole(self.settings.size_bytes);
        self.scale.pool(PoolConfig { rules: self.recorded_rules, ..config })
    }

    pub(crate) fn rules(&self) -> &VariantRules {
        &self.rules
    }

    /// Whether the recorded pool evicts: whether its frames are all in use, but for a reserve.
    pub(crate) fn is_full(&self) -> bool {
        self.room.full
    }

    /// Pages that a pool of `size_bytes` holds.
    pub(crate) fn capacity_pages(&self, size_bytes: u64) -> u64 {
        let config = self.at(size_bytes);
        config.size_pages.saturating_sub(config.misc_pages)
    }

    pub(crate) fn instances_at(&self, size_bytes: u64) -> usize {
        let recorded = self.settings.instances.max(1);
        let is_small = |bytes| bytes < GIB;
        let number = match (is_small(self.settings.size_bytes), is_small(size_bytes)) {
            (_, true) => {
                if self.settings.size_bytes == size_bytes {
                    recorded
                } else {
                    1
                }
            }
            (false, false) => recorded,
            // What a larger server would choose is only certain of those that choose by nothing else.
            (true, false) => {
                if self.rules.instances == InstanceDefault::Eight {
                    8
                } else {
                    1
                }
            }
        };
        number as usize
    }

    /// The pool at `size_bytes`. It evicts as frames are wanted; frames of the reserve are withheld.
    pub(crate) fn at(&self, size_bytes: u64) -> PoolConfig {
        self.scale.pool(self.whole(size_bytes))
    }

    fn whole(&self, size_bytes: u64) -> PoolConfig {
        let factor = size_bytes as f64 / self.settings.size_bytes.max(1) as f64;
        let size_pages = to_pages(self.room.total_pages as f64 * factor).max(1);
        let misc = if self.settings.adaptive_hash_index {
            to_pages(self.room.misc_pages as f64 * factor)
        } else {
            self.room.misc_pages
        };
        let most = to_pages(size_pages as f64 * UNUSED_SHARE_MAX);
        PoolConfig {
            rules: self.rules,
            size_pages,
            misc_pages: (misc + self.room.free_pages).min(most),
            instances: self.instances_at(size_bytes),
            reserve: ReserveKeeping::OnPass,
            dirty: DirtyPages::Write,
            read_ahead: ReadAheadSettings::OFF,
            page_size_bytes: self.settings.page_size_bytes,
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "5 to 95")]
fn to_percent(percent: f64) -> u32 {
    // The server shows 36.9 for 37 and the like: what it keeps is a ratio in 1/1024.
    percent.round().clamp(5.0, 95.0) as u32
}
