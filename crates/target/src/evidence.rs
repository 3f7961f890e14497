//! What is known of one server at one moment. [`Evidence`] is plain data with public fields; what a
//! source did not say is `None`, and [`NotRead`] tells why. The moments of one run together are an
//! [`Observation`](crate::observation::Observation).

use crate::host::Host;
use crate::innodb_status::InnodbStatus;
use crate::log_events::LogEvent;
use crate::option_file::Configuration;
use crate::pool::PoolStats;
use crate::provenance::{Fact, NotRead, Source};
use crate::status::GlobalStatus;
use crate::variables::Variables;
use crate::version::Server;

/// One server at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// When it was read, in seconds since 1970; unknown for pasted output.
    pub taken_unix_seconds: Option<f64>,
    /// Flavour and version.
    pub server: Server,
    /// Variables in force.
    pub variables: Variables,
    /// Global status.
    pub status: GlobalStatus,
    /// `INNODB_BUFFER_POOL_STATS`.
    pub pool_stats: Option<PoolStats>,
    /// The InnoDB status text, without its statement texts.
    pub innodb_status: Option<InnodbStatus>,
    /// `INNODB_METRICS` counters, by name in lower case.
    pub metrics: GlobalStatus,
    /// MySQL's persisted variables: what the next start will use; `None` when not read.
    pub persisted: Option<Variables>,
    /// What the option files say.
    pub configuration: Configuration,
    /// Size of the InnoDB files per schema.
    pub data: Option<DataSize>,
    /// Reads and writes of files with their time, by kind of file.
    pub file_io: Vec<FileIo>,
    /// All statements: how many, and how long they took.
    pub statements: Option<StatementTotals>,
    /// The statements that took most time, by digest hash; never their text.
    pub digests: Vec<StatementDigest>,
    /// The server's own account of its memory.
    pub memory: Option<ServerMemory>,
    /// Open transactions.
    pub transactions: Option<Transactions>,
    /// Waits for the pool's latches.
    pub latches: Vec<LatchWaits>,
    /// The machine, when the server runs here or the person told us.
    pub host: Option<Host>,
    /// What the error log says on the pool.
    pub log_events: Vec<LogEvent>,
    /// What could not be read.
    pub not_read: Vec<NotRead>,
}

/// Size of the tablespace files.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSize {
    /// One entry per schema, largest first.
    pub schemas: Vec<SchemaSize>,
    /// Where it was read.
    pub source: Source,
}

/// Size of one schema's tablespace files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaSize {
    /// The schema, or `innodb_system`, `innodb_undo` and the like for shared tablespaces.
    pub schema: String,
    /// Number of tablespaces.
    pub tablespaces: u64,
    /// Bytes of their files.
    pub file_bytes: u64,
}

impl DataSize {
    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.schemas.iter().map(|schema| schema.file_bytes).fold(0, u64::saturating_add)
    }
}

/// The kinds of file whose reads and writes are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// Tablespaces.
    Data,
    /// The redo log.
    RedoLog,
    /// The binary log.
    BinaryLog,
    /// The doublewrite files.
    Doublewrite,
}

/// Cumulative reads and writes of one kind of file, since start-up.
#[derive(Debug, Clone, PartialEq)]
pub struct FileIo {
    /// Which files.
    pub kind: FileKind,
    /// Reads.
    pub reads: u64,
    /// Seconds spent in reads.
    pub read_seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Seconds spent in writes.
    pub write_seconds: f64,
    /// Other calls, mostly syncs.
    pub syncs: u64,
    /// Seconds spent in them.
    pub sync_seconds: f64,
    /// Where it was read.
    pub source: Source,
}

/// All statements since start-up.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementTotals {
    /// Statements executed.
    pub count: u64,
    /// Seconds they took, summed over sessions.
    pub seconds: f64,
    /// Where it was read.
    pub source: Source,
}

/// One statement digest since start-up.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementDigest {
    /// The hash of the normalised text.
    pub digest: String,
    /// Executions.
    pub count: u64,
    /// Seconds, summed.
    pub seconds: f64,
}

/// The server's own account of its memory (MySQL's performance schema).
#[derive(Debug, Clone, PartialEq)]
pub struct ServerMemory {
    /// All instrumented memory, bytes.
    pub total_bytes: u64,
    /// The buffer pool's part of it, bytes.
    pub buffer_pool_bytes: u64,
    /// Where it was read.
    pub source: Source,
}

/// Open transactions at the moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Transactions {
    /// How many.
    pub open: u64,
    /// Seconds since the oldest began.
    pub oldest_seconds: u64,
    /// Where it was read.
    pub source: Source,
}

/// Waits for one latch of the buffer pool, since start-up.
#[derive(Debug, Clone, PartialEq)]
pub struct LatchWaits {
    /// The latch, as the server names it.
    pub name: String,
    /// How often a thread had to wait for it.
    pub waits: u64,
    /// Where it was read.
    pub source: Source,
}

impl Evidence {
    /// The value in force in bytes or as a count, else what the next start would set: what is
    /// persisted before what the option files say.
    pub fn setting_bytes(&self, name: &str) -> Option<Fact<u64>> {
        let persisted = || self.persisted.as_ref()?.count(name);
        self.variables.count(name).or_else(persisted).or_else(|| self.configuration.number(name))
    }

    /// The value in force as a switch, else what the next start would set.
    pub fn setting_flag(&self, name: &str) -> Option<Fact<bool>> {
        let persisted = || self.persisted.as_ref()?.flag(name);
        self.variables.flag(name).or_else(persisted).or_else(|| self.configuration.flag(name))
    }

    /// The value in force as text, else what the next start would set.
    pub fn setting_text(&self, name: &str) -> Option<Fact<String>> {
        let persisted = || self.persisted.as_ref()?.text(name);
        self.variables.text(name).or_else(persisted).or_else(|| self.configuration.text(name))
    }

    /// Seconds since the server started.
    pub fn uptime_seconds(&self) -> Option<Fact<u64>> {
        self.status.count("uptime")
    }

    /// Reads and writes of one kind of file.
    pub fn file_io(&self, kind: FileKind) -> Option<&FileIo> {
        self.file_io.iter().find(|io| io.kind == kind)
    }
}
