//! Holds three pure rules against the model: whether an access moves its page, which instance a page
//! belongs to, and whether the page cleaner is to evict.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod model;

use std::time::Duration;

use innopool_policy::promotion::{
    PageRecency, PoolClock, SettledFrom, Verdict, is_young_enough, judge,
};
use innopool_policy::reserve::ReserveState;
use innopool_policy::rules::{ListRules, Replacement};
use innopool_policy::variant::Variant;
use innopool_policy::{PageId, Time};
use model::lru::{Lru, Page};
use model::pool::{Counters, Instance, wants_pass};
use model::{Constants, Server, mapping, ratio_of_pct, young};
use proptest::prelude::*;

const SERVERS: [(Variant, Server); 4] = [
    (Variant::Mysql57, Server::MySql57),
    (Variant::Mysql80, Server::MySql80),
    (Variant::Mysql84, Server::MySql84),
    (Variant::Mariadb, Server::MariaDb),
];

const WRAP: u64 = 1 << 31;

/// A page and its instance, and what was asked of them.
#[derive(Clone, Debug)]
struct Case {
    server: usize,
    pct: u32,
    old_blocks_time_ms: u64,
    size: u64,
    clock: u64,
    page_clock: u64,
    old: bool,
    access: Option<u64>,
    now: u64,
}

/// Clocks from nothing to beyond the second wrap, mostly near a wrap.
fn clocks() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0u64),
        2 => 0..20_000u64,
        2 => (WRAP - 5_000)..(WRAP + 5_000),
        1 => (2 * WRAP - 5_000)..(2 * WRAP + 5_000),
        1 => 0..4 * WRAP,
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let instance =
        (0..4usize, 5..=95u32, prop_oneof![Just(0u64), Just(1000), 1..3000u64], 0..40_000u64);
    let page = (any::<bool>(), prop::option::weighted(0.9, 0..10_000_000u64));
    // Time since the first access: anything, or within two microseconds or milliseconds of what is
    // asked for.
    let wait = prop_oneof![
        2 => (0..4_000_000i64).prop_map(|wait| (false, wait)),
        1 => (-2..=2i64).prop_map(|nudge| (true, nudge)),
        2 => (-2_000..=2_000i64).prop_map(|nudge| (true, nudge)),
    ];
    // Evictions since the page was last at the head, in quarters of the window: about 4 is the border.
    let since = (0..9u64, -2..3i64, any::<bool>());
    (instance, page, wait, clocks(), since).prop_map(
        |((server, pct, old_blocks_time_ms, size), (old, access), wait, clock, since)| {
            let (quarters, nudge, never_young) = since;
            let window = size * (1024 - ratio_of_pct(pct as usize) as u64) / 4096;
            let age = (window * quarters / 4).saturating_add_signed(nudge);
            let page_clock = if never_young { 0 } else { clock.saturating_sub(age) };
            let (near_border, wait) = wait;
            let base = if near_border { old_blocks_time_ms * 1000 } else { 0 };
            let now = access.unwrap_or(1_000_000) + base.saturating_add_signed(wait);
            Case { server, pct, old_blocks_time_ms, size, clock, page_clock, old, access, now }
        },
    )
}

impl Case {
    fn of_rules(&self) -> (ListRules, PageRecency, PoolClock, Time) {
        let rules = SERVERS[self.server].0.rules().list;
        (
            rules
                .with_old_blocks_pct(self.pct)
                .with_old_blocks_time(Duration::from_millis(self.old_blocks_time_ms)),
            PageRecency {
                is_old: self.old,
                first_access: self.access.map(Time::from_micros),
                freed_page_clock: self.page_clock,
            },
            PoolClock { freed_page_clock: self.clock, size_pages: self.size },
            Time::from_micros(self.now),
        )
    }

    fn of_model(&self) -> (Server, Page, young::Instance) {
        let server = SERVERS[self.server].1;
        let mut page = Page::new((0, 0));
        page.old = self.old;
        page.clock = self.page_clock % WRAP;
        page.access = self.access.map(|at| server.kept_time(at));
        let instance = young::Instance {
            clock: self.clock,
            curr_size: self.size,
            ratio: ratio_of_pct(self.pct as usize) as u64,
            old_blocks_time_ms: self.old_blocks_time_ms,
        };
        (server, page, instance)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40_000))]

    #[test]
    fn the_verdict_is_the_models(case in cases()) {
        let (rules, page, pool, now) = case.of_rules();
        let (server, model_page, instance) = case.of_model();
        let expected = match young::judge(server, &model_page, &instance, case.now) {
            young::Verdict::Move => Verdict::MakeYoung,
            young::Verdict::TooRecent => Verdict::NotYoung,
            young::Verdict::Stay => Verdict::Stay,
        };
        prop_assert_eq!(judge(&rules, page, pool, now), expected);
        prop_assert_eq!(
            is_young_enough(&rules, case.page_clock, pool),
            young::is_young(server, &model_page, &instance)
        );
    }

    #[test]
    fn a_settled_page_stays_and_a_young_page_that_stays_is_settled(case in cases()) {
        let (rules, page, pool, now) = case.of_rules();
        for replacement in [Replacement::Midpoint, Replacement::Lru, Replacement::Clock] {
            let rules = ListRules { replacement, ..rules };
            let verdict = judge(&rules, page, pool, now);
            let settled = SettledFrom::new(&rules, pool).is_settled(page.is_old, page.freed_page_clock);
            prop_assert!(!settled || verdict == Verdict::Stay, "{replacement:?}");
            // Stamps of an earlier round of the clock are the ones it leaves to the verdict.
            let exact = !page.is_old && case.page_clock / WRAP == case.clock / WRAP;
            prop_assert!(!exact || settled == (verdict == Verdict::Stay), "{replacement:?}");
        }
    }

    #[test]
    fn a_page_is_in_the_models_instance(
        server in 0..4usize,
        space in prop_oneof![any::<u32>(), 0..5000u32],
        page_no in prop_oneof![any::<u32>(), 0..5000u32],
        instances in 1..=64usize,
    ) {
        let (variant, server) = SERVERS[server];
        // MariaDB has one instance, whatever is asked for.
        let instances = if server == Server::MariaDb { 1 } else { instances };
        prop_assert_eq!(
            variant.rules().fold.instance_of(PageId::new(space, page_no), instances),
            mapping::instance(server, (space, page_no), instances)
        );
    }

    #[test]
    fn a_percentage_is_the_models_ratio(pct in 0..200u32) {
        let clamped = pct.clamp(5, 95) as usize;
        let rules = ListRules::default().with_old_blocks_pct(pct);
        prop_assert_eq!(rules.old_ratio, ratio_of_pct(clamped) as u64);
        prop_assert_eq!(model::pct_of_ratio(ratio_of_pct(clamped)), clamped);
    }

    #[test]
    fn the_page_cleaner_passes_when_the_models_does(
        server in 0..4usize,
        (depth, min_len) in (0..20usize, 0..20usize),
        (lru_pages, free, withdraw) in (0..30u32, 0..30usize, prop_oneof![3 => Just(0usize), 1 => 0..9usize]),
        try_lru_scan: bool,
    ) {
        let (variant, server) = SERVERS[server];
        let mut lru = Lru::new(Constants::INNODB, 378);
        for no in 0..lru_pages {
            lru.insert(Page::new((1, no)), false);
        }
        let counters = Counters::default();
        let instance = Instance { lru, frames: 100, free, withdraw, try_lru_scan, counters };
        let mut reserve = variant.rules().reserve;
        reserve.scan_depth_pages = depth as u64;
        reserve.lru_min_len_pages = min_len as u64;
        let state = ReserveState {
            free_pages: free as u64,
            lru_pages: u64::from(lru_pages),
            withdraw_pages: withdraw as u64,
            try_lru_scan,
        };
        prop_assert_eq!(
            reserve.wants_pass(&state),
            wants_pass(server, &instance, depth, min_len)
        );
    }
}
