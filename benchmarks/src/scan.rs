//! Rows 4: what a scan does to the hit ratio of the work beside it.
//!
//! A clock of our own and one thread, so every figure comes out the same on every machine. The work draws pages by Zipf's
//! law, 500 a second. After a while a scan reads ten pool sizes of pages as fast as a disk gives them, looking at each page
//! some times in a row, as for its rows; the work goes on beside it. What counts is how many gets of the work hit, from the
//! beginning of the scan until the work has wanted twice as many pages as fit in the pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use innopool_buf::store::{Operation, PageStore, StoreError};
use innopool_buf::{
    Background, Clock, Hint, ListRules, ManualClock, NoLog, PageId, PageSize, PlainPages, Pool,
    PoolError, PoolOptions, Promotion, ReadAheadSettings, Time,
};

use crate::data::PAGE_BYTES;
use crate::made::MadeStore;
use crate::measure::Figures;
use crate::random::{Random, Zipf};
use crate::report::{Aim, Row, Section};
use crate::settings::{Failure, Settings};

const POOL_PAGES: u32 = 4096;
const WORK_PAGES: u32 = 16_384;
const SKEW: f64 = 0.9;
const SCAN_PAGES: u32 = 10 * POOL_PAGES;
const WARM_GETS: u32 = 300_000;
const WORK_MICROS: u64 = 2000;
/// Pages that the scan reads between two gets of the work, and its gets of each.
const SCANNED_PER_WORK: u32 = 20;
const GETS_PER_SCANNED: u32 = 4;
const SCANNED_MICROS: u64 = WORK_MICROS / SCANNED_PER_WORK as u64;
const GETS_AFTER: u32 = 2 * POOL_PAGES;
const WORK: u32 = 1;
const SCAN: u32 = 2;
/// How far the modes of promotion may be apart, in points of the hit ratio.
const GAP_POINTS_MAX: f64 = 0.1;

/// Counts the reads of the work's tablespace.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl PageStore for Counting {
    fn page_size(&self) -> PageSize {
        MadeStore.page_size()
    }

    fn space_pages(&self, space: u32) -> Result<u32, StoreError> {
        MadeStore.space_pages(space)
    }

    fn read(&self, page: PageId, frame: &mut [u8]) -> Result<(), StoreError> {
        if page.space == WORK {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        MadeStore.read(page, frame)
    }

    fn write(&self, page: PageId, frame: &[u8]) -> Result<(), StoreError> {
        MadeStore.write(page, frame)
    }

    fn start(&self, batch: &mut Vec<Operation>) {
        MadeStore.start(batch);
    }

    fn sync(&self, space: u32) -> Result<(), StoreError> {
        MadeStore.sync(space)
    }
}

/// The hit ratio of the work before the scan and from its beginning on, in percent.
fn hit_ratios(list: ListRules, promotion: Promotion, seed: u64) -> Result<[f64; 2], Failure> {
    let clock = ManualClock::new();
    let options = PoolOptions {
        size_bytes: u64::from(POOL_PAGES) * PAGE_BYTES as u64,
        list,
        promotion,
        background: Background::Manual,
        read_ahead: ReadAheadSettings::OFF,
        clock: Clock::Manual(clock.clone()),
        ..PoolOptions::default()
    };
    let store = Arc::new(Counting::default());
    let pool = Pool::new(options, store.clone(), Arc::new(NoLog::new()), Arc::new(PlainPages))?;
    let mut random = Random::new(seed);
    let zipf = Zipf::new(WORK_PAGES, SKEW);
    // Rank and place on disk have nothing to do with each other.
    let mut places: Vec<u32> = (0..WORK_PAGES).collect();
    random.shuffle(&mut places);
    let mut micros = 0;
    let mut get = |page, passes| {
        micros += passes;
        clock.set(Time::from_micros(micros));
        pool.get_shared(page, Hint::Normal).map(drop)
    };
    let mut work = |get: &mut dyn FnMut(PageId, u64) -> _, gets, passes| {
        let before = store.0.load(Ordering::Relaxed);
        for _ in 0..gets {
            get(PageId::new(WORK, places[zipf.draw(&mut random)]), passes)?;
        }
        Ok::<u64, PoolError>(store.0.load(Ordering::Relaxed) - before)
    };
    work(&mut get, WARM_GETS, WORK_MICROS)?;
    let before = work(&mut get, GETS_AFTER, WORK_MICROS)?;
    let mut misses = 0;
    for page_no in 0..SCAN_PAGES {
        for time in 0..GETS_PER_SCANNED {
            get(PageId::new(SCAN, page_no), if time == 0 { SCANNED_MICROS } else { 0 })?;
        }
        if page_no % SCANNED_PER_WORK == 0 {
            misses += work(&mut get, 1, 0)?;
        }
    }
    misses += work(&mut get, GETS_AFTER, WORK_MICROS)?;
    let ratio = |misses: u64, gets: u32| 100.0 * (1.0 - misses as f64 / f64::from(gets));
    let gets = SCAN_PAGES.div_ceil(SCANNED_PER_WORK) + GETS_AFTER;
    Ok([ratio(before, GETS_AFTER), ratio(misses, gets)])
}

/// Rows 4.
///
/// # Errors
///
/// When the two modes of promotion differ by more than they may.
pub(crate) fn resistance(settings: &Settings) -> Result<Vec<Section>, Failure> {
    let midpoint = ListRules::default();
    let eager = midpoint.with_old_blocks_time(Duration::ZERO);
    let cases = [
        ("midpoint, exact", midpoint, Promotion::Exact),
        ("midpoint, batched", midpoint, Promotion::Batched),
        ("old_blocks_time 0", eager, Promotion::Batched),
        ("plain LRU, exact", ListRules::lru(), Promotion::Exact),
    ];
    let mut section = Section::new(
        "4. Hit ratio of Zipf work beside a scan of ten pool sizes",
        format!(
            "a pool of {POOL_PAGES} pages, {WORK_PAGES} pages of work, skew {SKEW}; \
             virtual time, {} seeds",
            settings.repeats
        ),
    );
    let mut ratios = Vec::new();
    for (name, list, promotion) in cases {
        let runs: Vec<[f64; 2]> = (0..settings.repeats as u64)
            .map(|seed| hit_ratios(list, promotion, seed))
            .collect::<Result<_, _>>()?;
        let [quiet, beside] =
            [0, 1].map(|part| Figures::new(runs.iter().map(|run| run[part]).collect()));
        section.row(Row::new(format!("{name}: before"), &quiet, "%"));
        section.row(Row::new("    from the scan on", &beside, "%"));
        ratios.push((quiet, beside));
    }
    let gap = |part: fn(&(Figures, Figures)) -> &Figures| {
        part(&ratios[1]).minus(part(&ratios[0])).map(f64::abs)
    };
    for (name, gap) in [("before", gap(|ratio| &ratio.0)), ("with scan", gap(|ratio| &ratio.1))] {
        let row = Row::new(format!("batched - exact, {name}"), &gap, "points");
        section.row(row.aim(Aim::AtMost(GAP_POINTS_MAX)));
        if gap.most() > GAP_POINTS_MAX {
            println!("{}", section.text());
            return Err(format!("batched promotion is {:.2} points from exact", gap.most()).into());
        }
    }
    Ok(vec![section])
}
