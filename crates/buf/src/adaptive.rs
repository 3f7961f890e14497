//! How many dirty pages each second's pass writes: adaptive flushing.
//!
//! The arithmetic is the server's and lives in [`innopool_policy::flushing`]. Here it is fed: with the share of dirty pages, the
//! age of the oldest change against the log's capacity, and how fast the log and the writes have been moving.

use std::sync::Arc;

use innopool_policy::flushing::adaptive::{
    FlushInputs, Recommendation, count_limit, instance_share, recommend, sync_flush_pages,
};
use innopool_policy::flushing::averages::FlushAverages;
use innopool_policy::flushing::redo::{RedoLimits, Urgency};
use innopool_policy::flushing::{FlushSettings, dirty_pct};
use innopool_policy::variant::FlushingForm;
use innopool_policy::{Lsn, Time};

use crate::counters::Counter;
use crate::error::PoolError;
use crate::flush::{Batch, Busy, CHOOSE_MAX};
use crate::inner::Inner;
use crate::instance::Instance;
use crate::options::PoolOptions;
use crate::sync::Ordering;

/// The formulas are those of MySQL 8.0 and later.
const FORM: FlushingForm = FlushingForm::Float;

/// What the page cleaner remembers from pass to pass.
pub(crate) struct Adaptive {
    averages: FlushAverages,
    /// Pages the last pass wrote.
    written: u64,
    /// Gets and changes counted at the last pass, to tell whether anybody is about.
    activity: u64,
}

/// What a pass of the flush list is to do.
struct Plan {
    recommendation: Recommendation,
    /// Pages each instance has below the target LSN.
    below_target: Vec<u64>,
    limit: Lsn,
}

impl Adaptive {
    pub(crate) fn new(now: Time, lsn: Lsn) -> Adaptive {
        Adaptive { averages: FlushAverages::new(now, lsn), written: 0, activity: 0 }
    }
}

impl PoolOptions {
    pub(crate) fn flush_settings(&self) -> FlushSettings {
        FlushSettings {
            io_capacity: self.io_capacity,
            io_capacity_max: match self.io_capacity_max {
                0 => self.io_capacity.saturating_mul(2),
                set => set,
            },
            max_dirty_pct: self.max_dirty_pages_pct,
            max_dirty_pct_lwm: self.max_dirty_pages_pct_lwm,
            adaptive: true,
            adaptive_lwm_pct: 10,
            avg_loops: 30,
            idle_pct: 100,
        }
    }
}

impl Inner {
    /// Writes from the flush lists what this second asks for.
    pub(crate) fn flush_adaptively(self: &Arc<Inner>, wait: bool) -> Result<(), PoolError> {
        let plan = self.plan_flush();
        let writes = Batch::new(self);
        let total = plan.below_target.iter().sum();
        let instances = self.instances.len() as u64;
        let mut written = 0;
        let mut result = Ok(());
        for (instance, &own) in self.instances.iter().zip(&plan.below_target) {
            if plan.recommendation.pages == 0 {
                break;
            }
            let share = instance_share(FORM, &plan.recommendation, instances, own, total);
            match self.flush_oldest(instance, share, plan.limit, &writes) {
                Ok(pages) => written += pages,
                Err(error) => result = Err(error),
            }
        }
        self.adaptive.lock().written = written;
        if wait { result.and(writes.wait().map(|_| ())) } else { result }
    }

    fn plan_flush(&self) -> Plan {
        let settings = self.options.flush_settings();
        let limits = self.redo_limits();
        let lsn = self.log.current_lsn();
        let mut adaptive = self.adaptive.lock();
        let written = adaptive.written;
        let now = self.clock().now();
        let log_moved = adaptive.averages.iterate(now, lsn, written, settings.avg_loops);
        let activity = self.activity();
        let idle = std::mem::replace(&mut adaptive.activity, activity) == activity && !log_moved;
        let oldest = self.oldest_lsn();
        let age_bytes = oldest.map_or(0, |oldest| lsn.age_bytes(oldest));
        let target = adaptive.averages.target_lsn(oldest.unwrap_or(lsn));
        let below_target = self.count_below(target, settings.io_capacity_max);
        let total: u64 = below_target.iter().sum();
        let inputs = FlushInputs {
            dirty_pct: self.dirty_pct(),
            age_bytes,
            pages_per_second: adaptive.averages.pages_per_second,
            pages_below_target: total,
            log_moved,
        };
        let mut recommendation = recommend(FORM, &settings, &limits, &inputs);
        let urgent = limits.urgency(age_bytes) >= Urgency::Synchronous;
        if urgent {
            recommendation.pages = recommendation.pages.max(sync_flush_pages(&settings, total));
        } else if idle {
            recommendation.pages = settings.idle_flush_pages();
        }
        // An ordinary pass takes the oldest pages whatever their age; a pressed one only those that hold up the log.
        Plan { recommendation, below_target, limit: if urgent { target } else { Lsn(u64::MAX) } }
    }

    fn redo_limits(&self) -> RedoLimits {
        let capacity = self.log.capacity_bytes().unwrap_or(u64::MAX);
        RedoLimits::mysql80(capacity, self.options.page_size.bytes() as u64, 0)
    }

    fn dirty_pct(&self) -> f64 {
        let sum = |count: fn(&Instance) -> u64| self.instances.iter().map(count).sum();
        let dirty = sum(|instance| instance.flush.lock().len_pages());
        dirty_pct(dirty, sum(Instance::lru_pages), sum(Instance::free_pages))
    }

    fn activity(&self) -> u64 {
        let of = |instance: &Instance| {
            instance
                .counters
                .sum(Counter::Gets)
                .wrapping_add(instance.counters.sum(Counter::WriteRequests))
        };
        self.instances.iter().map(of).fold(0, u64::wrapping_add)
    }

    /// How many pages of each instance were first changed at or before `target`.
    fn count_below(&self, target: Lsn, io_capacity_max: u64) -> Vec<u64> {
        let instances = self.instances.len() as u64;
        let most = count_limit(FORM, io_capacity_max, instances).unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let count = |instance: &Instance| {
            let list = instance.flush.lock();
            let lsn = |frame| Lsn(self.frame(frame).oldest_lsn.load(Ordering::Relaxed));
            let below = list.oldest_first(self.frames()).take_while(|&frame| lsn(frame) <= target);
            below.take(most).count() as u64
        };
        self.instances.iter().map(count).collect()
    }

    /// Writes the `pages` oldest dirty pages of an instance whose first change is at or before `limit`, and their neighbours.
    fn flush_oldest(
        self: &Arc<Inner>,
        instance: &Instance,
        pages: u64,
        limit: Lsn,
        writes: &Arc<Batch>,
    ) -> Result<u64, PoolError> {
        let mut written = 0;
        while written < pages {
            let most = usize::try_from(pages - written).unwrap_or(CHOOSE_MAX).min(CHOOSE_MAX);
            let (mut chosen, _) = self.choose_oldest(instance, limit, most);
            if chosen.is_empty() {
                break;
            }
            for at in 0..chosen.len() {
                let page = self.frame(chosen[at]).page();
                chosen.extend(self.choose_neighbours(instance, page));
            }
            written += chosen.len() as u64;
            self.write_chosen(writes, &chosen, Busy::Skip, false)?;
        }
        Ok(written)
    }
}
