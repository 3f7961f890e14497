//! Disk reads at other sizes of an InnoDB buffer pool, from a recording.
//!
//! [`Answer`] is the table: what the server read at the size it had, and what it would have read at
//! others, each with a band.

mod answer;

pub use answer::{Answer, Calibration, Captured, Row};
