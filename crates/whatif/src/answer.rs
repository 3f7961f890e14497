//! The answer: a curve of disk reads against pool size.

use innopool_recording::Source;
use serde::Serialize;

/// What a recording says of other sizes. Serialises as schema `innopool.whatif/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// `innopool.whatif/1`.
    pub schema: &'static str,
    /// What was recorded.
    pub captured: Captured,
    /// The recorded size replayed, against what the server counted; `None` where nothing can be replayed.
    pub calibration: Option<Calibration>,
    /// By size, smallest first.
    pub curve: Vec<Row>,
    /// The size from which on more memory saves little; `None` where the curve does not show one.
    pub knee_bytes: Option<u64>,
    /// The same for each window, by time, where there are several. The curve of the whole adds them up.
    pub windows: Vec<WindowAnswer>,
    /// Whether a size may be recommended from it; else why not.
    pub refused_because: Option<String>,
    /// What a reader must know, one sentence each.
    pub remarks: Vec<String>,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Captured {
    /// How.
    pub source: Source,
    /// `innodb_buffer_pool_size`.
    pub pool_size_bytes: u64,
    /// Watched, over all windows.
    pub duration_seconds: f64,
    /// Events recorded.
    pub events: u64,
    /// Events that were missed.
    pub lost_events: u64,
    /// Transactions that ended meanwhile.
    pub transactions: Option<u64>,
    /// Requests for pages meanwhile, by the server's counter.
    pub read_requests: Option<u64>,
    /// Mean time of a read from disk, by the server's own measure.
    pub read_latency_seconds: Option<f64>,
    /// Time statements took meanwhile, over all sessions.
    pub statement_seconds: Option<f64>,
}

/// The recorded size, replayed and counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Demand reads by the server's counters.
    pub measured_disk_reads: u64,
    /// Demand reads of the replay.
    pub replayed_disk_reads: u64,
    /// |replayed - measured| / measured.
    pub error_ratio: f64,
}

/// What one window says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowAnswer {
    /// Microseconds since 1970, when it began.
    pub started_unix_us: u64,
    /// How long it was watched.
    pub duration_seconds: f64,
    /// Transactions that ended meanwhile.
    pub transactions: Option<u64>,
    /// The recorded size, replayed and counted.
    pub calibration: Option<Calibration>,
    /// By size, smallest first.
    pub curve: Vec<Row>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The size.
    pub pool_size_bytes: u64,
    /// Of the recorded size.
    pub size_factor: f64,
    /// Demand reads.
    pub disk_reads_per_second: Option<f64>,
    /// Not fewer.
    pub disk_reads_low_per_second: Option<f64>,
    /// Not more.
    pub disk_reads_high_per_second: Option<f64>,
    /// Demand reads.
    pub disk_reads_per_transaction: Option<f64>,
    /// Demand reads per thousand requests, by the server's count of requests.
    pub miss_per_mille: Option<f64>,
    /// Reads time latency, as a share of the time statements took at the recorded size.
    pub read_time_ratio: Option<f64>,
    /// Reads saved for each GB more than the row before.
    pub reads_saved_per_second_per_gb: Option<f64>,
    /// Only low and high can be told, or not even both; the estimate is `None`.
    pub bound_only: bool,
}
