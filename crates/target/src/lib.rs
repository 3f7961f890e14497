//! One typed view of a MySQL, MariaDB or Percona server, live or saved to files.
//!
//! The way of a value through this crate:
//!
//! 1. Something prints it: a statement on a live connection (`live`), the kernel ([`host`]), or a
//!    person who pasted output into a file ([`read`]). Each becomes a [`Document`]: a [`Table`] or
//!    a text, with its place.
//! 2. Documents are read into [`Evidence`], one per moment: plain data in which every value is a
//!    [`Fact`] that knows its [`Source`], and what was not said is `None`.
//! 3. Two moments give an [`Interval`]: rates and ratios. All moments of one run are an
//!    [`Observation`], which is what the advice reads.
//!
//! Only what is on the allow-list ([`allow`]) is ever kept: no statement text, account or host.
//! This crate judges nothing; it never prints and reads no environment.

pub mod allow;
pub mod build;
pub mod collect;
mod columns;
pub mod effective_size;
pub mod evidence;
pub mod host;
pub mod innodb_status;
pub mod interval;
mod keep;
#[cfg(feature = "live")]
pub mod live;
pub mod load_status;
pub mod log_events;
pub mod login;
pub mod observation;
pub mod option_file;
pub mod pool;
pub mod provenance;
pub mod read;
pub mod status;
pub mod table;
pub mod variables;
pub mod version;

pub use evidence::Evidence;
pub use interval::Interval;
pub use observation::{Content, Document, Observation};
pub use pool::Pool;
pub use provenance::{Fact, NotRead, Source};
pub use table::Table;
pub use version::{Flavor, Server, Version};
