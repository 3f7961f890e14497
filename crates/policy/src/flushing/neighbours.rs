//! Which pages are written along with one (`innodb_flush_neighbors`): on a rotating disk, those beside
//! it cost almost nothing.

use crate::page::PageId;
use crate::read_ahead::{self, Area};

/// `innodb_flush_neighbors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushNeighbours {
    /// 0: the page alone.
    Off,
    /// 1: the unbroken run of dirty pages around it.
    Contiguous,
    /// 2: all dirty pages of its area.
    Area,
}

/// A list shorter than this gives up neighbours: the pool is too small to write ahead.
const LRU_MIN_LEN_PAGES: u64 = 512;

/// The run of pages in which neighbours of `page` are written, itself included, in an instance of
/// `size_pages` whose list has `lru_pages`. `None` at the end of the page numbers, where the page is
/// written alone.
///
/// `is_dirty` tells whether a page can be written now. For [`FlushNeighbours::Area`] the clean ones in
/// the run are passed over by who writes.
pub fn area(
    mode: FlushNeighbours,
    page: PageId,
    size_pages: u64,
    lru_pages: u64,
    mut is_dirty: impl FnMut(PageId) -> bool,
) -> Option<Area> {
    let alone = Area { space: page.space, first: page.page_no, end: page.page_no.checked_add(1)? };
    if mode == FlushNeighbours::Off || lru_pages < LRU_MIN_LEN_PAGES {
        return Some(alone);
    }
    let sixteenth = u32::try_from(size_pages / 16).unwrap_or(u32::MAX);
    let area = Area::around(page, read_ahead::area_pages(size_pages).min(sixteenth))?;
    if mode == FlushNeighbours::Area {
        return Some(area);
    }
    let mut run = alone;
    while run.first > area.first && is_dirty(PageId::new(page.space, run.first - 1)) {
        run.first -= 1;
    }
    while run.end < area.end && is_dirty(PageId::new(page.space, run.end)) {
        run.end += 1;
    }
    Some(run)
}
