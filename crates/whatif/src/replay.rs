//! One window at one size.
//!
//! Every event is an access to its page. If the pool of this size holds the page, the access may move it; if not, the
//! page is read: on demand where the server read it on demand or found it in its pool, ahead where the server
//! read it ahead. What follows a read within the next second moves nothing at any size, and what follows
//! later shows as a move.

use innopool_policy::replay::{BufferPool, Found, NoFreeFrame, PoolConfig};
use innopool_policy::{Fetch, PageId, Time};
use innopool_recording::{Event, EventKind, Source};

use crate::hash::{PageSet, draw, mix};
use crate::hidden::Hidden;
use crate::start::{BEGIN, KnownList};
use crate::survey::{Survey, arrives};
use crate::survival::{Ghosts, Survival};
use crate::window::Window;

/// What is taken to be true where the recording does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Guess {
    /// What makes for the fewest reads.
    Fewest,
    /// What is most likely.
    Likely,
    /// What makes for the most reads.
    Most,
}

/// Stretches of time into which a window is divided.
pub(crate) const SLICES: usize = 64;

/// What is replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) window: &'a Window,
    pub(crate) survey: &'a Survey,
    pub(crate) known: &'a KnownList,
    pub(crate) source: Source,
    /// Of each event, how deep its page lay; empty when that is not known yet.
    pub(crate) depths: &'a [u16],
    pub(crate) salt: u64,
}

/// The event's page was not seen before.
pub(crate) const FIRST_SIGHT: u16 = u16::MAX;
/// The event is no read of a page that was seen to go.
pub(crate) const NO_DEPTH: u16 = u16::MAX - 1;

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Replayed {
    /// Demand reads, by slice of the window.
    pub(crate) demand_reads: Vec<u64>,
    /// Reads of these that come of accesses put in.
    pub(crate) hidden_reads: u64,
    /// Pages in the young sublist at the end.
    pub(crate) young: PageSet,
    /// Reads of pages that were seen to go, by depth: those spared at this size, and all.
    pub(crate) spared: Vec<(u32, u32)>,
    /// Reads of pages not seen before while strangers were left: the doubtful ones.
    pub(crate) doubtful: Vec<u64>,
    /// Strangers left at the end of each slice, as a share of the pool.
    pub(crate) strangers: Vec<f64>,
}

/// How likely a page not seen before is among the strangers, by slice.
pub(crate) type Chances = Vec<f64>;

/// Replays a window.
pub(crate) fn replay(
    scene: &Scene<'_>,
    config: PoolConfig,
    smaller: bool,
    guess: Guess,
    chances: &Chances,
    promoted: &PageSet,
) -> Result<Replayed, ReplayError> {
    let mut run = Run::new(scene, config, smaller, guess, promoted)?;
    for (number, event) in scene.window.events.iter().enumerate() {
        let slice = slice_of(event.time, scene.window.duration);
        run.enter(slice);
        let chance = chances.get(slice).copied().unwrap_or(0.0);
        run.event(number, event, chance)?;
    }
    run.enter(SLICES);
    if config.size_pages > 0 && !smaller {
        run.out.young = run.young();
    }
    Ok(run.out)
}

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Config(#[from] innopool_policy::replay::ConfigError),
    #[error(transparent)]
    NoFreeFrame(#[from] NoFreeFrame),
}

struct Run<'a> {
    scene: Scene<'a>,
    pool: BufferPool,
    strangers: Vec<Vec<PageId>>,
    strangers_left: u64,
    hidden: Option<Hidden>,
    arrivals: u64,
    now: Time,
    slice: usize,
    frames: u64,
    out: Replayed,
}

impl<'a> Run<'a> {
    fn new(
        scene: &Scene<'a>,
        config: PoolConfig,
        smaller: bool,
        guess: Guess,
        promoted: &PageSet,
    ) -> Result<Run<'a>, ReplayError> {
        let mut pool = BufferPool::new(config)?;
        let begun = scene.known.begin(&mut pool, promoted);
        let strangers_left = begun.strangers.iter().map(|list| list.len() as u64).sum();
        let frames = config.size_pages.saturating_sub(config.misc_pages).max(1);
        let old = config.rules.list.desired_old_pages(frames);
        let hidden = (smaller && scene.source == Source::Events)
            .then(|| Hidden::new(scene.survey, guess, old));
        Ok(Run {
            scene: *scene,
            strangers: begun.strangers,
            strangers_left,
            frames,
            pool,
            hidden,
            arrivals: 0,
            now: BEGIN,
            slice: 0,
            out: Replayed {
                demand_reads: vec![0; SLICES],
                spared: Vec::new(),
                hidden_reads: 0,
                young: PageSet::default(),
                doubtful: vec![0; SLICES],
                strangers: Vec::with_capacity(SLICES),
            },
        })
    }

    /// Whether the recorded server read the event's page on demand.
    fn is_read(&self, event: &Event) -> bool {
        match event.kind {
            EventKind::DemandRead => self.scene.source == Source::Events,
            EventKind::Get(_) => !self.pool.contains(event.page),
            _ => false,
        }
    }

    fn young(&self) -> PageSet {
        (0..self.pool.instances())
            .flat_map(|instance| self.pool.export(instance).take_while(|row| !row.is_old))
            .map(|row| row.page)
            .collect()
    }

    /// Ends the slices before `slice`.
    fn enter(&mut self, slice: usize) {
        while self.slice < slice && self.out.strangers.len() < SLICES {
            self.count_strangers();
            self.out.strangers.push(self.strangers_left as f64 / self.frames as f64);
            self.slice += 1;
        }
    }

    fn count_strangers(&mut self) {
        if self.strangers_left > 0 {
            for list in &mut self.strangers {
                list.retain(|&page| self.pool.contains(page));
            }
            self.strangers_left = self.strangers.iter().map(|list| list.len() as u64).sum();
        }
    }

    fn event(&mut self, number: usize, event: &Event, chance: f64) -> Result<(), NoFreeFrame> {
        self.now = Time::from_micros(BEGIN.micros() + event.time.micros());
        self.access_unseen()?;
        let every_get = self.scene.source == Source::EveryGet;
        match event.kind {
            EventKind::DemandRead | EventKind::MadeYoung if every_get => {}
            EventKind::DemandRead => self.access(number, event.page, Fetch::Normal, chance)?,
            EventKind::MadeYoung => self.get(event.page, Fetch::Normal)?,
            EventKind::Get(fetch) => self.access(number, event.page, fetch, chance)?,
            EventKind::AheadRead => self.ahead(number, event.page, chance)?,
            EventKind::Created => {
                self.pool.create(event.page, self.now)?;
            }
        }
        if let Some(hidden) = &mut self.hidden {
            match event.kind {
                EventKind::MadeYoung | EventKind::Created => {
                    hidden.put_at_head(event.page, self.arrivals);
                }
                EventKind::DemandRead | EventKind::AheadRead => {
                    hidden.read(event.page, self.arrivals);
                }
                EventKind::Get(_) => {}
            }
        }
        self.arrivals += u64::from(arrives(event.kind));
        Ok(())
    }

    fn access_unseen(&mut self) -> Result<(), NoFreeFrame> {
        let Some(mut hidden) = self.hidden.take() else { return Ok(()) };
        while let Some(page) = hidden.next(self.scene.survey, self.arrivals) {
            let read = !self.pool.contains(page);
            self.out.hidden_reads += u64::from(read);
            self.get(page, Fetch::Normal)?;
        }
        self.hidden = Some(hidden);
        Ok(())
    }

    fn get(&mut self, page: PageId, fetch: Fetch) -> Result<(), NoFreeFrame> {
        let outcome = self.pool.get(page, fetch, self.now)?;
        let slice = self.slice.min(SLICES - 1);
        self.out.demand_reads[slice] += u64::from(outcome.found == Found::Read);
        Ok(())
    }

    /// A request for a page that may be one of those that nobody has seen.
    fn access(
        &mut self,
        number: usize,
        page: PageId,
        fetch: Fetch,
        chance: f64,
    ) -> Result<(), NoFreeFrame> {
        let depth = self.scene.depths.get(number).copied().unwrap_or(NO_DEPTH);
        if depth < NO_DEPTH {
            let before = self.pool.contains(page);
            let at = usize::from(depth);
            if self.out.spared.len() <= at {
                self.out.spared.resize(at + 1, (0, 0));
            }
            self.out.spared[at].0 += u32::from(before);
            self.out.spared[at].1 += 1;
        }
        if self.is_doubtful(number) {
            self.out.doubtful[self.slice.min(SLICES - 1)] += 1;
            if self.is_stranger(page, chance) {
                return self.reveal(page);
            }
        }
        self.get(page, fetch)
    }

    fn ahead(&mut self, number: usize, page: PageId, chance: f64) -> Result<(), NoFreeFrame> {
        if self.is_doubtful(number) && self.is_stranger(page, chance) {
            return self.reveal(page);
        }
        self.pool.read_ahead([page])?;
        // Pages are read ahead of an access that follows at once; it is not recorded.
        self.pool.get(page, Fetch::Normal, self.now)?;
        Ok(())
    }

    fn is_doubtful(&self, number: usize) -> bool {
        self.strangers_left > 0 && self.scene.depths.get(number) == Some(&FIRST_SIGHT)
    }

    fn is_stranger(&self, page: PageId, chance: f64) -> bool {
        chance > 0.0 && draw(page, self.scene.salt) < chance
    }

    /// A stranger turns out to be `page`: an access to a page that lay in the cold part, long after it
    /// was read, puts it at the head.
    fn reveal(&mut self, page: PageId) -> Result<(), NoFreeFrame> {
        let list = &mut self.strangers[self.pool.instance_of(page)];
        let mut state = mix(u64::from(page.page_no) ^ self.scene.salt);
        while !list.is_empty() {
            state = mix(state.wrapping_add(1));
            let at = usize::try_from(state % list.len() as u64).unwrap_or(0);
            let stranger = list.swap_remove(at);
            if self.pool.drop_page(stranger) {
                self.pool.create(page, self.now)?;
                return Ok(());
            }
        }
        self.get(page, Fetch::Normal)
    }
}

pub(crate) fn slice_of(time: Time, duration: Time) -> usize {
    let share = time.micros() as f64 / duration.micros().max(1) as f64;
    let slice = crate::room::to_pages((share * SLICES as f64).floor());
    usize::try_from(slice).unwrap_or(0).min(SLICES - 1)
}

/// What a replay at the recorded size tells of pages that come back.
#[derive(Clone, Debug)]
pub(crate) struct Returns {
    pub(crate) survival: Survival,
    /// Of each event, how deep its page lay.
    pub(crate) depths: Vec<u16>,
    /// Pages that went and are not back, by slice.
    pub(crate) gone: Vec<u64>,
}

/// Replays the recorded size, and watches which pages go and come back.
pub(crate) fn calibrate(
    scene: &Scene<'_>,
    config: PoolConfig,
) -> Result<(Replayed, Returns), ReplayError> {
    let mut run = Run::new(scene, config, false, Guess::Likely, &PageSet::default())?;
    let capacity = config.size_pages.saturating_sub(config.misc_pages);
    let mut returns = Returns {
        survival: Survival::new(capacity),
        depths: vec![NO_DEPTH; scene.window.events.len()],
        gone: vec![0; SLICES],
    };
    let mut ghosts = Ghosts::new();
    let mut numbers = crate::hash::PageMap::<u64>::default();
    for (number, event) in scene.window.events.iter().enumerate() {
        let slice = slice_of(event.time, scene.window.duration);
        run.enter(slice);
        let victim = run.pool.next_victim(run.pool.instance_of(event.page));
        let first = scene.survey.is_first_sight(event.page, number);
        if first {
            returns.depths[number] = FIRST_SIGHT;
        }
        if run.is_read(event) {
            match numbers.remove(&event.page) {
                Some(gone) => {
                    let depth = ghosts.back(gone);
                    returns.survival.saw(depth);
                    let step = returns.survival.step(depth);
                    returns.depths[number] = u16::try_from(step).unwrap_or(NO_DEPTH - 1);
                }
                None if first => returns.survival.saw_beyond(ghosts.gone()),
                None => returns.survival.saw(0),
            }
        }
        run.event(number, event, 0.0)?;
        if let Some(victim) = victim
            && !run.pool.contains(victim)
        {
            numbers.insert(victim, ghosts.evict());
        }
        returns.gone[slice] = ghosts.gone();
    }
    run.enter(SLICES);
    Ok((run.out, returns))
}
