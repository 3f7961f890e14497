//! Errors of opening, making, growing and deleting files, as against those of reading and writing a page.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a [`FileStore`](super::FileStore) or one of its files could not be opened, made, grown or deleted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// An option is out of its range.
    #[error("{option} is {value}, and must be from {min} to {max}")]
    Option {
        /// Name of the field of [`FileStoreOptions`](super::FileStoreOptions).
        option: &'static str,
        /// What it is.
        value: u32,
        /// Smallest value allowed.
        min: u32,
        /// Largest value allowed.
        max: u32,
    },
    /// io_uring was required and does not work here.
    #[error("io_uring cannot be used: {reason}; choose `Method::Probe` or `Method::Threads`")]
    NoUring {
        /// What the kernel said, or that it was left out of this build.
        reason: String,
    },
    /// A thread could not be started.
    #[error("no thread for reading and writing pages could be started: {source}")]
    Thread {
        /// What the operating system said.
        source: io::Error,
    },
    /// Direct I/O was required and the file system does not do it.
    #[error("{} cannot be opened past the page cache: {reason}; choose `Direct::WhenPossible`", path.display())]
    NoDirect {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The tablespace is already open in this store.
    #[error("tablespace {space} is already open as {}", path.display())]
    AlreadyOpen {
        /// The tablespace.
        space: u32,
        /// Its file.
        path: PathBuf,
    },
    /// The file is open already, as another tablespace, perhaps by another path.
    #[error("{} is open as tablespace {other} already; two tablespaces must not share a file", path.display())]
    SameFile {
        /// The tablespace that has the file.
        other: u32,
        /// The file.
        path: PathBuf,
    },
    /// The path names something else than an ordinary file.
    #[error("{} is not an ordinary file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The tablespace is not open in this store.
    #[error("there is no tablespace {space}")]
    NoSuchSpace {
        /// The tablespace.
        space: u32,
    },
    /// The file is not a whole number of pages long.
    #[error(
        "{} is {bytes} bytes long, which is not a whole number of pages of {page_bytes} bytes: it has another page \
         size or its last page is torn", path.display()
    )]
    OddSize {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// Bytes of a page.
        page_bytes: usize,
    },
    /// A tablespace cannot have more than 2^32 - 1 pages.
    #[error("{} would have {pages} pages, and a tablespace holds at most {}", path.display(), u32::MAX)]
    TooManyPages {
        /// The file.
        path: PathBuf,
        /// Pages it would have.
        pages: u64,
    },
    /// The operating system said no.
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        /// What was being done: `creating`, `extending`, …
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl FileError {
    /// Returns what turns an error of `doing` something to `path` into a [`FileError`].
    pub(super) fn io<E: Into<io::Error>>(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> FileError {
        move |source| FileError::Io { doing, path: path.to_owned(), source: source.into() }
    }
}
