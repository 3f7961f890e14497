//! What a pool dumps, a pool loads: the same pages in the same order.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod dump_common;

use std::num::NonZeroUsize;

use dump_common::{ALL, PAGE_SIZE, Place, SPACES};
use dump_common::{check_sum, fill, get, options, page, pages_of, pool, pool_over, split, store};
use innopool_buf::dump::{DumpOptions, LoadControl, LoadOptions, LoadOrder};
use innopool_buf::store::{Direct, FileStore, FileStoreOptions, PageStore, SimStore};
use innopool_buf::{Clock, Hint, ManualClock, PageId, Pool, PoolOptions, Time};
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Step {
    /// A run of gets, of pages from `first` on.
    Get {
        space: usize,
        first: u32,
        pages: u32,
        stride: u32,
        hint: Hint,
    },
    Create {
        space: usize,
        number: u32,
    },
    Discard {
        space: usize,
        number: u32,
    },
    Wait(u64),
}

const STORE_PAGES: u32 = 1600;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let hint = prop_oneof![
        4 => Just(Hint::Normal), 1 => Just(Hint::Scan), 1 => Just(Hint::ReadAhead)];
    let get = (0..2usize, 0..STORE_PAGES, 1..600u32, 1..9u32, hint).prop_map(
        |(space, first, pages, stride, hint)| Step::Get { space, first, pages, stride, hint },
    );
    let one = || (0..2usize, 0..STORE_PAGES);
    let step = prop_oneof![
        8 => get,
        1 => one().prop_map(|(space, number)| Step::Create { space, number }),
        1 => one().prop_map(|(space, number)| Step::Discard { space, number }),
        3 => (0..3000u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..25)
}

fn run(pool: &Pool, clock: &ManualClock, steps: &[Step]) {
    for step in steps {
        match *step {
            Step::Get { space, first, pages, stride, hint } => {
                for number in (0..pages).map(|n| (first + n * stride) % STORE_PAGES) {
                    drop(pool.get_shared(PageId::new(SPACES[space], number), hint).unwrap());
                }
            }
            Step::Create { space, number } => {
                drop(pool.create(PageId::new(SPACES[space], number)).unwrap());
            }
            Step::Discard { space, number } => {
                pool.discard(PageId::new(SPACES[space], number)).unwrap();
            }
            Step::Wait(ms) => clock.set(Time::from_millis(clock.now().millis() + ms)),
        }
    }
}

/// A pool whose number of instances and reserve are given.
fn pool_of(
    store: &Arc<SimStore>,
    frames: u64,
    instances: usize,
    reserve: u64,
) -> (Pool, ManualClock) {
    let clock = ManualClock::new();
    let mut options = PoolOptions { clock: Clock::Manual(clock.clone()), ..options(frames) };
    options.instances = instances;
    options.reserve.scan_depth_pages = reserve;
    options.reserve.lru_min_len_pages = 0;
    (pool_over(store.clone(), options), clock)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Each instance's list comes back as it was, less its coldest pages where the pool is smaller or keeps a reserve;
    /// whatever the order of reading; and then stands under the list's own rules.
    #[test]
    fn the_lists_come_back(
        steps in steps(),
        frames in 64u64..1500,
        smaller in prop::sample::select(vec![1u64, 1, 2]),
        instances in prop::sample::select(vec![1usize, 1, 2, 4]),
        reserve in prop::sample::select(vec![0u64, 0, 8]),
        slice in prop::option::of(1usize..400),
        in_flight_pages in 1usize..600,
    ) {
        let place = Place::new();
        let store = store(STORE_PAGES);
        let (before, clock) = pool_of(&store, frames, instances, reserve);
        run(&before, &clock, &steps);
        let path = place.path("pages");
        let dumped = before.dump(&path, &ALL).unwrap();
        let lists = split(&pages_of(&path), &dumped);
        drop(before);

        let frames = (frames / smaller).max(16 * instances as u64);
        let (after, _) = pool_of(&store, frames, instances, reserve);
        let order = match slice.and_then(NonZeroUsize::new) {
            Some(slice_pages) => LoadOrder::HottestFirst { slice_pages },
            None => LoadOrder::Disk,
        };
        let options = LoadOptions { order, in_flight_pages, ..LoadOptions::default() };
        let control = LoadControl::new();
        let loaded = after.load(&path, &options, &control).unwrap();
        check_sum(&loaded);
        prop_assert_eq!(loaded.loaded_pages + loaded.dropped_pages, dumped.pages);
        let progress = control.progress();
        prop_assert_eq!((progress.pages, progress.total_pages), (loaded.loaded_pages, loaded.loaded_pages));

        let back = place.lists(&after);
        for (number, (back, list)) in back.iter().zip(&lists).enumerate() {
            let size = after.instance_stats()[number].size_pages;
            let fits = usize::try_from(size - reserve.min(size / 8)).unwrap();
            prop_assert_eq!(back, &list[..list.len().min(fits)], "instance {}", number);
            let stats = after.instance_stats()[number];
            let desired = stats.data_pages * 378 / 1024;
            let is_midpoint = stats.data_pages >= 512;
            prop_assert!(!is_midpoint || stats.old_pages.abs_diff(desired) <= 20, "{:?}", stats);
            prop_assert!(is_midpoint || stats.old_pages == 0);
        }
        after.clean().unwrap();
        prop_assert_eq!(&place.lists(&after), &back, "the page cleaner takes nothing back");
        for &page in back.iter().flatten() {
            get(&after, page);
        }
        let stats = after.stats();
        prop_assert_eq!((stats.load_reads, stats.demand_reads), (loaded.loaded_pages, 0));
    }
}

#[test]
fn a_part_is_the_hottest_of_every_instance() {
    let place = Place::new();
    let store = store(1600);
    let (pool, _) = pool_of(&store, 1600, 2, 0);
    (0..1500).for_each(|number| get(&pool, page(number)));
    let lists = place.lists(&pool);
    for (percent, of) in [(25, 4), (50, 2), (1, 100)] {
        let path = place.path("part");
        let options = DumpOptions { percent, replace_fuller: true };
        let report = pool.dump(&path, &options).unwrap();
        let parts = split(&pages_of(&path), &report);
        for (part, list) in parts.iter().zip(&lists) {
            assert_eq!(part, &list[..list.len() / of], "{percent} percent");
        }
    }
}

#[test]
fn of_a_short_list_at_least_a_page_is_dumped_and_of_an_empty_one_none() {
    let place = Place::new();
    let (pool, _) = pool(&store(100), 64);
    let options = DumpOptions { percent: 1, replace_fuller: false };
    assert_eq!(pool.dump(place.path("pages"), &options).unwrap().pages, 0);
    (0..5).for_each(|number| get(&pool, page(number)));
    assert_eq!(pool.dump(place.path("pages"), &options).unwrap().pages, 1);
    for percent in [0, 101] {
        let refused = DumpOptions { percent, replace_fuller: false };
        let error = pool.dump(place.path("pages"), &refused).unwrap_err().to_string();
        assert!(error.contains("1 to 100"), "{error}");
    }
    assert_eq!(pages_of(&place.path("pages")).len(), 1);
}

#[test]
fn the_lru_lock_is_given_up_between_whiles() {
    let place = Place::new();
    let (pool, _) = pool(&store(1600), 3300);
    (0..1600).for_each(|number| get(&pool, page(number)));
    (0..1500).for_each(|number| get(&pool, PageId::new(SPACES[1], number)));
    let report = pool.dump(place.path("pages"), &ALL).unwrap();
    assert_eq!((report.pages, report.holds), (3100, 4));
    let quarter = DumpOptions::default();
    let report = pool.dump(place.path("quarter"), &quarter).unwrap();
    assert_eq!(report.pages, 775);
    assert_eq!(report.holds, 2, "the young sublist is enough");
}

/// Four instances' dump in a pool of one that holds half of it: each instance keeps about its hottest half.
#[test]
fn another_number_of_instances_shares_the_loss() {
    let place = Place::new();
    let store = store(1600);
    let (four, _) = pool_of(&store, 3000, 4, 0);
    for number in 0..2800 {
        let mixed = number * 37 % 2800;
        get(&four, PageId::new(SPACES[(mixed % 2) as usize], mixed / 2));
    }
    let path = place.path("pages");
    let dumped = four.dump(&path, &ALL).unwrap();
    let lists = split(&pages_of(&path), &dumped);
    let (one, _) = pool_of(&store, dumped.pages / 2, 1, 0);
    dump_common::load(&one, &path).unwrap();
    let kept = &place.lists(&one)[0];
    for list in &lists {
        let here: Vec<PageId> = kept.iter().copied().filter(|page| list.contains(page)).collect();
        assert_eq!(here, list[..here.len()], "the hottest, in their order");
        assert!(here.len().abs_diff(list.len() / 2) <= 1, "{} of {}", here.len(), list.len());
    }
}

#[test]
fn pages_in_files_come_back_by_direct_reads() {
    let place = Place::new();
    let sim = SimStore::new(PAGE_SIZE, 1);
    fill(&sim, 1200);
    let files =
        FileStore::open(FileStoreOptions::new(PAGE_SIZE).direct(Direct::WhenPossible)).unwrap();
    for space in SPACES {
        files.create_space(space, &place.path(&space.to_string()), 1200).unwrap();
    }
    let files = Arc::new(files);
    let writer = pool_over(files.clone(), options(3000));
    for space in SPACES {
        for number in (0..1200).rev() {
            let page = PageId::new(space, number * 7 % 1200);
            let mut guard = writer.create(page).unwrap();
            let bytes = sim.peek(page).unwrap();
            guard.copy_from_slice(&bytes);
            guard.mark_dirty(innopool_buf::Lsn(1), innopool_buf::Lsn(1)).unwrap();
        }
    }
    writer.flush_all().unwrap();
    let path = place.path("pages");
    writer.dump(&path, &ALL).unwrap();
    let before = place.lists(&writer);
    drop(writer);

    let reader = pool_over(files.clone(), options(3000));
    let report = dump_common::load(&reader, &path).unwrap();
    assert_eq!(report.loaded_pages, 2400, "{report:?}");
    assert_eq!(place.lists(&reader), before);
    for &page in &before[0] {
        get(&reader, page);
    }
    assert_eq!(reader.stats().demand_reads, 0);
    assert_eq!(files.space_pages(SPACES[0]).unwrap(), 1200);
}

/// Pages that move to the head while the list is walked are neither missed nor dumped twice.
#[test]
fn a_dump_of_a_list_that_changes_has_every_page_once() {
    let place = Place::new();
    let mut options = options(3200);
    options.list = innopool_buf::ListRules::lru();
    let pool = pool_over(store(1600), options);
    let all: Vec<PageId> =
        (0..1600).flat_map(|number| SPACES.map(|space| PageId::new(space, number))).collect();
    all.iter().for_each(|&page| get(&pool, page));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..2_usize {
            let (pool, all, stop) = (&pool, &all, &stop);
            scope.spawn(move || {
                let mut number = seed;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    drop(pool.get_shared(all[(number >> 33) % 3200], Hint::Normal).unwrap());
                }
            });
        }
        let dumps: Vec<_> = (0..40).map(|_| place.lists(&pool).remove(0)).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for mut pages in dumps {
            pages.sort_unstable();
            let mut all = all.clone();
            all.sort_unstable();
            assert!(pages == all, "{} pages", pages.len());
        }
    });
}
