//! Rows 2: pages that are not in the pool, in random order, against what the device gives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use innopool_buf::{
    Hint, NoLog, PageId, PlainPages, Pool, PoolOptions, Promotion, ReadAheadSettings,
};

use crate::data::{DataFile, PAGE_BYTES, SPACE, mib};
use crate::made::number;
use crate::measure::{Figures, together};
use crate::plain;
use crate::random::Random;
use crate::report::{Aim, Row, Section};
use crate::settings::{Failure, Settings};

const DEPTH: usize = 32;
/// Batches that are started before their pages are wanted: the store has only `DEPTH` reads at the device at once.
const BATCHES_AHEAD: usize = 4;
const POOL_PAGES: u64 = 16_384;
const PAGES_PER_REPEAT: u32 = 60_000;
const MIB: f64 = 1_048_576.0;

/// Pages in an order without repetition, handed out in portions.
struct Order {
    pages: Vec<u32>,
    at: usize,
}

impl Order {
    fn next(&mut self, count: usize) -> &[u32] {
        if self.at + count > self.pages.len() {
            self.at = 0;
        }
        self.at += count;
        &self.pages[self.at - count..self.at]
    }
}

/// Rows 2, over `data`.
pub(crate) fn random(settings: &Settings, data: &DataFile) -> Result<Vec<Section>, Failure> {
    let pool = pool(data)?;
    let mut order = Order { pages: (0..data.pages()).collect(), at: 0 };
    Random::new(2).shuffle(&mut order.pages);
    let count = (settings.scaled(PAGES_PER_REPEAT) as usize).min(order.pages.len() / 2);
    let mut figures = [const { Vec::new() }; 4];
    for _ in 0..settings.repeats {
        let offsets: Vec<u64> =
            order.next(count).iter().map(|&page| u64::from(page) * PAGE_BYTES as u64).collect();
        figures[0].push(plain::read(data.path(), &offsets, PAGE_BYTES, DEPTH)? / MIB);
        figures[1].push(prefetched(&pool, order.next(count))? / MIB);
        figures[2].push(by_threads(&pool, order.next(count))? / MIB);
        figures[3].extend(plain::fio(data.path(), DEPTH, 2)?.map(|rate| rate / MIB));
    }
    let [plain, prefetched, threads, fio] = figures;
    let (plain, prefetched, threads) =
        (Figures::new(plain), Figures::new(prefetched), Figures::new(threads));
    let mut section = Section::new(
        format!("2. Misses: random pages of 16 KiB, {DEPTH} at a time, O_DIRECT"),
        format!(
            "{} MiB of pages, a pool of {} MiB that is full.  Batched promotion",
            mib(data.pages().into()),
            mib(POOL_PAGES)
        ),
    );
    section.row(Row::new("plain io_uring", &plain, "MiB/s"));
    section.row(Row::new("pool, prefetch then get", &prefetched, "MiB/s"));
    section.row(Row::new("pool, 32 threads that get", &threads, "MiB/s"));
    section.row(Row::ratio("prefetch / plain", &prefetched, &plain).aim(Aim::AtLeast(0.9)));
    section.row(Row::ratio("threads / plain", &threads, &plain));
    if fio.is_empty() {
        section.note("fio is not installed; the plain reads are our own");
    } else {
        let fio = Figures::new(fio);
        section.row(Row::new("fio, io_uring", &fio, "MiB/s"));
        section.row(Row::ratio("prefetch / fio", &prefetched, &fio).aim(Aim::AtLeast(0.9)));
    }
    Ok(vec![section])
}

fn pool(data: &DataFile) -> Result<Pool, Failure> {
    let options = PoolOptions {
        size_bytes: POOL_PAGES * PAGE_BYTES as u64,
        promotion: Promotion::Batched,
        read_ahead: ReadAheadSettings::OFF,
        ..PoolOptions::default()
    };
    let store = data.store(u32::try_from(DEPTH)?)?;
    Ok(Pool::new(options, store, Arc::new(NoLog::new()), Arc::new(PlainPages))?)
}

fn check(pool: &Pool, page_no: u32) -> Result<(), Failure> {
    let guard = pool.get_shared(PageId::new(SPACE, page_no), Hint::Normal)?;
    if number(&guard) != u64::from(page_no) {
        return Err(format!("page {page_no} says it is page {}", number(&guard)).into());
    }
    Ok(())
}

/// Bytes a second that came into the pool since it had read `before` pages.
fn rate(pool: &Pool, before: u64, start: Instant) -> f64 {
    let pages = pool.stats().pages_read - before;
    pages as f64 * PAGE_BYTES as f64 / start.elapsed().as_secs_f64()
}

/// One thread that prefetches a batch while it gets the pages of the batch before.
fn prefetched(pool: &Pool, pages: &[u32]) -> Result<f64, Failure> {
    let (before, start) = (pool.stats().pages_read, Instant::now());
    let ids = |batch: &[u32]| -> Vec<PageId> {
        batch.iter().map(|&page_no| PageId::new(SPACE, page_no)).collect()
    };
    let mut ahead = pages.chunks(DEPTH);
    for batch in ahead.by_ref().take(BATCHES_AHEAD) {
        pool.prefetch(ids(batch), Hint::ReadAhead);
    }
    for batch in pages.chunks(DEPTH) {
        batch.iter().try_for_each(|&page_no| check(pool, page_no))?;
        if let Some(next) = ahead.next() {
            pool.prefetch(ids(next), Hint::ReadAhead);
        }
    }
    Ok(rate(pool, before, start))
}

/// As many threads as there are to be reads under way, each waiting for its own.
fn by_threads(pool: &Pool, pages: &[u32]) -> Result<f64, Failure> {
    let (before, start) = (pool.stats().pages_read, Instant::now());
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    together(DEPTH, |_| {
        while let Some(&page_no) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            if check(pool, page_no).is_err() {
                failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    match failed.into_inner() {
        0 => Ok(rate(pool, before, start)),
        failed => Err(format!("{failed} gets failed").into()),
    }
}
