//! The page cleaner: keeps frames free before they are asked for, and the log from filling up.
//!
//! A pass, once a second and whenever somebody finds no free frame, has two parts. The **LRU batch** restores each
//! instance's reserve of free frames from the tail of its list: clean pages are evicted, dirty ones written and then
//! evicted. The **flush-list batch** writes the pages with the oldest changes, as many as adaptive flushing asks for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use innopool_policy::blocks::Blocks;
use innopool_policy::list::Cursor;
use innopool_policy::reserve::ReserveState;

use crate::error::PoolError;
use crate::flush::{Batch, Busy, CHOOSE_MAX};
use crate::frame::table::LruLinks;
use crate::inner::Inner;
use crate::instance::Instance;
use crate::sync::Ordering;

/// Time from one pass to the next while nobody calls.
const PASS: Duration = Duration::from_secs(1);

/// Pages that are looked at under one hold of the LRU lock, so that no other thread waits long for it.
const HOLD_PAGES: u64 = 256;

impl Inner {
    /// The page cleaner thread.
    pub(crate) fn run_cleaner(self: Arc<Inner>) {
        let mut last_full_pass = Instant::now();
        while !self.stopping.load(Ordering::Acquire) {
            let limit = PASS.saturating_sub(last_full_pass.elapsed());
            let called = self.cleaner.wait(limit);
            if self.stopping.load(Ordering::Acquire) {
                return;
            }
            let full = !called || last_full_pass.elapsed() >= PASS;
            // An error leaves its pages dirty; they are tried again in the next pass, and whoever needs them written
            // (flush_to, a checkpoint) gets the error itself.
            let _ = self.clean(full, false);
            if full {
                last_full_pass = Instant::now();
            }
        }
    }

    /// One pass. Only a full one writes from the flush list. With `wait`, waits for what it writes.
    pub(crate) fn clean(self: &Arc<Inner>, full: bool, wait: bool) -> Result<(), PoolError> {
        let mut result = Ok(());
        for instance in &self.instances {
            result = result.and(self.clean_instance(instance, wait));
        }
        if full {
            result = result.and(self.flush_adaptively(wait));
            for instance in &self.instances {
                instance.io_history.lock().end_interval(instance.io_pages());
            }
        }
        result
    }
}

/// What an LRU batch is to do, and how far it has come.
struct LruBatch {
    /// Pages it may still evict or write.
    left: u64,
    /// Stop when there are so many free frames.
    free_enough: u64,
    /// Stop when the list is so short.
    list_min_len: u64,
    done: bool,
}

impl Inner {
    /// Restores the reserve of free frames of one instance; with `wait`, waits for what had to be written for it.
    pub(crate) fn clean_instance(
        self: &Arc<Inner>,
        instance: &Instance,
        wait: bool,
    ) -> Result<(), PoolError> {
        let reserve = self.reserve_of(instance);
        let lru = instance.lru.lock();
        let state = ReserveState {
            free_pages: lru.free.len() as u64,
            lru_pages: lru.list.len_pages(),
            // A shrink makes its own room.
            withdraw_pages: 0,
            try_lru_scan: lru.try_scan,
        };
        drop(lru);
        let batch = LruBatch {
            left: reserve.batch_max_pages(&state),
            free_enough: reserve.free_target_pages(&state),
            list_min_len: reserve.lru_min_len_pages,
            done: !reserve.wants_pass(&state),
        };
        self.run_lru_batch(instance, batch, wait)
    }

    /// Evicts `pages` pages from the tail, however short the list, and waits for what had to be written for it.
    pub(crate) fn make_room(
        self: &Arc<Inner>,
        instance: &Instance,
        pages: u64,
    ) -> Result<(), PoolError> {
        let batch =
            LruBatch { left: pages, free_enough: u64::MAX, list_min_len: 0, done: pages == 0 };
        self.run_lru_batch(instance, batch, true)
    }

    fn run_lru_batch(
        self: &Arc<Inner>,
        instance: &Instance,
        mut batch: LruBatch,
        wait: bool,
    ) -> Result<(), PoolError> {
        let writes = Batch::new(self);
        let mut lru = instance.lru.lock();
        self.drain_promotions(instance, &mut lru);
        let tail = lru.list.tail();
        lru.list.set_cursor(Cursor::Cleaner, tail);
        instance.show(&lru);
        drop(lru);
        let mut result = Ok(());
        while !batch.done && result.is_ok() {
            let chosen = self.continue_lru_batch(instance, &mut batch);
            if !chosen.is_empty() {
                result = self.write_chosen(&writes, &chosen, Busy::Skip, true);
            }
        }
        if wait {
            result = result.and(writes.wait().map(|_| ()));
        }
        instance.lru.lock().try_scan = true;
        instance.freed.notify_all();
        result
    }

    /// Looks at the next pages towards the head, evicts the clean ones and returns those that must be written.
    fn continue_lru_batch(&self, instance: &Instance, batch: &mut LruBatch) -> Vec<u32> {
        let links = LruLinks(self.frames());
        let mut chosen = Vec::new();
        let mut lru = instance.lru.lock();
        for _ in 0..HOLD_PAGES {
            let free = lru.free.len() as u64 + chosen.len() as u64;
            let Some(block) = lru.list.cursor(Cursor::Cleaner).filter(|_| {
                batch.left > 0
                    && free < batch.free_enough
                    && (lru.list.len_pages() > batch.list_min_len || free == 0)
            }) else {
                batch.done = true;
                break;
            };
            lru.list.set_cursor(Cursor::Cleaner, links.prev(block));
            if self.try_evict(instance, &mut lru, block.0) {
                batch.left -= 1;
            } else if self.choose_for_write(block.0, true) {
                batch.left -= 1;
                chosen.push(block.0);
                if chosen.len() == CHOOSE_MAX {
                    break;
                }
            }
        }
        instance.show(&lru);
        instance.freed.notify_all();
        chosen
    }
}
