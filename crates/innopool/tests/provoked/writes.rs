//! The write side under load: dirty pages, redo, io_capacity, free frames, read-ahead.

use innopool_testkit::Kind;

use crate::load::Repeating;
use crate::look::{fill, look, look_with, server, type_statements, wait_until};

#[test]
fn redo_too_small() {
    let options = ["innodb_redo_log_capacity=8M", "innodb_flush_log_at_trx_commit=2"];
    let Some(server) = server(Kind::Mysql, &options) else {
        return;
    };
    fill(&server, 64);
    let load = Repeating::start(&server, 2, |n| {
        let from = n * 151 % 12_000 + 1;
        format!(
            "UPDATE test.filler SET pad = REPEAT('{}', 3900) WHERE id BETWEEN {from} AND {}",
            n % 10,
            from + 200
        )
    });
    let seen = look_with(&server, 3, &[]);
    assert!(seen.finding("redo-too-small").is_some(), "{:#}", seen.json);
    type_statements(&server, seen.action("redo-too-small"));
    wait_until("the redo log to grow", 60, || {
        server.status("Innodb_redo_log_capacity_resized").parse::<u64>().unwrap() > 100 << 20
    });
    drop(load);
    look(&server).cleared("redo-too-small");
}

#[test]
fn dirty_pages_high() {
    let options = [
        "innodb_buffer_pool_size=256M",
        "innodb_redo_log_capacity=8G",
        "innodb_adaptive_flushing=OFF",
        "innodb_io_capacity=100",
        "innodb_io_capacity_max=100",
        "innodb_max_dirty_pages_pct=99.9",
        "innodb_max_dirty_pages_pct_lwm=0",
        "innodb_flush_log_at_trx_commit=2",
        "skip-log-bin",
    ];
    let Some(server) = server(Kind::Mysql, &options) else {
        return;
    };
    // The table alone must be more than three quarters of the pool: undo pages are dirty only
    // until the purge frees them.
    fill(&server, 208);
    let load = Repeating::start(&server, 1, |n| {
        let from = n * 41 % 53_000 + 1;
        format!("UPDATE test.filler SET pad = CONCAT(SUBSTR(pad, 2), 'y') WHERE id = {from}")
    });
    let short = look_with(&server, 2, &[]);
    if let Some(finding) = short.finding("dirty-pages-high") {
        assert_eq!(finding["severity"], "notice", "two seconds cannot tell: {finding:#}");
    }
    // How fast that is depends on the machine.
    wait_until("most of the pool to be dirty", 240, || {
        server.status("Innodb_buffer_pool_pages_dirty").parse::<u64>().unwrap() > 13_000
    });
    let seen = look_with(&server, 61, &[]);
    drop(load);
    assert_eq!(seen.severity("dirty-pages-high"), Some("warning"), "{:#}", seen.json);
    type_statements(&server, seen.action("dirty-pages-high"));
    server.sql("SET GLOBAL innodb_max_dirty_pages_pct_lwm = 1");
    wait_until("the pages to be flushed", 120, || {
        server.status("Innodb_buffer_pool_pages_dirty").parse::<u64>().unwrap() < 1000
    });
    look(&server).cleared("dirty-pages-high");
}

#[test]
fn io_capacity_low() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) = server(kind, &["innodb_io_capacity=150"]) else {
            return;
        };
        let seen = look(&server);
        assert_eq!(seen.severity("io-capacity-low"), Some("notice"), "{:#}", seen.json);
        type_statements(&server, seen.action("io-capacity-low"));
        look(&server).cleared("io-capacity-low");
    }
}

#[test]
fn flush_behind() {
    let options = [
        "innodb_buffer_pool_size=8M",
        "innodb_io_capacity=100",
        "innodb_io_capacity_max=100",
        "innodb_lru_scan_depth=100",
        "innodb_redo_log_capacity=4G",
        "innodb_flush_log_at_trx_commit=0",
        "innodb_adaptive_flushing=OFF",
        "skip-log-bin",
    ];
    let Some(server) = server(Kind::Mysql, &options) else {
        return;
    };
    fill(&server, 8);
    // Nothing dirties as many pages at once as rows that are new.
    let load = Repeating::start(&server, 2, |_| {
        "INSERT INTO test.filler (pad) SELECT pad FROM test.filler LIMIT 2000".into()
    });
    let seen = look_with(&server, 5, &[]);
    drop(load);
    assert_eq!(seen.severity("flush-behind"), Some("warning"), "{:#}", seen.json);
    type_statements(&server, seen.action("flush-behind"));
    // With the load gone and the rate raised nobody waits any more.
    look(&server).cleared("flush-behind");
}

#[test]
fn read_ahead_wasted() {
    // Short scans end soon after they have set off a read-ahead. In a pool of 320 pages the page
    // cleaner, which never cuts the list below 256, leaves evicting to the threads, who count it.
    let options = ["innodb_buffer_pool_size=5M", "innodb_lru_scan_depth=100"];
    let Some(server) = server(Kind::Mysql, &options) else { return };
    fill(&server, 128);
    let load = Repeating::start(&server, 16, |n| {
        let from = n * 1_999 % 30_000;
        let to = from + 80;
        format!("SELECT SUM(LENGTH(pad)) FROM test.filler WHERE id BETWEEN {from} AND {to}")
    });
    let seen = look_with(&server, 5, &[]);
    assert_eq!(seen.severity("read-ahead-wasted"), Some("warning"), "{:#}", seen.json);
    type_statements(&server, seen.action("read-ahead-wasted"));
    let after = look_with(&server, 3, &[]);
    drop(load);
    after.cleared("read-ahead-wasted");
}
