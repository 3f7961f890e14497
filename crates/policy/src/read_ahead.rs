//! Read-ahead: guessing from the accesses of one area of a file which pages will be wanted next.
//!
//! Files are cut into areas of 64 pages. **Linear** read-ahead watches the first access to an area's
//! border page: when nearly all pages of the area were accessed, and in order, the scan is going to leave
//! the area, and the next one is read whole. **Random** read-ahead, off by default, watches misses: when
//! many pages of the area are young, the rest of it is read.
//!
//! Both are functions of a view of the area that the caller gives, so a pool with threads and a replay
//! ask the same question. They allocate nothing and look at no more than one area.

use std::cmp::Ordering;

use crate::page::PageId;
use crate::rules::TimeResolution;
use crate::time::Time;

/// Pages in an area of any pool of more than 1024 pages.
pub const AREA_PAGES_MAX: u32 = 64;

const THRESHOLD_MAX: u32 = 64;
const RANDOM_BASE_PAGES: u32 = 5;

/// `innodb_read_ahead_threshold` when nobody sets it.
pub const THRESHOLD_DEFAULT: u32 = 56;

/// Pages in an area, of an instance of `size_pages`: 64, or fewer in a tiny pool. A power of two.
pub fn area_pages(size_pages: u64) -> u32 {
    let share = u32::try_from(size_pages / 32).unwrap_or(AREA_PAGES_MAX);
    share.min(AREA_PAGES_MAX).next_power_of_two()
}

/// The settings of read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadSettings {
    /// `innodb_read_ahead_threshold`, 0 to 64: pages of an area that must have been accessed in order.
    /// 0 turns linear read-ahead off.
    pub threshold: u32,
    /// `innodb_random_read_ahead`.
    pub random: bool,
}

impl Default for ReadAheadSettings {
    fn default() -> ReadAheadSettings {
        ReadAheadSettings { threshold: THRESHOLD_DEFAULT, random: false }
    }
}

impl ReadAheadSettings {
    /// No read-ahead of either kind.
    pub const OFF: ReadAheadSettings = ReadAheadSettings { threshold: 0, random: false };
}

/// Where a linear read-ahead goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinearTarget {
    /// In the area of the border page's sibling, as the links in the page say (MySQL).
    Sibling,
    /// In the adjacent area of the file (newer MariaDB).
    Adjacent,
}

/// Links of a page to its siblings on its level of an index, as the page itself stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The page before in key order.
    pub prev: Option<u32>,
    /// The page after in key order.
    pub next: Option<u32>,
}

impl Links {
    /// The links of a page whose index lies in the file in key order: what is assumed where page
    /// contents are not known.
    pub fn sequential(page: PageId) -> Links {
        Links { prev: page.page_no.checked_sub(1), next: page.page_no.checked_add(1) }
    }
}

/// A run of pages of one tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Area {
    /// Tablespace.
    pub space: u32,
    /// The first page.
    pub first: u32,
    /// One past the last page.
    pub end: u32,
}

impl Area {
    /// The area of `pages` pages (a power of two) that holds `page`; `None` at the very end of the page
    /// numbers, where it would not fit.
    pub fn around(page: PageId, pages: u32) -> Option<Area> {
        let pages = pages.max(1);
        let first = page.page_no - page.page_no % pages;
        Some(Area { space: page.space, first, end: first.checked_add(pages)? })
    }

    /// Lists the pages.
    pub fn pages(self) -> impl Iterator<Item = PageId> {
        (self.first..self.end).map(move |page_no| PageId::new(self.space, page_no))
    }

    fn last(self) -> u32 {
        self.end - 1
    }

    /// How many pages there are.
    pub fn len_pages(self) -> u32 {
        self.end - self.first
    }

    fn fits(self, file_pages: Option<u32>) -> bool {
        file_pages.is_none_or(|file| self.end <= file)
    }
}

/// What a trigger needs to know of one page that is in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaPage {
    /// When it was first accessed; `None` when it was only read ahead.
    pub first_access: Option<Time>,
    /// [`crate::promotion::is_young_enough`] of it. Only random read-ahead asks.
    pub young_enough: bool,
}

/// The circumstances of an access that may start a read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadContext {
    /// The settings.
    pub settings: ReadAheadSettings,
    /// Where linear read-ahead goes on.
    pub target: LinearTarget,
    /// How fine access times are compared.
    pub resolution: TimeResolution,
    /// Size of the page's instance, in pages.
    pub size_pages: u64,
    /// Reads of the instance that are posted and not done; more than half the instance stops both.
    pub pending_reads: u64,
    /// Pages of the tablespace's files; `None` when not known, which bounds nothing.
    pub file_pages: Option<u32>,
    /// Page size, in bytes: every so many pages one is a change buffer bitmap, which starts nothing.
    pub page_size_bytes: u32,
}

impl ReadAheadContext {
    fn forbids(&self, page: PageId) -> bool {
        const BITMAP_OFFSET: u32 = 1;
        const TRX_SYS: PageId = PageId::new(0, 5);
        page == TRX_SYS
            || page.page_no % self.page_size_bytes.max(1) == BITMAP_OFFSET
            || self.pending_reads > self.size_pages / 2
    }
}

/// The area that a first access to `page` makes worth reading (`buf_read_ahead_linear`), if any. The
/// caller then reads those of its pages that are not in the pool.
///
/// `view` tells of a page of `page`'s own area, by page number, whether it is in the pool; `links` are
/// those stored in `page`. Costs at most one look at each page of the area, and for a page that is not
/// at a border no look at all.
pub fn linear(
    context: &ReadAheadContext,
    page: PageId,
    links: Links,
    view: impl FnMut(PageId) -> Option<AreaPage>,
) -> Option<Area> {
    if context.settings.threshold == 0 {
        return None;
    }
    let pages = area_pages(context.size_pages);
    let area = Area::around(page, pages)?;
    let direction = Direction::of(page, area)?;
    if context.forbids(page) || !area.fits(context.file_pages) {
        return None;
    }
    let allowed = THRESHOLD_MAX.saturating_sub(context.settings.threshold).min(pages);
    if !accessed_in_order(context.resolution, area, direction, allowed, view) {
        return None;
    }
    let next = match context.target {
        LinearTarget::Sibling => sibling(page, links, direction, pages)?,
        LinearTarget::Adjacent => match direction {
            Direction::Ascending => area.end,
            Direction::Descending => area.first.checked_sub(1)?,
        },
    };
    Area::around(PageId::new(page.space, next), pages).filter(|next| next.fits(context.file_pages))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    /// A scan that touches the last page of an area is leaving it upwards, the first page downwards.
    fn of(page: PageId, area: Area) -> Option<Direction> {
        if page.page_no == area.first {
            Some(Direction::Descending)
        } else if page.page_no == area.last() {
            Some(Direction::Ascending)
        } else {
            None
        }
    }
}

/// Whether at most `allowed` pages of the area are missing, never accessed, or accessed out of order
/// with the accessed page before them. Equal times are in order.
fn accessed_in_order(
    resolution: TimeResolution,
    area: Area,
    direction: Direction,
    allowed: u32,
    mut view: impl FnMut(PageId) -> Option<AreaPage>,
) -> bool {
    let wrong = match direction {
        Direction::Ascending => Ordering::Less,
        Direction::Descending => Ordering::Greater,
    };
    let mut failed = 0;
    let mut previous: Option<u64> = None;
    for page in area.pages() {
        match view(page).and_then(|page| page.first_access) {
            None => failed += 1,
            Some(time) => {
                let time = match resolution {
                    TimeResolution::Millis => time.millis(),
                    TimeResolution::Native => time.micros(),
                };
                if previous.is_some_and(|before| time.cmp(&before) == wrong) {
                    failed += 1;
                }
                previous = Some(time);
            }
        }
        if failed > allowed {
            return false;
        }
    }
    true
}

/// The sibling to go on at. The link back into the area must be to the neighbouring page, or the index
/// does not lie in order here; and the sibling must be at the border of its own area.
fn sibling(page: PageId, links: Links, direction: Direction, pages: u32) -> Option<u32> {
    let target = match direction {
        Direction::Descending if links.next == page.page_no.checked_add(1) => links.prev?,
        Direction::Ascending if links.prev == page.page_no.checked_sub(1) => links.next?,
        Direction::Descending | Direction::Ascending => return None,
    };
    let place = target % pages;
    (place == 0 || place == pages - 1).then_some(target)
}

/// The area that a miss of `page` makes worth reading (`buf_read_ahead_random`), if any: its own, when
/// enough of its pages are in the pool, accessed and young.
///
/// `view` is as for [`linear`]. Costs at most one look at each page of the area.
pub fn random(
    context: &ReadAheadContext,
    page: PageId,
    mut view: impl FnMut(PageId) -> Option<AreaPage>,
) -> Option<Area> {
    if !context.settings.random || context.forbids(page) {
        return None;
    }
    let pages = area_pages(context.size_pages);
    let mut area = Area::around(page, pages)?;
    // The file may end within the area: the rest of it counts.
    area.end = context.file_pages.map_or(area.end, |file| area.end.min(file)).max(area.first);
    let wanted = RANDOM_BASE_PAGES + pages / 8;
    let mut recent = 0;
    for page in area.pages() {
        let warm = view(page).is_some_and(|page| page.first_access.is_some() && page.young_enough);
        recent += u32::from(warm);
        if recent >= wanted {
            return Some(area);
        }
    }
    None
}
