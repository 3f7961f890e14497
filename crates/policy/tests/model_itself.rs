//! Holds the model against figures that can be worked out by hand from the servers' documents.
//!
//! The model judges the production code, so something has to judge the model: each test here is a
//! known consequence of the rules, with numbers a reader can check on paper.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod model;

use model::lru::{Cursor, Lru, Page};
use model::pool::{Counters, Event, Mode, Pool, Settings};
use model::{Constants, Id, Server, flushing, mapping, pct_of_ratio, ratio_of_pct, read_ahead};

fn settings(server: Server, frames: usize) -> Settings {
    Settings {
        server,
        constants: Constants::INNODB,
        frames: vec![frames],
        old_blocks_pct: 37,
        old_blocks_time_ms: 1000,
        scan_depth: 0,
        read_ahead_threshold: 0,
        random_read_ahead: false,
        file_pages: 1 << 20,
        rounds: 3,
        cleaner_writes: true,
        cleaner_after_each: false,
        page_size: 16_384,
    }
}

const SECOND: u64 = 1_000_000;

fn ids(pool: &Pool) -> Vec<Id> {
    pool.instances[0].lru.pages.iter().map(|page| page.id).collect()
}

fn counters(pool: &Pool) -> Counters {
    pool.instances[0].counters
}

/// 37 % is 378/1024. Of 512 pages 189 should be old; the boundary stops 20 pages before that.
#[test]
fn the_512th_page_gives_the_list_an_old_part_of_209() {
    let mut lru = Lru::new(Constants::INNODB, ratio_of_pct(37));
    for no in 0..511 {
        lru.insert(Page::new((1, no)), true);
    }
    assert_eq!((lru.old_len, lru.lru_old), (0, None));
    lru.insert(Page::new((1, 511)), true);
    assert_eq!((lru.desired_old(), lru.old_len), (189, 209));
    lru.check();
    // The page before went to the head, this one behind the first old page.
    assert_eq!(lru.position((1, 511)), Some(0));
    lru.insert(Page::new((1, 512)), true);
    assert_eq!(lru.position((1, 512)), Some(512 - 209 + 1));
    // Down again: a list of 511 has no old part.
    lru.evict((1, 0));
    lru.evict((1, 1));
    assert_eq!((lru.pages.len(), lru.old_len, lru.lru_old), (511, 0, None));
    lru.check();
}

#[test]
fn percentages_read_back_as_they_were_set() {
    assert_eq!(ratio_of_pct(37), 378);
    for pct in 5..=95 {
        assert_eq!(pct_of_ratio(ratio_of_pct(pct)), pct);
    }
}

/// A quarter of the young part of 8192 pages at 378/1024 is 1292 evictions.
#[test]
fn the_young_window_of_8192_pages_is_1292_evictions() {
    let page = Page { clock: 100, ..Page::new((0, 0)) };
    let at = |clock| model::young::Instance {
        clock,
        curr_size: 8192,
        ratio: 378,
        old_blocks_time_ms: 1000,
    };
    for server in [Server::MySql57, Server::MariaDb] {
        assert!(model::young::is_young(server, &page, &at(100 + 1291)));
        assert!(!model::young::is_young(server, &page, &at(100 + 1292)));
    }
    // After the clock has started again MySQL takes a page of long ago for young, MariaDB does not.
    let page = Page { clock: 2_000_000_000, ..page };
    assert!(model::young::is_young(Server::MySql80, &page, &at((1 << 31) + 5)));
    assert!(!model::young::is_young(Server::MariaDb, &page, &at((1 << 31) + 5)));
}

#[test]
fn nothing_is_counted_before_the_first_eviction() {
    let mut pool = Pool::new(settings(Server::MySql84, 600));
    for no in 0..600 {
        assert!(pool.get((1, no), Mode::Normal, 0));
        assert!(pool.get((1, no), Mode::Normal, 5 * SECOND));
    }
    assert_eq!((counters(&pool).made_young, counters(&pool).not_made_young), (0, 0));
    // The next miss evicts, and is itself the first page not made young.
    pool.get((1, 600), Mode::Normal, 5 * SECOND);
    assert_eq!((counters(&pool).made_young, counters(&pool).not_made_young), (0, 1));
    let expected = Counters { read_requests: 1201, reads: 601, pages_read: 601, ..counters(&pool) };
    assert_eq!(counters(&pool), expected);
}

#[test]
fn a_page_read_ahead_needs_two_accesses_a_second_apart() {
    let mut pool = Pool::new(settings(Server::MySql80, 600));
    for no in 0..700 {
        pool.get((1, no), Mode::Normal, 0);
    }
    let page = (2, 0);
    assert!(pool.load(page));
    let not_young = counters(&pool).not_made_young;
    pool.get(page, Mode::Normal, 60 * SECOND);
    pool.get(page, Mode::Normal, 61 * SECOND - 1000);
    assert_eq!(counters(&pool).not_made_young, not_young + 2);
    assert_eq!(counters(&pool).made_young, 0);
    pool.get(page, Mode::Normal, 61 * SECOND);
    assert_eq!(counters(&pool).made_young, 1);
    assert_eq!(ids(&pool)[0], page);
}

/// Pages that survive a scan of ten pools, each page of it accessed five times in a burst.
fn young_left_after_a_scan(old_blocks_time_ms: u64) -> usize {
    let frames = 1024;
    let settings = Settings { old_blocks_time_ms, ..settings(Server::MySql57, frames) };
    let mut pool = Pool::new(settings);
    for no in 0..1024 {
        pool.create((1, no), 0);
    }
    let young: Vec<Id> =
        pool.instances[0].lru.pages.iter().filter(|p| !p.old).map(|p| p.id).collect();
    assert!(young.len() > 600);
    for no in 0..10 * 1024 {
        for burst in 0..5 {
            pool.get((2, no), Mode::Normal, SECOND + u64::from(no) * 1000 + burst);
        }
    }
    young.iter().filter(|id| pool.page(**id).is_some()).count() * 100 / young.len()
}

#[test]
fn a_scan_leaves_the_young_pages_alone_unless_old_blocks_time_is_0() {
    assert!(young_left_after_a_scan(1000) >= 95);
    assert_eq!(young_left_after_a_scan(0), 0);
}

#[test]
fn a_scan_upwards_reads_the_next_area_once() {
    let settings = Settings { read_ahead_threshold: 56, ..settings(Server::MySql84, 8192) };
    let mut pool = Pool::new(settings);
    for no in 0..64 {
        pool.get((1, no), Mode::Normal, u64::from(no) * 1000);
    }
    // Page 0 is at the lower border, but nothing was accessed yet.
    assert_eq!((counters(&pool).reads, counters(&pool).read_ahead), (64, 64));
    assert!(pool.page((1, 127)).is_some_and(|page| page.access.is_none()));
    assert_eq!(counters(&pool).pages_read, 128);
    pool.get((1, 64), Mode::Normal, SECOND);
    assert_eq!(counters(&pool).reads, 64);
}

/// Eight pages of 64 may be missing at the default of 56, nine may not; 13 young ones start a random
/// read-ahead, 12 do not.
#[test]
fn read_ahead_has_its_thresholds() {
    for (missing, expected) in [(8, Some(64)), (9, None)] {
        let pages: Vec<Page> =
            (0..64).map(|no| Page { access: Some(u64::from(no)), ..Page::new((1, no)) }).collect();
        let look = |no: u32| if no < missing { None } else { pages.get(no as usize) };
        assert_eq!(read_ahead::linear(63, 64, 56, 10_000, look), expected);
    }
    let page = Page { access: Some(1), ..Page::new((1, 0)) };
    assert!(read_ahead::random(&[Some((&page, true)); 13], 64));
    assert!(!read_ahead::random(&[Some((&page, true)); 12], 64));
    assert_eq!([320, 1024, 1025, 2048, 8192].map(read_ahead::area), [16, 32, 32, 64, 64]);
}

/// The cleaner keeps the scan depth free and never goes below 256 pages.
#[test]
fn the_cleaner_frees_from_the_tail_until_it_has_enough() {
    let mut pool = Pool::new(Settings { scan_depth: 50, ..settings(Server::MySql84, 300) });
    for no in 0..300 {
        pool.create((1, no), 0);
    }
    pool.events.clear();
    pool.cleaner_pass(0);
    let first: Vec<Event> = (0..44).map(|no| Event::Evicted((1, no))).collect();
    assert_eq!((pool.events.clone(), pool.instances[0].lru.pages.len()), (first, 256));
    let mut pool = Pool::new(Settings { scan_depth: 50, ..settings(Server::MariaDb, 400) });
    for no in 0..374 {
        pool.create((1, no), 0);
    }
    // MariaDB waits until fewer than half are free.
    pool.cleaner_pass(0);
    assert_eq!(pool.instances[0].free, 26);
    pool.create((1, 500), 0);
    pool.create((1, 501), 0);
    pool.cleaner_pass(0);
    assert_eq!(pool.instances[0].free, 50);
}

/// A thread that meets 100 dirty pages at the tail gives up its scan, writes one page itself, and
/// counts that it had to wait.
#[test]
fn a_thread_that_finds_only_dirty_pages_writes_one() {
    let mut pool = Pool::new(settings(Server::MySql80, 300));
    for no in 0..300 {
        pool.create((1, no), 0);
        if no < 150 {
            pool.page_mut((1, no)).unwrap().dirty = true;
        }
    }
    pool.events.clear();
    assert!(pool.create((2, 0), 0));
    assert_eq!(pool.events, [Event::Written((1, 0)), Event::Evicted((1, 0))]);
    assert_eq!(counters(&pool).wait_free, 1);
    assert_eq!((counters(&pool).pages_written, counters(&pool).pages_flushed), (1, 0));
    assert!(!pool.instances[0].try_lru_scan);
    pool.cleaner_pass(0);
    assert!(pool.instances[0].try_lru_scan);
}

#[test]
fn a_pool_of_pinned_pages_has_no_frame() {
    let mut pool = Pool::new(settings(Server::MySql80, 10));
    for no in 0..10 {
        pool.create((1, no), 0);
        pool.page_mut((1, no)).unwrap().fixes = 1;
    }
    assert!(!pool.get((2, 0), Mode::Normal, 0));
    assert_eq!((counters(&pool).wait_free, counters(&pool).read_requests), (3, 1));
}

#[test]
fn only_pages_evicted_by_a_thread_count_as_read_ahead_in_vain() {
    let mut pool = Pool::new(Settings { scan_depth: 2, ..settings(Server::MySql80, 300) });
    for no in 0..300 {
        assert!(pool.load((1, no)));
    }
    pool.load((2, 0));
    assert_eq!(counters(&pool).read_ahead_evicted, 1);
    pool.cleaner_pass(0);
    assert_eq!((pool.instances[0].free, counters(&pool).read_ahead_evicted), (2, 1));
}

#[test]
fn a_cursor_steps_to_the_hotter_page_and_a_walk_resumes_in_the_young_part_only() {
    let mut lru = Lru::new(Constants::INNODB, 378);
    for no in 0..600 {
        lru.insert(Page::new((1, no)), false);
    }
    let (young, old) = (lru.pages[100].id, lru.pages[500].id);
    lru.set_cursor(Cursor::UserScan, Some(young));
    lru.make_young(young);
    // The page that was just hotter stands at 100 now, since the other went over it to the head.
    assert_eq!(lru.cursor(Cursor::UserScan), Some(lru.pages[100].id));
    let resumed = lru.start(Cursor::UserScan);
    assert_eq!(resumed, Some(lru.pages[100].id));
    lru.set_cursor(Cursor::UserScan, Some(old));
    assert_eq!(lru.start(Cursor::UserScan), Some((1, 0)));
}

#[test]
fn a_dump_goes_from_the_head_of_each_instance() {
    let mut pool = Pool::new(Settings { frames: vec![40, 40], ..settings(Server::MySql84, 0) });
    for no in 0..6 {
        pool.create((1, no * 64), 0);
    }
    let parts: Vec<Vec<Id>> =
        pool.instances.iter().map(|i| i.lru.pages.iter().map(|p| p.id).collect()).collect();
    assert_eq!(pool.dump(100), parts.concat());
    // 34 % of three pages is one, and so is 1 %.
    assert_eq!(pool.dump(34), [parts[0][0], parts[1][0]]);
    assert_eq!(pool.dump(1), [parts[0][0], parts[1][0]]);
}

#[test]
fn the_64_pages_of_a_group_share_an_instance() {
    for server in [Server::MySql57, Server::MySql80, Server::MySql84] {
        let of = |no| mapping::instance(server, (7, no), 8);
        assert!((128..192).all(|no| of(no) == of(128)));
        assert!((0..64).any(|group| of(group * 64) != of(0)));
    }
    assert_eq!(mapping::key(Server::MySql57, (1, 64)), (1 << 20) + 2);
    assert_eq!(mapping::key(Server::MySql80, (4096, 0)), 4096);
}

/// At 75 % of the async limit f is 75, and 75 * sqrt(75) / 7.5 = 86.6, times io_max / io_cap.
#[test]
fn flushing_follows_its_formula() {
    let s = flushing::Settings {
        io_capacity: 200,
        io_capacity_max: 2000,
        max_dirty_pct: 90.0,
        max_dirty_pct_lwm: 10.0,
        adaptive: true,
        adaptive_lwm_pct: 10,
    };
    assert_eq!(flushing::pct_for_lsn(Server::MySql84, &s, 75, 100, 100), 866);
    assert_eq!(flushing::pct_for_lsn(Server::MySql84, &s, 9, 100, 100), 0);
    assert_eq!(flushing::pct_for_dirty(&s, 10, 9.99), 0);
    assert_eq!(flushing::pct_for_dirty(&s, 10, 45.5), 50);
    assert_eq!(flushing::pages(&s, 866, 100, 50), (1732 + 100 + 50) / 3);
    assert_eq!(flushing::pages_for_lsn(&s, 2), 1);
}
