//! MySQL's adaptive flushing (`page_cleaner_flush_pages_recommendation`, `Adaptive_flush`).
//!
//! Two percentages of `innodb_io_capacity` are computed, one from the share of dirty pages and one from
//! the age of the oldest modification, and the larger is taken. The mean of that, of the average rate of
//! writing, and of the pages that the log's growth will soon need written, is what the next iteration
//! writes, divided among the instances.

use super::averages::LSN_SCAN_FACTOR;
use super::redo::RedoLimits;
use super::{FlushSettings, cut};
use crate::variant::FlushingForm;

/// What an iteration knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlushInputs {
    /// Share of dirty pages in percent; see [`super::dirty_pct`].
    pub dirty_pct: f64,
    /// Age of the oldest modification of any instance, in bytes; 0 when no page is dirty.
    pub age_bytes: u64,
    /// Average rate of writing, pages a second.
    pub pages_per_second: u64,
    /// Pages in all flush lists modified before the target LSN, each instance's cut to
    /// [`count_limit`].
    pub pages_below_target: u64,
    /// Whether the log has moved since the last iteration.
    pub log_moved: bool,
}

/// How much to write, and what made it so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recommendation {
    /// Pages to write in this iteration, over all instances.
    pub pages: u64,
    /// Percent of `io_capacity` that dirty pages ask for.
    pub pct_for_dirty: u64,
    /// Percent of `io_capacity` that the log's age asks for.
    pub pct_for_lsn: u64,
}

/// Percent of `io_capacity` that a share of dirty pages asks for; 0 when there are none.
pub fn pct_for_dirty(settings: &FlushSettings, dirty_pct: f64) -> u64 {
    if dirty_pct <= 0.0 {
        return 0;
    }
    if settings.max_dirty_pct_lwm <= 0.0 {
        // Without a low-water mark: nothing below the maximum, everything from there.
        return if dirty_pct >= settings.max_dirty_pct { 100 } else { 0 };
    }
    if dirty_pct >= settings.max_dirty_pct_lwm {
        cut(dirty_pct * 100.0 / (settings.max_dirty_pct + 1.0))
    } else {
        0
    }
}

/// Percent of `io_capacity` that an oldest modification of this age asks for. Grows with the age to the
/// power of 3/2, and passes 100 well before the log is full.
pub fn pct_for_lsn(
    form: FlushingForm,
    settings: &FlushSettings,
    limits: &RedoLimits,
    age_bytes: u64,
) -> u64 {
    let low_water = share_of(limits.capacity_bytes, settings.adaptive_lwm_pct);
    let limit = limits.dirty_age_limit_bytes;
    if age_bytes < low_water || (age_bytes < limit && !settings.adaptive) || limit == 0 {
        return 0;
    }
    let factor = match form {
        FlushingForm::Integer => (age_bytes.saturating_mul(100) / limit) as f64,
        FlushingForm::Float | FlushingForm::DirtyShare => age_bytes as f64 * 100.0 / limit as f64,
    };
    let times = settings.io_capacity_max / settings.io_capacity.max(1);
    cut(times as f64 * (factor * factor.sqrt()) / 7.5)
}

fn share_of(whole: u64, percent: u64) -> u64 {
    whole.saturating_mul(percent) / 100
}

/// How many pages of an instance's flush list are counted at most; `None` for all.
pub fn count_limit(form: FlushingForm, io_capacity_max: u64, instances: u64) -> Option<u64> {
    match form {
        FlushingForm::Integer | FlushingForm::DirtyShare => None,
        FlushingForm::Float => Some(
            (io_capacity_max.saturating_mul(2) / instances.max(1))
                .saturating_mul(LSN_SCAN_FACTOR)
                .saturating_mul(2),
        ),
    }
}

/// Pages that the growth of the log asks for, of those modified before the target.
pub(super) fn pages_for_lsn(settings: &FlushSettings, below_target: u64) -> u64 {
    (below_target / LSN_SCAN_FACTOR).max(1).min(settings.io_capacity_max.saturating_mul(2))
}

/// How many pages the next iteration writes; nothing when the log has not moved.
pub fn recommend(
    form: FlushingForm,
    settings: &FlushSettings,
    limits: &RedoLimits,
    inputs: &FlushInputs,
) -> Recommendation {
    if !inputs.log_moved {
        return Recommendation::default();
    }
    let for_dirty = pct_for_dirty(settings, inputs.dirty_pct);
    let for_lsn = pct_for_lsn(form, settings, limits, inputs.age_bytes);
    let sum = settings
        .pct_of_io_capacity(for_dirty.max(for_lsn))
        .saturating_add(inputs.pages_per_second)
        .saturating_add(pages_for_lsn(settings, inputs.pages_below_target));
    Recommendation {
        pages: (sum / 3).min(settings.io_capacity_max),
        pct_for_dirty: for_dirty,
        pct_for_lsn: for_lsn,
    }
}

/// From this percentage for the log's age on, instances with more old pages write more.
const PROPORTIONAL_FROM_PCT: u64 = 30;

/// Pages that one instance writes: of `instances`, with `own` of the `total` pages below the target.
pub fn instance_share(
    form: FlushingForm,
    recommendation: &Recommendation,
    instances: u64,
    own: u64,
    total: u64,
) -> u64 {
    if recommendation.pct_for_lsn > PROPORTIONAL_FROM_PCT && total > 0 {
        let product = u128::from(recommendation.pages) * u128::from(own) / u128::from(total);
        return u64::try_from(product).unwrap_or(u64::MAX).saturating_add(1);
    }
    let even = recommendation.pages / instances.max(1);
    match form {
        FlushingForm::Float => even.saturating_add(1),
        FlushingForm::Integer | FlushingForm::DirtyShare => even,
    }
}

/// Pages of a synchronous flush, when `below_sync` pages were modified before the LSN that is wanted
/// clean.
pub fn sync_flush_pages(settings: &FlushSettings, below_sync: u64) -> u64 {
    below_sync.max(settings.io_capacity)
}

/// What an iteration writes while redo logging is disabled (MySQL 8.0.21 on), when it is more than the
/// recommendation: by the growth of the dirty pages alone. Rates are in pages a second; a falling
/// number of dirty pages has a negative growth.
pub fn without_redo_pages(
    settings: &FlushSettings,
    pages_per_second: u64,
    dirty_pct: f64,
    last_flush_rate: f64,
    dirty_growth_rate: f64,
) -> u64 {
    const MAX_PCT: f64 = 90.0;
    let growth = (last_flush_rate + dirty_growth_rate).max(0.0);
    let by_growth = (dirty_pct.max(0.0) / MAX_PCT).sqrt() * growth;
    cut((pages_per_second as f64 + by_growth) / 2.0).min(settings.io_capacity_max)
}
