//! Pools to dump and load, over stores whose pages say which they are.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, reason = "shared by several tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use innopool_buf::dump::{DumpOptions, DumpReport, LoadControl, LoadOptions, LoadReport};
use innopool_buf::store::{PageStore, SimStore};
use innopool_buf::{
    Background, Clock, Hint, ManualClock, NoLog, PageFormat, PageId, PageSize, Pool, PoolError,
    PoolOptions, Promotion, ReadAheadSettings,
};

pub(crate) const PAGE_SIZE: PageSize = PageSize::KIB_4;

/// Tablespaces of the simulated stores.
pub(crate) const SPACES: [u32; 2] = [3, 4_294_967_294];

/// Pages that carry their number at the end.
pub(crate) struct Numbered;

impl PageFormat for Numbered {
    fn verify(&self, page: PageId, frame: &[u8]) -> Result<(), String> {
        if frame == filled(page, frame.len()) { Ok(()) } else { Err("another page".to_owned()) }
    }

    fn seal(&self, _page: PageId, _newest: innopool_buf::Lsn, _copy: &mut [u8]) {}
}

pub(crate) fn filled(page: PageId, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    bytes[len - 8..len - 4].copy_from_slice(&page.space.to_be_bytes());
    bytes[len - 4..].copy_from_slice(&page.page_no.to_be_bytes());
    bytes
}

/// Fills the tablespaces of `store` with `pages` pages each.
pub(crate) fn fill(store: &SimStore, pages: u32) {
    for space in SPACES {
        store.create_space(space, pages);
        for number in 0..pages {
            let page = PageId::new(space, number);
            store.poke(page, &filled(page, PAGE_SIZE.bytes())).unwrap();
        }
    }
    store.record(false);
}

/// A store that completes batches in the thread that starts them.
pub(crate) fn store(pages: u32) -> Arc<SimStore> {
    let store = SimStore::new(PAGE_SIZE, 1);
    fill(&store, pages);
    Arc::new(store)
}

/// Options of a pool of `frames` frames that does nothing by itself and keeps no frames in reserve.
pub(crate) fn options(frames: u64) -> PoolOptions {
    let mut options = PoolOptions {
        size_bytes: frames * PAGE_SIZE.bytes() as u64,
        page_size: PAGE_SIZE,
        background: Background::Manual,
        promotion: Promotion::Exact,
        read_ahead: ReadAheadSettings::OFF,
        ..PoolOptions::default()
    };
    options.reserve.scan_depth_pages = 0;
    options
}

pub(crate) fn pool_over(store: Arc<dyn PageStore>, options: PoolOptions) -> Pool {
    Pool::new(options, store, Arc::new(NoLog::new()), Arc::new(Numbered)).unwrap()
}

/// A pool with a clock of its own.
pub(crate) fn pool(store: &Arc<SimStore>, frames: u64) -> (Pool, ManualClock) {
    let clock = ManualClock::new();
    let options = PoolOptions { clock: Clock::Manual(clock.clone()), ..options(frames) };
    (pool_over(store.clone(), options), clock)
}

pub(crate) fn page(number: u32) -> PageId {
    PageId::new(SPACES[0], number)
}

pub(crate) fn get(pool: &Pool, page: PageId) {
    let guard = pool.get_shared(page, Hint::Normal).unwrap();
    assert_eq!(*guard, filled(page, PAGE_SIZE.bytes()));
}

pub(crate) const ALL: DumpOptions = DumpOptions { percent: 100, replace_fuller: true };

/// A directory for dump files, removed at the end.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a dump file by hand.
    pub(crate) fn write(&self, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("written_by_hand");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The lists of the pool, by instance, hottest first.
    pub(crate) fn lists(&self, pool: &Pool) -> Vec<Vec<PageId>> {
        let path = self.path("lists");
        let report = pool.dump(&path, &ALL).unwrap();
        split(&pages_of(&path), &report)
    }
}

/// The pages of a dump by instance.
pub(crate) fn split(pages: &[PageId], report: &DumpReport) -> Vec<Vec<PageId>> {
    let mut rest = pages;
    let mut lists = Vec::new();
    for &len in &report.instance_pages {
        let (list, more) = rest.split_at(usize::try_from(len).unwrap());
        lists.push(list.to_vec());
        rest = more;
    }
    assert!(rest.is_empty());
    lists
}

pub(crate) fn pages_of(path: &Path) -> Vec<PageId> {
    let text = std::fs::read_to_string(path).unwrap();
    let pair = |line: &str| {
        let (space, page_no) = line.split_once(',').unwrap();
        PageId::new(space.parse().unwrap(), page_no.parse().unwrap())
    };
    text.lines().map(pair).collect()
}

pub(crate) fn text_of(pages: impl IntoIterator<Item = PageId>) -> String {
    pages.into_iter().map(|page| format!("{},{}\n", page.space, page.page_no)).collect()
}

pub(crate) fn load(pool: &Pool, path: &Path) -> Result<LoadReport, PoolError> {
    pool.load(path, &LoadOptions::default(), &LoadControl::new())
}

/// Every page of the file was one or the other.
pub(crate) fn check_sum(report: &LoadReport) {
    let sum = report.duplicate_pages
        + report.dead_pages
        + report.present_pages
        + report.dropped_pages
        + report.loaded_pages
        + report.failed_pages
        + report.cancelled_pages;
    assert_eq!(sum, report.file_pages, "{report:?}");
}
