//! A first look at a window, at the recorded size: what every replay at another size is told of its pages.
//!
//! For each page: whether it was in the pool at the start, the event that showed it first, and how often
//! it is accessed as far as that can be seen. For the whole: how deep below the pool's end the pages lie
//! that are read again, and how many events and evictions there were.

use innopool_policy::PageId;
use innopool_policy::promotion::young_window_pages;
use innopool_recording::EventKind;

use crate::hash::PageMap;
use crate::replay::{SLICES, slice_of};
use crate::room::Pools;
use crate::window::Window;

/// The event that showed a page first.
pub(crate) const RESIDENT: u32 = u32::MAX;

/// What is known of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFacts {
    /// Number of the event that showed it first; [`RESIDENT`] when it was there at the start.
    pub(crate) first: u32,
    /// Accesses seen.
    pub(crate) accesses: u32,
    /// Evictions during which an access to it would not have been seen.
    pub(crate) hidden: f32,
}

/// What is known of a window.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) pages: PageMap<PageFacts>,
    /// Evictions of the server for which a page put at the head shows no access.
    pub(crate) hidden_evictions: u64,
    /// Arrivals after which a read page that is still there has waited long enough to be moved: until then
    /// no access to it shows either.
    pub(crate) hidden_after_read: u64,
    /// Arrivals within `innodb_old_blocks_time`.
    pub(crate) arrivals_per_wait: f64,
    rushed: bool,
    /// Pages that came in, each of which pushed one out if the pool was full.
    pub(crate) arrivals: u64,
    pub(crate) demand_reads: u64,
    pub(crate) ahead_reads: u64,
    pub(crate) created: u64,
    pub(crate) moves: u64,
    pub(crate) gets: u64,
}

impl Survey {
    pub(crate) fn of(window: &Window, pools: &Pools) -> Survey {
        let config = pools.recorded();
        let mut survey = Survey {
            pages: PageMap::default(),
            hidden_evictions: young_window_pages(&config.rules.list, config.size_pages),
            hidden_after_read: 0,
            arrivals_per_wait: 0.0,
            rushed: false,
            arrivals: 0,
            demand_reads: 0,
            ahead_reads: 0,
            created: 0,
            moves: 0,
            gets: 0,
        };
        for &page in window.residents.iter().flatten() {
            survey.pages.insert(page, PageFacts { first: RESIDENT, accesses: 0, hidden: 0.0 });
        }
        let arrivals = window.events.iter().filter(|event| arrives(event.kind)).count() as u64;
        let per_second = arrivals as f64 / window.seconds().max(1e-6);
        let wait = per_second * config.rules.list.old_blocks_time.as_secs_f64();
        // A page that is not accessed again in time is gone at the end of the old sublist, and read again.
        let frames = config.size_pages.saturating_sub(config.misc_pages);
        let old = config.rules.list.desired_old_pages(frames);
        survey.hidden_after_read = crate::room::to_pages(wait).min(old);
        survey.arrivals_per_wait = wait;
        survey.rushed = wait > old as f64;
        for (number, event) in window.events.iter().enumerate() {
            survey.take(number, event.page, event.kind, arrivals);
        }
        survey
    }

    fn take(&mut self, number: usize, page: PageId, kind: EventKind, arrivals: u64) {
        let first = u32::try_from(number).unwrap_or(RESIDENT - 1);
        let facts = self.pages.entry(page).or_insert(PageFacts { first, accesses: 0, hidden: 0.0 });
        let counter = match kind {
            EventKind::DemandRead => &mut self.demand_reads,
            EventKind::AheadRead => &mut self.ahead_reads,
            EventKind::Created => &mut self.created,
            EventKind::MadeYoung => &mut self.moves,
            EventKind::Get(_) => &mut self.gets,
        };
        *counter += 1;
        let hidden = match kind {
            EventKind::Get(_) => 0,
            EventKind::DemandRead | EventKind::AheadRead => self.hidden_after_read,
            EventKind::Created | EventKind::MadeYoung => self.hidden_evictions,
        };
        facts.accesses += 1;
        facts.hidden += hidden.min(arrivals.saturating_sub(self.arrivals)) as f32;
        self.arrivals += u64::from(arrives(kind));
    }

    /// Whether event `number` is the first sight of its page.
    pub(crate) fn is_first_sight(&self, page: PageId, number: usize) -> bool {
        self.pages.get(&page).is_some_and(|facts| facts.first as usize == number)
    }

    /// Whether pages leave the old sublist sooner than `innodb_old_blocks_time` lets them be promoted.
    pub(crate) fn is_rushed(&self) -> bool {
        self.rushed
    }

    /// Accesses to `page` for each eviction of the server, as far as they can be seen.
    pub(crate) fn access_rate(&self, page: PageId) -> f64 {
        let Some(facts) = self.pages.get(&page) else { return 0.0 };
        let watched = (self.arrivals as f64 - f64::from(facts.hidden)).max(1.0);
        f64::from(facts.accesses) / watched.max(self.hidden_evictions as f64 * WATCHED_SHARE_MIN)
    }

    /// Pages put at the head for each page that came in by a read.
    pub(crate) fn heads_per_read(&self) -> f64 {
        let reads = (self.demand_reads + self.ahead_reads).max(1) as f64;
        (self.moves + self.created) as f64 / reads
    }
}

/// A page that was almost always hidden is not taken to be accessed without end.
const WATCHED_SHARE_MIN: f64 = 0.05;

/// Whether the event brings a page into the pool.
pub(crate) fn arrives(kind: EventKind) -> bool {
    matches!(kind, EventKind::DemandRead | EventKind::AheadRead | EventKind::Created)
}

/// Demand reads that were recorded, by slice of the window.
pub(crate) fn reads_by_slice(window: &Window) -> Vec<u64> {
    let mut slices = vec![0; SLICES];
    for event in window.events.iter().filter(|event| event.kind == EventKind::DemandRead) {
        slices[slice_of(event.time, window.duration)] += 1;
    }
    slices
}
