//! A pool over a simulated store whose pages say which they are.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, reason = "shared by several tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use innopool_buf::store::SimStore;
use innopool_buf::{Background, Clock, Log, Lsn, ManualClock, PageId, PlainPages, Pool};
use innopool_buf::{PageSize, PoolError, PoolOptions, Promotion, ReadAheadSettings};

/// A page of the one tablespace.
pub(crate) fn page(number: u32) -> PageId {
    PageId::new(1, number)
}

/// What the store has in a page at first: its number, at the end; zeroes before.
pub(crate) fn filled(page: PageId) -> Vec<u8> {
    filled_of(page, PageSize::KIB_16)
}

/// The same, for any page size.
pub(crate) fn filled_of(page: PageId, size: PageSize) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&page.page_no.to_be_bytes());
    bytes
}

/// A log that is durable as far as it was asked to be, unless it is told to fail.
#[derive(Debug, Default)]
pub(crate) struct TestLog {
    current: AtomicU64,
    durable: AtomicU64,
    failing: AtomicBool,
}

impl TestLog {
    pub(crate) fn fail(&self, failing: bool) {
        self.failing.store(failing, Ordering::Relaxed);
    }

    pub(crate) fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn advance(&self) -> Lsn {
        Lsn(self.current.fetch_add(1, Ordering::AcqRel) + 1)
    }
}

impl Log for TestLog {
    fn current_lsn(&self) -> Lsn {
        Lsn(self.current.load(Ordering::Acquire))
    }

    fn durable_lsn(&self) -> Lsn {
        self.durable()
    }

    fn make_durable(&self, lsn: Lsn) -> Result<(), String> {
        if self.failing.load(Ordering::Relaxed) {
            return Err("the log's disk is full".to_owned());
        }
        self.durable.fetch_max(lsn.0, Ordering::AcqRel);
        Ok(())
    }
}

/// A pool, and what it stands on.
pub(crate) struct Rig {
    pub(crate) pool: Pool,
    pub(crate) store: Arc<SimStore>,
    pub(crate) log: Arc<TestLog>,
    pub(crate) durable_log: Arc<TestLog>,
    pub(crate) clock: ManualClock,
}

impl Rig {
    /// A pool of `pages` frames over a tablespace 1 of `store_pages`, in which nothing happens by itself.
    pub(crate) fn new(pages: u64, store_pages: u32) -> Rig {
        Rig::with(pages, store_pages, |_| {})
    }

    pub(crate) fn with(pages: u64, store_pages: u32, set: impl Fn(&mut PoolOptions)) -> Rig {
        try_with(pages, store_pages, set).unwrap()
    }
}

pub(crate) fn try_with(
    pages: u64,
    store_pages: u32,
    set: impl Fn(&mut PoolOptions),
) -> Result<Rig, PoolError> {
    let clock = ManualClock::new();
    let mut options = PoolOptions {
        size_bytes: pages * PageSize::KIB_16.bytes() as u64,
        background: Background::Manual,
        promotion: Promotion::Exact,
        read_ahead: ReadAheadSettings::OFF,
        clock: Clock::Manual(clock.clone()),
        ..PoolOptions::default()
    };
    let made_for = options.page_size;
    set(&mut options);
    // A test of a page size sets the pool's size too; one that only sets the page size wants the store to differ.
    let fits = options.size_bytes == pages * options.page_size.bytes() as u64;
    let page_size = if fits { options.page_size } else { made_for };
    let store = Arc::new(SimStore::new(page_size, 1));
    store.create_space(1, store_pages);
    for number in 0..store_pages {
        store.poke(page(number), &filled_of(page(number), page_size)).unwrap();
    }
    let log = Arc::new(TestLog::default());
    let pool = Pool::new(options, store.clone(), log.clone(), Arc::new(PlainPages))?;
    Ok(Rig { pool, store, durable_log: log.clone(), log, clock })
}
