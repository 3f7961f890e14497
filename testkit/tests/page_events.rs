//! The recorder of page events against the counters of the server that it records.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

use innopool_testkit::page_events::{self, Kind, PageId, Recording};
use innopool_testkit::{self as testkit, Own, Server};

const PAGE_BYTES: u64 = 16 * 1024;

/// Session temporary tablespaces and the global one are in no table of tablespaces.
const TEMPORARY_SPACE_MIN: u32 = 0xfffe_0000;

/// Starts a server with a pool of 2,047 pages in which nothing happens unless it is asked to.
fn quiet_server() -> Option<Server> {
    let mut own = Own::new(testkit::Kind::Mysql)
        .own_program()
        .option("innodb_buffer_pool_size=32M")
        .option("innodb_lru_scan_depth=100");
    for option in page_events::QUIET_OPTIONS {
        own = own.option(option);
    }
    own.start()
}

/// Makes a table of about 44 MB: more than the pool.
fn fill(server: &Server) {
    server.sql(
        "CREATE DATABASE w; \
         CREATE TABLE w.t (id INT PRIMARY KEY AUTO_INCREMENT, k INT, c CHAR(200), KEY (k)); \
         SET cte_max_recursion_depth = 200000; \
         INSERT INTO w.t (k, c) \
         WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 150000) \
         SELECT x * 7919 % 150000, 'x' FROM n",
    );
}

/// Checks that every page is in a file that the server has, and within that file.
fn check_ids(server: &Server, recording: &Recording) {
    let rows = server.sql("SELECT SPACE, FILE_SIZE FROM information_schema.INNODB_TABLESPACES");
    let mut pages: HashMap<u32, u64> = HashMap::new();
    for row in rows {
        let number = |column: usize| row[column].as_ref().unwrap().parse::<u64>().unwrap();
        pages.insert(u32::try_from(number(0)).unwrap(), number(1) / PAGE_BYTES);
    }
    pages.insert(0, fs::metadata(server.datadir().join("ibdata1")).unwrap().len() / PAGE_BYTES);
    for event in &recording.events {
        let PageId { space, page_no } = event.page;
        match pages.get(&space) {
            Some(&size) => assert!(u64::from(page_no) < size, "{event:?} of {size} pages"),
            None => assert!(space >= TEMPORARY_SPACE_MIN, "{event:?} in no tablespace"),
        }
    }
}

#[test]
fn a_recording_agrees_with_the_counters_of_the_server() {
    let Some(server) = quiet_server() else { return };
    fill(&server);
    page_events::settle(&server).unwrap();
    let Some(recorder) = page_events::record(&server) else { return };
    let before = page_events::settle(&server).unwrap();
    // In the order of the pages on disk first: what is read at random is never read ahead.
    server.sql(
        "SELECT SUM(LENGTH(c)) FROM w.t WHERE id < 60000; \
         SELECT SUM(LENGTH(c)) FROM w.t FORCE INDEX (k) WHERE k BETWEEN 1000 AND 9000",
    );
    // More than innodb_old_blocks_time after the first access.
    thread::sleep(Duration::from_millis(1200));
    server.sql(
        "SELECT SUM(LENGTH(c)) FROM w.t FORCE INDEX (k) WHERE k BETWEEN 1000 AND 4000; \
         SELECT SUM(LENGTH(c)) FROM w.t; \
         UPDATE w.t SET k = k + 1 WHERE id BETWEEN 5000 AND 15000; \
         INSERT INTO w.t (k, c) SELECT k, c FROM w.t LIMIT 3000",
    );
    let after = page_events::settle(&server).unwrap();
    let recording = recorder.stop().unwrap();
    assert_eq!(recording.lost, 0);
    check_ids(&server, &recording);

    // Each pair of numbers: ours, the server's.
    let reads = |sync| {
        recording.count(
            |kind| matches!(*kind, Kind::Read { is_sync, was_posted: true } if is_sync == sync),
        )
    };
    let added =
        |old| recording.count(|kind| matches!(*kind, Kind::Add { is_old, .. } if is_old == old));
    let removed = recording.count(|kind| matches!(kind, Kind::Remove { .. }));
    let made_young =
        recording.count(|kind| matches!(kind, Kind::MakeYoung { page, .. } if page.is_old));
    let pairs = [
        ("gets", recording.counted_gets(), after.gets - before.gets),
        ("reads waited for", reads(true), after.reads - before.reads),
        ("read ahead", reads(false), after.pages_read_ahead - before.pages_read_ahead),
        ("pages read", added(true), after.pages_read - before.pages_read),
        ("pages created", added(false), after.pages_created - before.pages_created),
        ("made young", made_young, after.made_young - before.made_young),
        ("pages left", before.pages_data + added(true) + added(false) - removed, after.pages_data),
    ];
    for (what, ours, theirs) in pairs {
        assert!(theirs > 0, "{what}: nothing happened");
        assert_eq!(ours, theirs, "{what}");
    }
}

#[test]
fn a_recording_from_before_the_start_knows_every_page_in_the_pool() {
    let Some(mut server) = quiet_server() else { return };
    fill(&server);
    server.stop().unwrap();
    let Some(recorder) = page_events::record(&server) else { return };
    server.start().unwrap();
    let at_random = "SELECT SUM(LENGTH(c)) FROM w.t FORCE INDEX (k) WHERE k < 200";
    server.sql(&format!("SELECT SUM(LENGTH(c)) FROM w.t; {at_random}"));
    // More than innodb_old_blocks_time after the first access.
    thread::sleep(Duration::from_millis(1200));
    server.sql(at_random);
    page_events::settle(&server).unwrap();
    // The first look at this table reads pages of the dictionary.
    page_events::lru_snapshot(&server).unwrap();
    let stats = page_events::settle(&server).unwrap();
    let snapshot = page_events::lru_snapshot(&server).unwrap();
    assert_eq!(page_events::settle(&server).unwrap(), stats);
    let recording = recorder.stop().unwrap();
    let life = Recording { events: recording.since_empty().to_vec(), ..recording };
    assert_eq!((life.lost, life.counted_gets()), (0, stats.gets));

    // From nothing: each page in the pool, with the eviction clock when it was put at the head.
    let mut pool: HashMap<PageId, u64> = HashMap::new();
    let mut clock = 0;
    for event in &life.events {
        let list = match event.kind {
            Kind::Add { is_old, .. } => {
                // A list too short for an old part takes every page at its head.
                let is_at_head = !is_old || pool.len() < 512;
                let put = if is_at_head { clock } else { 0 };
                assert_eq!(pool.insert(event.page, put), None, "{event:?} twice");
                continue;
            }
            Kind::MakeYoung { list, .. } => {
                *pool.get_mut(&event.page).unwrap() = clock;
                list
            }
            Kind::Remove { page, list } => {
                let put = pool.get(&event.page).copied();
                assert_eq!(put, Some(page.freed_page_clock.into()), "{event:?}");
                assert_eq!(list.pages, pool.len() as u64, "{event:?}");
                assert_eq!(list.freed_page_clock, clock, "{event:?}");
                pool.remove(&event.page);
                clock += 1;
                continue;
            }
            _ => continue,
        };
        assert_eq!((list.pages, list.freed_page_clock), (pool.len() as u64, clock), "{event:?}");
    }
    assert!(clock > 1000 && stats.made_young > 0, "{clock} evictions, {stats:?}");
    let shown: HashMap<PageId, u64> =
        snapshot.iter().map(|row| (row.page, row.freed_page_clock)).collect();
    assert_eq!(shown.len(), snapshot.len());
    assert_eq!(shown, pool);
    let old = snapshot.iter().filter(|row| row.is_old).count() as u64;
    assert_eq!((snapshot.len() as u64, old), (stats.pages_data, stats.pages_old));
    assert!(snapshot[0].is_old && !snapshot[snapshot.len() - 1].is_old, "from tail to head");
}

#[test]
fn nothing_is_left_in_the_kernel() {
    let Some(server) = quiet_server() else { return };
    let Some(recorder) = page_events::record(&server) else { return };
    let program = server.own_program().unwrap().to_str().unwrap().to_owned();
    let events = "/sys/kernel/tracing/uprobe_events";
    let ours =
        || fs::read_to_string(events).unwrap().lines().filter(|l| l.contains(&program)).count();
    assert!(ours() > 10);
    drop(recorder);
    assert_eq!(ours(), 0);

    // What a killed process would have left.
    let stale = "innopool_4294967295_1_0";
    let mut file = fs::OpenOptions::new().append(true).open(events).unwrap();
    std::io::Write::write_all(&mut file, format!("p:{stale}/e {program}:0x2000000\n").as_bytes())
        .unwrap();
    drop(file);
    let instance = format!("/sys/kernel/tracing/instances/{stale}");
    fs::create_dir(&instance).unwrap();
    fs::write(format!("{instance}/events/{stale}/enable"), "1").unwrap();
    let Some(recorder) = page_events::record(&server) else { return };
    assert!(!fs::read_to_string(events).unwrap().contains(stale));
    assert!(!fs::exists(&instance).unwrap());
    assert_eq!(recorder.stop().unwrap().lost, 0);
    assert_eq!(ours(), 0);
}

#[test]
fn a_server_that_shares_its_program_is_refused() {
    let Some(server) = Own::new(testkit::Kind::Mysql).start() else { return };
    let error = page_events::PageRecorder::start(&server).unwrap_err();
    assert!(error.to_string().contains("own_program"), "{error:#}");
}
