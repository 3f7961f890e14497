//! Pages in memory, with every misfortune of a real device at the command of a test.
//!
//! A [`SimStore`] keeps two images: what reads see and what a power cut is sure to leave. Faults are plain data
//! ([`Faults`]) or ordered one by one ([`SimStore::fail_next`]); batches complete at once, on threads in an order of
//! their own, or when the test says so ([`SimStore::hold`]); and [`SimStore::crash`] gives a store as a power cut could
//! leave it. Everything is drawn from one seed.

mod faults;
mod image;
mod queue;
mod seed;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use innopool_policy::PageId;

pub use faults::{Delay, Failure, Faults, Pages, Rule, When};
pub use image::SECTOR_BYTES;

use super::lock::lock;
use super::{Fault, Kind, Operation, PageStore, StoreError};
use crate::page_size::PageSize;
use faults::{Decider, device_error};
use image::{Image, tear};
use queue::Queue;
use seed::Seeded;

/// Pages in memory, for tests of what is built on a page store.
///
/// Used from one thread, without threads of its own and without delays, it does the same for the same seed and calls.
///
/// # What it promises
///
/// - A write that has returned or completed, followed by a sync of its tablespace that succeeds, is in every image that
///   [`crash`](SimStore::crash) gives, unless it is overwritten.
/// - Any other write is kept, lost or torn at sectors of 512 bytes in such an image, independently of the others.
/// - A sync that fails loses the writes it was about: reads still see them, no later sync makes them durable.
///
/// Dropping it carries out what waits for its threads, and fails what is held with [`Fault::Dropped`]. If a completion
/// panicked in one of its threads, dropping the store panics as well.
///
/// ```
/// use innopool_buf::store::sim::{Failure, Pages};
/// use innopool_buf::store::{PageStore, SimStore};
/// use innopool_buf::{PageId, PageSize};
///
/// let store = SimStore::new(PageSize::KIB_4, 42);
/// store.create_space(1, 10);
/// let page = PageId::new(1, 3);
/// store.write(page, &[1; 4096])?;
/// store.sync(1)?;
/// store.fail_next(Failure::SyncError, Pages::All);
/// store.write(page, &[2; 4096])?;
/// assert!(store.sync(1).is_err());
/// assert!(store.sync(1).is_ok(), "the kernel tells once");
/// let after = store.crash(7);
/// let mut frame = [0; 4096];
/// after.read(page, &mut frame)?;
/// assert_eq!(frame, [1; 4096], "and the write is gone");
/// # Ok::<(), innopool_buf::store::StoreError>(())
/// ```
pub struct SimStore {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// Is told of a write, the page and its bytes, before it takes effect.
pub type WriteHook = dyn Fn(PageId, &[u8]) + Send + Sync;

struct Shared {
    page_size: PageSize,
    queue: Queue,
    state: Mutex<State>,
}

struct State {
    image: Image,
    decider: Decider,
    seeded: Seeded,
    counts: Counts,
    log: Vec<Event>,
    recording: bool,
    hook: Option<Arc<WriteHook>>,
}

/// How many operations were carried out, those that failed included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages read.
    pub reads: u64,
    /// Pages written.
    pub writes: u64,
    /// Syncs.
    pub syncs: u64,
}

/// One operation, as it was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What was done.
    pub what: What,
    /// The page; for a sync, page 0 of the tablespace.
    pub page: PageId,
    /// Whether it succeeded.
    pub ok: bool,
}

/// What an [`Event`] is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A page was read.
    Read,
    /// A page was written.
    Write,
    /// A tablespace was synced.
    Sync,
}

impl SimStore {
    /// Returns an empty store that carries out batches at once, in the thread that starts them.
    pub fn new(page_size: PageSize, seed: u64) -> SimStore {
        SimStore::with_image(Image::new(page_size.bytes()), page_size, seed)
    }

    /// Returns an empty store that carries out batches on `threads` threads, each taking whatever operation it likes.
    pub fn with_threads(page_size: PageSize, seed: u64, threads: u32) -> SimStore {
        let mut store = SimStore::new(page_size, seed);
        for _ in 0..threads {
            let shared = Arc::clone(&store.shared);
            store.workers.push(thread::spawn(move || {
                while let Some(operation) = shared.queue.wait() {
                    shared.carry_out(operation);
                }
            }));
        }
        store
    }

    fn with_image(image: Image, page_size: PageSize, seed: u64) -> SimStore {
        let mut seeded = Seeded::new(seed);
        let queue = Queue::new(Seeded::new(seeded.bits()));
        let state = State {
            image,
            decider: Decider::default(),
            seeded,
            counts: Counts::default(),
            log: Vec::new(),
            recording: true,
            hook: None,
        };
        let shared = Shared { page_size, queue, state: Mutex::new(state) };
        SimStore { shared: Arc::new(shared), workers: Vec::new() }
    }

    /// Adds tablespace `space` of `pages` pages of zeroes, durably.
    ///
    /// # Panics
    ///
    /// When it exists.
    pub fn create_space(&self, space: u32, pages: u32) {
        let created = self.shared.state().image.create(space, pages);
        assert!(created, "tablespace {space} exists in the simulation");
    }

    /// Adds `pages` pages of zeroes to tablespace `space`, durably, and returns how many it has then.
    ///
    /// # Errors
    ///
    /// [`Fault::NoSuchSpace`].
    pub fn extend_space(&self, space: u32, pages: u32) -> Result<u32, StoreError> {
        let extended = self.shared.state().image.extend(space, pages);
        extended.map_err(|fault| StoreError::new("extending", PageId::new(space, 0), fault))
    }

    /// Removes tablespace `space`, durably.
    ///
    /// # Errors
    ///
    /// [`Fault::NoSuchSpace`].
    pub fn drop_space(&self, space: u32) -> Result<(), StoreError> {
        let removed = self.shared.state().image.remove(space);
        removed.map_err(|fault| StoreError::new("deleting", PageId::new(space, 0), fault))
    }

    /// Sets what goes wrong from now on, and starts the counts of [`When::Nth`] anew.
    pub fn set_faults(&self, faults: Faults) {
        self.shared.state().decider.set(faults);
    }

    /// Makes the next operation that can fail so, on one of `pages`, fail. Orders add up.
    pub fn fail_next(&self, failure: Failure, pages: Pages) {
        self.shared.state().decider.order(failure, pages);
    }

    /// Calls `hook` with the page and its bytes before each write takes effect, in the thread that carries it out, also
    /// for writes that then fail. There is one hook; it may use the store, and must not write to it.
    pub fn on_write(&self, hook: Box<WriteHook>) {
        self.shared.state().hook = Some(Arc::from(hook));
    }

    /// Holds back operations that are started from now on, and those that no thread has taken yet, until a test
    /// releases them.
    pub fn hold(&self) {
        self.shared.queue.hold(true);
    }

    /// Carries out the `count` operations that have been held back longest, in this thread, and returns how many there
    /// were.
    pub fn release(&self, count: usize) -> usize {
        let held = std::iter::from_fn(|| self.shared.queue.first());
        held.take(count).map(|operation| self.shared.carry_out(operation)).count()
    }

    /// Carries out one of the held operations, by chance, in this thread, and returns what it was; `None` when there is
    /// none.
    pub fn step(&self) -> Option<(Kind, PageId)> {
        let operation = self.shared.queue.any()?;
        let what = (operation.kind(), operation.page());
        self.shared.carry_out(operation);
        Some(what)
    }

    /// Carries out the oldest held operation on `page`, in this thread; `false` when there is none.
    pub fn release_page(&self, page: PageId) -> bool {
        let operation = self.shared.queue.on_page(page);
        operation.map(|operation| self.shared.carry_out(operation)).is_some()
    }

    /// The operations that are held back or wait for a thread, oldest first.
    pub fn held(&self) -> Vec<(Kind, PageId)> {
        self.shared.queue.list()
    }

    /// Ends [`hold`](SimStore::hold). Without threads, what is held is carried out before this returns.
    pub fn resume(&self) {
        self.shared.queue.hold(false);
        if self.workers.is_empty() {
            self.release(usize::MAX);
        }
    }

    /// Returns a store as a power cut at this moment could leave this one, by `seed`, which also seeds the new store. It has
    /// no faults, threads or hook. This store is not changed, so many crashes of one moment can be looked at.
    pub fn crash(&self, seed: u64) -> SimStore {
        let mut seeded = Seeded::new(seed);
        let mut in_flight = Vec::new();
        self.shared.queue.look_at_writes(|page, bytes| in_flight.push((page, bytes.into())));
        let image = self.shared.state().image.after_crash(in_flight, &mut seeded);
        SimStore::with_image(image, self.shared.page_size, seeded.bits())
    }

    /// The bytes of `page` as a read would see them, with no fault, delay or count; `None` when it does not exist.
    pub fn peek(&self, page: PageId) -> Option<Vec<u8>> {
        self.shared.state().image.seen(page).ok().map(|bytes| bytes.to_vec())
    }

    /// The bytes of `page` that a power cut leaves if it loses all it may; `None` when it does not exist.
    pub fn peek_durable(&self, page: PageId) -> Option<Vec<u8>> {
        self.shared.state().image.durable(page).ok().map(|bytes| bytes.to_vec())
    }

    /// Replaces `page`, seen and durable, as silent corruption would.
    ///
    /// # Errors
    ///
    /// That it does not exist, or `bytes` is not a page.
    pub fn poke(&self, page: PageId, bytes: &[u8]) -> Result<(), StoreError> {
        check_length(bytes.len(), self.shared.page_size)
            .and_then(|()| self.shared.state().image.poke(page, bytes.into()))
            .map_err(|fault| StoreError::new("corrupting", page, fault))
    }

    /// How many operations were carried out.
    pub fn counts(&self) -> Counts {
        self.shared.state().counts
    }

    /// Takes the log: every operation since the last call, in the order in which they took effect. It takes 16 bytes an
    /// operation.
    pub fn take_log(&self) -> Vec<Event> {
        std::mem::take(&mut self.shared.state().log)
    }

    /// Stops or resumes the log, which a long run may have no memory for.
    pub fn record(&self, recording: bool) {
        self.shared.state().recording = recording;
    }
}

impl PageStore for SimStore {
    fn page_size(&self) -> PageSize {
        self.shared.page_size
    }

    fn space_pages(&self, space: u32) -> Result<u32, StoreError> {
        let pages = self.shared.state().image.pages(space);
        pages.map_err(|fault| StoreError::new("measuring", PageId::new(space, 0), fault))
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        self.shared.read(page, frame).map_err(|fault| StoreError::new("reading", page, fault))
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        self.shared.write(page, frame).map_err(|fault| StoreError::new("writing", page, fault))
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        self.shared.queue.offer(batch, !self.workers.is_empty());
        for operation in batch.drain(..) {
            self.shared.carry_out(operation);
        }
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        self.shared
            .sync(space)
            .map_err(|fault| StoreError::new("syncing the file of", PageId::new(space, 0), fault))
    }
}

impl Drop for SimStore {
    fn drop(&mut self) {
        self.shared.queue.close();
        let mut panicked = false;
        for worker in self.workers.drain(..) {
            // A completion may drop the last handle; the thread it runs in then ends by itself.
            if worker.thread().id() != thread::current().id() {
                panicked |= worker.join().is_err();
            }
        }
        while let Some(operation) = self.shared.queue.first() {
            operation.complete(Err(Fault::Dropped));
        }
        assert!(
            !panicked || thread::panicking(),
            "a completion panicked in a thread of the simulation"
        );
    }
}

impl fmt::Debug for SimStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimStore").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn carry_out(&self, mut operation: Operation) {
        let page = operation.page();
        let result = match operation.buffer_mut() {
            Some(frame) => self.read(page, frame),
            None => self.write(page, operation.buffer()),
        };
        operation.complete(result);
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), Fault> {
        check_length(frame.len(), self.page_size)?;
        self.take_time();
        let mut state = self.state();
        state.counts.reads += 1;
        let result = state.read(page, frame);
        state.note(What::Read, page, result.is_ok());
        result
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), Fault> {
        check_length(frame.len(), self.page_size)?;
        self.take_time();
        let hook = self.state().hook.clone();
        if let Some(hook) = hook {
            hook(page, frame);
        }
        let mut state = self.state();
        state.counts.writes += 1;
        let result = state.write(page, frame);
        state.note(What::Write, page, result.is_ok());
        result
    }

    fn sync(&self, space: u32) -> Result<(), Fault> {
        self.take_time();
        let page = PageId::new(space, 0);
        let mut state = self.state();
        state.counts.syncs += 1;
        let fails = state.befalls(Failure::SyncError, page);
        let mut result = state.image.sync(space, !fails);
        if fails && result.is_ok() {
            result = Err(device_error("sync"));
        }
        state.note(What::Sync, page, result.is_ok());
        result
    }

    fn take_time(&self) {
        let delay = {
            let state = &mut *self.state();
            state.decider.delay(&mut state.seeded)
        };
        if delay > Duration::ZERO {
            thread::sleep(delay);
        }
    }
}

impl State {
    fn befalls(&mut self, failure: Failure, page: PageId) -> bool {
        self.decider.befalls(failure, page, &mut self.seeded)
    }

    fn read(&mut self, page: PageId, frame: &mut [u8]) -> Result<(), Fault> {
        let bytes = self.image.seen(page)?;
        if self.befalls(Failure::ReadError, page) {
            return Err(device_error("read"));
        }
        if self.befalls(Failure::ShortRead, page) {
            let sectors = self.seeded.below(bytes.len() / SECTOR_BYTES);
            let read_bytes = sectors * SECTOR_BYTES;
            frame[..read_bytes].copy_from_slice(&bytes[..read_bytes]);
            return Err(Fault::ShortRead { read_bytes, page_bytes: bytes.len() });
        }
        frame.copy_from_slice(&bytes);
        Ok(())
    }

    fn write(&mut self, page: PageId, frame: &[u8]) -> Result<(), Fault> {
        let old = self.image.seen(page)?;
        if self.befalls(Failure::WriteError, page) {
            return Err(device_error("write"));
        }
        if self.befalls(Failure::TornWrite, page) {
            let torn = tear(&old, frame, &mut self.seeded);
            self.image.write(page, torn)?;
            return Err(device_error("write half-way"));
        }
        self.image.write(page, frame.into())
    }

    fn note(&mut self, what: What, page: PageId, ok: bool) {
        if self.recording {
            self.log.push(Event { what, page, ok });
        }
    }
}

/// A frame of another length is a mistake of the caller that files would answer with an error too.
fn check_length(bytes: usize, page_size: PageSize) -> Result<(), Fault> {
    if bytes == page_size.bytes() {
        return Ok(());
    }
    Err(Fault::Device {
        kind: std::io::ErrorKind::InvalidInput,
        what: format!("the frame has {bytes} bytes, and a page has {}", page_size.bytes()),
    })
}
