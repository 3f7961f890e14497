//! What a power cut may leave of a simulated store: exactly what is promised, and all of the mischief that is not.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod store_common;

use innopool_buf::store::sim::{Failure, Pages, SECTOR_BYTES};
use innopool_buf::store::{Kind, PageStore, SimStore};
use innopool_buf::{PageId, PageSize};
use proptest::prelude::*;
use store_common::{Frames, Outcomes, operation};

const SIZE: PageSize = PageSize::KIB_4;
const PAGES: u32 = 6;

#[derive(Clone, Debug)]
enum Step {
    Write(u32),
    Sync,
    FailedSync,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..PAGES).prop_map(Step::Write),
        1 => Just(Step::Sync),
        1 => Just(Step::FailedSync),
    ]
}

/// A page whose every sector says which version it is of.
fn version(version: u8) -> Vec<u8> {
    vec![version; SIZE.bytes()]
}

/// The version of each sector of `page`; panics if a sector is not whole.
fn sectors(page: &[u8]) -> Vec<u8> {
    page.chunks(SECTOR_BYTES)
        .map(|sector| {
            assert!(sector.iter().all(|&byte| byte == sector[0]), "a torn sector");
            sector[0]
        })
        .collect()
}

proptest! {
    /// The model holds, for each page, the durable version and those that a crash may add to it.
    #[test]
    fn a_crash_keeps_what_is_durable_and_mixes_the_rest(
        steps in prop::collection::vec(step(), 1..40),
        in_flight in prop::collection::vec(0..PAGES, 0..4),
        seeds in prop::collection::vec(any::<u64>(), 8),
    ) {
        let store = SimStore::new(SIZE, 1);
        store.create_space(1, PAGES);
        let mut durable = [0_u8; PAGES as usize];
        let mut unsynced: Vec<Vec<u8>> = vec![Vec::new(); PAGES as usize];
        for (now, step) in (1_u8..).zip(&steps) {
            match *step {
                Step::Write(no) => {
                    store.write(PageId::new(1, no), &version(now)).unwrap();
                    unsynced[no as usize].push(now);
                }
                Step::Sync => {
                    store.sync(1).unwrap();
                    for (durable, unsynced) in durable.iter_mut().zip(&mut unsynced) {
                        *durable = unsynced.drain(..).next_back().unwrap_or(*durable);
                    }
                }
                Step::FailedSync => {
                    store.fail_next(Failure::SyncError, Pages::All);
                    store.sync(1).unwrap_err();
                    unsynced.iter_mut().for_each(Vec::clear);
                }
            }
        }
        // Writes that no completion has been told of yet.
        store.hold();
        let mut frames = Frames::new(SIZE, in_flight.len());
        let outcomes = Outcomes::new();
        let mut batch = Vec::new();
        for (frame, &no) in in_flight.iter().enumerate() {
            let now = 200 + u8::try_from(frame).unwrap();
            frames.get_mut(frame).fill(now);
            let page = PageId::new(1, no);
            batch.push(operation(Kind::Write, page, &mut frames, frame, &outcomes));
            unsynced[no as usize].push(now);
        }
        store.start(&mut batch);

        for seed in seeds {
            let after = store.crash(seed);
            prop_assert_eq!(after.space_pages(1).unwrap(), PAGES);
            for no in 0..PAGES {
                let page = PageId::new(1, no);
                let left = after.peek(page).unwrap();
                prop_assert_eq!(&left, &after.peek_durable(page).unwrap());
                let allowed = |version: &u8| {
                    *version == durable[no as usize] || unsynced[no as usize].contains(version)
                };
                prop_assert!(sectors(&left).iter().all(allowed), "{:?}", sectors(&left));
            }
        }
        store.resume();
        outcomes.wait(in_flight.len());
    }
}

/// Every fate of a write turns up, for one write and for every combination of two.
#[test]
fn over_many_seeds_everything_happens_that_may() {
    let store = SimStore::new(PageSize::KIB_16, 1);
    store.create_space(1, 2);
    for no in 0..2 {
        store.write(PageId::new(1, no), &[1; 16384]).unwrap();
    }
    store.sync(1).unwrap();
    for no in 0..2 {
        store.write(PageId::new(1, no), &[2; 16384]).unwrap();
    }
    let fate = |page: &[u8]| match sectors(page).as_slice() {
        all if all.iter().all(|&version| version == 1) => 0,
        all if all.iter().all(|&version| version == 2) => 1,
        prefix if prefix.is_sorted_by(|a, b| a >= b) => 2,
        _ => 3,
    };
    let mut seen = [[0; 4]; 4];
    for seed in 0..1000 {
        let after = store.crash(seed);
        let [first, second] = [0, 1].map(|no| fate(&after.peek(PageId::new(1, no)).unwrap()));
        seen[first][second] += 1;
    }
    assert!(seen.as_flattened().iter().all(|&times| times > 5), "{seen:?}");
}

#[test]
fn a_failed_sync_loses_writes_for_good_though_reads_still_see_them() {
    let store = SimStore::new(SIZE, 1);
    store.create_space(1, 2);
    let (kept, lost) = (PageId::new(1, 0), PageId::new(1, 1));
    store.write(lost, &version(1)).unwrap();
    store.fail_next(Failure::SyncError, Pages::All);
    store.sync(1).unwrap_err();
    store.write(kept, &version(2)).unwrap();
    store.sync(1).unwrap();
    assert_eq!(store.peek(lost).unwrap(), version(1));
    for seed in 0..100 {
        let after = store.crash(seed);
        assert_eq!(after.peek(lost).unwrap(), version(0));
        assert_eq!(after.peek(kept).unwrap(), version(2));
    }
    // Writing it again is what makes it durable.
    store.write(lost, &version(1)).unwrap();
    store.sync(1).unwrap();
    assert_eq!(store.crash(1).peek(lost).unwrap(), version(1));
}

#[test]
fn a_sync_is_of_one_tablespace() {
    let store = SimStore::new(SIZE, 1);
    store.create_space(1, 1);
    store.create_space(2, 1);
    for space in 1..=2 {
        store.write(PageId::new(space, 0), &version(1)).unwrap();
    }
    store.sync(1).unwrap();
    assert_eq!(store.peek_durable(PageId::new(1, 0)).unwrap(), version(1));
    assert_eq!(store.peek_durable(PageId::new(2, 0)).unwrap(), version(0));
}
