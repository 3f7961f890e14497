//! The bytes of a simulated store: what reads see, what is durable, and what lies between the two.

use std::collections::BTreeMap;
use std::sync::Arc;

use innopool_policy::PageId;

use super::super::Fault;
use super::seed::Seeded;

/// Bytes that a device writes as a whole.
pub const SECTOR_BYTES: usize = 512;

/// Tablespaces by number.
#[derive(Debug, Default)]
pub(super) struct Image {
    pub(super) page_bytes: usize,
    spaces: BTreeMap<u32, Space>,
}

/// A tablespace. A page that is missing from a map is all zeroes.
#[derive(Debug, Default)]
struct Space {
    pages: u32,
    seen: BTreeMap<u32, Arc<[u8]>>,
    durable: BTreeMap<u32, Arc<[u8]>>,
    /// Writes since the last sync, oldest first.
    unsynced: Vec<(u32, Arc<[u8]>)>,
}

impl Image {
    /// No tablespaces.
    pub(super) fn new(page_bytes: usize) -> Image {
        Image { page_bytes, spaces: BTreeMap::new() }
    }

    /// Adds a tablespace of zeroes; `false` when it exists.
    pub(super) fn create(&mut self, space: u32, pages: u32) -> bool {
        let vacant = !self.spaces.contains_key(&space);
        if vacant {
            self.spaces.insert(space, Space { pages, ..Space::default() });
        }
        vacant
    }

    /// Adds pages of zeroes and returns how many there are then.
    pub(super) fn extend(&mut self, space: u32, pages: u32) -> Result<u32, Fault> {
        let found = self.spaces.get_mut(&space).ok_or(Fault::NoSuchSpace(space))?;
        found.pages = found.pages.saturating_add(pages);
        Ok(found.pages)
    }

    /// Removes a tablespace with everything in it.
    pub(super) fn remove(&mut self, space: u32) -> Result<(), Fault> {
        self.spaces.remove(&space).map(drop).ok_or(Fault::NoSuchSpace(space))
    }

    /// How many pages a tablespace has.
    pub(super) fn pages(&self, space: u32) -> Result<u32, Fault> {
        self.spaces.get(&space).map(|found| found.pages).ok_or(Fault::NoSuchSpace(space))
    }

    fn find(&mut self, page: PageId) -> Result<&mut Space, Fault> {
        let space = self.spaces.get_mut(&page.space).ok_or(Fault::NoSuchSpace(page.space))?;
        if page.page_no < space.pages {
            Ok(space)
        } else {
            Err(Fault::BeyondEnd { pages: space.pages })
        }
    }

    /// The page as reads see it.
    pub(super) fn seen(&mut self, page: PageId) -> Result<Arc<[u8]>, Fault> {
        let zeroes = self.page_bytes;
        Ok(page_of(&self.find(page)?.seen, page.page_no, zeroes))
    }

    /// The page as a power cut leaves it if it loses everything it may.
    pub(super) fn durable(&mut self, page: PageId) -> Result<Arc<[u8]>, Fault> {
        let zeroes = self.page_bytes;
        Ok(page_of(&self.find(page)?.durable, page.page_no, zeroes))
    }

    /// Writes a page, which is not durable before the next sync.
    pub(super) fn write(&mut self, page: PageId, bytes: Arc<[u8]>) -> Result<(), Fault> {
        let space = self.find(page)?;
        space.seen.insert(page.page_no, Arc::clone(&bytes));
        space.unsynced.push((page.page_no, bytes));
        Ok(())
    }

    /// Replaces a page, seen and durable, past every rule.
    pub(super) fn poke(&mut self, page: PageId, bytes: Arc<[u8]>) -> Result<(), Fault> {
        let space = self.find(page)?;
        space.seen.insert(page.page_no, Arc::clone(&bytes));
        space.durable.insert(page.page_no, bytes);
        Ok(())
    }

    /// Makes the writes to `space` durable, or loses them for good.
    pub(super) fn sync(&mut self, space: u32, succeeds: bool) -> Result<(), Fault> {
        let found = self.spaces.get_mut(&space).ok_or(Fault::NoSuchSpace(space))?;
        for (page_no, bytes) in found.unsynced.drain(..) {
            if succeeds {
                found.durable.insert(page_no, bytes);
            }
        }
        Ok(())
    }

    /// The image after a power cut at this moment, with `in_flight` writes that have not been answered.
    pub(super) fn after_crash(
        &self,
        in_flight: Vec<(PageId, Arc<[u8]>)>,
        seeded: &mut Seeded,
    ) -> Image {
        let mut left = Image::new(self.page_bytes);
        for (&number, space) in &self.spaces {
            let mut pages = space.durable.clone();
            for (page_no, bytes) in &space.unsynced {
                keep_lose_or_tear(&mut pages, *page_no, bytes, self.page_bytes, seeded);
            }
            for (page, bytes) in &in_flight {
                if page.space == number && page.page_no < space.pages {
                    keep_lose_or_tear(&mut pages, page.page_no, bytes, self.page_bytes, seeded);
                }
            }
            let survived = Space {
                pages: space.pages,
                seen: pages.clone(),
                durable: pages,
                unsynced: Vec::new(),
            };
            left.spaces.insert(number, survived);
        }
        left
    }
}

fn page_of(pages: &BTreeMap<u32, Arc<[u8]>>, page_no: u32, page_bytes: usize) -> Arc<[u8]> {
    pages.get(&page_no).cloned().unwrap_or_else(|| vec![0; page_bytes].into())
}

fn keep_lose_or_tear(
    pages: &mut BTreeMap<u32, Arc<[u8]>>,
    page_no: u32,
    bytes: &Arc<[u8]>,
    page_bytes: usize,
    seeded: &mut Seeded,
) {
    match seeded.below(3) {
        0 => {}
        1 => {
            pages.insert(page_no, Arc::clone(bytes));
        }
        _ => {
            let old = page_of(pages, page_no, page_bytes);
            pages.insert(page_no, tear(&old, bytes, seeded));
        }
    }
}

/// A mixture of sectors of `old` and `new`, at least one of each: half the time the first so many are new, as when
/// the power goes in the middle, and half the time any, as when a device reorders them.
pub(super) fn tear(old: &[u8], new: &[u8], seeded: &mut Seeded) -> Arc<[u8]> {
    let sectors = new.len() / SECTOR_BYTES;
    let mut is_new = vec![false; sectors];
    if seeded.happens(0.5) {
        let first = 1 + seeded.below(sectors - 1);
        is_new[..first].fill(true);
    } else {
        is_new.fill_with(|| seeded.happens(0.5));
        let kept = seeded.below(sectors);
        is_new[kept] = true;
        is_new[(kept + 1 + seeded.below(sectors - 1)) % sectors] = false;
    }
    let mut torn = old.to_vec();
    for (sector, _) in is_new.iter().enumerate().filter(|&(_, &new)| new) {
        let range = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
        torn[range.clone()].copy_from_slice(&new[range]);
    }
    torn.into()
}
