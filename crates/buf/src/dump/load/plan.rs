//! Which pages a load reads, in which order, and where each goes in its list.

use innopool_policy::PageId;
use innopool_policy::blocks::{BlockNo, Blocks};
use innopool_policy::rules::Replacement;

use super::LoadOrder;
use crate::dump::rank_set::RankSet;
use crate::dump::warmth::{PageState, Spaces};
use crate::error::PoolError;
use crate::frame::table::LruLinks;
use crate::inner::Inner;
use crate::instance::Lru;

/// A page to be read: its instance, and its rank among that instance's pages of the dump, the hottest 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) page: PageId,
    pub(super) instance: u32,
    pub(super) rank: u32,
}

/// The pages of one instance by rank.
pub(super) struct RankedList {
    pages: Vec<PageId>,
    /// Pages that are still to be read.
    wanted: RankSet,
    /// Pages whose read was started. Those that have left their place in the list since are found out when they are next
    /// met.
    placed: RankSet,
}

/// The pages that were found to be no work.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftOut {
    pub(super) dead: u64,
    pub(super) present: u64,
    pub(super) dropped: u64,
    /// In tablespaces that cannot be measured.
    pub(super) failed: u64,
    pub(super) first_error: Option<PoolError>,
}

/// What a load has before it.
pub(super) struct Plan {
    pub(super) lists: Vec<RankedList>,
    /// In the order of reading.
    pub(super) order: Vec<Entry>,
    pub(super) left_out: LeftOut,
}

impl Plan {
    /// Plans to read `ranked`, pages from the hottest to the coldest, each once.
    pub(super) fn new(inner: &Inner, ranked: &[PageId], order: LoadOrder) -> Plan {
        let mut by_instance: Vec<Vec<PageId>> = vec![Vec::new(); inner.instances.len()];
        let mut entries = Vec::new();
        let mut left_out = LeftOut::default();
        let mut spaces = Spaces::new(inner);
        for &page in ranked {
            match spaces.state(page) {
                PageState::Dead => left_out.dead += 1,
                PageState::Unknown(error) => {
                    left_out.failed += 1;
                    left_out.first_error.get_or_insert(error.into());
                }
                PageState::Exists if inner.pages.find(page).is_some() => left_out.present += 1,
                PageState::Exists => {
                    let instance = inner.instance_number(page);
                    let pages = &mut by_instance[instance];
                    // There are at most 2^32 - 1 frames; what is ranked beyond could never be loaded.
                    let Ok(rank) = u32::try_from(pages.len()) else {
                        left_out.dropped += 1;
                        continue;
                    };
                    pages.push(page);
                    #[allow(clippy::cast_possible_truncation, reason = "there are at most 64")]
                    entries.push(Entry { page, instance: instance as u32, rank });
                }
            }
        }
        sort_for_reading(&mut entries, order);
        let lists = by_instance.into_iter().map(RankedList::new).collect();
        Plan { lists, order: entries, left_out }
    }

    /// Pages that are still to be read.
    pub(super) fn wanted_pages(&self) -> u64 {
        self.lists.iter().map(|list| list.wanted.len() as u64).sum()
    }

    /// Gives up the coldest pages of an instance that has frames for `fitting` only.
    pub(super) fn drop_coldest(&mut self, instance: usize, fitting: u64) {
        let wanted = &mut self.lists[instance].wanted;
        while wanted.len() as u64 > fitting {
            let Some(coldest) = wanted.last() else { return };
            wanted.remove(coldest);
            self.left_out.dropped += 1;
        }
    }

    /// Takes the page out of those still to be read; `false` if it was given up.
    pub(super) fn take(&mut self, entry: Entry) -> bool {
        self.lists[entry.instance as usize].wanted.remove(entry.rank)
    }
}

fn sort_for_reading(entries: &mut [Entry], order: LoadOrder) {
    match order {
        LoadOrder::Disk => entries.sort_unstable_by_key(|entry| entry.page),
        LoadOrder::HottestFirst { slice_pages } => {
            // Slices of all instances together, each with its share of every list.
            let slice = slice_pages.get();
            let mut by_slice: Vec<&mut [Entry]> = entries.chunks_mut(slice).collect();
            by_slice.iter_mut().for_each(|slice| slice.sort_unstable_by_key(|entry| entry.page));
        }
    }
}

impl RankedList {
    fn new(pages: Vec<PageId>) -> RankedList {
        let mut wanted = RankSet::new(pages.len());
        // Ranks were checked to have 32 bits when the pages were put here.
        let ranks = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        (0..ranks).for_each(|rank| wanted.insert(rank));
        RankedList { placed: RankSet::new(pages.len()), wanted, pages }
    }

    /// The block behind which the page of rank `rank` goes, `None` for the head; and notes that it goes there. Under the
    /// LRU lock.
    pub(super) fn place(&mut self, inner: &Inner, lru: &Lru, rank: u32) -> Option<BlockNo> {
        let links = LruLinks(inner.frames());
        let place = if let Some(hotter) = self.nearest(inner, lru, rank, RankSet::before) {
            Some(hotter)
        } else if let Some(colder) = self.nearest(inner, lru, rank, RankSet::after) {
            links.prev(colder)
        } else {
            // The first: where the young sublist ends.
            lru.list.old_head().map_or(lru.list.tail(), |old| links.prev(old))
        };
        self.placed.insert(rank);
        place
    }

    /// The nearest page on one side that is still where the load has put it.
    fn nearest(
        &mut self,
        inner: &Inner,
        lru: &Lru,
        rank: u32,
        side: impl Fn(&RankSet, u32) -> Option<u32>,
    ) -> Option<BlockNo> {
        while let Some(near) = side(&self.placed, rank) {
            if let Some(block) = in_place(inner, lru, self.pages[near as usize]) {
                return Some(block);
            }
            self.placed.remove(near);
        }
        None
    }
}

/// The block of a page that was loaded, unless it was evicted, or an access has moved it to the head. Under the LRU lock.
fn in_place(inner: &Inner, lru: &Lru, page: PageId) -> Option<BlockNo> {
    let number = inner.pages.find(page)?;
    let frame = inner.frame(number);
    if !frame.holds(page) || !frame.is_listed() {
        return None;
    }
    let recency = frame.recency();
    let moved = match lru.list.rules().replacement {
        // A page enters with its clock at 0, and nothing is made young before the list's own clock has begun.
        Replacement::Midpoint => recency.freed_page_clock != 0,
        Replacement::Lru | Replacement::Clock => recency.first_access.is_some(),
    };
    (!moved).then_some(BlockNo(number))
}
