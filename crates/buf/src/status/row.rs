//! `INFORMATION_SCHEMA.INNODB_BUFFER_POOL_STATS`: a row per instance, 32 columns.
//!
//! Names, order and types are the server's, the same in MySQL 5.7 to 9.x and MariaDB. Each column is defined once, in the table
//! below, from which the row, the list of names and the order of values are made.

use std::fmt;

use super::{Block, Status};

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `BIGINT UNSIGNED`.
    Count(u64),
    /// `FLOAT`, in the server; never negative.
    Rate(f64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Count(count)
    }
}

impl From<f64> for Value {
    fn from(rate: f64) -> Value {
        Value::Rate(rate)
    }
}

macro_rules! columns {
    ($( $(#[doc = $doc:literal])+ $name:literal $field:ident: $kind:ty, )+) => {
        /// The column names, in the order of `SELECT *`.
        pub const COLUMNS: [&str; 32] = [$($name),+];

        /// One instance's row.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct StatsRow {
            $( $(#[doc = $doc])+ pub $field: $kind, )+
        }

        impl StatsRow {
            /// The cells, in the order of [`COLUMNS`].
            pub fn values(&self) -> [Value; 32] {
                [$( Value::from(self.$field) ),+]
            }
        }
    };
}

columns! {
    /// Number of the instance, from 0.
    "POOL_ID" pool_id: u64,
    /// Frames, in pages.
    "POOL_SIZE" pool_size: u64,
    /// Free frames.
    "FREE_BUFFERS" free_buffers: u64,
    /// Pages in the LRU list.
    "DATABASE_PAGES" database_pages: u64,
    /// Of them in the old sublist.
    "OLD_DATABASE_PAGES" old_database_pages: u64,
    /// Pages on the flush list.
    "MODIFIED_DATABASE_PAGES" modified_database_pages: u64,
    /// In the server the length of the list of compressed pages, whatever the name says; always 0 here.
    "PENDING_DECOMPRESS" pending_decompress: u64,
    /// Reads under way, in pages.
    "PENDING_READS" pending_reads: u64,
    /// Writes under way of pages that will be evicted.
    "PENDING_FLUSH_LRU" pending_flush_lru: u64,
    /// Writes under way of pages that stay.
    "PENDING_FLUSH_LIST" pending_flush_list: u64,
    /// Old pages moved to the head by an access, since the pool was made.
    "PAGES_MADE_YOUNG" pages_made_young: u64,
    /// Accesses to old pages that moved nothing, since the pool was made.
    "PAGES_NOT_MADE_YOUNG" pages_not_made_young: u64,
    /// Pages made young per second.
    "PAGES_MADE_YOUNG_RATE" pages_made_young_rate: f64,
    /// Accesses to old pages that moved nothing, per second.
    "PAGES_MADE_NOT_YOUNG_RATE" pages_made_not_young_rate: f64,
    /// Pages read since the pool was made.
    "NUMBER_PAGES_READ" number_pages_read: u64,
    /// Pages made new since the pool was made.
    "NUMBER_PAGES_CREATED" number_pages_created: u64,
    /// Pages written since the pool was made.
    "NUMBER_PAGES_WRITTEN" number_pages_written: u64,
    /// Pages read per second.
    "PAGES_READ_RATE" pages_read_rate: f64,
    /// Pages made new per second.
    "PAGES_CREATE_RATE" pages_create_rate: f64,
    /// Pages written per second.
    "PAGES_WRITTEN_RATE" pages_written_rate: f64,
    /// Gets since the pool was made.
    "NUMBER_PAGES_GET" number_pages_get: u64,
    /// Hits of a thousand gets of the interval, 0 to 1000; 0 also when there were none.
    "HIT_RATE" hit_rate: u64,
    /// Pages made young per thousand gets of the interval.
    "YOUNG_MAKE_PER_THOUSAND_GETS" young_make_per_thousand_gets: u64,
    /// Accesses to old pages that moved nothing, per thousand gets of the interval.
    "NOT_YOUNG_MAKE_PER_THOUSAND_GETS" not_young_make_per_thousand_gets: u64,
    /// Pages that linear read-ahead started to read, since the pool was made.
    "NUMBER_PAGES_READ_AHEAD" number_pages_read_ahead: u64,
    /// Pages read ahead and evicted without an access, since the pool was made.
    "NUMBER_READ_AHEAD_EVICTED" number_read_ahead_evicted: u64,
    /// Pages that linear read-ahead started to read, per second.
    "READ_AHEAD_RATE" read_ahead_rate: f64,
    /// Pages read ahead and evicted without an access, per second.
    "READ_AHEAD_EVICTED_RATE" read_ahead_evicted_rate: f64,
    /// Pages read and written in the last 50 seconds or so.
    "LRU_IO_TOTAL" lru_io_total: u64,
    /// Pages read and written in the second under way.
    "LRU_IO_CURRENT" lru_io_current: u64,
    /// Pages decompressed in the last 50 seconds: always 0.
    "UNCOMPRESS_TOTAL" uncompress_total: u64,
    /// Pages decompressed in the second under way: always 0.
    "UNCOMPRESS_CURRENT" uncompress_current: u64,
}

impl StatsRow {
    fn new(pool_id: u64, block: &Block) -> StatsRow {
        let Block { stats, rates } = block;
        StatsRow {
            pool_id,
            pool_size: stats.size_pages,
            free_buffers: stats.free_pages,
            database_pages: stats.data_pages,
            old_database_pages: stats.old_pages,
            modified_database_pages: stats.dirty_pages,
            pending_decompress: 0,
            pending_reads: stats.pending_reads,
            pending_flush_lru: stats.pending_lru_writes,
            pending_flush_list: stats.pending_list_writes,
            pages_made_young: stats.made_young,
            pages_not_made_young: stats.not_made_young,
            pages_made_young_rate: rates.youngs_per_second,
            pages_made_not_young_rate: rates.non_youngs_per_second,
            number_pages_read: stats.pages_read,
            number_pages_created: stats.pages_created,
            number_pages_written: stats.pages_written,
            pages_read_rate: rates.reads_per_second,
            pages_create_rate: rates.creates_per_second,
            pages_written_rate: rates.writes_per_second,
            number_pages_get: stats.gets,
            hit_rate: rates.hits_per_mille.unwrap_or(0),
            young_make_per_thousand_gets: rates.youngs_per_mille,
            not_young_make_per_thousand_gets: rates.non_youngs_per_mille,
            number_pages_read_ahead: stats.read_ahead,
            number_read_ahead_evicted: stats.read_ahead_evicted,
            read_ahead_rate: rates.read_ahead_per_second,
            read_ahead_evicted_rate: rates.read_ahead_evicted_per_second,
            lru_io_total: stats.io_recent_pages,
            lru_io_current: stats.io_current_pages,
            uncompress_total: 0,
            uncompress_current: 0,
        }
    }
}

impl Status {
    /// The rows of the table, one per instance.
    pub fn rows(&self) -> Vec<StatsRow> {
        let numbered = (0..).zip(&self.instances);
        numbered.map(|(number, block)| StatsRow::new(number, block)).collect()
    }
}
