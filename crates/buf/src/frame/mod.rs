//! A frame's descriptor: what the pool knows about the page in a frame.
//!
//! Frames hold bytes and nothing else ([`crate::arena`]); each has a descriptor in a table of its own. The first cache
//! line of a descriptor has all that a hit touches, the second the links of the two lists, which only change
//! under those lists' locks. All fields are atomics, so no reader needs a lock to look; who may *write* each is
//! said beside it.

pub(crate) mod latch;
pub(crate) mod table;
pub(crate) mod word;

use innopool_policy::promotion::{PageRecency, SettledFrom};
use innopool_policy::{PageId, Time};

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use word::Word;

const OLD: u32 = 1;
const LISTED: u32 = 2;

/// What the pool knows about one frame.
#[repr(C, align(128))]
pub(crate) struct Frame {
    /// Phase, pins, latch, dirty, writing.
    pub(crate) state: AtomicU64,
    /// The page: tablespace in the high half. Written by the frame's loader while it is `Free`.
    page: AtomicU64,
    /// First access, in microseconds plus 1; 0 is never. Set once by the first accessor.
    first_access: AtomicU64,
    /// Eviction clock when last put at the head. Under the LRU lock.
    pub(crate) freed_page_clock: AtomicU64,
    /// Whether the page is in the LRU list, and in its old sublist. Under the LRU lock.
    flags: AtomicU32,
    _line: [u32; 7],
    /// Neighbours in the LRU list, plus 1; 0 is none. Under the LRU lock.
    pub(crate) lru_prev: AtomicU32,
    pub(crate) lru_next: AtomicU32,
    /// Neighbours in the flush list, plus 1; 0 is none. Under the flush list's lock.
    pub(crate) flush_prev: AtomicU32,
    pub(crate) flush_next: AtomicU32,
    /// LSN at which the page was first changed since it was last written; meaningful while dirty.
    pub(crate) oldest_lsn: AtomicU64,
    /// LSN up to which the log must be durable before the page is written.
    pub(crate) newest_lsn: AtomicU64,
    /// While a write is under way: LSN of the first change it does not contain; 0 is none.
    pub(crate) redirtied_lsn: AtomicU64,
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const _: () = assert!(
    size_of::<Frame>() == 128 && std::mem::offset_of!(Frame, lru_prev) == 64,
    "a hit touches one cache line, a list operation the other"
);

impl Frame {
    /// A descriptor of a free frame, for tables that are not zeroed memory.
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    pub(crate) fn free() -> Frame {
        Frame {
            state: AtomicU64::new(0),
            page: AtomicU64::new(0),
            first_access: AtomicU64::new(0),
            freed_page_clock: AtomicU64::new(0),
            flags: AtomicU32::new(0),
            _line: [0; 7],
            lru_prev: AtomicU32::new(0),
            lru_next: AtomicU32::new(0),
            flush_prev: AtomicU32::new(0),
            flush_next: AtomicU32::new(0),
            oldest_lsn: AtomicU64::new(0),
            newest_lsn: AtomicU64::new(0),
            redirtied_lsn: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(crate) fn word(&self) -> Word {
        Word(self.state.load(Ordering::Acquire))
    }

    /// The page in the frame. Stable while pinned; otherwise a hint.
    pub(crate) fn page(&self) -> PageId {
        unpack(self.page.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn holds(&self, page: PageId) -> bool {
        self.page.load(Ordering::Relaxed) == pack(page)
    }

    /// Gives the frame, which must be `Free` and in the caller's hands, to `page`.
    pub(crate) fn assign(&self, page: PageId) {
        self.page.store(pack(page), Ordering::Relaxed);
        self.first_access.store(0, Ordering::Relaxed);
        self.freed_page_clock.store(0, Ordering::Relaxed);
        self.oldest_lsn.store(0, Ordering::Relaxed);
        self.newest_lsn.store(0, Ordering::Relaxed);
        self.redirtied_lsn.store(0, Ordering::Relaxed);
    }

    /// When the page was first accessed in this residency.
    #[inline]
    pub(crate) fn first_access(&self) -> Option<Time> {
        self.first_access.load(Ordering::Relaxed).checked_sub(1).map(Time::from_micros)
    }

    /// Stamps the first access; returns whether this was it.
    pub(crate) fn stamp_access(&self, now: Time) -> bool {
        let stamp = now.micros().saturating_add(1);
        self.first_access.compare_exchange(0, stamp, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[inline]
    pub(crate) fn was_accessed(&self) -> bool {
        self.first_access.load(Ordering::Relaxed) != 0
    }

    /// Takes over the access time and clock of `from`, whose page moves here.
    pub(crate) fn inherit(&self, from: &Frame) {
        for (to, from) in [
            (&self.page, &from.page),
            (&self.first_access, &from.first_access),
            (&self.freed_page_clock, &from.freed_page_clock),
            (&self.oldest_lsn, &from.oldest_lsn),
            (&self.newest_lsn, &from.newest_lsn),
            (&self.redirtied_lsn, &from.redirtied_lsn),
        ] {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn is_old(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & OLD != 0
    }

    pub(crate) fn set_old(&self, old: bool) {
        self.set_flag(OLD, old);
    }

    /// Whether the page is in the LRU list: not yet, for a moment, when its load begins, and no more when it fails.
    pub(crate) fn is_listed(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & LISTED != 0
    }

    pub(crate) fn set_listed(&self, listed: bool) {
        self.set_flag(LISTED, listed);
    }

    /// Only the holder of the LRU lock writes flags, so this need not be one atomic step.
    fn set_flag(&self, flag: u32, on: bool) {
        let others = self.flags.load(Ordering::Relaxed) & !flag;
        self.flags.store(if on { others | flag } else { others }, Ordering::Relaxed);
    }

    /// Whether an access surely leaves the page where it is.
    #[inline]
    pub(crate) fn is_settled(&self, from: SettledFrom) -> bool {
        from.is_settled(self.is_old(), self.freed_page_clock.load(Ordering::Relaxed))
    }

    /// What the promotion rule wants to know. The fields are read one by one: a page that moves meanwhile may be
    /// judged by a mixture, as in the server.
    #[inline]
    pub(crate) fn recency(&self) -> PageRecency {
        PageRecency {
            is_old: self.is_old(),
            first_access: self.first_access(),
            freed_page_clock: self.freed_page_clock.load(Ordering::Relaxed),
        }
    }
}

#[inline]
fn pack(page: PageId) -> u64 {
    u64::from(page.space) << 32 | u64::from(page.page_no)
}

fn unpack(packed: u64) -> PageId {
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of the word")]
    PageId::new((packed >> 32) as u32, packed as u32)
}
