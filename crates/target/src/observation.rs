//! One look at a server: its moments in order, and the light samples between them.
//!
//! Evidence reaches this point as [`Document`]s, whether a live connection, `innopool collect` or a
//! person's clipboard produced them. There is one way from documents to an [`Observation`], so a
//! saved look reads back to the same report as the live one.

use crate::evidence::Evidence;
use crate::host::Host;
use crate::interval::Interval;
use crate::provenance::NotRead;
use crate::table::Table;

/// One piece of evidence as it was printed, with its place and moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What it is.
    pub content: Content,
    /// The statement or file it came from, as shown to people.
    pub place: String,
    /// Which moment it belongs to, from 0.
    pub moment: usize,
    /// Seconds since 1970, where known.
    pub taken_unix_seconds: Option<f64>,
}

/// The kinds of document innopool reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Name and value: `SHOW GLOBAL VARIABLES`.
    Variables(Table),
    /// Columns `variable_name, origin, path, set_at, set_by`; origin is one of `compiled`, `auto`,
    /// `file`, `command_line`, `persisted`, `dynamic`; `set_by` is `this` or `another`.
    VariableOrigins(Table),
    /// Name and value: `SHOW GLOBAL STATUS`.
    Status(Table),
    /// `INFORMATION_SCHEMA.INNODB_BUFFER_POOL_STATS`, a row per instance.
    PoolStats(Table),
    /// Columns `name, count` of `INNODB_METRICS`.
    Metrics(Table),
    /// The InnoDB status text; only the sections innopool reads are ever kept.
    InnodbStatus(String),
    /// Name and value: `performance_schema.persisted_variables`.
    Persisted(Table),
    /// Columns `schema_name, tablespaces, file_bytes`.
    SchemaSizes(Table),
    /// Columns `kind, reads, read_seconds, read_bytes, writes, write_seconds, syncs, sync_seconds`;
    /// kind is `data`, `redo_log`, `binary_log` or `doublewrite`.
    FileIo(Table),
    /// Columns `count, seconds`, one row.
    Statements(Table),
    /// Columns `digest, count, seconds`.
    Digests(Table),
    /// Columns `total_bytes, buffer_pool_bytes`, one row.
    Memory(Table),
    /// Columns `open, oldest_seconds`, one row.
    Transactions(Table),
    /// Columns `name, waits`.
    Latches(Table),
    /// Columns `name, value, source` where name is a field of [`Host`].
    Host(Table),
    /// Light samples: `taken_unix_seconds` and lower-case status names as columns.
    Gauges(Table),
    /// Prometheus exposition text of mysqld_exporter.
    Exporter(String),
    /// An option file.
    OptionFile(String),
    /// `mysqld-auto.cnf`.
    MysqldAuto(String),
    /// `/proc/meminfo`.
    Meminfo(String),
    /// Lines of an error log.
    ErrorLog(String),
    /// Columns `what, why`: what the one who collected could not read.
    NotRead(Table),
}

/// A light sample of a few gauges between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct GaugeSample {
    /// Seconds since 1970.
    pub taken_unix_seconds: f64,
    /// The gauges and counters, by lower-case status name.
    pub status: crate::status::GlobalStatus,
}

/// One look at a server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Name of the server for people (a host name the user typed, a directory, a file); never an
    /// account.
    pub name: String,
    /// The moments, oldest first; at least one. Later moments carry the static parts of earlier
    /// ones.
    pub moments: Vec<Evidence>,
    /// Samples between and at the moments, oldest first.
    pub gauges: Vec<GaugeSample>,
    /// What could not be read, over all moments.
    pub not_read: Vec<NotRead>,
}

impl Observation {
    /// The newest moment, where everything known is gathered.
    pub fn latest(&self) -> &Evidence {
        static NOTHING: std::sync::LazyLock<Evidence> = std::sync::LazyLock::new(Evidence::default);
        self.moments.last().unwrap_or(&NOTHING)
    }

    /// The interval from the first to the last moment, when there are two with counters.
    pub fn interval(&self) -> Option<Interval> {
        match self.moments.as_slice() {
            [first, .., last] => Interval::between(first, last),
            _ => None,
        }
    }

    /// The machine, when known.
    pub fn host(&self) -> Option<&Host> {
        self.latest().host.as_ref()
    }
}
