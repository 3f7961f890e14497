//! Columns of the tables that have a shape of innopool's own: what the statements ask for, what
//! saved files have, and all that is kept of them. What they mean stands at
//! [`Content`](crate::observation::Content).

/// Where variables were set.
pub(crate) const ORIGINS: &[&str] = &["variable_name", "origin", "path", "set_at", "set_by"];
/// Counters of `INNODB_METRICS`.
pub(crate) const METRICS: &[&str] = &["name", "count"];
/// Bytes of files per schema.
pub(crate) const SCHEMA_SIZES: &[&str] = &["schema_name", "tablespaces", "file_bytes"];
/// Reads and writes per kind of file.
pub(crate) const FILE_IO: &[&str] = &[
    "kind",
    "reads",
    "read_seconds",
    "read_bytes",
    "writes",
    "write_seconds",
    "syncs",
    "sync_seconds",
];
/// All statements.
pub(crate) const STATEMENTS: &[&str] = &["count", "seconds"];
/// Statements by digest.
pub(crate) const DIGESTS: &[&str] = &["digest", "count", "seconds"];
/// The server's memory.
pub(crate) const MEMORY: &[&str] = &["total_bytes", "buffer_pool_bytes"];
/// Open transactions.
pub(crate) const TRANSACTIONS: &[&str] = &["open", "oldest_seconds"];
/// Waits per latch.
pub(crate) const LATCHES: &[&str] = &["name", "waits"];
/// Fields of the machine.
pub(crate) const HOST: &[&str] = &["name", "value", "source"];
/// What was not read.
pub(crate) const NOT_READ: &[&str] = &["what", "why"];
/// The time of a gauge sample; its other columns are status names.
pub(crate) const TAKEN: &str = "taken_unix_seconds";
