//! When an access makes the server read pages that nobody has asked for.
//!
//! A page's neighbours in its index are taken to be its neighbours in the file: `page_no - 1` before
//! it and `page_no + 1` after it.

use super::Id;
use super::lru::Page;

/// Pages in a read-ahead area of an instance with room for `curr_size` pages.
pub fn area(curr_size: usize) -> u32 {
    let mut area = 1;
    while area < curr_size / 32 {
        area *= 2;
    }
    area.min(64) as u32
}

/// Pages whose access starts no read-ahead: change buffer bitmaps, the second page of every run of as
/// many pages as a page has bytes, and the transaction system's header.
pub fn never_starts((space, page_no): Id, page_size: u32) -> bool {
    page_no % page_size == 1 || (space, page_no) == (0, 5)
}

/// The linear check on the first access of `page_no` in a file of `file_pages` pages: the first page
/// of the area to be read, if one is.
///
/// `look` finds a page of the same tablespace in the pool.
pub fn linear<'a>(
    page_no: u32,
    area: u32,
    threshold: u32,
    file_pages: u32,
    look: impl Fn(u32) -> Option<&'a Page>,
) -> Option<u32> {
    if threshold == 0 {
        return None;
    }
    let low = page_no / area * area;
    let high = low + area;
    if page_no != low && page_no != high - 1 {
        return None;
    }
    if high > file_pages {
        return None;
    }
    let descending = page_no == low;
    let allowed = (64 - threshold).min(area);
    let mut failures = 0;
    let mut previous: Option<u64> = None;
    for no in low..high {
        let access = look(no).and_then(|page| page.access);
        match (access, previous) {
            (None, _) => failures += 1,
            (Some(this), Some(before)) if descending && this > before => failures += 1,
            (Some(this), Some(before)) if !descending && this < before => failures += 1,
            _ => {}
        }
        if failures > allowed {
            return None;
        }
        if access.is_some() {
            previous = access;
        }
    }
    let target = if descending { page_no.checked_sub(1)? } else { page_no + 1 };
    let target_low = target / area * area;
    if target != target_low && target != target_low + area - 1 {
        return None;
    }
    if target_low + area > file_pages {
        return None;
    }
    Some(target_low)
}

/// The random check after a miss: should the whole area of `page_no` be read?
pub fn random(area_pages: &[Option<(&Page, bool)>], area: u32) -> bool {
    let mut recent = 0;
    for (page, young) in area_pages.iter().flatten() {
        if page.access.is_some() && *young {
            recent += 1;
        }
    }
    recent >= 5 + area / 8
}
