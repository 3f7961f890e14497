//! When read-ahead starts, and what it reads: each condition of the server's two triggers alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use innopool_policy::read_ahead::{
    Area, AreaPage, LinearTarget, Links, ReadAheadContext, ReadAheadSettings, area_pages, linear,
    random,
};
use innopool_policy::replay::{BufferPool, PoolConfig};
use innopool_policy::rules::TimeResolution;
use innopool_policy::{Fetch, PageId, Time, Variant};

const CONTEXT: ReadAheadContext = ReadAheadContext {
    settings: ReadAheadSettings { threshold: 56, random: true },
    target: LinearTarget::Sibling,
    resolution: TimeResolution::Millis,
    size_pages: 8192,
    pending_reads: 0,
    file_pages: None,
    page_size_bytes: 16_384,
};

const LAST: PageId = PageId::new(7, 127);
const FIRST: PageId = PageId::new(7, 64);

/// All pages accessed, a microsecond apart in ascending order.
fn ascending(page: PageId) -> Option<AreaPage> {
    let time = Time::from_micros(5_000_000 + u64::from(page.page_no));
    Some(AreaPage { first_access: Some(time), young_enough: true })
}

fn at(page_no: u32, millis: impl Fn(u32) -> u64) -> Option<AreaPage> {
    let first_access = Some(Time::from_millis(millis(page_no)));
    Some(AreaPage { first_access, young_enough: true })
}

fn triggers(context: &ReadAheadContext, page: PageId) -> Option<(u32, u32)> {
    linear(context, page, Links::sequential(page), ascending).map(|area| (area.first, area.end))
}

#[test]
fn last_page_of_an_area_read_in_order_starts_the_next_area() {
    assert_eq!(triggers(&CONTEXT, LAST), Some((128, 192)));
    assert_eq!(triggers(&CONTEXT, PageId::new(7, 126)), None, "not at the border");
}

#[test]
fn first_page_of_an_area_read_downwards_starts_the_area_before() {
    let descending = |page: PageId| at(page.page_no, |no| 1000 - u64::from(no));
    let area = linear(&CONTEXT, FIRST, Links::sequential(FIRST), descending);
    assert_eq!(area, Some(Area { space: 7, first: 0, end: 64 }));
    let ascending = |page: PageId| at(page.page_no, |no| 1000 + u64::from(no));
    assert_eq!(linear(&CONTEXT, FIRST, Links::sequential(FIRST), ascending), None);
}

#[test]
fn eight_missing_pages_are_forgiven_nine_are_not() {
    let missing = |count: u32| {
        let view =
            move |page: PageId| (page.page_no >= 64 + count).then(|| ascending(page)).flatten();
        linear(&CONTEXT, LAST, Links::sequential(LAST), view).is_some()
    };
    assert!(missing(8));
    assert!(!missing(9));
}

#[test]
fn page_read_ahead_and_not_accessed_counts_as_missing() {
    let view = |page: PageId| {
        let first_access = (page.page_no >= 73).then_some(Time::from_millis(1));
        Some(AreaPage { first_access, young_enough: true })
    };
    assert_eq!(linear(&CONTEXT, LAST, Links::sequential(LAST), view), None);
}

/// Every second page earlier than the one before it: 32 failures.
#[test]
fn pages_out_of_order_are_failures() {
    let zigzag = |page: PageId| at(page.page_no, |no| 1000 + u64::from(no ^ 1) * 10);
    assert_eq!(linear(&CONTEXT, LAST, Links::sequential(LAST), zigzag), None);
    let lenient = ReadAheadContext {
        settings: ReadAheadSettings { threshold: 32, random: false },
        ..CONTEXT
    };
    assert!(linear(&lenient, LAST, Links::sequential(LAST), zigzag).is_some());
}

#[test]
fn equal_times_are_in_order_and_depend_on_the_resolution() {
    // Descending by microseconds, all within one millisecond.
    let burst = |page: PageId| {
        let time = Time::from_micros(9_000_900 - u64::from(page.page_no));
        Some(AreaPage { first_access: Some(time), young_enough: true })
    };
    assert!(linear(&CONTEXT, LAST, Links::sequential(LAST), burst).is_some());
    let native = ReadAheadContext { resolution: TimeResolution::Native, ..CONTEXT };
    assert_eq!(linear(&native, LAST, Links::sequential(LAST), burst), None);
}

#[test]
fn links_decide_where_to_go_on() {
    let with = |links| linear(&CONTEXT, LAST, links, ascending).map(|area| area.first);
    assert_eq!(with(Links { prev: Some(126), next: Some(640) }), Some(640), "an area's first page");
    assert_eq!(with(Links { prev: Some(126), next: Some(703) }), Some(640), "an area's last page");
    assert_eq!(with(Links { prev: Some(126), next: Some(641) }), None, "in the middle of an area");
    assert_eq!(with(Links { prev: Some(90), next: Some(128) }), None, "not in order here");
    assert_eq!(with(Links { prev: Some(126), next: None }), None, "the end of the index");
    let adjacent = ReadAheadContext { target: LinearTarget::Adjacent, ..CONTEXT };
    let links = Links { prev: None, next: None };
    assert_eq!(linear(&adjacent, LAST, links, ascending).map(|area| area.first), Some(128));
}

#[test]
fn files_and_pending_reads_bound_it() {
    let with = |file_pages, pending_reads| {
        triggers(&ReadAheadContext { file_pages, pending_reads, ..CONTEXT }, LAST).is_some()
    };
    assert!(with(Some(192), 0));
    assert!(!with(Some(191), 0), "the next area is not whole");
    assert!(!with(Some(127), 0), "this area is not whole");
    assert!(with(None, 4096));
    assert!(!with(None, 4097), "more than half of the instance");
}

#[test]
fn threshold_0_is_off_and_64_forgives_nothing() {
    let with = |threshold, missing: u32| {
        let settings = ReadAheadSettings { threshold, random: false };
        let view =
            move |page: PageId| (page.page_no >= 64 + missing).then(|| ascending(page)).flatten();
        let context = ReadAheadContext { settings, ..CONTEXT };
        linear(&context, LAST, Links::sequential(LAST), view).is_some()
    };
    assert!(!with(0, 0));
    assert!(with(64, 0));
    assert!(!with(64, 1));
}

#[test]
fn area_is_smaller_in_a_tiny_instance() {
    let sizes = [8192, 2048, 1056, 1024, 320, 33, 31, 0];
    assert_eq!(sizes.map(area_pages), [64, 64, 64, 32, 16, 1, 1, 1]);
}

#[test]
fn random_wants_13_young_accessed_pages_of_64() {
    let with = |young: u32, accessed: bool| {
        let view = move |page: PageId| {
            let first_access = accessed.then_some(Time::from_millis(1));
            Some(AreaPage { first_access, young_enough: page.page_no % 64 < young })
        };
        random(&CONTEXT, PageId::new(7, 99), view)
    };
    assert_eq!(with(13, true), Some(Area { space: 7, first: 64, end: 128 }));
    assert_eq!(with(12, true), None);
    assert_eq!(with(64, false), None, "read ahead, not accessed");
    let off = ReadAheadContext { settings: ReadAheadSettings::default(), ..CONTEXT };
    assert_eq!(random(&off, PageId::new(7, 99), ascending), None, "off by default");
}

#[test]
fn bitmap_pages_and_the_transaction_header_start_nothing() {
    assert_eq!(random(&CONTEXT, PageId::new(7, 1), ascending), None);
    assert_eq!(random(&CONTEXT, PageId::new(7, 16_385), ascending), None);
    assert_eq!(random(&CONTEXT, PageId::new(0, 5), ascending), None);
    assert!(random(&CONTEXT, PageId::new(7, 5), ascending).is_some());
}

fn scan(variant: Variant, random: bool, order: impl Iterator<Item = u32>) -> BufferPool {
    let mut config = PoolConfig::new(variant, 8192);
    config.read_ahead.random = random;
    let mut pool = BufferPool::new(config).unwrap();
    pool.set_file_pages(7, 1000);
    for (turn, page_no) in (0..).zip(order) {
        pool.get(PageId::new(7, page_no), Fetch::Normal, Time::from_millis(turn)).unwrap();
    }
    pool
}

/// 1000 pages: the first area is read on demand, then one area ahead after another, but the last 40
/// pages are no whole area.
#[test]
fn scan_of_a_table_reads_all_but_its_ends_ahead() {
    for variant in [Variant::Mysql57, Variant::Mysql84, Variant::Mariadb] {
        let stats = scan(variant, false, 0..1000).stats();
        assert_eq!(stats.read_ahead, 14 * 64, "{variant:?}");
        assert_eq!(stats.demand_reads, 64 + 40, "{variant:?}");
        assert_eq!(stats.reads(), 64 + 40, "linear read-ahead is not in the reads");
        assert_eq!(stats.pages_read, 1000);
        assert_eq!(stats.read_requests, 1000);
    }
}

/// Before the first eviction every accessed page counts as young: page 13 of the area, the 13th
/// accessed, brings in the other 51.
#[test]
fn random_read_ahead_is_counted_among_the_reads() {
    let stats = scan(Variant::Mysql80, true, (2..15).map(|page| page * 4)).stats();
    assert_eq!(stats.demand_reads, 13);
    assert_eq!(
        stats.read_ahead_rnd, 0,
        "the page that misses is not accessed yet when it is asked"
    );
    let stats = scan(Variant::Mysql80, true, (2..16).map(|page| page * 4)).stats();
    assert_eq!(stats.demand_reads, 14);
    assert_eq!(stats.read_ahead_rnd, 50);
    assert_eq!(stats.reads(), 64);
    assert_eq!(stats.pages_read, 64);
}
