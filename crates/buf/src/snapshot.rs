//! The LRU lists as they stand, page by page.

use innopool_policy::replay::LruRow;

use crate::frame::table::LruLinks;
use crate::frame::word::DIRTY;
use crate::pool::Pool;
use crate::sync::Ordering;

impl Pool {
    /// Lists the pages of instance `instance`, from 0, hottest first, with what the replacement rules know of each: what
    /// `INFORMATION_SCHEMA.INNODB_BUFFER_PAGE_LRU` shows of a server, in the opposite order. Empty when there is no
    /// such instance.
    ///
    /// Holds the instance's list for the whole walk, about 50 ns a page: for tests and for looking, not for every second.
    pub fn lru_snapshot(&self, instance: usize) -> Vec<LruRow> {
        let inner = &self.inner;
        let Some(instance) = inner.instances.get(instance) else { return Vec::new() };
        let lru = instance.lru.lock();
        let links = LruLinks(inner.frames());
        lru.list
            .from_head(&links)
            .map(|block| {
                let frame = inner.frame(block.0);
                LruRow {
                    page: frame.page(),
                    is_old: frame.is_old(),
                    first_access: frame.first_access(),
                    freed_page_clock: frame.freed_page_clock.load(Ordering::Relaxed),
                    is_dirty: frame.word().has(DIRTY),
                }
            })
            .collect()
    }
}
