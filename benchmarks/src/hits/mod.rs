//! Rows 1: what a hit costs.

mod bare;

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use innopool_buf::{
    Background, Clock, Hint, ManualClock, NoLog, PageId, PlainPages, Pool, PoolOptions, Promotion,
    ReadAheadSettings, Time, Translation,
};

use crate::data::{PAGE_BYTES, mib};
use crate::made::{MadeStore, number};
use crate::measure::{Figures, in_turn, processor_time, together};
use crate::random::Random;
use crate::report::{Aim, Row, Section};
use crate::settings::{Failure, Settings};
use bare::BareTable;

/// Words of 8 bytes in a page.
const PAGE_WORDS: u32 = 2048;
const HOT_PAGES: u32 = 64;
/// Pages evicted before anything is measured: a pool that never evicted judges no access.
const EVICTED: u32 = 1024;
/// Of a ratio of times.
const FASTER: Option<Aim> = Some(Aim::Below(1.0));

/// What has pages that can be got, read, and let go.
trait Target: Sync {
    /// Gets `page`, reads its word number `word`, and lets it go.
    fn read(&self, page: PageId, word: usize) -> u64;
}

impl Target for Pool {
    // Always, so that the figure does not hang on what the compiler thinks of the loop around it.
    #[inline(always)]
    fn read(&self, page: PageId, word: usize) -> u64 {
        match self.get_shared(page, Hint::Normal) {
            Ok(guard) => number(&guard[word * 8..]),
            Err(_) => 0,
        }
    }
}

/// No pool at all: what the loop around the gets costs.
struct Nothing;

impl Target for Nothing {
    #[inline]
    fn read(&self, page: PageId, word: usize) -> u64 {
        u64::from(page.page_no) ^ word as u64
    }
}

/// Which pages are wanted, and which part of them is read.
#[derive(Clone, Copy, Debug)]
struct Shape {
    first: u32,
    pages: u32,
    /// Whether each thread has pages of its own, one set after the other.
    apart: bool,
    /// Words of the page of which one is read: 1 is the header.
    words: u32,
    /// Whether a page is known only when the one before has been read, as on the way down a tree.
    chained: bool,
}

/// Nanoseconds for a get, a read and a drop, by one of `threads` threads: of the processor's time for one thread,
/// else by the clock.
fn nanos(target: &impl Target, threads: usize, gets: u32, shape: Shape, seed: u64) -> f64 {
    let work = |number| {
        let number = u32::try_from(number).unwrap_or(0);
        let shape = Shape { first: if shape.apart { number * shape.pages } else { 0 }, ..shape };
        let random = Random::new(seed + u64::from(number) * 7919);
        if shape.chained {
            gets_in_a_loop::<true>(target, gets, shape, random);
        } else {
            gets_in_a_loop::<false>(target, gets, shape, random);
        }
    };
    let took = if threads == 1 { processor_time(|| work(0)) } else { together(threads, work) };
    took.as_nanos() as f64 / f64::from(gets)
}

/// The loop itself. `CHAINED` is known to the compiler, which would else chain the pages together always, by nothing.
#[inline(never)]
fn gets_in_a_loop<const CHAINED: bool>(
    target: &impl Target,
    gets: u32,
    shape: Shape,
    mut random: Random,
) {
    let mut sum = 0_u64;
    for _ in 0..gets {
        let page = PageId::new(1, shape.first + random.below(shape.pages));
        let word = if shape.words == 1 { 0 } else { random.below(shape.words) as usize };
        let read = target.read(page, word);
        sum = sum.wrapping_add(read);
        if CHAINED {
            random.stir(read);
        }
    }
    black_box(sum);
}

/// What the list does while the pages are hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// The pool has never evicted a page, so by InnoDB's rule no access moves one.
    AtRest,
    /// Pages have been evicted, so every access is judged.
    Judging,
}

/// A pool that holds pages 0 to before `pages` of tablespace 1.
fn full_pool(
    pages: u32,
    translation: Translation,
    list: List,
    clock: Clock,
) -> Result<Pool, Failure> {
    // One frame more, for the pages that are thrown out again.
    let size_bytes = u64::from(pages + 1) * PAGE_BYTES as u64;
    let options = PoolOptions {
        size_bytes,
        size_max_bytes: size_bytes,
        translation,
        promotion: Promotion::Batched,
        background: Background::Manual,
        read_ahead: ReadAheadSettings::OFF,
        clock: clock.clone(),
        ..PoolOptions::default()
    };
    let pool =
        Pool::new(options, Arc::new(MadeStore), Arc::new(NoLog::new()), Arc::new(PlainPages))?;
    for page_no in 0..pages {
        pool.get_shared(PageId::new(1, page_no), Hint::Normal)?;
    }
    if list == List::Judging {
        (0..EVICTED).try_for_each(|page_no| pass_through(&pool, page_no))?;
        // An old page is made young by an access that comes a second after its first.
        match &clock {
            Clock::System => std::thread::sleep(Duration::from_millis(1100)),
            Clock::Manual(clock) => clock.set(Time::from_millis(1100)),
        }
        for page_no in 0..pages.min(2 * HOT_PAGES) {
            pool.get_shared(PageId::new(1, page_no), Hint::Normal)?;
        }
        // Who takes a frame carries out the promotions that were noted.
        pass_through(&pool, EVICTED)?;
    }
    Ok(pool)
}

/// Brings a page into the pool and throws it out again, which to the list is an eviction.
fn pass_through(pool: &Pool, page_no: u32) -> Result<(), Failure> {
    let page = PageId::new(2, page_no);
    drop(pool.get_shared(page, Hint::Normal)?);
    Ok(pool.discard(page)?)
}

/// Three ways to a page, all with the same pages.
struct Rivals {
    array: Pool,
    sharded: Pool,
    bare: BareTable,
}

/// Nanoseconds a get in each, and in the loop without any.
struct Compared {
    loop_alone: Figures,
    array: Figures,
    sharded: Figures,
    bare: Figures,
}

impl Rivals {
    fn new(pages: u32, list: List) -> Result<Rivals, Failure> {
        let array = full_pool(pages, Translation::Array, list, Clock::System)?;
        let sharded = full_pool(pages, Translation::Sharded, list, Clock::System)?;
        Ok(Rivals { array, sharded, bare: BareTable::new(pages) })
    }

    fn measure(&self, settings: &Settings, threads: usize, gets: u32, shape: Shape) -> Compared {
        let gets = settings.scaled(gets);
        // Every repeat draws other pages, or it would find the last one's in the cache.
        let seed = Cell::new(0);
        let next = || seed.replace(seed.get() + 1);
        let [loop_alone, array, sharded, bare] = in_turn(
            settings.repeats,
            [
                &mut || nanos(&Nothing, threads, gets, shape, next()),
                &mut || nanos(&self.array, threads, gets, shape, next()),
                &mut || nanos(&self.sharded, threads, gets, shape, next()),
                &mut || nanos(&self.bare, threads, gets, shape, next()),
            ],
        );
        Compared { loop_alone, array, sharded, bare }
    }
}

impl Compared {
    /// The rows, with an aim for a hit, and one for the ratio to the bare table.
    fn section(
        &self,
        title: String,
        mode: &str,
        hit: Option<Aim>,
        to_bare: Option<Aim>,
    ) -> Section {
        let Compared { loop_alone, array, sharded, bare } = self;
        let mut section = Section::new(title, mode);
        section.row(Row::new("pool", array, "ns").aim(hit));
        section.row(Row::new("pool with a sharded table", sharded, "ns"));
        section.row(Row::new("bare sharded table", bare, "ns"));
        section.row(Row::new("the loop, part of each above", loop_alone, "ns"));
        section.row(Row::ratio("pool / sharded table", array, sharded).aim(FASTER));
        section.row(Row::ratio("pool / bare table", array, bare).aim(to_bare));
        section
    }

    /// Twice one thread's rate would be 2.
    fn scaling(&self, alone: &Compared) -> Row {
        let both = alone.array.ratio_to(&self.array).map(|ratio| 2.0 * ratio);
        Row::new("2 threads do, of 1", &both, "x")
    }
}

/// The rows of a hot set.
pub(crate) fn hot(settings: &Settings) -> Result<Vec<Section>, Failure> {
    const GETS: u32 = 8_000_000;
    let rivals = Rivals::new(8192, List::Judging)?;
    let shape = Shape { first: 0, pages: HOT_PAGES, apart: false, words: 1, chained: false };
    let apart = Shape { apart: true, ..shape };
    let one = rivals.measure(settings, 1, GETS, shape);
    let two_apart = rivals.measure(settings, 2, GETS, apart);
    let two_shared = rivals.measure(settings, 2, GETS, shape);
    let mode = "ns: get, read 8 bytes, drop.  Batched promotion, every get is judged";
    let title = |what| format!("1. Hits on {HOT_PAGES} hot pages, {what}");
    let mut sections = vec![one.section(title("1 thread"), mode, Some(Aim::Below(30.0)), FASTER)];
    let mut section = two_apart.section(title("2 threads, each its own pages"), mode, None, FASTER);
    section.row(two_apart.scaling(&one).aim(Aim::AtLeast(1.9)));
    sections.push(section);
    let mut section = two_shared.section(title("2 threads, the same pages"), mode, None, FASTER);
    section.row(two_shared.scaling(&one));
    section.note("A pin writes to the page's descriptor, so the processors pass its line around.");
    sections.push(section);
    Ok(sections)
}

/// The rows of a working set of four times the last-level cache.
pub(crate) fn wide(settings: &Settings) -> Result<Vec<Section>, Failure> {
    const GETS: u32 = 2_000_000;
    let pages = settings.wide_pages;
    let shape = Shape { first: 0, pages, apart: false, words: PAGE_WORDS, chained: false };
    let size = format!("{} MiB", mib(pages.into()));
    let mut sections = Vec::new();
    let rivals = Rivals::new(pages, List::AtRest)?;
    let mode = "ns: get, read 8 bytes anywhere in it, drop.  No eviction yet, so nothing moves";
    let one = rivals.measure(settings, 1, GETS, shape);
    let two = rivals.measure(settings, 2, GETS, shape);
    sections.push(one.section(format!("1. Hits all over {size}, 1 thread"), mode, None, FASTER));
    let mut section =
        two.section(format!("1. Hits all over {size}, 2 threads"), mode, None, FASTER);
    section.row(two.scaling(&one).aim(Aim::AtLeast(1.9)));
    sections.push(section);
    let mode = "ns: as above, but each page is known only when the one before has been read";
    let chained = rivals.measure(settings, 1, GETS, Shape { chained: true, ..shape });
    sections.push(chained.section(
        format!("1. Hits all over {size}, 1 thread, chained"),
        mode,
        None,
        FASTER,
    ));
    drop(rivals);
    let rivals = Rivals::new(pages, List::Judging)?;
    // The bare table has no list to keep, so it is shown and not competed with.
    let mode = "ns: as above.  Batched promotion; 3 in 8 hits find an old page and promote it";
    let moving = rivals.measure(settings, 1, GETS, shape);
    sections.push(moving.section(
        format!("1. Hits all over {size}, list moving"),
        mode,
        None,
        None,
    ));
    Ok(sections)
}

/// Does `gets` hits on a hot set, for a tool that counts instructions. The pool has evicted, so every get is judged.
pub(crate) fn count_instructions(gets: u32) -> Result<(), Failure> {
    // Under valgrind the system's clock cannot be found; a young page is judged without one anyway.
    let clock = Clock::Manual(ManualClock::new());
    let pool = full_pool(1024, Translation::Array, List::Judging, clock)?;
    let mut sum = 0_u64;
    for get in 0..gets {
        sum = sum.wrapping_add(pool.read(PageId::new(1, get % HOT_PAGES), 0));
    }
    black_box(sum);
    Ok(())
}
