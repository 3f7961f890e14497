//! What can go wrong with a pool.

use std::sync::Arc;

use innopool_policy::{Lsn, PageId};
use thiserror::Error;

use crate::store::StoreError;

/// Why a pool could not do what it was asked.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The page could not be read. Everybody who waited for the same read gets the same error; the next get tries again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The page was read, and is not what it should be.
    #[error("page {page} is damaged: {what}")]
    Damaged {
        /// The page.
        page: PageId,
        /// What its format says of it.
        what: String,
    },
    /// No frame became free within the time allowed.
    #[error(
        "no frame came free within {waited_ms} ms: the instance has {size_pages} frames, {pinned_pages} of their pages are \
         pinned and {dirty_pages} are dirty; {advice}"
    )]
    Exhausted {
        /// How long was waited, in milliseconds.
        waited_ms: u64,
        /// Frames of the instance.
        size_pages: u64,
        /// Pages that somebody holds.
        pinned_pages: u64,
        /// Pages that must be written before they can be evicted.
        dirty_pages: u64,
        /// What to do: why the dirty pages cannot be written, if they cannot.
        advice: String,
    },
    /// More than half a million guards on one page.
    #[error("page {0} has too many pins; drop guards that are not needed")]
    TooManyPins(PageId),
    /// The log could not be made durable, so no page that depends on it may be written.
    #[error("the log could not be made durable up to LSN {}: {what}", lsn.0)]
    Log {
        /// Up to where it should have been.
        lsn: Lsn,
        /// What the log said.
        what: String,
    },
    /// A sync failed earlier. What it should have made durable may be lost although later syncs succeed, so the pool
    /// writes nothing more; recover from the log.
    #[error("the pool has stopped writing: {0}")]
    Poisoned(Arc<str>),
    /// The setting cannot be.
    #[error("{name} = {value}: {why}")]
    Setting {
        /// The field of the options.
        name: &'static str,
        /// What it was set to.
        value: String,
        /// Why that cannot be, and what can.
        why: String,
    },
    /// The machine would not give the memory.
    #[error(
        "no memory for a buffer pool of {wanted_bytes} bytes ({why}); its size is {size_bytes} bytes"
    )]
    Memory {
        /// Size that was asked for.
        wanted_bytes: u64,
        /// Size the pool has.
        size_bytes: u64,
        /// What the operating system said, or which limit would be passed.
        why: String,
    },
    /// A resize, dump or load of the same kind is already running.
    #[error("{0} is already running; wait for it or cancel it")]
    Busy(&'static str),
    /// A resize, dump or load was cancelled, or ran out of the time it was given.
    #[error("{what} stopped: {why}")]
    Stopped {
        /// What stopped.
        what: &'static str,
        /// Why, and what state it left.
        why: String,
    },
    /// A dump would have replaced a fuller one: the pool is only half warm. The old file is as it was.
    #[error(
        "{path} lists {kept_pages} pages that can be loaded and this dump would list {pages}, from a pool that has \
         neither been full nor loaded them all; the file was kept: load it first, or say that it may be replaced"
    )]
    FullerDump {
        /// The file.
        path: String,
        /// Its pages that exist, each counted once.
        kept_pages: u64,
        /// Pages the new dump would have had.
        pages: u64,
    },
    /// Somebody holds a page that was to be thrown out, or is writing it.
    #[error("page {0} is still held or being written; drop its guards and try again")]
    InUse(PageId),
    /// A dump file could not be written or read.
    #[error("{path}: {what}")]
    File {
        /// The file, with a line number where that helps.
        path: String,
        /// What went wrong.
        what: String,
    },
}
