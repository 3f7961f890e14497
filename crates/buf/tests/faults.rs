//! What goes wrong below the pool while many threads use it: everybody concerned is told, nobody waits for ever, nothing is
//! lost, and the pool goes on.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod pool_common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use innopool_buf::store::sim::{Delay, Failure, Faults, Pages, Rule};
use innopool_buf::store::{Fault, Operation, PageStore, SimStore, StoreError};
use innopool_buf::{Background, Hint, Lsn, PageFormat, PageId, PageSize, PlainPages, Pool};
use innopool_buf::{PoolError, PoolOptions, ReadAheadSettings};
use pool_common::{TestLog, page};

const SIZE: PageSize = PageSize::KIB_4;
const THREADS: usize = 16;

struct Rig {
    pool: Pool,
    store: Arc<SimStore>,
    log: TestLog,
}

fn options(frames: u64) -> PoolOptions {
    PoolOptions {
        size_bytes: frames * SIZE.bytes() as u64,
        page_size: SIZE,
        read_ahead: ReadAheadSettings::OFF,
        exhausted_after: Duration::from_secs(30),
        writes_in_flight_max: 4,
        ..PoolOptions::default()
    }
}

fn rig(store: SimStore, format: impl PageFormat, set: impl Fn(&mut PoolOptions)) -> Rig {
    store.create_space(1, 200);
    let (store, mut options) = (Arc::new(store), options(32));
    set(&mut options);
    let log = Arc::new(TestLog::default());
    let pool = Pool::new(options, store.clone(), log, Arc::new(format)).unwrap();
    Rig { pool, store, log: TestLog::default() }
}

impl Rig {
    /// Adds 1 to the counter in a page.
    fn change(&self, page: PageId) -> Result<(), PoolError> {
        let mut guard = self.pool.get_exclusive(page, Hint::Normal)?;
        let lsn = self.log.advance();
        // First, so that a pool that refuses it is not left with a change that nobody will write.
        guard.mark_dirty(lsn, lsn)?;
        let count = u64::from_le_bytes(guard[..8].try_into().unwrap()) + 1;
        guard[..8].copy_from_slice(&count.to_le_bytes());
        guard[SIZE.bytes() - 8..].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    fn assert_usable(&self) {
        let stats = self.pool.stats();
        assert_eq!(stats.data_pages + stats.free_pages, stats.size_pages, "no frame is lost");
        assert_eq!(stats.pending_reads, 0);
        // As many at once as there are frames: none is still held.
        let all: Vec<_> = (100..100 + u32::try_from(stats.size_pages).unwrap())
            .map(|number| self.pool.get_shared(page(number), Hint::Normal).unwrap())
            .collect();
        drop(all);
    }
}

/// Has many threads wait for a read that the store holds back, and returns what each was told when it ends.
fn told_to_waiters(rig: &Rig) -> Vec<Option<PoolError>> {
    rig.store.hold();
    assert_eq!(rig.pool.prefetch([page(0)], Hint::ReadAhead).started, 1);
    let told = std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..THREADS)
            .map(|number| {
                scope.spawn(move || match number % 3 {
                    0 => rig.pool.get_shared(page(0), Hint::Normal).map(|_| ()).err(),
                    1 => rig.pool.get_update(page(0), Hint::Normal).map(|_| ()).err(),
                    _ => rig.pool.get_exclusive(page(0), Hint::Scan).map(|_| ()).err(),
                })
            })
            .collect();
        while rig.pool.stats().gets < THREADS as u64 {
            std::thread::yield_now();
        }
        // Now they sleep, or are about to.
        std::thread::sleep(Duration::from_millis(50));
        rig.store.resume();
        waiters.into_iter().map(|waiter| waiter.join().unwrap()).collect()
    });
    let reads = rig.store.counts().reads;
    assert!(reads < THREADS as u64 / 2, "{reads} reads: most have shared the first");
    told
}

#[test]
fn a_read_error_is_told_to_everybody_who_waits() {
    let rig = rig(SimStore::new(SIZE, 1), PlainPages, |_| {});
    let one = Pages::One(page(0));
    rig.store.set_faults(Faults { read_error: Rule::always(one), ..Faults::default() });
    for error in told_to_waiters(&rig) {
        let error = error.unwrap();
        assert!(error.to_string().contains("page 1:0"), "{error}");
        assert!(matches!(error, PoolError::Store(_)), "{error}");
    }
    rig.store.set_faults(Faults::default());
    rig.pool.get_shared(page(0), Hint::Normal).unwrap();
    rig.assert_usable();
}

#[test]
fn a_short_read_is_told_to_everybody_who_waits() {
    let rig = rig(SimStore::new(SIZE, 1), PlainPages, |_| {});
    let one = Pages::One(page(0));
    rig.store.set_faults(Faults { short_read: Rule::always(one), ..Faults::default() });
    for error in told_to_waiters(&rig) {
        let Some(PoolError::Store(StoreError { fault: Fault::ShortRead { .. }, .. })) = error
        else {
            panic!("{error:?}")
        };
    }
    rig.store.set_faults(Faults::default());
    rig.pool.get_shared(page(0), Hint::Normal).unwrap();
    rig.assert_usable();
}

/// Finds page 0 damaged.
struct Suspicious;

impl PageFormat for Suspicious {
    fn verify(&self, page: PageId, _: &[u8]) -> Result<(), String> {
        if page.page_no == 0 { Err("its checksum is wrong".to_owned()) } else { Ok(()) }
    }

    fn seal(&self, _: PageId, _: Lsn, _: &mut [u8]) {}
}

#[test]
fn damage_is_told_to_everybody_who_waits() {
    let rig = rig(SimStore::new(SIZE, 1), Suspicious, |_| {});
    for error in told_to_waiters(&rig) {
        let Some(PoolError::Damaged { page: found, what }) = error else { panic!("{error:?}") };
        assert_eq!((found, &*what), (page(0), "its checksum is wrong"));
    }
    rig.assert_usable();
}

/// A store that forgets what it was asked to do while it is `careless`.
struct Careless {
    store: SimStore,
    careless: AtomicBool,
}

impl PageStore for Careless {
    fn page_size(&self) -> PageSize {
        self.store.page_size()
    }

    fn space_pages(&self, space: u32) -> Result<u32, StoreError> {
        self.store.space_pages(space)
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        self.store.read(page, frame)
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        self.store.write(page, frame)
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        if self.careless.load(Ordering::Relaxed) {
            batch.clear();
        }
        self.store.start(batch);
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        self.store.sync(space)
    }
}

#[test]
fn operations_that_the_store_drops_end_with_an_error() {
    let store = SimStore::new(SIZE, 1);
    store.create_space(1, 200);
    let store = Arc::new(Careless { store, careless: AtomicBool::new(true) });
    let pool =
        Pool::new(options(32), store.clone(), Arc::new(TestLog::default()), Arc::new(PlainPages));
    let pool = pool.unwrap();
    assert_eq!(pool.prefetch((0..10).map(page), Hint::ReadAhead).started, 10);
    assert_eq!(pool.stats().pending_reads, 0);
    assert_eq!(pool.stats().data_pages, 0);
    let mut guard = pool.get_exclusive(page(0), Hint::Normal).unwrap();
    guard[0] = 1;
    guard.mark_dirty(Lsn(1), Lsn(2)).unwrap();
    drop(guard);
    let error = pool.flush_all().unwrap_err();
    assert!(error.to_string().contains("dropped"), "{error}");
    assert_eq!(pool.oldest_lsn(), Some(Lsn(1)), "and the page is dirty still");
    store.careless.store(false, Ordering::Relaxed);
    assert_eq!(pool.flush_all().unwrap(), 1);
    assert_eq!(store.store.peek_durable(page(0)).unwrap()[0], 1);
}

/// Asks for the pages of an iterator in the middle of which its owner panics.
#[test]
fn a_prefetch_that_panics_half_way_leaves_a_pool_that_works_and_ends() {
    let rig = rig(SimStore::new(SIZE, 1), PlainPages, |_| {});
    let pages = (0..10).map(|number| if number == 5 { panic!("no more") } else { page(number) });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        rig.pool.prefetch(pages, Hint::ReadAhead)
    }));
    assert!(caught.is_err());
    rig.assert_usable();
    // And the pool's drop, which waits for every operation, returns.
}

#[test]
fn many_threads_without_a_frame_are_told_in_time() {
    for background in [Background::Threads, Background::Manual] {
        let rig = rig(SimStore::new(SIZE, 1), PlainPages, |options| {
            options.background = background;
            options.exhausted_after = Duration::from_millis(100);
        });
        let held: Vec<_> = (0..32)
            .map(|number| rig.pool.get_shared(page(number), Hint::Normal).unwrap())
            .collect();
        std::thread::scope(|scope| {
            let begun = Instant::now();
            let asking = |number| {
                let rig = &rig;
                scope.spawn(move || rig.pool.get_shared(page(40 + number), Hint::Normal).err())
            };
            let asking: Vec<_> = (0..u32::try_from(THREADS).unwrap()).map(asking).collect();
            for thread in asking {
                let error = thread.join().unwrap();
                let Some(PoolError::Exhausted { pinned_pages: 32, .. }) = error else {
                    panic!("{error:?}")
                };
            }
            // A hundred times what was asked for, for a machine with much else to do.
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        });
        drop(held);
        rig.assert_usable();
    }
}

#[test]
fn a_failed_sync_stops_threads_in_all_stages() {
    for seed in 0..10 {
        let store = SimStore::with_threads(SIZE, seed, 2);
        let delay = Delay { min: Duration::ZERO, max: Duration::from_micros(300) };
        let rig = rig(store, PlainPages, |_| {});
        let sync_error = Rule::nth(3);
        rig.store.set_faults(Faults { sync_error, delay: Some(delay), ..Faults::default() });
        let until_poisoned = |mut body: Box<dyn FnMut(u32) -> Result<(), PoolError>>| {
            for round in 0..1_000_000 {
                match body(round) {
                    Ok(()) => {}
                    Err(PoolError::Poisoned(why)) => {
                        assert!(why.contains("sync"), "{why}");
                        return;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            panic!("never told");
        };
        std::thread::scope(|scope| {
            let rig = &rig;
            for thread in 0..3 {
                scope.spawn(move || {
                    until_poisoned(Box::new(move |round| rig.change(page((round + thread) % 90))));
                });
            }
            scope.spawn(move || until_poisoned(Box::new(|_| rig.pool.flush_all().map(|_| ()))));
            scope.spawn(move || {
                until_poisoned(Box::new(|_| rig.pool.checkpoint_lsn().map(|_| ())));
            });
            scope.spawn(move || {
                until_poisoned(Box::new(|round| {
                    rig.pool.prefetch([page(round % 100)], Hint::ReadAhead);
                    rig.pool.get_update(page(round % 100), Hint::Normal).map(|_| ())
                }));
            });
        });
        assert!(rig.pool.poisoned().is_some());
        // Whatever was with the store has ended when a frame can be had and nothing is pending.
        while rig.pool.stats().pending_lru_writes + rig.pool.stats().pending_list_writes > 0 {
            std::thread::yield_now();
        }
        let writes = rig.store.counts().writes;
        assert!(matches!(rig.pool.flush_all(), Err(PoolError::Poisoned(_))));
        let _ = rig.pool.clean();
        assert_eq!(rig.store.counts().writes, writes, "nothing is written any more");
        assert!(rig.pool.get_shared(page(0), Hint::Normal).is_ok(), "reading goes on");
    }
}

#[test]
fn failed_and_torn_writes_lose_no_change() {
    for background in [Background::Threads, Background::Manual] {
        let store = SimStore::with_threads(SIZE, 7, 2);
        let rig = rig(store, PlainPages, |options| options.background = background);
        let (write_error, torn_write) = (Rule::chance(0.2), Rule::chance(0.2));
        rig.store.set_faults(Faults { write_error, torn_write, ..Faults::default() });
        let changes: Vec<AtomicU64> = (0..100).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (rig, changes) = (&rig, &changes);
                scope.spawn(move || {
                    for round in 0..1500u32 {
                        let number = round.wrapping_mul(7919 + thread * 2) % 100;
                        rig.change(page(number)).unwrap();
                        changes[number as usize].fetch_add(1, Ordering::Relaxed);
                        if round % 100 == 0 {
                            // Tells of the writes that failed; they are tried again.
                            let _ = rig.pool.flush_all();
                        }
                    }
                });
            }
        });
        rig.store.set_faults(Faults::default());
        // Those that were under way when the faults ended may still tell of them.
        while rig.pool.flush_all().is_err() {}
        for (number, changes) in (0..).zip(&changes) {
            let bytes = rig.store.peek_durable(page(number)).unwrap();
            let expected = changes.load(Ordering::Relaxed).to_le_bytes();
            assert_eq!(bytes[..8], expected, "page {number}");
            assert_eq!(bytes[SIZE.bytes() - 8..], expected, "page {number}");
        }
        rig.assert_usable();
    }
}

#[test]
fn one_failed_read_is_one_failed_get() {
    let rig = rig(SimStore::new(SIZE, 1), PlainPages, |_| {});
    rig.store.fail_next(Failure::ReadError, Pages::All);
    assert!(rig.pool.get_shared(page(0), Hint::Normal).is_err());
    assert!(rig.pool.get_shared(page(0), Hint::Normal).is_ok());
    rig.assert_usable();
}
