//! InnoDB's page replacement, as pure code.
//!
//! The rules by which a MySQL or MariaDB server decides which pages stay in its buffer pool, written so
//! that the same code runs inside a buffer pool and inside a simulator. Nothing here does I/O, starts a
//! thread, reads a clock or is unsafe: time, sizes and events come in as values.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod counters;
pub mod dump;
pub mod fetch;
pub mod flushing;
pub mod hit_rate;
pub mod list;
pub mod page;
pub mod promotion;
pub mod read_ahead;
pub mod replay;
pub mod reserve;
pub mod rules;
pub mod scale;
pub mod time;
pub mod variant;

pub use fetch::Fetch;
pub use page::PageId;
pub use time::{Lsn, Time};
pub use variant::Variant;
