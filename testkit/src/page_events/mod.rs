//! Recording what MySQL does with the pages of its buffer pool, one event for each, by uprobes.
//!
//! A recording holds every logical get, every read, and every change of the LRU list with the
//! length of the list and the eviction clock at that moment: enough to hold another implementation
//! of the same rules against the server step by step, and not only by its counters.
//!
//! ```no_run
//! use innopool_testkit::{Kind, Own, page_events};
//!
//! # fn main() -> anyhow::Result<()> {
//! let Some(server) = Own::new(Kind::Mysql).own_program().start() else { return Ok(()) };
//! let Some(recorder) = page_events::record(&server) else { return Ok(()) };
//! server.sql("SELECT COUNT(*) FROM mysql.help_topic");
//! let recording = recorder.stop()?;
//! assert_eq!(recording.lost, 0);
//! # Ok(())
//! # }
//! ```
//!
//! The parts: `elf` finds the functions in the program, `probes` says what to read where,
//! `tracefs` puts the probes and takes them away, `trace_text` reads the kernel's lines,
//! `assemble` makes events of them, `pool` asks the server itself for the same over SQL.
//!
//! A hit costs the server about 10 microseconds on a virtual machine, so times between events are
//! longer than they would be; their order is the server's own. What changes the LRU list is
//! recorded while the server holds the mutex of that list.

mod assemble;
mod elf;
mod event;
mod pool;
mod probes;
mod recorder;
mod trace_text;
mod tracefs;

use crate::{Server, required};

pub use event::{
    FetchMode, Kind, ListState, OldBlocksPct, PageEvent, PageId, PageState, Recording,
};
pub use pool::{LruRow, PoolStats, QUIET_OPTIONS, lru_snapshot, pool_stats, settle};
pub use recorder::PageRecorder;

/// Starts a recorder as [`PageRecorder::start`] does; `None` where the machine does not allow it.
///
/// # Panics
///
/// With `REQUIRE_SERVERS=1`, when pages cannot be recorded.
pub fn record(server: &Server) -> Option<PageRecorder> {
    required("a recording of page events", PageRecorder::start(server))
}
