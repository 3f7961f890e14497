//! Where pages live when they are not in the pool: the trait a page store keeps.
//!
//! The pool reads a missing page synchronously, in the thread that asked for it ([`PageStore::read`]), and
//! does everything else, read-ahead, loads and flushing, in batches that complete later
//! ([`PageStore::start`]). A store is never asked for two operations on the same page at once, and never calls the pool but
//! to complete an operation (rule 9).

#[cfg(target_os = "linux")]
pub mod file;
mod lock;
pub mod operation;
pub mod sim;

use innopool_policy::PageId;
use thiserror::Error;

use crate::page_size::PageSize;

#[cfg(target_os = "linux")]
pub use file::{Direct, Engine, FileError, FileStore, FileStoreOptions, Method, OpenMode};
pub use operation::{Completion, Kind, Operation};
pub use sim::SimStore;

/// A place that keeps pages: files, a device, a remote service, a simulation.
///
/// A write is durable once [`sync`](PageStore::sync) of its tablespace has returned; until then a power cut
/// may keep it, lose it or tear it.
pub trait PageStore: Send + Sync + 'static {
    /// The size of every page here.
    fn page_size(&self) -> PageSize;

    /// How many pages tablespace `space` has; pages from there on cannot be read.
    ///
    /// # Errors
    ///
    /// [`StoreError`] with [`Fault::NoSuchSpace`] when there is no such tablespace.
    fn space_pages(&self, space: u32) -> Result<u32, StoreError>;

    /// Reads one page into `frame`, which is exactly a page long and aligned to the page size.
    ///
    /// # Errors
    ///
    /// What the device said, or that the page does not exist. `frame` may then hold anything.
    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError>;

    /// Writes one page from `frame`.
    ///
    /// # Errors
    ///
    /// What the device said. The page may then be old, new or torn.
    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError>;

    /// Starts every operation of `batch`, leaving it empty, and returns without waiting for them; it may wait for
    /// room in its queue. Each ends in one call of [`Operation::complete`], from any thread.
    fn start(&self, batch: &mut Vec<Operation>);

    /// Makes every write to `space` that completed before this call durable.
    ///
    /// # Errors
    ///
    /// What the device said. The writes may then be lost even if a later sync succeeds, so no caller may retry.
    fn sync(&self, space: u32) -> Result<(), StoreError>;
}

/// What went wrong with a page.
#[derive(Clone, Debug, Error)]
#[error("{doing} page {page}: {fault}")]
#[non_exhaustive]
pub struct StoreError {
    /// What was being done: `reading`, `writing`, `syncing the file of`, `measuring the file of`.
    pub doing: &'static str,
    /// The page; for a sync, page 0 of the tablespace.
    pub page: PageId,
    /// Why it failed.
    pub fault: Fault,
}

/// Why an operation on a store failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The tablespace is not there.
    #[error("there is no tablespace {0}")]
    NoSuchSpace(u32),
    /// The page is beyond the end of its tablespace.
    #[error("the tablespace ends after {pages} pages")]
    BeyondEnd {
        /// Pages the tablespace has.
        pages: u32,
    },
    /// The device gave fewer bytes than a page although the page exists.
    #[error("only {read_bytes} of {page_bytes} bytes could be read")]
    ShortRead {
        /// Bytes that came.
        read_bytes: usize,
        /// Bytes of a page.
        page_bytes: usize,
    },
    /// The operating system or the device said no.
    #[error("{what}")]
    Device {
        /// The kind of error, to branch on.
        kind: std::io::ErrorKind,
        /// The error in words.
        what: String,
    },
    /// The store went away with the operation still open.
    #[error("the page store dropped the operation")]
    Dropped,
}

impl StoreError {
    /// Returns the error of `doing` something to `page`.
    pub fn new(doing: &'static str, page: PageId, fault: Fault) -> StoreError {
        StoreError { doing, page, fault }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        Fault::Device { kind: error.kind(), what: error.to_string() }
    }
}
