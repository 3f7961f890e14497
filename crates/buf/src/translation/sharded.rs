//! The page table as a hash table in parts, each with a lock of its own.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use innopool_policy::PageId;

use crate::sync::RwLock;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const SHARDS: usize = 64;
#[cfg(any(feature = "loom", feature = "shuttle"))]
const SHARDS: usize = 2;

pub(crate) struct ShardedTable {
    shards: Box<[RwLock<Shard>]>,
}

type Shard = HashMap<PageId, u32, BuildHasherDefault<FoldHasher>>;

/// Hashes a page's two numbers by multiplying and folding. The standard hash withstands keys that an attacker has chosen,
/// which costs a third of a lookup; the page numbers of an engine are not chosen by its users.
#[derive(Default)]
struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the halves of the product")]
    fn write_u32(&mut self, number: u32) {
        // Something is added first, or zeroes would come to nothing.
        let mixed = (self.0 ^ u64::from(number)).wrapping_add(0xF39C_C060_5CED_C835);
        let product = u128::from(mixed) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl ShardedTable {
    pub(crate) fn new() -> ShardedTable {
        ShardedTable { shards: (0..SHARDS).map(|_| RwLock::new(Shard::default())).collect() }
    }

    #[inline]
    fn shard(&self, page: PageId) -> &RwLock<Shard> {
        let key = u64::from(page.space) << 32 | u64::from(page.page_no);
        // The high bits of a multiplicative hash are the well mixed ones.
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        &self.shards[mixed as usize % SHARDS]
    }

    #[inline]
    pub(crate) fn find(&self, page: PageId) -> Option<u32> {
        self.shard(page).read().get(&page).copied()
    }

    pub(crate) fn claim(&self, page: PageId, frame: u32) -> Result<(), u32> {
        use std::collections::hash_map::Entry;
        match self.shard(page).write().entry(page) {
            Entry::Occupied(taken) => Err(*taken.get()),
            Entry::Vacant(free) => {
                free.insert(frame);
                Ok(())
            }
        }
    }

    pub(crate) fn set(&self, page: PageId, from: u32, to: Option<u32>) {
        let mut shard = self.shard(page).write();
        debug_assert_eq!(shard.get(&page), Some(&from), "{page} is not where it should be");
        match to {
            Some(to) => shard.insert(page, to),
            None => shard.remove(&page),
        };
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let capacity: usize = self.shards.iter().map(|shard| shard.read().capacity()).sum();
        // An entry and its control byte, at the table's highest load.
        (capacity * (size_of::<(PageId, u32)>() + 1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;

    #[test]
    fn neighbouring_pages_spread_over_high_and_low_bits() {
        let hash = BuildHasherDefault::<FoldHasher>::default();
        let pages = (0..4).flat_map(|space| (0..1024).map(move |no| PageId::new(space, no)));
        let hashes: Vec<u64> = pages.map(|page| hash.hash_one(page)).collect();
        // A map places by the low bits and tells apart by the highest seven.
        let low: HashSet<u64> = hashes.iter().map(|hash| hash % 4096).collect();
        let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        // 4096 balls in 4096 urns leave 63 % of them with one, when thrown well.
        assert!(low.len() > 2450, "{} of 4096", low.len());
        assert_eq!(high.len(), 128);
    }
}
