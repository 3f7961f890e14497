//! Which sizes are answered, and the knee of the curve.

use crate::answer::Row;
use crate::question::Question;

/// The sizes of an answer when none are named, of the recorded one.
const FACTORS: [f64; 16] =
    [0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0];

const MIB: u64 = 1 << 20;

/// The sizes to answer, smallest first, the recorded one among them.
pub(crate) fn sizes(question: &Question, recorded_bytes: u64) -> Vec<u64> {
    let mut sizes = question.sizes.clone();
    if sizes.is_empty() {
        let whole = |bytes: f64| crate::room::to_pages(bytes / MIB as f64).max(1) * MIB;
        sizes.extend(FACTORS.iter().map(|factor| whole(factor * recorded_bytes as f64)));
    }
    sizes.push(recorded_bytes);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Memory beyond the knee saves less than this share of the reads at the recorded size for each time the
/// recorded size is added.
pub(crate) const KNEE_SAVING: f64 = 0.05;
/// A curve whose reads differ by less than this share has no knee.
const FLAT_SHARE: f64 = 0.05;

/// The smallest size from which on no larger one of the curve saves much.
pub(crate) fn knee(curve: &[Row], recorded_bytes: u64) -> Option<u64> {
    let told: Vec<(f64, f64, u64)> = curve
        .iter()
        .filter(|row| !row.bound_only)
        .filter_map(|row| Some((row.size_factor, row.disk_reads_per_second?, row.pool_size_bytes)))
        .collect();
    let now = told.iter().find(|row| row.2 == recorded_bytes)?.1;
    let most = told.iter().map(|row| row.1).fold(0.0, f64::max);
    let fewest = told.iter().map(|row| row.1).fold(f64::INFINITY, f64::min);
    if most <= 0.0 || most - fewest < most * FLAT_SHARE {
        return None;
    }
    let saves_little = |at: usize| {
        let (size, reads, _) = told[at];
        told[at + 1..]
            .iter()
            .all(|&(larger, fewer, _)| reads - fewer < KNEE_SAVING * now * (larger - size))
    };
    // The last size has none to be compared with, so it is no knee.
    (0..told.len().saturating_sub(1)).find(|&at| saves_little(at)).map(|at| told[at].2)
}
