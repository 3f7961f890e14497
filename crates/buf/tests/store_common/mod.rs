//! Frames, completions and directories for the tests of page stores.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(unsafe_code, reason = "operations lend frames")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "helpers of tests"
)]

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use innopool_buf::store::{
    Completion, Direct, Engine, FileStore, FileStoreOptions, Kind, Method, Operation, PageStore,
    StoreError,
};
use innopool_buf::{PageId, PageSize};

/// Longest that any test waits for completions before it calls the store hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Frames aligned to 64 KiB, filled with 0xEE until something else is put there.
pub struct Frames {
    /// Only reached through `first`, so that looking at one frame does not disturb the loan of another.
    _memory: Vec<u8>,
    first: NonNull<u8>,
    page_bytes: usize,
    count: usize,
}

// SAFETY: the frames belong to this value as those of a vector would.
unsafe impl Send for Frames {}

impl Frames {
    pub fn new(page_size: PageSize, count: usize) -> Frames {
        let page_bytes = page_size.bytes();
        let mut memory = vec![0xEE; count * page_bytes + (1 << 16)];
        let start = memory.as_ptr().addr().next_multiple_of(1 << 16) - memory.as_ptr().addr();
        let first = NonNull::new(memory.as_mut_ptr().wrapping_add(start)).unwrap();
        Frames { _memory: memory, first, page_bytes, count }
    }

    pub fn get(&self, number: usize) -> &[u8] {
        // SAFETY: in bounds by `lend`; not lent, by the rule of `operation`.
        unsafe { self.lend(number).as_ref() }
    }

    pub fn get_mut(&mut self, number: usize) -> &mut [u8] {
        // SAFETY: in bounds by `lend`; not lent, by the rule of `operation`.
        unsafe { self.lend(number).as_mut() }
    }

    /// The address of frame `number`.
    fn lend(&self, number: usize) -> NonNull<[u8]> {
        assert!(number < self.count);
        let start = self.first.as_ptr().wrapping_add(number * self.page_bytes);
        NonNull::slice_from_raw_parts(NonNull::new(start).unwrap(), self.page_bytes)
    }
}

/// Outcomes by token, in the order they came.
#[derive(Default)]
pub struct Outcomes {
    state: Mutex<Vec<(u64, Result<(), StoreError>)>>,
    changed: Condvar,
}

impl Completion for Outcomes {
    fn completed(&self, token: u64, result: Result<(), StoreError>) {
        self.state.lock().unwrap().push((token, result));
        self.changed.notify_all();
    }
}

impl Outcomes {
    pub fn new() -> Arc<Outcomes> {
        Arc::default()
    }

    pub fn count(&self) -> usize {
        self.state.lock().unwrap().len()
    }

    /// Tokens in the order of completion.
    pub fn order(&self) -> Vec<u64> {
        self.state.lock().unwrap().iter().map(|(token, _)| *token).collect()
    }

    /// Waits for `count` outcomes and returns them by token.
    ///
    /// # Panics
    ///
    /// When they do not come in a minute, there are more, or a token comes twice.
    pub fn wait(&self, count: usize) -> BTreeMap<u64, Result<(), StoreError>> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state.lock().unwrap();
        while state.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "only {} of {count} operations ended", state.len());
            state = self.changed.wait_timeout(state, left).unwrap().0;
        }
        assert_eq!(state.len(), count, "operations ended that nobody started");
        let by_token: BTreeMap<_, _> = state.iter().cloned().collect();
        assert_eq!(by_token.len(), count, "an operation ended twice");
        by_token
    }
}

/// An operation on `page` that uses frame `frame` of `frames`, whose number is its token.
///
/// The callers of the tests keep `frames` until all outcomes have come.
pub fn operation(
    kind: Kind,
    page: PageId,
    frames: &mut Frames,
    frame: usize,
    outcomes: &Arc<Outcomes>,
) -> Operation {
    let completion = Arc::clone(outcomes) as Arc<dyn Completion>;
    // SAFETY: every test waits for all outcomes, or drops the store, before it touches or frees the frames, and uses
    // a frame for one operation at a time.
    unsafe { Operation::new(kind, page, frames.lend(frame), frame as u64, completion) }
}

/// Starts one operation per frame, on the pages given, and waits for all.
pub fn run_batch(
    store: &dyn PageStore,
    kind: Kind,
    pages: &[PageId],
    frames: &mut Frames,
) -> BTreeMap<u64, Result<(), StoreError>> {
    let outcomes = Outcomes::new();
    let mut batch: Vec<_> = pages
        .iter()
        .enumerate()
        .map(|(frame, &page)| operation(kind, page, frames, frame, &outcomes))
        .collect();
    store.start(&mut batch);
    assert!(batch.is_empty(), "start must empty the batch");
    outcomes.wait(pages.len())
}

/// Fills `frame` with bytes that depend on all of `page` and `version`, and differ within the page.
pub fn stamp(frame: &mut [u8], page: PageId, version: u64) {
    let seed = ((u64::from(page.space) << 32) | u64::from(page.page_no)).wrapping_mul(0x9E37_79B9)
        ^ version.wrapping_mul(0xD134_2543_DE82_EF95);
    for (number, word) in frame.chunks_mut(8).enumerate() {
        word.copy_from_slice(&(seed.wrapping_add(number as u64)).to_le_bytes());
    }
}

/// Whether `frame` is what [`stamp`] leaves.
pub fn is_stamped(frame: &[u8], page: PageId, version: u64) -> bool {
    let mut expected = vec![0; frame.len()];
    stamp(&mut expected, page, version);
    frame == expected
}

/// Every way to carry out batches on files. Ways that this machine cannot do are left out loudly.
pub fn ways(page_size: PageSize) -> Vec<FileStoreOptions> {
    let mut ways = Vec::new();
    for method in [Method::Uring, Method::Threads] {
        for direct in [Direct::Always, Direct::Never] {
            let options = FileStoreOptions::new(page_size).method(method).direct(direct);
            let directory = tempfile::tempdir().unwrap();
            let tried = FileStore::open(options.clone())
                .and_then(|store| store.create_space(0, &directory.path().join("probe"), 1));
            match tried {
                Ok(()) => ways.push(options),
                Err(error) => {
                    assert!(
                        std::env::var_os("REQUIRE_SERVERS").is_none(),
                        "{method:?} {direct:?}: {error}"
                    );
                    eprintln!("SKIPPED {method:?} {direct:?}: {error}");
                }
            }
        }
    }
    assert!(!ways.is_empty());
    ways
}

/// Opens a store and checks that it does what was asked.
pub fn open(options: &FileStoreOptions) -> FileStore {
    let store = FileStore::open(options.clone()).unwrap();
    match options.method {
        Method::Uring => assert!(matches!(store.method(), Engine::Uring { .. })),
        Method::Threads => {
            assert_eq!(store.method(), &Engine::Threads { fallback: None });
        }
        Method::Probe => {}
    }
    store
}
