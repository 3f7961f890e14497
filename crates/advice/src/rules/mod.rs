//! The rules, one file a subject, in the order a person should act on what they find: what stops
//! the server first, then what costs most, then what will bite later.

use crate::facts::Facts;
use crate::finding::Verdict;

pub(crate) mod counters;
mod drift;
pub(crate) mod instances;
mod memory;
mod resize;
mod scans;
pub(crate) mod size;
mod warmup;
pub(crate) mod writes;

/// One thing innopool looks at.
pub(crate) struct Rule {
    /// The code of its finding.
    pub(crate) code: &'static str,
    /// Looks.
    pub(crate) judge: fn(&Facts<'_>) -> Verdict,
}

/// All rules.
pub(crate) const ALL: &[Rule] = &[
    Rule { code: "host-swapping", judge: memory::host_swapping },
    Rule { code: "pool-over-memory-budget", judge: memory::pool_over_memory_budget },
    Rule { code: "container-limit-unseen", judge: memory::container_limit_unseen },
    Rule { code: "resize-stuck", judge: resize::resize_stuck },
    Rule { code: "resize-running", judge: resize::resize_running },
    Rule { code: "pool-too-small", judge: size::pool_too_small },
    Rule { code: "pool-default-size", judge: size::pool_default_size },
    Rule { code: "resize-refused", judge: resize::resize_refused },
    Rule { code: "size-rounded", judge: size::size_rounded },
    Rule { code: "restart-read-only", judge: drift::restart_read_only },
    Rule { code: "dump-at-risk", judge: warmup::dump_at_risk },
    Rule { code: "warmup-failed", judge: warmup::warmup_failed },
    Rule { code: "warmup-not-configured", judge: warmup::warmup_not_configured },
    Rule { code: "warmup-throttled", judge: warmup::warmup_throttled },
    Rule { code: "cold-pool", judge: warmup::cold_pool },
    Rule { code: "flush-behind", judge: writes::flush_behind },
    Rule { code: "dirty-pages-high", judge: writes::dirty_pages_high },
    Rule { code: "io-capacity-low", judge: writes::io_capacity_low },
    Rule { code: "redo-too-small", judge: writes::redo_too_small },
    Rule { code: "durability-relaxed", judge: writes::durability_relaxed },
    Rule { code: "double-buffering", judge: writes::double_buffering },
    Rule { code: "scan-pollution", judge: scans::scan_pollution },
    Rule { code: "read-ahead-wasted", judge: scans::read_ahead_wasted },
    Rule { code: "instances-too-few", judge: instances::instances_too_few },
    Rule { code: "instances-too-many", judge: instances::instances_too_many },
    Rule { code: "instances-ignored", judge: instances::instances_ignored },
    Rule { code: "settings-drift", judge: drift::settings_drift },
    Rule { code: "pool-larger-than-data", judge: size::pool_larger_than_data },
    Rule { code: "counters-unreliable", judge: counters::counters_unreliable },
];
