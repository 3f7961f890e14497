//! Dump and load of the pool: not asked for, failed, slow, at risk.

use std::fmt::Write as _;

use innopool_testkit::{Kind, Server};

use crate::load::Repeating;
use crate::look::{fill, look, look_with, server, type_and_restart, type_statements, wait_until};

#[test]
fn warmup_not_configured() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &["innodb_buffer_pool_load_at_startup=OFF"]) else {
            return;
        };
        server.sql("SET GLOBAL innodb_buffer_pool_dump_at_shutdown = OFF");
        let seen = look(&server);
        assert_eq!(seen.severity("warmup-not-configured"), Some("warning"));
        type_and_restart(&mut server, seen.action("warmup-not-configured"));
        look(&server).cleared("warmup-not-configured");
    }
}

/// Puts this text in the place of the dump file of a stopped server, and starts it.
fn start_with_dump(server: &mut Server, text: &str) {
    server.stop().unwrap();
    std::fs::write(server.datadir().join("ib_buffer_pool"), text).unwrap();
    server.start().unwrap();
}

#[test]
fn warmup_failed() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &[]) else {
            return;
        };
        start_with_dump(&mut server, "1,2\nnot a page\n");
        wait_until("the load to fail", 20, || {
            server.status("Innodb_buffer_pool_load_status").contains("rror")
        });
        let seen = look(&server);
        assert_eq!(seen.severity("warmup-failed"), Some("warning"), "{:#}", seen.json);
        type_statements(&server, seen.action("warmup-failed"));
        wait_until("the load", 20, || {
            server.status("Innodb_buffer_pool_load_status").contains("completed")
        });
        look(&server).cleared("warmup-failed");
    }
}

#[test]
fn warmup_throttled_by_io_capacity() {
    let options =
        ["innodb_io_capacity=100", "innodb_io_capacity_max=200", "innodb_buffer_pool_size=2G"];
    let Some(mut server) = server(Kind::Mysql, &options) else {
        return;
    };
    // Ids of pages that do not exist load in no time, but the next dump file is judged as it is.
    let mut dump = String::new();
    for page in 0..90_000 {
        writeln!(dump, "4000,{page}").unwrap();
    }
    start_with_dump(&mut server, &dump);
    let seen = look(&server);
    assert!(seen.finding("warmup-throttled").is_some(), "{:#}", seen.json);
    type_statements_until_back(&server, seen.action("warmup-throttled"));
    look(&server).cleared("warmup-throttled");
}

/// Types an action up to the line that puts the setting back afterwards.
fn type_statements_until_back(server: &Server, action: &str) {
    let now: Vec<&str> = action.lines().take_while(|line| !line.starts_with("and back")).collect();
    type_statements(server, &now.join("\n"));
}

#[test]
fn dump_at_risk_after_an_aborted_load() {
    let options =
        ["innodb_io_capacity=100", "innodb_io_capacity_max=200", "innodb_buffer_pool_size=512M"];
    let Some(mut server) = server(Kind::Mysql, &options) else {
        return;
    };
    fill(&server, 128);
    server.sql("SELECT SUM(LENGTH(pad)) FROM test.filler");
    server.sql("SET GLOBAL innodb_buffer_pool_dump_pct = 100");
    server.stop().unwrap();
    server.start().unwrap();
    // Only writes count as activity, which makes the server throttle; so the load is still running
    // when it is aborted.
    let load = Repeating::start(&server, 2, |n| {
        let row = n * 37 % 30_000 + 1;
        let digit = n % 10;
        format!("UPDATE test.filler SET pad = CONCAT(SUBSTR(pad, 2), {digit}) WHERE id = {row}")
    });
    wait_until("the load to run", 30, || {
        server.status("Innodb_buffer_pool_load_status").starts_with("Loaded")
    });
    let running = look(&server);
    assert_eq!(running.severity("dump-at-risk"), Some("notice"), "{:#}", running.json);
    assert!(running.finding("cold-pool").is_some(), "{:#}", running.json);
    server.sql("SET GLOBAL innodb_buffer_pool_load_abort = ON");
    wait_until("the load to stop", 30, || {
        server.status("Innodb_buffer_pool_load_status").contains("aborted")
    });
    let seen = look(&server);
    assert_eq!(seen.severity("dump-at-risk"), Some("warning"), "{:#}", seen.json);
    drop(load);
    type_statements(&server, seen.action("dump-at-risk"));
    wait_until("the load", 60, || {
        server.status("Innodb_buffer_pool_load_status").contains("completed")
    });
    // The start took the percentage back to 25, so the next dump would still be a worse one.
    let warm = look(&server);
    assert_eq!(warm.severity("dump-at-risk"), Some("notice"), "{:#}", warm.json);
    type_statements(&server, warm.action("dump-at-risk"));
    look(&server).cleared("dump-at-risk");
}

#[test]
fn cold_pool() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &["innodb_buffer_pool_size=512M"]) else {
            return;
        };
        fill(&server, 160);
        server.stop().unwrap();
        std::fs::remove_file(server.datadir().join("ib_buffer_pool")).unwrap();
        server.start().unwrap();
        let load = Repeating::start(&server, 1, |n| {
            format!("SELECT LENGTH(pad) FROM test.filler WHERE id = {}", n * 7919 % 40_000 + 1)
        });
        let seen = look_with(&server, 1, &[]);
        drop(load);
        assert_eq!(seen.severity("cold-pool"), Some("notice"), "{:#}", seen.json);
        seen.cleared("pool-too-small");
        // The action is to wait until it is warm.
        server.sql("SELECT SUM(LENGTH(pad)) FROM test.filler");
        look(&server).cleared("cold-pool");
    }
}
