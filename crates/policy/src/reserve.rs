//! The reserve of free frames: when the page cleaner evicts, and how far one pass goes
//! (`buf_flush_LRU_list`).

use crate::variant::{EvictionStart, ReserveRules};

/// What the page cleaner sees of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveState {
    /// Free frames.
    pub free_pages: u64,
    /// Pages in the LRU list.
    pub lru_pages: u64,
    /// Frames that a shrink has yet to withdraw.
    pub withdraw_pages: u64,
    /// Whether threads in search of a frame may look at the tail; false after one looked in vain.
    pub try_lru_scan: bool,
}

impl ReserveRules {
    /// Whether a pass is due.
    pub fn wants_pass(&self, state: &ReserveState) -> bool {
        match self.start {
            EvictionStart::BelowDepth => self.lacks(state),
            EvictionStart::BelowHalfDepth => {
                state.withdraw_pages > 0
                    || !state.try_lru_scan
                    || (state.lru_pages > self.lru_min_len_pages
                        && state.free_pages < self.scan_depth_pages / 2)
            }
        }
    }

    /// How many pages one pass evicts and writes at most.
    pub fn batch_max_pages(&self, state: &ReserveState) -> u64 {
        self.scan_depth_pages.max(state.withdraw_pages).min(state.lru_pages)
    }

    /// Whether a pass under way goes on, as far as frames and the list's length go.
    pub fn goes_on(&self, state: &ReserveState) -> bool {
        self.lacks(state) && state.lru_pages > self.lru_min_len_pages
    }

    /// Frames a pass is to end with, those to be withdrawn included.
    pub fn free_target_pages(&self, state: &ReserveState) -> u64 {
        self.scan_depth_pages.saturating_add(state.withdraw_pages)
    }

    fn lacks(&self, state: &ReserveState) -> bool {
        state.free_pages < self.free_target_pages(state)
    }
}
