//! The state that all threads of a pool share, and the small steps everything else is made of.

use std::collections::BTreeSet;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use innopool_policy::blocks::BlockNo;
use innopool_policy::page::Fold;
use innopool_policy::rules::ListRules;
use innopool_policy::variant::ReserveRules;
use innopool_policy::{PageId, Time};

use crate::adaptive::Adaptive;
use crate::arena::Arena;
use crate::clock::Clock;
use crate::counters::Counter;
use crate::dump::Warmth;
use crate::error::PoolError;
use crate::format::PageFormat;
use crate::frame::Frame;
use crate::frame::latch::WaitRooms;
use crate::frame::table::{FrameTable, LruLinks};
use crate::frame::word::{Phase, QUEUED, Word};
use crate::instance::{Instance, Lru};
use crate::log::Log;
use crate::options::PoolOptions;
use crate::staging::Staging;
use crate::store::PageStore;
use crate::sync::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, Touched,
};
use crate::translation::PageTable;

/// A reserve is at most this part of an instance's frames.
const RESERVE_SHARE: u64 = 8;

pub(crate) struct Inner {
    pub(crate) options: PoolOptions,
    /// When the pool was made: what the counters count from.
    pub(crate) made_at: Time,
    pub(crate) arena: Arena,
    pub(crate) touched: Touched,
    pub(crate) table: FrameTable,
    pub(crate) pages: PageTable,
    pub(crate) rooms: WaitRooms,
    pub(crate) instances: Box<[Instance]>,
    pub(crate) store: Arc<dyn PageStore>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) format: Arc<dyn PageFormat>,
    pub(crate) staging: Staging,
    /// Frames in the pool.
    pub(crate) size_frames: AtomicU32,
    /// Frames the pool may grow to.
    pub(crate) size_max_frames: u32,
    /// `innodb_old_blocks_pct` as a ratio, and `innodb_old_blocks_time` in milliseconds: both change while serving.
    pub(crate) old_ratio: AtomicU64,
    pub(crate) old_blocks_time_ms: AtomicU64,
    /// Tablespaces with writes that were not synced.
    pub(crate) unsynced: Mutex<BTreeSet<u32>>,
    /// Held while they are synced.
    pub(crate) syncing: Mutex<()>,
    /// Reads and writes that the store has and has not completed.
    pub(crate) in_flight: AtomicUsize,
    pub(crate) poison: OnceLock<Arc<str>>,
    /// Why the last write that was tried failed; `None` when it went well.
    pub(crate) write_error: Mutex<Option<String>>,
    pub(crate) adaptive: Mutex<Adaptive>,
    pub(crate) cleaner: Signal,
    /// Dumps and loads: which run, and what has been loaded.
    pub(crate) warmth: Warmth,
    /// Held by the one resize that may run.
    pub(crate) resizing: Mutex<()>,
    pub(crate) stopping: AtomicBool,
}

/// A bell: rung by whoever needs the page cleaner, heard by it.
pub(crate) struct Signal {
    rung: Mutex<bool>,
    bell: Condvar,
}

impl Signal {
    pub(crate) fn new() -> Signal {
        Signal { rung: Mutex::new(false), bell: Condvar::new() }
    }

    pub(crate) fn ring(&self) {
        *self.rung.lock() = true;
        self.bell.notify_all();
    }

    /// Waits until it rings, at most `limit`. Returns whether it rang.
    pub(crate) fn wait(&self, limit: std::time::Duration) -> bool {
        let mut rung = self.rung.lock();
        if !*rung {
            rung = self.bell.wait_for(rung, limit);
        }
        std::mem::take(&mut *rung)
    }
}

impl Inner {
    #[inline]
    pub(crate) fn frames(&self) -> &[Frame] {
        self.table.all()
    }

    #[inline]
    pub(crate) fn frame(&self, frame: u32) -> &Frame {
        &self.frames()[frame as usize]
    }

    /// The instance of a frame.
    #[inline]
    pub(crate) fn instance_of_frame(&self, frame: u32) -> &Instance {
        let count = self.instances.len();
        let number = if count == 1 { 0 } else { frame as usize % count };
        &self.instances[number]
    }

    /// The number of the instance a page belongs to.
    pub(crate) fn instance_number(&self, page: PageId) -> usize {
        let fold: Fold = self.options.fold;
        if self.instances.len() == 1 { 0 } else { fold.instance_of(page, self.instances.len()) }
    }

    pub(crate) fn instance_of_page(&self, page: PageId) -> &Instance {
        &self.instances[self.instance_number(page)]
    }

    /// The reserve of free frames that an instance keeps: as it is set, but no more than an eighth of its frames, or a small
    /// instance would hold little else.
    pub(crate) fn reserve_of(&self, instance: &Instance) -> ReserveRules {
        let set = self.options.reserve;
        let most = (instance.size_pages() / RESERVE_SHARE).max(1);
        let scan_depth_pages = set.scan_depth_pages.min(most);
        ReserveRules { scan_depth_pages, ..set }
    }

    /// The list's rules as they are set now.
    #[inline]
    pub(crate) fn list_rules(&self) -> ListRules {
        ListRules {
            old_ratio: self.old_ratio.load(Ordering::Relaxed),
            old_blocks_time: std::time::Duration::from_millis(
                self.old_blocks_time_ms.load(Ordering::Relaxed),
            ),
            ..self.options.list
        }
    }

    /// The bytes of a frame, for a holder of any of its latches (rule 3).
    #[inline]
    pub(crate) fn bytes_to_read(&self, frame: u32) -> NonNull<[u8]> {
        self.touched.read(frame);
        self.arena.frame(frame)
    }

    /// The bytes of a frame, for the holder of its X latch (rule 3), or of a free frame taken off its list.
    #[inline]
    pub(crate) fn bytes_to_write(&self, frame: u32) -> NonNull<[u8]> {
        self.touched.written(frame);
        self.arena.frame(frame)
    }

    #[inline]
    pub(crate) fn clock(&self) -> &Clock {
        &self.options.clock
    }

    /// Gives up latches and pins of a frame.
    #[inline]
    pub(crate) fn release(&self, frame: u32, bits: u64) {
        let after = self.rooms.release(self.frame(frame), bits);
        self.recycle_if_failed(frame, after);
    }

    /// Sees to a frame whose word is `after`, now that a pin was given up.
    #[inline]
    pub(crate) fn recycle_if_failed(&self, frame: u32, after: Word) {
        if after.phase() == Phase::Failed {
            self.recycle(frame, after);
        }
    }

    /// Frees the frame of a failed read once the last waiter has let go of it.
    #[cold]
    pub(crate) fn recycle(&self, frame: u32, mut seen: Word) {
        let instance = self.instance_of_frame(frame);
        let state = &self.frame(frame).state;
        // Under the lock of the errors, so that no later failure of the same frame loses its own.
        let mut failed = instance.failed.lock();
        while seen.is_abandoned() {
            let freed = state.compare_exchange_weak(
                seen.0,
                Phase::Free.bits(),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match freed {
                Ok(_) => break,
                // A mark has changed, by a thread without a pin, and we are still the last: or somebody has pinned it
                // meanwhile, who will be here in turn.
                Err(now) => seen = Word(now),
            }
        }
        if !seen.is_abandoned() {
            return;
        }
        failed.remove(&frame);
        drop(failed);
        let mut lru = instance.lru.lock();
        instance.give_free(&mut lru, self.frames(), frame);
        instance.show(&lru);
        instance.freed.notify_all();
    }

    /// Evicts the page in `frame` if it is replaceable; its frame is on the free list then. Under the LRU lock.
    pub(crate) fn try_evict(&self, instance: &Instance, lru: &mut Lru, frame: u32) -> bool {
        let descriptor = self.frame(frame);
        let seen = descriptor.word();
        if !seen.is_replaceable() {
            return false;
        }
        let page = descriptor.page();
        // Succeeds only if nobody has pinned, latched or dirtied the page since it was looked at; from here on nobody can.
        let ours = descriptor
            .state
            .compare_exchange(seen.0, Phase::Free.bits(), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if !ours {
            return false;
        }
        self.pages.clear(page, frame);
        instance.leave(lru, self.frames(), frame);
        instance.give_free(lru, self.frames(), frame);
        instance.counters.count(Counter::Evicted);
        true
    }

    /// Moves to the head every page whose access left a note. Under the LRU lock.
    pub(crate) fn drain_promotions(&self, instance: &Instance, lru: &mut Lru) {
        // No more than the queue holds, or a busy pool would keep us here.
        for _ in 0..instance.promotions.capacity() {
            let Some(frame) = instance.promotions.pop() else { return };
            let descriptor = self.frame(frame);
            let before = descriptor.state.fetch_and(!QUEUED, Ordering::AcqRel);
            // A note whose page has gone has lost its mark with it, so the page of a marked frame is the noted one.
            if Word(before).has(QUEUED) && descriptor.is_listed() {
                self.move_to_head(instance, lru, frame);
            }
        }
    }

    /// Makes a page young. Under the LRU lock; the page must be in the list.
    pub(crate) fn move_to_head(&self, instance: &Instance, lru: &mut Lru, frame: u32) {
        if lru.list.make_young(&mut LruLinks(self.frames()), BlockNo(frame)) {
            instance.counters.count(Counter::MadeYoung);
        }
    }

    /// Refuses to change anything after a failed sync (rule 10).
    pub(crate) fn check_poison(&self) -> Result<(), PoolError> {
        match self.poison.get() {
            Some(why) => Err(PoolError::Poisoned(why.clone())),
            None => Ok(()),
        }
    }

    /// Stops all writing for good.
    pub(crate) fn poison(&self, why: &str) -> PoolError {
        PoolError::Poisoned(self.poison.get_or_init(|| Arc::from(why)).clone())
    }
}
