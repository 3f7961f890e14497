//! A whole pool without bytes: promotion, scans, snapshots and sizes, each against what the server's
//! rules say in numbers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::time::Duration;

use innopool_policy::promotion::Verdict;
use innopool_policy::read_ahead::ReadAheadSettings;
use innopool_policy::replay::{
    BufferPool, Found, GetOutcome, LruRow, PoolConfig, ReserveKeeping, RowOrder,
};
use innopool_policy::rules::ListRules;
use innopool_policy::scale::Scale;
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

/// A pool of 600 pages in which one page was evicted, so that accesses are judged.
fn judging() -> BufferPool {
    let mut pool = pool(Variant::Mysql80, 600);
    fill(&mut pool, 0..601, ms(1));
    assert_eq!(pool.freed_page_clock(0), Some(1));
    pool
}

#[test]
fn nothing_is_judged_before_the_first_eviction() {
    let mut pool = pool(Variant::Mysql80, 600);
    fill(&mut pool, 0..600, ms(1));
    fill(&mut pool, 0..600, ms(5000));
    let stats = pool.stats();
    assert_eq!((stats.made_young, stats.not_made_young), (0, 0));
    assert_eq!(pool.freed_page_clock(0), Some(0));

    // The miss that evicts is itself judged: it adds one "not young".
    let outcome = get(&mut pool, page(600), ms(5000));
    assert_eq!(outcome.verdict, Some(Verdict::NotYoung));
    assert_eq!(pool.stats().not_made_young, 1);
    assert_eq!(pool.stats().evicted, 1);
}

#[test]
fn every_demand_miss_counts_one_not_young() {
    let mut pool = judging();
    let before = pool.stats();
    fill(&mut pool, 1000..1100, ms(2));
    let delta = pool.stats() - before;
    assert_eq!(delta.demand_reads, 100);
    assert_eq!(delta.not_made_young, 100);
    assert_eq!(delta.made_young, 0);
}

#[test]
fn page_read_ahead_needs_two_accesses_a_second_apart() {
    let mut pool = judging();
    assert_eq!(pool.read_ahead([page(700)]), Ok(1));
    assert_eq!(pool.recency(page(700)).unwrap().first_access, None);

    let verdict = |pool: &mut BufferPool, at| get(pool, page(700), ms(at)).verdict.unwrap();
    assert_eq!(verdict(&mut pool, 10_000), Verdict::NotYoung, "the first access only stamps");
    assert_eq!(verdict(&mut pool, 10_999), Verdict::NotYoung);
    assert_eq!(verdict(&mut pool, 11_000), Verdict::MakeYoung);
    assert_eq!(pool.pages_from_head(0).next(), Some(page(700)));
    assert_eq!(pool.stats().made_young, 1);
    let first = pool.recency(page(700)).unwrap().first_access;
    assert_eq!(first, Some(ms(10_000)), "the first access is never refreshed");
}

/// 999.2 ms that look like 1000 when both moments are cut to milliseconds.
#[test]
fn servers_differ_in_the_resolution_of_the_second() {
    let verdict = |variant| {
        let mut pool = pool(variant, 600);
        fill(&mut pool, 0..601, ms(1));
        pool.get(page(700), Fetch::Normal, Time::from_micros(1_000_900)).unwrap();
        pool.get(page(700), Fetch::Normal, Time::from_micros(2_000_100)).unwrap().verdict.unwrap()
    };
    assert_eq!(verdict(Variant::Mysql57), Verdict::MakeYoung);
    assert_eq!(verdict(Variant::Mysql80), Verdict::MakeYoung);
    assert_eq!(verdict(Variant::Mariadb), Verdict::MakeYoung);
    assert_eq!(verdict(Variant::Mysql84), Verdict::NotYoung);
}

/// 600 pages: the window is 600 * 646 / 4096 = 94 evictions.
#[test]
fn young_page_moves_again_after_a_quarter_of_the_young_sublist() {
    let mut pool = judging();
    let hot = page(0xffff);
    pool.create(hot, ms(1)).unwrap();
    let stamp = pool.recency(hot).unwrap().freed_page_clock;
    assert_eq!(Some(stamp), pool.freed_page_clock(0));
    fill(&mut pool, 1000..1093, ms(2));
    assert_eq!(get(&mut pool, hot, ms(9000)).verdict, Some(Verdict::Stay), "93 evictions");
    fill(&mut pool, 1093..1094, ms(2));
    assert_eq!(get(&mut pool, hot, ms(9000)).verdict, Some(Verdict::MakeYoung), "94");
    assert_eq!(pool.stats().made_young, 0, "MySQL counts pages that were old");
}

#[test]
fn mariadb_counts_every_move() {
    let mut pool = pool(Variant::Mariadb, 600);
    fill(&mut pool, 0..601, ms(1));
    let hot = page(0xffff);
    pool.create(hot, ms(1)).unwrap();
    fill(&mut pool, 1000..1094, ms(2));
    assert_eq!(get(&mut pool, hot, ms(9000)).verdict, Some(Verdict::MakeYoung));
    assert_eq!(pool.stats().made_young, 1);
}

const POOL_PAGES: u32 = 8192;
const HOT_PAGES: u32 = 2000;

/// How many of 2000 young pages are left after a scan of ten pools, four accesses a page.
fn hot_pages_after_scan(variant: Variant, old_blocks_time: Duration) -> usize {
    let mut config = config(variant, u64::from(POOL_PAGES));
    config.rules.list = config.rules.list.with_old_blocks_time(old_blocks_time);
    hot_pages_after_scan_of(config)
}

fn hot_pages_after_scan_of(mut config: PoolConfig) -> usize {
    config.reserve = ReserveKeeping::EveryMiss;
    let mut pool = BufferPool::new(config).unwrap();
    fill(&mut pool, 10_000..10_000 + 2 * POOL_PAGES, ms(1));
    fill(&mut pool, 0..HOT_PAGES, ms(2));
    fill(&mut pool, 0..HOT_PAGES, ms(3000));
    assert!((0..HOT_PAGES).all(|hot| pool.contains(page(hot))));
    for scanned in 0..10 * POOL_PAGES {
        let now = Time::from_micros(4_000_000 + 100 * u64::from(scanned));
        for _ in 0..4 {
            get(&mut pool, page(100_000 + scanned), now);
        }
    }
    pool.assert_consistent();
    (0..HOT_PAGES).filter(|&hot| pool.contains(page(hot))).count()
}

#[test]
fn scan_of_ten_pools_leaves_the_young_pages() {
    for variant in [Variant::Mysql57, Variant::Mysql80, Variant::Mysql84, Variant::Mariadb] {
        assert_eq!(hot_pages_after_scan(variant, Duration::from_secs(1)), 2000, "{variant:?}");
    }
}

/// With read-ahead, as long as the page cleaner keeps the list at one length.
#[test]
fn scan_with_read_ahead_leaves_them_too() {
    let config = PoolConfig::new(Variant::Mysql80, u64::from(POOL_PAGES));
    assert_eq!(hot_pages_after_scan_of(config), 2000);
}

/// A reserve that is refilled in batches makes the list grow and shrink by hundreds of pages. While it
/// grows, the boundary moves over pages just read ahead: they are young before anybody accessed them,
/// and their first access finds a young page whose stamp is 0, and moves it. So the scan gets in.
#[test]
fn scan_with_read_ahead_gets_in_where_the_list_breathes() {
    let config = PoolConfig::new(Variant::Mariadb, u64::from(POOL_PAGES));
    assert_eq!(hot_pages_after_scan_of(config), 0);
}

#[test]
fn same_scan_without_old_blocks_time_takes_them_all() {
    assert_eq!(hot_pages_after_scan(Variant::Mysql80, Duration::ZERO), 0);
}

#[test]
fn same_scan_takes_them_all_from_the_baselines() {
    assert_eq!(hot_pages_after_scan(Variant::Lru, Duration::from_secs(1)), 0);
    assert_eq!(hot_pages_after_scan(Variant::Clock, Duration::from_secs(1)), 0);
}

#[test]
fn scan_mode_moves_nothing_where_the_server_knows_it() {
    let verdict = |variant| {
        let mut pool = pool(variant, 600);
        fill(&mut pool, 0..601, ms(1));
        pool.get(page(600), Fetch::Scan, ms(5000)).unwrap().verdict
    };
    assert_eq!(verdict(Variant::Mysql57), Some(Verdict::MakeYoung));
    assert_eq!(verdict(Variant::Mysql80), None);
    assert_eq!(verdict(Variant::Mysql84), None);
}

#[test]
fn peeking_reads_and_moves_nothing_but_is_counted() {
    let mut pool = judging();
    let absent = pool.get(page(5000), Fetch::PeekIfInPool, ms(5000)).unwrap();
    assert_eq!(absent.found, Found::Absent);
    assert!(!pool.contains(page(5000)));
    let there = pool.get(page(600), Fetch::PeekIfInPool, ms(5000)).unwrap();
    assert_eq!((there.found, there.verdict), (Found::Hit, None));
    let stats = pool.stats();
    assert_eq!(stats.read_requests, 601 + 2);
    assert_eq!(stats.demand_reads, 601);
}

#[test]
fn only_requests_that_find_the_page_are_counted_of_the_optimistic() {
    let mut pool = judging();
    let before = pool.stats().read_requests;
    assert_eq!(pool.optimistic_get(page(0), ms(2)), None, "evicted");
    assert!(!pool.try_get(page(0)));
    assert_eq!(pool.hashed_get(page(0), ms(2)), None);
    assert_eq!(pool.stats().read_requests, before);
    assert_eq!(pool.optimistic_get(page(600), ms(2000)).unwrap().verdict, Some(Verdict::MakeYoung));
    assert!(pool.try_get(page(600)));
    assert!(pool.hashed_get(page(600), ms(2)).is_some());
    assert_eq!(pool.stats().read_requests, before + 3);
}

#[test]
fn dropping_a_page_ticks_the_eviction_clock() {
    let mut pool = pool(Variant::Mysql80, 600);
    fill(&mut pool, 0..600, ms(1));
    pool.mark_dirty(page(3)).unwrap();
    assert!(pool.drop_page(page(3)));
    assert!(!pool.drop_page(page(3)));
    assert_eq!(pool.freed_page_clock(0), Some(1));
    let stats = pool.stats();
    assert_eq!((stats.dropped, stats.evicted, stats.pages_written), (1, 0, 0));
    assert_eq!(pool.occupancy().dirty_pages, 0);
    assert_eq!(get(&mut pool, page(599), ms(2)).verdict, Some(Verdict::NotYoung), "judged now");
}

#[test]
fn import_and_export_are_the_same_rows() {
    let rows: Vec<LruRow> = (0..700_u32)
        .map(|row| LruRow {
            page: page(row * 3),
            is_old: row >= 450,
            first_access: (row % 7 != 0).then(|| ms(u64::from(row))),
            freed_page_clock: if row < 450 { 5000 - u64::from(row) } else { 0 },
            is_dirty: row % 11 == 0,
        })
        .collect();
    let mut pool = pool(Variant::Mysql84, 800);
    let report = pool.import(&rows, RowOrder::HotFirst);
    assert_eq!((report.placed, report.left_out, report.marks_changed), (700, 0, 0));
    pool.set_freed_page_clock(0, 5000);
    pool.assert_consistent();
    assert_eq!(pool.export(0).collect::<Vec<_>>(), rows);

    let cold_first: Vec<LruRow> = rows.iter().rev().copied().collect();
    pool.import(&cold_first, RowOrder::ColdFirst);
    assert_eq!(pool.export(0).collect::<Vec<_>>(), rows);
}

#[test]
fn import_into_a_smaller_pool_leaves_out_the_coldest() {
    let rows: Vec<LruRow> = (0..700_u32)
        .map(|row| LruRow {
            page: page(row),
            is_old: row >= 450,
            first_access: None,
            freed_page_clock: 0,
            is_dirty: false,
        })
        .collect();
    let mut pool = pool(Variant::Mysql84, 600);
    let report = pool.import(&rows, RowOrder::HotFirst);
    assert_eq!((report.placed, report.left_out), (600, 100));
    assert!(pool.contains(page(599)) && !pool.contains(page(600)));
}

#[test]
fn resize_keeps_the_order_of_the_pages_that_stay() {
    let mut pool = pool(Variant::Mysql80, 2000);
    fill(&mut pool, 0..2000, ms(1));
    let order: Vec<PageId> = pool.pages_from_head(0).collect();
    assert_eq!(pool.resize(1200), Ok(0));
    pool.assert_consistent();
    assert_eq!(pool.pages_from_head(0).collect::<Vec<_>>(), order[..1200]);
    assert_eq!(pool.occupancy().total_pages, 1200);
    assert_eq!(pool.resize(3000), Ok(0));
    pool.assert_consistent();
    assert_eq!(pool.occupancy().free_pages, 1800);
    assert_eq!(pool.pages_from_head(0).collect::<Vec<_>>(), order[..1200]);
}

#[test]
fn shrink_owes_what_is_pinned_and_collects_it_later() {
    let mut pool = pool(Variant::Mysql80, 1000);
    fill(&mut pool, 0..1000, ms(1));
    (0..1000).for_each(|pinned| pool.pin(page(pinned)).unwrap());
    assert_eq!(pool.resize(900), Ok(100));
    pool.assert_consistent();
    (0..1000).for_each(|pinned| pool.unpin(page(pinned)).unwrap());
    fill(&mut pool, 2000..2001, ms(2));
    pool.assert_consistent();
    let occupancy = pool.occupancy();
    assert_eq!((occupancy.data_pages, occupancy.free_pages), (900, 0));
}

#[test]
fn frames_used_otherwise_hold_no_pages() {
    let mut config = config(Variant::Mysql80, 1000);
    config.misc_pages = 100;
    let mut pool = BufferPool::new(config).unwrap();
    fill(&mut pool, 0..1000, ms(1));
    let occupancy = pool.occupancy();
    assert_eq!(
        (occupancy.total_pages, occupancy.data_pages, occupancy.misc_pages),
        (1000, 900, 100)
    );
}

#[test]
fn pages_of_an_area_share_their_instance() {
    let mut config = config(Variant::Mysql84, 8 * 512);
    config.instances = 8;
    let pool = BufferPool::new(config).unwrap();
    for area in 0..200 {
        let first = pool.instance_of(page(area * 64));
        assert!((0..64).all(|offset| pool.instance_of(page(area * 64 + offset)) == first));
    }
    // ((9 << 20) + 9 + 3) ^ 1653893711 = 1644456515, which leaves 3 when divided by 8.
    assert_eq!(pool.instance_of(page(3 * 64)), 3);
}

/// A tenth of everything counted in pages: the second stays a second.
#[test]
fn sampled_pool_has_scaled_numbers_and_an_unscaled_second() {
    let tenth = Scale::new(0.1).unwrap();
    let config = tenth.pool(PoolConfig::new(Variant::Mysql80, 81_920));
    assert_eq!(config.size_pages, 8192);
    assert_eq!(
        config.rules.list,
        ListRules {
            old_min_len_pages: 51,
            old_tolerance_pages: 2,
            non_old_min_len_pages: 1,
            ..Variant::Mysql80.rules().list
        }
    );
    assert_eq!(config.rules.reserve.scan_depth_pages, 102);
    assert_eq!(config.rules.reserve.lru_min_len_pages, 26);
    assert_eq!(config.rules.reserve.tail_scan_pages, 10);
    assert_eq!(config.read_ahead, ReadAheadSettings::OFF);
    assert_eq!(tenth.count_in_all(123), 1230.0);
    assert!(
        Scale::new(0.0).is_none() && Scale::new(1.1).is_none() && Scale::new(f64::NAN).is_none()
    );
}

#[test]
fn growth_pays_back_first_what_a_shrink_still_owes() {
    let mut pool = pool(Variant::Mysql80, 1000);
    fill(&mut pool, 0..1000, ms(1));
    (0..1000).for_each(|pinned| pool.pin(page(pinned)).unwrap());
    assert_eq!(pool.resize(900), Ok(100));
    assert_eq!(pool.resize(1040), Ok(0));
    pool.assert_consistent();
    assert_eq!((pool.occupancy().data_pages, pool.occupancy().free_pages), (1000, 40));
}
