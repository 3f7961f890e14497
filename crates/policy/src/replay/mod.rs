//! A whole buffer pool without bytes, driven by events: what a server's pool would hold, and count.
//!
//! A [`BufferPool`] has everything a server's pool has except page contents and threads. It is told what
//! happens, and when: [`get`](BufferPool::get), [`create`](BufferPool::create),
//! [`mark_dirty`](BufferPool::mark_dirty), [`cleaner_pass`](BufferPool::cleaner_pass) and so on. Reads
//! and writes are done at once. Each call costs O(1) and allocates nothing, apart from the pages that a
//! read-ahead brings in or a search passes over.
//!
//! Driven by itself it **predicts**: evictions and moves are the policy's own. A [`Follower`] drives it
//! by a recording of a real server and counts where the two agree.

mod access;
mod cleaner;
mod config;
mod follow;
mod free_frame;
mod instance;
mod outcome;
mod page_table;
mod resize;
mod slots;
mod state;

use crate::blocks::{BlockNo, Blocks};
use crate::counters::{Occupancy, PoolStats};
use crate::list::Enter;
use crate::page::PageId;
use crate::promotion::PageRecency;
use crate::rules::ListRules;

pub use config::{ConfigError, DirtyPages, PoolConfig, ReserveKeeping};
pub use follow::{Agreement, Follower, Following, Source};
pub use outcome::{CleanerWork, Found, GetOutcome, NoFreeFrame, NotResident, StartedReadAhead};
pub use state::{ImportReport, LruRow, RowOrder};

use instance::{Instance, Leave, Writer};
use slots::mark;

/// A buffer pool without bytes.
#[derive(Clone, Debug)]
pub struct BufferPool {
    config: PoolConfig,
    instances: Vec<Instance>,
    /// Pages of each tablespace whose size is known, by tablespace.
    files: std::collections::BTreeMap<u32, u32>,
}

impl BufferPool {
    /// Returns an empty pool whose eviction clocks stand at 0.
    ///
    /// # Errors
    ///
    /// When an instance would have no frame, or 2^32 - 1 of them or more.
    pub fn new(config: PoolConfig) -> Result<BufferPool, ConfigError> {
        config.check()?;
        let instances =
            (0..config.instances).map(|number| Instance::new(&config, number)).collect();
        Ok(BufferPool { config, instances, files: std::collections::BTreeMap::new() })
    }

    /// What the pool is made of; sizes follow [`resize`](BufferPool::resize).
    pub fn config(&self) -> &PoolConfig {
        &self.config
    }

    /// Tells how many pages tablespace `space` has, which bounds read-ahead. Not told, it bounds nothing.
    pub fn set_file_pages(&mut self, space: u32, pages: u32) {
        self.files.insert(space, pages);
    }

    /// Changes the list's numbers in every instance, as `SET GLOBAL innodb_old_blocks_time` does.
    pub fn set_list_rules(&mut self, rules: ListRules) {
        self.config.rules.list = rules;
        for instance in &mut self.instances {
            instance.list.set_rules(&mut instance.slots, rules);
        }
    }

    /// The instance, from 0, that `page` belongs to.
    pub fn instance_of(&self, page: PageId) -> usize {
        match self.instances.len() {
            1 => 0,
            instances => self.config.rules.fold.instance_of(page, instances),
        }
    }

    fn instance(&self, page: PageId) -> &Instance {
        &self.instances[self.instance_of(page)]
    }

    fn instance_mut(&mut self, page: PageId) -> &mut Instance {
        let number = self.instance_of(page);
        &mut self.instances[number]
    }

    /// Whether `page` is in the pool.
    pub fn contains(&self, page: PageId) -> bool {
        self.instance(page).table.get(page).is_some()
    }

    /// What the rules know of `page`, if it is in the pool.
    pub fn recency(&self, page: PageId) -> Option<PageRecency> {
        let instance = self.instance(page);
        instance.table.get(page).map(|block| instance.slots.recency(block))
    }

    /// Drops `page`, dirty or not, as when its table is dropped: the eviction clock ticks, and nothing
    /// is written. Returns whether it was there.
    pub fn drop_page(&mut self, page: PageId) -> bool {
        let instance = self.instance_mut(page);
        let Some(block) = instance.table.get(page) else { return false };
        instance.leave(block, Leave::Dropped);
        true
    }

    /// Evicts `page`, dirty or not, as if the page cleaner had. Returns whether it was there.
    pub fn evict_page(&mut self, page: PageId) -> bool {
        let instance = self.instance_mut(page);
        let Some(block) = instance.table.get(page) else { return false };
        instance.write(block, Writer::Batch);
        instance.leave(block, Leave::Evicted);
        true
    }

    /// The page that would be evicted next from instance `instance`: the coldest that is clean and
    /// pinned by nobody. Walks past those that are not.
    pub fn next_victim(&self, instance: usize) -> Option<PageId> {
        let instance = self.instances.get(instance)?;
        instance.coldest_replaceable().map(|block| instance.slots.page(block))
    }

    /// Marks `page` modified, so that it cannot be evicted before it is written. Counts one write request.
    ///
    /// # Errors
    ///
    /// When the page is not in the pool.
    pub fn mark_dirty(&mut self, page: PageId) -> Result<(), NotResident> {
        let instance = self.instance_mut(page);
        let block = instance.table.get(page).ok_or(NotResident)?;
        instance.dirty_pages += u64::from(instance.slots.set(block, mark::DIRTY, true));
        instance.stats.write_requests += 1;
        Ok(())
    }

    /// Marks `page` written. It stays where it is, as after a flush list batch.
    ///
    /// # Errors
    ///
    /// When the page is not in the pool.
    pub fn mark_clean(&mut self, page: PageId) -> Result<(), NotResident> {
        let instance = self.instance_mut(page);
        let block = instance.table.get(page).ok_or(NotResident)?;
        instance.write(block, Writer::Batch);
        Ok(())
    }

    /// Pins `page`: it cannot be evicted until each pin is undone.
    ///
    /// # Errors
    ///
    /// When the page is not in the pool.
    pub fn pin(&mut self, page: PageId) -> Result<(), NotResident> {
        let instance = self.instance_mut(page);
        let block = instance.table.get(page).ok_or(NotResident)?;
        instance.slots.set_pins(block, instance.slots.pins(block).saturating_add(1));
        Ok(())
    }

    /// Undoes one pin; more than there are do nothing.
    ///
    /// # Errors
    ///
    /// When the page is not in the pool.
    pub fn unpin(&mut self, page: PageId) -> Result<(), NotResident> {
        let instance = self.instance_mut(page);
        let block = instance.table.get(page).ok_or(NotResident)?;
        instance.slots.set_pins(block, instance.slots.pins(block).saturating_sub(1));
        Ok(())
    }

    /// One pass of the page cleaner over all instances: restores the reserve of free frames.
    pub fn cleaner_pass(&mut self) -> CleanerWork {
        let dirty = self.config.dirty;
        self.instances.iter_mut().map(|instance| instance.cleaner_pass(dirty)).fold(
            CleanerWork::default(),
            |sum, work| CleanerWork {
                evicted_pages: sum.evicted_pages + work.evicted_pages,
                written_pages: sum.written_pages + work.written_pages,
            },
        )
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.instances.len()
    }

    /// The counters of all instances together.
    pub fn stats(&self) -> PoolStats {
        self.instances.iter().fold(PoolStats::default(), |sum, one| sum + one.stats)
    }

    /// The counters of instance `instance`, if there is such.
    pub fn instance_stats(&self, instance: usize) -> Option<PoolStats> {
        self.instances.get(instance).map(|one| one.stats)
    }

    /// How full all instances together are.
    pub fn occupancy(&self) -> Occupancy {
        self.instances.iter().fold(Occupancy::default(), |sum, one| sum + one.occupancy())
    }

    /// How full instance `instance` is, if there is such.
    pub fn instance_occupancy(&self, instance: usize) -> Option<Occupancy> {
        self.instances.get(instance).map(Instance::occupancy)
    }

    /// The eviction clock of instance `instance`, if there is such.
    pub fn freed_page_clock(&self, instance: usize) -> Option<u64> {
        self.instances.get(instance).map(|one| one.list.freed_page_clock())
    }

    /// Lists the pages of instance `instance` from the head (hottest) to the tail; none when there is
    /// no such instance.
    pub fn pages_from_head(&self, instance: usize) -> impl Iterator<Item = PageId> + '_ {
        self.instances
            .get(instance)
            .into_iter()
            .flat_map(|one| one.list.from_head(&one.slots).map(|block| one.slots.page(block)))
    }

    /// Brings `page` in, which must not be there, by a read or a creation.
    fn bring_in(&mut self, page: PageId, enter: Enter) -> Result<BlockNo, NoFreeFrame> {
        let (keeping, dirty) = (self.config.reserve, self.config.dirty);
        let instance = self.instance_mut(page);
        let block = instance.take_frame()?;
        instance.place(block, page, enter);
        // Whoever brings a page in holds it while the page cleaner works.
        instance.slots.set_pins(block, 1);
        instance.keep_reserve(keeping, dirty);
        instance.slots.set_pins(block, 0);
        Ok(block)
    }

    /// Checks what must always hold, for tests: lengths, marks and table agree with the list.
    ///
    /// # Panics
    ///
    /// When something does not.
    #[doc(hidden)]
    pub fn assert_consistent(&self) {
        for instance in &self.instances {
            let mut old_seen = false;
            let (mut len, mut old, mut dirty) = (0, 0, 0);
            for block in instance.list.from_head(&instance.slots) {
                let is_old = instance.slots.is_old(block);
                assert!(is_old || !old_seen, "a young page below the boundary");
                if is_old && !old_seen {
                    assert_eq!(instance.list.old_head(), Some(block), "the boundary");
                }
                old_seen |= is_old;
                len += 1;
                old += u64::from(is_old);
                dirty += u64::from(instance.slots.has(block, mark::DIRTY));
                let page = instance.slots.page(block);
                assert_eq!(instance.table.get(page), Some(block), "the table's way to {page}");
            }
            assert_eq!(len, instance.list.len_pages(), "length of the list");
            assert_eq!(old, instance.list.old_len_pages(), "length of the old sublist");
            assert_eq!(dirty, instance.dirty_pages, "dirty pages");
            let frames = len + instance.free.len() as u64 + instance.misc_pages;
            assert_eq!(frames, instance.size_pages + instance.withdraw_pages, "frames");
        }
    }
}
