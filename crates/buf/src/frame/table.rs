//! The table of frame descriptors, and its face towards the LRU list.
//!
//! The table has a place for every frame the pool may ever grow to. In production it is a reservation of address
//! space that the kernel fills with zeroes as it is touched, so a place that is never used costs nothing; a zeroed
//! descriptor is that of a free frame. Model checkers cannot put their atomics into raw memory: for them it
//! is a boxed slice.

#![allow(unsafe_code, reason = "descriptors live in a lazily filled reservation")]

use innopool_policy::blocks::{BlockNo, Blocks};

use super::Frame;
use crate::sync::Ordering;

pub(crate) struct FrameTable {
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    memory: crate::arena::Reservation,
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    memory: Box<[Frame]>,
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl FrameTable {
    /// Reserves a table of `frames` descriptors.
    pub(crate) fn new(frames: usize) -> std::io::Result<FrameTable> {
        let memory = crate::arena::Reservation::new(frames.saturating_mul(size_of::<Frame>()))?;
        memory.open_all()?;
        Ok(FrameTable { memory })
    }

    #[inline]
    pub(crate) fn all(&self) -> &[Frame] {
        let frames = self.memory.len_bytes() / size_of::<Frame>();
        // SAFETY: the reservation is readable and writable as a whole (`open_all`), zeroed, page-aligned (so aligned for
        // `Frame`) and lives as long as `self`; all-zero bytes are a valid `Frame`, which consists of integers; all
        // its fields that ever change are atomics.
        unsafe { std::slice::from_raw_parts(self.memory.base().cast::<Frame>().as_ptr(), frames) }
    }
}

#[cfg(any(feature = "loom", feature = "shuttle"))]
impl FrameTable {
    pub(crate) fn new(frames: usize) -> std::io::Result<FrameTable> {
        Ok(FrameTable { memory: (0..frames).map(|_| Frame::free()).collect() })
    }

    #[inline]
    pub(crate) fn all(&self) -> &[Frame] {
        &self.memory
    }
}

/// The frames as the LRU list sees them: links and marks. Made only by the holder of an instance's LRU lock.
pub(crate) struct LruLinks<'a>(pub(crate) &'a [Frame]);

fn block(stored: u32) -> Option<BlockNo> {
    stored.checked_sub(1).map(BlockNo)
}

fn stored(block: Option<BlockNo>) -> u32 {
    block.map_or(0, |block| block.0 + 1)
}

impl Blocks for LruLinks<'_> {
    fn prev(&self, of: BlockNo) -> Option<BlockNo> {
        block(self.0[of.index()].lru_prev.load(Ordering::Relaxed))
    }

    fn next(&self, of: BlockNo) -> Option<BlockNo> {
        block(self.0[of.index()].lru_next.load(Ordering::Relaxed))
    }

    fn set_prev(&mut self, of: BlockNo, prev: Option<BlockNo>) {
        self.0[of.index()].lru_prev.store(stored(prev), Ordering::Relaxed);
    }

    fn set_next(&mut self, of: BlockNo, next: Option<BlockNo>) {
        self.0[of.index()].lru_next.store(stored(next), Ordering::Relaxed);
    }

    fn is_old(&self, of: BlockNo) -> bool {
        self.0[of.index()].is_old()
    }

    fn set_old(&mut self, of: BlockNo, old: bool) {
        self.0[of.index()].set_old(old);
    }

    fn set_freed_page_clock(&mut self, of: BlockNo, clock: u64) {
        self.0[of.index()].freed_page_clock.store(clock, Ordering::Relaxed);
    }
}
