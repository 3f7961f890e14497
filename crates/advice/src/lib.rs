//! Facts about a server in, judgement out: what is wrong with a buffer pool, how sure that is, and
//! what to type.
//!
//! Pure: nothing here reads a clock, a file or a network. [`check()`] takes an
//! [`Observation`](innopool_target::Observation) and answers with a [`Report`]. Inside,
//! `facts` works out what several rules need, each file under `rules` judges one subject, and
//! [`thresholds`] is the one table of numbers they judge by. `dialect` knows what can be typed on
//! which server; [`words`] puts numbers into words; [`catalog`] explains every finding at length.
//! [`size()`] recommends a size, from the same facts and, where there is one, a curve of disk reads.

pub mod catalog;
mod check;
mod dialect;
mod facts;
pub mod finding;
mod growth;
mod headline;
mod memory;
mod read_cost;
mod redo;
pub mod report;
mod rounding;
mod rules;
pub mod size;
pub mod thresholds;
pub mod words;

pub use check::check;
pub use finding::{EvidenceItem, Finding, Severity};
pub use report::Report;
pub use size::{SizeReport, size};
