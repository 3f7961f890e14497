//! How far behind the pool's end the pages lie that are read again: a curve from incomplete sightings.
//!
//! A page that was evicted and is read again had some **depth** when it was read: the number of pages evicted
//! after it and still gone. A pool with that many more frames would, roughly, still have held it. Of a page that was
//! evicted before the recording began only this much is known: it lay deeper than everything evicted since.
//! Such a sighting is *censored*, and the estimator of Kaplan and Meier (1958) makes of both kinds the
//! share of reads that lie at least so deep.

/// Depths are counted in this many steps to the capacity of the recorded pool.
const STEPS_PER_POOL: u64 = 256;
/// Deeper than this (128 pools) all depths are one.
const STEPS_MAX: usize = 32_767;

/// Sightings by depth, in steps.
#[derive(Clone, Debug)]
pub(crate) struct Survival {
    step_pages: u64,
    seen: Vec<u64>,
    censored: Vec<u64>,
}

impl Survival {
    pub(crate) fn new(capacity_pages: u64) -> Survival {
        let step_pages = (capacity_pages / STEPS_PER_POOL).max(1);
        Survival { step_pages, seen: Vec::new(), censored: Vec::new() }
    }

    /// The step in which a depth lies.
    pub(crate) fn step(&self, depth_pages: u64) -> usize {
        usize::try_from(depth_pages / self.step_pages).unwrap_or(usize::MAX).min(STEPS_MAX)
    }

    pub(crate) fn saw(&mut self, depth_pages: u64) {
        let step = self.step(depth_pages);
        count(&mut self.seen, step);
    }

    pub(crate) fn saw_beyond(&mut self, depth_pages: u64) {
        let step = self.step(depth_pages);
        count(&mut self.censored, step);
    }

    /// The estimate.
    pub(crate) fn curve(&self) -> SurvivalCurve {
        let steps = self.seen.len().max(self.censored.len());
        let at = |counts: &[u64], step: usize| counts.get(step).copied().unwrap_or(0) as f64;
        let mut at_risk: f64 = self.seen.iter().chain(&self.censored).map(|&n| n as f64).sum();
        let mut share = 1.0;
        let mut points = vec![Point { share: 1.0 }];
        for step in 0..steps {
            let (seen, censored) = (at(&self.seen, step), at(&self.censored, step));
            if at_risk < AT_RISK_MIN {
                break;
            }
            // Those censored within the step were at risk for half of it.
            let exposed = (at_risk - censored / 2.0).max(1.0);
            let died = (seen / exposed).min(1.0);
            share *= 1.0 - died;
            points.push(Point { share });
            at_risk -= seen + censored;
        }
        SurvivalCurve { step_pages: self.step_pages, points }
    }
}

/// Fewer sightings than this say nothing of how the curve goes on.
const AT_RISK_MIN: f64 = 30.0;

fn count(counts: &mut Vec<u64>, step: usize) {
    if counts.len() <= step {
        counts.resize(step + 1, 0);
    }
    counts[step] += 1;
}

#[derive(Clone, Copy, Debug)]
struct Point {
    share: f64,
}

/// The share of reads that lie at least so deep.
#[derive(Clone, Debug)]
pub(crate) struct SurvivalCurve {
    step_pages: u64,
    points: Vec<Point>,
}

impl SurvivalCurve {
    /// The step in which a depth lies.
    pub(crate) fn step(&self, depth_pages: u64) -> usize {
        usize::try_from(depth_pages / self.step_pages).unwrap_or(usize::MAX).min(STEPS_MAX)
    }

    /// Of reads that lie at least `depth_pages` deep, the share that a pool would have spared which holds pages
    /// of step s with the chance `held[s]`, and `held_beyond` of what lies deeper than is known.
    pub(crate) fn spared(&self, depth_pages: u64, held: &[f64], held_beyond: f64) -> f64 {
        let last = self.points.len() - 1;
        let from = self.step(depth_pages).min(last);
        let at_risk = self.points[from].share;
        if at_risk <= 0.0 {
            return held_beyond;
        }
        let spared: f64 = (from..last)
            .map(|step| {
                let lies_here = self.points[step].share - self.points[step + 1].share;
                lies_here * held.get(step).copied().unwrap_or(held_beyond)
            })
            .sum();
        (spared + self.points[last].share * held_beyond) / at_risk
    }

    /// The share that lies at least `depth_pages` deep; beyond what is known, the curve's second half is carried
    /// on as it fell.
    pub(crate) fn at(&self, depth_pages: u64) -> f64 {
        let position = depth_pages as f64 / self.step_pages as f64;
        let last = self.points.len() - 1;
        let step = self.step(depth_pages);
        if step < last {
            let part = position - step as f64;
            return self.points[step].share * (1.0 - part) + self.points[step + 1].share * part;
        }
        let (end, back) = (self.points[last].share, self.points[last / 2].share);
        if last == 0 || end <= 0.0 {
            return end;
        }
        let distance = (last - last / 2) as f64;
        end * (end / back).powf((position - last as f64) / distance)
    }

    /// Pages in a step.
    pub(crate) fn step_pages(&self) -> u64 {
        self.step_pages
    }

    /// Whether sightings tell of a depth.
    pub(crate) fn knows(&self, depth_pages: u64) -> bool {
        self.step(depth_pages) < self.steps()
    }

    /// Steps that the sightings tell of.
    pub(crate) fn steps(&self) -> usize {
        self.points.len() - 1
    }
}

/// Counts the pages that were evicted after a given one and are still gone, in bounded memory: counts
/// per stretch of evictions, stretches doubled when there are too many.
#[derive(Clone, Debug)]
pub(crate) struct Ghosts {
    counts: Vec<u32>,
    stretch: u64,
    evicted: u64,
    gone: u64,
}

const STRETCHES_MAX: usize = 4096;

impl Ghosts {
    pub(crate) fn new() -> Ghosts {
        Ghosts { counts: Vec::new(), stretch: 1, evicted: 0, gone: 0 }
    }

    /// A page goes; returns its number.
    pub(crate) fn evict(&mut self) -> u64 {
        let number = self.evicted;
        self.evicted += 1;
        self.gone += 1;
        if self.place(number) >= STRETCHES_MAX {
            self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.stretch *= 2;
        }
        let place = self.place(number);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        number
    }

    fn place(&self, number: u64) -> usize {
        usize::try_from(number / self.stretch).unwrap_or(usize::MAX)
    }

    /// The page that went as `number` is back; returns its depth.
    pub(crate) fn back(&mut self, number: u64) -> u64 {
        let place = self.place(number);
        self.gone = self.gone.saturating_sub(1);
        let Some(count) = self.counts.get_mut(place) else { return 0 };
        *count = count.saturating_sub(1);
        let within = u64::from(*count) / 2;
        within + self.counts[place + 1..].iter().map(|&count| u64::from(count)).sum::<u64>()
    }

    /// Pages that went and are not back.
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }
}
