//! Models for `loom`, which runs them under every schedule of few preemptions, and lets every load see every value that the
//! memory orders allow: `cargo test -p innopool-buf --features loom --lib loom_models`.
//!
//! The first half is about latches alone, on one frame. The second half runs a pool of two frames. Both
//! use the production source; [`Touched`] tells loom of every access to a frame's bytes, so bytes that are used without the
//! latch, or under a latch that does not order its holders' accesses, are found as races.
//!
//! What loom does not see here: the promotion queue and the cells that are set once (their crates' and the standard
//! library's own atomics), and the counters.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use loom::model::Builder;
use loom::thread;

use crate::flush::{Batch, Busy};
use crate::frame::Frame;
use crate::frame::latch::{Latched, WaitRooms, Want};
use crate::frame::word::{DIRTY, EXCLUSIVE, PIN, Phase, SHARED, UPDATE};
use crate::store::SimStore;
use crate::store::sim::{Failure, Pages};
use crate::sync::{AtomicBool, Ordering, Touched};
use crate::translation::{PageTable, Translation};
use crate::{Background, Hint, Lsn, ManualClock, NoLog, PageId, PageSize, PlainPages, Pool};
use crate::{Clock, PoolOptions, Promotion, ReadAheadSettings};

/// Runs `model` under every schedule with at most `preemptions` switches that no thread asked for.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// One frame with a page in it, and the room to wait for its latch.
struct Latch {
    frame: Frame,
    rooms: WaitRooms,
    touched: Touched,
}

impl Latch {
    fn new(phase: Phase, bits: u64) -> Arc<Latch> {
        let latch =
            Latch { frame: Frame::free(), rooms: WaitRooms::new(), touched: Touched::new(1) };
        latch.frame.state.fetch_add(phase.bits() + bits, Ordering::AcqRel);
        Arc::new(latch)
    }

    fn read(&self) -> Latched {
        self.rooms.add_pin(&self.frame);
        let latched = self.rooms.latch(&self.frame, Want::Shared);
        if latched == Latched::Yes {
            self.touched.read(0);
            self.rooms.release(&self.frame, SHARED);
        }
        self.rooms.release(&self.frame, PIN);
        latched
    }

    /// The way of a hit. When it fails it would go the long way.
    fn try_read(&self) {
        if self.rooms.try_pin_shared(&self.frame).is_ok() {
            self.touched.read(0);
            self.rooms.release(&self.frame, PIN + SHARED);
        }
    }

    fn write(&self) {
        self.rooms.add_pin(&self.frame);
        assert_eq!(self.rooms.latch(&self.frame, Want::Exclusive), Latched::Yes);
        self.touched.written(0);
        self.rooms.release(&self.frame, PIN + EXCLUSIVE);
    }

    fn write_by_upgrade(&self) {
        self.rooms.add_pin(&self.frame);
        assert_eq!(self.rooms.latch(&self.frame, Want::Update), Latched::Yes);
        self.touched.read(0);
        assert_eq!(self.rooms.latch(&self.frame, Want::Upgrade), Latched::Yes);
        self.touched.written(0);
        self.rooms.downgrade(&self.frame);
        self.touched.read(0);
        self.rooms.release(&self.frame, PIN + UPDATE);
    }

    /// That every latch and pin was given back.
    fn assert_idle(&self) {
        assert_eq!(self.frame.word().0 & !(0b11 << 42), Phase::Resident.bits());
    }
}

/// Runs both at once, and the third in this thread.
fn latch_model(
    preemptions: usize,
    start: fn() -> Arc<Latch>,
    others: &'static [fn(&Latch)],
    own: fn(&Latch),
) {
    check(preemptions, move || {
        let latch = start();
        let threads: Vec<_> = others
            .iter()
            .map(|body| {
                let latch = latch.clone();
                thread::spawn(move || body(&latch))
            })
            .collect();
        own(&latch);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

fn resident() -> Arc<Latch> {
    Latch::new(Phase::Resident, 0)
}

#[test]
fn a_reader_and_two_writers() {
    latch_model(
        3,
        resident,
        &[|latch| latch.write(), |latch| assert_eq!(latch.read(), Latched::Yes)],
        |latch| latch.write(),
    );
}

#[test]
fn readers_on_the_fast_way_and_a_writer() {
    latch_model(3, resident, &[|latch| latch.write(), Latch::try_read], Latch::try_read);
}

#[test]
fn an_upgrade_waits_for_readers_and_lets_them_in_again() {
    latch_model(
        3,
        resident,
        &[|latch| latch.write_by_upgrade(), |latch| assert_eq!(latch.read(), Latched::Yes)],
        Latch::try_read,
    );
}

#[test]
fn a_downgrade_lets_sleepers_in() {
    check(3, || {
        let latch = resident();
        let reader = latch.clone();
        let has_read = Arc::new(AtomicBool::new(false));
        let tell = has_read.clone();
        latch.rooms.add_pin(&latch.frame);
        assert_eq!(latch.rooms.latch(&latch.frame, Want::Exclusive), Latched::Yes);
        let reader = thread::spawn(move || {
            assert_eq!(reader.read(), Latched::Yes);
            tell.store(true, Ordering::Release);
        });
        latch.touched.written(0);
        latch.rooms.downgrade(&latch.frame);
        while !has_read.load(Ordering::Acquire) {
            thread::yield_now();
        }
        latch.rooms.release(&latch.frame, PIN + UPDATE);
        reader.join().unwrap();
    });
}

#[test]
fn two_upgraders_and_a_writer() {
    check(2, || {
        let latch = resident();
        let (first, second) = (latch.clone(), latch.clone());
        let first = thread::spawn(move || first.write_by_upgrade());
        let second = thread::spawn(move || second.write());
        latch.write_by_upgrade();
        first.join().unwrap();
        second.join().unwrap();
        latch.assert_idle();
    });
}

#[test]
fn who_waits_for_a_load_sees_what_was_loaded() {
    latch_model(
        3,
        || Latch::new(Phase::Loading, PIN + EXCLUSIVE),
        &[
            |latch| {
                latch.touched.written(0);
                latch.rooms.end_load(&latch.frame, Phase::Resident, PIN + EXCLUSIVE);
            },
            |latch| assert_eq!(latch.read(), Latched::Yes),
        ],
        Latch::try_read,
    );
}

#[test]
fn who_waits_for_a_load_that_fails_is_told() {
    latch_model(
        3,
        || Latch::new(Phase::Loading, PIN + EXCLUSIVE),
        &[
            |latch| {
                latch.rooms.end_load(&latch.frame, Phase::Failed, EXCLUSIVE);
                latch.rooms.release(&latch.frame, PIN);
            },
            |latch| assert_eq!(latch.read(), Latched::ReadFailed),
        ],
        |latch| assert_eq!(latch.read(), Latched::ReadFailed),
    );
}

const SIZE: PageSize = PageSize::KIB_4;

fn page(number: u32) -> PageId {
    PageId::new(1, number)
}

/// A pool of two frames; page `n` is full of `n + 1`.
fn pool(set: impl Fn(&mut PoolOptions)) -> (Arc<Pool>, Arc<SimStore>) {
    let store = Arc::new(SimStore::new(SIZE, 1));
    store.create_space(1, 8);
    for number in 0..8u8 {
        store.poke(page(u32::from(number)), &vec![number + 1; SIZE.bytes()]).unwrap();
    }
    let mut options = PoolOptions {
        size_bytes: 2 * SIZE.bytes() as u64,
        size_max_bytes: 2 * SIZE.bytes() as u64,
        page_size: SIZE,
        background: Background::Manual,
        promotion: Promotion::Exact,
        read_ahead: ReadAheadSettings::OFF,
        clock: Clock::Manual(ManualClock::new()),
        writes_in_flight_max: 1,
        ..PoolOptions::default()
    };
    set(&mut options);
    let log = Arc::new(NoLog::new());
    let pool = Pool::new(options, store.clone(), log, Arc::new(PlainPages)).unwrap();
    (Arc::new(pool), store)
}

fn read(pool: &Pool, number: u8) {
    let guard = pool.get_shared(page(u32::from(number)), Hint::Normal).unwrap();
    let bytes: &[u8] = &guard;
    assert_eq!((bytes[0], bytes[SIZE.bytes() - 1]), (number + 1, number + 1));
}

/// Adds 1 to the second byte of page `number`.
fn change(pool: &Pool, number: u32, lsn: u64) {
    let mut guard = pool.get_exclusive(page(number), Hint::Normal).unwrap();
    guard[1] += 1;
    guard.mark_dirty(Lsn(lsn), Lsn(lsn)).unwrap();
}

fn pool_model(
    preemptions: usize,
    set: fn(&mut PoolOptions),
    before: fn(&Pool, &SimStore),
    other: fn(&Pool),
    own: fn(&Pool),
    after: fn(&Pool, &SimStore),
) {
    check(preemptions, move || {
        let (pool, store) = pool(set);
        before(&pool, &store);
        let shared = pool.clone();
        let thread = thread::spawn(move || {
            other(&shared);
            drop(shared);
        });
        own(&pool);
        thread.join().unwrap();
        let stats = pool.stats();
        assert_eq!(stats.data_pages + stats.free_pages, 2, "no frame is lost");
        after(&pool, &store);
    });
}

#[test]
fn a_hit_against_the_eviction_of_its_page_and_a_load_into_its_frame() {
    pool_model(
        2,
        |_| {},
        |pool, _| [0, 1].into_iter().for_each(|number| read(pool, number)),
        |pool| read(pool, 2),
        |pool| read(pool, 0),
        |_, _| {},
    );
}

#[test]
fn a_hit_against_the_loss_of_its_page_and_a_move_into_its_frame() {
    pool_model(
        2,
        |_| {},
        |pool, _| [0, 1].into_iter().for_each(|number| read(pool, number)),
        |pool| {
            let inner = &pool.inner;
            let from = inner.pages.find(page(0)).unwrap();
            if pool.discard(page(1)).is_ok() {
                inner.withdraw_one(&inner.instances[0], from);
            }
        },
        |pool| read(pool, 1),
        |_, _| {},
    );
}

#[test]
fn two_that_miss_the_same_page() {
    pool_model(
        2,
        |_| {},
        |_, _| {},
        |pool| read(pool, 3),
        |pool| read(pool, 3),
        |_, store| assert_eq!(store.counts().reads, 1),
    );
}

fn get_what_fails_once(pool: &Pool) {
    let Err(error) = pool.get_shared(page(3), Hint::Normal) else { return };
    assert!(error.to_string().contains("fails this read"), "{error}");
}

#[test]
fn two_that_miss_a_page_that_cannot_be_read_once() {
    pool_model(
        2,
        |_| {},
        |_, store| store.fail_next(Failure::ReadError, Pages::All),
        get_what_fails_once,
        get_what_fails_once,
        |pool, _| [3, 4].into_iter().for_each(|number| read(pool, number)),
    );
}

/// The page is out of sight before its waiters are told.
#[test]
fn who_is_told_of_a_failed_read_can_read_the_page() {
    pool_model(
        1,
        |_| {},
        |_, store| store.fail_next(Failure::ReadError, Pages::All),
        get_what_fails_once,
        |pool| {
            get_what_fails_once(pool);
            read(pool, 3);
        },
        |_, _| {},
    );
}

#[test]
fn a_change_against_a_flush_of_its_page() {
    pool_model(
        2,
        |_| {},
        |pool, _| change(pool, 0, 10),
        |pool| change(pool, 0, 20),
        |pool| drop(pool.flush_all()),
        |pool, store| {
            let (written, oldest) = (store.peek(page(0)).unwrap()[1], pool.oldest_lsn());
            match oldest {
                None => assert_eq!(written, 3, "clean, so both changes are in the store"),
                Some(lsn) => {
                    assert!(written == 2 && lsn == Lsn(20), "{written} with {lsn:?} unwritten");
                }
            }
            pool.flush_all().unwrap();
            assert_eq!(store.peek(page(0)).unwrap()[1], 3);
        },
    );
}

#[test]
fn a_change_against_a_move_of_its_page() {
    pool_model(
        2,
        |_| {},
        |pool, _| change(pool, 0, 10),
        |pool| change(pool, 0, 20),
        |pool| {
            let inner = &pool.inner;
            let from = inner.pages.find(page(0)).unwrap();
            inner.withdraw_one(&inner.instances[0], from);
        },
        |pool, store| {
            assert_eq!(pool.oldest_lsn(), Some(Lsn(10)));
            pool.flush_all().unwrap();
            assert_eq!(store.peek(page(0)).unwrap()[1], 3);
        },
    );
}

#[test]
fn a_creation_against_a_get() {
    pool_model(
        2,
        |_| {},
        |_, _| {},
        |pool| {
            let mut guard = pool.create(page(0)).unwrap();
            assert!(guard.iter().all(|&byte| byte == 0));
            guard[0] = 9;
            guard.mark_dirty(Lsn(1), Lsn(2)).unwrap();
        },
        |pool| {
            let first = pool.get_shared(page(0), Hint::Normal).unwrap()[0];
            assert!([1, 9].contains(&first), "{first}");
        },
        |pool, _| assert_eq!(pool.get_shared(page(0), Hint::Normal).unwrap()[0], 9),
    );
}

#[test]
fn a_discard_against_a_get() {
    pool_model(
        2,
        |_| {},
        |pool, _| change(pool, 0, 10),
        |pool| drop(pool.discard(page(0))),
        |pool| {
            let second = pool.get_shared(page(0), Hint::Normal).unwrap()[1];
            assert!([1, 2].contains(&second), "{second}");
        },
        |_, _| {},
    );
}

/// A page is chosen for its neighbour's sake without the lock of the flush list.
#[test]
fn a_discard_against_a_write_with_its_neighbour() {
    pool_model(
        2,
        |_| {},
        |pool, _| change(pool, 0, 10),
        |pool| {
            let inner = &pool.inner;
            let Some(frame) = inner.pages.find(page(0)) else { return };
            if inner.choose_for_write(frame, false) {
                let batch = Batch::new(inner);
                inner.write_chosen(&batch, &[frame], Busy::Skip, false).unwrap();
                batch.wait().unwrap();
            }
        },
        |pool| drop(pool.discard(page(0))),
        |pool, _| {
            assert_eq!(pool.stats().dirty_pages, 0);
            change(pool, 1, 30);
            assert_eq!((pool.stats().dirty_pages, pool.oldest_lsn()), (1, Some(Lsn(30))));
        },
    );
}

#[test]
fn pages_of_new_segments_enter_the_table_at_once() {
    // A segment has four pages and the first directory two entries here, so these make the directory grow twice.
    check(3, || {
        let table = Arc::new(PageTable::new(Translation::Array));
        table.claim(page(0), 7).unwrap();
        let other = table.clone();
        let thread = thread::spawn(move || {
            let (first, second) = (other.claim(page(4), 1), other.claim(page(8), 2));
            assert_eq!(second, Ok(()));
            assert_eq!(other.find(page(8)), Some(2));
            first
        });
        assert_eq!(table.find(page(0)), Some(7), "whichever directory is read");
        let own = table.claim(page(4), 3);
        assert_eq!(table.find(page(4)), Some(if own.is_ok() { 3 } else { 1 }));
        let first = thread.join().unwrap();
        assert!(first.is_ok() != own.is_ok(), "one has it: {first:?} {own:?}");
        assert_eq!((table.find(page(8)), table.find(page(0))), (Some(2), Some(7)));
    });
}

/// Marks are set and cleared by threads without a pin, while others latch.
#[test]
fn marks_and_latches_share_a_word() {
    latch_model(
        3,
        resident,
        &[
            |latch| {
                latch.frame.state.fetch_or(DIRTY, Ordering::AcqRel);
                latch.frame.state.fetch_and(!DIRTY, Ordering::AcqRel);
            },
            |latch| latch.write(),
        ],
        |latch| assert_eq!(latch.read(), Latched::Yes),
    );
}
