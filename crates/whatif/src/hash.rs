//! A hasher for page numbers, and draws that are the same in every run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use innopool_policy::PageId;

/// Pages to whatever.
pub(crate) type PageMap<V> = HashMap<PageId, V, BuildHasherDefault<PageHasher>>;

/// A set of pages.
pub(crate) type PageSet = std::collections::HashSet<PageId, BuildHasherDefault<PageHasher>>;

/// Folds the two numbers of a page and mixes them; page numbers are no secret and nobody's attack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        mix(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.wrapping_mul(257).wrapping_add(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = self.0 << 32 | u64::from(number);
    }
}

/// The finalizer of SplitMix64.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A number from 0 to below 1 that `page` and `salt` decide.
pub(crate) fn draw(page: PageId, salt: u64) -> f64 {
    let key = u64::from(page.space) << 32 | u64::from(page.page_no);
    let bits = mix(mix(key.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ salt);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
