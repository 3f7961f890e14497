//! How a [`FileStore`](super::FileStore) is opened, and what it found out it could use.

use crate::page_size::PageSize;

/// Settings of a [`FileStore`](super::FileStore), fixed when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileStoreOptions {
    /// Size of every page in every file.
    pub page_size: PageSize,
    /// Whether files bypass the page cache of the operating system.
    pub direct: Direct,
    /// What carries out the operations of a batch.
    pub method: Method,
    /// Requests that may be with the device at once under io_uring, 1 to 4096; a request is a run of up to 1 MiB.
    pub queue_depth: u32,
    /// Threads that carry out batches when io_uring does not, 1 to 1024: they are the queue depth then.
    pub threads: u32,
}

impl FileStoreOptions {
    /// Returns the defaults for pages of `page_size`: direct when possible, io_uring when possible, 64 requests at
    /// once or 32 threads.
    pub fn new(page_size: PageSize) -> FileStoreOptions {
        FileStoreOptions {
            page_size,
            direct: Direct::WhenPossible,
            method: Method::Probe,
            queue_depth: 64,
            threads: 32,
        }
    }

    /// Sets whether files bypass the page cache.
    #[must_use]
    pub fn direct(mut self, direct: Direct) -> FileStoreOptions {
        self.direct = direct;
        self
    }

    /// Sets what carries out batches.
    #[must_use]
    pub fn method(mut self, method: Method) -> FileStoreOptions {
        self.method = method;
        self
    }

    /// Sets how many requests may be with the device at once under io_uring.
    #[must_use]
    pub fn queue_depth(mut self, queue_depth: u32) -> FileStoreOptions {
        self.queue_depth = queue_depth;
        self
    }

    /// Sets how many threads carry out batches without io_uring.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> FileStoreOptions {
        self.threads = threads;
        self
    }
}

/// Whether files are opened with `O_DIRECT`, past the page cache of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direct {
    /// A file that cannot be is refused.
    Always,
    /// A file that cannot be is opened buffered, and [`OpenMode::fallback`] says why.
    WhenPossible,
    /// Every file goes through the page cache.
    Never,
}

/// What is asked to carry out batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// io_uring if it works here, threads if not.
    Probe,
    /// io_uring; opening fails where it does not work.
    Uring,
    /// Threads that read and write with positioned calls.
    Threads,
}

/// What carries out batches in an open store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// io_uring.
    Uring {
        /// Whether the kernel leaves completion work to the ring's own thread (`IORING_SETUP_DEFER_TASKRUN`, Linux
        /// 6.1), which is the faster way.
        deferred_completions: bool,
    },
    /// A pool of threads.
    Threads {
        /// Why io_uring is not used although it was allowed; `None` when it was not.
        fallback: Option<String>,
    },
}

/// How the file of one tablespace is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMode {
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Bytes the address of a frame must be a multiple of; 1 when buffered.
    pub memory_alignment_bytes: usize,
    /// Bytes the offset and length of a transfer must be a multiple of; 1 when buffered.
    pub offset_alignment_bytes: usize,
    /// Why it is buffered although [`Direct::WhenPossible`] was asked for; `None` otherwise.
    pub fallback: Option<String>,
}

impl OpenMode {
    /// The mode of a file that goes through the page cache, because of `fallback` or because it was asked for.
    pub(super) fn buffered(fallback: Option<String>) -> OpenMode {
        OpenMode { direct: false, memory_alignment_bytes: 1, offset_alignment_bytes: 1, fallback }
    }
}
