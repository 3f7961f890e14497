//! Bounds from repeated looks at the list.
//!
//! Two looks differ by the pages that came and those that went. If few turned over between them, the pages that came
//! are the reads: their share of the server's own count is the **coverage**, and below 95 % nothing is
//! said, for then pages came and went unseen. A page that came back after having gone would have stayed in
//! a larger pool, if not more pages went in between than that has more. That is a lower bound of what the larger pool saves:
//! it would also have promoted more. Of smaller pools nothing can be told: which pages of the cold part are asked for
//! does not show.

use innopool_policy::PageId;
use innopool_recording::{Counters, Provenance};

use crate::estimate::Reads;
use crate::hash::{PageMap, PageSet};
use crate::question::Question;
use crate::room::{Pools, Room};
use crate::survival::Ghosts;
use crate::told::{Told, UNKNOWN, measured_reads};
use crate::window::Window;

const COVERAGE_MIN: f64 = 0.95;

/// What was seen so far.
pub(crate) struct Seen<'a> {
    provenance: &'a Provenance,
    before: Option<Look>,
    gone: PageMap<u64>,
    ghosts: Ghosts,
}

struct Look {
    unix_us: u64,
    counters: Counters,
    pages: PageSet,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(provenance: &'a Provenance) -> Seen<'a> {
        Seen { provenance, before: None, gone: PageMap::default(), ghosts: Ghosts::new() }
    }

    /// Takes the next look, and tells what happened since the one before; a first look has no duration.
    pub(crate) fn tell(&mut self, window: Window, question: &Question, sizes: &[u64]) -> Told {
        let pages: PageSet = window.residents.iter().flatten().copied().collect();
        let look = Look { unix_us: window.unix_us, counters: window.first.clone(), pages };
        let before = self.before.replace(look);
        let (Some(before), Some(now)) = (before, &self.before) else {
            return empty(&window, sizes);
        };
        let between = Window {
            unix_us: before.unix_us,
            first: before.counters,
            last: now.counters.clone(),
            ..Window::begin_at(before.unix_us, now.unix_us)
        };
        let came: Vec<PageId> = now.pages.difference(&before.pages).copied().collect();
        let went: Vec<PageId> = before.pages.difference(&now.pages).copied().collect();
        let mut depths = Vec::new();
        for page in &came {
            if let Some(number) = self.gone.remove(page) {
                depths.push(self.ghosts.back(number));
            }
        }
        for page in went {
            self.gone.insert(page, self.ghosts.evict());
        }
        let room = Room::of(&window, &self.provenance.pool);
        let pools = Pools::new(self.provenance, question, room);
        self.bounds(&between, &pools, sizes, came.len(), &depths)
    }

    fn bounds(
        &self,
        between: &Window,
        pools: &Pools,
        sizes: &[u64],
        came: usize,
        depths: &[u64],
    ) -> Told {
        let mut told = empty(between, sizes);
        let read = between.rise(|c| c.pages_read).unwrap_or(0);
        let coverage = came as f64 / read.max(1) as f64;
        let measured = measured_reads(between).unwrap_or(read);
        told.measured = measured;
        let covered = coverage >= COVERAGE_MIN;
        if !covered {
            told.remarks.push(
                "Between some looks more pages came and went than the looks show: they were too far apart to tell \
                 anything of that time."
                    .to_owned(),
            );
        }
        let recorded = self.provenance.pool.size_bytes;
        let capacity = pools.capacity_pages(recorded);
        let all = measured as f64;
        told.reads = sizes
            .iter()
            .map(|&size| {
                if size == recorded {
                    return Reads { likely: Some(all), low: Some(all), high: Some(all) };
                }
                if size < recorded {
                    return Reads { likely: None, low: Some(all), high: None };
                }
                let more = pools.capacity_pages(size).saturating_sub(capacity);
                let spared = depths.iter().filter(|&&depth| depth < more).count() as f64;
                let share = if covered { spared / came.max(1) as f64 } else { 0.0 };
                Reads { likely: None, low: Some(0.0), high: Some(all * (1.0 - share)) }
            })
            .collect();
        told
    }
}

fn empty(window: &Window, sizes: &[u64]) -> Told {
    Told {
        started_unix_us: window.unix_us,
        seconds: window.seconds(),
        events: 0,
        lost_events: 0,
        transactions: window.rise(|c| c.transactions),
        read_requests: window.rise(|c| c.read_requests),
        read_time_ps: window.rise(|c| c.data_read_time_ps),
        timed_reads: window.rise(|c| c.data_reads),
        statement_time_ps: window.rise(|c| c.statement_time_ps),
        measured: 0,
        replayed: None,
        reads: vec![UNKNOWN; sizes.len()],
        remarks: Vec::new(),
    }
}
