//! InnoDB's buffer pool, as a library for anyone who writes a storage engine.

pub mod page_size;
pub mod store;

pub use innopool_policy::{Lsn, PageId, Time};
pub use page_size::PageSize;
