//! The comparator: a hash table in 64 locked parts over frames with a pin and a latch, and nothing else.
//!
//! It does for a hit what a pool must do at least: finds the page's frame under the lock of its part, raises pin and
//! shared latch by one atomic addition, and takes both back when the reader is done. It counts nothing, has no list
//! to keep, cannot evict and cannot miss: all of that it is spared. Its hash is a multiplication of 64 by 64 bits whose
//! halves are folded, as good and as cheap as they come.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use innopool_buf::PageId;
use parking_lot::RwLock;

use super::Target;
use crate::huge;

const SHARDS: usize = 64;
const PAGE_WORDS: usize = 16_384 / size_of::<u64>();

#[derive(Default)]
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the halves of the product")]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

type Shard = RwLock<HashMap<u64, u32, BuildHasherDefault<Fold>>>;

/// As large and as far apart as the pool's descriptors.
#[repr(align(128))]
#[derive(Default)]
struct Descriptor {
    pins_and_latch: AtomicU64,
}

const PIN_AND_SHARED: u64 = 1 + (1 << 20);

pub(super) struct BareTable {
    shards: Box<[Shard]>,
    descriptors: Vec<Descriptor>,
    words: Vec<u64>,
}

impl BareTable {
    /// A table that holds the pages 0 to before `pages` of tablespace 1.
    pub(super) fn new(pages: u32) -> BareTable {
        let mut words = huge::zeroed(pages as usize * PAGE_WORDS);
        let mut descriptors = huge::with_capacity(pages as usize);
        descriptors.resize_with(pages as usize, Descriptor::default);
        let shards: Box<[Shard]> = (0..SHARDS).map(|_| Shard::default()).collect();
        for frame in 0..pages {
            let page = PageId::new(1, frame);
            shards[shard(key(page))].write().insert(key(page), frame);
            words[frame as usize * PAGE_WORDS..][..PAGE_WORDS].fill(page.page_no.into());
        }
        BareTable { shards, descriptors, words }
    }
}

impl Target for BareTable {
    #[inline(always)]
    fn read(&self, page: PageId, word: usize) -> u64 {
        let shard = self.shards[shard(key(page))].read();
        let Some(&frame) = shard.get(&key(page)) else { return 0 };
        let descriptor = &self.descriptors[frame as usize];
        descriptor.pins_and_latch.fetch_add(PIN_AND_SHARED, Ordering::Acquire);
        drop(shard);
        let read = self.words[frame as usize * PAGE_WORDS + word];
        descriptor.pins_and_latch.fetch_sub(PIN_AND_SHARED, Ordering::Release);
        read
    }
}

fn key(page: PageId) -> u64 {
    u64::from(page.space) << 32 | u64::from(page.page_no)
}

fn shard(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}
