//! How a pool is made: its size and its manners, under InnoDB's names where InnoDB has the setting.

use std::time::Duration;

use innopool_policy::flushing::neighbours::FlushNeighbours;
use innopool_policy::page::Fold;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::rules::ListRules;
use innopool_policy::variant::{ReserveRules, Variant};

use crate::clock::Clock;
use crate::error::PoolError;
use crate::page_size::PageSize;
use crate::translation::Translation;

/// When a page that an access makes young moves to the head of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Promotion {
    /// At once, under the list's lock, as InnoDB does.
    Exact,
    /// A little later and many at a time: the access only leaves a note in a bounded queue, and drops it when the queue is
    /// full. The page cleaner, or a thread that needs the lock anyway, carries the notes out.
    #[default]
    Batched,
}

/// Who evicts and writes ahead of need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Background {
    /// A page cleaner thread, once a second and whenever free frames run out.
    #[default]
    Threads,
    /// Nobody, unless the owner calls [`Pool::clean`](crate::Pool::clean); a thread that finds no free frame cleans itself.
    /// For replays and tests, in which nothing may happen by itself.
    Manual,
}

/// Everything a pool can be told. Fields may be set one by one over [`PoolOptions::default`].
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// `innodb_buffer_pool_size`, in bytes: rounded down to whole pages; at least 16 pages per instance.
    pub size_bytes: u64,
    /// `innodb_buffer_pool_size_max`, in bytes: the largest size the pool can be resized to. Costs address space, not
    /// memory. 0: eight times the size.
    pub size_max_bytes: u64,
    /// `innodb_page_size`.
    pub page_size: PageSize,
    /// `innodb_buffer_pool_instances`: lists with a lock each, 1 to 64.
    pub instances: usize,
    /// Which of the server's ways from a page to its instance is used.
    pub fold: Fold,
    /// `innodb_old_blocks_pct`, `innodb_old_blocks_time` and the constants of the list.
    pub list: ListRules,
    /// `innodb_lru_scan_depth` and the constants around it. The reserve is never more than an eighth of an instance's frames.
    pub reserve: ReserveRules,
    /// `innodb_read_ahead_threshold` and `innodb_random_read_ahead`.
    pub read_ahead: ReadAheadSettings,
    /// `innodb_io_capacity`: pages a second that background work may write.
    pub io_capacity: u64,
    /// `innodb_io_capacity_max`: pages a second when it must hurry. 0: twice `io_capacity`.
    pub io_capacity_max: u64,
    /// `innodb_max_dirty_pages_pct`, 0 to 99.999.
    pub max_dirty_pages_pct: f64,
    /// `innodb_max_dirty_pages_pct_lwm`, 0 (off) to 99.
    pub max_dirty_pages_pct_lwm: f64,
    /// `innodb_flush_neighbors`.
    pub flush_neighbors: FlushNeighbours,
    /// When a page moves.
    pub promotion: Promotion,
    /// How a page is found.
    pub translation: Translation,
    /// Who works in the background.
    pub background: Background,
    /// How long a get waits for a frame before it gives up with [`PoolError::Exhausted`].
    pub exhausted_after: Duration,
    /// Pages that may be on their way to the store at once; each takes a page of memory.
    pub writes_in_flight_max: usize,
    /// Where the time comes from.
    pub clock: Clock,
}

impl Default for PoolOptions {
    /// A pool of 128 MiB that behaves as MySQL 8.4's would.
    fn default() -> PoolOptions {
        let rules = Variant::Mysql84.rules();
        PoolOptions {
            size_bytes: 128 << 20,
            size_max_bytes: 0,
            page_size: PageSize::KIB_16,
            instances: 1,
            fold: rules.fold,
            list: rules.list,
            reserve: rules.reserve,
            read_ahead: ReadAheadSettings::default(),
            io_capacity: rules.flush_defaults.io_capacity,
            io_capacity_max: 0,
            max_dirty_pages_pct: rules.flush_defaults.max_dirty_pct,
            max_dirty_pages_pct_lwm: rules.flush_defaults.max_dirty_pct_lwm,
            flush_neighbors: FlushNeighbours::Off,
            promotion: Promotion::default(),
            translation: Translation::default(),
            background: Background::default(),
            exhausted_after: Duration::from_secs(10),
            writes_in_flight_max: 128,
            clock: Clock::default(),
        }
    }
}

const INSTANCES_MAX: usize = 64;
/// Below this an instance could not even hold what one operation of a B-tree pins.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const INSTANCE_PAGES_MIN: u64 = 16;
/// A model checker finds more in a pool of two frames.
#[cfg(any(feature = "loom", feature = "shuttle"))]
const INSTANCE_PAGES_MIN: u64 = 2;
/// Frame numbers are 32 bits, and 0 means "none" in a link.
const FRAMES_MAX: u64 = u32::MAX as u64 - 1;
const SIZE_MAX_FACTOR: u64 = 8;

impl PoolOptions {
    /// Sizes in frames, checked: what the pool has now, and what it may grow to.
    pub(crate) fn frames(&self) -> Result<(u32, u32), PoolError> {
        if self.instances == 0 || self.instances > INSTANCES_MAX {
            return Err(setting("instances", self.instances, "it must be 1 to 64".to_owned()));
        }
        let size = self.frames_of("size_bytes", self.size_bytes)?;
        let max_bytes = match self.size_max_bytes {
            0 => self.size_bytes.saturating_mul(SIZE_MAX_FACTOR),
            set => set,
        };
        let max_bytes = max_bytes.min(FRAMES_MAX << self.page_size.log2());
        let max = self.frames_of("size_max_bytes", max_bytes)?;
        if max < size {
            let why = format!("it is below size_bytes = {}", self.size_bytes);
            return Err(setting("size_max_bytes", self.size_max_bytes, why));
        }
        Ok((size, max))
    }

    /// How many frames `bytes` are.
    pub(crate) fn frames_of(&self, name: &'static str, bytes: u64) -> Result<u32, PoolError> {
        let frames = bytes >> self.page_size.log2();
        let least = INSTANCE_PAGES_MIN * self.instances as u64;
        if frames < least {
            let why = format!(
                "{} instances need at least {} bytes",
                self.instances,
                least << self.page_size.log2()
            );
            return Err(setting(name, bytes, why));
        }
        match u32::try_from(frames) {
            Ok(frames) if u64::from(frames) <= FRAMES_MAX => Ok(frames),
            _ => {
                let most = FRAMES_MAX << self.page_size.log2();
                Err(setting(name, bytes, format!("with this page size it can be at most {most}")))
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), PoolError> {
        self.frames()?;
        for (name, value) in [
            ("max_dirty_pages_pct", self.max_dirty_pages_pct),
            ("max_dirty_pages_pct_lwm", self.max_dirty_pages_pct_lwm),
        ] {
            if !(0.0..=99.999).contains(&value) {
                return Err(setting(name, value, "it must be 0 to 99.999".to_owned()));
            }
        }
        self.check_rules()?;
        if self.io_capacity == 0 {
            return Err(setting("io_capacity", 0, "nothing would ever be written".to_owned()));
        }
        if self.writes_in_flight_max == 0 {
            return Err(setting("writes_in_flight_max", 0, "nothing could be written".to_owned()));
        }
        Ok(())
    }
}

impl PoolOptions {
    /// The numbers of the list and the reserve, which only an engine that knows what it does sets by hand.
    fn check_rules(&self) -> Result<(), PoolError> {
        /// More pages than any pool has.
        const PAGES_MAX: u64 = 1 << 32;
        if !(51..=1024).contains(&self.list.old_ratio) {
            let why = "it must be 51 to 1024, in 1/1024 of the list".to_owned();
            return Err(setting("list.old_ratio", self.list.old_ratio, why));
        }
        for (name, pages) in [
            ("list.old_min_len_pages", self.list.old_min_len_pages),
            ("list.old_tolerance_pages", self.list.old_tolerance_pages),
            ("list.non_old_min_len_pages", self.list.non_old_min_len_pages),
        ] {
            if pages > PAGES_MAX {
                return Err(setting(name, pages, format!("it must be at most {PAGES_MAX}")));
            }
        }
        Ok(())
    }
}

fn setting(name: &'static str, value: impl ToString, why: String) -> PoolError {
    PoolError::Setting { name, value: value.to_string(), why }
}
