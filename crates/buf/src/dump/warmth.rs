//! Whether a pool is warm: whether what it holds may stand for what it should hold.

use std::collections::HashMap;

use innopool_policy::PageId;
use innopool_policy::variant::{EvictionStart, ReserveRules};

use crate::counters::Counter;
use crate::inner::Inner;
use crate::instance::Instance;
use crate::store::{Fault, StoreError};
use crate::sync::{AtomicU64, Mutex};

/// What a pool remembers of its dumps and loads.
pub(crate) struct Warmth {
    /// Held by the one dump that may run.
    pub(super) dumping: Mutex<()>,
    /// Held by the one load that may run.
    pub(super) loading: Mutex<()>,
    /// Pages, each counted once, of the largest file that was loaded and not cut short.
    pub(super) loaded_whole_pages: AtomicU64,
}

impl Warmth {
    pub(crate) fn new() -> Warmth {
        Warmth {
            dumping: Mutex::new(()),
            loading: Mutex::new(()),
            loaded_whole_pages: AtomicU64::new(0),
        }
    }
}

impl Inner {
    /// Whether every instance is full, or has had to evict.
    pub(super) fn has_been_full(&self) -> bool {
        let full = |instance: &Instance| {
            let reserve = self.reserve_of(instance);
            instance.counters.sum(Counter::Evicted) > 0
                || fitting_pages(&reserve, instance.free_pages(), instance.lru_pages()) == 0
        };
        self.instances.iter().all(full)
    }

    /// Of `pages`, how many exist. Tablespaces that cannot be measured count as existing.
    pub(super) fn existing_pages(&self, pages: &[PageId]) -> u64 {
        let mut spaces = Spaces::new(self);
        pages.iter().filter(|&&page| !matches!(spaces.state(page), PageState::Dead)).count() as u64
    }
}

/// How many frames of an instance may be filled before the page cleaner would take some back: it evicts when fewer are free
/// than its low water mark, unless the list is short and a frame is free.
pub(super) fn fitting_pages(reserve: &ReserveRules, free: u64, listed: u64) -> u64 {
    let low_water = match reserve.start {
        EvictionStart::BelowDepth => reserve.scan_depth_pages,
        EvictionStart::BelowHalfDepth => reserve.scan_depth_pages / 2,
    };
    let beside_reserve = free.saturating_sub(low_water);
    let while_short = free.saturating_sub(1).min(reserve.lru_min_len_pages.saturating_sub(listed));
    beside_reserve.max(while_short)
}

/// Whether a page is there to be read.
#[derive(Clone, Debug)]
pub(super) enum PageState {
    Exists,
    /// Its tablespace is gone, or ends before it.
    Dead,
    /// Its tablespace cannot be measured.
    Unknown(StoreError),
}

/// The sizes of tablespaces, each asked for once.
pub(super) struct Spaces<'a> {
    inner: &'a Inner,
    known: HashMap<u32, Result<u32, StoreError>>,
}

impl<'a> Spaces<'a> {
    pub(super) fn new(inner: &'a Inner) -> Spaces<'a> {
        Spaces { inner, known: HashMap::new() }
    }

    pub(super) fn state(&mut self, page: PageId) -> PageState {
        let store = &self.inner.store;
        let size = self.known.entry(page.space).or_insert_with(|| store.space_pages(page.space));
        match size {
            Ok(pages) if page.page_no < *pages => PageState::Exists,
            Ok(_) => PageState::Dead,
            Err(error) if is_dead(error) => PageState::Dead,
            Err(error) => PageState::Unknown(error.clone()),
        }
    }
}

/// Whether the error says that the page does not exist.
pub(super) fn is_dead(error: &StoreError) -> bool {
    matches!(error.fault, Fault::NoSuchSpace(_) | Fault::BeyondEnd { .. })
}

#[cfg(test)]
mod tests {
    use innopool_policy::variant::Variant;

    use super::*;

    #[test]
    fn what_fits_is_what_the_cleaner_leaves() {
        let mysql = Variant::Mysql84.rules().reserve;
        for (free, listed, fits) in [
            (10_000, 0, 8976),
            (1024, 9000, 0),
            (1025, 9000, 1),
            // A short list is left alone, down to one free frame.
            (64, 0, 63),
            (1000, 0, 256),
            (1000, 250, 6),
            (0, 64, 0),
            (1, 0, 0),
        ] {
            assert_eq!(fitting_pages(&mysql, free, listed), fits, "{free} free, {listed} listed");
        }
        let mariadb = Variant::Mariadb.rules().reserve;
        assert_eq!(fitting_pages(&mariadb, 10_000, 0), 10_000 - 768);
        let lru = Variant::Lru.rules().reserve;
        assert_eq!(fitting_pages(&lru, 64, 1000), 64);
    }
}
