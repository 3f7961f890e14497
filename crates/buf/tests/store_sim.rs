//! The simulated store does what an array of pages does, fails as told, and completes in the order asked for.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod store_common;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use innopool_buf::store::sim::{
    Counts, Delay, Event, Failure, Faults, Pages, Rule, SECTOR_BYTES, What, When,
};
use innopool_buf::store::{Fault, Kind, PageStore, SimStore};
use innopool_buf::{PageId, PageSize};
use proptest::prelude::*;
use store_common::{Frames, Outcomes, is_stamped, operation, run_batch, stamp};

const SIZE: PageSize = PageSize::KIB_4;

fn store() -> SimStore {
    let store = SimStore::new(SIZE, 1);
    store.create_space(1, 100);
    store
}

fn page(no: u32) -> PageId {
    PageId::new(1, no)
}

fn stamped(page: PageId, version: u64) -> Vec<u8> {
    let mut bytes = vec![0; SIZE.bytes()];
    stamp(&mut bytes, page, version);
    bytes
}

proptest! {
    #[test]
    fn a_sim_store_is_an_array_of_pages(
        steps in prop::collection::vec((any::<bool>(), 0..20_u32, 1..8_u32), 1..60),
        threads in 0..3_u32,
    ) {
        let store = SimStore::with_threads(SIZE, 3, threads);
        store.create_space(1, 10);
        let mut model: BTreeMap<u32, u64> = BTreeMap::new();
        let mut frames = Frames::new(SIZE, 8);
        for (version, &(write, first, count)) in (1_u64..).zip(&steps) {
            let pages: Vec<_> = (first..first + count).map(page).collect();
            let kind = if write { Kind::Write } else { Kind::Read };
            for (frame, &page) in pages.iter().enumerate() {
                stamp(frames.get_mut(frame), page, if write { version } else { u64::MAX });
            }
            let ended = run_batch(&store, kind, &pages, &mut frames);
            for (frame, &page) in pages.iter().enumerate() {
                let outcome = &ended[&(frame as u64)];
                prop_assert_eq!(outcome.is_ok(), page.page_no < 10);
                if outcome.is_err() {
                    continue;
                }
                if write {
                    model.insert(page.page_no, version);
                    continue;
                }
                match model.get(&page.page_no) {
                    Some(&version) => prop_assert!(is_stamped(frames.get(frame), page, version)),
                    None => prop_assert!(frames.get(frame).iter().all(|&byte| byte == 0)),
                }
            }
        }
    }

    #[test]
    fn the_same_seed_and_calls_do_the_same(seed: u64, other: u64) {
        let trial = |seed: u64| {
            let store = SimStore::new(SIZE, seed);
            store.create_space(1, 100);
            store.set_faults(Faults {
                read_error: Rule::chance(0.2),
                short_read: Rule::chance(0.2),
                write_error: Rule::chance(0.2),
                torn_write: Rule::chance(0.2),
                sync_error: Rule::chance(0.2),
                delay: None,
            });
            store.hold();
            let mut frames = Frames::new(SIZE, 100);
            let outcomes = Outcomes::new();
            let mut batch: Vec<_> = (0..100_u32)
                .map(|no| {
                    let kind = if no % 3 == 0 { Kind::Read } else { Kind::Write };
                    operation(kind, page(no), &mut frames, no as usize, &outcomes)
                })
                .collect();
            store.start(&mut batch);
            let steps: Vec<_> = std::iter::from_fn(|| store.step()).collect();
            let synced: Vec<_> = (0..20).map(|_| store.sync(1).is_ok()).collect();
            let after = store.crash(seed);
            let image: Vec<_> = (0..100).map(|no| after.peek(page(no))).collect();
            (steps, store.take_log(), synced, outcomes.order(), image)
        };
        let first = trial(seed);
        prop_assert_eq!(&first, &trial(seed));
        if seed != other {
            prop_assert_ne!(&first, &trial(other));
        }
    }
}

#[test]
fn the_nth_operation_on_the_chosen_pages_fails() {
    let store = store();
    store.set_faults(Faults {
        read_error: Rule { when: When::Nth(2), pages: Pages::Range(page(3), page(5)) },
        write_error: Rule::always(Pages::One(page(8))),
        ..Faults::default()
    });
    let mut frame = vec![0; SIZE.bytes()];
    let mut reads = |no| store.read(page(no), &mut frame).is_ok();
    assert_eq!([0, 3, 2, 5, 5, 6].map(&mut reads), [true, true, true, false, true, true]);
    for no in 7..10 {
        assert_eq!(store.write(page(no), &stamped(page(no), 1)).is_ok(), no != 8);
    }
    assert_eq!(store.peek(page(8)).unwrap(), vec![0; 4096], "a write that failed changes nothing");
    assert!(Pages::Space(1).contain(page(0)) && !Pages::Space(2).contain(page(0)));
    assert!(!Pages::Range(page(3), page(5)).contain(PageId::new(2, 4)));
}

#[test]
fn failures_ordered_one_by_one_befall_once_each() {
    let store = store();
    store.fail_next(Failure::ShortRead, Pages::One(page(2)));
    store.fail_next(Failure::ReadError, Pages::All);
    store.fail_next(Failure::ReadError, Pages::All);
    store.write(page(2), &stamped(page(2), 1)).unwrap();
    let mut frame = vec![0xEE; SIZE.bytes()];
    for _ in 0..2 {
        let error = store.read(page(1), &mut frame).unwrap_err();
        assert!(error.to_string().starts_with("reading page 1:1: the simulation"), "{error}");
    }
    store.read(page(1), &mut frame).unwrap();
    frame.fill(0xEE);
    match store.read(page(2), &mut frame).unwrap_err().fault {
        Fault::ShortRead { read_bytes, page_bytes: 4096 } => {
            assert!(read_bytes < 4096 && read_bytes.is_multiple_of(SECTOR_BYTES));
            assert_eq!(frame[..read_bytes], stamped(page(2), 1)[..read_bytes]);
            assert!(frame[read_bytes..].iter().all(|&byte| byte == 0xEE));
        }
        other => panic!("{other}"),
    }
    store.read(page(2), &mut frame).unwrap();
    assert!(is_stamped(&frame, page(2), 1));
}

#[test]
fn a_torn_write_fails_and_leaves_a_mixture_of_whole_sectors() {
    let store = store();
    for no in 0..50 {
        let (old, new) = (stamped(page(no), 1), stamped(page(no), 2));
        store.write(page(no), &old).unwrap();
        store.fail_next(Failure::TornWrite, Pages::All);
        store.write(page(no), &new).unwrap_err();
        let left = store.peek(page(no)).unwrap();
        assert!(left != old && left != new);
        for (sector, bytes) in left.chunks(SECTOR_BYTES).enumerate() {
            let range = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
            assert!(bytes == &old[range.clone()] || bytes == &new[range]);
        }
    }
}

#[test]
fn a_test_decides_when_and_in_which_order_operations_end() {
    for threads in [0, 2] {
        let store = SimStore::with_threads(SIZE, 1, threads);
        store.create_space(1, 100);
        store.hold();
        let mut frames = Frames::new(SIZE, 6);
        let outcomes = Outcomes::new();
        let mut batch: Vec<_> = (0..6_u32)
            .map(|no| operation(Kind::Read, page(no), &mut frames, no as usize, &outcomes))
            .collect();
        store.start(&mut batch);
        assert_eq!(store.held().len(), 6);
        assert_eq!(outcomes.count(), 0);
        assert_eq!(store.release(2), 2);
        assert_eq!(outcomes.order(), [0, 1]);
        assert!(store.release_page(page(4)) && !store.release_page(page(4)));
        assert_eq!(outcomes.order(), [0, 1, 4]);
        let (kind, stepped) = store.step().unwrap();
        assert_eq!(kind, Kind::Read);
        assert_eq!(outcomes.order()[3], u64::from(stepped.page_no));
        assert_eq!(store.held().len(), 2);
        store.resume();
        assert!(outcomes.wait(6).values().all(Result::is_ok));
        assert_eq!((store.step(), store.release(1)), (None, 0));
        assert_eq!(run_batch(&store, Kind::Read, &[page(1)], &mut frames).len(), 1);
    }
}

#[test]
fn threads_reorder_and_delays_take_time() {
    let store = SimStore::with_threads(SIZE, 9, 4);
    store.create_space(1, 100);
    let delay = Delay { min: Duration::from_micros(500), max: Duration::from_millis(3) };
    store.set_faults(Faults { delay: Some(delay), ..Faults::default() });
    let mut frames = Frames::new(SIZE, 100);
    let outcomes = Outcomes::new();
    let mut batch: Vec<_> = (0..100_u32)
        .map(|no| operation(Kind::Write, page(no), &mut frames, no as usize, &outcomes))
        .collect();
    let begun = Instant::now();
    store.start(&mut batch);
    outcomes.wait(100);
    // 100 operations on 4 threads of at least 0.5 ms each.
    assert!(begun.elapsed() >= Duration::from_micros(12_500));
    assert!(!outcomes.order().is_sorted());
}

#[test]
fn operations_left_at_the_end_are_carried_out_or_failed() {
    let mut frames = Frames::new(SIZE, 50);
    for (threads, held) in [(0, true), (3, true), (3, false)] {
        let store = SimStore::with_threads(SIZE, 1, threads);
        store.create_space(1, 100);
        if held {
            store.hold();
        }
        let outcomes = Outcomes::new();
        let mut batch: Vec<_> = (0..50_u32)
            .map(|no| operation(Kind::Read, page(no), &mut frames, no as usize, &outcomes))
            .collect();
        store.start(&mut batch);
        drop(store);
        assert_eq!(outcomes.count(), 50);
        for outcome in outcomes.wait(50).values() {
            match outcome {
                Ok(()) => assert!(!held),
                Err(error) => assert!(held && matches!(error.fault, Fault::Dropped), "{error}"),
            }
        }
    }
}

#[test]
fn counts_and_the_log_tell_what_took_effect_in_order() {
    let store = store();
    let mut frame = vec![0; SIZE.bytes()];
    store.fail_next(Failure::SyncError, Pages::Space(1));
    store.write(page(1), &frame).unwrap();
    store.sync(1).unwrap_err();
    store.read(page(1), &mut frame).unwrap();
    store.read(page(100), &mut frame).unwrap_err();
    let event = |what, no, ok| Event { what, page: page(no), ok };
    assert_eq!(
        store.take_log(),
        [
            event(What::Write, 1, true),
            event(What::Sync, 0, false),
            event(What::Read, 1, true),
            event(What::Read, 100, false),
        ]
    );
    assert_eq!(store.counts(), Counts { reads: 2, writes: 1, syncs: 1 });
    store.record(false);
    store.sync(1).unwrap();
    assert_eq!(store.take_log(), []);
}

#[test]
fn a_hook_sees_every_write_before_it_takes_effect() {
    let store = Arc::new(store());
    let seen: Arc<Mutex<Vec<(PageId, u8, u8)>>> = Arc::default();
    let (theirs, weak) = (Arc::clone(&seen), Arc::downgrade(&store));
    store.on_write(Box::new(move |page, bytes| {
        let before = weak.upgrade().unwrap().peek(page).unwrap()[0];
        theirs.lock().unwrap().push((page, before, bytes[0]));
    }));
    store.write(page(1), &[7; 4096]).unwrap();
    let mut frames = Frames::new(SIZE, 1);
    frames.get_mut(0).fill(9);
    run_batch(&*store, Kind::Write, &[page(1)], &mut frames);
    assert_eq!(*seen.lock().unwrap(), [(page(1), 0, 7), (page(1), 7, 9)]);
}

#[test]
fn spaces_grow_go_and_can_be_corrupted() {
    let store = store();
    assert_eq!(store.extend_space(1, 5).unwrap(), 105);
    assert_eq!(store.space_pages(1).unwrap(), 105);
    store.poke(page(104), &[3; 4096]).unwrap();
    assert_eq!(store.crash(1).peek(page(104)).unwrap(), [3; 4096]);
    assert_eq!(store.crash(1).space_pages(1).unwrap(), 105);
    assert!(store.poke(page(105), &[3; 4096]).is_err());
    assert!(store.poke(page(1), &[3; 100]).is_err());
    store.drop_space(1).unwrap();
    assert!(matches!(store.space_pages(1).unwrap_err().fault, Fault::NoSuchSpace(1)));
    assert!(store.drop_space(1).is_err() && store.extend_space(1, 1).is_err());
    assert!(store.read(page(0), &mut [0; 4096]).is_err() && store.sync(1).is_err());
}
