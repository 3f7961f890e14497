//! The page cleaner's part of replacement: keeping free frames in hand (`buf_flush_LRU_list_batch`).
//!
//! Per instance and pass it evicts from the tail until as many frames are free as the scan depth says.
//! In a healthy server it is therefore the page cleaner that evicts, ahead of need, and a pool has some
//! thousand pages less in use than it has frames. A dirty page that it meets is written or passed over;
//! here a write is done at once.

use super::config::{DirtyPages, ReserveKeeping};
use super::instance::{Instance, Leave};
use super::outcome::CleanerWork;
use crate::list::Cursor;
use crate::variant::EvictionStart;

impl Instance {
    fn free_pages(&self) -> u64 {
        self.free.len() as u64
    }

    /// Whether a pass is due, by the variant's low-water mark.
    fn wants_pass(&self) -> bool {
        let depth = self.reserve.scan_depth_pages;
        let low_water = match self.reserve.start {
            EvictionStart::BelowDepth => depth,
            EvictionStart::BelowHalfDepth => depth / 2,
        };
        self.withdraw_pages > 0
            || self.free_pages() < low_water
            // A thread searched the tail in vain: only the half-depth rule waits for that.
            || (self.reserve.start == EvictionStart::BelowHalfDepth && !self.try_lru_scan)
    }

    /// One pass, if it is due.
    pub(crate) fn cleaner_pass(&mut self, dirty: DirtyPages) -> CleanerWork {
        if self.wants_pass() {
            self.cleaner_batch(dirty)
        } else {
            self.end_batch(CleanerWork::default())
        }
    }

    /// A pass after a frame was taken, for a page cleaner that is never late.
    pub(crate) fn keep_reserve(&mut self, keeping: ReserveKeeping, dirty: DirtyPages) {
        if keeping == ReserveKeeping::EveryMiss && self.wants_pass() {
            self.cleaner_batch(dirty);
        }
    }

    /// Evicts from the tail until the reserve is whole, the list is short, or the batch is full.
    pub(crate) fn cleaner_batch(&mut self, dirty: DirtyPages) -> CleanerWork {
        let depth = self.reserve.scan_depth_pages;
        let most = self.withdraw_pages.max(depth).min(self.list.len_pages());
        let mut work = CleanerWork::default();
        let mut at = self.list.tail();
        while let Some(block) = at {
            let enough = self.free_pages() >= depth && self.withdraw_pages == 0;
            let short = self.list.len_pages() <= self.reserve.lru_min_len_pages;
            if enough || short || work.total() >= most {
                break;
            }
            let hotter = self.hotter(block);
            self.list.set_cursor(Cursor::Cleaner, hotter);
            if self.slots.is_replaceable(block) {
                self.leave(block, Leave::Evicted);
                work.evicted_pages += 1;
            } else if dirty == DirtyPages::Write && self.slots.pins(block) == 0 {
                self.write(block);
                self.leave(block, Leave::Evicted);
                work.written_pages += 1;
            }
            at = self.list.cursor(Cursor::Cleaner);
        }
        self.list.set_cursor(Cursor::Cleaner, None);
        self.end_batch(work)
    }

    /// The end of a batch lets threads search the tail again.
    fn end_batch(&mut self, work: CleanerWork) -> CleanerWork {
        self.try_lru_scan = true;
        work
    }
}
