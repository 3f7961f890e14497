//! Where a pool starts from, and where it ends: its lists as rows, as a server shows them.
//!
//! `INFORMATION_SCHEMA.INNODB_BUFFER_PAGE_LRU` has a row for each page of a list, coldest first; a dump
//! file has the page numbers alone, hottest first. From either a pool can go on where a server stands,
//! and its own lists come out in the same shape.

use super::BufferPool;
use super::slots::mark;
use crate::blocks::{BlockNo, Blocks};
use crate::page::PageId;
use crate::time::Time;

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LruRow {
    /// The page (`SPACE`, `PAGE_NUMBER`).
    pub page: PageId,
    /// Whether it is in the old sublist (`IS_OLD`).
    pub is_old: bool,
    /// When it was first accessed; `None` when it was not (`ACCESS_TIME`, whose 0 that is).
    pub first_access: Option<Time>,
    /// Eviction clock when it was last put at the head, 0 when it never was (`FREE_PAGE_CLOCK`).
    pub freed_page_clock: u64,
    /// Whether it is modified (`OLDEST_MODIFICATION` is not 0).
    pub is_dirty: bool,
}

/// Which end of the list comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOrder {
    /// The hottest page, as in a dump.
    HotFirst,
    /// The coldest page, as in `INNODB_BUFFER_PAGE_LRU`.
    ColdFirst,
}

/// What became of the rows of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Pages now in the pool.
    pub placed: u64,
    /// Rows left out, the coldest, because the instance has no more frames.
    pub left_out: u64,
    /// Rows left out because the page had been named before.
    pub repeated: u64,
    /// Marks of old and young that contradicted the order, and were changed.
    pub marks_changed: u64,
}

impl BufferPool {
    /// Replaces the pool's contents by `rows`, each in the instance its page belongs to. The order
    /// within an instance is that of the rows; marks, stamps and times are taken as given. Counters and
    /// clocks are left alone: see [`set_freed_page_clock`](BufferPool::set_freed_page_clock).
    ///
    /// Whether every frame is filled is the caller's concern: a pool with a reserve has free ones.
    pub fn import(&mut self, rows: &[LruRow], order: RowOrder) -> ImportReport {
        for instance in &mut self.instances {
            instance.clear();
        }
        let mut report = ImportReport::default();
        match order {
            RowOrder::HotFirst => rows.iter().for_each(|row| self.append(row, &mut report)),
            RowOrder::ColdFirst => rows.iter().rev().for_each(|row| self.append(row, &mut report)),
        }
        for instance in &mut self.instances {
            report.marks_changed += instance.list.settle(&mut instance.slots);
        }
        report
    }

    fn append(&mut self, row: &LruRow, report: &mut ImportReport) {
        let instance = self.instance_mut(row.page);
        if instance.table.get(row.page).is_some() {
            report.repeated += 1;
            return;
        }
        let Some(block) = instance.free.pop() else {
            report.left_out += 1;
            return;
        };
        instance.slots.begin(block, row.page);
        instance.table.insert(row.page, block);
        let (slots, list) = (&mut instance.slots, &mut instance.list);
        list.append(slots, block, row.is_old, row.freed_page_clock);
        slots.set_first_access(block, row.first_access);
        slots.set(block, mark::DIRTY, row.is_dirty);
        instance.dirty_pages += u64::from(row.is_dirty);
        report.placed += 1;
    }

    /// Sets the eviction clock of instance `instance`, to go on from where a server's stands: the
    /// largest `FREE_PAGE_CLOCK` of its pages, or better the evictions counted since. Does nothing when
    /// there is no such instance.
    pub fn set_freed_page_clock(&mut self, instance: usize, clock: u64) {
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.list.set_freed_page_clock(clock);
        }
    }

    /// Lists the rows of instance `instance`, hottest first; none when there is no such instance.
    pub fn export(&self, instance: usize) -> impl Iterator<Item = LruRow> + '_ {
        self.instances.get(instance).into_iter().flat_map(|one| {
            one.list.from_head(&one.slots).map(|block: BlockNo| LruRow {
                page: one.slots.page(block),
                is_old: one.slots.is_old(block),
                first_access: one.slots.first_access(block),
                freed_page_clock: one.slots.freed_page_clock(block),
                is_dirty: one.slots.has(block, mark::DIRTY),
            })
        })
    }
}
