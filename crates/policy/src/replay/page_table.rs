//! The way from a page to its block: a hash table made for this and nothing else.
//!
//! Open addressing with linear probing, at most half full, keys of 64 bits mixed by one multiplication.
//! Removal shifts the followers back, so there are no tombstones and a table that has seen a billion
//! evictions is as fast as a new one.

use crate::blocks::BlockNo;
use crate::page::PageId;

/// 2^64 over the golden ratio: page numbers that follow one another end up far apart.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const CAPACITY_MIN: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    block: u32,
}

/// No block has this number: an instance has fewer blocks.
const EMPTY: u32 = u32::MAX;
const VACANT: Entry = Entry { key: 0, block: EMPTY };

/// Maps pages to blocks.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    entries: Vec<Entry>,
    mask: usize,
    shift: u32,
    len: usize,
}

fn key_of(page: PageId) -> u64 {
    u64::from(page.space) << 32 | u64::from(page.page_no)
}

impl PageTable {
    /// Returns a table with room for `pages` pages.
    pub(crate) fn with_room_for(pages: usize) -> PageTable {
        let capacity = pages.saturating_mul(2).next_power_of_two().max(CAPACITY_MIN);
        PageTable {
            entries: vec![VACANT; capacity],
            mask: capacity - 1,
            shift: u64::BITS - capacity.trailing_zeros(),
            len: 0,
        }
    }

    /// The place a key would have in an empty table: the upper bits of the product, fewer than a usize.
    #[allow(clippy::cast_possible_truncation, reason = "shifted down to the bits of an index")]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    fn find(&self, key: u64) -> Result<usize, usize> {
        let mut at = self.home(key);
        loop {
            let entry = self.entries[at];
            if entry.block == EMPTY {
                return Err(at);
            }
            if entry.key == key {
                return Ok(at);
            }
            at = (at + 1) & self.mask;
        }
    }

    /// The block that holds `page`.
    pub(crate) fn get(&self, page: PageId) -> Option<BlockNo> {
        self.find(key_of(page)).ok().map(|at| BlockNo(self.entries[at].block))
    }

    /// Adds `page`, which must not be there.
    pub(crate) fn insert(&mut self, page: PageId, block: BlockNo) {
        if (self.len + 1) * 2 > self.entries.len() {
            self.grow();
        }
        let entry = Entry { key: key_of(page), block: block.0 };
        match self.find(entry.key) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => {
                self.entries[at] = entry;
                self.len += 1;
            }
        }
    }

    /// Removes `page`, if it is there, and shifts back what probed past it.
    pub(crate) fn remove(&mut self, page: PageId) {
        let Ok(mut hole) = self.find(key_of(page)) else { return };
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask;
            let entry = self.entries[at];
            if entry.block == EMPTY {
                break;
            }
            let from_home = at.wrapping_sub(self.home(entry.key)) & self.mask;
            let from_hole = at.wrapping_sub(hole) & self.mask;
            if from_home >= from_hole {
                self.entries[hole] = entry;
                hole = at;
            }
        }
        self.entries[hole] = VACANT;
        self.len -= 1;
    }

    fn grow(&mut self) {
        let mut larger = PageTable::with_room_for(self.entries.len());
        for entry in self.entries.iter().filter(|entry| entry.block != EMPTY) {
            if let Err(at) = larger.find(entry.key) {
                larger.entries[at] = *entry;
                larger.len += 1;
            }
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A little table, few keys, many turns: every kind of collision and shift comes up.
    #[test]
    fn agrees_with_a_map_of_the_library() {
        let mut table = PageTable::with_room_for(4);
        let mut map = HashMap::new();
        let mut state = 7_u64;
        for turn in 0..200_000 {
            let page = PageId::new(draw(&mut state, 16), draw(&mut state, 64));
            if draw(&mut state, 2) == 0 {
                map.entry(page).or_insert_with(|| {
                    table.insert(page, BlockNo(turn));
                    BlockNo(turn)
                });
            } else {
                table.remove(page);
                map.remove(&page);
            }
            assert_eq!(table.len, map.len());
            let probe = PageId::new(draw(&mut state, 16), draw(&mut state, 64));
            assert_eq!(table.get(probe), map.get(&probe).copied());
        }
    }

    fn draw(state: &mut u64, below: u64) -> u32 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((*state >> 33) % below).unwrap()
    }
}
