//! The page table as a hash table in parts, each with a lock of its own.

use std::collections::HashMap;

use innopool_policy::PageId;

use crate::sync::RwLock;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const SHARDS: usize = 64;
#[cfg(any(feature = "loom", feature = "shuttle"))]
const SHARDS: usize = 2;

pub(crate) struct ShardedTable {
    shards: Box<[RwLock<HashMap<PageId, u32>>]>,
}

impl ShardedTable {
    pub(crate) fn new() -> ShardedTable {
        ShardedTable { shards: (0..SHARDS).map(|_| RwLock::new(HashMap::new())).collect() }
    }

    fn shard(&self, page: PageId) -> &RwLock<HashMap<PageId, u32>> {
        let key = u64::from(page.space) << 32 | u64::from(page.page_no);
        // The high bits of a multiplicative hash are the well mixed ones.
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        &self.shards[mixed as usize % SHARDS]
    }

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
