//! The answer of `innopool check` as plain data: what the terminal, Markdown and JSON show.
//!
//! JSON keys are a contract (`innopool.check/1`): stable names, units in names, `null` for unknown.

use serde::Serialize;

use crate::finding::{EvidenceItem, Finding, Severity};

/// The version of the JSON this crate writes.
pub const SCHEMA: &str = "innopool.check/1";

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The server's name for people; never an account.
    pub name: String,
    /// Which server.
    pub server: ServerReport,
    /// Seconds watched; `null` when the evidence is of one moment.
    pub interval_seconds: Option<f64>,
    /// What the rates are of.
    pub basis: Basis,
    /// The answer in a sentence or two.
    pub headline: String,
    /// The pool now.
    pub pool: PoolReport,
    /// The memory it may use.
    pub memory: MemoryReport,
    /// What to know or do, most pressing first.
    pub findings: Vec<Finding>,
    /// What was looked at and is fine.
    pub fine: Vec<FineReport>,
    /// What could not be judged.
    pub unknown: Vec<UnknownReport>,
    /// What could not be read.
    pub not_read: Vec<NotReadReport>,
}

/// Where the rates come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Two moments, so what happened between them.
    Interval,
    /// Counters since the server started: the present is hidden in them.
    SinceStart,
    /// No counters at all.
    Moment,
}

/// Which server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerReport {
    /// `mysql`, `mariadb`, `percona` or `unknown`.
    pub flavor: &'static str,
    /// The version as printed.
    pub version: Option<String>,
    /// Seconds since it started.
    pub uptime_seconds: Option<u64>,
}

/// The pool now. `null` is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PoolReport {
    /// Bytes.
    pub size_bytes: Option<u64>,
    /// Bytes of a page.
    pub page_size_bytes: Option<u64>,
    /// Instances in use.
    pub instances: Option<u64>,
    /// All pages.
    pub pages_total: Option<u64>,
    /// Pages on the free list.
    pub pages_free: Option<u64>,
    /// Pages holding data.
    pub pages_data: Option<u64>,
    /// Pages in the old part of the list.
    pub pages_old: Option<u64>,
    /// Dirty pages.
    pub pages_dirty: Option<u64>,
    /// Page gets per second.
    pub read_requests_per_second: Option<f64>,
    /// Gets that had to wait for the disk, per second.
    pub disk_reads_per_second: Option<f64>,
    /// All pages read per second.
    pub pages_read_per_second: Option<f64>,
    /// Hits of a thousand gets.
    pub hit_per_mille: Option<u64>,
    /// Mean time of one read.
    pub read_latency_seconds: Option<f64>,
    /// Share of statement time (or of running threads) spent waiting for reads, 0 to 1.
    pub read_cost_ratio: Option<f64>,
    /// What that is a share of: `statement_time` or `running_threads`.
    pub read_cost_of: Option<&'static str>,
    /// Bytes of all InnoDB data files.
    pub data_bytes: Option<u64>,
}

/// The memory the pool may use.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MemoryReport {
    /// The limit that binds, bytes.
    pub limit_bytes: Option<u64>,
    /// What sets it: `ram`, `cgroup`, `given`.
    pub limit_source: Option<String>,
    /// The largest pool that fits, bytes.
    pub pool_budget_bytes: Option<u64>,
    /// How the budget adds up, term by term.
    pub budget: Vec<EvidenceItem>,
}

/// A thing that is fine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FineReport {
    /// The finding's code that was looked for.
    pub code: &'static str,
    /// Why it is fine, with the margin left.
    pub summary: String,
}

/// A thing that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownReport {
    /// The finding's code.
    pub code: &'static str,
    /// What is missing.
    pub why: String,
}

/// A thing that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotReadReport {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Report {
    /// The most pressing severity, if anything was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
