//! Healthy servers get a calm page: no warning, exit code 0.

use innopool_testkit::{Kind, Server};

use crate::load::{Repeating, Workload};
use crate::look::{fill, look, look_with, server, wait_until};

#[track_caller]
fn is_calm(server: &Server, what: &str) {
    let seen = look_with(server, 3, &[]);
    assert_eq!(seen.alarms(), Vec::<&str>::new(), "{what}: {:#}", seen.json);
    assert_eq!(seen.exit_code, 0);
}

#[test]
fn idle_and_just_restarted() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &[]) else {
            return;
        };
        is_calm(&server, "just started");
        server.restart().unwrap();
        is_calm(&server, "just restarted");
        server.restart().unwrap();
        is_calm(&server, "restarted again");
    }
}

#[test]
fn busy_with_a_fitting_pool() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) = server(kind, &["innodb_buffer_pool_size=512M"]) else {
            return;
        };
        let Some(workload) = Workload::prepare(&server, 1, 200_000) else {
            return;
        };
        let load = workload.run("oltp_read_write", 4);
        is_calm(&server, "busy");
        drop(load);
    }
}

#[test]
fn restarted_under_load_with_a_fitting_pool() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(mut server) = server(kind, &["innodb_buffer_pool_size=512M"]) else {
            return;
        };
        fill(&server, 128);
        server.restart().unwrap();
        let load = Repeating::start(&server, 2, |n| {
            format!("SELECT LENGTH(pad) FROM test.filler WHERE id = {}", n * 7_919 % 30_000 + 1)
        });
        is_calm(&server, "just restarted and busy");
        drop(load);
    }
}

#[test]
fn performance_schema_off() {
    let Some(server) = server(Kind::Mysql, &["performance_schema=OFF"]) else {
        return;
    };
    is_calm(&server, "without performance schema");
}

#[test]
fn many_tables() {
    // Small pages of the dictionary, not data: 100,000 tables with INNOPOOL_LONG=1.
    let tables = if std::env::var_os("INNOPOOL_LONG").is_some() { 100_000 } else { 2_000 };
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) =
            server(kind, &["innodb_flush_log_at_trx_commit=2", "innodb_buffer_pool_size=256M"])
        else {
            return;
        };
        server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
        server.sql("CREATE DATABASE many");
        for table in 0..tables {
            server.sql(&format!("CREATE TABLE many.t{table} (id INT PRIMARY KEY)"));
        }
        let seen = look(&server);
        let alarms = seen.alarms();
        assert!(alarms.iter().all(|code| *code == "settings-drift"), "{alarms:?}");
        assert!(
            seen.json["pool"]["data_bytes"].as_u64().unwrap() > tables * 16_384,
            "{:#}",
            seen.json
        );
    }
}

#[test]
fn a_replica_that_is_read_only() {
    let source_options = ["server_id=1", "log_bin=source-bin"];
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(source) = server(kind, &source_options) else {
            return;
        };
        let replica_options = match kind {
            Kind::Mysql => &["server_id=2", "read_only=ON", "super_read_only=ON"][..],
            Kind::Mariadb => &["server_id=2", "read_only=ON"],
        };
        let Some(replica) = server(kind, replica_options) else {
            return;
        };
        replicate(&source, &replica);
        source.sql("CREATE DATABASE shop");
        wait_until("the replica to follow", 20, || {
            !replica.sql("SHOW DATABASES LIKE 'shop'").is_empty()
        });
        is_calm(&replica, "replica");
    }
}

/// Makes one own server the replica of another.
fn replicate(source: &Server, replica: &Server) {
    source.sql("CREATE USER 'copy'@'%' IDENTIFIED BY 'copy'");
    source.sql("GRANT REPLICATION SLAVE ON *.* TO 'copy'@'%'");
    let port = source.port();
    match source.kind() {
        Kind::Mysql => {
            replica.sql(&format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, \
                 SOURCE_USER='copy', SOURCE_PASSWORD='copy', GET_SOURCE_PUBLIC_KEY=1"
            ));
            replica.sql("START REPLICA");
        }
        Kind::Mariadb => {
            replica.sql(&format!(
                "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, \
                 MASTER_USER='copy', MASTER_PASSWORD='copy'"
            ));
            replica.sql("START SLAVE");
        }
    }
}
