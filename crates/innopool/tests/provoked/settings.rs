//! Findings that a setting raises and its action clears.

use innopool_testkit::Kind;

use crate::load::Repeating;
use crate::look::{fill, look, server, type_and_restart, type_statements};

#[test]
fn durability_relaxed() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) = server(kind, &[]) else {
            return;
        };
        look(&server).cleared("durability-relaxed");
        server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
        let seen = look(&server);
        assert_eq!(seen.severity("durability-relaxed"), Some("warning"));
        assert_eq!(seen.exit_code, 1);
        type_statements(&server, seen.action("durability-relaxed"));
        look(&server).cleared("durability-relaxed");
    }
}

#[test]
fn double_buffering() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &["innodb_flush_method=fsync"]) else {
            return;
        };
        let seen = look(&server);
        assert_eq!(seen.severity("double-buffering"), Some("notice"), "a small pool");
        type_and_restart(&mut server, seen.action("double-buffering"));
        look(&server).cleared("double-buffering");
    }
}

#[test]
fn scan_pollution() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) =
            server(kind, &["innodb_old_blocks_time=0", "innodb_buffer_pool_size=32M"])
        else {
            return;
        };
        fill(&server, 96);
        let load =
            Repeating::start(&server, 1, |_| "SELECT SUM(LENGTH(pad)) FROM test.filler".into());
        let seen = look(&server);
        drop(load);
        assert_eq!(seen.severity("scan-pollution"), Some("warning"), "{:#}", seen.json);
        type_statements(&server, seen.action("scan-pollution"));
        look(&server).cleared("scan-pollution");
    }
}

#[test]
fn instances_ignored() {
    let Some(mut server) = server(Kind::Mysql, &["innodb_buffer_pool_instances=8"]) else {
        return;
    };
    let seen = look(&server);
    assert_eq!(seen.severity("instances-ignored"), Some("notice"), "{:#}", seen.json);
    assert_eq!(seen.json["pool"]["instances"], 1);
    // "remove it from the option file"
    server.restart_without("innodb_buffer_pool_instances").unwrap();
    look(&server).cleared("instances-ignored");
}

#[test]
fn instances_too_many() {
    let Some(mut server) =
        server(Kind::Mysql, &["innodb_buffer_pool_size=1G", "innodb_buffer_pool_instances=8"])
    else {
        return;
    };
    let seen = look(&server);
    assert!(seen.found("instances-too-many")["summary"].as_str().unwrap().contains("128 MB each"));
    assert_eq!(seen.json["pool"]["instances"], 8);
    type_and_restart(&mut server, seen.action("instances-too-many"));
    look(&server).cleared("instances-too-many");
}

#[test]
fn size_rounded() {
    let Some(mut server) =
        server(Kind::Mysql, &["innodb_buffer_pool_size=1200M", "innodb_buffer_pool_instances=4"])
    else {
        return;
    };
    let seen = look(&server);
    let summary = seen.found("size-rounded")["summary"].as_str().unwrap();
    assert!(summary.contains("1.17 GB asked for, 1.5 GB in effect"), "{summary}");
    type_and_restart(&mut server, seen.action("size-rounded"));
    look(&server).cleared("size-rounded");
}

#[test]
fn settings_drift_on_mysql_is_persisted() {
    let Some(server) = server(Kind::Mysql, &[]) else {
        return;
    };
    look(&server).cleared("settings-drift");
    server.sql("SET GLOBAL innodb_buffer_pool_size = 268435456");
    server.sql("SET GLOBAL innodb_io_capacity = 3000");
    let seen = look(&server);
    assert_eq!(seen.severity("settings-drift"), Some("warning"), "{:#}", seen.json);
    type_statements(&server, seen.action("settings-drift"));
    look(&server).cleared("settings-drift");
}

#[test]
fn settings_drift_on_mariadb_is_written_into_its_option_file() {
    let Some(server) = server(Kind::Mariadb, &["innodb_io_capacity=400"]) else {
        return;
    };
    look(&server).cleared("settings-drift");
    server.sql("SET GLOBAL innodb_io_capacity = 900");
    let seen = look(&server);
    let action = seen.action("settings-drift");
    let file = server.option_file().to_owned();
    assert!(action.contains(file.to_str().unwrap()), "{action}");
    let line = action.lines().find(|line| line.starts_with("innodb_io_capacity")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let edited: Vec<&str> = text
        .lines()
        .map(|old| if old.starts_with("innodb_io_capacity") { line } else { old })
        .collect();
    std::fs::write(&file, edited.join("\n") + "\n").unwrap();
    look(&server).cleared("settings-drift");
}

#[test]
fn restart_read_only() {
    let Some(server) = server(Kind::Mysql, &[]) else {
        return;
    };
    look(&server).cleared("restart-read-only");
    server.sql("SET PERSIST_ONLY super_read_only = ON");
    let seen = look(&server);
    assert_eq!(seen.severity("restart-read-only"), Some("warning"), "{:#}", seen.json);
    type_statements(&server, seen.action("restart-read-only"));
    look(&server).cleared("restart-read-only");
}
