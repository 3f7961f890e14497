//! Disk reads at other sizes of an InnoDB buffer pool, from a recording.
//!
//! [`Answer`] is the table: what the server read at the size it had, and what it would have read at
//! others, each with a band.

mod answer;
mod compose;
mod error;
mod estimate;
mod hash;
mod hidden;
mod question;
mod replay;
mod room;
mod start;
mod survey;
mod survival;
mod tape;
mod window;

pub use answer::{Answer, Calibration, Captured, Row};
pub use compose::answer_tapes;
pub use error::WhatifError;
pub use question::Question;
pub use tape::{MemoryTape, Records, Tape};
