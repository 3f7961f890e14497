//! Too small, by default, larger than its data: on servers under sysbench.

use innopool_testkit::{Kind, Server};

use crate::load::Workload;
use crate::look::{look, look_with, server, type_statements, wait_until};

/// About 480 MB in four tables: four times the default pool.
const TABLES: u32 = 4;
const ROWS: u32 = 500_000;

/// A pool of the default size under a load that does not fit it says so with its reads and their
/// cost, and stops saying so once its own action was typed and the pool is warm.
fn default_pool_under_sysbench(kind: Kind) {
    let Some(server) = server(kind, &[]) else {
        return;
    };
    let Some(workload) = Workload::prepare(&server, TABLES, ROWS) else {
        return;
    };
    let load = workload.run("oltp_point_select", 4);
    // Until the pool has turned over once.
    wait_until("the pool to fill", 60, || free_pages(&server) < 2048);
    let seen = look_with(&server, 5, &[]);
    assert_eq!(seen.exit_code, 1);
    let finding = seen.found("pool-too-small");
    assert_ne!(finding["severity"], "notice", "{finding:#}");
    let reads = seen.json["pool"]["disk_reads_per_second"].as_f64().expect("reads");
    assert!(reads > 100.0, "{reads} reads/s");
    has_cost(finding);
    assert_eq!(seen.severity("pool-default-size"), Some("warning"));

    type_statements(&server, seen.action("pool-too-small"));
    wait_until("the resize", 60, || {
        let pages: u64 = server.status("Innodb_buffer_pool_pages_total").parse().unwrap_or(0);
        pages > 20_000
    });
    let after = look_with(&server, 3, &[]);
    drop(load);
    after.cleared("pool-too-small");
    after.cleared("pool-default-size");
}

fn free_pages(server: &Server) -> u64 {
    server.status("Innodb_buffer_pool_pages_free").parse().expect("a number")
}

/// The evidence names what the reads cost, not only how many there are.
fn has_cost(finding: &serde_json::Value) {
    let evidence = finding["evidence"].as_array().expect("evidence");
    let names: Vec<_> = evidence.iter().filter_map(|item| item["name"].as_str()).collect();
    assert!(names.contains(&"disk_reads_per_second"), "{names:?}");
    let cost = ["read_cost_ratio", "reads_in_flight"];
    assert!(names.iter().any(|name| cost.contains(name)), "{names:?}");
}

#[test]
fn pool_too_small_on_mysql() {
    default_pool_under_sysbench(Kind::Mysql);
}

#[test]
fn pool_too_small_on_mariadb() {
    default_pool_under_sysbench(Kind::Mariadb);
}

#[test]
fn pool_larger_than_data() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) = server(kind, &["innodb_buffer_pool_size=2G"]) else {
            return;
        };
        let seen = look(&server);
        assert_eq!(seen.severity("pool-larger-than-data"), Some("notice"), "{:#}", seen.json);
        assert_eq!(seen.exit_code, 0, "a notice is no failure");
        type_statements(&server, seen.action("pool-larger-than-data"));
        wait_until("the shrink", 60, || {
            server.status("Innodb_buffer_pool_pages_total").parse::<u64>().unwrap_or(u64::MAX)
                < 70_000
        });
        look(&server).cleared("pool-larger-than-data");
    }
}
