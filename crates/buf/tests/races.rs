//! What one thread does while another is in the middle of something, each time in the order that hurts.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod pool_common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Weak};
use std::time::Duration;

use innopool_buf::store::{Operation, PageStore, SimStore, StoreError};
use innopool_buf::{Background, Hint, Lsn, PageId, PageSize, PlainPages, Pool, PoolOptions};
use innopool_buf::{PoolError, Promotion, ReadAheadSettings};
use pool_common::{Rig, TestLog, page};

/// A store whose syncs take as long as the test likes.
struct SlowSync {
    store: SimStore,
    entered: Barrier,
    left: Barrier,
    slow: AtomicBool,
}

impl PageStore for SlowSync {
    fn page_size(&self) -> PageSize {
        self.store.page_size()
    }

    fn space_pages(&self, space: u32) -> Result<u32, StoreError> {
        self.store.space_pages(space)
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        self.store.read(page, frame)
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        self.store.write(page, frame)
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        self.store.start(batch);
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        if self.slow.swap(false, Ordering::AcqRel) {
            self.entered.wait();
            self.left.wait();
        }
        self.store.sync(space)
    }
}

#[test]
fn a_checkpoint_waits_for_a_sync_that_another_thread_has_begun() {
    let store = Arc::new(SlowSync {
        store: SimStore::new(PageSize::KIB_16, 1),
        entered: Barrier::new(2),
        left: Barrier::new(2),
        slow: AtomicBool::new(true),
    });
    store.store.create_space(1, 10);
    let options = PoolOptions {
        size_bytes: 16 << 14,
        background: Background::Manual,
        read_ahead: ReadAheadSettings::OFF,
        ..PoolOptions::default()
    };
    let log = Arc::new(TestLog::default());
    let pool = Pool::new(options, store.clone(), log.clone(), Arc::new(PlainPages)).unwrap();
    let mut guard = pool.get_exclusive(page(1), Hint::Normal).unwrap();
    guard[0] = 7;
    let lsn = log.advance();
    guard.mark_dirty(lsn, lsn).unwrap();
    drop(guard);
    std::thread::scope(|scope| {
        scope.spawn(|| pool.flush_all().unwrap());
        store.entered.wait();
        // The page is written, clean, and not durable: its sync has not happened.
        let checkpoint = scope.spawn(|| {
            let lsn = pool.checkpoint_lsn().unwrap();
            (lsn, store.store.peek_durable(page(1)).unwrap()[0])
        });
        std::thread::sleep(Duration::from_millis(50));
        store.left.wait();
        let (lsn, durable) = checkpoint.join().unwrap();
        assert!(lsn >= Lsn(1));
        assert_eq!(durable, 7, "changes before the checkpoint {lsn:?} are durable");
    });
}

/// Changes a page as soon as it is written: a writer that never rests.
#[test]
fn a_flush_ends_though_pages_go_on_being_changed() {
    const CHANGES_MOST: usize = 1000;
    let rig = Rig::new(64, 100);
    let pool = Arc::new(rig.pool);
    let (weak, log): (Weak<Pool>, _) = (Arc::downgrade(&pool), rig.log.clone());
    let changes = Arc::new(AtomicUsize::new(0));
    let counted = changes.clone();
    rig.store.on_write(Box::new(move |page, _| {
        if counted.fetch_add(1, Ordering::Relaxed) < CHANGES_MOST
            && let Some(pool) = weak.upgrade()
        {
            let mut guard = pool.get_exclusive(page, Hint::Normal).unwrap();
            guard[0] = guard[0].wrapping_add(1);
            let lsn = log.advance();
            guard.mark_dirty(lsn, lsn).unwrap();
        }
    }));
    for number in 0..10 {
        let mut guard = pool.get_exclusive(page(number), Hint::Normal).unwrap();
        let lsn = rig.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
    }
    assert_eq!(pool.flush_all().unwrap(), 10, "each page that was dirty, once");
    assert_eq!(changes.load(Ordering::Relaxed), 10);
    assert_eq!(pool.stats().dirty_pages, 10, "and what came after is kept");
}

#[test]
fn a_flush_that_waits_for_a_writer_does_not_starve_him() {
    let rig = Rig::with(16, 100, |options| {
        options.exhausted_after = Duration::from_secs(3);
        options.promotion = Promotion::Batched;
        // One copy at a time, too.
        options.writes_in_flight_max = 1;
    });
    let change = |number: u32| {
        let mut guard = rig.pool.get_exclusive(page(number), Hint::Normal).unwrap();
        guard[0] += 1;
        let lsn = rig.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
        guard
    };
    let held = change(0);
    (1..16).for_each(|number| drop(change(number)));
    std::thread::scope(|scope| {
        let flush = scope.spawn(|| rig.pool.flush_all());
        // Long enough for the flush to wait for page 0; if it is not, the test passes for nothing.
        std::thread::sleep(Duration::from_millis(50));
        let next = rig.pool.get_shared(page(50), Hint::Normal);
        let error: Option<PoolError> = next.err();
        drop(held);
        flush.join().unwrap().unwrap();
        assert!(error.is_none(), "a holder of a latch finds a frame: {error:?}");
    });
    assert_eq!(rig.store.peek(page(0)).unwrap()[0], 1);
}
