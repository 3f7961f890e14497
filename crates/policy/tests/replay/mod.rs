//! The rules driven by a recording of a real server: every decision of theirs is held against the
//! server's at the moment at which the server made it.
//!
//! What comes from the server: which page is wanted, when and in which way; which pages could not
//! leave when they were looked at; and when somebody needs a frame. What must come out: where each
//! page stands in the list, which gets move their page, and which page is looked at for eviction.

mod first_access;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use first_access::FirstAccesses;
use innopool_policy::blocks::{BlockNo, BlockVec, Blocks};
use innopool_policy::fetch::Fetch;
use innopool_policy::list::{Cursor, Enter, LruList};
use innopool_policy::promotion::{self, PageRecency, PoolClock, Verdict};
use innopool_policy::rules::ListRules;
use innopool_policy::variant::VariantRules;
use innopool_policy::{PageId, Time};
use innopool_testkit::page_events::{
    FetchMode, Kind, ListState, LruRow, PageEvent, PageState, Recording,
};

/// How long after a get the server may stamp its page, on a machine that is busy with other tests.
const STAMP_DELAY_MAX: Duration = Duration::from_millis(500);

/// How far the clock of the recording may be behind the server's.
const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_millis(1);

/// How long before a verdict another thread's change of the list may still be under way: it is
/// recorded when it begins.
const CHANGE_US_MAX: u64 = 1_000;

/// A pool that follows a recording.
pub(crate) struct Replay {
    rules: VariantRules,
    size_pages: u64,
    list: LruList,
    blocks: BlockVec,
    at: HashMap<PageId, BlockNo>,
    frames: Vec<Option<Resident>>,
    free: Vec<BlockNo>,
    threads: HashMap<u32, Thread>,
    /// The threads that evict and write ahead of need.
    cleaners: HashSet<u32>,
    first_accesses: FirstAccesses,
    pub(crate) tally: Tally,
}

#[derive(Clone, Copy, Debug)]
struct Resident {
    page: PageId,
    first_access: Option<Time>,
    /// The first access as the server stamps it, if it ever says so.
    stamp: Option<Time>,
}

/// A get that waits for its page.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    page: PageId,
    may_move: bool,
    is_followed_by_random_check: bool,
    /// When the wait was over, if it is: the access comes before anything else the thread does.
    over: Option<Time>,
}

/// An access that may move its page.
#[derive(Clone, Copy, Debug)]
struct Judged {
    page: PageId,
    verdict: Verdict,
    at: Time,
}

/// What a thread of the server is about to do.
#[derive(Default)]
struct Thread {
    /// Pages that its gets wait for; the innermost is the last.
    waiting: Vec<Waiting>,
    /// Its last access that may move its page, and the verdict on it.
    judged: Option<Judged>,
    /// The page that must leave next, since it was looked at and may.
    leaving: Option<PageId>,
    /// Where its walk for an evictable page goes on, if it has begun one.
    walk: Option<Cursor>,
    /// When it last changed the list.
    changed_us: u64,
}

/// What was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) accesses: u64,
    pub(crate) made_young: u64,
    pub(crate) moved_while_young: u64,
    pub(crate) not_made_young: u64,
    /// Accesses that others overtook: between the get and the server's own verdict on it, time or
    /// another thread's evictions turned the verdict.
    pub(crate) overtaken: u64,
    pub(crate) walked: u64,
    pub(crate) evicted: u64,
    pub(crate) left_otherwise: u64,
}

/// A difference between the rules and the server.
#[derive(Debug)]
pub(crate) struct Difference(String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

type Outcome = Result<(), Difference>;

fn same<T: PartialEq + fmt::Debug>(what: &str, ours: T, theirs: T) -> Outcome {
    if ours == theirs {
        Ok(())
    } else {
        Err(Difference(format!("{what}: ours is {ours:?}, the server's {theirs:?}")))
    }
}

fn id(page: innopool_testkit::page_events::PageId) -> PageId {
    PageId::new(page.space, page.page_no)
}

fn time(event: &PageEvent) -> Time {
    Time::from_micros(event.time_us)
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

impl Replay {
    /// Starts with an empty pool of one instance.
    pub(crate) fn new(rules: VariantRules, size_pages: u64) -> Replay {
        let frames = usize::try_from(size_pages).unwrap();
        Replay {
            rules,
            size_pages,
            list: LruList::new(rules.list),
            blocks: BlockVec::new(frames),
            at: HashMap::new(),
            frames: vec![None; frames],
            free: (0..u32::try_from(frames).unwrap()).map(BlockNo).collect(),
            threads: HashMap::new(),
            cleaners: HashSet::new(),
            first_accesses: FirstAccesses::default(),
            tally: Tally::default(),
        }
    }

    /// Follows the recording to its end.
    ///
    /// # Errors
    ///
    /// At the first difference, with the events around it.
    pub(crate) fn follow(&mut self, recording: &Recording) -> Result<(), String> {
        let cleaners = recording.threads.iter().filter(|(_, name)| name.starts_with("ib_pg_flush"));
        self.cleaners = cleaners.map(|(&thread, _)| thread).collect();
        let events = recording.since_empty();
        self.first_accesses = FirstAccesses::of(events);
        let mut settings = recording.old_blocks_pct.iter().peekable();
        for (index, event) in events.iter().enumerate() {
            while let Some(setting) = settings.next_if(|set| set.time_us <= event.time_us) {
                let rules = self.list.rules().with_old_blocks_pct(setting.percent);
                self.set_list_rules(rules);
            }
            self.step(event).map_err(|difference| {
                let around = &events[index.saturating_sub(12)..(index + 3).min(events.len())];
                let lines: Vec<String> = around.iter().map(|event| format!("{event:?}")).collect();
                format!("event {index}, {event:?}: {difference}\n{}", lines.join("\n"))
            })?;
        }
        Ok(())
    }

    fn set_list_rules(&mut self, rules: ListRules) {
        self.rules.list = rules;
        self.list.set_rules(&mut self.blocks, rules);
    }

    fn step(&mut self, event: &PageEvent) -> Outcome {
        self.settle(event)?;
        let (page, thread) = (id(event.page), event.thread);
        if matches!(event.kind, Kind::Add { .. } | Kind::MakeYoung { .. } | Kind::Remove { .. }) {
            self.thread(thread).changed_us = event.time_us;
        }
        match event.kind {
            Kind::Get { mode } => self.get(event, fetch(mode), true),
            Kind::OptimisticGet { mode, .. } => self.get(event, fetch(mode), false),
            Kind::KnownGet { may_make_young, .. } => {
                if self.at.contains_key(&page) {
                    self.access(thread, time(event), page, may_make_young)?;
                }
                Ok(())
            }
            Kind::GetZip => Err(Difference("a compressed page".to_owned())),
            Kind::Add { is_old, .. } => self.enters(event, is_old),
            Kind::MakeYoung { page: state, list } => {
                self.moves(event)?;
                let block = self.is_as(page, state, list)?;
                let was_old = self.list.make_young(&mut self.blocks, block);
                self.tally.made_young += u64::from(was_old);
                self.tally.moved_while_young += u64::from(!was_old);
                Ok(())
            }
            Kind::Candidate { is_replaceable } => self.walk(thread, page, is_replaceable),
            Kind::Remove { page: state, list } => {
                let block = self.is_as(page, state, list)?;
                match self.thread(thread).leaving.take() {
                    Some(leaving) => {
                        same("the page that leaves", leaving, page)?;
                        self.tally.evicted += 1;
                    }
                    None => self.tally.left_otherwise += 1,
                }
                self.list.remove(&mut self.blocks, block);
                self.list.tick();
                self.at.remove(&page);
                self.frames[block.index()] = None;
                self.free.push(block);
                Ok(())
            }
            Kind::MakeOld { .. } => Err(Difference("a page made old".to_owned())),
            Kind::TryGet { .. }
            | Kind::Read { .. }
            | Kind::Create
            | Kind::LinearCheck
            | Kind::RandomCheck => Ok(()),
        }
    }

    fn thread(&mut self, number: u32) -> &mut Thread {
        self.threads.entry(number).or_default()
    }

    /// A get whose page had to be read accesses it once the read is done; a decided move is made
    /// before the thread does anything else.
    fn settle(&mut self, event: &PageEvent) -> Outcome {
        while let Some(get) = self.thread(event.thread).waiting.pop_if(|get| get.over.is_some()) {
            if let Some(now) = get.over.filter(|_| self.at.contains_key(&get.page)) {
                self.access(event.thread, now, get.page, get.may_move)?;
            }
        }
        let (page, waiting) = (id(event.page), &mut self.thread(event.thread).waiting);
        if let Some(get) = waiting.last_mut().filter(|get| get.page == page) {
            // A read that completes may need other pages; random read-ahead is thought of after that.
            let is_over = match event.kind {
                Kind::RandomCheck => true,
                Kind::Read { was_posted, .. } => !was_posted || !get.is_followed_by_random_check,
                _ => false,
            };
            if is_over {
                get.over = Some(time(event));
            }
        }
        let is_move = matches!(event.kind, Kind::MakeYoung { .. });
        let judged = self.thread(event.thread).judged.take_if(|_| !is_move);
        match judged {
            Some(judged) if judged.verdict == Verdict::MakeYoung => {
                // It did not move.
                self.overtaken(event, judged, |verdict| verdict != Verdict::MakeYoung)
            }
            _ => Ok(()),
        }
    }

    /// Accepts that the server judged otherwise than we did, if it had reason to: the verdict has
    /// turned since the get, or another thread was changing the list meanwhile.
    fn overtaken(
        &mut self,
        event: &PageEvent,
        judged: Judged,
        fits: impl Fn(Verdict) -> bool,
    ) -> Outcome {
        let has_turned = self.judge(judged.page, time(event)).is_none_or(fits);
        let since_us = judged.at.micros().saturating_sub(CHANGE_US_MAX);
        let is_contested = self
            .threads
            .iter()
            .any(|(&thread, state)| thread != event.thread && state.changed_us >= since_us);
        if !has_turned && !is_contested {
            return Err(Difference(format!("the server judges {judged:?} otherwise")));
        }
        self.tally.overtaken += 1;
        Ok(())
    }

    fn get(&mut self, event: &PageEvent, fetch: Fetch, reads: bool) -> Outcome {
        let effects = fetch.effects(self.rules.scan);
        let page = id(event.page);
        if self.at.contains_key(&page) {
            return self.access(event.thread, time(event), page, effects.promotes);
        }
        if reads && effects.reads {
            self.thread(event.thread).waiting.push(Waiting {
                page,
                may_move: effects.promotes,
                is_followed_by_random_check: effects.random_read_ahead,
                over: None,
            });
        }
        Ok(())
    }

    fn access(&mut self, thread: u32, now: Time, page: PageId, may_move: bool) -> Outcome {
        self.tally.accesses += 1;
        let block = self.at[&page];
        let Some(resident) = &mut self.frames[block.index()] else {
            return Err(Difference(format!("{page} is in an empty frame")));
        };
        if resident.first_access.is_none() {
            let stamp = resident.stamp.unwrap_or(now);
            resident.first_access = Some(stamp);
            // Which access is the first is for us to know; the server says when exactly it was.
            if stamp.since(now) > STAMP_DELAY_MAX || now.since(stamp) > CLOCK_DIFFERENCE_MAX {
                same("the first access", now, stamp)?;
            }
        }
        let verdict = self.judge(page, now).filter(|_| may_move);
        self.tally.not_made_young += u64::from(verdict == Some(Verdict::NotYoung));
        self.thread(thread).judged = verdict.map(|verdict| Judged { page, verdict, at: now });
        Ok(())
    }

    /// Says what an access to the page does now, if it is in the pool.
    fn judge(&self, page: PageId, now: Time) -> Option<Verdict> {
        let &block = self.at.get(&page)?;
        let recency = PageRecency {
            is_old: self.blocks.is_old(block),
            first_access: self.frames[block.index()]?.first_access,
            freed_page_clock: self.blocks.freed_page_clock(block),
        };
        let clock = PoolClock {
            freed_page_clock: self.list.freed_page_clock(),
            size_pages: self.size_pages,
        };
        Some(promotion::judge(&self.rules.list, recency, clock, now))
    }

    /// The server moves a page: because of the thread's last access, and nothing else.
    fn moves(&mut self, event: &PageEvent) -> Outcome {
        let page = id(event.page);
        let judged = self.thread(event.thread).judged.take();
        let Some(judged) = judged.filter(|judged| judged.page == page) else {
            return Err(Difference(format!("{page} moves, and the last access was {judged:?}")));
        };
        if judged.verdict != Verdict::MakeYoung {
            self.overtaken(event, judged, |verdict| verdict == Verdict::MakeYoung)?;
            let was_counted = judged.verdict == Verdict::NotYoung;
            self.tally.not_made_young -= u64::from(was_counted);
        }
        Ok(())
    }

    fn enters(&mut self, event: &PageEvent, is_old: bool) -> Outcome {
        let page = id(event.page);
        let Some(block) = self.free.pop() else {
            return Err(Difference("there is no free frame".to_owned()));
        };
        let stamp = self.first_accesses.next(page);
        let created = stamp.or(Some(time(event))).filter(|_| !is_old);
        self.frames[block.index()] = Some(Resident { page, first_access: created, stamp });
        same("pages of that name", self.at.insert(page, block), None)?;
        let enter = if is_old { Enter::Old } else { Enter::Young };
        self.list.insert(&mut self.blocks, block, enter);
        Ok(())
    }

    /// Checks that the list and the page are what the server says they are.
    fn is_as(
        &mut self,
        page: PageId,
        state: PageState,
        list: ListState,
    ) -> Result<BlockNo, Difference> {
        same("pages in the list", self.list.len_pages(), list.pages)?;
        same("old pages in the list", self.list.old_len_pages(), list.old_pages)?;
        same("the eviction clock", self.list.freed_page_clock(), list.freed_page_clock)?;
        let Some(&block) = self.at.get(&page) else {
            return Err(Difference(format!("{page} is not in our pool")));
        };
        same("whether the page is old", self.blocks.is_old(block), state.is_old)?;
        let clock = self.blocks.freed_page_clock(block);
        same("the page's clock", clock, state.freed_page_clock.into())?;
        let first = self.frames[block.index()].and_then(|resident| resident.first_access);
        let theirs = (state.access_time_ns != 0).then(|| first_access::time(state));
        same("the page's first access", first, theirs)?;
        Ok(block)
    }

    /// Somebody looks at a page to evict it: it must be the one that a walk of theirs comes to, either
    /// going on where the thread was, or begun anew.
    fn walk(&mut self, thread: u32, page: PageId, is_replaceable: bool) -> Outcome {
        self.tally.walked += 1;
        let block = self.at.get(&page).copied();
        let going_on = self.thread(thread).walk.filter(|&walk| self.list.cursor(walk) == block);
        let walk = match going_on {
            Some(walk) => walk,
            None if self.cleaners.contains(&thread) => self.begins(Cursor::Cleaner, block)?,
            None => self.begins(Cursor::Eviction, block)?,
        };
        let hotter = block.and_then(|block| self.blocks.prev(block));
        self.list.set_cursor(walk, hotter);
        let state = self.thread(thread);
        state.walk = Some(walk);
        state.leaving = Some(page).filter(|_| is_replaceable);
        Ok(())
    }

    /// Checks that a new walk begins at `block`.
    fn begins(&mut self, walk: Cursor, block: Option<BlockNo>) -> Result<Cursor, Difference> {
        let begin = match walk {
            Cursor::Eviction => self.list.resume_cursor(&self.blocks, walk),
            // Whoever writes begins at the tail.
            Cursor::Cleaner | Cursor::SinglePage | Cursor::Dump => self.list.tail(),
        };
        let page = |block: Option<BlockNo>| {
            block.and_then(|block| self.frames[block.index()]).map(|resident| resident.page)
        };
        let what = format!("where a walk begins, past {:?}", page(self.list.cursor(walk)));
        same(&what, page(begin), page(block))?;
        Ok(walk)
    }

    /// Checks the whole list against the server's.
    ///
    /// # Errors
    ///
    /// At the first place, from the tail, at which they differ.
    pub(crate) fn ends_as(&self, rows: &[LruRow]) -> Result<(), String> {
        let mut ours = self.list.from_tail(&self.blocks).map(|block| {
            let page = self.frames[block.index()].map(|resident| resident.page);
            (page, self.blocks.is_old(block), self.blocks.freed_page_clock(block))
        });
        for (place, row) in rows.iter().enumerate() {
            let theirs = Some((Some(id(row.page)), row.is_old, row.freed_page_clock));
            let what = format!("place {place} from the tail");
            same(&what, ours.next(), theirs).map_err(|difference| difference.to_string())?;
        }
        same("pages beyond the head", ours.count(), 0).map_err(|difference| difference.to_string())
    }
}
