//! Changing the size of a running pool.
//!
//! Growth adds free frames and touches no page. A shrink sets the new size at once, takes free frames
//! first and then evicts from the cold end; what is dirty or pinned there is owed, and taken as soon as
//! it leaves. As in a server, the order of the pages that stay does not change.

use super::BufferPool;
use super::config::{ConfigError, DirtyPages, share};
use super::instance::{Instance, Leave, Writer};
use super::page_table::PageTable;
use super::slots::Slots;
use crate::blocks::BlockNo;
use crate::list::LruList;

impl BufferPool {
    /// Gives the pool `size_pages` frames in all. Returns how many are still to be withdrawn, because
    /// their pages are pinned, or dirty and not to be written; they go when their pages do.
    ///
    /// # Errors
    ///
    /// When an instance would have no frame, or 2^32 - 1 of them or more; the pool is as it was.
    pub fn resize(&mut self, size_pages: u64) -> Result<u64, ConfigError> {
        let config = super::PoolConfig { size_pages, ..self.config };
        config.check()?;
        self.config = config;
        for instance in &mut self.instances {
            let size_pages = share(size_pages, config.instances, instance.number);
            if size_pages >= instance.size_pages {
                instance.grow(size_pages);
            } else {
                instance.shrink(size_pages, config.dirty);
            }
        }
        Ok(self.instances.iter().map(|instance| instance.withdraw_pages).sum())
    }
}

impl Instance {
    fn grow(&mut self, size_pages: u64) {
        let mut more = size_pages - self.size_pages;
        self.size_pages = size_pages;
        let owed = self.withdraw_pages.min(more);
        self.withdraw_pages -= owed;
        more -= owed;
        // New frames go to the end of the free list that is taken from last.
        let mut added = Vec::new();
        while more > 0 {
            added.push(self.retired.pop().unwrap_or_else(|| self.new_block()));
            more -= 1;
        }
        added.append(&mut self.free);
        self.free = added;
    }

    fn new_block(&mut self) -> BlockNo {
        let number = self.slots.len();
        self.slots.grow_to(number + 1);
        // Sizes are checked to be below 2^32 - 1.
        BlockNo(u32::try_from(number).unwrap_or(u32::MAX - 1))
    }

    fn shrink(&mut self, size_pages: u64, dirty: DirtyPages) {
        self.withdraw_pages += self.size_pages - size_pages;
        self.size_pages = size_pages;
        while self.withdraw_pages > 0
            && let Some(block) = self.free.pop()
        {
            self.retired.push(block);
            self.withdraw_pages -= 1;
        }
        let mut at = self.list.tail();
        while self.withdraw_pages > 0
            && let Some(block) = at
        {
            at = self.hotter(block);
            if dirty == DirtyPages::Write && self.slots.pins(block) == 0 {
                self.write(block, Writer::Batch);
            }
            if self.slots.is_replaceable(block) {
                self.leave(block, Leave::Evicted);
            }
        }
    }

    /// Forgets every page. Counters and the clock stay.
    pub(super) fn clear(&mut self) {
        let clock = self.list.freed_page_clock();
        self.list = LruList::new(*self.list.rules());
        self.list.set_freed_page_clock(clock);
        let frames = self.size_pages.saturating_sub(self.misc_pages);
        let frames = u32::try_from(frames).unwrap_or(u32::MAX - 1);
        self.slots = Slots::new(frames as usize);
        self.table = PageTable::with_room_for(frames as usize);
        self.free = (0..frames).rev().map(BlockNo).collect();
        self.retired.clear();
        self.withdraw_pages = 0;
        self.dirty_pages = 0;
        self.try_lru_scan = true;
    }
}
