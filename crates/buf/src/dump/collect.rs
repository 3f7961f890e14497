//! Dumping: copying page numbers out of the lists, and the decision whether they may replace the file.

use std::path::Path;
use std::time::{Duration, Instant};

use innopool_policy::PageId;
use innopool_policy::blocks::{BlockNo, Blocks};
use innopool_policy::dump::{DUMP_PCT_DEFAULT, dumped_pages};
use innopool_policy::list::Cursor;
use innopool_policy::variant::DumpBasis;

use super::file;
use super::rank::keep_first;
use crate::error::PoolError;
use crate::frame::table::LruLinks;
use crate::inner::Inner;
use crate::instance::{Instance, Lru};
use crate::pool::Pool;
use crate::sync::Ordering;

/// Page numbers that are copied under one hold of the LRU lock: some tens of microseconds to, with every descriptor out
/// of the processor's caches, some hundred.
const HOLD_PAGES: usize = 1024;

/// How a pool is dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpOptions {
    /// How much of each instance's list, 1 to 100 (`innodb_buffer_pool_dump_pct`). Of a list that is not empty, at least a
    /// page.
    pub percent: u64,
    /// Whether a dump with more pages may be replaced although the pool is not warm; see [the module](crate::dump).
    pub replace_fuller: bool,
}

impl Default for DumpOptions {
    /// The hottest quarter, and no fuller dump replaced.
    fn default() -> DumpOptions {
        DumpOptions { percent: DUMP_PCT_DEFAULT, replace_fuller: false }
    }
}

/// What a dump came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpReport {
    /// Pages written.
    pub pages: u64,
    /// Of them by instance.
    pub instance_pages: Vec<u64>,
    /// Times the LRU lock of an instance was held, all instances together.
    pub holds: u64,
    /// The longest of them, as far as this thread was running.
    pub longest_hold: Duration,
    /// How long it took in all.
    pub took: Duration,
}

impl Pool {
    /// Writes the numbers of the hottest pages to the file `path`, in the form of MySQL's `ib_buffer_pool`. The pool goes
    /// on serving. `path` is replaced in one step, durably, at the end.
    ///
    /// Pages that are read from disk while the dump runs may be missing from it; pages that only move are not.
    ///
    /// # Errors
    ///
    /// `path` is then what it was. [`PoolError::FullerDump`] when it would be replaced by a dump with fewer pages
    /// from a pool that is not warm; [`PoolError::File`]; [`PoolError::Setting`] for a percentage that is none;
    /// [`PoolError::Busy`] when another dump runs.
    pub fn dump(
        &self,
        path: impl AsRef<Path>,
        options: &DumpOptions,
    ) -> Result<DumpReport, PoolError> {
        let (inner, path) = (&*self.inner, path.as_ref());
        if !(1..=100).contains(&options.percent) {
            return Err(PoolError::Setting {
                name: "percent",
                value: options.percent.to_string(),
                why: "it must be 1 to 100".to_owned(),
            });
        }
        let Some(_only_one) = inner.warmth.dumping.try_lock() else {
            return Err(PoolError::Busy("a dump"));
        };
        let started = Instant::now();
        let mut report = DumpReport::default();
        let mut pages = Vec::new();
        for instance in &inner.instances {
            let mut hottest = inner.hottest_pages(instance, options.percent, &mut report);
            report.instance_pages.push(hottest.len() as u64);
            pages.append(&mut hottest);
        }
        report.pages = pages.len() as u64;
        if !options.replace_fuller {
            inner.refuse_fuller(path, report.pages)?;
        }
        file::replace(path, &pages)?;
        report.took = started.elapsed();
        Ok(report)
    }
}

impl Inner {
    /// Refuses a dump of `pages` pages if `path` lists more that exist, unless the pool is warm.
    fn refuse_fuller(&self, path: &Path, pages: u64) -> Result<(), PoolError> {
        if self.has_been_full() || !path.try_exists().unwrap_or(true) {
            return Ok(());
        }
        // Bad lines do not make the rest worth less.
        let mut kept = file::read(path)?.pages;
        keep_first(&mut kept);
        let kept_pages = self.existing_pages(&kept);
        let loaded = self.warmth.loaded_whole_pages.load(Ordering::Relaxed);
        if kept_pages <= pages || kept_pages <= loaded {
            return Ok(());
        }
        Err(PoolError::FullerDump { path: path.display().to_string(), kept_pages, pages })
    }

    /// Copies the numbers of the hottest `percent` of an instance's list, hottest first.
    fn hottest_pages(
        &self,
        instance: &Instance,
        percent: u64,
        report: &mut DumpReport,
    ) -> Vec<PageId> {
        let mut pages = Vec::new();
        let (mut wanted, mut most) = (0, 0);
        let mut last = None;
        loop {
            let mut lru = instance.lru.lock();
            let held = Instant::now();
            let begin = if last.is_none() {
                self.drain_promotions(instance, &mut lru);
                let len = lru.list.len_pages();
                wanted = dumped_pages(DumpBasis::InstanceList, percent, len, 0);
                // Pages that move to the head are met again, and must not keep the walk from ending.
                most = len.saturating_mul(2).saturating_add(HOLD_PAGES as u64);
                self.walk_begin(&lru, wanted)
            } else {
                walk_on(&lru, &LruLinks(self.frames()), last)
            };
            last = self.copy_pages(begin, &mut pages);
            lru.list.set_cursor(Cursor::Dump, last);
            instance.show(&lru);
            drop(lru);
            report.holds += 1;
            report.longest_hold = report.longest_hold.max(held.elapsed());
            if last.is_none() || pages.len() as u64 > most {
                break;
            }
        }
        pages.reverse();
        // Of a page that was met and then moved to the head, the later meeting counts.
        keep_first(&mut pages);
        pages.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
        pages
    }

    /// Where a walk towards the head meets the `wanted` hottest pages soonest.
    fn walk_begin(&self, lru: &Lru, wanted: u64) -> Option<BlockNo> {
        let young = lru.list.len_pages() - lru.list.old_len_pages();
        lru.list.old_head().filter(|_| wanted <= young).or(lru.list.tail())
    }

    /// Copies page numbers from `begin` towards the head. Returns the block to go on behind, `None` at the head.
    fn copy_pages(&self, begin: Option<BlockNo>, pages: &mut Vec<PageId>) -> Option<BlockNo> {
        let links = LruLinks(self.frames());
        let mut at = begin?;
        for left in (0..HOLD_PAGES).rev() {
            pages.push(self.frame(at.0).page());
            let hotter = links.prev(at)?;
            if left == 0 {
                break;
            }
            at = hotter;
        }
        Some(at)
    }
}

/// Where a walk goes on whose last page was `last`. The cursor stood on it; if that page has left its place meanwhile the
/// cursor has stepped to the next, which was not met yet. So whatever moves, no page on the head's side is
/// passed over.
fn walk_on(lru: &Lru, links: &LruLinks<'_>, last: Option<BlockNo>) -> Option<BlockNo> {
    match (lru.list.cursor(Cursor::Dump), last) {
        (Some(at), Some(last)) if at == last => links.prev(at),
        (at, _) => at,
    }
}
