//! What a run makes of every kind of answer that a kernel may give, the rare ones included.

#![allow(unsafe_code, reason = "operations lend frames")]

use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use innopool_policy::PageId;

use super::super::super::{Completion, Fault, Kind, Operation, StoreError};
use super::super::options::Direct;
use super::super::space::SpaceFile;
use super::{MAX_ATTEMPTS, Run, merge};
use crate::page_size::PageSize;

const PAGE: usize = 4096;

/// Outcomes in the order they came: page number, and what went wrong.
#[derive(Default)]
struct Outcomes(Mutex<Vec<(u64, Option<Fault>)>>);

impl Completion for Outcomes {
    fn completed(&self, token: u64, result: Result<(), StoreError>) {
        self.0.lock().unwrap().push((token, result.err().map(|error| error.fault)));
    }
}

pub(in super::super) struct Setup {
    space: Arc<SpaceFile>,
    outcomes: Arc<Outcomes>,
    /// One page that every operation names: nothing here touches it.
    pub(in super::super) frame: NonNull<[u8]>,
    again: VecDeque<Run>,
    _memory: Vec<u8>,
}

impl Setup {
    pub(in super::super) fn new() -> Setup {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        let space = SpaceFile::create(&path, 1000, PageSize::KIB_4, Direct::Never).unwrap();
        let mut memory = vec![0; PAGE];
        let start = NonNull::new(memory.as_mut_ptr()).unwrap();
        Setup {
            space: Arc::new(space),
            outcomes: Arc::default(),
            frame: NonNull::slice_from_raw_parts(start, PAGE),
            _memory: memory,
            again: VecDeque::new(),
        }
    }

    fn operation(&self, kind: Kind, page_no: u32) -> Operation {
        let completion = Arc::clone(&self.outcomes) as Arc<dyn Completion>;
        // SAFETY: the frame outlives what a test does with the operation, and is only ever measured.
        unsafe {
            Operation::new(kind, PageId::new(1, page_no), self.frame, page_no.into(), completion)
        }
    }

    fn merge(&mut self, batch: &[(Kind, u32)]) -> Vec<Run> {
        let mut batch: Vec<_> =
            batch.iter().map(|&(kind, page_no)| self.operation(kind, page_no)).collect();
        merge(&mut batch, |_| Ok(Arc::clone(&self.space)))
    }

    /// One run of `pages` pages from page 10 on.
    pub(in super::super) fn run(&mut self, kind: Kind, pages: u32) -> Run {
        let batch: Vec<_> = (10..10 + pages).map(|page_no| (kind, page_no)).collect();
        let mut runs = self.merge(&batch);
        assert_eq!(runs.len(), 1);
        runs.remove(0)
    }

    fn outcomes(&self) -> Vec<(u64, Option<String>)> {
        let outcomes = self.outcomes.0.lock().unwrap();
        outcomes
            .iter()
            .map(|(page, fault)| (*page, fault.as_ref().map(ToString::to_string)))
            .collect()
    }
}

fn shape(runs: &[Run]) -> Vec<(u64, usize)> {
    runs.iter().map(|run| (run.offset_bytes() / PAGE as u64, run.operations.len())).collect()
}

#[test]
fn neighbours_of_one_kind_are_merged_in_batch_order() {
    use Kind::{Read, Write};
    let mut setup = Setup::new();
    let runs = setup.merge(&[(Read, 5), (Read, 6), (Write, 7), (Write, 8), (Read, 3), (Read, 2)]);
    assert_eq!(shape(&runs), [(5, 2), (7, 2), (3, 1), (2, 1)]);
    let dense: Vec<_> = (0..600).map(|page_no| (Read, page_no)).collect();
    let runs = setup.merge(&dense);
    assert_eq!(shape(&runs), [(0, 256), (256, 256), (512, 88)], "a run is 1 MiB at most");
}

#[test]
fn a_short_transfer_is_continued_where_it_stopped() {
    for kind in [Kind::Read, Kind::Write] {
        let mut setup = Setup::new();
        let run = setup.run(kind, 3);
        run.answered(Ok(PAGE + 512), &mut setup.again);
        assert_eq!(setup.outcomes(), []);
        let run = setup.again.pop_front().unwrap();
        assert_eq!(run.offset_bytes(), (11 * PAGE + 512) as u64);
        run.answered(Ok(2 * PAGE - 512), &mut setup.again);
        assert!(setup.again.is_empty());
        assert_eq!(setup.outcomes(), [(10, None), (11, None), (12, None)]);
    }
}

#[test]
fn the_end_of_the_file_fails_the_pages_behind_it() {
    let mut setup = Setup::new();
    let run = setup.run(Kind::Read, 3);
    run.answered(Ok(PAGE + 512), &mut setup.again);
    setup.again.pop_front().unwrap().answered(Ok(0), &mut setup.again);
    let short = |bytes| Some(format!("only {bytes} of 4096 bytes could be read"));
    assert_eq!(setup.outcomes(), [(10, None), (11, short(512)), (12, short(0))]);
    assert!(setup.again.is_empty());
}

#[test]
fn a_write_that_makes_no_progress_is_an_error_and_not_a_loop() {
    let mut setup = Setup::new();
    let run = setup.run(Kind::Write, 2);
    run.answered(Ok(PAGE), &mut setup.again);
    setup.again.pop_front().unwrap().answered(Ok(0), &mut setup.again);
    assert!(setup.again.is_empty());
    let outcomes = setup.outcomes();
    assert_eq!(outcomes[0], (10, None));
    assert!(outcomes[1].0 == 11 && outcomes[1].1.is_some());
}

#[test]
fn interruptions_are_asked_again_but_not_for_ever() {
    for kind in [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock] {
        let mut setup = Setup::new();
        let run = setup.run(Kind::Read, 1);
        setup.again.push_back(run);
        let mut asked = 0;
        while let Some(run) = setup.again.pop_front() {
            asked += 1;
            run.answered(Err(kind.into()), &mut setup.again);
        }
        assert_eq!(asked, MAX_ATTEMPTS + 1);
        assert!(matches!(setup.outcomes()[..], [(10, Some(_))]));
    }
}

#[test]
fn an_error_of_a_run_is_traced_to_its_page() {
    let mut setup = Setup::new();
    let run = setup.run(Kind::Read, 4);
    // The first page is there already; then the device fails somewhere in the rest.
    run.answered(Ok(PAGE + 512), &mut setup.again);
    let eio = || io::Error::from_raw_os_error(5);
    setup.again.pop_front().unwrap().answered(Err(eio()), &mut setup.again);
    assert_eq!(setup.outcomes(), [(10, None)]);
    let single: Vec<Run> = setup.again.drain(..).collect();
    assert_eq!(shape(&single), [(11, 1), (12, 1), (13, 1)]);
    for run in single {
        let bad = run.offset_bytes() == 12 * PAGE as u64;
        run.answered(if bad { Err(eio()) } else { Ok(PAGE) }, &mut setup.again);
    }
    let outcomes = setup.outcomes();
    assert_eq!([&outcomes[1], &outcomes[3]], [&(11, None), &(13, None)]);
    assert!(outcomes[2].0 == 12 && outcomes[2].1.as_ref().unwrap().contains("os error 5"));
    assert!(setup.again.is_empty());
}
