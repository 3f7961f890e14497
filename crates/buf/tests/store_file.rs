//! A file store does what a plain array of pages does, whichever way it carries out batches.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod store_common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use innopool_buf::store::{FileStore, Kind, PageStore};
use innopool_buf::{PageId, PageSize};
use proptest::prelude::*;
use store_common::{Frames, Outcomes, is_stamped, open, operation, run_batch, stamp, ways};

/// What is done to the store and the model.
#[derive(Clone, Debug)]
enum Step {
    Write(u32, u32),
    Read(u32, u32),
    /// Reads and writes on distinct pages, in one batch.
    Batch(Vec<(bool, u32, u32)>),
    Extend(u32, u32),
    Sync(u32),
    Reopen,
}

const SPACES: u32 = 2;
const FIRST_PAGES: u32 = 12;

fn page() -> impl Strategy<Value = (u32, u32)> {
    (0..SPACES, 0..FIRST_PAGES * 3)
}

fn step() -> impl Strategy<Value = Step> {
    let operation = (any::<bool>(), page()).prop_map(|(write, (space, no))| (write, space, no));
    // Batches of neighbours, so that runs form, and of strays.
    let neighbours =
        (any::<bool>(), page(), 1..30_u32).prop_map(|(write, (space, from), count)| {
            Step::Batch((from..from + count).map(|no| (write, space, no)).collect())
        });
    prop_oneof![
        3 => page().prop_map(|(space, no)| Step::Write(space, no)),
        3 => page().prop_map(|(space, no)| Step::Read(space, no)),
        3 => prop::collection::vec(operation, 1..40).prop_map(Step::Batch),
        3 => neighbours,
        1 => (0..SPACES, 0..8_u32).prop_map(|(space, pages)| Step::Extend(space, pages)),
        1 => (0..SPACES).prop_map(Step::Sync),
        1 => Just(Step::Reopen),
    ]
}

/// The store under test beside an array of the version of every page; version 0 is zeroes.
struct Both<'a> {
    options: &'a innopool_buf::store::FileStoreOptions,
    directory: &'a Path,
    store: FileStore,
    model: Vec<Vec<u64>>,
    version: u64,
    frames: Frames,
}

impl Both<'_> {
    fn holds(&self, frame: usize, page: PageId) -> bool {
        match self.model[page.space as usize][page.page_no as usize] {
            0 => self.frames.get(frame).iter().all(|&byte| byte == 0),
            version => is_stamped(self.frames.get(frame), page, version),
        }
    }

    fn exists(&self, page: PageId) -> bool {
        (page.page_no as usize) < self.model[page.space as usize].len()
    }

    fn prepare_write(&mut self, frame: usize, page: PageId) {
        self.version += 1;
        stamp(self.frames.get_mut(frame), page, self.version);
        if self.exists(page) {
            self.model[page.space as usize][page.page_no as usize] = self.version;
        }
    }

    fn batch(&mut self, steps: &[(bool, u32, u32)]) {
        let mut seen = BTreeSet::new();
        let distinct: Vec<_> = steps
            .iter()
            .map(|&(write, space, no)| (write, PageId::new(space, no)))
            .filter(|&(_, page)| seen.insert(page))
            .collect();
        let outcomes = Outcomes::new();
        let mut batch = Vec::new();
        for (frame, &(write, page)) in distinct.iter().enumerate() {
            let kind = if write { Kind::Write } else { Kind::Read };
            if write {
                self.prepare_write(frame, page);
            }
            batch.push(operation(kind, page, &mut self.frames, frame, &outcomes));
        }
        self.store.start(&mut batch);
        let ended = outcomes.wait(distinct.len());
        for (frame, &(write, page)) in distinct.iter().enumerate() {
            assert_eq!(ended[&(frame as u64)].is_ok(), self.exists(page), "{page} {ended:?}");
            assert!(write || !self.exists(page) || self.holds(frame, page), "{page}");
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write(space, no) => {
                let page = PageId::new(space, no);
                self.prepare_write(0, page);
                let result = self.store.write(page, self.frames.get(0));
                assert_eq!(result.is_ok(), self.exists(page), "{page}: {result:?}");
            }
            Step::Read(space, no) => {
                let page = PageId::new(space, no);
                let result = self.store.read(page, self.frames.get_mut(0));
                assert_eq!(result.is_ok(), self.exists(page), "{page}: {result:?}");
                assert!(!self.exists(page) || self.holds(0, page), "{page}");
            }
            Step::Batch(ref steps) => self.batch(steps),
            Step::Extend(space, pages) => {
                let model = &mut self.model[space as usize];
                model.resize(model.len() + pages as usize, 0);
                let now = self.store.extend_space(space, pages).unwrap();
                assert_eq!(now as usize, self.model[space as usize].len());
            }
            Step::Sync(space) => self.store.sync(space).unwrap(),
            Step::Reopen => {
                self.store = open(self.options);
                for space in 0..SPACES {
                    let path = self.directory.join(space.to_string());
                    self.store.open_space(space, &path).unwrap();
                }
            }
        }
        for space in 0..SPACES {
            let pages = self.store.space_pages(space).unwrap();
            assert_eq!(pages as usize, self.model[space as usize].len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_file_store_is_an_array_of_pages(
        steps in prop::collection::vec(step(), 1..40),
        size in 0..PageSize::ALL.len(),
    ) {
        let page_size = PageSize::ALL[size];
        for options in &ways(page_size) {
            let directory = tempfile::tempdir().unwrap();
            let store = open(options);
            for space in 0..SPACES {
                let path = directory.path().join(space.to_string());
                store.create_space(space, &path, FIRST_PAGES).unwrap();
            }
            let mut both = Both {
                options,
                directory: directory.path(),
                store,
                model: vec![vec![0; FIRST_PAGES as usize]; SPACES as usize],
                version: 0,
                frames: Frames::new(page_size, 64),
            };
            for step in &steps {
                both.step(step);
            }
        }
    }
}

#[test]
fn thousands_of_operations_in_a_batch_all_end_once() {
    const PAGES: u32 = 5000;
    for options in ways(PageSize::KIB_4) {
        // Fewer requests at once than there are runs, so that slots are used over and over.
        let store = open(&options.queue_depth(3).threads(3));
        let directory = tempfile::tempdir().unwrap();
        store.create_space(1, &directory.path().join("1"), PAGES).unwrap();
        let pages: Vec<_> = (0..PAGES).map(|no| PageId::new(1, no)).collect();
        let mut frames = Frames::new(PageSize::KIB_4, pages.len());
        for (frame, &page) in pages.iter().enumerate() {
            stamp(frames.get_mut(frame), page, 9);
        }
        let written = run_batch(&store, Kind::Write, &pages, &mut frames);
        assert!(written.values().all(Result::is_ok));
        // Every other page first: single requests; then backwards: no neighbours either.
        let mut order: Vec<_> = pages.iter().copied().step_by(2).collect();
        order.extend(pages.iter().rev().filter(|page| page.page_no % 2 == 1));
        let mut back = Frames::new(PageSize::KIB_4, order.len());
        let read = run_batch(&store, Kind::Read, &order, &mut back);
        assert!(read.values().all(Result::is_ok));
        for (frame, &page) in order.iter().enumerate() {
            assert!(is_stamped(back.get(frame), page, 9), "{page}");
        }
    }
}

#[test]
fn many_threads_may_start_batches_at_once() {
    const THREADS: u32 = 8;
    const PAGES: u32 = 64;
    for options in ways(PageSize::KIB_16) {
        let store = Arc::new(open(&options));
        let directory = tempfile::tempdir().unwrap();
        store.create_space(3, &directory.path().join("3"), THREADS * PAGES).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let store = Arc::clone(&store);
                scope.spawn(move || {
                    let pages: Vec<_> =
                        (0..PAGES).map(|no| PageId::new(3, no * THREADS + thread)).collect();
                    let mut frames = Frames::new(PageSize::KIB_16, pages.len());
                    for version in 0..10 {
                        for (frame, &page) in pages.iter().enumerate() {
                            stamp(frames.get_mut(frame), page, version);
                        }
                        run_batch(&*store, Kind::Write, &pages, &mut frames);
                        frames.get_mut(0).fill(0);
                        run_batch(&*store, Kind::Read, &pages, &mut frames);
                        for (frame, &page) in pages.iter().enumerate() {
                            assert!(is_stamped(frames.get(frame), page, version), "{page}");
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn a_run_reads_into_frames_that_are_not_neighbours_in_memory() {
    for options in ways(PageSize::KIB_4) {
        let store = open(&options);
        let directory = tempfile::tempdir().unwrap();
        store.create_space(1, &directory.path().join("1"), 600).unwrap();
        let pages: Vec<_> = (0..600).map(|no| PageId::new(1, no)).collect();
        let mut frames = Frames::new(PageSize::KIB_4, 600);
        for (frame, &page) in pages.iter().enumerate() {
            stamp(frames.get_mut(frame), page, 1);
        }
        run_batch(&store, Kind::Write, &pages, &mut frames);
        // 600 pages of 4 KiB are three runs; frames are taken in an order that joins some and not others.
        let outcomes = Outcomes::new();
        let frame_of = |no: u32| ((no as usize / 3) * 3) + (2 - no as usize % 3);
        let mut back = Frames::new(PageSize::KIB_4, 600);
        let mut batch: Vec<_> = pages
            .iter()
            .map(|&page| operation(Kind::Read, page, &mut back, frame_of(page.page_no), &outcomes))
            .collect();
        store.start(&mut batch);
        assert!(outcomes.wait(600).values().all(Result::is_ok));
        for &page in &pages {
            assert!(is_stamped(back.get(frame_of(page.page_no)), page, 1), "{page}");
        }
    }
}

#[test]
fn a_space_is_opened_or_made_and_has_at_least_the_pages_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t1.ibd");
    // What is left by a process that was killed after it had made the file and before it had grown it.
    std::fs::write(&path, b"").unwrap();
    for options in ways(PageSize::KIB_16) {
        let mut frames = Frames::new(PageSize::KIB_16, 1);
        let page = PageId::new(1, 7);
        let store = open(&options);
        assert_eq!(store.open_or_create_space(1, &path, 8).unwrap(), 8);
        frames.get_mut(0).fill(3);
        store.write(page, frames.get(0)).unwrap();
        drop(store);
        let store = open(&options);
        assert_eq!(store.open_or_create_space(1, &path, 4).unwrap(), 8, "it is never cut");
        frames.get_mut(0).fill(0);
        store.read(page, frames.get_mut(0)).unwrap();
        assert!(frames.get(0).iter().all(|&byte| byte == 3));
        let new = directory.path().join("new");
        assert_eq!(store.open_or_create_space(2, &new, 5).unwrap(), 5);
        store.drop_space(2).unwrap();
    }
}
