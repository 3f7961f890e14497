//! From the replays of one size to an estimate with a band.

use crate::hash::PageSet;
use crate::replay::{
    Chances, Guess, ReplayError, Replayed, Returns, SLICES, Scene, calibrate, replay,
};
use crate::room::Pools;
use crate::survival::SurvivalCurve;

/// Demand reads during a window at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reads {
    pub(crate) likely: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) bound_only: bool,
}

/// The recorded size, replayed.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) size_bytes: u64,
    pub(crate) replayed: Replayed,
    pub(crate) returns: Returns,
    pub(crate) curve: SurvivalCurve,
    pub(crate) capacity_pages: u64,
}

impl Base {
    pub(crate) fn of(
        scene: &Scene<'_>,
        pools: &Pools,
        size_bytes: u64,
    ) -> Result<Base, ReplayError> {
        let (replayed, returns) = calibrate(scene, pools.at(size_bytes))?;
        let curve = returns.survival.curve();
        let capacity_pages = capacity(pools, size_bytes);
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
        let steps = self.curve.steps();
        let until = self.curve.step(more_pages);
        let by_step = (0..steps).map(|step| f64::from(u8::from(step < until))).collect();
        Held { by_step, beyond: f64::from(u8::from(until > steps)) }
    }

    /// What a replay held, smoothed.
    fn held_by(&self, replayed: &Replayed) -> Held {
        let steps = self.curve.steps();
        let mut by_step = Vec::with_capacity(steps);
        let width = 8;
        for step in 0..steps {
            let (from, to) =
                (step.saturating_sub(width), (step + width + 1).min(replayed.spared.len()));
            let (mut spared, mut all) = (0.0, 0.0);
            for &(one, of) in replayed.spared.get(from.min(to)..to).unwrap_or(&[]) {
                spared += f64::from(one);
                all += f64::from(of);
            }
            let last = by_step.last().copied().unwrap_or(1.0);
            by_step.push(if all >= 10.0 { spared / all } else { last });
        }
        let beyond = by_step.last().copied().unwrap_or(0.0);
        Held { by_step, beyond }
    }
}

/// The share of pages of each depth that a pool holds.
#[derive(Clone, Debug)]
struct Held {
    by_step: Vec<f64>,
    beyond: f64,
}

fn capacity(pools: &Pools, size_bytes: u64) -> u64 {
    let config = pools.at(size_bytes);
    config.size_pages.saturating_sub(config.misc_pages)
}

pub(crate) fn sum(slices: &[u64]) -> f64 {
    slices.iter().map(|&reads| reads as f64).sum()
}

/// Estimates `size_bytes`.
pub(crate) fn estimate(
    scene: &Scene<'_>,
    pools: &Pools,
    base: &Base,
    size_bytes: u64,
) -> Result<Reads, ReplayError> {
    let config = pools.at(size_bytes);
    let smaller = size_bytes < base.size_bytes;
    let more = capacity(pools, size_bytes).saturating_sub(base.capacity_pages);
    let mut likely_chances = base.chances(&base.first_guess(more));
    let mut promoted = PageSet::default();
    let run = |guess: Guess, likely: &Chances, promoted: &PageSet| {
        let chances = match guess {
            Guess::Fewest => vec![1.0; SLICES],
            Guess::Likely => likely.clone(),
            Guess::Most => vec![0.0; SLICES],
        };
        replay(scene, config, smaller, guess, &chances, promoted)
    };
    let mut likely = run(Guess::Likely, &likely_chances, &promoted)?;
    if more > 0 {
        for _ in 0..3 {
            promoted = std::mem::take(&mut likely.young);
            likely_chances = base.chances(&base.held_by(&likely));
            likely = run(Guess::Likely, &likely_chances, &promoted)?;
        }
    }
    let fewest = run(Guess::Fewest, &likely_chances, &promoted)?;
    let most = run(Guess::Most, &likely_chances, &promoted)?;
    let point = sum(&likely.demand_reads);
    let low = sum(&fewest.demand_reads).min(point);
    let high = sum(&most.demand_reads).max(point);
    Ok(Reads { likely: point, low, high, bound_only: false })
}
