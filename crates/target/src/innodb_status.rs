//! `SHOW ENGINE INNODB STATUS`, read by line prefix and never by position: twenty years of servers
//! and of people who pasted them through wikis, mail and translators print it differently.

use crate::pool::PoolBlock;
use crate::provenance::Source;

/// The parts of the status text that concern the buffer pool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InnodbStatus {
    /// File or statement it came from.
    pub place: String,
    /// Seconds the printed averages cover; below 2 they are meaningless.
    pub averages_seconds: Option<u64>,
    /// The totals block; `None` when the text has no pool section (truncated at 64,000 bytes).
    pub pool: Option<PoolBlock>,
    /// One block per instance, when there are several.
    pub instances: Vec<PoolBlock>,
    /// "Total large memory allocated" (older: "Total memory allocated"), bytes.
    pub total_memory_bytes: Option<u64>,
    /// "Dictionary memory allocated", bytes.
    pub dictionary_memory_bytes: Option<u64>,
    /// Redo log positions.
    pub log: LogPositions,
    /// Length of the history list (undo not yet purged).
    pub history_list_length: Option<u64>,
    /// Threads printed as waiting on a latch of the buffer pool (`buf0*.cc`) at that moment.
    pub pool_latch_waiters: Option<u64>,
    /// True when the text ends before its end mark.
    pub truncated: bool,
    /// Printed rates cannot be used (averaged over less than 2 s, or multiples of 1000).
    pub rates_unusable: bool,
}

/// Redo log positions, as LSN (bytes of log since the server was created).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogPositions {
    /// End of the log.
    pub current_lsn: Option<u64>,
    /// On disk up to here.
    pub flushed_lsn: Option<u64>,
    /// Oldest dirty page ("Pages flushed up to").
    pub pages_flushed_lsn: Option<u64>,
    /// Last checkpoint.
    pub checkpoint_lsn: Option<u64>,
}

impl LogPositions {
    /// Bytes of log between the last checkpoint and the end.
    pub fn checkpoint_age_bytes(&self) -> Option<u64> {
        self.current_lsn?.checked_sub(self.checkpoint_lsn?)
    }
}

impl InnodbStatus {
    /// A source within this text.
    pub fn source(&self, name: &str) -> Source {
        Source::new(self.place.as_str(), name)
    }
}
