//! Batched promotion against exact: the same pages hit, to within a tenth of a point, under work that depends on it.
//!
//! A thread that hits only leaves a note; whoever next takes a frame carries the notes out. Between two misses the list
//! is therefore behind, and the queue of notes, which is bounded, may overflow. What that costs is measured here, on
//! a clock of the test's own, so that every run is the same.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use innopool_buf::store::SimStore;
use innopool_buf::{
    Background, Clock, Hint, ListRules, ManualClock, NoLog, PageId, PageSize, PlainPages, Pool,
    PoolOptions, Promotion, ReadAheadSettings, Time,
};

const POOL_PAGES: u32 = 2048;
const WORK_PAGES: u32 = 8192;
const FITTING_PAGES: u32 = 512;
const SCAN_PAGES: u32 = 10 * POOL_PAGES;
const WORK: u32 = 1;
const SCAN: u32 = 2;
const GAP_MAX: f64 = 0.001;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Number 0 twice as often as number 1, three times as often as number 2, and so on.
    fn by_rank(&mut self, cumulative: &[f64]) -> u32 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let at = unit * cumulative[cumulative.len() - 1];
        u32::try_from(cumulative.partition_point(|&part| part <= at)).unwrap()
    }
}

/// Sums of 1, 1/2, 1/3 ...
fn harmonic(ranks: u32) -> Vec<f64> {
    let mut sum = 0.0;
    (1..=ranks)
        .map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        })
        .collect()
}

struct Outcome {
    /// Of the gets of the work.
    hit_ratio: f64,
    queued: u64,
    dropped: u64,
}

/// Runs the work, with a scan of ten pool sizes in its middle. For a while it wants pages of a set that fits, so that
/// nobody takes a frame and the notes pile up; then any pages; and so on.
fn run(promotion: Promotion, list: ListRules) -> Outcome {
    let clock = ManualClock::new();
    let store = Arc::new(SimStore::new(PageSize::KIB_4, 1));
    store.record(false);
    store.create_space(WORK, WORK_PAGES);
    store.create_space(SCAN, SCAN_PAGES);
    let options = PoolOptions {
        size_bytes: u64::from(POOL_PAGES) * PageSize::KIB_4.bytes() as u64,
        page_size: PageSize::KIB_4,
        list,
        promotion,
        background: Background::Manual,
        read_ahead: ReadAheadSettings::OFF,
        clock: Clock::Manual(clock.clone()),
        ..PoolOptions::default()
    };
    let log = Arc::new(NoLog::new());
    let pool = Pool::new(options, store, log, Arc::new(PlainPages)).unwrap();
    let mut random = Random(7);
    let cumulative = harmonic(WORK_PAGES);
    let (mut micros, mut gets, mut misses) = (0, 0_u64, 0_u64);
    let mut get = |page: PageId| {
        micros += 500;
        clock.set(Time::from_micros(micros));
        let before = pool.stats().demand_reads;
        drop(pool.get_shared(page, Hint::Normal).unwrap());
        pool.stats().demand_reads - before
    };
    for step in 0..120_000_u32 {
        // The rank is spread over the tablespace, so that a neighbour is as hot as any page.
        let ranks = if step / 10_000 % 2 == 0 { FITTING_PAGES } else { WORK_PAGES };
        let place =
            random.by_rank(&cumulative[..ranks as usize]).wrapping_mul(2_654_435_761) % WORK_PAGES;
        misses += get(PageId::new(WORK, place));
        gets += 1;
        if (40_000..40_000 + SCAN_PAGES).contains(&step) {
            get(PageId::new(SCAN, step - 40_000));
        }
    }
    let stats = pool.stats();
    Outcome {
        hit_ratio: 1.0 - misses as f64 / gets as f64,
        queued: stats.promotions_queued,
        dropped: stats.promotions_dropped,
    }
}

fn compare(list: ListRules) -> Outcome {
    let exact = run(Promotion::Exact, list);
    let batched = run(Promotion::Batched, list);
    let gap = (exact.hit_ratio - batched.hit_ratio).abs();
    assert!(gap <= GAP_MAX, "{} exact, {} batched", exact.hit_ratio, batched.hit_ratio);
    // The work depends on promotion, or there would be nothing to get wrong.
    assert!(batched.queued > 1000, "{} notes", batched.queued);
    batched
}

#[test]
fn batched_promotion_hits_as_often_as_exact() {
    compare(ListRules::default());
}

#[test]
fn a_queue_that_overflows_costs_no_more() {
    // Plain LRU moves a page at every hit, so the notes are more than the queue holds.
    let batched = compare(ListRules::lru());
    assert!(batched.dropped > 0, "the queue never overflowed");
}
