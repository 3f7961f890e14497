//! Reading pages before they are wanted: at the owner's word, or by read-ahead.
//!
//! A page read so enters the old sublist and has no access time: it is promoted only by an access that comes
//! `innodb_old_blocks_time` after the first. The thread that starts the reads does not wait for them; who gets such a page
//! meanwhile waits on its latch, as for any read.

#![allow(unsafe_code, reason = "frames are lent to the store while it fills them")]

use std::sync::Arc;

use innopool_policy::PageId;
use innopool_policy::promotion::is_young_enough;
use innopool_policy::read_ahead::{self, Area, AreaPage, LinearTarget, Links, ReadAheadContext};

use crate::counters::Counter;
use crate::frame::word::{EXCLUSIVE, PIN};
use crate::get::Hint;
use crate::inner::Inner;
use crate::instance::Instance;
use crate::store::{Completion, Kind, Operation, StoreError};
use crate::sync::{AtomicU64, Ordering};

/// Instances smaller than the smallest pool of a server read nothing ahead: their areas would be so small that every
/// access would look like a scan.
const READ_AHEAD_SIZE_PAGES_MIN: u64 = 320;

/// The reads of one call: each completion ends the load of its frame.
pub(crate) struct Loads {
    pool: Arc<Inner>,
    /// Loads that failed.
    pub(crate) failed: AtomicU64,
    /// Loads that have ended.
    pub(crate) ended: AtomicU64,
}

impl Loads {
    pub(crate) fn new(pool: &Arc<Inner>) -> Arc<Loads> {
        Arc::new(Loads { pool: pool.clone(), failed: AtomicU64::new(0), ended: AtomicU64::new(0) })
    }
}

impl Completion for Loads {
    fn completed(&self, token: u64, result: Result<(), StoreError>) {
        // Tokens are frame numbers, which are 32 bits.
        let frame = u32::try_from(token).unwrap_or(u32::MAX);
        let pool = &*self.pool;
        let page = pool.frame(frame).page();
        let instance = pool.instance_of_frame(frame);
        if pool.end_load(instance, page, frame, result, EXCLUSIVE + PIN).is_err() {
            pool.release(frame, PIN);
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        self.ended.fetch_add(1, Ordering::Release);
        pool.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a call to prefetch came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefetched {
    /// Reads that were started.
    pub started: usize,
    /// Pages that were in the pool, or on their way, already.
    pub present: usize,
    /// Pages that were left out because no frame was free without waiting.
    pub no_frame: usize,
}

impl Inner {
    /// Starts reading those of `pages` that are not in the pool, as far as frames are free or pages at the tail can be
    /// evicted at once.
    pub(crate) fn prefetch(
        self: &Arc<Inner>,
        pages: impl IntoIterator<Item = PageId>,
        hint: Hint,
    ) -> Prefetched {
        self.prefetch_into(&Loads::new(self), pages, hint)
    }

    /// As [`Inner::prefetch`]; completions are counted in `loads`.
    pub(crate) fn prefetch_into(
        self: &Arc<Inner>,
        loads: &Arc<Loads>,
        pages: impl IntoIterator<Item = PageId>,
        hint: Hint,
    ) -> Prefetched {
        self.prefetch_counted(loads, pages, counter_of(hint))
    }

    fn prefetch_counted(
        self: &Arc<Inner>,
        loads: &Arc<Loads>,
        pages: impl IntoIterator<Item = PageId>,
        counter: Counter,
    ) -> Prefetched {
        let mut told = Prefetched::default();
        let mut operations = Vec::new();
        for page in pages {
            if self.pages.find(page).is_some() {
                told.present += 1;
                continue;
            }
            let instance = self.instance_of_page(page);
            let Some(frame) = self.take_free_now(instance, false) else {
                told.no_frame += 1;
                continue;
            };
            if !self.begin_load(instance, page, frame) {
                told.present += 1;
                continue;
            }
            instance.counters.count(counter);
            told.started += 1;
            let bytes = self.bytes_to_write(frame);
            // SAFETY: begin_load has X-latched the frame, and only the completion gives the latch up.
            let read =
                unsafe { Operation::new(Kind::Read, page, bytes, u64::from(frame), loads.clone()) };
            // At once: an operation that is dropped completes too.
            self.in_flight.fetch_add(1, Ordering::AcqRel);
            operations.push(read);
        }
        if told.no_frame > 0 {
            self.cleaner.ring();
        }
        if !operations.is_empty() {
            self.store.start(&mut operations);
        }
        told
    }

    /// After the first access to a latched page: starts a linear read-ahead if the pages around it were accessed in order.
    /// `bytes` are the page's.
    #[cold]
    pub(crate) fn linear_read_ahead(self: &Arc<Inner>, page: PageId, bytes: &[u8]) {
        let instance = self.instance_of_page(page);
        // The cheap test first: only the border pages of an area can start anything.
        let area = read_ahead::area_pages(instance.size_pages());
        let place = page.page_no % area;
        if self.options.read_ahead.threshold == 0
            || (place != 0 && place != area - 1)
            || instance.size_pages() < READ_AHEAD_SIZE_PAGES_MIN
        {
            return;
        }
        let (prev, next) = self.format.neighbours(page, bytes);
        let context = self.read_ahead_context(instance, page);
        let view = |page| self.area_page(instance, page);
        if let Some(next) = read_ahead::linear(&context, page, Links { prev, next }, view) {
            self.prefetch(next.pages(), Hint::ReadAhead);
        }
    }

    /// After a miss: starts a random read-ahead if enough of the pages around it are young.
    pub(crate) fn random_read_ahead(self: &Arc<Inner>, page: PageId) {
        if !self.options.read_ahead.random {
            return;
        }
        let instance = self.instance_of_page(page);
        if instance.size_pages() < READ_AHEAD_SIZE_PAGES_MIN {
            return;
        }
        let context = self.read_ahead_context(instance, page);
        let view = |page| self.area_page(instance, page);
        let area: Option<Area> = read_ahead::random(&context, page, view);
        if let Some(area) = area {
            self.prefetch_counted(&Loads::new(self), area.pages(), Counter::ReadAheadRandom);
        }
    }

    fn read_ahead_context(&self, instance: &Instance, page: PageId) -> ReadAheadContext {
        ReadAheadContext {
            settings: self.options.read_ahead,
            target: LinearTarget::Sibling,
            resolution: self.options.list.time_resolution,
            size_pages: instance.size_pages(),
            pending_reads: instance.pending_reads.load(Ordering::Relaxed),
            file_pages: self.store.space_pages(page.space).ok(),
            page_size_bytes: u32::try_from(self.options.page_size.bytes()).unwrap_or(u32::MAX),
        }
    }

    /// What the triggers want to know of a page: a look without a pin, so it may be wrong about a page that is leaving.
    fn area_page(&self, instance: &Instance, page: PageId) -> Option<AreaPage> {
        let frame = self.frame(self.pages.find(page)?);
        if !frame.holds(page) {
            return None;
        }
        let recency = frame.recency();
        let clock = instance.clock();
        Some(AreaPage {
            first_access: recency.first_access,
            young_enough: is_young_enough(&self.list_rules(), recency.freed_page_clock, clock),
        })
    }
}

fn counter_of(hint: Hint) -> Counter {
    match hint {
        Hint::Normal | Hint::Scan | Hint::ReadAhead => Counter::ReadAhead,
        Hint::Warm => Counter::LoadReads,
    }
}
