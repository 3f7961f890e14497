//! Disk reads at other sizes of an InnoDB buffer pool, from a recording.
//!
//! [`Answer`] is the table: what the server read at the size it had, and what it would have read at
//! others, each with a band.

mod answer;
mod compose;
mod error;
mod estimate;
mod ghost;
mod hash;
mod hidden;
mod parallel;
mod question;
mod replay;
mod room;
mod sizes;
mod snapshots;
mod start;
mod survey;
mod survival;
mod tape;
mod told;
mod window;

pub use answer::{Answer, Calibration, Captured, Row, WindowAnswer};
pub use compose::{answer, answer_tapes};
pub use error::WhatifError;
pub use parallel::Progress;
pub use question::Question;
pub use tape::{MemoryTape, Tape};
