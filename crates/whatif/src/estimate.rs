//! From the replays of one size to an estimate with a band.
//!
//! # Larger sizes
//!
//! A larger pool would hold pages that no event has named yet: the strangers of [`crate::start`]. A read of a page
//! not seen before is **doubtful** while strangers are left, for it may have been one of them. How
//! likely that is follows from the pages that were seen to leave and come back ([`crate::survival`]): of those the replay tells
//! which depths this size spares, and the curve of depths, which share of the pages not seen before lies at
//! such depths. The replay needs the answer to give it, so it is repeated, each time with the mean of what was assumed
//! and what came out; three or four turns settle it. The pages that were young at the end of a turn
//! begin the next one young, if they were in the recorded list: a larger pool had promoted them.
//!
//! # The band
//!
//! Its sides are the same replays with all doubtful reads spared and with none (larger sizes), or with all and no
//! hidden accesses put in (smaller ones); the truth lies within, and the estimate knows more than nothing,
//! so the band reaches only part of the way to each. Added in quadrature: the noise of counts, from how
//! much they differ between stretches of the window, and what a model of this kind is wrong by.

use crate::hash::PageSet;
use crate::replay::{
    Chances, Guess, ReplayError, Replayed, Returns, SLICES, Scene, calibrate, replay,
};
use crate::room::Pools;
use crate::survival::SurvivalCurve;

/// Demand reads during a window at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reads {
    /// `None` where only bounds can be told.
    pub(crate) likely: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl Reads {
    /// With another estimate, which the band takes in with the same distance to its sides.
    fn around(self, likely: f64) -> Reads {
        let Some(before) = self.likely else { return self };
        let factor = if before > 0.0 { likely / before } else { 1.0 };
        Reads {
            likely: Some(likely),
            low: self.low.map(|low| low.min(low * factor)),
            high: self.high.map(|high| high.max(high * factor)),
        }
    }

    pub(crate) fn times(self, factor: f64) -> Reads {
        let scale = |reads: Option<f64>| reads.map(|reads| reads * factor);
        Reads { likely: scale(self.likely), low: scale(self.low), high: scale(self.high) }
    }
}

/// Replays that settle what is likely, at a larger size.
const TURNS: usize = 4;
/// How far the band reaches from the estimate towards each side.
const TOWARDS_FEWEST: f64 = 0.5;
const TOWARDS_MOST: f64 = 0.7;
/// What the model is wrong by where nothing is doubtful, as a ratio (docs/whatif-method.md).
const MODEL_ERROR: f64 = 0.03;
/// The same where pages leave before `innodb_old_blocks_time` is over: hardly any page is ever promoted, the young
/// part slowly becomes useless, and from some size on suddenly all is well.
const MODEL_ERROR_RUSHED: f64 = 0.12;
/// The same for each halving of the size.
const MODEL_ERROR_PER_HALVING: f64 = 0.10;
/// Of reads that come of accesses put in, this share may be wrong.
const HIDDEN_ERROR: f64 = 0.5;
/// Standard errors of a count that the band takes in.
const NOISE_WIDTH: f64 = 1.6;
/// A band wider than this ratio is no estimate, unless all of it is below the share that matters.
const BAND_RATIO_MAX: f64 = 2.2;
const SHARE_THAT_MATTERS: f64 = 0.05;
/// Below this share of the recorded size, pages are wanted that the recorded pool never showed.
const SHOWN_SHARE: f64 = 0.25;

/// The recorded size, replayed.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) size_bytes: u64,
    pub(crate) replayed: Replayed,
    pub(crate) returns: Returns,
    pub(crate) curve: SurvivalCurve,
    capacity_pages: u64,
}

impl Base {
    pub(crate) fn of(
        scene: &Scene<'_>,
        pools: &Pools,
        size_bytes: u64,
    ) -> Result<Base, ReplayError> {
        let (replayed, returns) = calibrate(scene, pools.recorded())?;
        let curve = returns.survival.curve();
        let capacity_pages = pools.capacity_pages(size_bytes);
        Ok(Base { size_bytes, replayed, returns, curve, capacity_pages })
    }

    pub(crate) fn total(&self) -> f64 {
        sum(&self.replayed.demand_reads)
    }

    /// How likely a page that was not seen before, read in each slice, would have been in a pool
    /// that holds pages by depth as `held` says.
    fn chances(&self, held: &Held) -> Chances {
        let chance =
            |&gone: &u64| self.curve.spared(gone, &held.by_step, held.beyond).clamp(0.0, 1.0);
        self.returns.gone.iter().map(chance).collect()
    }

    /// A pool of `more_pages` more would hold exactly what lies less deep: a first guess.
    fn first_guess(&self, more_pages: u64) -> Held {
        let until = self.curve.step(more_pages);
        let by_step = (0..self.curve.steps()).map(|step| f64::from(u8::from(step < until)));
        Held { by_step: by_step.collect(), beyond: self.beyond(more_pages) }
    }

    /// Of pages deeper than was seen, the share that `more_pages` more would hold.
    fn beyond(&self, more_pages: u64) -> f64 {
        let end = self.curve.steps() as u64 * self.curve.step_pages();
        let share = self.curve.at(end);
        if more_pages <= end || share <= 0.0 {
            return 0.0;
        }
        1.0 - self.curve.at(more_pages) / share
    }

    /// What a replay held, smoothed over neighbouring depths.
    fn held_by(&self, replayed: &Replayed, more_pages: u64) -> Held {
        let mut by_step: Vec<f64> = Vec::with_capacity(self.curve.steps());
        for step in 0..self.curve.steps() {
            let from = step.saturating_sub(SMOOTHED_STEPS).min(replayed.spared.len());
            let to = (step + SMOOTHED_STEPS + 1).min(replayed.spared.len());
            let near = &replayed.spared[from..to];
            let all: f64 = near.iter().map(|&(_, all)| f64::from(all)).sum();
            let spared: f64 = near.iter().map(|&(spared, _)| f64::from(spared)).sum();
            let before = by_step.last().copied().unwrap_or(1.0);
            by_step.push(if all >= SIGHTINGS_MIN { spared / all } else { before });
        }
        let beyond = if self.curve.knows(more_pages) {
            by_step.last().copied().unwrap_or(0.0)
        } else {
            self.beyond(more_pages)
        };
        Held { by_step, beyond }
    }
}

const SMOOTHED_STEPS: usize = 8;
const SIGHTINGS_MIN: f64 = 10.0;

/// The share of pages of each depth that a pool holds.
#[derive(Clone, Debug)]
struct Held {
    by_step: Vec<f64>,
    beyond: f64,
}

pub(crate) fn sum(slices: &[u64]) -> f64 {
    slices.iter().map(|&reads| reads as f64).sum()
}

/// Estimates `size_bytes`, which is not the recorded size.
pub(crate) fn estimate(
    scene: &Scene<'_>,
    pools: &Pools,
    base: &Base,
    size_bytes: u64,
) -> Result<Reads, ReplayError> {
    if scene.source == innopool_recording::Source::EveryGet && size_bytes < base.size_bytes {
        let exact = replay(scene, pools.at(size_bytes), false, Guess::Likely, &NONE, &NOBODY)?;
        let reads = sum(&exact.demand_reads);
        let error = MODEL_ERROR + rush(scene, pools, base, &exact, size_bytes);
        return Ok(band(base, &exact, [reads, reads], error).around(settled(base, &exact)));
    }
    if size_bytes < base.size_bytes {
        smaller(scene, pools, base, size_bytes)
    } else {
        larger(scene, pools, base, size_bytes)
    }
}

const NONE: Chances = Vec::new();
static NOBODY: std::sync::LazyLock<PageSet> = std::sync::LazyLock::new(PageSet::default);

fn smaller(
    scene: &Scene<'_>,
    pools: &Pools,
    base: &Base,
    size_bytes: u64,
) -> Result<Reads, ReplayError> {
    let config = pools.at(size_bytes);
    let run = |guess| replay(scene, config, true, guess, &NONE, &NOBODY);
    let likely = run(Guess::Likely)?;
    let reads = sum(&likely.demand_reads);
    let unhidden = sum(&run(Guess::Most)?.demand_reads);
    let sides = [unhidden, unhidden];
    let settled = settled(base, &likely);
    let halvings = (base.size_bytes as f64 / size_bytes.max(1) as f64).log2();
    let hidden = likely.hidden_reads as f64 / reads.max(1.0) * HIDDEN_ERROR;
    let rushed = rush(scene, pools, base, &likely, size_bytes);
    let error = (MODEL_ERROR + MODEL_ERROR_PER_HALVING * halvings).hypot(hidden.max(rushed));
    let mut told = band(base, &likely, sides, error).around(settled);
    if (size_bytes as f64) < base.size_bytes as f64 * SHOWN_SHARE {
        told.likely = None;
        told.high = None;
    }
    Ok(told)
}

fn larger(
    scene: &Scene<'_>,
    pools: &Pools,
    base: &Base,
    size_bytes: u64,
) -> Result<Reads, ReplayError> {
    let config = pools.at(size_bytes);
    let more = pools.capacity_pages(size_bytes).saturating_sub(base.capacity_pages);
    let mut chances = base.chances(&base.first_guess(more));
    let mut promoted = PageSet::default();
    let mut likely = replay(scene, config, false, Guess::Likely, &chances, &promoted)?;
    for _ in 0..TURNS {
        promoted = std::mem::take(&mut likely.young);
        let came_out = base.chances(&base.held_by(&likely, more));
        for (assumed, out) in chances.iter_mut().zip(came_out) {
            *assumed = (*assumed + out) / 2.0;
        }
        likely = replay(scene, config, false, Guess::Likely, &chances, &promoted)?;
    }
    let fewest = replay(scene, config, false, Guess::Fewest, &vec![1.0; SLICES], &promoted)?;
    let most = replay(scene, config, false, Guess::Most, &vec![0.0; SLICES], &promoted)?;
    let sides = [sum(&fewest.demand_reads), sum(&most.demand_reads)];
    let error = if scene.survey.is_rushed() { MODEL_ERROR_RUSHED } else { MODEL_ERROR };
    Ok(band(base, &likely, sides, error))
}

/// What is to be added to the error of a smaller size at which pages leave before they may be promoted.
fn rush(
    scene: &Scene<'_>,
    pools: &Pools,
    base: &Base,
    replayed: &Replayed,
    size_bytes: u64,
) -> f64 {
    let old = pools.rules().list.desired_old_pages(pools.capacity_pages(size_bytes));
    let more_reads = sum(&replayed.demand_reads) / base.total().max(1.0);
    let rushed = scene.survey.arrivals_per_wait * more_reads > old as f64;
    if rushed { MODEL_ERROR_RUSHED } else { 0.0 }
}

/// Reads once the pool has forgotten how it began: their ratio to those of the recorded size in the second half
/// of the window, for the whole of it.
fn settled(base: &Base, replayed: &Replayed) -> f64 {
    let half = SLICES / 2;
    let then = sum(&base.replayed.demand_reads[half..]);
    if then > 0.0 {
        sum(&replayed.demand_reads[half..]) / then * base.total()
    } else {
        sum(&replayed.demand_reads)
    }
}

/// The band around what is likely, between two `sides`.
fn band(base: &Base, likely: &Replayed, sides: [f64; 2], model_error: f64) -> Reads {
    let reads = sum(&likely.demand_reads);
    let fewest = reads.min(sides[0]).min(sides[1]);
    let most = reads.max(sides[0]).max(sides[1]);
    let own = (model_error.powi(2) + noise(&likely.demand_reads).powi(2)).sqrt() * reads;
    let own = own.max(base.total() * FLOOR_SHARE);
    let low = reads - ((reads - fewest) * TOWARDS_FEWEST).hypot(own);
    let high = reads + ((most - reads) * TOWARDS_MOST).hypot(own);
    let low = low.max(0.0);
    let matters = high > base.total() * SHARE_THAT_MATTERS;
    let told = !matters || high <= low * BAND_RATIO_MAX;
    Reads { likely: told.then_some(reads), low: Some(low), high: Some(high) }
}

/// No band is narrower, either way, than this share of the reads at the recorded size.
const FLOOR_SHARE: f64 = 0.005;

/// What chance makes of a count: so many standard errors of it, as a ratio. From the differences of
/// neighbouring stretches of time, so that a load that slowly rises or falls is not taken for chance.
pub(crate) fn noise(slices: &[u64]) -> f64 {
    let blocks: Vec<f64> = slices.chunks(SLICES / BLOCKS).map(sum).collect();
    let number = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / number;
    if mean <= 0.0 || number < 2.0 {
        return 0.0;
    }
    let differences = blocks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
    let variance = differences / (2.0 * (number - 1.0));
    (NOISE_WIDTH * (variance / number).sqrt() / mean).min(NOISE_MAX)
}

const BLOCKS: usize = 32;
const NOISE_MAX: f64 = 0.15;
