//! The whole pool under random schedules: `cargo test -p innopool-buf --features shuttle --test shuttle_pool`.
//!
//! The production source runs with shuttle's locks, atomics and threads, in pools of two to four frames, so that every
//! page is in everybody's way. Each model is run under the random scheduler and under PCT, which finds what needs a few
//! preemptions at the right places. A page says in its first and its last eight bytes which it is and how often it was
//! changed; the store reads and writes it in two halves with other threads between them, so a page that is touched
//! without its latch is seen half. A thread that sleeps for ever is a deadlock, which shuttle reports.
//!
//! `SHUTTLE_ITERATIONS` sets how many schedules each model is run under, by each scheduler.

#![cfg(feature = "shuttle")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::time::Duration;

use innopool_buf::store::sim::{Failure, Pages};
use innopool_buf::store::{Operation, PageStore, SimStore, StoreError};
use innopool_buf::{Background, Clock, ExclusiveGuard, Hint, ManualClock, NoLog, PageId};
use innopool_buf::{FlushNeighbours, ListRules, Lsn, PageFormat, PageSize, PoolError, PoolOptions};
use innopool_buf::{PlainPages, Pool, Promotion, ReadAheadSettings, ResizeControl, Translation};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use shuttle::thread;

const SIZE: PageSize = PageSize::KIB_4;
const STORE_PAGES: u32 = 8;

fn page(number: u32) -> PageId {
    PageId::new(1, number)
}

/// Runs `model` under many schedules.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let iterations = std::env::var("SHUTTLE_ITERATIONS");
    let iterations = iterations.ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let model = Arc::new(model);
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    config.stack_size = 1 << 18;
    config.max_steps = shuttle::MaxSteps::FailAfter(200_000);
    let random = model.clone();
    shuttle::Runner::new(RandomScheduler::new(iterations), config.clone()).run(move || random());
    let pct = PctScheduler::new(3, iterations);
    shuttle::Runner::new(pct, config).run(move || model());
}

/// A moment at which other threads may run. Not a yield, after which PCT would let all others run first.
fn pause() {
    AtomicBool::new(false).load(Ordering::Relaxed);
}

/// What a page holds: its number and its version, at the front and, for a page that is whole, again at the end.
fn fill(bytes: &mut [u8], number: u32, version: u32) {
    let word = u64::from(number) << 32 | u64::from(version);
    let end = bytes.len() - 8;
    bytes[..8].copy_from_slice(&word.to_le_bytes());
    // Anybody who looks now sees half a page.
    pause();
    bytes[end..].copy_from_slice(&word.to_le_bytes());
}

/// The version of page `number`.
fn version_of(bytes: &[u8], number: u32) -> u32 {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let front = word(&bytes[..8]);
    pause();
    let end = word(&bytes[bytes.len() - 8..]);
    assert_eq!(front, end, "page {number} is whole");
    assert_eq!(front >> 32, u64::from(number), "it is the page that was asked for");
    u32::try_from(front & 0xFFFF_FFFF).unwrap()
}

/// A store whose reads and writes take a while: other threads run in the middle of each.
struct Store {
    sim: SimStore,
    /// Whether batches wait for a thread that calls [`Store::carry_out`].
    held: bool,
    /// Pages with a read or write under way, one bit each: the pool promises never two at once.
    busy: AtomicU64,
}

impl Store {
    fn begin(&self, page: PageId) {
        let before = self.busy.fetch_xor(1 << page.page_no, Ordering::AcqRel);
        assert_eq!(before & (1 << page.page_no), 0, "two operations at once on {page}");
    }

    fn end(&self, page: PageId) {
        self.busy.fetch_xor(1 << page.page_no, Ordering::AcqRel);
    }

    /// Carries out held operations until `stop`, as a device does, in any order.
    fn carry_out(&self, stop: &AtomicBool) {
        loop {
            // Looked at first: what was started before the stop is carried out.
            let stopping = stop.load(Ordering::Acquire);
            if self.sim.step().is_none() && stopping {
                return;
            }
            thread::yield_now();
        }
    }
}

impl PageStore for Store {
    fn page_size(&self) -> PageSize {
        SIZE
    }

    fn space_pages(&self, _space: u32) -> Result<u32, StoreError> {
        Ok(STORE_PAGES)
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        self.begin(page);
        let mut whole = vec![0; SIZE.bytes()];
        let result = self.sim.read(page, &mut whole);
        let middle = whole.len() / 2;
        frame[..middle].copy_from_slice(&whole[..middle]);
        pause();
        frame[middle..].copy_from_slice(&whole[middle..]);
        self.end(page);
        result
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        self.sim.write(page, frame)
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        if self.held {
            self.sim.start(batch);
            return;
        }
        for mut operation in batch.drain(..) {
            let page = operation.page();
            let result = match operation.buffer_mut() {
                Some(frame) => self.read(page, frame),
                None => {
                    self.begin(page);
                    let version = version_of(operation.buffer(), page.page_no);
                    let stored = version_of(&self.sim.peek(page).unwrap(), page.page_no);
                    assert!(version >= stored, "{page} goes back from {stored} to {version}");
                    let result = self.sim.write(page, operation.buffer());
                    self.end(page);
                    result
                }
            };
            operation.complete(result.map_err(|error| error.fault));
        }
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        pause();
        self.sim.sync(space)
    }
}

/// A pool, and what it stands on.
struct Rig {
    pool: Pool,
    store: Arc<Store>,
    log: Arc<NoLog>,
    clock: ManualClock,
}

impl Rig {
    fn new(frames: u64) -> Arc<Rig> {
        Rig::with(frames, false, Arc::new(PlainPages), |_| {})
    }

    fn with(
        frames: u64,
        held: bool,
        format: Arc<dyn PageFormat>,
        set: impl Fn(&mut PoolOptions),
    ) -> Arc<Rig> {
        let sim = SimStore::new(SIZE, 1);
        sim.create_space(1, STORE_PAGES);
        let mut bytes = vec![0; SIZE.bytes()];
        for number in 0..STORE_PAGES {
            fill(&mut bytes, number, 0);
            sim.poke(page(number), &bytes).unwrap();
        }
        if held {
            sim.hold();
        }
        let clock = ManualClock::new();
        let mut options = PoolOptions {
            size_bytes: frames * SIZE.bytes() as u64,
            size_max_bytes: frames * SIZE.bytes() as u64,
            page_size: SIZE,
            background: Background::Manual,
            promotion: Promotion::Batched,
            read_ahead: ReadAheadSettings::OFF,
            // Every access after the first promotes.
            list: ListRules { old_blocks_time: Duration::ZERO, ..PoolOptions::default().list },
            clock: Clock::Manual(clock.clone()),
            writes_in_flight_max: 2,
            // Only a pool that hangs takes so long.
            exhausted_after: Duration::from_secs(60),
            ..PoolOptions::default()
        };
        set(&mut options);
        let store = Arc::new(Store { sim, held, busy: AtomicU64::new(0) });
        let log = Arc::new(NoLog::new());
        let pool = Pool::new(options, store.clone(), log.clone(), format).unwrap();
        Arc::new(Rig { pool, store, log, clock })
    }

    fn read(&self, number: u32) -> u32 {
        let guard = self.pool.get_shared(page(number), Hint::Normal).unwrap();
        version_of(&guard, number)
    }

    /// Reads a page and checks it.
    fn visit(&self, number: u32) {
        self.read(number);
    }

    fn flush(&self) {
        self.pool.flush_all().unwrap();
    }

    /// Starts reading the first `pages` pages.
    fn prefetch(&self, pages: u32) {
        self.pool.prefetch((0..pages).map(page), Hint::ReadAhead);
    }

    fn change(&self, number: u32) {
        self.change_latched(self.pool.get_exclusive(page(number), Hint::Normal).unwrap(), number);
    }

    fn change_latched(&self, mut guard: ExclusiveGuard<'_>, number: u32) {
        let version = version_of(&guard, number);
        fill(&mut guard, number, version + 1);
        let lsn = self.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
    }

    /// What the store has of a page, after everything was flushed.
    fn stored(&self, number: u32) -> u32 {
        version_of(&self.store.sim.peek_durable(page(number)).unwrap(), number)
    }

    /// That every frame is accounted for when nobody holds one.
    fn assert_idle(&self, frames: u64) {
        let stats = self.pool.stats();
        assert_eq!(stats.data_pages + stats.free_pages, frames, "no frame is lost");
        assert_eq!(stats.pending_reads, 0);
    }

    /// That `changes` of a page are in the store after a flush.
    fn assert_kept(&self, changes: &[(u32, u32)]) {
        self.pool.flush_all().unwrap();
        assert_eq!(self.pool.oldest_lsn(), None);
        for &(number, version) in changes {
            assert_eq!(self.stored(number), version, "changes of page {number} in the store");
            assert_eq!(self.read(number), version, "changes of page {number} in the pool");
        }
    }
}

type Body = Box<dyn FnOnce(&Rig) + Send>;

/// Runs each of `bodies` in a thread of its own and waits for all.
fn together(rig: &Arc<Rig>, bodies: Vec<Body>) {
    let threads: Vec<_> = bodies
        .into_iter()
        .map(|body| {
            let rig = rig.clone();
            thread::spawn(move || body(&rig))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

macro_rules! threads {
    ($rig:expr, $($body:expr),+ $(,)?) => {
        together(&$rig, vec![$(Box::new($body)),+])
    };
}

#[test]
fn a_frame_that_changes_its_page_is_never_read_as_the_old_one() {
    for translation in [Translation::Array, Translation::Sharded] {
        check(move || {
            let set = |options: &mut PoolOptions| options.translation = translation;
            let rig = Rig::with(2, false, Arc::new(PlainPages), set);
            threads!(rig, |rig: &Rig| (0..4).for_each(|_| rig.visit(0)), |rig: &Rig| [
                1, 2, 3, 0, 1
            ]
            .into_iter()
            .for_each(|number| rig.visit(number)),);
            rig.assert_idle(2);
        });
    }
}

#[test]
fn a_page_that_many_miss_is_read_once() {
    check(|| {
        let rig = Rig::new(4);
        threads!(
            rig,
            |rig: &Rig| assert_eq!(rig.read(0), 0),
            |rig: &Rig| assert_eq!(rig.read(0), 0),
            |rig: &Rig| drop(rig.pool.get_update(page(0), Hint::Normal).unwrap()),
        );
        assert_eq!(rig.store.sim.counts().reads, 1);
        rig.assert_idle(4);
    });
}

#[test]
fn a_failed_read_reaches_who_waits_and_its_frame_comes_back() {
    check(|| {
        let rig = Rig::new(2);
        rig.store.sim.fail_next(Failure::ReadError, Pages::One(page(0)));
        rig.store.sim.fail_next(Failure::ReadError, Pages::One(page(0)));
        let reader = |rig: &Rig| match rig.pool.get_shared(page(0), Hint::Normal) {
            Ok(guard) => assert_eq!(version_of(&guard, 0), 0),
            Err(PoolError::Store(error)) => assert!(error.to_string().contains("fails this read")),
            Err(other) => panic!("{other}"),
        };
        let other = |rig: &Rig| [1, 2].into_iter().for_each(|number| rig.visit(number));
        threads!(rig, reader, reader, reader, other);
        rig.assert_idle(2);
        // All frames can be had at once: none is held by the failure.
        let both = [1, 2].map(|number| rig.pool.get_shared(page(number), Hint::Normal).unwrap());
        drop(both);
    });
}

/// Pages are never what they should be.
struct Damaged;

impl PageFormat for Damaged {
    fn verify(&self, page: PageId, _: &[u8]) -> Result<(), String> {
        if page.page_no == 0 { Err("it is damaged".to_owned()) } else { Ok(()) }
    }

    fn seal(&self, _: PageId, _: Lsn, _: &mut [u8]) {}
}

#[test]
fn a_damaged_page_is_nobodys() {
    check(|| {
        let rig = Rig::with(2, true, Arc::new(Damaged), |_| {});
        let stop = Arc::new(AtomicBool::new(false));
        let (device, stopped) = (rig.clone(), stop.clone());
        let device = thread::spawn(move || device.store.carry_out(&stopped));
        let reader = |rig: &Rig| {
            let error = rig.pool.get_shared(page(0), Hint::Normal).map(|_| ()).unwrap_err();
            assert!(matches!(error, PoolError::Damaged { .. }), "{error}");
        };
        threads!(
            rig,
            |rig: &Rig| rig.prefetch(2),
            reader,
            reader,
            // Accesses that leave notes in the promotion queue, and drain it.
            |rig: &Rig| [1, 2, 1].into_iter().for_each(|number| rig.visit(number)),
        );
        stop.store(true, Ordering::Release);
        device.join().unwrap();
        rig.assert_idle(2);
    });
}

#[test]
fn latches_exclude_each_other_and_nobody_sleeps_for_ever() {
    check(|| {
        let rig = Rig::new(2);
        rig.read(0);
        threads!(
            rig,
            |rig: &Rig| {
                let update = rig.pool.get_update(page(0), Hint::Normal).unwrap();
                let before = version_of(&update, 0);
                let mut guard = update.upgrade();
                assert_eq!(version_of(&guard, 0), before, "nobody wrote during the upgrade");
                fill(&mut guard, 0, before + 1);
                let lsn = rig.log.advance();
                guard.mark_dirty(lsn, lsn).unwrap();
                let update = guard.downgrade();
                assert_eq!(version_of(&update, 0), before + 1);
                let pinned = update.unlatch();
                rig.change_latched(pinned.exclusive().unwrap(), 0);
            },
            |rig: &Rig| rig.change(0),
            |rig: &Rig| {
                let first = rig.read(0);
                assert!(rig.read(0) >= first);
            },
            |rig: &Rig| rig.visit(0),
        );
        rig.assert_kept(&[(0, 3)]);
    });
}

#[test]
fn a_change_during_a_write_is_not_lost() {
    check(|| {
        let rig = Rig::with(2, true, Arc::new(PlainPages), |_| {});
        let stop = Arc::new(AtomicBool::new(false));
        let (device, stopped) = (rig.clone(), stop.clone());
        let device = thread::spawn(move || device.store.carry_out(&stopped));
        threads!(
            rig,
            |rig: &Rig| (0..3).for_each(|_| rig.change(0)),
            |rig: &Rig| rig.flush(),
            |rig: &Rig| (0..2).for_each(|_| rig.change(1)),
            |rig: &Rig| drop(rig.pool.clean()),
        );
        rig.assert_kept(&[(0, 3), (1, 2)]);
        stop.store(true, Ordering::Release);
        device.join().unwrap();
        rig.assert_idle(2);
    });
}

#[test]
fn a_checkpoint_covers_only_what_is_durable() {
    check(|| {
        let rig = Rig::new(4);
        threads!(
            rig,
            |rig: &Rig| {
                (0..2).for_each(|_| rig.change(0));
                rig.flush();
            },
            |rig: &Rig| rig.flush(),
            |rig: &Rig| {
                // LSNs count changes here, from 2 on.
                let lsn = rig.pool.checkpoint_lsn().unwrap();
                let durable = u64::from(rig.stored(0));
                assert!(lsn.0 <= durable + 2, "checkpoint {lsn:?} with {durable} changes durable");
            },
        );
        rig.assert_kept(&[(0, 2)]);
    });
}

#[test]
fn changes_survive_evictions_by_others() {
    for promotion in [Promotion::Exact, Promotion::Batched] {
        check(move || {
            let set = |options: &mut PoolOptions| options.promotion = promotion;
            let rig = Rig::with(2, false, Arc::new(PlainPages), set);
            threads!(
                rig,
                |rig: &Rig| [0, 1, 0].into_iter().for_each(|number| rig.change(number)),
                |rig: &Rig| [2, 0, 3].into_iter().for_each(|number| rig.change(number)),
                |rig: &Rig| [0, 2, 1].into_iter().for_each(|number| rig.visit(number)),
            );
            rig.assert_kept(&[(0, 3), (1, 1), (2, 1), (3, 1)]);
            rig.assert_idle(2);
        });
    }
}

#[test]
fn a_pinned_page_stays_where_it_is() {
    check(|| {
        let rig = Rig::new(2);
        threads!(
            rig,
            |rig: &Rig| {
                let pinned = rig.pool.pin(page(0), Hint::Normal).unwrap();
                pause();
                assert_eq!(version_of(&pinned.shared().unwrap(), 0), 0);
                rig.change_latched(pinned.exclusive().unwrap(), 0);
                assert_eq!(version_of(&pinned.shared().unwrap(), 0), 1);
            },
            |rig: &Rig| [1, 2, 3].into_iter().for_each(|number| rig.visit(number)),
            |rig: &Rig| drop(rig.pool.clean()),
        );
        rig.assert_kept(&[(0, 1)]);
    });
}

#[test]
fn a_shrink_moves_pages_under_those_who_use_them() {
    for translation in [Translation::Array, Translation::Sharded] {
        check(move || {
            let set = |options: &mut PoolOptions| options.translation = translation;
            let rig = Rig::with(4, false, Arc::new(PlainPages), set);
            // The frames that stay are freed again, so that pages move into them.
            (0..4).for_each(|number| rig.change(number));
            rig.pool.discard(page(0)).unwrap();
            rig.pool.discard(page(1)).unwrap();
            threads!(
                rig,
                |rig: &Rig| {
                    let (control, patience) = (ResizeControl::default(), Duration::from_secs(60));
                    let size = 2 * SIZE.bytes() as u64;
                    assert_eq!(rig.pool.resize(size, patience, &control).unwrap(), size);
                },
                |rig: &Rig| {
                    rig.change(2);
                    assert!(rig.read(3) >= 1);
                    rig.change(3);
                },
                |rig: &Rig| {
                    rig.flush();
                    assert!(rig.read(2) >= 1);
                },
            );
            rig.assert_kept(&[(2, 2), (3, 2)]);
            rig.assert_idle(2);
        });
    }
}

#[test]
fn a_shrink_that_is_cancelled_gives_every_frame_back() {
    check(|| {
        let rig = Rig::new(4);
        let control = Arc::new(ResizeControl::default());
        let cancel = control.clone();
        threads!(
            rig,
            move |rig: &Rig| {
                let size = 2 * SIZE.bytes() as u64;
                let result = rig.pool.resize(size, Duration::from_secs(60), &control);
                assert!(matches!(result, Ok(_) | Err(PoolError::Stopped { .. })), "{result:?}");
            },
            move |rig: &Rig| {
                let held = rig.pool.get_shared(page(0), Hint::Normal).unwrap();
                cancel.cancel();
                drop(held);
            },
            |rig: &Rig| (1..4).for_each(|number| rig.change(number)),
        );
        let size = rig.pool.size_bytes() / SIZE.bytes() as u64;
        rig.assert_kept(&[(1, 1), (2, 1), (3, 1)]);
        rig.assert_idle(size);
    });
}

#[test]
fn a_created_page_is_made_once_and_whole() {
    check(|| {
        let rig = Rig::new(2);
        threads!(
            rig,
            |rig: &Rig| {
                let mut guard = rig.pool.create(page(0)).unwrap();
                assert!(guard.iter().all(|&byte| byte == 0), "a created page is zeroed");
                fill(&mut guard, 0, 5);
                let lsn = rig.log.advance();
                guard.mark_dirty(lsn, lsn).unwrap();
            },
            |rig: &Rig| assert!([0, 5].contains(&rig.read(0))),
            |rig: &Rig| [1, 2].into_iter().for_each(|number| rig.visit(number)),
        );
        rig.assert_kept(&[(0, 5)]);
        rig.assert_idle(2);
    });
}

#[test]
fn a_discarded_page_is_gone_or_whole() {
    check(|| {
        let set = |options: &mut PoolOptions| options.flush_neighbors = FlushNeighbours::Area;
        let rig = Rig::with(2, false, Arc::new(PlainPages), set);
        rig.change(0);
        threads!(
            rig,
            |rig: &Rig| match rig.pool.discard(page(0)) {
                Ok(()) | Err(PoolError::InUse(_)) => {}
                Err(other) => panic!("{other}"),
            },
            |rig: &Rig| rig.visit(0),
            |rig: &Rig| rig.change(1),
            // Writes page 0 along with page 1, or the other way round.
            |rig: &Rig| drop(rig.pool.clean()),
        );
        rig.assert_kept(&[(1, 1)]);
        rig.read(2);
        rig.assert_idle(2);
    });
}

#[test]
fn a_prefetched_page_is_waited_for() {
    check(|| {
        let rig = Rig::with(4, true, Arc::new(PlainPages), |_| {});
        let stop = Arc::new(AtomicBool::new(false));
        let (device, stopped) = (rig.clone(), stop.clone());
        let device = thread::spawn(move || device.store.carry_out(&stopped));
        threads!(
            rig,
            |rig: &Rig| rig.prefetch(3),
            |rig: &Rig| (0..3)
                .for_each(|number| assert!(rig.read(number) <= u32::from(number == 1))),
            |rig: &Rig| rig.change(1),
            |rig: &Rig| drop(rig.pool.peek(page(2)).unwrap()),
        );
        rig.assert_kept(&[(1, 1)]);
        stop.store(true, Ordering::Release);
        device.join().unwrap();
        rig.assert_idle(4);
    });
}

#[test]
fn notes_in_the_promotion_queue_move_no_wrong_page() {
    check(|| {
        let rig = Rig::new(4);
        (0..4).for_each(|number| rig.visit(number));
        // So that evictions have begun, without which nothing is promoted.
        rig.read(4);
        rig.clock.set(innopool_buf::Time::from_micros(5_000_000));
        threads!(
            rig,
            |rig: &Rig| [1, 2, 5].into_iter().for_each(|number| rig.visit(number)),
            |rig: &Rig| [3, 6, 2].into_iter().for_each(|number| rig.visit(number)),
            |rig: &Rig| {
                match rig.pool.discard(page(2)) {
                    Ok(()) | Err(PoolError::InUse(_)) => {}
                    Err(other) => panic!("{other}"),
                }
                let (control, patience) = (ResizeControl::default(), Duration::from_secs(60));
                rig.pool.resize(2 * SIZE.bytes() as u64, patience, &control).unwrap();
            },
        );
        rig.assert_idle(2);
        // The list is whole: its length is the number of pages that can be evicted.
        [0, 1, 2, 3].into_iter().for_each(|number| rig.visit(number));
        rig.assert_idle(2);
    });
}

#[test]
fn a_pool_with_a_page_cleaner_ends() {
    check(|| {
        let set = |options: &mut PoolOptions| options.background = Background::Threads;
        let rig = Rig::with(2, false, Arc::new(PlainPages), set);
        threads!(
            rig,
            |rig: &Rig| [0, 1].into_iter().for_each(|number| rig.change(number)),
            |rig: &Rig| [2, 0].into_iter().for_each(|number| rig.change(number)),
        );
        rig.assert_kept(&[(0, 2), (1, 1), (2, 1)]);
    });
}
