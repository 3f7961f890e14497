//! From a page to the frame that holds it: the page table.
//!
//! Two ways, chosen when the pool is made. [`array`] has a place for every page of a tablespace that was ever
//! touched: a lookup is two dependent loads and no lock. [`sharded`] is a hash table in locked parts, as InnoDB has it:
//! memory for resident pages only, slower, and the oracle that the array is tested against.
//!
//! Either only *says* where a page probably is. Between the answer and the pin the page may be evicted and another take
//! its frame: so whoever looks up must pin and then check (rule 1).

mod array;
mod sharded;

use innopool_policy::PageId;

/// How the pool finds a page's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Translation {
    /// Arrays: 4 bytes of memory for every page ever touched, in pieces of 32 KiB; no lock on a lookup.
    #[default]
    Array,
    /// A hash table in 64 locked parts: memory for resident pages only.
    Sharded,
}

/// Which frame holds which page.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one in a pool, and a box would cost every lookup a load"
)]
pub(crate) enum PageTable {
    Array(array::ArrayTable),
    Sharded(sharded::ShardedTable),
}

impl PageTable {
    pub(crate) fn new(translation: Translation) -> PageTable {
        match translation {
            Translation::Array => PageTable::Array(array::ArrayTable::new()),
            Translation::Sharded => PageTable::Sharded(sharded::ShardedTable::new()),
        }
    }

    /// The frame that holds, or is being given to, `page`.
    #[inline]
    pub(crate) fn find(&self, page: PageId) -> Option<u32> {
        match self {
            PageTable::Array(table) => table.find(page),
            PageTable::Sharded(table) => table.find(page),
        }
    }

    /// Says that `frame` is `page`'s, unless another frame already is.
    ///
    /// # Errors
    ///
    /// The frame that is.
    pub(crate) fn claim(&self, page: PageId, frame: u32) -> Result<(), u32> {
        match self {
            PageTable::Array(table) => table.claim(page, frame),
            PageTable::Sharded(table) => table.claim(page, frame),
        }
    }

    /// Moves `page` from frame `from`, which must be its frame, to `to`.
    pub(crate) fn relocate(&self, page: PageId, from: u32, to: u32) {
        match self {
            PageTable::Array(table) => table.set(page, from, Some(to)),
            PageTable::Sharded(table) => table.set(page, from, Some(to)),
        }
    }

    /// Forgets `page`, whose frame must be `frame`.
    pub(crate) fn clear(&self, page: PageId, frame: u32) {
        match self {
            PageTable::Array(table) => table.set(page, frame, None),
            PageTable::Sharded(table) => table.set(page, frame, None),
        }
    }

    /// Bytes of memory the table takes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        match self {
            PageTable::Array(table) => table.memory_bytes(),
            PageTable::Sharded(table) => table.memory_bytes(),
        }
    }
}
