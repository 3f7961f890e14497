//! Online resizes while somebody looks.

use innopool_testkit::Kind;

use crate::load::{Repeating, Workload};
use crate::look::{fill, look, look_with, server, type_and_restart, wait_until};

#[test]
fn resize_running() {
    let Some(server) = server(Kind::Mysql, &["innodb_buffer_pool_size=1G"]) else {
        return;
    };
    fill(&server, 700);
    server.sql("SELECT SUM(LENGTH(pad)) FROM test.filler");
    // A shrink of a full pool takes a moment; growing and shrinking again gives many of them.
    let resizing = Repeating::start(&server, 1, |n| {
        let size = if n % 2 == 0 { 134_217_728_u64 } else { 2_147_483_648 };
        format!("SET GLOBAL innodb_buffer_pool_size = {size}")
    });
    let mut seen = false;
    for _ in 0..60 {
        if look_with(&server, 0, &[]).finding("resize-running").is_some() {
            seen = true;
            break;
        }
    }
    drop(resizing);
    assert!(seen, "no resize was seen under way");
    wait_until("the last resize", 60, || {
        server.status("Innodb_buffer_pool_resize_status_code") == "0"
    });
    look(&server).cleared("resize-running");
}

#[test]
fn resize_refused_by_the_ceiling_of_mariadb() {
    let options = ["innodb_buffer_pool_size=64M", "innodb_buffer_pool_size_max=64M"];
    let Some(mut server) = server(Kind::Mariadb, &options) else {
        return;
    };
    let Some(workload) = Workload::prepare(&server, 1, 600_000) else {
        return;
    };
    let load = workload.run("oltp_point_select", 4);
    wait_until("the pool to fill", 60, || {
        server.status("Innodb_buffer_pool_pages_free").parse::<u64>().unwrap() < 2048
    });
    let seen = look_with(&server, 5, &[]);
    drop(load);
    assert_eq!(seen.severity("resize-refused"), Some("warning"), "{:#}", seen.json);
    type_and_restart(&mut server, seen.action("resize-refused"));
    let load = workload.run("oltp_point_select", 4);
    let after = look_with(&server, 3, &[]);
    drop(load);
    after.cleared("resize-refused");
}
