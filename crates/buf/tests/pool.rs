//! The pool over a simulated store, one thread: what a get, a creation, a flush, an eviction and a resize do.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]

mod pool_common;

use std::time::Duration;

use innopool_buf::store::PageStore;
use innopool_buf::store::sim::{Failure, Pages};
use innopool_buf::{Hint, Lsn, PageSize, PoolError, ResizeControl};
use pool_common::{Rig, filled, page};

#[test]
fn a_page_is_read_once_and_then_hit() {
    let rig = Rig::new(64, 1000);
    for _ in 0..3 {
        let guard = rig.pool.get_shared(page(7), Hint::Normal).unwrap();
        assert_eq!(&*guard, &filled(page(7))[..]);
    }
    let stats = rig.pool.stats();
    assert_eq!((stats.gets, stats.demand_reads, stats.pages_read), (3, 1, 1));
    assert_eq!((stats.data_pages, stats.free_pages), (1, 63));
}

#[test]
fn a_change_reaches_the_store_by_a_flush_and_not_before() {
    let rig = Rig::new(64, 1000);
    let mut guard = rig.pool.get_exclusive(page(3), Hint::Normal).unwrap();
    guard[100] = 0xAB;
    guard.mark_dirty(Lsn(10), Lsn(20)).unwrap();
    drop(guard);
    assert_eq!(rig.pool.oldest_lsn(), Some(Lsn(10)));
    assert_ne!(rig.store.peek(page(3)).unwrap()[100], 0xAB);
    assert_eq!(rig.pool.flush_to(Lsn(9)).unwrap(), 0, "its change begins later");
    assert_eq!(rig.pool.flush_to(Lsn(10)).unwrap(), 1);
    assert_eq!(rig.store.peek_durable(page(3)).unwrap()[100], 0xAB);
    assert_eq!(rig.pool.oldest_lsn(), None);
    assert_eq!(rig.pool.stats().dirty_pages, 0);
}

#[test]
fn a_small_pool_serves_more_pages_than_it_holds_and_loses_no_change() {
    for translation in [innopool_buf::Translation::Array, innopool_buf::Translation::Sharded] {
        let rig = Rig::with(64, 5000, |options| options.translation = translation);
        for round in 0..3u8 {
            for number in 0..500 {
                let mut guard = rig.pool.get_exclusive(page(number), Hint::Normal).unwrap();
                assert_eq!(guard[8], round, "page {number} has the last round's change");
                guard[8] = round + 1;
                let lsn = rig.log.advance();
                guard.mark_dirty(lsn, lsn).unwrap();
            }
        }
        rig.pool.flush_all().unwrap();
        for number in 0..500 {
            assert_eq!(rig.store.peek_durable(page(number)).unwrap()[8], 3);
        }
        let stats = rig.pool.stats();
        assert_eq!(stats.size_pages, 64);
        assert!(stats.evicted >= 1400, "{stats:?}");
    }
}

#[test]
fn every_page_size_works() {
    for size in PageSize::ALL {
        let rig = Rig::with(32, 100, |options| {
            options.page_size = size;
            options.size_bytes = 32 * size.bytes() as u64;
        });
        for number in 0..100 {
            let guard = rig.pool.get_shared(page(number), Hint::Normal).unwrap();
            assert_eq!(guard.len(), size.bytes());
        }
    }
}

#[test]
fn a_pool_whose_pages_are_all_held_says_so_in_time() {
    let rig = Rig::with(16, 100, |options| options.exhausted_after = Duration::from_millis(50));
    let held: Vec<_> =
        (0..16).map(|number| rig.pool.get_shared(page(number), Hint::Normal).unwrap()).collect();
    match rig.pool.get_shared(page(16), Hint::Normal) {
        Err(PoolError::Exhausted { size_pages, pinned_pages, waited_ms, .. }) => {
            assert_eq!((size_pages, pinned_pages), (16, 16));
            assert!((50..5000).contains(&waited_ms), "{waited_ms}");
        }
        other => panic!("{other:?}"),
    }
    drop(held);
    rig.pool.get_shared(page(16), Hint::Normal).unwrap();
}

#[test]
fn a_failed_read_is_told_and_leaves_nothing_behind() {
    let rig = Rig::new(64, 100);
    rig.store.fail_next(Failure::ReadError, Pages::All);
    let error = rig.pool.get_shared(page(5), Hint::Normal).unwrap_err();
    assert!(error.to_string().contains("1:5"), "{error}");
    let stats = rig.pool.stats();
    assert_eq!((stats.data_pages, stats.free_pages, stats.pending_reads), (0, 64, 0));
    assert_eq!(&*rig.pool.get_shared(page(5), Hint::Normal).unwrap(), &filled(page(5))[..]);
}

#[test]
fn a_page_beyond_the_end_is_an_error() {
    let rig = Rig::new(64, 100);
    let error = rig.pool.get_shared(page(100), Hint::Normal).unwrap_err();
    assert!(error.to_string().contains("100"), "{error}");
}

#[test]
fn a_failed_sync_stops_all_writing_for_good() {
    let rig = Rig::new(64, 100);
    let mut guard = rig.pool.get_exclusive(page(1), Hint::Normal).unwrap();
    guard[0] = 1;
    guard.mark_dirty(Lsn(5), Lsn(6)).unwrap();
    drop(guard);
    rig.store.fail_next(Failure::SyncError, Pages::All);
    assert!(matches!(rig.pool.flush_all(), Err(PoolError::Poisoned(_))));
    assert!(matches!(rig.pool.flush_all(), Err(PoolError::Poisoned(_))), "also the second time");
    assert!(matches!(rig.pool.checkpoint_lsn(), Err(PoolError::Poisoned(_))));
    let refused = rig.pool.get_exclusive(page(1), Hint::Normal).unwrap_err();
    assert!(matches!(refused, PoolError::Poisoned(_)), "{refused}");
    rig.pool.get_shared(page(2), Hint::Normal).unwrap();
}

#[test]
fn a_failed_write_keeps_the_page_dirty_and_the_next_flush_writes_it() {
    let rig = Rig::new(64, 100);
    let mut guard = rig.pool.get_exclusive(page(1), Hint::Normal).unwrap();
    guard[0] = 9;
    guard.mark_dirty(Lsn(5), Lsn(6)).unwrap();
    drop(guard);
    rig.store.fail_next(Failure::WriteError, Pages::All);
    assert!(matches!(rig.pool.flush_all(), Err(PoolError::Store(_))));
    assert_eq!(rig.pool.oldest_lsn(), Some(Lsn(5)));
    assert_eq!(rig.pool.flush_all().unwrap(), 1);
    assert_eq!(rig.store.peek_durable(page(1)).unwrap()[0], 9);
}

#[test]
fn a_created_page_is_zeroed_and_need_not_be_in_the_store() {
    let rig = Rig::new(64, 10);
    let mut guard = rig.pool.create(page(500)).unwrap();
    assert!(guard.iter().all(|&byte| byte == 0));
    guard[0] = 1;
    guard.mark_dirty(Lsn(1), Lsn(2)).unwrap();
    drop(guard);
    let stats = rig.pool.stats();
    assert_eq!((stats.pages_created, stats.pages_read), (1, 0));
    assert_eq!(rig.pool.get_shared(page(500), Hint::Normal).unwrap()[0], 1);
}

#[test]
fn prefetched_pages_are_hits() {
    let rig = Rig::new(64, 100);
    let told = rig.pool.prefetch((0..20).map(page), Hint::ReadAhead);
    assert_eq!((told.started, told.present, told.no_frame), (20, 0, 0));
    for number in 0..20 {
        assert_eq!(
            &*rig.pool.get_shared(page(number), Hint::Normal).unwrap(),
            &filled(page(number))[..]
        );
    }
    let stats = rig.pool.stats();
    assert_eq!((stats.read_ahead, stats.demand_reads, stats.pages_read), (20, 0, 20));
}

#[test]
fn guards_change_into_each_other() {
    let rig = Rig::new(64, 100);
    let update = rig.pool.get_update(page(1), Hint::Normal).unwrap();
    let reader = rig.pool.get_shared(page(1), Hint::Normal).unwrap();
    drop(reader);
    let mut writer = update.upgrade();
    writer[0] = 77;
    writer.mark_dirty(Lsn(1), Lsn(2)).unwrap();
    let update = writer.downgrade();
    assert_eq!(rig.pool.get_shared(page(1), Hint::Normal).unwrap()[0], 77);
    let pinned = update.unlatch();
    assert_eq!(pinned.shared().unwrap()[0], 77);
    pinned.exclusive().unwrap()[1] = 5;
    assert_eq!(pinned.update().unwrap()[1], 5);
    drop(pinned);
    rig.pool.flush_all().unwrap();
    assert_eq!(rig.pool.stats().data_pages, 1);
}

#[test]
fn a_discarded_page_is_not_written() {
    let rig = Rig::new(64, 100);
    let mut guard = rig.pool.get_exclusive(page(1), Hint::Normal).unwrap();
    guard[0] = 9;
    guard.mark_dirty(Lsn(5), Lsn(6)).unwrap();
    drop(guard);
    rig.pool.discard(page(1)).unwrap();
    assert_eq!(rig.pool.flush_all().unwrap(), 0);
    assert_eq!(rig.store.counts().writes, 0);
    assert_eq!(rig.pool.stats().free_pages, 64);
}

#[test]
fn a_pool_grows_and_shrinks_and_keeps_its_hottest_pages() {
    let rig = Rig::with(64, 5000, |options| options.size_max_bytes = 1 << 30);
    let size = |pages: u64| pages * 16384;
    let control = ResizeControl::default();
    let patience = Duration::from_secs(5);
    assert_eq!(rig.pool.resize(size(1000), patience, &control).unwrap(), size(1000));
    for number in 0..900 {
        let mut guard = rig.pool.get_exclusive(page(number), Hint::Normal).unwrap();
        guard[0] = 1;
        let lsn = rig.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
    }
    let before = rig.pool.stats();
    assert_eq!((before.size_pages, before.data_pages, before.dirty_pages), (1000, 900, 900));
    assert_eq!(rig.pool.resize(size(600), patience, &control).unwrap(), size(600));
    let after = rig.pool.stats();
    assert_eq!(after.size_pages, 600);
    assert_eq!(after.data_pages + after.free_pages, 600);
    assert!(after.data_pages >= 590, "no more is lost than must be: {after:?}");
    rig.pool.flush_all().unwrap();
    for number in 0..900 {
        assert_eq!(rig.store.peek_durable(page(number)).unwrap()[0], 1, "page {number}");
        assert_eq!(rig.pool.get_shared(page(number), Hint::Normal).unwrap()[0], 1);
    }
    assert_eq!(rig.pool.resize(size(2000), patience, &control).unwrap(), size(2000));
    assert_eq!(rig.pool.stats().size_pages, 2000);
}

#[test]
fn a_shrink_that_cannot_end_puts_the_old_size_back() {
    let rig = Rig::with(64, 1000, |options| options.size_max_bytes = 1 << 30);
    let held: Vec<_> =
        (0..40).map(|number| rig.pool.get_shared(page(number), Hint::Normal).unwrap()).collect();
    let control = ResizeControl::default();
    let error = rig.pool.resize(16 * 16384, Duration::from_millis(20), &control).unwrap_err();
    assert!(error.to_string().contains("held"), "{error}");
    assert_eq!(rig.pool.size_bytes(), 64 * 16384);
    drop(held);
    let stats = rig.pool.stats();
    assert_eq!(stats.data_pages + stats.free_pages, 64);
    rig.pool.resize(16 * 16384, Duration::from_secs(5), &control).unwrap();
    assert_eq!(rig.pool.stats().size_pages, 16);
}

#[test]
fn a_growth_that_the_machine_has_no_memory_for_is_refused() {
    let rig = Rig::with(64, 1000, |options| options.size_max_bytes = 1 << 45);
    let control = ResizeControl::default();
    let error = rig.pool.resize(1 << 44, Duration::from_secs(1), &control).unwrap_err();
    assert!(matches!(error, PoolError::Memory { .. }), "{error}");
    assert_eq!(rig.pool.stats().size_pages, 64);
    rig.pool.get_shared(page(1), Hint::Normal).unwrap();
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    for (set, name) in [
        (
            Box::new(|o: &mut innopool_buf::PoolOptions| o.instances = 0) as Box<dyn Fn(&mut _)>,
            "instances",
        ),
        (Box::new(|o: &mut innopool_buf::PoolOptions| o.size_bytes = 5), "size_bytes"),
        (Box::new(|o: &mut innopool_buf::PoolOptions| o.size_max_bytes = 16384), "size_max_bytes"),
        (
            Box::new(|o: &mut innopool_buf::PoolOptions| o.max_dirty_pages_pct = f64::NAN),
            "max_dirty_pages_pct",
        ),
        (Box::new(|o: &mut innopool_buf::PoolOptions| o.list.old_ratio = 7), "list.old_ratio"),
        (
            Box::new(|o: &mut innopool_buf::PoolOptions| o.list.old_tolerance_pages = u64::MAX),
            "list.old_tolerance_pages",
        ),
        (Box::new(|o: &mut innopool_buf::PoolOptions| o.page_size = PageSize::KIB_4), "page_size"),
    ] {
        let error = pool_common::try_with(64, 10, set).err().unwrap();
        assert!(error.to_string().starts_with(name), "{error}");
    }
}

#[test]
fn the_store_is_never_asked_to_write_before_the_log_is_durable() {
    let rig = Rig::new(64, 100);
    let mut guard = rig.pool.get_exclusive(page(1), Hint::Normal).unwrap();
    guard[0] = 9;
    guard.mark_dirty(Lsn(5), Lsn(600)).unwrap();
    drop(guard);
    rig.durable_log.fail(true);
    assert!(matches!(rig.pool.flush_all(), Err(PoolError::Log { lsn: Lsn(600), .. })));
    assert_eq!(rig.store.counts().writes, 0);
    rig.durable_log.fail(false);
    assert_eq!(rig.pool.flush_all().unwrap(), 1);
    assert_eq!(rig.durable_log.durable(), Lsn(600));
    assert_eq!(rig.store.counts().writes, 1);
    assert!(rig.store.sync(1).is_ok());
}

#[test]
fn a_pool_that_the_machine_has_no_memory_for_is_refused() {
    let tried = pool_common::try_with(64, 10, |options| {
        options.size_bytes = 1 << 42;
        options.size_max_bytes = 1 << 42;
    });
    let error = tried.err().unwrap();
    assert!(matches!(error, PoolError::Memory { .. }), "{error}");
}

#[test]
fn a_page_that_is_held_is_not_discarded_and_nobody_hangs() {
    let rig = Rig::new(64, 100);
    let held = rig.pool.get_shared(page(1), Hint::Normal).unwrap();
    let refused = rig.pool.discard(page(1)).unwrap_err();
    assert!(matches!(refused, PoolError::InUse(held) if held == page(1)), "{refused}");
    drop(held);
    rig.pool.discard(page(1)).unwrap();
    assert_eq!(rig.pool.stats().data_pages, 0);
}

#[test]
fn an_exhausted_pool_says_why_its_pages_cannot_be_written() {
    let rig = Rig::with(16, 100, |options| options.exhausted_after = Duration::from_millis(50));
    rig.durable_log.fail(true);
    for number in 0..16 {
        let mut guard = rig.pool.get_exclusive(page(number), Hint::Normal).unwrap();
        guard.mark_dirty(Lsn(5), Lsn(600)).unwrap();
    }
    let error = rig.pool.get_shared(page(16), Hint::Normal).unwrap_err();
    assert!(error.to_string().contains("the log's disk is full"), "{error}");
    rig.durable_log.fail(false);
    rig.pool.get_shared(page(16), Hint::Normal).unwrap();
}

#[test]
fn a_cancelled_shrink_does_not_begin() {
    let rig = Rig::new(64, 100);
    let control = ResizeControl::default();
    control.cancel();
    let refused = rig.pool.resize(16 * 16384, Duration::from_secs(1), &control).unwrap_err();
    assert!(matches!(refused, PoolError::Stopped { .. }), "{refused}");
    assert_eq!(rig.pool.stats().size_pages, 64);
}

#[test]
fn the_reserve_leaves_most_of_a_small_pool_to_pages() {
    let rig = Rig::new(1024, 2000);
    for number in 0..1024 {
        drop(rig.pool.get_shared(page(number), Hint::Normal).unwrap());
    }
    rig.pool.clean().unwrap();
    let stats = rig.pool.stats();
    assert_eq!((stats.data_pages, stats.free_pages), (896, 128));
}
