//! Pools larger than their memory, in a real cgroup.

use innopool_testkit::Kind;

use crate::cgroup::Cgroup;
use crate::look::{look, server, type_statements, wait_until};

#[test]
fn pool_over_memory_budget() {
    for kind in [Kind::Mysql, Kind::Mariadb] {
        let Some(server) = server(kind, &["innodb_buffer_pool_size=2G"]) else {
            return;
        };
        look(&server).cleared("pool-over-memory-budget");
        let Some(_cgroup) = Cgroup::limit(&server, 1536 << 20) else {
            return;
        };
        let seen = look(&server);
        assert_eq!(seen.severity("pool-over-memory-budget"), Some("critical"), "{:#}", seen.json);
        assert_eq!(seen.json["memory"]["limit_bytes"], 1536_u64 << 20);
        assert_eq!(seen.json["memory"]["limit_source"], "cgroup");
        type_statements(&server, seen.action("pool-over-memory-budget"));
        wait_until("the shrink", 60, || {
            server.status("Innodb_buffer_pool_pages_total").parse::<u64>().unwrap() < 100_000
        });
        look(&server).cleared("pool-over-memory-budget");
    }
}
