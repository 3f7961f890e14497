//! A pool that predicts what a real server's pool does, from the requests for pages alone.
//!
//! It starts where the server stands in the middle of its life ([`start`]), and is then told which
//! page is asked for, when and in which way ([`foresee`]). What is read, what moves and
//! what is evicted is its own doing. At the end it is held against the server ([`Prediction::held`]).

mod edits;
mod inputs;

use std::collections::HashMap;
use std::io::Write as _;

use innopool_policy::read_ahead::Links;
use innopool_policy::replay::{BufferPool, LruRow, PoolConfig, RowOrder};
use innopool_policy::{PageId, Time};
use innopool_testkit::page_events::{self, Kind, PoolStats, Recording};

pub(crate) use edits::edit_distance;
pub(crate) use inputs::{Foreseen, Inputs, Teller};

/// The server's pool at a quiet moment.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) stats: PoolStats,
    /// The list, from its tail.
    pub(crate) list: Vec<page_events::LruRow>,
}

/// What a server did between two quiet moments.
pub(crate) struct Life {
    pub(crate) before: Moment,
    pub(crate) recording: Recording,
    pub(crate) after: Moment,
}

const TURNOVERS_MIN: f64 = 5.0;
const AGREEMENT_MIN: f64 = 0.99;

/// A difference that is no difference, where there is little to count.
const FEW: u64 = 8;

pub(crate) fn id(page: page_events::PageId) -> PageId {
    PageId::new(page.space, page.page_no)
}

/// How far the server's stamps reach: 32 bits of milliseconds.
const STAMP_MS: u64 = 1 << 32;

/// Turns a stamp into the last such time up to `now`.
fn first_access(stamp_ms: u64, now: Time) -> Option<Time> {
    let age_ms = now.millis().wrapping_sub(stamp_ms) % STAMP_MS;
    (stamp_ms != 0).then(|| Time::from_millis(now.millis().saturating_sub(age_ms)))
}

/// Returns a pool that stands where the server stood before.
pub(crate) fn start(life: &Life, config: PoolConfig) -> BufferPool {
    let Moment { stats, list } = &life.before;
    let misc_pages = stats.pages_total - stats.pages_free - stats.pages_data;
    let config = PoolConfig { size_pages: stats.pages_total, misc_pages, ..config };
    let mut pool = BufferPool::new(config).unwrap();
    let now = Time::from_micros(life.recording.events[0].time_us);
    let rows: Vec<LruRow> = list
        .iter()
        .map(|row| LruRow {
            page: id(row.page),
            is_old: row.is_old,
            first_access: first_access(row.access_time_ms, now),
            freed_page_clock: row.freed_page_clock,
            is_dirty: row.oldest_modification != 0,
        })
        .collect();
    let report = pool.import(&rows, RowOrder::ColdFirst);
    assert_eq!((report.placed, report.marks_changed), (stats.pages_data, 0), "{report:?}");
    pool.set_freed_page_clock(0, life.clocks().0);
    pool
}

impl Life {
    /// Returns the eviction clock before the recording and after it, as the list's changes say.
    pub(crate) fn clocks(&self) -> (u64, u64) {
        let mut clocks = self.recording.events.iter().filter_map(|event| match event.kind {
            Kind::MakeYoung { list, .. } | Kind::MakeOld { list, .. } => {
                Some((list.freed_page_clock, list.freed_page_clock))
            }
            Kind::Remove { list, .. } => Some((list.freed_page_clock, list.freed_page_clock + 1)),
            _ => None,
        });
        let (first, after_first) = clocks.next().unwrap();
        (first, clocks.next_back().map_or(after_first, |(_, after)| after))
    }
}

/// A pool that has foreseen a server's life.
pub(crate) struct Prediction {
    pub(crate) pool: BufferPool,
    pub(crate) inputs: Inputs,
    pub(crate) foreseen: Foreseen,
}

/// What is known of the files, for read-ahead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// Pages of each tablespace.
    pub(crate) pages: Vec<(u32, u32)>,
    /// The links of pages to their siblings. A page without is taken to lie in the order of its keys.
    pub(crate) links: HashMap<PageId, Links>,
}

/// Foresees what the server did.
pub(crate) fn foresee(life: &Life, config: PoolConfig, files: &Files) -> Prediction {
    let mut pool = start(life, config);
    for &(space, pages) in &files.pages {
        pool.set_file_pages(space, pages);
    }
    let mut teller = Teller::new(pool, &life.recording, files.links.clone());
    for event in inputs::in_order(&life.recording.events) {
        teller.tell(&event);
    }
    let (pool, inputs, foreseen) = teller.end();
    pool.assert_consistent();
    Prediction { pool, inputs, foreseen }
}

/// What came of a prediction.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) gets: u64,
    pub(crate) unseen_gets: u64,
    pub(crate) turnovers: f64,
    /// 1 less the edits that turn one list into the other, per page.
    pub(crate) order: f64,
    /// The share of the server's pages that we hold with the same mark of old.
    pub(crate) old_marks: f64,
    /// Ours and the server's.
    pub(crate) made_young: (u64, u64),
    pub(crate) not_made_young: (u64, u64),
    pub(crate) evicted: (u64, u64),
    pub(crate) demand_reads: (u64, u64),
    pub(crate) read_ahead: (u64, u64),
    /// Pages in the young part that were never put at the head: the boundary went past them.
    pub(crate) drifted: (u64, u64),
    /// The same, of the server before.
    pub(crate) drifted_before: u64,
    /// Events that came as foreseen, and all of that kind.
    pub(crate) moves: (u64, u64),
    pub(crate) reads: (u64, u64),
}

impl Prediction {
    /// Holds the prediction against what the server says.
    pub(crate) fn held(&self, life: &Life) -> Held {
        let (before, after) = (&life.before.stats, &life.after.stats);
        let ours: Vec<LruRow> = self.pool.export(0).collect();
        let our_pages: Vec<PageId> = ours.iter().map(|row| row.page).collect();
        let theirs = life.after.list.iter().rev();
        let their_pages: Vec<PageId> = theirs.map(|row| id(row.page)).collect();
        let edits = edit_distance(&our_pages, &their_pages);
        let marks: HashMap<PageId, bool> = ours.iter().map(|row| (row.page, row.is_old)).collect();
        let same_marks =
            life.after.list.iter().filter(|row| marks.get(&id(row.page)) == Some(&row.is_old));
        let (clock_before, clock_after) = life.clocks();
        let gets = after.gets - before.gets;
        let stats = self.pool.stats();
        let drifted = |is_old: bool, clock: u64| u64::from(!is_old && clock == 0);
        let ours_drifted = ours.iter().map(|row| drifted(row.is_old, row.freed_page_clock)).sum();
        let theirs_drifted = |moment: &Moment| {
            moment.list.iter().map(|row| drifted(row.is_old, row.freed_page_clock)).sum()
        };
        let Foreseen { decisions, reads, reads_unforeseen, .. } = self.foreseen;
        Held {
            gets,
            unseen_gets: gets.abs_diff(life.recording.counted_gets()),
            turnovers: ratio(clock_after - clock_before, after.pages_total),
            order: 1.0 - ratio(edits as u64, after.pages_data),
            old_marks: ratio(same_marks.count() as u64, after.pages_data),
            made_young: (stats.made_young, after.made_young - before.made_young),
            not_made_young: (stats.not_made_young, after.not_made_young - before.not_made_young),
            evicted: (stats.evicted + stats.dropped, clock_after - clock_before),
            demand_reads: (stats.demand_reads, after.reads - before.reads),
            read_ahead: (stats.read_ahead, after.pages_read_ahead - before.pages_read_ahead),
            drifted: (ours_drifted, theirs_drifted(&life.after)),
            drifted_before: theirs_drifted(&life.before),
            moves: (
                decisions.moves_agreed,
                decisions.moves_agreed + decisions.moves_unforeseen + decisions.moves_of_absent,
            ),
            reads: (
                reads + self.foreseen.read_ahead,
                reads
                    + self.foreseen.read_ahead
                    + reads_unforeseen
                    + self.foreseen.read_ahead_unforeseen,
            ),
        }
    }
}

pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

impl Held {
    /// Writes one line past the test harness, which would keep it to itself: the gate's log is to show it.
    pub(crate) fn print(&self, workload: &str, inputs: &Inputs) {
        let pair = |(ours, theirs): (u64, u64)| format!("{ours}/{theirs}");
        let _ = writeln!(
            std::io::stderr(),
            "{workload}: {} gets ({} unseen), {:.1} turnovers; order {:.4}, old marks {:.4}; \
             ours/server: made young {}, not young {}, evicted {}, demand reads {}, read ahead {}, \
             drifted into the young part {} (before: {}); foreseen: moves {}, reads {}; {inputs}",
            self.gets,
            self.unseen_gets,
            self.turnovers,
            self.order,
            self.old_marks,
            pair(self.made_young),
            pair(self.not_made_young),
            pair(self.evicted),
            pair(self.demand_reads),
            pair(self.read_ahead),
            pair(self.drifted),
            self.drifted_before,
            pair(self.moves),
            pair(self.reads),
        );
    }

    /// Whether the lists agree as far as is asked.
    pub(crate) fn agrees(&self) -> bool {
        self.order >= AGREEMENT_MIN && self.old_marks >= AGREEMENT_MIN
    }

    /// Checks what must hold of every workload.
    pub(crate) fn check(&self) {
        assert!(self.turnovers >= TURNOVERS_MIN, "{self:?}");
        assert!(self.unseen_gets * 100 <= self.gets, "{self:?}");
        assert!(self.agrees(), "{self:?}");
        let counters = [self.made_young, self.not_made_young, self.evicted, self.demand_reads];
        for (ours, theirs) in counters.into_iter().chain([self.read_ahead]) {
            let allowed = (theirs / 100).max(FEW);
            assert!(ours.abs_diff(theirs) <= allowed, "{ours} {theirs} {self:?}");
        }
        let (foreseen, all) = self.reads;
        assert!((all - foreseen) * 100 <= all, "{self:?}");
    }
}
