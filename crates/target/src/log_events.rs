//! What an error log says on dump, load and resize of the buffer pool, and on its start.
//!
//! Notes are hidden at MySQL 8's default verbosity, so the absence of an event proves nothing.

/// One line (or pair of lines) of an error log that concerns the pool.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEvent {
    /// The file.
    pub place: String,
    /// Line in it, from 1.
    pub line: u32,
    /// The time printed at the head of the line, as printed; never to be mixed with times inside
    /// the message, which are in another zone on many servers.
    pub logged_at: Option<String>,
    /// What happened.
    pub kind: LogEventKind,
}

/// What an error log line tells.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEventKind {
    /// The pool was created at start-up.
    PoolInitialised {
        /// Bytes.
        size_bytes: Option<u64>,
        /// Instances where printed.
        instances: Option<u64>,
        /// Chunk size in bytes where printed.
        chunk_bytes: Option<u64>,
    },
    /// Memory for the pool could not be had; the server did not start.
    PoolAllocationFailed,
    /// The server lowered the instances to one for a pool below 1 GB.
    InstancesAdjusted {
        /// What was asked for.
        from: u64,
        /// What is in use.
        to: u64,
    },
    /// A load began, from this file.
    LoadStarted {
        /// The dump file.
        file: String,
    },
    /// A load ended well.
    LoadCompleted,
    /// A load was aborted on request.
    LoadAborted,
    /// A load failed.
    LoadFailed {
        /// The server's words.
        message: String,
    },
    /// A dump began.
    DumpStarted {
        /// The dump file.
        file: String,
    },
    /// A dump ended well.
    DumpCompleted,
    /// A dump failed.
    DumpFailed {
        /// The server's words.
        message: String,
    },
    /// A shutdown did not dump because the load was incomplete (MariaDB).
    DumpSkipped,
    /// A resize was asked for.
    ResizeStarted {
        /// Bytes before.
        from_bytes: Option<u64>,
        /// Bytes asked for.
        to_bytes: Option<u64>,
    },
    /// A shrink has pages left to withdraw and tries again.
    ResizeRetry {
        /// Pages withdrawn so far, where printed.
        withdrawn_pages: Option<u64>,
        /// Pages to withdraw, where printed.
        target_pages: Option<u64>,
    },
    /// A resize ended well.
    ResizeCompleted,
    /// A resize failed or was refused.
    ResizeFailed {
        /// The server's words.
        message: String,
    },
    /// The page cleaner's one second took much longer.
    PageCleanerSlow {
        /// How long it took, in milliseconds.
        took_ms: u64,
        /// Pages it flushed in that time; 0 means the host was suspended, not that the disk was slow.
        flushed_pages: u64,
        /// Pages it evicted, where printed.
        evicted_pages: Option<u64>,
    },
    /// The server recovered from a crash: there was no dump at shutdown.
    CrashRecovery,
    /// A shutdown was completed.
    ShutdownCompleted,
}
