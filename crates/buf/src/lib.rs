//! InnoDB's buffer pool, as a library for anyone who writes a storage engine.

mod adaptive;
mod arena;
mod cleaner;
mod clock;
mod counters;
mod error;
mod flush;
mod flush_list;
mod format;
mod frame;
mod free;
mod get;
mod guard;
mod headroom;
mod inner;
mod instance;
mod io_history;
mod log;
#[cfg(all(test, feature = "loom"))]
mod loom_models;
mod options;
mod page_size;
mod pool;
mod prefetch;
mod resize;
mod snapshot;
mod staging;
mod stats;
pub mod status;
pub mod store;
mod sync;
mod translation;

pub use innopool_policy::flushing::neighbours::FlushNeighbours;
pub use innopool_policy::page::Fold;
pub use innopool_policy::read_ahead::ReadAheadSettings;
pub use innopool_policy::rules::{ListRules, Replacement};
pub use innopool_policy::variant::{ReserveRules, Variant};
pub use innopool_policy::{Lsn, PageId, Time};

pub use clock::{Clock, ManualClock};
pub use error::PoolError;
pub use format::{PageFormat, PlainPages};
pub use get::Hint;
pub use guard::{ExclusiveGuard, Pinned, SharedGuard, UpdateGuard};
pub use log::{Log, NoLog};
pub use options::{Background, PoolOptions, Promotion};
pub use page_size::PageSize;
pub use pool::Pool;
pub use prefetch::Prefetched;
pub use resize::ResizeControl;
pub use stats::{MemoryUse, PoolStats};
pub use translation::Translation;
