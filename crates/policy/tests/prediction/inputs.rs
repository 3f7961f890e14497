//! What a predicting pool is told of a recording, and what it is not.
//!
//! Told: every request for a page, with its time and its way, and every page created. Beside them, and
//! counted, what no request causes: pages dropped with their tables, pages written or evicted by the
//! page cleaner, and read-ahead where it is not itself the subject. Not told, but compared: which page
//! is read on demand, which moves, which is evicted.
//!
//! A request is told when it was made; one that read its page, when the page entered the list, and one
//! that moved it, when it moved: before that, other sessions may have changed the list. That is a matter
//! of order and time alone: whether there is anything to read or to move, the pool says.

use std::collections::{HashMap, HashSet};
use std::fmt;

use innopool_policy::fetch::Fetch;
use innopool_policy::read_ahead::Links;
use innopool_policy::replay::{Agreement, BufferPool, Follower, Following, Found, Source};
use innopool_policy::{PageId, Time};
use innopool_testkit::page_events::{FetchMode, Kind, PageEvent, Recording};

use super::id;

/// What was told besides requests and creations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inputs {
    /// Pages dropped.
    pub(crate) dropped: u64,
    /// Pages evicted by the page cleaner.
    pub(crate) by_cleaner: u64,
    /// Pages read ahead.
    pub(crate) read_ahead: u64,
}

impl fmt::Display for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inputs { dropped, by_cleaner, read_ahead } = self;
        write!(f, "told: {dropped} dropped, {by_cleaner} by cleaner, {read_ahead} read ahead")
    }
}

/// How often, event by event, the server did what was foreseen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Foreseen {
    /// Moves and evictions.
    pub(crate) decisions: Agreement,
    /// Reads on demand that both did.
    pub(crate) reads: u64,
    /// Reads on demand that the server alone did.
    pub(crate) reads_unforeseen: u64,
    /// Pages that both read ahead.
    pub(crate) read_ahead: u64,
    /// Pages that the server alone read ahead.
    pub(crate) read_ahead_unforeseen: u64,
}

/// A pool that is told of a recording.
pub(crate) struct Teller {
    follower: Follower,
    foresees_read_ahead: bool,
    /// The threads that write pages and evict ahead of need.
    cleaners: HashSet<u32>,
    /// For each thread, the page it looked at last, if it may evict it.
    leaving: HashMap<u32, PageId>,
    /// The links of pages to their siblings, where they are known.
    links: HashMap<PageId, Links>,
    /// Pages that we read and the server has not yet.
    read: HashSet<PageId>,
    inputs: Inputs,
    foreseen: Foreseen,
}

fn fetch(mode: FetchMode) -> Fetch {
    match mode {
        FetchMode::Normal => Fetch::Normal,
        FetchMode::Scan => Fetch::Scan,
        FetchMode::IfInPool => Fetch::IfInPool,
        FetchMode::PeekIfInPool => Fetch::PeekIfInPool,
        FetchMode::NoLatch => Fetch::NoLatch,
        FetchMode::IfInPoolOrWatch => Fetch::IfInPoolOrWatch,
        FetchMode::PossiblyFreed => Fetch::PossiblyFreed,
        FetchMode::PossiblyFreedNoReadAhead => Fetch::PossiblyFreedNoReadAhead,
        FetchMode::Other(number) => panic!("the server knows a fetch mode {number}"),
    }
}

/// Returns the events in the order in which they are told.
pub(crate) fn in_order(events: &[PageEvent]) -> Vec<PageEvent> {
    let mut told: Vec<(usize, PageEvent)> = events.iter().copied().enumerate().collect();
    // For each thread, its last get and what it read for it.
    let mut last: HashMap<u32, (usize, Option<usize>)> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        match event.kind {
            Kind::Get { .. } | Kind::OptimisticGet { .. } => {
                last.insert(event.thread, (index, None));
            }
            Kind::MakeYoung { .. } => {
                if let Some((get, None)) = last.remove(&event.thread) {
                    told[get] = (index, PageEvent { time_us: event.time_us, ..events[get] });
                }
            }
            Kind::Read { is_sync: true, .. } => {
                if let Some((_, read)) = last.get_mut(&event.thread) {
                    *read = Some(index);
                }
            }
            Kind::Add { .. } => {
                if let Some((get, Some(read))) = last.remove(&event.thread) {
                    told[get] = (index, PageEvent { time_us: event.time_us, ..events[get] });
                    told[read].0 = index;
                }
            }
            _ => {}
        }
    }
    // What comes to the same place keeps its order.
    told.sort_by_key(|&(place, _)| place);
    told.into_iter().map(|(_, event)| event).collect()
}

impl Teller {
    pub(crate) fn new(
        pool: BufferPool,
        recording: &Recording,
        links: HashMap<PageId, Links>,
    ) -> Teller {
        let cleaners = recording.threads.iter().filter(|(_, name)| name.starts_with("ib_pg_flush"));
        let foresees_read_ahead = pool.config().read_ahead.threshold > 0;
        let following = Following { moves: Source::Policy, evictions: Source::Policy };
        Teller {
            follower: Follower::new(pool, following),
            foresees_read_ahead,
            cleaners: cleaners.map(|(&thread, _)| thread).collect(),
            leaving: HashMap::new(),
            links,
            read: HashSet::new(),
            inputs: Inputs::default(),
            foreseen: Foreseen::default(),
        }
    }

    pub(crate) fn tell(&mut self, event: &PageEvent) {
        let (page, now) = (id(event.page), Time::from_micros(event.time_us));
        match event.kind {
            Kind::Get { mode } => self.get(page, fetch(mode), now),
            // A frame that we have not any more cannot be remembered: the page is asked for.
            Kind::OptimisticGet { mode, succeeded } => {
                if succeeded || self.follower.pool().contains(page) {
                    self.get(page, fetch(mode), now);
                }
            }
            Kind::KnownGet { succeeded, .. } | Kind::TryGet { succeeded } => {
                assert!(!succeeded, "a get without a move, which nothing here makes: {event:?}");
            }
            Kind::GetZip | Kind::MakeOld { .. } => panic!("no workload here does {event:?}"),
            Kind::Create => {
                self.follower.pool_mut().create(page, now).unwrap();
            }
            Kind::Read { is_sync, was_posted } => {
                if was_posted {
                    self.was_read(page, is_sync);
                }
            }
            Kind::MakeYoung { .. } => self.follower.moved_young(page),
            Kind::Candidate { is_replaceable } => {
                self.leaving.remove(&event.thread);
                if is_replaceable {
                    self.leaving.insert(event.thread, page);
                }
            }
            Kind::Remove { .. } => self.left(event.thread, page),
            Kind::LinearCheck | Kind::RandomCheck | Kind::Add { .. } => {}
        }
    }

    fn get(&mut self, page: PageId, fetch: Fetch, now: Time) {
        let links = self.links.get(&page).copied().unwrap_or(Links::sequential(page));
        let outcome = self.follower.got_linked(page, fetch, links, now).unwrap();
        if outcome.found == Found::Read {
            self.read.insert(page);
        }
        if let Some(ahead) = outcome.linear {
            self.read.extend(ahead.area.pages());
        }
    }

    fn was_read(&mut self, page: PageId, is_sync: bool) {
        if !is_sync && !self.foresees_read_ahead {
            self.inputs.read_ahead += self.follower.pool_mut().read_ahead([page]).unwrap();
            return;
        }
        let was_foreseen = self.read.remove(&page);
        let count = match (is_sync, was_foreseen) {
            (true, true) => &mut self.foreseen.reads,
            (true, false) => &mut self.foreseen.reads_unforeseen,
            (false, true) => &mut self.foreseen.read_ahead,
            (false, false) => &mut self.foreseen.read_ahead_unforeseen,
        };
        *count += 1;
    }

    fn left(&mut self, thread: u32, page: PageId) {
        if self.leaving.remove(&thread) != Some(page) {
            self.inputs.dropped += u64::from(self.follower.pool_mut().drop_page(page));
        } else if self.cleaners.contains(&thread) {
            self.inputs.by_cleaner += u64::from(self.follower.pool_mut().evict_page(page));
        } else {
            self.follower.evicted(page);
        }
    }

    /// Ends the recording.
    pub(crate) fn end(self) -> (BufferPool, Inputs, Foreseen) {
        let (pool, decisions) = self.follower.finish();
        (pool, self.inputs, Foreseen { decisions, ..self.foreseen })
    }
}
