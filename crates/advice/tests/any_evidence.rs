//! Whatever a server or a person's paste says, the advice answers: no number makes it panic, no
//! ratio leaves its range, and no size it proposes is above the memory it was told.

mod common;

use common::Look;
use innopool_advice::size::{Curve, CurvePoint, EvidenceLevel};
use proptest::prelude::*;

const STATUS: &[&str] = &[
    "Uptime",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_ahead_evicted",
    "Innodb_buffer_pool_wait_free",
    "Innodb_pages_read",
    "Innodb_os_log_written",
    "Innodb_checkpoint_age",
];

const VARIABLES: &[&str] = &[
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_size_max",
    "innodb_page_size",
    "innodb_lru_scan_depth",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_old_blocks_time",
    "innodb_buffer_pool_dump_pct",
    "innodb_max_dirty_pages_pct",
];

/// Mostly numbers of servers, and now and then one that no server has.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, 0..1_000_000_u64, 0..(1_u64 << 45), Just(u64::MAX), any::<u64>()]
}

fn values(names: &'static [&'static str]) -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let one = (0..names.len(), number()).prop_map(|(at, value)| (names[at], value.to_string()));
    prop::collection::vec(one, 0..20)
}

fn borrowed<'p>(pairs: &'p [(&'static str, String)]) -> Vec<(&'p str, &'p str)> {
    pairs.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// Mostly rates, and now and then what is none.
fn rate() -> impl Strategy<Value = Option<f64>> {
    let odd = prop::sample::select(vec![f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX, 1e-300]);
    prop::option::weighted(0.9, prop_oneof![4 => 0.0..1e6_f64, 1 => odd])
}

fn any_curve() -> impl Strategy<Value = Curve> {
    let point = (number(), rate(), rate(), rate(), any::<bool>()).prop_map(
        |(bytes, reads, low, high, bound_only)| CurvePoint {
            pool_size_bytes: bytes,
            disk_reads_per_second: reads,
            disk_reads_low_per_second: low,
            disk_reads_high_per_second: high,
            bound_only,
            ..CurvePoint::default()
        },
    );
    let points = prop::collection::vec(point, 0..12);
    (points, number(), rate(), rate(), prop::option::weighted(0.1, Just("it is off".to_owned())))
        .prop_map(|(points, recorded, latency, statements, refused)| Curve {
            level: EvidenceLevel::Capture,
            made_from: "a recording".to_owned(),
            recorded_size_bytes: recorded,
            read_latency_seconds: latency,
            statement_seconds_per_second: statements,
            points,
            refused_because: refused,
            remarks: Vec::new(),
        })
}

proptest! {
    #[test]
    fn is_answered_without_panic_and_within_bounds(
        version in prop::sample::select(vec!["5.5.62", "5.7.44", "8.0.36", "9.7.4", "10.4.3-MariaDB", "10.11.14-MariaDB"]),
        size in number(),
        variables in values(VARIABLES),
        first in values(STATUS),
        last in values(STATUS),
        data in prop::option::of(number()),
        memory in prop::option::of(0..(1_u64 << 44)),
        curve in prop::option::of(any_curve()),
    ) {
        let mut look = Look::server(version, "", size)
            .variables(&borrowed(&variables))
            .status(&borrowed(&first))
            .then(&borrowed(&last));
        if let Some(data) = data {
            look = look.data(data);
        }
        if let Some(memory) = memory {
            look = look.host_memory(memory);
        }
        let report = look.report();
        prop_assert!(report.pool.hit_per_mille.is_none_or(|hits| hits <= 1000));
        prop_assert!(report.pool.read_cost_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
        if let Some(memory) = memory {
            prop_assert!(report.memory.pool_budget_bytes.is_none_or(|bytes| bytes <= memory));
        }
        prop_assert!(report.findings.iter().all(|finding| !finding.action.is_empty()));
        // The same evidence for a size, with any curve or none.
        let answer = look.size(curve.as_ref());
        let Some(found) = &answer.recommendation else { return Ok(()) };
        if let Some(ceiling) = answer.memory_budget.ceiling_bytes {
            prop_assert!(found.pool_size_bytes <= ceiling, "{:?}", answer);
            prop_assert!(found.high_bytes.is_none_or(|high| high <= ceiling));
        }
        prop_assert!(found.low_bytes.is_none_or(|low| low <= found.pool_size_bytes));
        prop_assert!(found.high_bytes.is_none_or(|high| high >= found.pool_size_bytes));
        prop_assert!(found.pool_size_bytes > 0 && !found.reasons.is_empty());
        prop_assert_eq!(found.keep_current, answer.action.is_empty());
    }
}
