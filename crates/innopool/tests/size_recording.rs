//! `innopool size --recording`: from recordings made here, with and without a server beside them.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

mod common;

use std::path::{Path, PathBuf};

use common::{for_each_shared, innopool};
use innopool_policy::page::PageId;
use innopool_policy::time::Time;
use innopool_recording::{
    Counters, Event, EventKind, Existing, Flavor, PoolSettings, Provenance, Record, Sampling,
    Source, WindowEnd, WindowStart, create,
};

const PAGE: u64 = 16_384;
const MIB: u64 = 1 << 20;

/// Pages read over and over: 125 MB.
const LOOP_PAGES: u32 = 8000;

/// The pool: half of that.
const POOL_BYTES: u64 = 64 * MIB;

fn provenance(server_uuid: Option<&str>) -> Provenance {
    Provenance {
        recorded_by: "tests".to_owned(),
        flavor: Flavor::Mysql,
        server_version: "9.7.4".to_owned(),
        server_uuid: server_uuid.map(str::to_owned),
        source: Source::Events,
        pool: PoolSettings {
            size_bytes: POOL_BYTES,
            chunk_bytes: Some(POOL_BYTES),
            instances: 1,
            page_size_bytes: 16_384,
            old_blocks_pct: 37.0,
            old_blocks_time_ms: 1000,
            lru_scan_depth: 1024,
            read_ahead_threshold: 0,
            random_read_ahead: false,
            adaptive_hash_index: false,
        },
        sampling: Sampling::ALL,
        tablespaces: Vec::new(),
        started_unix_us: 1_796_083_200_000_000,
        remarks: Vec::new(),
    }
}

/// Sixty seconds in which a pool is read through `rounds` times, which leaves every read a miss: the
/// list forgets each page before it comes again.
fn recording(directory: &Path, server_uuid: Option<&str>, rounds: u32) -> PathBuf {
    let path = directory.join("loop.ipr");
    let mut writer = create(&path, Existing::Keep, &provenance(server_uuid)).unwrap();
    let counters = |reads: u64, seconds: u64| Counters {
        read_requests: Some(1_000_000 + 10 * reads),
        reads: Some(500_000 + reads),
        transactions: Some(100 * seconds),
        statement_time_ps: Some(seconds * 2_000_000_000_000),
        data_read_time_ps: Some(reads * 500_000_000),
        data_reads: Some(reads),
        uptime_seconds: Some(1_000_000 + seconds),
        ..Counters::default()
    };
    let start = WindowStart {
        unix_us: 1_796_083_200_000_000,
        counters: counters(0, 0),
        has_residents: true,
    };
    writer.record(&Record::WindowStart(start)).unwrap();
    let frames = u32::try_from(POOL_BYTES / PAGE).unwrap();
    let resident: Vec<PageId> =
        (LOOP_PAGES - frames + 1100..LOOP_PAGES).rev().map(|page| PageId::new(5, page)).collect();
    writer.record(&Record::Resident { instance: 0, pages: resident }).unwrap();
    let reads = u64::from(rounds) * u64::from(LOOP_PAGES);
    for read in 0..reads {
        let page = u32::try_from(read % u64::from(LOOP_PAGES)).unwrap();
        let event = Event {
            time: Time::from_micros(read * 60_000_000 / reads),
            page: PageId::new(5, page),
            kind: EventKind::DemandRead,
        };
        writer.record(&Record::Event(event)).unwrap();
    }
    let end = WindowEnd {
        time_us: 60_000_000,
        counters: counters(reads, 60),
        lost_events: 0,
        stopped_because: None,
    };
    writer.record(&Record::WindowEnd(end)).unwrap();
    writer.finish().unwrap();
    path
}

#[test]
fn a_loop_that_does_not_fit_is_given_a_pool_that_holds_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = recording(directory.path(), None, 6);
    let path = path.to_str().unwrap();
    let run = innopool(["size", "--recording", path, "--host-memory", "8G", "--format", "json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let answer = run.json();
    let found = &answer["recommendation"];
    assert_eq!(found["evidence_level"], "capture", "{answer:#}");
    assert_eq!(answer["curve_from"]["recorded_size_bytes"], POOL_BYTES);
    let bytes = found["pool_size_bytes"].as_u64().unwrap();
    let needed = u64::from(LOOP_PAGES) * PAGE;
    assert!((needed..=3 * needed).contains(&bytes), "{answer:#}");
    // Within the budget, and with far fewer reads than the 800 a second of today.
    let ceiling = answer["memory_budget"]["ceiling_bytes"].as_u64().unwrap();
    assert!(bytes <= ceiling);
    let reads = |side: &str| answer["price"][side]["disk_reads_per_second"].as_f64().unwrap();
    assert!(reads("recommended") < 400.0, "{}", answer["price"]);
    let page = innopool(["size", "--recording", path, "--host-memory", "8G"]);
    assert!(page.stdout.contains("of this server's page accesses"), "{}", page.stdout);
    assert!(page.stdout.lines().any(|line| line.starts_with("  > ")), "{}", page.stdout);
}

#[test]
fn a_recording_alone_has_no_budget_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = recording(directory.path(), None, 6);
    let run = innopool(["size", "--recording", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("nothing limits the size: --host-memory says it"), "{page}");
}

#[test]
fn a_recording_of_another_server_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = recording(directory.path(), Some("00000000-0000-0000-0000-000000000000"), 1);
    let path = path.to_str().unwrap();
    for_each_shared(|server| {
        let url = server.url();
        let run = innopool(["size", &url, "--interval", "1", "--recording", path]);
        // MariaDB has no such identity.
        match server.kind() {
            innopool_testkit::Kind::Mysql => run.assert_fails(2, &["loop.ipr", "another server"]),
            innopool_testkit::Kind::Mariadb => assert_eq!(run.code, Some(0), "{run:?}"),
        }
    });
}

#[test]
fn what_is_no_recording_is_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    std::fs::write(&path, "no recording").unwrap();
    innopool(["size", "--recording", path.to_str().unwrap()]).assert_fails(2, &["notes.txt"]);
    innopool(["size", "--recording", "/nowhere/x.ipr"]).assert_fails(2, &["/nowhere/x.ipr"]);
}
