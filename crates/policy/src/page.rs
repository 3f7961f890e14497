//! Which page: the address of a page in the data files, and the way from a page to its instance.
//!
//! InnoDB numbers tablespaces and, within each, pages. A page keeps its number for life, so the pair
//! is all that dumps, recordings and the replacement rules need to know of it.

use std::fmt;

/// Address of a page: tablespace and page number within it.
///
/// Ordered as pages lie on disk: by tablespace, then by page number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// Tablespace number, as in `INFORMATION_SCHEMA.INNODB_TABLESPACES.SPACE`.
    pub space: u32,
    /// Page number within the tablespace; its byte offset is this times the page size.
    pub page_no: u32,
}

impl PageId {
    /// Returns the page `page_no` of tablespace `space`.
    pub const fn new(space: u32, page_no: u32) -> PageId {
        PageId { space, page_no }
    }
}

impl fmt::Display for PageId {
    /// Writes `space:page_no`, as `[page id: space=5, page number=7]` is too long for a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space, self.page_no)
    }
}

/// How a server mixes tablespace and page number before it takes the remainder by the number of
/// instances (`buf_pool_get`). The three forms put the same page into different instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// 64-bit arithmetic (MySQL 5.7).
    Wide,
    /// 32-bit arithmetic that wraps (MySQL 8.0).
    Narrow,
    /// 64-bit arithmetic, then an exclusive or with a constant (MySQL 8.4 and 9.x).
    Masked,
}

/// Page numbers that differ only in these low bits share an instance, so that a read-ahead area of
/// 64 pages is never split.
const AREA_BITS: u32 = 6;

const MASK: u64 = 1_653_893_711;

impl Fold {
    /// Returns the instance, from 0, of `page` among `instances` (at least 1; 0 is taken as 1).
    pub fn instance_of(self, page: PageId, instances: usize) -> usize {
        let (space, area) = (page.space, page.page_no >> AREA_BITS);
        let folded = match self {
            Fold::Wide => fold_wide(space, area),
            Fold::Narrow => u64::from((space << 20).wrapping_add(space).wrapping_add(area)),
            Fold::Masked => fold_wide(space, area) ^ MASK,
        };
        let instance = folded % (instances.max(1) as u64);
        // The remainder is below `instances`, which is a usize.
        usize::try_from(instance).unwrap_or(0)
    }
}

/// At most (2^32 - 1) * (2^20 + 1) + 2^26, which is far below 2^64.
fn fold_wide(space: u32, area: u32) -> u64 {
    (u64::from(space) << 20) + u64::from(space) + u64::from(area)
}
