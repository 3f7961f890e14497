//! Rows 5: the list's lock, wanted by all, in 1, 2 and 8 instances.

use std::sync::Arc;
use std::time::Duration;

use innopool_buf::{
    Background, Hint, ListRules, NoLog, PageId, PlainPages, Pool, PoolOptions, Promotion,
    ReadAheadSettings,
};

use crate::data::PAGE_BYTES;
use crate::made::MadeStore;
use crate::measure::{Figures, in_turn, together};
use crate::random::Random;
use crate::report::{Row, Section};
use crate::settings::{Failure, Settings};

const POOL_PAGES: u32 = 16_384;
const INSTANCES: [usize; 3] = [1, 2, 8];

fn pool(instances: usize, promotion: Promotion, list: ListRules) -> Result<Pool, Failure> {
    let options = PoolOptions {
        size_bytes: u64::from(POOL_PAGES) * PAGE_BYTES as u64,
        instances,
        promotion,
        list,
        background: Background::Threads,
        read_ahead: ReadAheadSettings::OFF,
        ..PoolOptions::default()
    };
    Ok(Pool::new(options, Arc::new(MadeStore), Arc::new(NoLog::new()), Arc::new(PlainPages))?)
}

/// Thousands of gets a second by `threads` threads that want any of `pages` pages.
fn rate(pool: &Pool, threads: u32, gets: u32, pages: u32, seed: u64) -> f64 {
    let took = together(threads as usize, |number| {
        let mut random = Random::new(seed * 64 + number as u64);
        for _ in 0..gets {
            // The store cannot fail, and a pool without free frames would show in the rate.
            let _ = pool.get_shared(PageId::new(1, random.below(pages)), Hint::Normal);
        }
    });
    f64::from(gets) * f64::from(threads) / took.as_secs_f64() / 1000.0
}

/// Rows 5.
pub(crate) fn instances(settings: &Settings) -> Result<Vec<Section>, Failure> {
    let mut sections = Vec::new();
    for threads in [2, 8_u32] {
        sections.push(section(
            settings,
            format!("5. Misses that cost nothing but the pool, {threads} threads"),
            "every get takes a frame from the list.  Batched promotion",
            &pools(Promotion::Batched, ListRules::default())?,
            |pool, seed| {
                rate(pool, threads, settings.scaled(400_000) / threads, 32 * POOL_PAGES, seed)
            },
        ));
    }
    // Half the pages of the pool once more, so that a third of the gets miss and the clock runs.
    let list = ListRules::default().with_old_blocks_time(Duration::ZERO);
    sections.push(section(
        settings,
        "5. Promotions and misses, 2 threads".to_owned(),
        "exact promotion, old_blocks_time = 0; a third of the gets miss",
        &pools(Promotion::Exact, list)?,
        |pool, seed| rate(pool, 2, settings.scaled(400_000), POOL_PAGES * 3 / 2, seed),
    ));
    Ok(sections)
}

fn pools(promotion: Promotion, list: ListRules) -> Result<[Pool; 3], Failure> {
    let [one, two, eight] = INSTANCES.map(|instances| pool(instances, promotion, list));
    Ok([one?, two?, eight?])
}

fn section(
    settings: &Settings,
    title: String,
    mode: &str,
    pools: &[Pool; 3],
    rate: impl Fn(&Pool, u64) -> f64,
) -> Section {
    let seed = std::cell::Cell::new(0);
    let next = || seed.replace(seed.get() + 1);
    let [one, two, eight] = pools;
    // Fills the pools, so that every later miss has to evict.
    for pool in pools {
        rate(pool, next());
    }
    let figures: [Figures; 3] = in_turn(
        settings.repeats,
        [&mut || rate(one, next()), &mut || rate(two, next()), &mut || rate(eight, next())],
    );
    let mut section = Section::new(title, mode);
    for (instances, figures) in INSTANCES.iter().zip(&figures) {
        section.row(Row::new(format!("instances: {instances}"), figures, "k/s"));
    }
    for place in [1, 2] {
        let name = format!("{} to 1", INSTANCES[place]);
        section.row(Row::ratio(name, &figures[place], &figures[0]));
    }
    section
}
