//! The answer of `innopool size` as plain data. JSON keys are a contract (`innopool.size/1`): stable
//! names, units in names, `null` for unknown.

use serde::Serialize;

use super::curve::CurvePoint;
use crate::finding::EvidenceItem;
use crate::report::{Basis, NotReadReport, PoolReport, ServerReport};

/// The version of the JSON.
pub const SCHEMA: &str = "innopool.size/1";

/// How a size is known, weakest first. Better evidence replaces weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceLevel {
    /// Memory and data size.
    Rule,
    /// Counters over an interval.
    Counters,
    /// Repeated looks at the list of pages.
    Snapshots,
    /// Recorded page accesses, replayed.
    Capture,
    /// Measured at each size.
    Sweep,
}

impl EvidenceLevel {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Counters => "counters",
            Self::Snapshots => "snapshots",
            Self::Capture => "capture",
            Self::Sweep => "sweep",
        }
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeReport {
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
    /// The size; `null` where the evidence allows none.
    pub recommendation: Option<Recommendation>,
    /// What being wrong on either side costs.
    pub price: Option<Price>,
    /// The memory it may use.
    pub memory_budget: MemoryBudget,
    /// The pool now.
    pub pool: PoolReport,
    /// What the curve was made from, where there is one.
    pub curve_from: Option<CurveSource>,
    /// Reads against size; empty without a curve.
    pub curve: Vec<CurveRow>,
    /// Sizes tried on the server itself; `null` unless measured.
    pub verified: Option<Vec<VerifiedRow>>,
    /// Other values that go with the size, where they differ from what is set.
    pub settings: Vec<Setting>,
    /// What to type to have the size; lines as in a finding's action. Empty when it is kept.
    pub action: String,
    /// What stronger evidence would change, and how to get it.
    pub better_evidence: Vec<BetterEvidence>,
    /// What a reader must know, a sentence each.
    pub remarks: Vec<String>,
    /// What could not be read.
    pub not_read: Vec<NotReadReport>,
}

/// The size to have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// The size, as the server will really have it.
    pub pool_size_bytes: u64,
    /// The smallest that would do as well; `null` where the evidence does not tell.
    pub low_bytes: Option<u64>,
    /// More than this gives nothing; `null` where the evidence does not tell.
    pub high_bytes: Option<u64>,
    /// What it is known from.
    pub evidence_level: EvidenceLevel,
    /// It is today's size: leave it.
    pub keep_current: bool,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

/// What being wrong costs, on either side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// At `low_bytes`.
    pub low: PricePoint,
    /// At the recommended size.
    pub recommended: PricePoint,
    /// At `high_bytes`.
    pub high: PricePoint,
}

/// One size and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PricePoint {
    /// The size.
    pub pool_size_bytes: u64,
    /// Demand reads.
    pub disk_reads_per_second: f64,
    /// Reads times latency, as a share of the time statements took at the recorded size.
    pub read_time_ratio: Option<f64>,
    /// Throughput over that of the best affordable size.
    pub throughput_ratio: Option<f64>,
    /// What is left of the memory budget.
    pub memory_left_bytes: Option<u64>,
}

/// The memory the pool may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MemoryBudget {
    /// The largest pool that fits; `null` where no limit is known.
    pub ceiling_bytes: Option<u64>,
    /// The limit that binds first, then everything that is taken off it.
    pub terms: Vec<BudgetTerm>,
}

/// A term of the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetTerm {
    /// What it is.
    pub name: String,
    /// How much.
    pub bytes: u64,
    /// Where it was read, or how it was computed.
    pub source: String,
}

/// What a curve was made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurveSource {
    /// How strong it is.
    pub level: EvidenceLevel,
    /// How it was made, for people.
    pub made_from: String,
    /// The pool then.
    pub recorded_size_bytes: u64,
    /// Why nothing is recommended from it, where that is so.
    pub refused_because: Option<String>,
}

/// A row of the curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurveRow {
    /// As in `innopool.whatif/1`.
    #[serde(flatten)]
    pub point: CurvePoint,
    /// It is within the memory budget; `null` where that is not known.
    pub within_budget: Option<bool>,
}

/// A size tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VerifiedRow {
    /// The size.
    pub pool_size_bytes: u64,
    /// What the curve says.
    pub predicted_disk_reads_per_transaction: Option<f64>,
    /// What was counted.
    pub measured_disk_reads_per_transaction: Option<f64>,
}

/// A value that goes with the size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// The variable.
    pub name: String,
    /// What it is now.
    pub current: Option<u64>,
    /// What it should be.
    pub recommended: u64,
    /// Its unit: `bytes`, `instances` or `per_second`.
    pub unit: &'static str,
    /// Why.
    pub reason: String,
    /// What that rests on.
    pub evidence: Vec<EvidenceItem>,
    /// What to type, lines as in a finding's action.
    pub action: String,
}

/// A way to know more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BetterEvidence {
    /// What level it would reach.
    pub level: EvidenceLevel,
    /// The command.
    pub command: String,
    /// What it would change.
    pub changes: String,
}
