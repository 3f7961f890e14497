//! One instance: a list, its free frames, its dirty pages, its counters.
//!
//! Frame number `f` belongs to instance `f mod instances`, so the last frames of the pool, which go when it shrinks, are
//! spread evenly. A page belongs to the instance that its tablespace and the upper bits of its number hash
//! to, so a read-ahead area of 64 pages is always in one instance.
//!
//! # Locks
//!
//! `lru` covers the list and the free frames; `flush` the flush list. Neither is ever taken while the other is held, and no
//! page latch is waited for under either (rule 4).

use std::collections::HashMap;

use crossbeam_queue::ArrayQueue;
use innopool_policy::blocks::BlockNo;
use innopool_policy::list::{Enter, LruList};
use innopool_policy::promotion::{PoolClock, SettledFrom};
use innopool_policy::rules::ListRules;

use crate::counters::{Counter, Counters};
use crate::error::PoolError;
use crate::flush_list::FlushList;
use crate::frame::Frame;
use crate::frame::table::LruLinks;
use crate::frame::word::Phase;
use crate::io_history::IoHistory;
use crate::sync::{AtomicU64, Condvar, Mutex, Ordering};

/// Notes of pages to be made young that an instance keeps at most.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const PROMOTIONS_MAX: usize = 256;
#[cfg(any(feature = "loom", feature = "shuttle"))]
const PROMOTIONS_MAX: usize = 1;

pub(crate) struct Instance {
    /// The list and the free frames.
    pub(crate) lru: Mutex<Lru>,
    /// Told, with `lru`, when frames have become free.
    pub(crate) freed: Condvar,
    /// Dirty pages by the LSN of their first change.
    pub(crate) flush: Mutex<FlushList>,
    /// Pages that were accessed and shall move to the head.
    pub(crate) promotions: ArrayQueue<u32>,
    /// Why the page in a `Failed` frame could not be read.
    pub(crate) failed: Mutex<HashMap<u32, PoolError>>,
    pub(crate) counters: Counters,
    /// Reads that are posted and not done.
    pub(crate) pending_reads: AtomicU64,
    /// Writes that the store has and has not completed: of pages to be evicted, and of pages that stay.
    pub(crate) pending_lru_writes: AtomicU64,
    pub(crate) pending_list_writes: AtomicU64,
    pub(crate) io_history: Mutex<IoHistory>,
    /// Copies of what `lru` covers, for readers without the lock.
    shown: Shown,
}

#[derive(Debug)]
struct Shown {
    freed_page_clock: AtomicU64,
    /// The bits of a [`SettledFrom`].
    settled_from: AtomicU64,
    size_pages: AtomicU64,
    free_pages: AtomicU64,
    lru_pages: AtomicU64,
    old_pages: AtomicU64,
}

/// What the LRU lock covers.
pub(crate) struct Lru {
    pub(crate) list: LruList,
    /// Free frames, taken from the end: a freed frame is used again first, while its bytes are in the processor's cache.
    pub(crate) free: Vec<u32>,
    /// Whether a thread without a free frame should look for a clean page at the tail (`try_LRU_scan`).
    pub(crate) try_scan: bool,
    /// Frames of this instance that are in the pool, withdrawn ones not counted.
    pub(crate) size_pages: u64,
    /// Frames from this number on are being withdrawn: freed, they leave the pool.
    pub(crate) withdraw_from: u32,
    /// Frames withdrawn so far by the resize that runs.
    pub(crate) withdrawn: Vec<u32>,
}

impl Instance {
    pub(crate) fn new(rules: ListRules) -> Instance {
        let clock = PoolClock { freed_page_clock: 0, size_pages: 0 };
        Instance {
            lru: Mutex::new(Lru {
                list: LruList::new(rules),
                free: Vec::new(),
                try_scan: true,
                size_pages: 0,
                withdraw_from: u32::MAX,
                withdrawn: Vec::new(),
            }),
            freed: Condvar::new(),
            flush: Mutex::new(FlushList::default()),
            promotions: ArrayQueue::new(PROMOTIONS_MAX),
            failed: Mutex::new(HashMap::new()),
            counters: Counters::new(),
            pending_reads: AtomicU64::new(0),
            pending_lru_writes: AtomicU64::new(0),
            pending_list_writes: AtomicU64::new(0),
            io_history: Mutex::new(IoHistory::new()),
            shown: Shown {
                freed_page_clock: AtomicU64::new(0),
                settled_from: AtomicU64::new(SettledFrom::new(&rules, clock).to_bits()),
                size_pages: AtomicU64::new(0),
                free_pages: AtomicU64::new(0),
                lru_pages: AtomicU64::new(0),
                old_pages: AtomicU64::new(0),
            },
        }
    }

    /// What the promotion rule wants to know of the instance.
    #[inline]
    pub(crate) fn clock(&self) -> PoolClock {
        PoolClock {
            freed_page_clock: self.shown.freed_page_clock.load(Ordering::Relaxed),
            size_pages: self.shown.size_pages.load(Ordering::Relaxed),
        }
    }

    /// Which pages an access surely leaves where they are.
    #[inline]
    pub(crate) fn settled_from(&self) -> SettledFrom {
        SettledFrom::from_bits(self.shown.settled_from.load(Ordering::Relaxed))
    }

    /// Writes under way of the kind that evicts its page afterwards, or of the other.
    pub(crate) fn pending_writes(&self, then_evict: bool) -> &AtomicU64 {
        if then_evict { &self.pending_lru_writes } else { &self.pending_list_writes }
    }

    /// Pages read and written since the pool was made.
    pub(crate) fn io_pages(&self) -> u64 {
        let (read, written) = (Counter::PagesRead, Counter::PagesWritten);
        self.counters.sum(read).wrapping_add(self.counters.sum(written))
    }

    pub(crate) fn free_pages(&self) -> u64 {
        self.shown.free_pages.load(Ordering::Relaxed)
    }

    pub(crate) fn lru_pages(&self) -> u64 {
        self.shown.lru_pages.load(Ordering::Relaxed)
    }

    pub(crate) fn old_pages(&self) -> u64 {
        self.shown.old_pages.load(Ordering::Relaxed)
    }

    pub(crate) fn size_pages(&self) -> u64 {
        self.shown.size_pages.load(Ordering::Relaxed)
    }

    /// Shows what the lock covers to readers without it. Called before the lock is given up by whoever changed it.
    pub(crate) fn show(&self, lru: &Lru) {
        let shown = &self.shown;
        let clock =
            PoolClock { freed_page_clock: lru.list.freed_page_clock(), size_pages: lru.size_pages };
        let settled_from = SettledFrom::new(lru.list.rules(), clock);
        shown.freed_page_clock.store(clock.freed_page_clock, Ordering::Relaxed);
        shown.size_pages.store(clock.size_pages, Ordering::Relaxed);
        shown.settled_from.store(settled_from.to_bits(), Ordering::Relaxed);
        shown.free_pages.store(lru.free.len() as u64, Ordering::Relaxed);
        shown.lru_pages.store(lru.list.len_pages(), Ordering::Relaxed);
        shown.old_pages.store(lru.list.old_len_pages(), Ordering::Relaxed);
    }

    /// Puts a frame that is being loaded or created into the list.
    pub(crate) fn enter(&self, frames: &[Frame], frame: u32, enter: Enter) {
        let mut lru = self.lru.lock();
        lru.list.insert(&mut LruLinks(frames), BlockNo(frame), enter);
        frames[frame as usize].set_listed(true);
        self.show(&lru);
    }

    /// Takes a frame out of the list and counts it as one that left the pool.
    pub(crate) fn leave(&self, lru: &mut Lru, frames: &[Frame], frame: u32) {
        lru.list.remove(&mut LruLinks(frames), BlockNo(frame));
        frames[frame as usize].set_listed(false);
        lru.list.tick();
    }

    /// Gives a frame in phase `Free` back: to the free list, or out of the pool.
    pub(crate) fn give_free(&self, lru: &mut Lru, frames: &[Frame], frame: u32) {
        if frame >= lru.withdraw_from {
            let step = Phase::Free.step(Phase::Withdrawn);
            frames[frame as usize].state.fetch_add(step, Ordering::AcqRel);
            lru.withdrawn.push(frame);
        } else {
            lru.free.push(frame);
        }
    }
}
