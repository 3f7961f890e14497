//! The facts rules look at: one observation, with what several rules need worked out once.

use innopool_target::interval::Interval;
use innopool_target::load_status::{LoadState, ResizeState};
use innopool_target::observation::{GaugeSample, Observation};
use innopool_target::{Evidence, Fact, Pool, Server};

use crate::dialect::Dialect;
use crate::memory::Budget;
use crate::report::Basis;

/// Everything a rule may look at.
pub(crate) struct Facts<'o> {
    /// The whole look.
    pub(crate) observation: &'o Observation,
    /// Its newest moment.
    pub(crate) now: &'o Evidence,
    /// What happened while we watched, or since start-up (see `basis`).
    pub(crate) interval: Option<Interval>,
    /// What the interval is of.
    pub(crate) basis: Basis,
    /// The pool now.
    pub(crate) pool: Pool,
    /// The memory the pool may use, when a limit is known.
    pub(crate) budget: Option<Budget>,
    /// How to say things to this server.
    pub(crate) dialect: Dialect<'o>,
}

impl<'o> Facts<'o> {
    /// Works out what rules share.
    pub(crate) fn of(observation: &'o Observation) -> Self {
        let now = observation.latest();
        let pool = Pool::of(now);
        let (interval, basis) = match observation.interval() {
            Some(interval) => (Some(interval), Basis::Interval),
            None => match Interval::since_start(now) {
                Some(interval) => (Some(interval), Basis::SinceStart),
                None => (None, Basis::Moment),
            },
        };
        let budget = Budget::of(now, &pool);
        Self { observation, now, interval, basis, budget, dialect: Dialect::new(now), pool }
    }

    /// The server's identity.
    pub(crate) fn server(&self) -> &'o Server {
        &self.now.server
    }

    /// The interval we watched; `None` when the rates are since start-up.
    pub(crate) fn watched(&self) -> Option<&Interval> {
        self.interval.as_ref().filter(|_| self.basis == Basis::Interval)
    }

    /// A rate of the interval, whichever basis it has.
    pub(crate) fn rate(&self, of: impl Fn(&Interval) -> Option<&Fact<f64>>) -> Option<Fact<f64>> {
        self.interval.as_ref().and_then(of).cloned()
    }

    /// Bytes of all data files.
    pub(crate) fn data_bytes(&self) -> Option<u64> {
        self.now.data.as_ref().map(|data| data.total_bytes())
    }

    /// Free pages beyond what the page cleaner keeps in reserve on purpose; `None` if unknown.
    ///
    /// Per instance the cleaner keeps up to `innodb_lru_scan_depth` pages free, but never cuts the
    /// LRU list below 256 pages (facts: page cleaner LRU batch), so in an 8 MB pool half of all
    /// pages are free and still nothing is spare.
    pub(crate) fn spare_pages(&self) -> Option<u64> {
        let free = self.pool.pages_free.as_ref()?.value;
        let total = self.pool.pages_total.as_ref()?.value;
        let instances = self.pool.instances.as_ref().map_or(1, |fact| fact.value.max(1));
        let depth = self.now.setting_bytes("innodb_lru_scan_depth").map_or_else(
            || {
                if self.server().flavor == innopool_target::Flavor::Mariadb { 1536 } else { 1024 }
            },
            |fact| fact.value,
        );
        let per_instance = (total / instances).saturating_sub(256).min(depth);
        // A batch overshoots by a few pages.
        let reserve = per_instance.saturating_mul(instances);
        Some(free.saturating_sub(reserve.saturating_add(reserve / 4).saturating_add(16)))
    }

    /// True when no page is free beyond the cleaner's reserve; `None` if unknown.
    pub(crate) fn is_full(&self) -> Option<bool> {
        self.spare_pages().map(|spare| spare == 0)
    }

    /// True when a read pool would evict: full, or so nearly that it will be in a moment.
    pub(crate) fn nearly_full(&self) -> Option<bool> {
        let total = self.pool.pages_total.as_ref()?.value;
        self.spare_pages().map(|spare| spare < total / 20)
    }

    /// The dirty share of data pages, 0 to 1.
    pub(crate) fn dirty_share(&self) -> Option<f64> {
        let dirty = self.pool.pages_dirty.as_ref()?.value as f64;
        let data = self.pool.pages_data.as_ref()?.value;
        let free = self.pool.pages_free.as_ref().map_or(0, |fact| fact.value);
        (data > 0).then(|| (dirty / (1 + data + free) as f64).clamp(0.0, 1.0))
    }

    /// Average of a gauge over the samples, with the number of samples; `None` under three.
    pub(crate) fn gauge_average(&self, name: &str) -> Option<(f64, usize)> {
        let values: Vec<f64> = self
            .gauges()
            .iter()
            .filter_map(|sample| sample.status.count(name))
            .map(|fact| fact.value as f64)
            .collect();
        (values.len() >= 3)
            .then(|| (values.iter().sum::<f64>() / values.len() as f64, values.len()))
    }

    /// The light samples.
    pub(crate) fn gauges(&self) -> &'o [GaugeSample] {
        &self.observation.gauges
    }

    /// State of the warm-up load, with its source; `None` when not printed.
    pub(crate) fn load_state(&self) -> Option<Fact<LoadState>> {
        let text = self.now.status.text("innodb_buffer_pool_load_status")?.clone();
        Some(text.map(|text| LoadState::parse(&text)))
    }

    /// State of a resize, with its source; `None` when not printed.
    pub(crate) fn resize_state(&self) -> Option<Fact<ResizeState>> {
        let text = self.now.status.text("innodb_buffer_pool_resize_status")?.clone();
        Some(text.map(|text| ResizeState::parse(&text)))
    }

    /// "while we watched" or "since the server started".
    pub(crate) fn when(&self) -> &'static str {
        match self.basis {
            Basis::Interval => "while we watched",
            _ => "since the server started",
        }
    }
}
