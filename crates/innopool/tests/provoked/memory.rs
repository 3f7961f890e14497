//! Pools larger than their memory, in a real cgroup.

use std::path::PathBuf;

use innopool_testkit::{Kind, Server};

use crate::look::{look, server, type_statements, wait_until};

/// A memory cgroup with one process in it, removed when dropped (the process goes back first).
struct Cgroup {
    parent: PathBuf,
    path: PathBuf,
    pid: u32,
}

impl Cgroup {
    /// Moves a server into a group with this limit; `None` where no group can be made.
    fn limit(server: &Server, bytes: u64) -> Option<Self> {
        let cgroups = PathBuf::from("/sys/fs/cgroup");
        let v1 = cgroups.join("memory");
        let (parent, limit_file) = if v1.join("memory.limit_in_bytes").exists() {
            (v1, "memory.limit_in_bytes")
        } else {
            (cgroups, "memory.max")
        };
        let path = parent.join(format!("innopool-test-{}", server.pid()));
        let pid = server.pid();
        let made = std::fs::create_dir(&path)
            .and_then(|()| std::fs::write(path.join(limit_file), bytes.to_string()))
            .and_then(|()| std::fs::write(path.join("cgroup.procs"), pid.to_string()));
        match made {
            Ok(()) => Some(Self { parent, path, pid }),
            #[allow(clippy::print_stderr, reason = "a skip is told loudly")]
            Err(error) => {
                eprintln!("SKIPPED: no memory cgroup can be made here: {error}");
                let _ = std::fs::remove_dir(&path);
                None
            }
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = std::fs::write(self.parent.join("cgroup.procs"), self.pid.to_string());
        let _ = std::fs::remove_dir(&self.path);
    }
}

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
