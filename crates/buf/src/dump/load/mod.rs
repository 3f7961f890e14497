//! Loading: the pages of a dump back into the pool, read as they lie on disk, listed as they were.

#![allow(unsafe_code, reason = "frames are lent to the store while it fills them")]

mod control;
mod pace;
mod plan;
mod reads;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use innopool_policy::PageId;
use innopool_policy::blocks::BlockNo;

pub use control::{LoadControl, LoadProgress};

use super::file;
use super::rank::hottest_first;
use super::warmth::fitting_pages;
use crate::counters::Counter;
use crate::error::PoolError;
use crate::frame::table::LruLinks;
use crate::inner::Inner;
use crate::pool::Pool;
use crate::store::{Kind, Operation};
use crate::sync::Ordering;
use pace::Pace;
use plan::{Entry, Plan};
use reads::Reads;

/// Pages handed to the store at a time, and listed under one hold of the LRU lock: an area, which is 1 MiB of pages of
/// 16 KiB, and one request to the device where they are neighbours.
const BATCH_PAGES: usize = 64;

const IN_FLIGHT_DEFAULT: usize = 512;

/// A cancelled load notices within this time, however slow its budget.
const PAUSE_MOST: Duration = Duration::from_millis(20);

/// In which order pages are read. The list is in the order of the dump either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadOrder {
    /// All as they lie on disk: soonest done.
    #[default]
    Disk,
    /// The hottest `slice_pages` as they lie on disk, then the next: later done, but with the pages first that are
    /// missed most.
    HottestFirst {
        /// Pages of a slice.
        slice_pages: NonZeroUsize,
    },
}

/// How a dump is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Most pages to read in a second, over the time of the whole load; `None` for as fast as the device can.
    pub budget_pages_per_s: Option<NonZeroU32>,
    /// Most pages to have with the store at once, taken as at least 64.
    pub in_flight_pages: usize,
    /// In which order pages are read.
    pub order: LoadOrder,
    /// Whether the good lines of a file with bad ones are loaded; otherwise such a file is an error.
    pub salvage: bool,
}

impl Default for LoadOptions {
    /// In the order of the disk, at the device's speed, and no file with bad lines.
    fn default() -> LoadOptions {
        LoadOptions {
            budget_pages_per_s: None,
            in_flight_pages: IN_FLIGHT_DEFAULT,
            order: LoadOrder::Disk,
            salvage: false,
        }
    }
}

/// What a load came to. `file_pages` is the sum of all pages below it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Lines of the file that are no page; 0 unless [`LoadOptions::salvage`].
    pub bad_lines: u64,
    /// Pages in the file.
    pub file_pages: u64,
    /// Lines that name a page once more.
    pub duplicate_pages: u64,
    /// Pages that do not exist (any more): their tablespace is gone or shorter.
    pub dead_pages: u64,
    /// Pages that were in the pool already; nothing was done to them.
    pub present_pages: u64,
    /// The coldest pages of their instances, for which there were no frames.
    pub dropped_pages: u64,
    /// Pages read.
    pub loaded_pages: u64,
    /// Pages that could not be read.
    pub failed_pages: u64,
    /// Pages not read because the load was cancelled.
    pub cancelled_pages: u64,
    /// Why the first of the failed could not be read.
    pub first_error: Option<PoolError>,
    /// How long it took, from opening the file to the last page.
    pub took: Duration,
}

impl Pool {
    /// Reads the pages that the dump `path` lists, as far as frames are free, and lists them in its order; see
    /// [the module](crate::dump). The pool goes on serving; returns when the last page is read, or `control` says to
    /// stop. A resize may run meanwhile: frames it adds are not filled, frames it takes are not counted on.
    ///
    /// # Errors
    ///
    /// Nothing is loaded then. [`PoolError::File`] when the file cannot be read or, unless told to salvage it, has bad
    /// lines: the first is named. [`PoolError::Busy`] when another load runs. A page that cannot be read is
    /// not an error, but counted in the report.
    pub fn load(
        &self,
        path: impl AsRef<Path>,
        options: &LoadOptions,
        control: &LoadControl,
    ) -> Result<LoadReport, PoolError> {
        let path = path.as_ref();
        let warmth = &self.inner.warmth;
        let Some(_only_one) = warmth.loading.try_lock() else {
            return Err(PoolError::Busy("a load"));
        };
        let started = Instant::now();
        let parsed = file::read(path)?;
        if !options.salvage {
            parsed.check(&path.display().to_string()).map_err(|bad| PoolError::File {
                path: format!("{}:{}", bad.name, bad.first.line),
                what: bad.what(),
            })?;
        }
        let ranked = hottest_first(&parsed.pages);
        let mut report = self.inner.load(&ranked, options, control);
        report.bad_lines = parsed.bad_lines_total;
        report.file_pages = parsed.pages.len() as u64;
        report.duplicate_pages = (parsed.pages.len() - ranked.len()) as u64;
        report.took = started.elapsed();
        if report.cancelled_pages == 0 {
            warmth.loaded_whole_pages.fetch_max(ranked.len() as u64, Ordering::Relaxed);
        }
        Ok(report)
    }
}

impl Inner {
    fn load(
        self: &Arc<Inner>,
        ranked: &[PageId],
        options: &LoadOptions,
        control: &LoadControl,
    ) -> LoadReport {
        let plan = Plan::new(self, ranked, options.order);
        let reads = Reads::new(self, control);
        control.begin();
        let mut load = Load { pool: self, plan, reads, control, started_pages: 0 };
        load.run(options);
        control.end();
        let (plan, outcome) = (&load.plan, load.reads.outcome());
        LoadReport {
            dead_pages: plan.left_out.dead + outcome.dead,
            present_pages: plan.left_out.present,
            dropped_pages: plan.left_out.dropped,
            loaded_pages: outcome.loaded,
            failed_pages: plan.left_out.failed + outcome.failed,
            cancelled_pages: plan.wanted_pages(),
            first_error: plan.left_out.first_error.clone().or(outcome.first_error),
            ..LoadReport::default()
        }
    }
}

/// A load under way.
struct Load<'a> {
    pool: &'a Arc<Inner>,
    plan: Plan,
    reads: Arc<Reads>,
    control: &'a LoadControl,
    started_pages: u64,
}

impl Load<'_> {
    fn run(&mut self, options: &LoadOptions) {
        let began = Instant::now();
        let pace = Pace::new(options.budget_pages_per_s);
        let batch = pace.batch_pages(BATCH_PAGES);
        let most_before = options.in_flight_pages.max(BATCH_PAGES) - BATCH_PAGES;
        self.drop_what_does_not_fit();
        let order = std::mem::take(&mut self.plan.order);
        for entries in order.chunks(batch) {
            self.wait_for_budget(pace, began);
            self.reads.wait_for(most_before);
            if self.control.is_cancelled() {
                break;
            }
            self.start_batch(entries);
        }
        self.reads.wait_for(0);
    }

    fn drop_what_does_not_fit(&mut self) {
        for number in 0..self.pool.instances.len() {
            let instance = &self.pool.instances[number];
            let (free, listed) = (instance.free_pages(), instance.lru_pages());
            let fitting = fitting_pages(&self.pool.reserve_of(instance), free, listed);
            self.plan.drop_coldest(number, fitting);
        }
        self.control.set_total(self.plan.wanted_pages());
    }

    fn wait_for_budget(&self, pace: Pace, began: Instant) {
        while !self.control.is_cancelled() {
            let wait = pace.wait(began.elapsed(), self.started_pages);
            if wait.is_zero() {
                return;
            }
            self.reads.pause(wait.min(PAUSE_MOST));
        }
    }

    /// Starts reading those of `entries` that are still wanted and missing.
    fn start_batch(&mut self, entries: &[Entry]) {
        let mut operations = Vec::with_capacity(entries.len());
        for run in entries.chunk_by(|one, next| one.instance == next.instance) {
            self.list_run(run, &mut operations);
        }
        if operations.is_empty() {
            return;
        }
        self.started_pages += operations.len() as u64;
        self.control.set_total(self.started_pages + self.plan.wanted_pages());
        self.reads.start(operations.len());
        self.pool.store.start(&mut operations);
    }

    /// Lists the missing pages of `entries`, all of one instance, and makes their reads.
    fn list_run(&mut self, entries: &[Entry], operations: &mut Vec<Operation>) {
        let pool = &**self.pool;
        let number = entries[0].instance as usize;
        let instance = &pool.instances[number];
        let mut lru = instance.lru.lock();
        for &entry in entries {
            // Others take frames too.
            let free = lru.free.len() as u64;
            let fitting = fitting_pages(&pool.reserve_of(instance), free, lru.list.len_pages());
            self.plan.drop_coldest(number, fitting);
            if !self.plan.take(entry) {
                continue;
            }
            if pool.pages.find(entry.page).is_some() {
                self.plan.left_out.present += 1;
                continue;
            }
            let Some(frame) = lru.free.pop() else {
                // Does not happen: what fits is at most what is free, and this page was among it.
                self.plan.left_out.dropped += 1;
                continue;
            };
            if !pool.claim_frame(entry.page, frame) {
                lru.free.push(frame);
                self.plan.left_out.present += 1;
                continue;
            }
            let hotter = self.plan.lists[number].place(pool, &lru, entry.rank);
            lru.list.insert_behind(&mut LruLinks(pool.frames()), BlockNo(frame), hotter);
            pool.frame(frame).set_listed(true);
            instance.pending_reads.fetch_add(1, Ordering::Relaxed);
            instance.counters.count(Counter::LoadReads);
            let token = u64::from(frame);
            // SAFETY: the claim has X-latched the frame, and only the completion gives the latch up.
            operations.push(unsafe {
                Operation::new(
                    Kind::Read,
                    entry.page,
                    pool.bytes_to_write(frame),
                    token,
                    self.reads.clone(),
                )
            });
        }
        instance.show(&lru);
    }
}
