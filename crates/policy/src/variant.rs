//! Which server: the rules in which MySQL 5.7, 8.0, 8.4 and MariaDB differ, as data.
//!
//! A [`Variant`] is a name; [`Variant::rules`] is everything behind it. Code that follows a rule takes
//! the rule, never the name, so that a new server is a new row here and nothing elsewhere. Two plain
//! policies, LRU and CLOCK, are rows too: baselines to compare with.

use crate::fetch::ScanMode;
use crate::page::Fold;
use crate::read_ahead::LinearTarget;
use crate::rules::{ClockComparison, ListRules, TimeResolution};

/// A server whose buffer pool is followed, or a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// MySQL 5.7.
    Mysql57,
    /// MySQL 8.0.
    Mysql80,
    /// MySQL 8.4 to 9.x.
    Mysql84,
    /// MariaDB 10.5 on.
    Mariadb,
    /// Plain LRU: every page enters at the head, every access moves it there.
    Lru,
    /// CLOCK: pages stand in order of entry; one accessed since gets a second round.
    Clock,
}

/// What `made_young` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MadeYoungCount {
    /// Moves of pages that were old (MySQL).
    OldPages,
    /// Every move to the head (MariaDB).
    EveryMove,
}

/// When the page cleaner begins to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvictionStart {
    /// Whenever there are fewer free frames than the scan depth (MySQL).
    BelowDepth,
    /// Only below half of the scan depth, then up to the whole (MariaDB).
    BelowHalfDepth,
}

/// What a thread does that finds no free frame and no clean page in the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LastResort {
    /// It writes one dirty page itself and takes its frame (MySQL).
    SinglePageFlush,
    /// It waits for the page cleaner to free some (MariaDB).
    WaitForCleaner,
}

/// How many instances a pool of at least 1 GiB has when nobody says. A smaller pool has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceDefault {
    /// Always one, whatever is set (MariaDB).
    AlwaysOne,
    /// One unless set (the baselines).
    One,
    /// Eight (MySQL 5.7 and 8.0).
    Eight,
    /// By chunks and processors (MySQL 8.4).
    BySizeAndCpus,
}

/// Which arithmetic adaptive flushing uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushingForm {
    /// Integer steps (MySQL 5.7).
    Integer,
    /// Floating steps (MySQL 8.0 on).
    Float,
    /// By the share of dirty pages first (MariaDB).
    DirtyShare,
}

/// How the printed hit rate is computed; see [`crate::hit_rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HitRateForm {
    /// Integer division that wraps when more pages were read than asked for (MySQL).
    Wrapping,
    /// A ratio of at most 1, cut to whole per mille (MariaDB).
    Capped,
}

/// How the seconds of an interval are counted for printed rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElapsedForm {
    /// Whole seconds, plus 0.001 (MySQL 5.7, MariaDB).
    WholeSeconds,
    /// Fractional seconds, plus 0.001 (MySQL 8.0 on).
    Fractional,
}

/// What `innodb_buffer_pool_dump_pct` is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DumpBasis {
    /// Of each instance's list, at least one page (MySQL).
    InstanceList,
    /// Of the frames of the whole pool (MariaDB).
    PoolFrames,
}

/// The free frames kept in hand, per instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveRules {
    /// `innodb_lru_scan_depth`: how many free frames the page cleaner restores, in pages.
    pub scan_depth_pages: u64,
    /// When it begins.
    pub start: EvictionStart,
    /// The page cleaner never evicts from a list of this length or shorter (`BUF_LRU_MIN_LEN`).
    pub lru_min_len_pages: u64,
    /// How far from the tail a thread's first search for a clean page goes.
    pub tail_scan_pages: u64,
    /// What follows when even the whole list has none.
    pub last_resort: LastResort,
}

/// Defaults of the settings of flushing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlushDefaults {
    /// `innodb_io_capacity`, pages a second.
    pub io_capacity: u64,
    /// What `innodb_io_capacity_max` is at least when it is not set; 0 for twice `io_capacity` alone.
    pub io_capacity_max_floor: u64,
    /// `innodb_max_dirty_pages_pct`.
    pub max_dirty_pct: f64,
    /// `innodb_max_dirty_pages_pct_lwm`; 0 is off.
    pub max_dirty_pct_lwm: f64,
    /// `innodb_flush_neighbors`: 0, 1 or 2.
    pub flush_neighbors: u8,
}

/// All rules of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariantRules {
    /// The list and its numbers.
    pub list: ListRules,
    /// The way from a page to its instance.
    pub fold: Fold,
    /// How many instances there are by default.
    pub instances: InstanceDefault,
    /// What a scan's access does.
    pub scan: ScanMode,
    /// What `made_young` counts.
    pub made_young: MadeYoungCount,
    /// The free frames kept in hand.
    pub reserve: ReserveRules,
    /// Where a linear read-ahead goes on.
    pub linear_target: LinearTarget,
    /// The arithmetic of flushing.
    pub flushing: FlushingForm,
    /// Defaults of flushing's settings.
    pub flush_defaults: FlushDefaults,
    /// The arithmetic of the printed hit rate.
    pub hit_rate: HitRateForm,
    /// The seconds of an interval.
    pub elapsed: ElapsedForm,
    /// What a dump's percentage is of.
    pub dump_basis: DumpBasis,
}

const MYSQL_RESERVE: ReserveRules = ReserveRules {
    scan_depth_pages: 1024,
    start: EvictionStart::BelowDepth,
    lru_min_len_pages: 256,
    tail_scan_pages: 100,
    last_resort: LastResort::SinglePageFlush,
};

const MARIADB_RESERVE: ReserveRules = ReserveRules {
    scan_depth_pages: 1536,
    start: EvictionStart::BelowHalfDepth,
    last_resort: LastResort::WaitForCleaner,
    ..MYSQL_RESERVE
};

/// A baseline evicts when it must, and from any length.
const NO_RESERVE: ReserveRules =
    ReserveRules { scan_depth_pages: 0, lru_min_len_pages: 0, ..MYSQL_RESERVE };

const FLUSH_57: FlushDefaults = FlushDefaults {
    io_capacity: 200,
    io_capacity_max_floor: 2000,
    max_dirty_pct: 75.0,
    max_dirty_pct_lwm: 0.0,
    flush_neighbors: 1,
};

const FLUSH_80: FlushDefaults =
    FlushDefaults { max_dirty_pct: 90.0, max_dirty_pct_lwm: 10.0, flush_neighbors: 0, ..FLUSH_57 };

const FLUSH_84: FlushDefaults =
    FlushDefaults { io_capacity: 10_000, io_capacity_max_floor: 0, ..FLUSH_80 };

const FLUSH_MARIADB: FlushDefaults = FlushDefaults { max_dirty_pct: 90.0, ..FLUSH_57 };

impl Variant {
    /// Every variant, servers first.
    pub const ALL: [Variant; 6] = [
        Variant::Mysql57,
        Variant::Mysql80,
        Variant::Mysql84,
        Variant::Mariadb,
        Variant::Lru,
        Variant::Clock,
    ];

    /// The rules behind the name, with the server's default settings.
    pub fn rules(self) -> VariantRules {
        match self {
            Variant::Mysql57 => mysql57(),
            Variant::Mysql80 => mysql80(),
            Variant::Mysql84 => mysql84(),
            Variant::Mariadb => mariadb(),
            Variant::Lru => baseline(ListRules::lru()),
            Variant::Clock => baseline(ListRules::clock()),
        }
    }
}

fn mysql57() -> VariantRules {
    VariantRules {
        list: ListRules {
            clock_comparison: ClockComparison::Truncated,
            time_resolution: TimeResolution::Millis,
            ..ListRules::default()
        },
        fold: Fold::Wide,
        instances: InstanceDefault::Eight,
        scan: ScanMode::Unknown,
        made_young: MadeYoungCount::OldPages,
        reserve: MYSQL_RESERVE,
        linear_target: LinearTarget::Sibling,
        flushing: FlushingForm::Integer,
        flush_defaults: FLUSH_57,
        hit_rate: HitRateForm::Wrapping,
        elapsed: ElapsedForm::WholeSeconds,
        dump_basis: DumpBasis::InstanceList,
    }
}

fn mysql80() -> VariantRules {
    VariantRules {
        fold: Fold::Narrow,
        scan: ScanMode::Unmoved,
        flushing: FlushingForm::Float,
        flush_defaults: FLUSH_80,
        elapsed: ElapsedForm::Fractional,
        ..mysql57()
    }
}

fn mysql84() -> VariantRules {
    let base = mysql80();
    VariantRules {
        list: ListRules { time_resolution: TimeResolution::Native, ..base.list },
        fold: Fold::Masked,
        instances: InstanceDefault::BySizeAndCpus,
        flush_defaults: FLUSH_84,
        ..base
    }
}

fn mariadb() -> VariantRules {
    let base = mysql57();
    VariantRules {
        list: ListRules { clock_comparison: ClockComparison::Modular, ..base.list },
        instances: InstanceDefault::AlwaysOne,
        made_young: MadeYoungCount::EveryMove,
        reserve: MARIADB_RESERVE,
        linear_target: LinearTarget::Adjacent,
        flushing: FlushingForm::DirtyShare,
        flush_defaults: FLUSH_MARIADB,
        hit_rate: HitRateForm::Capped,
        dump_basis: DumpBasis::PoolFrames,
        ..base
    }
}

fn baseline(list: ListRules) -> VariantRules {
    VariantRules {
        list,
        instances: InstanceDefault::One,
        made_young: MadeYoungCount::EveryMove,
        reserve: NO_RESERVE,
        ..mysql84()
    }
}

const GIB: u64 = 1 << 30;
const INSTANCES_MAX: u64 = 64;

impl InstanceDefault {
    /// How many instances a pool of `size_bytes` has, when `set` (or nothing) is asked for
    /// (`innodb_init_params`). `chunk_bytes` and `cpus` count for MySQL 8.4 only. Always 1 to 64.
    pub fn resolve(self, set: Option<u64>, size_bytes: u64, chunk_bytes: u64, cpus: u64) -> u64 {
        if self == InstanceDefault::AlwaysOne || size_bytes < GIB {
            return 1;
        }
        let by_rule = || match self {
            InstanceDefault::AlwaysOne | InstanceDefault::One => 1,
            InstanceDefault::Eight => 8,
            InstanceDefault::BySizeAndCpus => {
                (size_bytes / chunk_bytes.saturating_mul(2).max(1)).min(cpus / 4)
            }
        };
        set.unwrap_or_else(by_rule).clamp(1, INSTANCES_MAX)
    }
}
