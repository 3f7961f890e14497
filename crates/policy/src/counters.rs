//! The counters of a buffer pool, each with the meaning InnoDB gives it.
//!
//! Names are those of the status variables, `Innodb_buffer_pool_...`. Some of them mean less, or more,
//! than they say: `reads` includes what random read-ahead and a load read, but not what linear
//! read-ahead does; `read_ahead_evicted` misses what the page cleaner evicts. That is kept: the numbers
//! are there to be held against a server's.

use std::ops::{Add, Sub};

/// Counts since an instance, or a pool, was made. All only rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Requests for a page: one per call, whether it is there or not (`_read_requests`).
    pub read_requests: u64,
    /// Pages read into this instance, by whatever cause: the disk's view (`Innodb_pages_read`).
    pub pages_read: u64,
    /// Pages read because somebody waited for them. No status variable of its own.
    pub demand_reads: u64,
    /// Pages read by a load of a dump. No status variable of its own.
    pub load_reads: u64,
    /// Pages read by linear read-ahead (`_read_ahead`), counted where it was triggered: the pages
    /// themselves may belong to another instance.
    pub read_ahead: u64,
    /// Pages read by random read-ahead (`_read_ahead_rnd`).
    pub read_ahead_rnd: u64,
    /// Pages never accessed and evicted by a thread in search of a frame; those that the page cleaner
    /// evicts are not counted (`_read_ahead_evicted`).
    pub read_ahead_evicted: u64,
    /// Pages created in the pool (`Innodb_pages_created`).
    pub pages_created: u64,
    /// Changes of pages, one per page and mini-transaction (`_write_requests`).
    pub write_requests: u64,
    /// Pages written, by whomever (`Innodb_pages_written`).
    pub pages_written: u64,
    /// Pages of these that were written in a batch, not singly by a thread (`_pages_flushed`).
    pub pages_flushed: u64,
    /// Pages moved to the head; MySQL counts old pages only (`Pages made young`).
    pub made_young: u64,
    /// Accesses that found an old page not yet proven (`not young`).
    pub not_made_young: u64,
    /// Rounds in which a thread found no free frame (`_wait_free`).
    pub wait_free: u64,
    /// Pages evicted to make room, by whomever.
    pub evicted: u64,
    /// Pages dropped because their table was, or at the caller's word.
    pub dropped: u64,
}

impl PoolStats {
    /// `Innodb_buffer_pool_reads`: pages read on demand, by random read-ahead and by a load, but not by
    /// linear read-ahead.
    pub fn reads(&self) -> u64 {
        self.demand_reads + self.read_ahead_rnd + self.load_reads
    }

    fn each(self, other: PoolStats, apply: impl Fn(u64, u64) -> u64) -> PoolStats {
        PoolStats {
            read_requests: apply(self.read_requests, other.read_requests),
            pages_read: apply(self.pages_read, other.pages_read),
            demand_reads: apply(self.demand_reads, other.demand_reads),
            load_reads: apply(self.load_reads, other.load_reads),
            read_ahead: apply(self.read_ahead, other.read_ahead),
            read_ahead_rnd: apply(self.read_ahead_rnd, other.read_ahead_rnd),
            read_ahead_evicted: apply(self.read_ahead_evicted, other.read_ahead_evicted),
            pages_created: apply(self.pages_created, other.pages_created),
            write_requests: apply(self.write_requests, other.write_requests),
            pages_written: apply(self.pages_written, other.pages_written),
            pages_flushed: apply(self.pages_flushed, other.pages_flushed),
            made_young: apply(self.made_young, other.made_young),
            not_made_young: apply(self.not_made_young, other.not_made_young),
            wait_free: apply(self.wait_free, other.wait_free),
            evicted: apply(self.evicted, other.evicted),
            dropped: apply(self.dropped, other.dropped),
        }
    }
}

impl Add for PoolStats {
    type Output = PoolStats;

    /// Sums two instances.
    fn add(self, other: PoolStats) -> PoolStats {
        self.each(other, |left, right| left + right)
    }
}

impl Sub for PoolStats {
    type Output = PoolStats;

    /// What happened since `earlier`; 0 where a counter went back.
    fn sub(self, earlier: PoolStats) -> PoolStats {
        self.each(earlier, |left, right| left.saturating_sub(right))
    }
}

/// How full an instance, or a pool, is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Frames in all (`_pages_total`).
    pub total_pages: u64,
    /// Pages in the LRU list (`_pages_data`).
    pub data_pages: u64,
    /// Pages of the old sublist (`Old database pages`).
    pub old_pages: u64,
    /// Modified pages (`_pages_dirty`).
    pub dirty_pages: u64,
    /// Free frames (`_pages_free`).
    pub free_pages: u64,
    /// Frames used for something else than pages (`_pages_misc`).
    pub misc_pages: u64,
}

impl Add for Occupancy {
    type Output = Occupancy;

    /// Sums two instances.
    fn add(self, other: Occupancy) -> Occupancy {
        Occupancy {
            total_pages: self.total_pages + other.total_pages,
            data_pages: self.data_pages + other.data_pages,
            old_pages: self.old_pages + other.old_pages,
            dirty_pages: self.dirty_pages + other.dirty_pages,
            free_pages: self.free_pages + other.free_pages,
            misc_pages: self.misc_pages + other.misc_pages,
        }
    }
}
