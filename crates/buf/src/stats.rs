//! What the pool has counted and holds, as a snapshot.
//!
//! Names and meanings are InnoDB's, so that a figure of this pool can be laid beside a server's. One read has one name: a
//! **demand read** is one that a get waited for; read-ahead and load reads are counted apart, and `pages_read` is all of them.

use crate::counters::Counter;
use crate::inner::Inner;
use crate::instance::Instance;
use crate::pool::Pool;
use crate::sync::Ordering;

/// One instance, or the sum of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Frames (`POOL_SIZE`).
    pub size_pages: u64,
    /// Frames on the free list (`FREE_BUFFERS`).
    pub free_pages: u64,
    /// Pages in the LRU list (`DATABASE_PAGES`).
    pub data_pages: u64,
    /// Of them in the old sublist (`OLD_DATABASE_PAGES`).
    pub old_pages: u64,
    /// Pages on the flush list (`MODIFIED_DATABASE_PAGES`).
    pub dirty_pages: u64,
    /// Reads posted and not done (`PENDING_READS`).
    pub pending_reads: u64,
    /// Writes under way whose pages will be evicted (`PENDING_FLUSH_LRU`).
    pub pending_lru_writes: u64,
    /// Writes under way whose pages stay (`PENDING_FLUSH_LIST`).
    pub pending_list_writes: u64,
    /// Old pages that an access moved to the head (`PAGES_MADE_YOUNG`).
    pub made_young: u64,
    /// Accesses to old pages that moved nothing (`PAGES_NOT_MADE_YOUNG`).
    pub not_made_young: u64,
    /// Gets (`NUMBER_PAGES_GET`, `Innodb_buffer_pool_read_requests`).
    pub gets: u64,
    /// Reads that a get waited for.
    pub demand_reads: u64,
    /// Pages that linear read-ahead, or [`prefetch`](Pool::prefetch) in its name, started to read.
    pub read_ahead: u64,
    /// Pages that random read-ahead started to read.
    pub read_ahead_random: u64,
    /// Pages that a load started to read.
    pub load_reads: u64,
    /// Reads that have ended well (`NUMBER_PAGES_READ`, `Innodb_pages_read`).
    pub pages_read: u64,
    /// Pages made new (`NUMBER_PAGES_CREATED`).
    pub pages_created: u64,
    /// Writes that have ended well (`NUMBER_PAGES_WRITTEN`).
    pub pages_written: u64,
    /// Pages read ahead and evicted by a thread in need without having been accessed (`NUMBER_READ_AHEAD_EVICTED`).
    pub read_ahead_evicted: u64,
    /// Pages evicted.
    pub evicted: u64,
    /// Rounds of waiting for a free frame (`Innodb_buffer_pool_wait_free`).
    pub wait_free: u64,
    /// Changes noted (`Innodb_buffer_pool_write_requests`).
    pub write_requests: u64,
    /// Promotions left in the queue ([`Promotion::Batched`](crate::Promotion::Batched)).
    pub promotions_queued: u64,
    /// Promotions dropped because the queue was full.
    pub promotions_dropped: u64,
    /// Pages read and written in the last 50 full passes of the page cleaner, about a second each (`LRU_IO_TOTAL`).
    pub io_recent_pages: u64,
    /// Pages read and written since the last of them (`LRU_IO_CURRENT`).
    pub io_current_pages: u64,
}

impl PoolStats {
    /// `Innodb_buffer_pool_reads`: demand reads, and with them, as the servers count, random read-ahead and load.
    pub fn buffer_pool_reads(&self) -> u64 {
        self.demand_reads + self.read_ahead_random + self.load_reads
    }

    /// Frames that hold neither a page nor are free: taken by threads at this moment, or being withdrawn.
    pub fn misc_pages(&self) -> u64 {
        self.size_pages.saturating_sub(self.free_pages + self.data_pages)
    }

    /// The sum of `parts`: of the instances of a pool.
    pub fn sum_of<'a>(parts: impl IntoIterator<Item = &'a PoolStats>) -> PoolStats {
        let mut sum = PoolStats::default();
        parts.into_iter().for_each(|part| sum.add(part));
        sum
    }

    fn add(&mut self, other: &PoolStats) {
        let PoolStats {
            size_pages,
            free_pages,
            data_pages,
            old_pages,
            dirty_pages,
            pending_reads,
            pending_lru_writes,
            pending_list_writes,
            made_young,
            not_made_young,
            gets,
            demand_reads,
            read_ahead,
            read_ahead_random,
            load_reads,
            pages_read,
            pages_created,
            pages_written,
            read_ahead_evicted,
            evicted,
            wait_free,
            write_requests,
            promotions_queued,
            promotions_dropped,
            io_recent_pages,
            io_current_pages,
        } = self;
        for (sum, more) in [
            (size_pages, other.size_pages),
            (free_pages, other.free_pages),
            (data_pages, other.data_pages),
            (old_pages, other.old_pages),
            (dirty_pages, other.dirty_pages),
            (pending_reads, other.pending_reads),
            (pending_lru_writes, other.pending_lru_writes),
            (pending_list_writes, other.pending_list_writes),
            (made_young, other.made_young),
            (not_made_young, other.not_made_young),
            (gets, other.gets),
            (demand_reads, other.demand_reads),
            (read_ahead, other.read_ahead),
            (read_ahead_random, other.read_ahead_random),
            (load_reads, other.load_reads),
            (pages_read, other.pages_read),
            (pages_created, other.pages_created),
            (pages_written, other.pages_written),
            (read_ahead_evicted, other.read_ahead_evicted),
            (evicted, other.evicted),
            (wait_free, other.wait_free),
            (write_requests, other.write_requests),
            (promotions_queued, other.promotions_queued),
            (promotions_dropped, other.promotions_dropped),
            (io_recent_pages, other.io_recent_pages),
            (io_current_pages, other.io_current_pages),
        ] {
            *sum += more;
        }
    }
}

/// Memory the pool takes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The frames: the configured size.
    pub frames_bytes: u64,
    /// Descriptors of the frames.
    pub descriptors_bytes: u64,
    /// The page table.
    pub page_table_bytes: u64,
    /// Copies of pages on their way to the store.
    pub staging_bytes: u64,
}

impl MemoryUse {
    /// All but the frames.
    pub fn beyond_frames_bytes(&self) -> u64 {
        self.descriptors_bytes + self.page_table_bytes + self.staging_bytes
    }
}

impl Pool {
    /// Counts and sizes of the whole pool. A sum of moments: the parts are read one after the other.
    pub fn stats(&self) -> PoolStats {
        PoolStats::sum_of(&self.instance_stats())
    }

    /// The same for each instance.
    pub fn instance_stats(&self) -> Vec<PoolStats> {
        self.inner.instances.iter().map(|instance| self.inner.stats_of(instance)).collect()
    }

    /// What memory the pool takes.
    pub fn memory(&self) -> MemoryUse {
        let inner = &self.inner;
        let frames = u64::from(inner.size_frames.load(Ordering::Acquire));
        let page_bytes = inner.options.page_size.bytes() as u64;
        MemoryUse {
            frames_bytes: frames * page_bytes,
            descriptors_bytes: frames * size_of::<crate::frame::Frame>() as u64,
            page_table_bytes: inner.pages.memory_bytes(),
            staging_bytes: inner.options.writes_in_flight_max as u64 * page_bytes,
        }
    }
}

impl Inner {
    fn stats_of(&self, instance: &Instance) -> PoolStats {
        let sum = |counter| instance.counters.sum(counter);
        let io_pages = instance.io_pages();
        let history = instance.io_history.lock().clone();
        PoolStats {
            size_pages: instance.size_pages(),
            free_pages: instance.free_pages(),
            data_pages: instance.lru_pages(),
            old_pages: instance.old_pages(),
            dirty_pages: instance.flush.lock().len_pages(),
            pending_reads: instance.pending_reads.load(Ordering::Relaxed),
            pending_lru_writes: instance.pending_lru_writes.load(Ordering::Relaxed),
            pending_list_writes: instance.pending_list_writes.load(Ordering::Relaxed),
            made_young: sum(Counter::MadeYoung),
            not_made_young: sum(Counter::NotMadeYoung),
            gets: sum(Counter::Gets),
            demand_reads: sum(Counter::DemandReads),
            read_ahead: sum(Counter::ReadAhead),
            read_ahead_random: sum(Counter::ReadAheadRandom),
            load_reads: sum(Counter::LoadReads),
            pages_read: sum(Counter::PagesRead),
            pages_created: sum(Counter::PagesCreated),
            pages_written: sum(Counter::PagesWritten),
            read_ahead_evicted: sum(Counter::ReadAheadEvicted),
            evicted: sum(Counter::Evicted),
            wait_free: sum(Counter::WaitFree),
            write_requests: sum(Counter::WriteRequests),
            promotions_queued: sum(Counter::PromotionsQueued),
            promotions_dropped: sum(Counter::PromotionsDropped),
            io_recent_pages: history.sum(),
            io_current_pages: history.current(io_pages),
        }
    }
}
