//! The page cleaner's part of replacement: keeping free frames in hand (`buf_flush_LRU_list_batch`).
//!
//! Per instance and pass it evicts from the tail until as many frames are free as the scan depth says.
//! In a healthy server it is therefore the page cleaner that evicts, ahead of need, and a pool has some
//! thousand pages less in use than it has frames. A dirty page that it meets is written or passed over;
//! here a write is done at once.

use super::config::{DirtyPages, ReserveKeeping};
use super::instance::{Instance, Leave, Writer};
use super::outcome::CleanerWork;
use crate::list::Cursor;
use crate::reserve::ReserveState;

impl Instance {
    fn reserve_state(&self) -> ReserveState {
        ReserveState {
            free_pages: self.free.len() as u64,
            lru_pages: self.list.len_pages(),
            withdraw_pages: self.withdraw_pages,
            try_lru_scan: self.try_lru_scan,
        }
    }

    fn wants_pass(&self) -> bool {
        self.reserve.wants_pass(&self.reserve_state())
    }

    /// One pass, if it is due.
    pub(crate) fn cleaner_pass(&mut self, dirty: DirtyPages) -> CleanerWork {
        if self.wants_pass() {
            self.cleaner_batch(dirty)
        } else {
            self.end_batch(CleanerWork::default())
        }
    }

    /// A pass after a frame was taken, for a page cleaner that is never late. Even one that finds nothing
    /// to do ends a batch, or a thread that once searched in vain would never search again.
    pub(crate) fn keep_reserve(&mut self, keeping: ReserveKeeping, dirty: DirtyPages) {
        if keeping == ReserveKeeping::EveryMiss {
            self.cleaner_pass(dirty);
        }
    }

    /// Evicts from the tail until the reserve is whole, the list is short, or the batch is full.
    pub(crate) fn cleaner_batch(&mut self, dirty: DirtyPages) -> CleanerWork {
        let most_pages = self.reserve.batch_max_pages(&self.reserve_state());
        let mut work = CleanerWork::default();
        let mut at = self.list.tail();
        while let Some(block) = at {
            if work.total() >= most_pages || !self.reserve.goes_on(&self.reserve_state()) {
                break;
            }
            let hotter = self.hotter(block);
            self.list.set_cursor(Cursor::Cleaner, hotter);
            if self.slots.is_replaceable(block) {
                self.leave(block, Leave::Evicted);
                work.evicted_pages += 1;
            } else if dirty == DirtyPages::Write && self.slots.pins(block) == 0 {
                self.write(block, Writer::Batch);
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
