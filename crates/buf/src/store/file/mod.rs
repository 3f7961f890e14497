//! Pages in files, one file per tablespace, on Linux.
//!
//! A page that a thread waits for is read by that thread with one positioned read. A batch is merged into runs of
//! neighbouring pages (`run`) and handed to io_uring (`uring`, `ring`) or, where that is forbidden or missing, to a pool of
//! threads (`threads`). Files are direct where the file system allows it (`space`).

mod error;
mod options;
mod positioned;
#[cfg(feature = "uring")]
mod ring;
mod run;
mod space;
mod threads;
#[cfg(feature = "uring")]
mod uring;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use innopool_policy::PageId;

pub use error::FileError;
pub use options::{Direct, Engine, FileStoreOptions, Method, OpenMode};

use super::lock::lock;
use super::{Fault, Operation, PageStore, StoreError};
use crate::page_size::PageSize;
use run::Run;
use space::SpaceFile;
use threads::ThreadPool;

/// Pages in files: tablespace `n` is one file, and page `p` of it the bytes from `p` times the page size on.
///
/// # What it assumes
///
/// - No other process, and no other store, has the files open for writing.
/// - A write that was acknowledged and then synced (`fdatasync`) survives a power cut. Between the two, each
///   sector of 512 bytes may be old or new. Writes of pages are not atomic: protection against torn pages is up to the
///   caller, by a doublewrite area or a log of whole pages.
/// - Bytes come back as they were written or with an error. Silent corruption is for the caller's checksums to find.
/// - An error of a sync is told once by the kernel and the pages count as clean after that, so the file then refuses
///   every further sync for as long as the store lives. Recovery means opening anew and replaying a log.
/// - The file system keeps a file's length and its directory entry across a power cut once `fsync` of the file and of the
///   directory have returned. Both are done before a space is first used and before it counts as grown.
/// - The process does not fork while operations are in flight: direct I/O and copy-on-write lose bytes.
///
/// # Threads
///
/// Every method may be called from any thread, and from a completion. Dropping the store carries out everything that was
/// started, tells every completion and ends its threads; dropped within a completion, the thread that runs it ends
/// afterwards by itself.
///
/// ```
/// use innopool_buf::store::{FileStore, FileStoreOptions, PageStore};
/// use innopool_buf::{PageId, PageSize};
///
/// let directory = tempfile::tempdir()?;
/// let options = FileStoreOptions::new(PageSize::KIB_16).direct(innopool_buf::store::Direct::Never);
/// let store = FileStore::open(options)?;
/// store.create_space(7, &directory.path().join("t1.ibd"), 8)?;
/// store.write(PageId::new(7, 3), &[0xA5; 16384])?;
/// store.sync(7)?;
/// let mut frame = vec![0; 16384];
/// store.read(PageId::new(7, 3), &mut frame)?;
/// assert_eq!(frame[0], 0xA5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    options: FileStoreOptions,
    spaces: RwLock<HashMap<u32, Arc<SpaceFile>>>,
    /// Held while a space is made, opened or deleted, so that `spaces` is not locked meanwhile.
    catalog: Mutex<()>,
    engine: Engine,
    carrier: Carrier,
}

#[derive(Debug)]
enum Carrier {
    Threads(ThreadPool),
    #[cfg(feature = "uring")]
    Uring(uring::UringThread),
}

impl FileStore {
    /// Starts a store without any tablespace.
    ///
    /// # Errors
    ///
    /// [`FileError`] when an option is out of range, io_uring was required and does not work here, or no thread could be
    /// started.
    pub fn open(options: FileStoreOptions) -> Result<FileStore, FileError> {
        check_range("queue_depth", options.queue_depth, 4096)?;
        check_range("threads", options.threads, 1024)?;
        let (engine, carrier) = start_carrier(&options)?;
        Ok(FileStore {
            options,
            spaces: RwLock::default(),
            catalog: Mutex::new(()),
            engine,
            carrier,
        })
    }

    /// Makes the file `path` of `pages` pages of zeroes, durably, as tablespace `space`.
    ///
    /// # Errors
    ///
    /// [`FileError`] when the tablespace is already open, the file exists, the disk is full, or the operating system
    /// says no in another way. There is no file then that was not there before.
    pub fn create_space(&self, space: u32, path: &Path, pages: u32) -> Result<(), FileError> {
        self.add(space, || {
            SpaceFile::create(path, pages, self.options.page_size, self.options.direct)
        })
    }

    /// Opens the existing file `path` as tablespace `space`, and returns how many pages it has.
    ///
    /// # Errors
    ///
    /// [`FileError`] when the tablespace is already open, the file is not a whole number of pages, or it cannot be
    /// opened for reading and writing.
    pub fn open_space(&self, space: u32, path: &Path) -> Result<u32, FileError> {
        self.add(space, || SpaceFile::open(path, self.options.page_size, self.options.direct))?;
        Ok(self.find_open(space)?.pages())
    }

    /// Opens the file `path` as tablespace `space`, makes it if there is none, and sees to it that it has at least `pages_min`
    /// pages, the added ones zeroes. Returns how many it has. What a process does that cannot know whether it starts for
    /// the first time, or was killed when it did.
    ///
    /// # Errors
    ///
    /// As for [`open_space`](FileStore::open_space), [`create_space`](FileStore::create_space) and
    /// [`extend_space`](FileStore::extend_space).
    pub fn open_or_create_space(
        &self,
        space: u32,
        path: &Path,
        pages_min: u32,
    ) -> Result<u32, FileError> {
        let (page_size, direct) = (self.options.page_size, self.options.direct);
        self.add(space, || {
            let file = match SpaceFile::open(path, page_size, direct) {
                Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    SpaceFile::create(path, 0, page_size, direct)?
                }
                opened => opened?,
            };
            file.extend(pages_min.saturating_sub(file.pages()))?;
            Ok(file)
        })?;
        Ok(self.find_open(space)?.pages())
    }

    /// Adds `pages` pages of zeroes to the end of tablespace `space`, durably, and returns how many it has then.
    ///
    /// # Errors
    ///
    /// [`FileError`] when there is no such tablespace, it would pass 2^32 - 1 pages, or the operating system says no. The
    /// tablespace then keeps its size.
    pub fn extend_space(&self, space: u32, pages: u32) -> Result<u32, FileError> {
        self.find_open(space)?.extend(pages)
    }

    /// Forgets tablespace `space` and deletes its file, durably. Operations already started end as usual; the disk space is
    /// free once they have.
    ///
    /// # Errors
    ///
    /// [`FileError`] when there is no such tablespace or the operating system says no. The tablespace is forgotten
    /// even when its file could not be deleted.
    pub fn drop_space(&self, space: u32) -> Result<(), FileError> {
        let _one_at_a_time = lock(&self.catalog);
        let removed = self.spaces.write().unwrap_or_else(PoisonError::into_inner).remove(&space);
        let file = removed.ok_or(FileError::NoSuchSpace { space })?;
        std::fs::remove_file(file.path()).map_err(FileError::io("deleting", file.path()))?;
        space::sync_parent(file.path())
    }

    /// What carries out batches, and why not io_uring if that had been possible.
    pub fn method(&self) -> &Engine {
        &self.engine
    }

    /// How the file of tablespace `space` is open, and why it is not direct if that had been possible.
    ///
    /// # Errors
    ///
    /// [`FileError::NoSuchSpace`].
    pub fn direct(&self, space: u32) -> Result<OpenMode, FileError> {
        Ok(self.find_open(space)?.mode().clone())
    }

    fn add(
        &self,
        space: u32,
        make: impl FnOnce() -> Result<SpaceFile, FileError>,
    ) -> Result<(), FileError> {
        let _one_at_a_time = lock(&self.catalog);
        if let Ok(file) = self.find(space) {
            return Err(FileError::AlreadyOpen { space, path: file.path().to_owned() });
        }
        let file = Arc::new(make()?);
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((&other, _)) = spaces.iter().find(|(_, open)| open.is_same_file(&file)) {
            return Err(FileError::SameFile { other, path: file.path().to_owned() });
        }
        spaces.insert(space, file);
        Ok(())
    }

    fn find(&self, space: u32) -> Result<Arc<SpaceFile>, Fault> {
        let spaces = self.spaces.read().unwrap_or_else(PoisonError::into_inner);
        spaces.get(&space).cloned().ok_or(Fault::NoSuchSpace(space))
    }

    fn find_open(&self, space: u32) -> Result<Arc<SpaceFile>, FileError> {
        self.find(space).map_err(|_| FileError::NoSuchSpace { space })
    }
}

impl PageStore for FileStore {
    fn page_size(&self) -> PageSize {
        self.options.page_size
    }

    fn space_pages(&self, space: u32) -> Result<u32, StoreError> {
        let found = self.find(space).map(|file| file.pages());
        found
            .map_err(|fault| StoreError::new("measuring the file of", PageId::new(space, 0), fault))
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        self.find(page.space)
            .and_then(|file| {
                file.check(page.page_no, frame)?;
                positioned::read_page(&file, page.page_no, frame)
            })
            .map_err(|fault| StoreError::new("reading", page, fault))
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        self.find(page.space)
            .and_then(|file| {
                file.check(page.page_no, frame)?;
                positioned::write_page(&file, page.page_no, frame)
            })
            .map_err(|fault| StoreError::new("writing", page, fault))
    }

    /// Never waits for room: what is queued is bounded by the frames that the caller lends.
    fn start(&self, batch: &mut Vec<Operation>) {
        let runs = run::merge(batch, |space| self.find(space));
        if !runs.is_empty() {
            self.carrier.submit(runs);
        }
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        self.find(space)
            .and_then(|file| file.sync())
            .map_err(|fault| StoreError::new("syncing the file of", PageId::new(space, 0), fault))
    }
}

impl Carrier {
    fn submit(&self, runs: Vec<Run>) {
        match self {
            Carrier::Threads(pool) => pool.submit(runs),
            #[cfg(feature = "uring")]
            Carrier::Uring(thread) => thread.submit(runs),
        }
    }
}

fn check_range(option: &'static str, value: u32, max: u32) -> Result<(), FileError> {
    if (1..=max).contains(&value) {
        Ok(())
    } else {
        Err(FileError::Option { option, value, min: 1, max })
    }
}

fn start_carrier(options: &FileStoreOptions) -> Result<(Engine, Carrier), FileError> {
    let mut fallback = None;
    if options.method != Method::Threads {
        match start_uring(options.queue_depth) {
            Ok(started) => return Ok(started),
            Err(reason) if options.method == Method::Uring => {
                return Err(FileError::NoUring { reason });
            }
            Err(reason) => fallback = Some(reason),
        }
    }
    let pool = ThreadPool::start(options.threads).map_err(|source| FileError::Thread { source })?;
    Ok((Engine::Threads { fallback }, Carrier::Threads(pool)))
}

#[cfg(feature = "uring")]
fn start_uring(queue_depth: u32) -> Result<(Engine, Carrier), String> {
    let thread = uring::UringThread::start(queue_depth)?;
    let engine = Engine::Uring { deferred_completions: thread.deferred_completions() };
    Ok((engine, Carrier::Uring(thread)))
}

#[cfg(not(feature = "uring"))]
fn start_uring(_queue_depth: u32) -> Result<(Engine, Carrier), String> {
    Err("this build leaves it out (feature `uring`)".to_owned())
}
