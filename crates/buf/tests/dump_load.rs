//! What a load does with bad files, dead pages, failing reads, small pools, and beside other users of the pool.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod dump_common;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dump_common::{PAGE_SIZE, Place, SPACES, check_sum, fill, filled, get, load, options, page};
use dump_common::{pool, pool_over, store, text_of};
use innopool_buf::dump::{LoadControl, LoadOptions};
use innopool_buf::store::SimStore;
use innopool_buf::store::sim::{Delay, Failure, Faults, Pages, Rule};
use innopool_buf::{Background, Hint, PageId, Pool, PoolError, ResizeControl};

const SALVAGE: LoadOptions = LoadOptions {
    budget_pages_per_s: None,
    in_flight_pages: 512,
    order: innopool_buf::dump::LoadOrder::Disk,
    salvage: true,
};

/// Waits until the store holds so many reads.
fn wait_for_held(store: &SimStore, reads: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.held().len() < reads {
        if Instant::now() >= deadline {
            let held = store.held().len();
            // Or the thread that waits for them would keep the test from ending.
            store.resume();
            panic!("only {held} reads came");
        }
        thread::yield_now();
    }
}

/// Pages in an order that is not the disk's.
fn mixed(pages: u32) -> Vec<PageId> {
    (0..pages).map(|number| page(number * 389 % pages)).collect()
}

#[test]
fn a_file_of_a_server_is_loaded_as_it_is() {
    let place = Place::new();
    // The first lines and the layout are those of MySQL 8: undo and dictionary spaces have numbers of 32 bits.
    let path = place.write("4294967294,333\n4294967294,342\n3,7\n4294967278,27\n3,0\n123456,0\n");
    let (pool, _) = pool(&store(400), 64);
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.loaded_pages, report.dead_pages, report.file_pages), (4, 2, 6));
    let old = |number| PageId::new(SPACES[1], number);
    assert_eq!(place.lists(&pool)[0], [old(333), old(342), page(7), page(0)]);
}

#[test]
fn carriage_returns_blanks_and_repeated_lines_do_no_harm() {
    let place = Place::new();
    let path = place.write("3,5\r\n 3, 7\r\n3,5\r\n\r\n3,6\r\n3,7\r\n");
    let (pool, _) = pool(&store(100), 64);
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.loaded_pages, report.duplicate_pages), (3, 2));
    check_sum(&report);
    assert_eq!(place.lists(&pool)[0], [page(5), page(7), page(6)]);
}

#[test]
fn an_empty_file_is_a_load_of_nothing_and_a_missing_one_an_error() {
    let place = Place::new();
    let (pool, _) = pool(&store(100), 64);
    let report = load(&pool, &place.write("")).unwrap();
    assert_eq!((report.file_pages, report.loaded_pages), (0, 0));
    let error = load(&pool, &place.path("missing")).unwrap_err().to_string();
    assert!(error.contains("missing: cannot be opened for reading"), "{error}");
}

#[test]
fn a_bad_line_is_named_nothing_is_loaded_and_the_rest_can_be_salvaged() {
    let place = Place::new();
    for (text, line, why) in [
        ("3,1\n3,2\noops\n3,3\n", 3, "`oops` is not"),
        ("3,1\n4294967296,2\n3,2\n3,3\n", 2, "4294967296 has more than 32 bits"),
        ("3,1\n3,2\n3,3\n3,99", 4, "cut off"),
        ("3,1\n3,2\n3,3\n\0\0\n", 4, "zero bytes"),
    ] {
        let path = place.write(text);
        let (pool, _) = pool(&store(100), 64);
        match load(&pool, &path).unwrap_err() {
            PoolError::File { path: at, what } => {
                assert_eq!(at, format!("{}:{line}", path.display()));
                assert!(what.contains(why) && what.contains("3 pages can be salvaged"), "{what}");
            }
            other => panic!("{other}"),
        }
        assert_eq!(pool.stats().load_reads, 0);
        let report = pool.load(&path, &SALVAGE, &LoadControl::new()).unwrap();
        assert_eq!((report.loaded_pages, report.bad_lines), (3, 1));
        check_sum(&report);
    }
}

#[test]
fn dead_pages_take_no_frames() {
    let place = Place::new();
    let dead = (0..500).map(|number| PageId::new(99, number));
    let beyond = (0..500).map(|number| page(100 + number));
    let path = place.write(text_of(dead.chain(beyond).chain((0..64).map(page))));
    let (pool, _) = pool(&store(100), 64);
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.dead_pages, report.loaded_pages, report.dropped_pages), (1000, 64, 0));
    check_sum(&report);
}

#[test]
fn a_tablespace_that_is_dropped_while_its_pages_are_read_is_dead_too() {
    let place = Place::new();
    let path = place.write(text_of((0..50).map(page)));
    let store = store(100);
    let (pool, _) = pool(&store, 64);
    store.hold();
    thread::scope(|scope| {
        let loading = scope.spawn(|| load(&pool, &path).unwrap());
        wait_for_held(&store, 50);
        store.release(20);
        store.drop_space(SPACES[0]).unwrap();
        store.resume();
        let report = loading.join().unwrap();
        assert_eq!((report.loaded_pages, report.dead_pages, report.failed_pages), (20, 30, 0));
        check_sum(&report);
    });
    assert_eq!(pool.stats().data_pages, 20);
    assert_eq!(pool.stats().free_pages, 44);
}

#[test]
fn failed_reads_are_counted_the_first_is_kept_and_the_rest_is_loaded_in_order() {
    let place = Place::new();
    let store = store(1000);
    let ranked = mixed(800);
    let path = place.write(text_of(ranked.iter().copied()));
    let (pool, _) = pool(&store, 900);
    let bad = Pages::Range(page(100), page(149));
    store.set_faults(Faults { read_error: Rule::always(bad), ..Faults::default() });
    // And one that comes, but is another page.
    store.poke(page(700), &filled(page(701), PAGE_SIZE.bytes())).unwrap();
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.loaded_pages, report.failed_pages), (749, 51));
    check_sum(&report);
    let error = report.first_error.unwrap().to_string();
    assert!(error.contains("reading page 3:100"), "{error}");
    let failed = |page: &PageId| bad.contain(*page) || page.page_no == 700;
    let expected: Vec<PageId> = ranked.into_iter().filter(|page| !failed(page)).collect();
    assert_eq!(place.lists(&pool)[0], expected);
    store.set_faults(Faults::default());
    get(&pool, page(100));
    let stats = pool.stats();
    assert_eq!((stats.data_pages, stats.free_pages, stats.pending_reads), (750, 150, 0));
}

#[test]
fn pages_that_are_there_stay_where_they_are() {
    let place = Place::new();
    let (pool, _) = pool(&store(1000), 900);
    (0..600).for_each(|number| get(&pool, page(number)));
    let before = place.lists(&pool).remove(0);
    let old_pages = usize::try_from(pool.stats().old_pages).unwrap();
    // The reverse of what is there, and 100 more.
    let path = place.write(text_of((0..700).map(page)));
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.present_pages, report.loaded_pages), (600, 100));
    let (young, old) = before.split_at(before.len() - old_pages);
    let loaded: Vec<PageId> = (600..700).map(page).collect();
    assert_eq!(place.lists(&pool)[0], [young, &loaded, old].concat());
}

/// What a load brought is not lost to a scan before it was accessed, nor to the page cleaner's reserve.
#[test]
fn a_scan_after_a_load_leaves_the_hotter_part_alone() {
    let place = Place::new();
    let store = store(10_000);
    let ranked = mixed(2000);
    let path = place.write(text_of(ranked.iter().copied()));
    let mut options = options(2000);
    options.reserve.scan_depth_pages = 100;
    let pool = pool_over(store.clone(), options);
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.loaded_pages, report.dropped_pages), (1900, 100));
    pool.clean().unwrap();
    assert_eq!(pool.stats().evicted, 0);
    assert_eq!(place.lists(&pool)[0], ranked[..1900]);
    for number in 2000..10_000 {
        get(&pool, page(number));
        if number % 50 == 0 {
            pool.clean().unwrap();
        }
    }
    let left = place.lists(&pool).remove(0);
    let young = 1900 * 5 / 8 - 20;
    assert_eq!(left[..young], ranked[..young], "the hottest 5/8, in their order");
    let kept = left.iter().filter(|page| page.page_no < 2000).count();
    assert!(kept < 1900 * 5 / 8 + 60, "the colder pages were the scan's: {kept}");
}

#[test]
fn a_cancelled_load_keeps_what_it_has_in_order() {
    let place = Place::new();
    let store = store(1000);
    let ranked = mixed(1000);
    let path = place.write(text_of(ranked.iter().copied()));
    let (pool, _) = pool(&store, 1200);
    store.hold();
    let control = LoadControl::new();
    let options = LoadOptions { in_flight_pages: 128, ..LoadOptions::default() };
    thread::scope(|scope| {
        let loading = scope.spawn(|| pool.load(&path, &options, &control).unwrap());
        wait_for_held(&store, 128);
        store.release(64);
        wait_for_held(&store, 128);
        let progress = control.progress();
        assert_eq!((progress.pages, progress.total_pages), (64, 1000));
        assert!(progress.pages_per_second > 0.0);
        control.cancel();
        store.resume();
        let report = loading.join().unwrap();
        assert_eq!((report.loaded_pages, report.cancelled_pages), (192, 808));
        check_sum(&report);
    });
    let expected: Vec<PageId> = ranked.into_iter().filter(|page| page.page_no < 192).collect();
    assert_eq!(place.lists(&pool)[0], expected);
    let report = load(&pool, &path).unwrap();
    assert_eq!((report.present_pages, report.loaded_pages), (192, 808), "and can go on");
}

#[test]
fn a_budget_can_be_cancelled_while_it_waits() {
    let place = Place::new();
    let path = place.write(text_of((0..100).map(page)));
    let (pool, _) = pool(&store(100), 200);
    let control = LoadControl::new();
    let budget_pages_per_s = NonZeroU32::new(1);
    let options = LoadOptions { budget_pages_per_s, ..LoadOptions::default() };
    thread::scope(|scope| {
        let loading = scope.spawn(|| pool.load(&path, &options, &control).unwrap());
        while control.progress().pages == 0 {
            thread::yield_now();
        }
        control.cancel();
        let report = loading.join().unwrap();
        assert!((1..100).contains(&report.loaded_pages), "{report:?}");
        check_sum(&report);
    });
}

#[test]
fn a_second_load_is_refused_and_a_dump_is_not() {
    let place = Place::new();
    let store = store(100);
    let path = place.write(text_of((0..50).map(page)));
    let (pool, _) = pool(&store, 64);
    store.hold();
    thread::scope(|scope| {
        let loading = scope.spawn(|| load(&pool, &path).unwrap());
        wait_for_held(&store, 50);
        assert!(matches!(load(&pool, &path), Err(PoolError::Busy("a load"))));
        assert_eq!(place.lists(&pool)[0].len(), 50, "pages on their way are in the list");
        store.resume();
        assert_eq!(loading.join().unwrap().loaded_pages, 50);
    });
    load(&pool, &path).unwrap();
}

#[test]
fn a_resize_may_run_beside_a_load() {
    let place = Place::new();
    let store = store(1000);
    let ranked = mixed(1000);
    let path = place.write(text_of(ranked.iter().copied()));
    for (to_frames, loaded, listed) in [(500, 500..=900, 400..=500), (1500, 900..=900, 900..=900)] {
        let (pool, _) = pool(&store, 900);
        let options = LoadOptions { in_flight_pages: 64, ..LoadOptions::default() };
        let size_bytes = to_frames * PAGE_SIZE.bytes() as u64;
        let (control, patience) = (ResizeControl::default(), Duration::from_secs(60));
        store.hold();
        let report = thread::scope(|scope| {
            let loading = scope.spawn(|| pool.load(&path, &options, &LoadControl::new()).unwrap());
            // Some of the first batch are among those that do not fit.
            wait_for_held(&store, 50);
            let resizing = scope.spawn(|| pool.resize(size_bytes, patience, &control));
            // Frames whose reads are held cannot be withdrawn, so a shrink is under way when it has a total.
            while control.progress_pages().1 == 0 {
                thread::yield_now();
            }
            store.resume();
            assert_eq!(resizing.join().unwrap().unwrap(), size_bytes);
            loading.join().unwrap()
        });
        check_sum(&report);
        assert!(loaded.contains(&report.loaded_pages), "{report:?}");
        let list = place.lists(&pool).remove(0);
        assert!(listed.contains(&list.len()), "{}", list.len());
        let mut rest = ranked.iter();
        assert!(list.iter().all(|page| rest.any(|ranked| ranked == page)), "in order");
        list.iter().for_each(|&page| get(&pool, page));
    }
}

/// A page that was made young while the load ran is at the head; the loaded ones behind it are in order.
#[test]
fn promotions_during_a_load_stand() {
    let place = Place::new();
    let store = store(4000);
    let ranked = mixed(1500);
    let path = place.write(text_of(ranked.iter().copied()));
    let (pool, _) = pool(&store, 2000);
    // Evictions have begun, or nothing would ever be made young.
    for number in 3000..4000 {
        get(&pool, page(number));
        pool.discard(page(number)).unwrap();
    }
    let options = LoadOptions { in_flight_pages: 64, ..LoadOptions::default() };
    let promoted = [page(5), page(30), page(11)];
    store.hold();
    thread::scope(|scope| {
        let loading = scope.spawn(|| pool.load(&path, &options, &LoadControl::new()).unwrap());
        wait_for_held(&store, 64);
        store.release(64);
        wait_for_held(&store, 64);
        promoted.iter().for_each(|&page| get(&pool, page));
        store.resume();
        assert_eq!(loading.join().unwrap().loaded_pages, 1500);
    });
    let list = place.lists(&pool).remove(0);
    let (head, rest) = list.split_at(3);
    assert_eq!(head, [page(11), page(30), page(5)]);
    let others = ranked.into_iter().filter(|page| !promoted.contains(page));
    assert_eq!(rest, others.collect::<Vec<_>>());
}

/// Threads that use the pool meanwhile, with reads that take their time and fail now and then.
#[test]
fn a_load_beside_users_gives_every_page_once_and_right() {
    let place = Place::new();
    let store = SimStore::with_threads(PAGE_SIZE, 3, 3);
    fill(&store, 2000);
    let store = Arc::new(store);
    let delay = Delay { min: Duration::ZERO, max: Duration::from_micros(40) };
    store.set_faults(Faults { delay: Some(delay), ..Faults::default() });
    for _ in 0..5 {
        store.fail_next(Failure::ReadError, Pages::Range(page(1500), page(1999)));
    }
    let ranked = mixed(2000);
    let path = place.write(text_of(ranked.iter().copied()));
    let options = innopool_buf::PoolOptions {
        background: Background::Threads,
        instances: 2,
        ..options(1400)
    };
    let pool = pool_over(store.clone(), options);
    let report = thread::scope(|scope| {
        let loading = scope.spawn(|| load(&pool, &path).unwrap());
        for seed in 1..4_u32 {
            let pool: &Pool = &pool;
            scope.spawn(move || {
                let mut number = seed;
                for _ in 0..1500 {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let page =
                        PageId::new(SPACES[(number >> 20) as usize % 2], (number >> 8) % 2000);
                    match pool.get_shared(page, Hint::Normal) {
                        Ok(guard) => assert_eq!(*guard, filled(page, PAGE_SIZE.bytes())),
                        Err(PoolError::Store(_)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        loading.join().unwrap()
    });
    check_sum(&report);
    assert!(report.loaded_pages > 300, "{report:?}");
    let stats = pool.stats();
    assert_eq!(stats.pending_reads, 0);
    assert_eq!(stats.data_pages + stats.free_pages, 1400);
    let mut pages = place.lists(&pool).concat();
    assert_eq!(pages.len() as u64, pool.stats().data_pages);
    pages.iter().for_each(|&page| get(&pool, page));
    pages.sort_unstable();
    pages.dedup();
    assert_eq!(pages.len() as u64, pool.stats().data_pages, "no page is listed twice");
}
