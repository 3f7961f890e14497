//! The buffer pool's own figures: what one instance, or all of them together, say of themselves.
//!
//! [`PoolBlock`] is the shape both `INNODB_BUFFER_POOL_STATS` and the BUFFER POOL section of the
//! InnoDB status text have. [`Pool`] is the merged view the advice works on, taken from the best
//! source at hand for each figure.

use crate::evidence::Evidence;
use crate::log_events::LogEventKind;
use crate::provenance::{Fact, Source};
use crate::version::Flavor;

/// The hit rate as the server prints it, which is not always a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HitRate {
    /// The source has no such line.
    #[default]
    NotPrinted,
    /// Printed as "no buffer pool page gets": nothing was asked since somebody last looked.
    NoGets,
    /// Hits of a thousand gets. Above 1000 means the server's subtraction wrapped.
    PerMille(u64),
}

/// One buffer pool block: an instance, or the totals. `None` means "not printed", never 0.
///
/// Counts are pages unless said otherwise; the `*_per_second` rates are the server's own, over the
/// unknown time since *any* session last printed them (facts: SHOW ENGINE INNODB STATUS).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoolBlock {
    /// Size in pages.
    pub size_pages: Option<u64>,
    /// Size in bytes where printed (Percona); 0 is a known server bug and kept as printed.
    pub size_bytes: Option<u64>,
    /// Pages on the free list.
    pub free_pages: Option<u64>,
    /// Pages in the LRU list ("Database pages").
    pub database_pages: Option<u64>,
    /// Pages in the old part of the LRU list.
    pub old_pages: Option<u64>,
    /// Dirty pages.
    pub modified_pages: Option<u64>,
    /// Reads under way.
    pub pending_reads: Option<u64>,
    /// LRU writes under way.
    pub pending_lru_writes: Option<u64>,
    /// Flush list writes under way.
    pub pending_flush_list_writes: Option<u64>,
    /// Single page writes under way.
    pub pending_single_page_writes: Option<u64>,
    /// Pages moved to the head of the list, since start-up.
    pub made_young: Option<u64>,
    /// Accesses to old pages that did not move them, since start-up.
    pub not_made_young: Option<u64>,
    /// Pages read, since start-up (demand reads, read-ahead and warm-up together).
    pub pages_read: Option<u64>,
    /// Pages created, since start-up.
    pub pages_created: Option<u64>,
    /// Pages written, since start-up.
    pub pages_written: Option<u64>,
    /// Page gets, since start-up (`INNODB_BUFFER_POOL_STATS` only).
    pub page_gets: Option<u64>,
    /// Pages read ahead, since start-up (`INNODB_BUFFER_POOL_STATS` only).
    pub read_ahead_pages: Option<u64>,
    /// Pages read ahead and evicted unused, since start-up (`INNODB_BUFFER_POOL_STATS` only).
    pub read_ahead_evicted_pages: Option<u64>,
    /// The printed hit rate.
    pub hit_rate: HitRate,
    /// Printed pages read per second.
    pub reads_per_second: Option<f64>,
    /// Printed pages written per second.
    pub writes_per_second: Option<f64>,
    /// Printed moves to the head per second.
    pub youngs_per_second: Option<f64>,
    /// Printed read-ahead pages per second.
    pub read_ahead_per_second: Option<f64>,
    /// Printed unused read-ahead evictions per second.
    pub evicted_without_access_per_second: Option<f64>,
    /// Length of the LRU list.
    pub lru_len: Option<u64>,
    /// Length of the list of pages that are also held uncompressed.
    pub unzip_lru_len: Option<u64>,
}

/// `INNODB_BUFFER_POOL_STATS`: a block per instance, in `POOL_ID` order.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolStats {
    /// One block per instance.
    pub instances: Vec<PoolBlock>,
    /// Where they were read.
    pub source: Source,
}

impl PoolStats {
    /// The sum over all instances; a figure one instance lacks is unknown in the sum.
    pub fn total(&self, figure: impl Fn(&PoolBlock) -> Option<u64>) -> Option<u64> {
        self.instances.iter().map(figure).try_fold(0_u64, |sum, value| sum.checked_add(value?))
    }
}

/// The pool at one moment, each figure from the best source at hand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pool {
    /// Bytes of the pool in force: the variable, else pages times page size.
    pub size_bytes: Option<Fact<u64>>,
    /// Bytes of a page; 16 KiB unless the evidence says otherwise.
    pub page_size_bytes: u64,
    /// Instances in use.
    pub instances: Option<Fact<u64>>,
    /// All pages.
    pub pages_total: Option<Fact<u64>>,
    /// Pages on the free list.
    pub pages_free: Option<Fact<u64>>,
    /// Pages holding data.
    pub pages_data: Option<Fact<u64>>,
    /// Pages in the old part of the LRU list.
    pub pages_old: Option<Fact<u64>>,
    /// Dirty pages.
    pub pages_dirty: Option<Fact<u64>>,
    /// The hit rate as last printed by the server, if it was.
    pub printed_hit_rate: Option<Fact<HitRate>>,
}

/// Page size assumed where no source names one: InnoDB's default.
pub const DEFAULT_PAGE_SIZE_BYTES: u64 = 16 * 1024;

impl Pool {
    /// Merges the pool's figures from all sources of `evidence`.
    pub fn of(evidence: &Evidence) -> Self {
        let page_size_bytes = evidence
            .setting_bytes("innodb_page_size")
            .map_or(DEFAULT_PAGE_SIZE_BYTES, |fact| fact.value)
            .max(1024);
        let pages_total = Self::pages_total(evidence);
        let size_bytes = evidence
            .variables
            .count("innodb_buffer_pool_size")
            .or_else(|| Self::text_bytes(evidence))
            .or_else(|| {
                pages_total.clone().map(|f| f.map(|pages| pages.saturating_mul(page_size_bytes)))
            })
            .or_else(|| evidence.setting_bytes("innodb_buffer_pool_size"))
            .or_else(|| Self::from_log(evidence))
            .filter(|fact| fact.value > 0);
        // More free pages than pages cannot be, so nothing is built on them.
        let within =
            |fact: &Fact<u64>| pages_total.as_ref().is_none_or(|total| fact.value <= total.value);
        Self {
            instances: Self::instances(evidence, size_bytes.as_ref()),
            size_bytes,
            page_size_bytes,
            pages_free: figure(evidence, "innodb_buffer_pool_pages_free", |b| b.free_pages)
                .filter(within),
            pages_data: figure(evidence, "innodb_buffer_pool_pages_data", |b| b.database_pages),
            pages_old: figure(evidence, "innodb_buffer_pool_pages_old", |b| b.old_pages),
            pages_dirty: figure(evidence, "innodb_buffer_pool_pages_dirty", |b| b.modified_pages),
            printed_hit_rate: Self::printed_hit_rate(evidence),
            pages_total,
        }
    }

    /// Bytes from pages, or `None` where the page count is unknown.
    pub fn bytes(&self, pages: Option<&Fact<u64>>) -> Option<u64> {
        pages.map(|fact| fact.value.saturating_mul(self.page_size_bytes))
    }

    fn pages_total(evidence: &Evidence) -> Option<Fact<u64>> {
        figure(evidence, "innodb_buffer_pool_pages_total", |b| b.size_pages)
            .filter(|fact| fact.value > 0)
            .or_else(|| {
                // The exporter drops the total: its states data, free and misc make it up; old is a
                // part of data, and dirty a part of data too.
                let state = |name: &str| evidence.status.count(name);
                let data = state("innodb_buffer_pool_pages_data")?;
                let free = state("innodb_buffer_pool_pages_free")?;
                let misc = state("innodb_buffer_pool_pages_misc").map_or(0, |fact| fact.value);
                let total = data.value.checked_add(free.value)?.checked_add(misc)?;
                (total > 0).then(|| Fact::new(total, data.source))
            })
    }

    fn text_bytes(evidence: &Evidence) -> Option<Fact<u64>> {
        let text = evidence.innodb_status.as_ref()?;
        let bytes = text.pool.as_ref()?.size_bytes.filter(|bytes| *bytes > 0)?;
        Some(Fact::new(bytes, text.source("Buffer pool size, bytes")))
    }

    /// The size the last start, or the last resize that ended, of an error log reports.
    fn from_log(evidence: &Evidence) -> Option<Fact<u64>> {
        let mut asked = None;
        let mut size = None;
        for event in &evidence.log_events {
            let fact = |bytes: u64| {
                let source = Source::at_line(event.place.as_str(), event.line, "buffer pool");
                Fact::new(bytes, source)
            };
            match event.kind {
                LogEventKind::PoolInitialised { size_bytes: Some(bytes), .. } => {
                    size = Some(fact(bytes));
                }
                LogEventKind::ResizeStarted { to_bytes, .. } => asked = to_bytes.map(fact),
                LogEventKind::ResizeCompleted => size = asked.take().or(size),
                _ => {}
            }
        }
        size
    }

    fn instances(evidence: &Evidence, size_bytes: Option<&Fact<u64>>) -> Option<Fact<u64>> {
        if let Some(stats) = &evidence.pool_stats {
            return Some(Fact::new(stats.instances.len() as u64, stats.source.clone()));
        }
        if let Some(text) = &evidence.innodb_status
            && text.pool.is_some()
        {
            // A pool of one instance has no section of its own for it.
            let count = text.instances.len().max(1) as u64;
            return Some(Fact::new(count, text.source("INDIVIDUAL BUFFER POOL INFO")));
        }
        let set = evidence.setting_bytes("innodb_buffer_pool_instances")?;
        // What is set is not what is used: one below 1 GB (from 5.6 on), and one in MariaDB 10.5.
        let server = &evidence.server;
        let small = size_bytes.is_some_and(|size| size.value < 1 << 30);
        let one = (small && !server.below(5, 6, 0))
            || (server.flavor == Flavor::Mariadb && server.at_least(10, 5, 1));
        Some(if one { set.map(|_| 1) } else { set })
    }

    fn printed_hit_rate(evidence: &Evidence) -> Option<Fact<HitRate>> {
        let text = evidence.innodb_status.as_ref()?;
        if text.rates_unusable {
            return None;
        }
        let rate = text.pool.as_ref()?.hit_rate;
        Some(Fact::new(rate, text.source("Buffer pool hit rate")))
    }
}

/// A page count: global status first, then the statistics table, then the status text.
fn figure(
    evidence: &Evidence,
    status_name: &str,
    of_block: impl Fn(&PoolBlock) -> Option<u64> + Copy,
) -> Option<Fact<u64>> {
    evidence
        .status
        .count(status_name)
        .or_else(|| {
            let stats = evidence.pool_stats.as_ref()?;
            Some(Fact::new(stats.total(of_block)?, stats.source.clone()))
        })
        .or_else(|| {
            let text = evidence.innodb_status.as_ref()?;
            let value = of_block(text.pool.as_ref()?)?;
            Some(Fact::new(value, text.source("BUFFER POOL AND MEMORY")))
        })
}
