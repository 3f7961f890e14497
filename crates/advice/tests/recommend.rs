//! The size that is recommended, from each level of evidence.

mod common;

use common::{GIB, Look, MIB, curve};
use innopool_advice::size::{Curve, EvidenceLevel, Recommendation};
use innopool_target::effective_size::effective_pool_size;
use innopool_target::version::Server;
use proptest::prelude::*;

#[track_caller]
fn answer(look: &Look, curve: Option<&Curve>) -> Recommendation {
    let report = look.size(curve);
    match report.recommendation {
        Some(found) => found,
        None => panic!("no recommendation: {report:#?}"),
    }
}

/// The machine of the article: 128 MB on 32 GB, half of the requests hit.
fn article() -> Look {
    Look::server("8.0.36", "MySQL Community Server - GPL", 128 * MIB)
        .pages(8192, 100, 500)
        .counters(&[
            ("Uptime", 3_600_000, 1.0),
            ("Innodb_buffer_pool_reads", 1_000_000, 9420.0),
            ("Innodb_buffer_pool_read_requests", 2_000_000, 18_800.0),
        ])
        .cost(9420.0, 0.0009, 13.9)
        .host_memory(32 * GIB)
}

#[test]
fn the_article_ends_at_24_gb_from_counters() {
    let found = answer(&article(), None);
    assert_eq!(found.pool_size_bytes, 25_769_803_776);
    assert_eq!(found.evidence_level, EvidenceLevel::Counters);
    assert!(!found.keep_current);
    assert_eq!(found.low_bytes, None, "counters cannot tell");
    let report = article().size(None);
    assert!(report.action.contains("SET PERSIST innodb_buffer_pool_size = 25769803776;"));
    let commands: Vec<_> = report.better_evidence.iter().map(|b| b.command.as_str()).collect();
    assert!(commands.iter().any(|command| command.starts_with("innopool capture")), "{commands:?}");
}

#[test]
fn the_article_ends_at_24_gb_by_rule_too() {
    let look = Look::server("8.0.36", "", 128 * MIB).data(130 * GIB).host_memory(32 * GIB);
    let found = answer(&look, None);
    assert_eq!((found.pool_size_bytes, found.evidence_level), (24 * GIB, EvidenceLevel::Rule));
}

#[test]
fn the_machine_with_38_gb_of_data_and_64_gb_gets_all_of_it() {
    let look = Look::server("8.0.36", "", 4 * GIB).data(38 * GIB).host_memory(64 * GIB);
    let size = answer(&look, None).pool_size_bytes;
    assert!((40 * GIB..=44 * GIB).contains(&size), "{}", size / MIB);
}

#[test]
fn what_has_room_or_costs_nothing_is_left_alone() {
    let with_room = Look::mysql(4 * GIB)
        .pages(262_144, 100_000, 10)
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_buffer_pool_reads", 1000, 500.0)])
        .host_memory(32 * GIB);
    let found = answer(&with_room, None);
    assert!(found.keep_current && found.pool_size_bytes == 4 * GIB, "{found:?}");
    let cheap = Look::mysql(20 * GIB)
        .pages(20 << 16, 100, 10)
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_buffer_pool_reads", 1000, 300.0)])
        .cost(300.0, 0.0001, 13.9)
        .host_memory(32 * GIB);
    let found = answer(&cheap, None);
    assert!(found.keep_current, "{found:?}");
}

#[test]
fn without_the_machines_memory_a_rule_has_no_answer_and_says_what_it_needs() {
    let report = Look::mysql(128 * MIB).data(38 * GIB).size(None);
    assert_eq!(report.recommendation, None);
    assert!(report.remarks.iter().any(|r| r.contains("--host-memory")), "{:?}", report.remarks);
    assert!(report.headline.contains("does not tell"), "{}", report.headline);
}

/// Reads that fall to next to nothing at 16 GB, at 61 % of the time in the beginning.
fn falling() -> Curve {
    curve(&[
        (128 * MIB, 9420.0, 9420.0, 9420.0),
        (8 * GIB, 2650.0, 2870.0, 3110.0),
        (16 * GIB, 560.0, 640.0, 730.0),
        (20 * GIB, 250.0, 310.0, 390.0),
        (24 * GIB, 230.0, 290.0, 370.0),
        (28 * GIB, 220.0, 285.0, 365.0),
        (40 * GIB, 220.0, 285.0, 365.0),
    ])
}

#[test]
fn on_a_curve_the_smallest_of_the_good_sizes_is_recommended() {
    let report = article().size(Some(&falling()));
    let found = report.recommendation.clone().expect("a size");
    assert_eq!((found.pool_size_bytes, found.keep_current), (20 * GIB, false));
    assert_eq!(found.evidence_level, EvidenceLevel::Capture);
    let price = report.price.expect("a price");
    assert_eq!(price.recommended.disk_reads_per_second, 310.0);
    assert!(price.recommended.throughput_ratio.is_some_and(|ratio| ratio > 0.95));
    assert!(price.recommended.memory_left_bytes.is_some_and(|left| left > 4 * GIB));
    assert!(report.headline.starts_with("20 GB"), "{}", report.headline);
    let over: Vec<_> = report.curve.iter().map(|row| row.within_budget).collect();
    assert_eq!(over.last(), Some(&Some(false)));
    assert_eq!(over.first(), Some(&Some(true)));
}

#[test]
fn a_refused_curve_is_shown_and_never_followed() {
    let refused = Curve { refused_because: Some("the replay is off by 40 %.".into()), ..falling() };
    let report = article().size(Some(&refused));
    let found = report.recommendation.expect("by counters");
    assert_eq!(found.evidence_level, EvidenceLevel::Counters);
    assert_eq!(report.curve.len(), 7);
    assert!(found.reasons.iter().any(|r| r.contains("off by 40 %")), "{:?}", found.reasons);
    assert_eq!(report.price, None);
}

#[test]
fn where_the_curve_says_nothing_no_size_is_recommended() {
    let mut known_small = falling();
    for point in &mut known_small.points[3..] {
        point.bound_only = true;
        point.disk_reads_per_second = None;
        point.disk_reads_low_per_second = Some(0.0);
        point.disk_reads_high_per_second = Some(730.0);
    }
    let report = article().size(Some(&known_small));
    let found = report.recommendation.expect("a size");
    assert_eq!(found.pool_size_bytes, 16 * GIB, "the largest that is known");
    assert!(report.remarks.iter().any(|r| r.contains("record again")), "{:?}", report.remarks);
    // A worst case that is better than what is known of smaller sizes is worth moving to.
    let mut worst = known_small.clone();
    for point in &mut worst.points[4..] {
        point.disk_reads_high_per_second = Some(300.0);
    }
    let found = answer(&article(), Some(&worst));
    assert_eq!(found.pool_size_bytes, 24 * GIB);
    assert!(found.reasons.iter().any(|r| r.contains("only the worst")), "{:?}", found.reasons);
    // Bounds alone: too far apart, so counters decide.
    for point in &mut known_small.points {
        point.bound_only = true;
    }
    let report = article().size(Some(&known_small));
    let found = report.recommendation.expect("by counters");
    assert_eq!(found.evidence_level, EvidenceLevel::Counters);
    assert!(found.reasons.iter().any(|r| r.contains("only bounds")), "{:?}", found.reasons);
}

#[test]
fn bounds_that_are_close_enough_are_followed() {
    let mut dumps = falling();
    dumps.level = EvidenceLevel::Snapshots;
    for point in &mut dumps.points {
        point.bound_only = true;
        point.disk_reads_per_second = None;
    }
    let found = answer(&article(), Some(&dumps));
    assert_eq!(found.evidence_level, EvidenceLevel::Snapshots);
    assert_eq!(found.pool_size_bytes, 20 * GIB);
}

#[test]
fn a_recording_alone_gives_a_size_and_says_that_nothing_limits_it() {
    let report = Look::nothing().size(Some(&falling()));
    let found = report.recommendation.expect("a size");
    assert_eq!(found.pool_size_bytes, 20 * GIB);
    assert_eq!(report.memory_budget.ceiling_bytes, None);
    assert!(report.remarks.iter().any(|r| r.contains("not known")), "{:?}", report.remarks);
    // With the machine's memory it has a budget.
    let report = Look::nothing().host_memory(12 * GIB).size(Some(&falling()));
    assert_eq!(report.recommendation.expect("a size").pool_size_bytes, 8 * GIB);
}

#[test]
fn a_budget_below_the_whole_curve_is_said_and_kept() {
    let look = Look::mysql(8 * GIB).host_memory(4 * GIB);
    let curve = curve(&[(8 * GIB, 5.0, 5.0, 5.0), (16 * GIB, 1.0, 1.0, 1.0)]);
    let report = look.size(Some(&curve));
    let found = report.recommendation.expect("what memory allows");
    assert!(found.pool_size_bytes <= 3 * GIB, "{found:?}");
    assert!(found.reasons.iter().any(|r| r.contains("within the memory budget")), "{found:?}");
}

/// The published sweep: MySQL 9.7 on 32 GB, TPROC-C over 130 GB; new orders a minute at each size,
/// highest at 28 GB, with swap-ins from 24 GB on. The curve is its throughput turned into reads: the
/// time of a new order beside that of the best.
fn sweep(recorded_gib: u64) -> Curve {
    const NOPM: [(u64, f64); 8] = [
        (4, 20_641.0),
        (8, 18_991.0),
        (12, 18_889.0),
        (16, 25_499.0),
        (20, 35_028.0),
        (24, 36_744.0),
        (28, 38_997.0),
        (31, 35_053.0),
    ];
    let reads = |nopm: f64| 20_000.0 * (40_000.0 / nopm - 1.0);
    let rows: Vec<_> = NOPM
        .iter()
        .map(|(gib, nopm)| (gib * GIB, reads(*nopm), reads(*nopm), reads(*nopm)))
        .collect();
    Curve {
        level: EvidenceLevel::Sweep,
        recorded_size_bytes: recorded_gib * GIB,
        read_latency_seconds: Some(0.001),
        // All of the time beside reading is 20 s a second: twenty sessions at work.
        statement_seconds_per_second: NOPM
            .iter()
            .find(|(gib, _)| *gib == recorded_gib)
            .map(|(_, nopm)| 20.0 + reads(*nopm) * 0.001),
        ..curve(&rows)
    }
}

/// A pool under load on a 32 GB machine where others use some memory and pages are swapped in.
fn host_32(pool_gib: u64, other_processes: u64, swap_in_pages_per_second: u64) -> Look {
    let (ram, rss) = ((32 * GIB).to_string(), (pool_gib * GIB + 300 * MIB).to_string());
    let (others, later) =
        (other_processes.to_string(), (1000 + 10 * swap_in_pages_per_second).to_string());
    let fields = |swapped_in| {
        [
            ("ram_bytes", ram.as_str()),
            ("other_processes_rss_bytes", others.as_str()),
            ("server_rss_bytes", rss.as_str()),
            ("swapped_in_pages", swapped_in),
        ]
    };
    Look::server("9.7.1", "MySQL Community Server - GPL", pool_gib * GIB)
        .pages(pool_gib << 16, 1024, 20_000)
        .counters(&[("Uptime", 86_400, 1.0), ("Innodb_buffer_pool_reads", 1000, 5000.0)])
        .host(&fields("1000"))
        .host_then(&fields(&later))
}

#[test]
fn on_the_machine_of_the_published_sweep_28_and_31_gb_are_never_recommended() {
    for pool in [4, 8, 12, 16, 20, 24, 28, 31] {
        // From 24 GB on the sweep saw swap-ins.
        let swap_ins = if pool >= 24 { 100 } else { 0 };
        for others in [0, 200 * MIB, GIB, 3 * GIB] {
            let look = host_32(pool, others, swap_ins);
            for curve in [None, Some(sweep(pool))] {
                let found = answer(&look, curve.as_ref());
                let (size, gib) = (found.pool_size_bytes, found.pool_size_bytes / GIB);
                assert!(size < 28 * GIB, "{pool} GB, {others}: {gib} GB");
                if curve.is_some() {
                    let good = [20, 24].contains(&gib);
                    assert!(good, "{pool} GB, {others} beside it: {gib} GB, {found:?}");
                }
            }
        }
    }
}

#[test]
fn a_machine_that_swaps_is_not_given_a_larger_pool() {
    let found = answer(&host_32(16, GIB, 100), Some(&sweep(16)));
    assert!(found.keep_current, "{found:?}");
    assert!(found.reasons.iter().any(|r| r.contains("swaps")), "{:?}", found.reasons);
    let found = answer(&host_32(16, GIB, 0), Some(&sweep(16)));
    assert_eq!(found.pool_size_bytes, 24 * GIB);
}

#[test]
fn a_size_is_what_the_server_makes_of_it() {
    let version = |version: &str, size: u64| {
        let rows = [(GIB, 900.0, 1000.0, 1100.0), (size, 0.0, 0.0, 0.0)];
        answer(&Look::server(version, "", GIB).host_memory(64 * GIB), Some(&curve(&rows)))
            .pool_size_bytes
    };
    // Eight instances of 128 MB chunks on 8.0; a chunk on 8.4; a megabyte on new MariaDB.
    assert_eq!(version("8.0.36", 5 * GIB + 300 * MIB), 6 * GIB);
    assert_eq!(version("8.4.3", 5 * GIB + 300 * MIB), 5 * GIB + 384 * MIB);
    assert_eq!(version("10.11.14-MariaDB", 5 * GIB + 300 * MIB + 1), 5 * GIB + 301 * MIB);
    assert_eq!(version("5.6.51", 5 * GIB + 300 * MIB), 5 * GIB + 300 * MIB);
}

#[test]
fn a_size_above_mariadbs_ceiling_is_typed_with_the_ceiling() {
    let look = Look::mariadb("10.11.14", GIB)
        .variables(&[("innodb_buffer_pool_size_max", &(2 * GIB).to_string())])
        .host_memory(64 * GIB);
    let rows = [(GIB, 900.0, 1000.0, 1100.0), (8 * GIB, 0.0, 0.0, 0.0)];
    let report = look.size(Some(&curve(&rows)));
    assert!(
        report.action.contains("innodb_buffer_pool_size_max = 8589934592"),
        "{}",
        report.action
    );
    assert!(report.action.contains("restart"), "{}", report.action);
}

#[test]
fn settings_are_named_only_where_they_differ() {
    assert!(article().size(None).settings.is_empty());
    let busy = article()
        .variables(&[
            ("innodb_redo_log_capacity", "104857600"),
            ("innodb_io_capacity", "200"),
            ("innodb_io_capacity_max", "2000"),
            ("innodb_buffer_pool_instances", "64"),
        ])
        .counters(&[
            ("Innodb_os_log_written", 1 << 40, 2e6),
            ("Innodb_buffer_pool_pages_flushed", 1_000_000, 190.0),
        ])
        .pages(8192, 100, 2000);
    let report = busy.size(None);
    let wanted = |name: &str| {
        report.settings.iter().find(|setting| setting.name == name).map(|s| s.recommended)
    };
    // An hour of 2 MB/s, in whole steps of 64 MB.
    assert_eq!(wanted("innodb_redo_log_capacity"), Some(108 * 64 * MIB));
    assert_eq!(wanted("innodb_io_capacity"), Some(1000));
    assert_eq!(wanted("innodb_buffer_pool_instances"), Some(24), "{:?}", report.settings);
    for setting in &report.settings {
        assert!(!setting.evidence.is_empty() && !setting.action.is_empty(), "{setting:?}");
    }
}

const VERSIONS: [&str; 9] = [
    "5.6.51",
    "5.7.44",
    "8.0.36",
    "8.4.3",
    "9.7.4",
    "10.4.30-MariaDB",
    "10.6.12-MariaDB",
    "10.11.6-MariaDB",
    "10.11.14-MariaDB",
];

proptest! {
    #[test]
    fn what_is_moved_to_is_within_the_budget_kept_by_the_server_and_grows_with_memory(
        version in prop::sample::select(VERSIONS.to_vec()),
        memory in (256 * MIB..10_000_000_000_000_u64, 256 * MIB..10_000_000_000_000_u64),
        current in prop_oneof![1_u64..GIB, GIB..10_000_000_000_000],
        largest in prop_oneof![1_u64..GIB, GIB..10_000_000_000_000],
        fall in 0.1..0.9_f64,
    ) {
        let rows: Vec<_> = (1..=12_u64)
            .map(|row| (largest / 12 * row + 1, 5000.0 * fall.powf(row as f64)))
            .map(|(bytes, reads)| (bytes, reads * 0.9, reads, reads * 1.1))
            .collect();
        let curve = curve(&rows);
        let sizes: Vec<u64> = [memory.0.min(memory.1), memory.0.max(memory.1)]
            .into_iter()
            .map(|memory| {
                let look = Look::server(version, "", current).host_memory(memory);
                let report = look.size(Some(&curve));
                let ceiling = report.memory_budget.ceiling_bytes.expect("memory is known");
                let Some(found) = report.recommendation else { return 0 };
                assert!(found.pool_size_bytes <= ceiling, "{found:?}");
                if !found.keep_current {
                    let server = Server::detect(version, "");
                    let made = effective_pool_size(found.pool_size_bytes, None, None, None, &server);
                    assert_eq!(made.size_bytes, found.pool_size_bytes, "{found:?}");
                }
                found.pool_size_bytes
            })
            .collect();
        prop_assert!(sizes[0] <= sizes[1], "{:?}", sizes);
    }
}
