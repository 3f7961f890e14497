//! MariaDB's flushing (`page_cleaner_flush_pages_recommendation`, `buf_flush_page_cleaner`).
//!
//! While the log is young, the share of dirty pages decides: few are written all, many by how near they
//! are to `innodb_max_dirty_pages_pct`. Once the log's age counts, it is the mean of three as in MySQL.
//! Beyond the limits of [`super::redo`] the page cleaner writes `innodb_io_capacity_max` a batch until
//! the log is young again.

use super::adaptive::{FlushInputs, pages_for_lsn, pct_for_lsn};
use super::redo::{RedoLimits, Urgency};
use super::{FlushSettings, cut};
use crate::variant::FlushingForm;

/// How many pages the next second's batch writes, `dirty_pages` being dirty in all. `is_first` is
/// whether the page cleaner has just begun, and has no averages.
pub fn recommend_pages(
    settings: &FlushSettings,
    limits: &RedoLimits,
    inputs: &FlushInputs,
    dirty_pages: u64,
    is_first: bool,
) -> u64 {
    if limits.urgency(inputs.age_bytes) >= Urgency::Synchronous {
        return settings.io_capacity_max.min(dirty_pages);
    }
    let for_lsn = pct_for_lsn(FlushingForm::DirtyShare, settings, limits, inputs.age_bytes);
    let dirty_ratio = ratio(inputs.dirty_pct, settings.max_dirty_pct);
    if is_first || for_lsn == 0 {
        return by_dirty_share(settings, dirty_ratio, dirty_pages);
    }
    let wanted = dirty_ratio.max(for_lsn as f64 / 100.0);
    let sum = cut(settings.io_capacity as f64 * wanted)
        .saturating_add(inputs.pages_per_second)
        .saturating_add(pages_for_lsn(settings, inputs.pages_below_target));
    (sum / 3).min(settings.io_capacity_max)
}

fn by_dirty_share(settings: &FlushSettings, dirty_ratio: f64, dirty_pages: u64) -> u64 {
    let capacity = settings.io_capacity;
    if dirty_pages <= capacity {
        return dirty_pages;
    }
    let scaled = cut(capacity as f64 * dirty_ratio);
    if dirty_ratio < 1.0 {
        return scaled;
    }
    // `dirty_pages` is more than `capacity` here, and `io_capacity_max` should be.
    let most = settings.io_capacity_max.min(dirty_pages).max(capacity);
    scaled.clamp(capacity, most)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

/// Pages that an idle second writes: `innodb_io_capacity`, once dirty pages reach the low-water mark.
pub fn idle_flush_pages(settings: &FlushSettings, dirty_pct: f64) -> u64 {
    if dirty_pct >= settings.max_dirty_pct_lwm { settings.io_capacity } else { 0 }
}
