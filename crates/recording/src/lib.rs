//! Recordings of what a server does with the pages of its buffer pool: the file, written and read as a stream.
//!
//! A recording begins with its [`Provenance`]: which server, with which pool and settings, watched how.
//! Then come one or more **windows**, stretches of time that were watched without a gap. A window has
//! the pages that were in the pool when it began (hottest first), the [`Event`]s, the server's own
//! [`Counters`] about once a second, and its end. Everything is a [`Record`]; a recording is read one
//! record after the other, in bounded memory, however long it is.
//!
//! It holds page numbers only: no row, no statement, no account.
//!
//! [`RecordWriter`] and [`RecordReader`] are the two sides; [`create`] and [`open`] begin them on files.
//! A file that was cut off anywhere, as when its writer was killed, is read up to its last whole block.

mod blocks;
mod counters;
mod error;
mod event;
mod file;
mod input;
mod layout;
mod packed;
mod provenance;
mod reader;
mod record;
mod writer;

pub use blocks::{Ending, OnDamage, Skipped};

pub use counters::{CounterSample, Counters};
pub use error::{ReadError, ReadFault, WriteError};
pub use event::{Event, EventKind};
pub use file::{Existing, create, open};
pub use provenance::{Flavor, PoolSettings, Provenance, Sampling, Source, Tablespace};
pub use reader::{Batch, RecordReader};
pub use record::{Record, WindowEnd, WindowStart};
pub use writer::RecordWriter;
