//! Finding a free frame, by the server's steps (`buf_LRU_get_free_block`) but one: a thread here never writes a dirty page
//! itself, it waits for the page cleaner to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use innopool_policy::blocks::Blocks;
use innopool_policy::list::Cursor;

use crate::counters::Counter;
use crate::error::PoolError;
use crate::frame::table::LruLinks;
use crate::frame::word::DIRTY;
use crate::inner::Inner;
use crate::instance::{Instance, Lru};
use crate::options::Background;

/// How long a round of waiting lasts at most. A page that is unpinned tells nobody, so the list is looked at again.
const ROUND: Duration = Duration::from_millis(10);

impl Inner {
    /// Takes a frame off the free list, evicting a page if there is none, waiting if that cannot be.
    ///
    /// # Errors
    ///
    /// [`PoolError::Exhausted`] when nothing came free within `exhausted_after`.
    pub(crate) fn take_free(self: &Arc<Inner>, instance: &Instance) -> Result<u32, PoolError> {
        let mut since: Option<Instant> = None;
        loop {
            if let Some(frame) = self.take_free_now(instance, since.is_some()) {
                return Ok(frame);
            }
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            if waited >= self.options.exhausted_after {
                return Err(self.exhausted(instance, waited));
            }
            instance.counters.count(Counter::WaitFree);
            self.wait_for_free(instance);
        }
    }

    /// Takes a free frame if there is one, or if a clean page can be evicted: from the last 100 pages of the list, or
    /// from all of it when `everywhere`.
    pub(crate) fn take_free_now(&self, instance: &Instance, everywhere: bool) -> Option<u32> {
        let mut lru = instance.lru.lock();
        self.drain_promotions(instance, &mut lru);
        if lru.free.is_empty() && (everywhere || lru.try_scan) {
            self.evict_one(instance, &mut lru, everywhere);
            if !everywhere && lru.free.is_empty() {
                // The tail is all dirty or pinned. Nobody looks again before a flush has ended.
                lru.try_scan = false;
            }
        }
        let frame = lru.free.pop();
        instance.show(&lru);
        frame
    }

    /// Evicts the coldest page that can be, looking from where the last walk stopped.
    fn evict_one(&self, instance: &Instance, lru: &mut Lru, everywhere: bool) {
        let most = if everywhere { u64::MAX } else { self.options.reserve.tail_scan_pages };
        let links = LruLinks(self.frames());
        let mut at = lru.list.resume_cursor(&links, Cursor::Eviction);
        let mut looked = 0;
        while let Some(block) = at.filter(|_| looked < most) {
            // The cursor stands on the next page while this one may leave the list.
            at = links.prev(block);
            lru.list.set_cursor(Cursor::Eviction, at);
            let accessed = self.frame(block.0).was_accessed();
            if self.try_evict(instance, lru, block.0) {
                if !accessed {
                    instance.counters.count(Counter::ReadAheadEvicted);
                }
                if !lru.free.is_empty() {
                    return;
                }
            }
            looked += 1;
        }
        if everywhere {
            lru.list.set_cursor(Cursor::Eviction, None);
        }
    }

    fn wait_for_free(self: &Arc<Inner>, instance: &Instance) {
        match self.options.background {
            Background::Threads => {
                self.cleaner.ring();
                let lru = instance.lru.lock();
                if lru.free.is_empty() {
                    drop(instance.freed.wait_for(lru, ROUND));
                }
            }
            Background::Manual => {
                // An error of the store is counted; the page stays dirty, and the limit of time ends the wait.
                let _ = self.clean_instance(instance, true);
                if instance.free_pages() == 0 {
                    crate::sync::thread::yield_now();
                }
            }
        }
    }

    #[cold]
    fn exhausted(&self, instance: &Instance, waited: Duration) -> PoolError {
        let lru = instance.lru.lock();
        let (mut pinned, mut dirty) = (0, 0);
        for block in lru.list.from_head(&LruLinks(self.frames())) {
            let word = self.frame(block.0).word();
            pinned += u64::from(word.pins() > 0);
            dirty += u64::from(word.has(DIRTY));
        }
        PoolError::Exhausted {
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            size_pages: lru.size_pages,
            pinned_pages: pinned,
            dirty_pages: dirty,
            advice: match &*self.write_error.lock() {
                Some(why) => format!("they cannot be written: {why}"),
                None => "hold fewer pages at once, or make the pool larger".to_owned(),
            },
        }
    }
}
