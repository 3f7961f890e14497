//! How a thread comes by a free frame (`buf_LRU_get_free_block`).
//!
//! The free list first; the page cleaner sees to it that this is the usual end. Else the thread looks
//! for a clean page near the tail, then in the whole list, and at last writes a page itself or waits for
//! the page cleaner. A real thread repeats that until it succeeds; here nothing else happens meanwhile,
//! so two rounds tell everything.

use super::config::DirtyPages;
use super::instance::{Instance, Leave, Writer};
use super::outcome::NoFreeFrame;
use super::slots::mark;
use crate::blocks::BlockNo;
use crate::list::Cursor;
use crate::variant::LastResort;

impl Instance {
    /// Takes a free frame, evicting a page if need be.
    pub(crate) fn take_frame(&mut self) -> Result<BlockNo, NoFreeFrame> {
        if let Some(block) = self.free.pop() {
            return Ok(block);
        }
        if self.try_lru_scan {
            if let Some(block) = self.evict_and_take(self.reserve.tail_scan_pages) {
                return Ok(block);
            }
            // Others need not look in vain; the page cleaner's next batch ends this.
            self.try_lru_scan = false;
        }
        if let Some(block) = self.last_resort_and_take(false) {
            return Ok(block);
        }
        if let Some(block) = self.evict_and_take(u64::MAX) {
            return Ok(block);
        }
        self.last_resort_and_take(true).ok_or(NoFreeFrame {
            instance: self.number,
            data_pages: self.list.len_pages(),
            total_pages: self.size_pages,
        })
    }

    /// Looks at most at `reach_pages` pages from where the last search stopped, or the tail, for one to
    /// evict. A shrink under way may take the frame: then goes on.
    fn evict_and_take(&mut self, reach_pages: u64) -> Option<BlockNo> {
        while self.evict_for_thread(reach_pages) {
            if let Some(block) = self.free.pop() {
                return Some(block);
            }
        }
        None
    }

    fn evict_for_thread(&mut self, reach_pages: u64) -> bool {
        if self.is_clock() {
            return self.evict_by_clock();
        }
        let mut at = self.list.resume_cursor(&self.slots, Cursor::Eviction);
        let mut seen_pages = 0;
        while let Some(block) = at
            && seen_pages < reach_pages
        {
            at = self.hotter(block);
            self.list.set_cursor(Cursor::Eviction, at);
            if self.slots.is_replaceable(block) {
                if self.slots.first_access(block).is_none() {
                    self.stats.read_ahead_evicted += 1;
                }
                self.leave(block, Leave::Evicted);
                return true;
            }
            seen_pages += 1;
        }
        false
    }

    /// Turns the hand until it finds a page that was not accessed since it last came by: at most twice
    /// around, for after one turn no page is marked.
    fn evict_by_clock(&mut self) -> bool {
        for _ in 0..self.list.len_pages().saturating_mul(2) {
            let Some(block) = self.list.tail() else { return false };
            if self.slots.is_replaceable(block) && !self.slots.has(block, mark::REFERENCED) {
                self.leave(block, Leave::Evicted);
                return true;
            }
            self.pass_over(block);
        }
        false
    }

    /// A round that finds nothing clean ends in this, and counts as a wait. `searched_all` is whether
    /// the round went through the whole list.
    fn last_resort_and_take(&mut self, searched_all: bool) -> Option<BlockNo> {
        match self.reserve.last_resort {
            LastResort::SinglePageFlush => self.flush_single_page(),
            LastResort::WaitForCleaner => {
                // What the page cleaner cannot evict from a short list, its flush list batch cleans. A
                // thread that has not seen the whole list may still find a page there that is clean.
                if self.cleaner_batch(DirtyPages::Write).total() == 0 && searched_all {
                    self.flush_single_page();
                }
            }
        }
        self.stats.wait_free += 1;
        self.free.pop()
    }

    /// Evicts the first page from the tail that can be, having written it if it is dirty
    /// (`buf_flush_single_page_from_LRU`).
    fn flush_single_page(&mut self) {
        let mut at = self.list.resume_cursor(&self.slots, Cursor::SinglePage);
        while let Some(block) = at {
            at = self.hotter(block);
            self.list.set_cursor(Cursor::SinglePage, at);
            if self.slots.pins(block) == 0 {
                self.write(block, Writer::Thread);
                self.leave(block, Leave::Evicted);
                return;
            }
        }
    }
}
