//! Larger sizes from reads alone.
//!
//! Where only reads are seen, it is not known which page left when, but for each read how many other pages were read
//! since the same page was read last: its depth. A page that is never promoted stays for about 3/8 of the
//! pool's worth of reads, one that is, for longer. So a pool of size C' would have spared the read if the depth is below
//!
//! - C' - C + 3/8 C, if nothing was promoted (it spares the fewest), or
//! - C', if all was (it spares the most).
//!
//! The two are the band, and the estimate is the middle between their logarithms. In trials with generated
//! loads the truth lay between them in eight of nine cases up to twice the size. Hits are not seen, so
//! nothing can be said of smaller sizes: a smaller pool reads at least as much, that is all.

use innopool_recording::{EventKind, Provenance};

use crate::estimate::Reads;
use crate::hash::PageMap;
use crate::room::Pools;
use crate::survival::{Ghosts, Survival};
use crate::window::Window;

/// Beyond twice the size the bracket is not one any more.
const FACTOR_MAX: f64 = 2.0;
/// What the bracket is wrong by at its upper end.
const HIGH_ERROR: f64 = 0.05;
/// And at its lower: a larger pool keeps a hot set together that a smaller one tears apart.
const LOW_ERROR: f64 = 0.20;

/// What a window of reads says of `sizes`.
pub(crate) fn tell(
    window: &Window,
    pools: &Pools,
    provenance: &Provenance,
    sizes: &[u64],
    measured: u64,
) -> Vec<Reads> {
    let recorded = provenance.pool.size_bytes;
    let capacity = pools.capacity_pages(recorded);
    let mut survival = Survival::new(capacity);
    let mut ghosts = Ghosts::new();
    let mut last = PageMap::<u64>::default();
    for event in &window.events {
        if event.kind != EventKind::DemandRead && event.kind != EventKind::AheadRead {
            continue;
        }
        let is_demand = event.kind == EventKind::DemandRead;
        match last.get(&event.page).copied() {
            Some(number) => {
                let depth = ghosts.back(number);
                if is_demand {
                    survival.saw(depth);
                }
            }
            None if is_demand => survival.saw_beyond(ghosts.gone()),
            None => {}
        }
        last.insert(event.page, ghosts.evict());
    }
    let curve = survival.curve();
    let measured = measured as f64;
    let old_pages = pools.rules().list.desired_old_pages(capacity);
    let estimate = |size: u64| {
        if size == recorded {
            return Reads { likely: Some(measured), low: Some(measured), high: Some(measured) };
        }
        if size < recorded {
            return Reads { likely: None, low: Some(measured), high: None };
        }
        let larger = pools.capacity_pages(size);
        let spares_few = larger.saturating_sub(capacity) + old_pages;
        let high = measured * curve.at(spares_few) / curve.at(old_pages).max(f64::MIN_POSITIVE);
        let low = measured * curve.at(larger);
        let (low, high) = (low.min(high), high.max(low));
        let known = curve.knows(larger) && size as f64 <= recorded as f64 * FACTOR_MAX;
        Reads {
            likely: known.then(|| (low.max(1.0) * high.max(1.0)).sqrt()),
            low: Some(if curve.knows(larger) { low * (1.0 - LOW_ERROR) } else { 0.0 }),
            high: Some((high * (1.0 + HIGH_ERROR)).min(measured)),
        }
    };
    sizes.iter().map(|&size| estimate(size)).collect()
}
