//! Holds the arithmetic of flushing and of dumps against the model's formulas.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod model;

use innopool_policy::dump::dumped_pages;
use innopool_policy::flushing::adaptive::{
    FlushInputs, Recommendation, count_limit, instance_share, recommend,
};
use innopool_policy::flushing::averages::FlushAverages;
use innopool_policy::flushing::redo::RedoLimits;
use innopool_policy::flushing::{FlushSettings, dirty_pct};
use innopool_policy::variant::{DumpBasis, FlushingForm, Variant};
use innopool_policy::{Lsn, Time};
use model::{Server, flushing};
use proptest::prelude::*;

const FORMS: [(FlushingForm, Server); 2] =
    [(FlushingForm::Integer, Server::MySql57), (FlushingForm::Float, Server::MySql84)];

#[derive(Clone, Debug)]
struct Case {
    form: usize,
    settings: flushing::Settings,
    capacity: u64,
    async_limit: u64,
    age: u64,
    dirty: u64,
    clean: u64,
    page_avg: u64,
    below_target: u64,
    log_moved: bool,
}

fn settings() -> impl Strategy<Value = flushing::Settings> {
    let io = (prop_oneof![Just(200u64), Just(10_000), 100..30_000u64], 0..12_000u64);
    let dirty = (1..=9999u32, prop_oneof![Just(0u32), Just(1000), 0..9999u32]);
    (io, dirty, any::<bool>(), 0..=70u64).prop_map(
        |((io_capacity, more), (max, lwm), adaptive, af)| flushing::Settings {
            io_capacity,
            io_capacity_max: io_capacity + more,
            max_dirty_pct: f64::from(max) / 100.0,
            max_dirty_pct_lwm: f64::from(lwm) / 100.0,
            adaptive,
            adaptive_lwm_pct: af,
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let log = (1_000_000..10_000_000_000u64, 50..100u64, 0..=1200u64, -1..2i64);
    let pool = (prop_oneof![Just(0u64), 0..100_000u64], 0..200_000u64);
    let rest = (0..5000u64, 0..300_000u64, prop::bool::weighted(0.9));
    (0..2usize, settings(), log, pool, rest).prop_map(|(form, settings, log, pool, rest)| {
        let (capacity, async_share, age_share, nudge) = log;
        let async_limit = capacity * async_share / 100;
        // Also exactly at the two ages where the rule changes.
        let age = match age_share {
            1101..=1150 => async_limit,
            1151..=1200 => settings.adaptive_lwm_pct * capacity / 100,
            share => capacity / 1000 * share,
        };
        Case {
            form,
            settings,
            capacity,
            async_limit,
            age: age.saturating_add_signed(nudge),
            dirty: pool.0,
            clean: pool.1,
            page_avg: rest.0,
            below_target: rest.1,
            log_moved: rest.2,
        }
    })
}

impl Case {
    fn ours(&self) -> (FlushSettings, RedoLimits) {
        let s = &self.settings;
        let settings = FlushSettings {
            io_capacity: s.io_capacity,
            io_capacity_max: s.io_capacity_max,
            max_dirty_pct: s.max_dirty_pct,
            max_dirty_pct_lwm: s.max_dirty_pct_lwm,
            adaptive: s.adaptive,
            adaptive_lwm_pct: s.adaptive_lwm_pct,
            ..FlushSettings::new(&Variant::Mysql84.rules().flush_defaults)
        };
        let limits = RedoLimits {
            capacity_bytes: self.capacity,
            dirty_age_limit_bytes: self.async_limit,
            async_age_bytes: self.async_limit,
            sync_age_bytes: self.capacity,
            checkpoint_age_bytes: self.capacity,
            free_check_age_bytes: self.capacity,
        };
        (settings, limits)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30_000))]

    #[test]
    fn an_iteration_writes_what_the_model_says(case in cases()) {
        let (form, server) = FORMS[case.form];
        let (settings, limits) = case.ours();
        let share = dirty_pct(case.dirty, case.dirty + case.clean / 2, case.clean / 2);
        prop_assert_eq!(
            share.to_bits(),
            flushing::dirty_pct(case.dirty, case.dirty + case.clean / 2, case.clean / 2).to_bits()
        );
        let inputs = FlushInputs {
            dirty_pct: share,
            age_bytes: case.age,
            pages_per_second: case.page_avg,
            pages_below_target: case.below_target,
            log_moved: case.log_moved,
        };
        let ours = recommend(form, &settings, &limits, &inputs);
        let s = &case.settings;
        let for_dirty = flushing::pct_for_dirty(s, case.dirty, share);
        let for_lsn = flushing::pct_for_lsn(server, s, case.age, case.capacity, case.async_limit);
        let pages = flushing::recommend(
            s,
            case.log_moved,
            for_dirty,
            for_lsn,
            case.page_avg,
            case.below_target,
        );
        prop_assert_eq!(ours.pages, pages);
        if case.log_moved {
            prop_assert_eq!((ours.pct_for_dirty, ours.pct_for_lsn), (for_dirty, for_lsn));
        }
    }

    #[test]
    fn an_instance_writes_the_models_share(
        form in 0..2usize,
        pages in 0..100_000u64,
        pct_for_lsn in prop_oneof![29..33u64, 0..500u64],
        instances in 1..=64u64,
        (own, others) in (0..50_000u64, 0..500_000u64),
        io_capacity_max in 100..100_000u64,
    ) {
        prop_assume!(own + others > 0);
        let (form, server) = FORMS[form];
        let recommendation = Recommendation { pages, pct_for_dirty: 0, pct_for_lsn };
        prop_assert_eq!(
            instance_share(form, &recommendation, instances, own, own + others),
            flushing::share(server, pages, pct_for_lsn, instances, own, own + others)
        );
        prop_assert_eq!(
            count_limit(form, io_capacity_max, instances),
            flushing::count_limit(server, io_capacity_max, instances)
        );
    }

    #[test]
    fn averages_are_the_models(
        loops in 1..40u64,
        seconds in prop::collection::vec(
            (1..5u64, prop_oneof![1 => Just(0u64), 4 => 1..10_000_000u64], 0..3000u64),
            1..100,
        ),
    ) {
        let (mut now, mut lsn) = (100, 8192);
        let mut ours = FlushAverages::new(Time::from_millis(now * 1000), Lsn(lsn));
        let mut models = flushing::Averages::new(now, lsn);
        for (passed, log, flushed) in seconds {
            now += passed;
            lsn += log;
            prop_assert_eq!(
                ours.iterate(Time::from_millis(now * 1000), Lsn(lsn), flushed, loops),
                models.iterate(now, lsn, flushed, loops)
            );
            prop_assert_eq!(
                (ours.pages_per_second, ours.lsn_bytes_per_second),
                (models.pages, models.lsn)
            );
            prop_assert_eq!(ours.target_lsn(Lsn(lsn)).0, flushing::target_lsn(lsn, models.lsn));
        }
    }

    #[test]
    fn a_dump_has_the_models_length(
        percent in 1..=100u64,
        lru in prop_oneof![0..200u64, 0..1_000_000u64],
        pool in 1..1_000_000u64,
    ) {
        prop_assert_eq!(
            dumped_pages(DumpBasis::InstanceList, percent, lru, pool),
            model::pool::dumped_len(Server::MySql84, percent as usize, lru as usize, pool as usize) as u64
        );
        prop_assert_eq!(
            dumped_pages(DumpBasis::PoolFrames, percent, lru, pool),
            model::pool::dumped_len(Server::MariaDb, percent as usize, lru as usize, pool as usize) as u64
        );
    }
}
