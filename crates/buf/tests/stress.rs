//! Threads without mercy on pools that are far too small, with an oracle for every page.
//!
//! A page says which it is and its version, and every other word of it follows from these: a wrong, old or half page
//! cannot pass. The oracle has the version of each page as of its last writer. Who holds S, SX or X compares the page with
//! it exactly, since nobody can write meanwhile; so a lost change, or an old copy read back, is seen by the next access and
//! not only at the end, when the store is compared as well. Meanwhile the pool is resized, flushed, scanned and read ahead.
//!
//! A run is bounded by operations, not by time. `cargo test` runs sixteen settings for a few seconds; `cargo xtask long`
//! runs all combinations, with `INNOPOOL_STRESS_OPERATIONS` for each.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod pool_common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use innopool_buf::store::sim::{Delay, Faults};
use innopool_buf::store::{FileStore, FileStoreOptions, Method, PageStore, SimStore};
use innopool_buf::{Background, ExclusiveGuard, FlushNeighbours, Hint, Lsn, PageFormat, PageId};
use innopool_buf::{PageSize, Pool, PoolError, PoolOptions, Promotion, ResizeControl, Translation};
use pool_common::{TestLog, page};

const SIZE: PageSize = PageSize::KIB_4;
const FRAMES_PER_INSTANCE: u64 = 16;

/// Fills `bytes` as page `page` in `version`.
fn fill(bytes: &mut [u8], page: PageId, version: u64) {
    let mut word = seed_of(page, version);
    for (number, place) in bytes.chunks_exact_mut(8).enumerate() {
        if number == SIZE.bytes() / 16 {
            // Who looks now sees half a page.
            std::thread::yield_now();
        }
        place.copy_from_slice(&word.to_le_bytes());
        word = step(word);
    }
    bytes[..8].copy_from_slice(&version.to_le_bytes());
}

fn seed_of(page: PageId, version: u64) -> u64 {
    (u64::from(page.space) << 32 | u64::from(page.page_no)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ version.wrapping_mul(0xD134_2543_DE82_EF95)
}

fn step(word: u64) -> u64 {
    word.rotate_left(17).wrapping_add(0x1234_5678_9ABC_DEF1)
}

/// The version of a page, if all of it is of that page and that version.
fn version_of(bytes: &[u8], page: PageId) -> Result<u64, String> {
    let word = |at: usize| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap());
    let version = word(0);
    let mut expected = seed_of(page, version);
    for at in 1..bytes.len() / 8 {
        expected = step(expected);
        if word(at) != expected {
            return Err(format!("page {page} in version {version} is wrong at byte {}", at * 8));
        }
    }
    Ok(version)
}

/// Pages that must be whole to be read, and to be written.
struct Whole;

impl PageFormat for Whole {
    fn verify(&self, page: PageId, frame: &[u8]) -> Result<(), String> {
        version_of(frame, page).map(|_| ())
    }

    fn seal(&self, page: PageId, _: Lsn, copy: &mut [u8]) {
        version_of(copy, page).unwrap();
    }
}

/// What keeps the pages.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// In memory, at once.
    Sim,
    /// In memory, by threads that take their time and any order.
    SimThreads,
    Uring,
    FileThreads,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    instances: usize,
    promotion: Promotion,
    translation: Translation,
    background: Background,
    kind: Kind,
    operations: u64,
    seed: u64,
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}

/// A pool under stress, and what it must hold.
struct Rig {
    pool: Pool,
    log: Arc<TestLog>,
    /// Versions by page number.
    versions: Vec<AtomicU64>,
    case: Case,
    frames: u64,
}

impl Rig {
    fn new(case: Case, store: Arc<dyn PageStore>, pages: u32) -> Rig {
        let frames = FRAMES_PER_INSTANCE * case.instances as u64;
        let options = PoolOptions {
            size_bytes: frames * SIZE.bytes() as u64,
            size_max_bytes: 4 * frames * SIZE.bytes() as u64,
            page_size: SIZE,
            instances: case.instances,
            promotion: case.promotion,
            translation: case.translation,
            background: case.background,
            flush_neighbors: FlushNeighbours::Contiguous,
            writes_in_flight_max: 8,
            exhausted_after: Duration::from_secs(60),
            ..PoolOptions::default()
        };
        let log = Arc::new(TestLog::default());
        let pool = Pool::new(options, store, log.clone(), Arc::new(Whole)).unwrap();
        let versions = (0..pages).map(|_| AtomicU64::new(0)).collect();
        Rig { pool, log, versions, case, frames }
    }

    /// A page, half of the time one of the few hot ones.
    fn any_page(&self, random: &mut Random) -> PageId {
        let pages = self.versions.len() as u64;
        let end = if random.below(2) == 0 { pages } else { self.frames / 2 };
        page(u32::try_from(random.below(end)).unwrap())
    }

    fn version(&self, page: PageId) -> &AtomicU64 {
        &self.versions[page.page_no as usize]
    }

    /// Compares a latched page with the oracle.
    fn compare(&self, page: PageId, bytes: &[u8]) -> u64 {
        let version = version_of(bytes, page).unwrap_or_else(|what| panic!("{what}"));
        let expected = self.version(page).load(Ordering::Acquire);
        assert_eq!(version, expected, "version of page {page}, {:?}", self.case);
        version
    }

    fn change(&self, page: PageId, mut guard: ExclusiveGuard<'_>, version: u64) {
        fill(&mut guard, page, version);
        let lsn = self.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
        self.version(page).store(version, Ordering::Release);
    }

    fn one_operation(&self, random: &mut Random) {
        let page = self.any_page(random);
        let (pool, hint) = (&self.pool, Hint::Normal);
        match random.below(100) {
            0..45 => self.visit(page, hint),
            45..70 => {
                let guard = pool.get_exclusive(page, hint).unwrap();
                let version = self.compare(page, &guard);
                self.change(page, guard, version + 1);
            }
            70..78 => self.update(page, random.below(2) == 0),
            78..82 => (0..20).for_each(|more| {
                let number = (page.page_no + more) % u32::try_from(self.versions.len()).unwrap();
                self.visit(pool_common::page(number), Hint::Scan);
            }),
            82..87 => {
                let last = u32::try_from(self.versions.len()).unwrap();
                let pages = (page.page_no..last).take(8).map(pool_common::page);
                pool.prefetch(pages, Hint::ReadAhead);
            }
            87..91 => {
                let pinned = pool.pin(page, hint).unwrap();
                std::thread::yield_now();
                self.compare(page, &pinned.shared().unwrap());
            }
            91..95 => {
                let guard = pool.create(page).unwrap();
                assert!(guard.iter().all(|&byte| byte == 0), "a created page is zeroed");
                let version = self.version(page).load(Ordering::Acquire);
                self.change(page, guard, version + 1);
            }
            95..97 => {
                if let Some(guard) = pool.peek(page).unwrap() {
                    self.compare(page, &guard);
                }
            }
            97..98 => {
                pool.flush_to(Lsn(self.log.durable().0 + 50)).unwrap();
            }
            98..99 => {
                pool.checkpoint_lsn().unwrap();
            }
            _ => pool.clean().unwrap(),
        }
    }

    fn visit(&self, page: PageId, hint: Hint) {
        self.compare(page, &self.pool.get_shared(page, hint).unwrap());
    }

    fn update(&self, page: PageId, write: bool) {
        let guard = self.pool.get_update(page, Hint::Normal).unwrap();
        let version = self.compare(page, &guard);
        if write {
            let guard = guard.upgrade();
            assert_eq!(self.compare(page, &guard), version, "nobody wrote during the upgrade");
            self.change(page, guard, version + 1);
        } else {
            self.compare(page, &guard.unlatch().shared().unwrap());
        }
    }

    /// Changes the pool's size up and down until `stop`.
    fn resize(&self, stop: &AtomicBool) -> u32 {
        let mut random = Random(self.case.seed | 1);
        let mut done = 0;
        while !stop.load(Ordering::Acquire) {
            let frames = self.frames + random.below(3 * self.frames);
            let control = ResizeControl::default();
            let size = frames * SIZE.bytes() as u64;
            match self.pool.resize(size, Duration::from_millis(500), &control) {
                Ok(_) => done += 1,
                // Others held pages until the end, or the machine is short of memory.
                Err(PoolError::Stopped { .. } | PoolError::Memory { .. }) => {}
                Err(other) => panic!("{other}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        done
    }

    /// Runs the case, and compares what is in the store in the end.
    fn run(&self, threads: u64) {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let resizer = scope.spawn(|| self.resize(&stop));
            let workers: Vec<_> = (0..threads)
                .map(|number| {
                    let mut random = Random(self.case.seed.wrapping_mul(number * 2 + 3) | 1);
                    scope.spawn(move || {
                        for _ in 0..self.case.operations / threads {
                            self.one_operation(&mut random);
                        }
                    })
                })
                .collect();
            let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            stop.store(true, Ordering::Release);
            let resizes = resizer.join().unwrap();
            assert!(ended.iter().all(Result::is_ok), "a thread failed, {:?}", self.case);
            eprintln!("{:?}: {resizes} resizes", self.case);
        });
        self.pool.flush_all().unwrap();
        let stats = self.pool.stats();
        assert_eq!(stats.data_pages + stats.free_pages, stats.size_pages, "no frame is lost");
        assert_eq!((stats.dirty_pages, stats.pending_reads), (0, 0));
        assert_eq!(self.pool.oldest_lsn(), None);
    }

    fn assert_stored(&self, read: impl Fn(PageId) -> Vec<u8>) {
        for number in 0..self.versions.len() {
            let page = page(u32::try_from(number).unwrap());
            self.compare(page, &read(page));
        }
    }
}

fn run(case: Case) {
    let threads = 4;
    let pages = u32::try_from(case.instances.max(8) * 128).unwrap();
    let mut bytes = vec![0; SIZE.bytes()];
    let mut first = |number: u32| {
        fill(&mut bytes, page(number), 0);
        bytes.clone()
    };
    match case.kind {
        Kind::Sim | Kind::SimThreads => {
            let store = match case.kind {
                Kind::Sim => SimStore::new(SIZE, case.seed),
                _ => SimStore::with_threads(SIZE, case.seed, 3),
            };
            store.create_space(1, pages);
            (0..pages).for_each(|number| store.poke(page(number), &first(number)).unwrap());
            if matches!(case.kind, Kind::SimThreads) {
                let delay = Delay { min: Duration::ZERO, max: Duration::from_micros(200) };
                store.set_faults(Faults { delay: Some(delay), ..Faults::default() });
            }
            store.record(false);
            let store = Arc::new(store);
            let rig = Rig::new(case, store.clone(), pages);
            rig.run(threads);
            rig.assert_stored(|page| store.peek_durable(page).unwrap());
        }
        Kind::Uring | Kind::FileThreads => {
            let directory = tempfile::tempdir().unwrap();
            let method = match case.kind {
                // Where the kernel has none it is threads, and that is said when the store's own tests run.
                Kind::Uring => Method::Probe,
                _ => Method::Threads,
            };
            let store = FileStore::open(FileStoreOptions::new(SIZE).method(method)).unwrap();
            store.create_space(1, &directory.path().join("pages"), pages).unwrap();
            let store = Arc::new(store);
            let rig = Rig::new(case, store.clone(), pages);
            for number in 0..pages {
                let mut guard = rig.pool.create(page(number)).unwrap();
                guard.copy_from_slice(&first(number));
                let lsn = rig.log.advance();
                guard.mark_dirty(lsn, lsn).unwrap();
            }
            rig.run(threads);
            let again = rig_over(store, case);
            rig.assert_stored(|page| again.get_shared(page, Hint::Scan).unwrap().to_vec());
        }
    }
}

/// Another pool over the same store, which therefore reads what is there.
fn rig_over(store: Arc<FileStore>, case: Case) -> Pool {
    let options = PoolOptions {
        size_bytes: 64 * SIZE.bytes() as u64,
        page_size: SIZE,
        background: case.background,
        ..PoolOptions::default()
    };
    Pool::new(options, store, Arc::new(TestLog::default()), Arc::new(Whole)).unwrap()
}

const PROMOTIONS: [Promotion; 2] = [Promotion::Exact, Promotion::Batched];
const TRANSLATIONS: [Translation; 2] = [Translation::Array, Translation::Sharded];
const BACKGROUNDS: [Background; 2] = [Background::Threads, Background::Manual];
const KINDS: [Kind; 4] = [Kind::Sim, Kind::SimThreads, Kind::Uring, Kind::FileThreads];
const INSTANCES: [usize; 4] = [1, 2, 8, 64];

/// Each number of instances with each kind of store, the other settings in turn.
#[test]
fn no_change_is_lost_and_no_page_is_wrong() {
    for (row, &instances) in INSTANCES.iter().enumerate() {
        for (column, &kind) in KINDS.iter().enumerate() {
            run(Case {
                instances,
                promotion: PROMOTIONS[(row + column) % 2],
                translation: TRANSLATIONS[(row + column / 2) % 2],
                background: BACKGROUNDS[(row / 2 + column) % 2],
                kind,
                // A file syncs for real.
                operations: if matches!(kind, Kind::Sim | Kind::SimThreads) { 2500 } else { 1000 },
                seed: (row * 4 + column + 1) as u64,
            });
        }
    }
}

/// All combinations of settings, for `cargo xtask long`.
#[test]
fn no_change_is_lost_in_any_setting() {
    if std::env::var_os("INNOPOOL_LONG").is_none() {
        return;
    }
    let operations = std::env::var("INNOPOOL_STRESS_OPERATIONS");
    let operations = operations.ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let mut seed = 1;
    for instances in INSTANCES {
        for kind in KINDS {
            for promotion in PROMOTIONS {
                for translation in TRANSLATIONS {
                    for background in BACKGROUNDS {
                        seed += 1;
                        run(Case {
                            instances,
                            promotion,
                            translation,
                            background,
                            kind,
                            operations,
                            seed,
                        });
                    }
                }
            }
        }
    }
}
