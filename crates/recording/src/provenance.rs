//! Where a recording comes from: everything a replay must know besides the events.

use serde::{Deserialize, Serialize};

/// The head of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// What wrote it: `innopool 0.1.0`.
    pub recorded_by: String,
    /// Whose server.
    pub flavor: Flavor,
    /// `@@version`.
    pub server_version: String,
    /// `@@server_uuid`, or what stands for it.
    pub server_uuid: Option<String>,
    /// How it was watched.
    pub source: Source,
    /// The pool as it was.
    pub pool: PoolSettings,
    /// Which pages were looked at.
    pub sampling: Sampling,
    /// Tablespaces that were there when the recording began, by id. Names are left out.
    pub tablespaces: Vec<Tablespace>,
    /// Microseconds since 1970, when the recording began.
    pub started_unix_us: u64,
    /// What the recorder did not do or could not see, one sentence each.
    pub remarks: Vec<String>,
}

impl Provenance {
    /// Names the first field with a value that cannot be, and the value.
    pub(crate) fn impossible(&self) -> Option<(&'static str, String)> {
        let (rate, old) = (self.sampling.rate, self.pool.old_blocks_pct);
        if !(rate > 0.0 && rate <= 1.0) {
            return Some(("the share of sampled pages", rate.to_string()));
        }
        (!old.is_finite()).then(|| ("innodb_old_blocks_pct", old.to_string()))
    }
}

/// Whose server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    /// MySQL, and Percona Server's like.
    Mysql,
    /// Percona Server.
    Percona,
    /// MariaDB.
    Mariadb,
    /// The embedded engine.
    Embedded,
}

/// How a server was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Reads, creations and moves within the list.
    Events,
    /// The same, and every request for a page.
    EveryGet,
    /// Reads of data files only.
    Reads,
    /// Dumps of the list, again and again; no events.
    Dumps,
    /// Looks at `INNODB_BUFFER_PAGE_LRU`, again and again; no events.
    Lru,
}

/// The pool and what decides its behaviour, as set when the recording began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolSettings {
    /// `innodb_buffer_pool_size`.
    pub size_bytes: u64,
    /// `innodb_buffer_pool_chunk_size`, where there is one.
    pub chunk_bytes: Option<u64>,
    /// `innodb_buffer_pool_instances`, as in use.
    pub instances: u32,
    /// `innodb_page_size`.
    pub page_size_bytes: u32,
    /// `innodb_old_blocks_pct`.
    pub old_blocks_pct: f64,
    /// `innodb_old_blocks_time`.
    pub old_blocks_time_ms: u64,
    /// `innodb_lru_scan_depth`.
    pub lru_scan_depth: u64,
    /// `innodb_read_ahead_threshold`; 0 is off.
    pub read_ahead_threshold: u32,
    /// `innodb_random_read_ahead`.
    pub random_read_ahead: bool,
    /// `innodb_adaptive_hash_index`.
    pub adaptive_hash_index: bool,
}

/// Which pages were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The share of pages, above 0 and at most 1; 1 is all.
    pub rate: f64,
    /// What the hash of a page is salted with.
    pub salt: u64,
}

impl Sampling {
    /// Every page.
    pub const ALL: Sampling = Sampling { rate: 1.0, salt: 0 };
}

/// A tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tablespace {
    /// Its id.
    pub space: u32,
    /// Its size, in pages, where known.
    pub pages: Option<u32>,
}
