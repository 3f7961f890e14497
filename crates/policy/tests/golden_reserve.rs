//! Free frames: the page cleaner's reserve, and what a thread does that finds none.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{
    BufferPool, DirtyPages, Found, GetOutcome, PoolConfig, ReserveKeeping,
};
use innopool_policy::{Fetch, PageId, Time, Variant};

fn page(page_no: u32) -> PageId {
    PageId::new(9, page_no)
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Read-ahead off, so that only what a test does happens.
fn config(variant: Variant, pages: u64) -> PoolConfig {
    PoolConfig { read_ahead: ReadAheadSettings::OFF, ..PoolConfig::new(variant, pages) }
}

fn pool(variant: Variant, pages: u64) -> BufferPool {
    BufferPool::new(config(variant, pages)).unwrap()
}

fn get(pool: &mut BufferPool, page: PageId, now: Time) -> GetOutcome {
    pool.get(page, Fetch::Normal, now).unwrap()
}

fn fill(pool: &mut BufferPool, pages: std::ops::Range<u32>, now: Time) {
    for page_no in pages {
        get(pool, page(page_no), now);
    }
}

#[test]
fn page_cleaner_keeps_the_scan_depth_free() {
    let mut pool = pool(Variant::Mysql80, 8192);
    fill(&mut pool, 0..8192, ms(1));
    assert_eq!(pool.occupancy().free_pages, 0);
    let work = pool.cleaner_pass();
    assert_eq!((work.evicted_pages, work.written_pages), (1024, 0));
    let occupancy = pool.occupancy();
    assert_eq!((occupancy.free_pages, occupancy.data_pages), (1024, 7168));
    assert_eq!(pool.cleaner_pass().evicted_pages, 0, "the reserve is whole");
}

/// The coldest go: the list was filled at the head until 512, then behind the boundary.
#[test]
fn page_cleaner_evicts_from_the_tail() {
    let mut pool = pool(Variant::Mysql80, 8192);
    fill(&mut pool, 0..8192, ms(1));
    let order: Vec<PageId> = pool.pages_from_head(0).collect();
    pool.cleaner_pass();
    assert_eq!(pool.pages_from_head(0).collect::<Vec<_>>(), order[..7168]);
}

#[test]
fn page_cleaner_leaves_a_list_of_256_pages() {
    let mut pool = pool(Variant::Mysql80, 400);
    fill(&mut pool, 0..400, ms(1));
    assert_eq!(pool.cleaner_pass().evicted_pages, 144);
    assert_eq!(pool.occupancy().data_pages, 256);
}

/// MariaDB's depth is 1536: it begins below 768 free frames and then fills up.
#[test]
fn mariadb_cleaner_begins_below_half_its_depth() {
    let mut pool = pool(Variant::Mariadb, 8192);
    fill(&mut pool, 0..8192 - 768, ms(1));
    assert_eq!(pool.cleaner_pass().evicted_pages, 0, "768 free");
    fill(&mut pool, 8192 - 768..8192 - 767, ms(1));
    assert_eq!(pool.cleaner_pass().evicted_pages, 1536 - 767);
    assert_eq!(pool.occupancy().free_pages, 1536);
}

#[test]
fn page_cleaner_that_is_never_late_keeps_the_reserve_after_every_miss() {
    let mut config = config(Variant::Mysql84, 4096);
    config.reserve = ReserveKeeping::EveryMiss;
    let mut pool = BufferPool::new(config).unwrap();
    fill(&mut pool, 0..10_000, ms(1));
    assert_eq!(pool.occupancy().free_pages, 1024);
    assert_eq!(pool.stats().wait_free, 0);
}

#[test]
fn only_a_thread_that_evicts_counts_unread_read_ahead() {
    let mut by_cleaner = pool(Variant::Mysql80, 2048);
    by_cleaner.read_ahead((0..2048).map(page)).unwrap();
    by_cleaner.cleaner_pass();
    assert_eq!(by_cleaner.stats().evicted, 1024);
    assert_eq!(by_cleaner.stats().read_ahead_evicted, 0);

    let mut by_thread = pool(Variant::Mysql80, 2048);
    by_thread.read_ahead((0..2048).map(page)).unwrap();
    fill(&mut by_thread, 5000..5010, ms(1));
    assert_eq!(by_thread.stats().evicted, 10);
    assert_eq!(by_thread.stats().read_ahead_evicted, 10);
}

#[test]
fn thread_that_finds_only_dirty_pages_writes_one_and_counts_a_wait() {
    let mut pool = pool(Variant::Mysql80, 600);
    fill(&mut pool, 0..600, ms(1));
    (0..600).for_each(|dirty| pool.mark_dirty(page(dirty)).unwrap());
    let coldest = pool.pages_from_head(0).last().unwrap();
    fill(&mut pool, 700..701, ms(2));
    let stats = pool.stats();
    assert_eq!((stats.wait_free, stats.pages_written, stats.evicted), (1, 1, 1));
    assert_eq!((stats.write_requests, stats.pages_flushed), (600, 0), "not in a batch");
    assert!(!pool.contains(coldest));
    pool.assert_consistent();
}

/// The first search ends after 100 pages, and the next one is not even begun: the single-page flush
/// takes the clean page.
#[test]
fn first_search_looks_at_a_hundred_pages() {
    let evict_with_dirty_tail = |dirty: usize| {
        let mut pool = pool(Variant::Mysql80, 600);
        fill(&mut pool, 0..600, ms(1));
        let cold: Vec<PageId> = pool.pages_from_head(0).collect();
        cold.iter().rev().take(dirty).for_each(|&page| pool.mark_dirty(page).unwrap());
        fill(&mut pool, 700..701, ms(2));
        (pool.stats().wait_free, pool.stats().pages_written)
    };
    assert_eq!(evict_with_dirty_tail(99), (0, 0));
    assert_eq!(evict_with_dirty_tail(100), (1, 1), "writes the coldest, though a clean one exists");
}

#[test]
fn vain_search_is_not_repeated_before_the_next_batch() {
    let mut pool = pool(Variant::Mysql80, 600);
    fill(&mut pool, 0..600, ms(1));
    let coldest: Vec<PageId> = pool.pages_from_head(0).collect::<Vec<_>>()[500..].to_vec();
    coldest.iter().for_each(|&page| pool.pin(page).unwrap());
    fill(&mut pool, 700..701, ms(2));
    assert_eq!(pool.stats().wait_free, 1, "100 pinned pages: a vain search");
    coldest.iter().for_each(|&page| pool.unpin(page).unwrap());
    fill(&mut pool, 701..702, ms(2));
    assert_eq!(pool.stats().wait_free, 2, "not searched, though the tail is clean again");
    pool.cleaner_pass();
    fill(&mut pool, 702..703 + 1024, ms(2));
    assert_eq!(pool.stats().wait_free, 2);
}

#[test]
fn mariadb_thread_waits_for_the_page_cleaner() {
    let mut pool = pool(Variant::Mariadb, 600);
    fill(&mut pool, 0..600, ms(1));
    (0..600).for_each(|dirty| pool.mark_dirty(page(dirty)).unwrap());
    fill(&mut pool, 700..701, ms(2));
    let stats = pool.stats();
    assert_eq!(stats.wait_free, 1);
    assert_eq!(stats.pages_written, 600 - 256, "a batch down to the shortest list");
    assert_eq!(stats.pages_flushed, stats.pages_written);
}

#[test]
fn pool_of_pinned_pages_is_an_error_that_changes_nothing() {
    for variant in Variant::ALL {
        let mut pool = pool(variant, 300);
        fill(&mut pool, 0..300, ms(1));
        (0..300).for_each(|pinned| pool.pin(page(pinned)).unwrap());
        let before: Vec<PageId> = pool.pages_from_head(0).collect();
        let error = pool.get(page(999), Fetch::Normal, ms(2)).unwrap_err();
        assert_eq!((error.data_pages, error.total_pages), (300, 300), "{variant:?}");
        assert_eq!(pool.pages_from_head(0).collect::<Vec<_>>(), before, "{variant:?}");
        pool.unpin(page(5)).unwrap();
        assert_eq!(get(&mut pool, page(999), ms(3)).found, Found::Read, "{variant:?}");
        assert!(!pool.contains(page(5)));
        pool.assert_consistent();
    }
}

#[test]
fn cleaner_passes_over_dirty_pages_when_told() {
    let mut config = config(Variant::Mysql80, 2048);
    config.dirty = DirtyPages::Skip;
    let mut pool = BufferPool::new(config).unwrap();
    fill(&mut pool, 0..2048, ms(1));
    let coldest: Vec<PageId> = pool.pages_from_head(0).collect::<Vec<_>>()[2000..].to_vec();
    coldest.iter().for_each(|&page| pool.mark_dirty(page).unwrap());
    let work = pool.cleaner_pass();
    assert_eq!((work.evicted_pages, work.written_pages), (1024, 0));
    assert!(coldest.iter().all(|&page| pool.contains(page)));
}

/// Everything else is dirty and stays: the page cleaner would have only the page just read to evict,
/// but whoever reads it holds it.
#[test]
fn page_just_read_is_not_evicted_under_its_reader() {
    let mut config = config(Variant::Mysql80, 600);
    config.reserve = ReserveKeeping::EveryMiss;
    config.dirty = DirtyPages::Skip;
    let mut pool = BufferPool::new(config).unwrap();
    for page_no in 0..400 {
        assert_eq!(get(&mut pool, page(page_no), ms(1)).found, Found::Read);
        pool.mark_dirty(page(page_no)).unwrap();
    }
    get(&mut pool, page(400), ms(1));
    assert!(pool.contains(page(400)));
    pool.assert_consistent();
}
