//! The replacement rules against MySQL 9.7 itself, page by page.
//!
//! A real server works; what it does with each page of its pool is recorded from its first page on,
//! and followed by the rules ([`replay`]). Nothing is averaged: one page in another place than the
//! server has it is a failure.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic anywhere")]

mod replay;

use std::thread;
use std::time::Duration;

use innopool_policy::rules::ListRules;
use innopool_policy::variant::{Variant, VariantRules};
use innopool_testkit::page_events::{self, LruRow, PoolStats, Recording};
use innopool_testkit::{Kind, Own, Server};
use mysql::Conn;
use mysql::prelude::Queryable;
use replay::{Replay, Tally};

/// More than `innodb_old_blocks_time`.
const PATIENCE: Duration = Duration::from_millis(1200);

/// A server with a pool of 2,047 pages and a table of about 3,000; `None` where there can be none.
fn server(options: &[&str]) -> Option<Server> {
    let mut own = Own::new(Kind::Mysql).own_program().option("innodb_buffer_pool_size=32M");
    for option in page_events::QUIET_OPTIONS.iter().chain(options) {
        own = own.option(option);
    }
    let server = own.start()?;
    server.sql(
        "CREATE DATABASE w; \
         CREATE TABLE w.t (id INT PRIMARY KEY AUTO_INCREMENT, k INT, c CHAR(200), KEY (k)); \
         SET cte_max_recursion_depth = 200000; \
         INSERT INTO w.t (k, c) \
         WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 150000) \
         SELECT x * 7919 % 150000, 'x' FROM n",
    );
    Some(server)
}

/// What a server did from its start on, and what it says of it.
struct Life {
    recording: Recording,
    stats: PoolStats,
    list: Vec<LruRow>,
}

impl Life {
    /// Starts the server anew and records it while it works; `None` where nothing can be recorded.
    fn record(mut server: Server, work: impl Fn(&mut Conn)) -> Option<Life> {
        server.stop().unwrap();
        let recorder = page_events::record(&server)?;
        server.start().unwrap();
        work(&mut server.connect().unwrap());
        page_events::settle(&server).unwrap();
        // The first look at this table reads pages of the dictionary.
        page_events::lru_snapshot(&server).unwrap();
        let stats = page_events::settle(&server).unwrap();
        let list = page_events::lru_snapshot(&server).unwrap();
        assert_eq!(page_events::settle(&server).unwrap(), stats);
        let recording = recorder.stop().unwrap();
        let recording = Recording { events: recording.since_empty().to_vec(), ..recording };
        assert_eq!((recording.lost, recording.counted_gets()), (0, stats.gets));
        Some(Life { recording, stats, list })
    }

    fn follow(&self, rules: VariantRules) -> Result<Replay, String> {
        let mut replay = Replay::new(rules, self.stats.pages_total);
        replay.follow(&self.recording)?;
        replay.ends_as(&self.list)?;
        Ok(replay)
    }

    /// Checks that the rules do what the server did, to the last page.
    fn is_what_rules_do(&self, rules: VariantRules) -> Tally {
        let tally = self.follow(rules).unwrap_or_else(|difference| panic!("{difference}")).tally;
        assert_eq!(tally.made_young, self.stats.made_young, "{tally:?}");
        // A verdict that leaves its page where it is shows in this counter alone.
        let off_by = tally.not_made_young.abs_diff(self.stats.not_made_young);
        assert!(off_by <= tally.overtaken, "{tally:?} {:?}", self.stats);
        assert!(tally.overtaken * 1000 <= tally.accesses, "{tally:?}");
        tally
    }
}

fn mysql97() -> VariantRules {
    Variant::Mysql84.rules()
}

/// A set of rows that is read again and again, scans of pages in their order and at random.
fn read(session: &mut Conn) {
    for round in 0..6 {
        for hot in 0..300 {
            session.query_drop(format!("SELECT c FROM w.t WHERE id = {}", 1 + hot * 37)).unwrap();
        }
        let low = 20_000 * round;
        for condition in [
            format!("WHERE id BETWEEN {low} AND {low} + 30000"),
            format!("FORCE INDEX (k) WHERE k BETWEEN {low} AND {low} + 500"),
        ] {
            session.query_drop(format!("SELECT SUM(LENGTH(c)) FROM w.t {condition}")).unwrap();
        }
        thread::sleep(PATIENCE);
    }
}

#[test]
fn reading_moves_and_evicts_the_same_pages() {
    let Some(server) = server(&["innodb_lru_scan_depth=100"]) else { return };
    let Some(life) = Life::record(server, read) else { return };
    let tally = life.is_what_rules_do(mysql97());
    assert!(tally.evicted > 1000, "{tally:?}");
    assert!(tally.made_young > 100 && tally.moved_while_young > 100, "{tally:?}");

    // Rules that are only slightly others are found out.
    let list = mysql97().list;
    let others = [
        ListRules { old_tolerance_pages: list.old_tolerance_pages - 1, ..list },
        ListRules { old_min_len_pages: list.old_min_len_pages + 1, ..list },
        list.with_old_blocks_time(Duration::from_secs(8)),
        list.with_old_blocks_time(Duration::ZERO),
        ListRules::lru(),
    ];
    for list in others {
        let rules = VariantRules { list, ..mysql97() };
        assert!(life.follow(rules).is_err(), "{list:?}");
    }
    // The recording sets the ratio as the server does, so it can only be left out.
    let recording = Recording { old_blocks_pct: Vec::new(), ..life.recording.clone() };
    let list = ListRules { old_ratio: list.old_ratio + 1, ..list };
    let mut replay = Replay::new(VariantRules { list, ..mysql97() }, life.stats.pages_total);
    assert!(replay.follow(&recording).is_err(), "a ratio of 379/1024");
    // The window in which a young page stays where it is: a quarter of the young part of the pool.
    let mut replay = Replay::new(mysql97(), life.stats.pages_total - 8);
    assert!(replay.follow(&life.recording).is_err(), "a pool that is 8 pages smaller");
}

#[test]
fn other_settings_move_and_evict_the_same_pages() {
    for (percent, time_ms) in [(20, 0), (80, 300)] {
        let percent_option = format!("innodb_old_blocks_pct={percent}");
        let time_option = format!("innodb_old_blocks_time={time_ms}");
        let Some(server) = server(&[&percent_option, &time_option]) else { return };
        let Some(life) = Life::record(server, read) else { return };
        let time = Duration::from_millis(time_ms);
        // The other setting is an event of the recording.
        let list = mysql97().list.with_old_blocks_time(time);
        let tally = life.is_what_rules_do(VariantRules { list, ..mysql97() });
        assert!(tally.evicted > 1000 && tally.made_young > 100, "{tally:?}");
        assert!(life.follow(mysql97()).is_err(), "the default settings");
    }
}

#[test]
fn writing_moves_and_evicts_the_same_pages() {
    let Some(server) = server(&[]) else { return };
    let life = Life::record(server, |session| {
        for round in 0..5 {
            let low = 20_000 * round;
            for statement in [
                format!("SELECT SUM(LENGTH(c)) FROM w.t WHERE id BETWEEN {low} AND {low} + 10000"),
                format!("UPDATE w.t SET k = k + 1 WHERE id BETWEEN {low} AND {low} + 4000"),
                format!(
                    "INSERT INTO w.t (k, c) \
                     SELECT k, c FROM w.t WHERE id BETWEEN {low} AND {low} + 2000"
                ),
                format!("DELETE FROM w.t WHERE id BETWEEN {low} + 9000 AND {low} + 9500"),
            ] {
                session.query_drop(statement).unwrap();
            }
            thread::sleep(PATIENCE);
        }
    });
    let Some(life) = life else { return };
    let tally = life.is_what_rules_do(mysql97());
    assert!(life.stats.pages_written > 1000 && tally.evicted > 1000, "{tally:?}");
}
