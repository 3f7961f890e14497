//! What the server itself says of its buffer pool, over SQL.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use mysql::prelude::Queryable;

use super::event::PageId;
use crate::Server;

/// Options for a server whose pool changes only when a statement, or what follows from one, asks for it.
///
/// The page cleaner still writes, and purge still purges: [`settle`] waits for both.
pub const QUIET_OPTIONS: [&str; 7] = [
    "innodb_buffer_pool_load_at_startup=OFF",
    "innodb_buffer_pool_dump_at_shutdown=OFF",
    "innodb_stats_auto_recalc=OFF",
    "innodb_undo_log_truncate=OFF",
    // Merging buffered changes reads pages at times of its own.
    "innodb_change_buffering=none",
    "event_scheduler=OFF",
    "skip_log_bin",
];

const QUIET_TIME: Duration = Duration::from_secs(2);
const SETTLE_TIME_MAX: Duration = Duration::from_secs(120);
const SETTLE_INTERVAL: Duration = Duration::from_millis(200);

/// A page in an LRU list, as `INNODB_BUFFER_PAGE_LRU` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LruRow {
    /// The instance, counted from 0.
    pub instance: u32,
    /// The place in the instance's list, counted from its tail.
    pub position: u64,
    /// The page.
    pub page: PageId,
    /// Whether the page is in the old part.
    pub is_old: bool,
    /// The time of the first access, in milliseconds of the monotonic clock; 0 before it.
    pub access_time_ms: u64,
    /// The eviction clock when the page was last put at the head; 0 if it never was.
    pub freed_page_clock: u64,
    /// How many users the page has.
    pub fix_count: u64,
    /// The log position of the oldest change that is not on disk; 0 for a clean page.
    pub oldest_modification: u64,
}

/// Sums over the instances of the pool, from `INNODB_BUFFER_POOL_STATS` and the status variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Frames (`POOL_SIZE`).
    pub pages_total: u64,
    /// `FREE_BUFFERS`.
    pub pages_free: u64,
    /// The length of the LRU lists (`DATABASE_PAGES`).
    pub pages_data: u64,
    /// The length of their old parts (`OLD_DATABASE_PAGES`).
    pub pages_old: u64,
    /// `MODIFIED_DATABASE_PAGES`.
    pub pages_dirty: u64,
    /// `PAGES_MADE_YOUNG`: moves of old pages to the head.
    pub made_young: u64,
    /// `PAGES_NOT_MADE_YOUNG`: gets of old pages that came too early for a move.
    pub not_made_young: u64,
    /// `NUMBER_PAGES_READ`.
    pub pages_read: u64,
    /// `NUMBER_PAGES_CREATED`.
    pub pages_created: u64,
    /// `NUMBER_PAGES_WRITTEN`.
    pub pages_written: u64,
    /// `NUMBER_PAGES_GET`, which `Innodb_buffer_pool_read_requests` is too.
    pub gets: u64,
    /// `NUMBER_PAGES_READ_AHEAD`: by linear read-ahead.
    pub pages_read_ahead: u64,
    /// `NUMBER_READ_AHEAD_EVICTED`.
    pub read_ahead_evicted: u64,
    /// `Innodb_buffer_pool_reads`: what somebody had to wait for.
    pub reads: u64,
}

/// Returns the LRU lists, each from its tail to its head.
///
/// Each list is copied under its mutex, so the rows of an instance are of one moment; what it costs
/// the server grows with the pool. The first such query of a server opens tables of its dictionary.
///
/// # Errors
///
/// When the server does not answer or refuses.
pub fn lru_snapshot(server: &Server) -> Result<Vec<LruRow>> {
    const QUERY: &str = "SELECT POOL_ID, LRU_POSITION, SPACE, PAGE_NUMBER, IS_OLD = 'YES', \
        ACCESS_TIME, FREE_PAGE_CLOCK, FIX_COUNT, OLDEST_MODIFICATION \
        FROM information_schema.INNODB_BUFFER_PAGE_LRU";
    type Row = (u32, u64, u32, u32, bool, u64, u64, u64, u64);
    let rows: Vec<Row> =
        server.connect()?.query(QUERY).context("cannot read INNODB_BUFFER_PAGE_LRU")?;
    let mut rows: Vec<LruRow> = rows
        .into_iter()
        .map(|(instance, position, space, page_no, is_old, access, clock, fixed, oldest)| LruRow {
            instance,
            position,
            page: PageId { space, page_no },
            is_old,
            access_time_ms: access,
            freed_page_clock: clock,
            fix_count: fixed,
            oldest_modification: oldest,
        })
        .collect();
    rows.sort_by_key(|row| (row.instance, row.position));
    Ok(rows)
}

/// Returns the counters of the pool.
///
/// # Errors
///
/// When the server does not answer or refuses.
pub fn pool_stats(server: &Server) -> Result<PoolStats> {
    const COLUMNS: [&str; 13] = [
        "POOL_SIZE",
        "FREE_BUFFERS",
        "DATABASE_PAGES",
        "OLD_DATABASE_PAGES",
        "MODIFIED_DATABASE_PAGES",
        "PAGES_MADE_YOUNG",
        "PAGES_NOT_MADE_YOUNG",
        "NUMBER_PAGES_READ",
        "NUMBER_PAGES_CREATED",
        "NUMBER_PAGES_WRITTEN",
        "NUMBER_PAGES_GET",
        "NUMBER_PAGES_READ_AHEAD",
        "NUMBER_READ_AHEAD_EVICTED",
    ];
    let sums = COLUMNS.map(|column| format!("CAST(SUM({column}) AS UNSIGNED)")).join(", ");
    let mut connection = server.connect()?;
    let row: mysql::Row = connection
        .query_first(format!("SELECT {sums} FROM information_schema.INNODB_BUFFER_POOL_STATS"))
        .context("cannot read INNODB_BUFFER_POOL_STATS")?
        .context("INNODB_BUFFER_POOL_STATS has no rows")?;
    let reads: (String, u64) = connection
        .query_first("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_reads'")
        .context("cannot read the status variables")?
        .context("there is no Innodb_buffer_pool_reads")?;
    let column = |index: usize| -> Result<u64> {
        row.get(index).ok_or_else(|| anyhow!("no sum of {}", COLUMNS[index]))
    };
    Ok(PoolStats {
        pages_total: column(0)?,
        pages_free: column(1)?,
        pages_data: column(2)?,
        pages_old: column(3)?,
        pages_dirty: column(4)?,
        made_young: column(5)?,
        not_made_young: column(6)?,
        pages_read: column(7)?,
        pages_created: column(8)?,
        pages_written: column(9)?,
        gets: column(10)?,
        pages_read_ahead: column(11)?,
        read_ahead_evicted: column(12)?,
        reads: reads.1,
    })
}

/// Waits until no page is dirty and no counter moves for two seconds, and returns the counters.
///
/// # Errors
///
/// When the server does not answer, or does not come to rest within two minutes.
pub fn settle(server: &Server) -> Result<PoolStats> {
    let limit = Instant::now() + SETTLE_TIME_MAX;
    let mut last = pool_stats(server)?;
    let mut since = Instant::now();
    loop {
        thread::sleep(SETTLE_INTERVAL);
        let now = pool_stats(server)?;
        if now != last {
            (last, since) = (now, Instant::now());
        } else if now.pages_dirty == 0 && since.elapsed() > QUIET_TIME {
            return Ok(now);
        }
        if Instant::now() > limit {
            bail!("the pool does not come to rest: {now:?}");
        }
    }
}
