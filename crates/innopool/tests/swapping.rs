//! A machine that swaps. In a program of its own, which cargo runs alone: every server on the machine
//! sees its swap-ins.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "tests that share modules")]

#[path = "provoked/cgroup.rs"]
mod cgroup;
#[path = "provoked/load.rs"]
mod load;
#[path = "provoked/look.rs"]
mod look;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use innopool_testkit::Kind;

use crate::cgroup::Cgroup;
use crate::load::Repeating;
use crate::look::{fill, look_with, server, type_statements, wait_until};

/// A swap file in use until dropped.
struct Swap(PathBuf);

impl Swap {
    /// Adds half a gigabyte of swap; `None` where that cannot be done.
    fn on(beside: &Path) -> Option<Self> {
        let file = beside.join("swap");
        let made = std::fs::write(&file, vec![0_u8; 512 << 20])
            .and_then(|()| std::fs::set_permissions(&file, Permissions::from_mode(0o600)));
        let swap = Self(file);
        let run = |program: &str| {
            let status = Command::new(program).arg(&swap.0).stdout(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if made.is_ok() && run("mkswap") && run("swapon") {
            return Some(swap);
        }
        #[allow(clippy::print_stderr, reason = "a skip is told loudly")]
        {
            eprintln!("SKIPPED: no swap file can be used here");
        }
        None
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(&self.0).status();
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A server whose pool is larger than its cgroup, on a machine with swap: only its own pages go out.
#[test]
fn host_swapping() {
    let options = ["innodb_buffer_pool_size=768M", "performance_schema=OFF", "skip-log-bin"];
    let Some(server) = server(Kind::Mysql, &options) else { return };
    let Some(_swap) = Swap::on(server.directory()) else { return };
    // Before the pool fills: memory stays charged to the group it was first touched in.
    let Some(cgroup) = Cgroup::limit(&server, 400 << 20) else { return };
    fill(&server, 520);
    let load = Repeating::start(&server, 2, |n| {
        format!("SELECT LENGTH(pad) FROM test.filler WHERE id = {}", n * 7_919 % 130_000 + 1)
    });
    let seen = look_with(&server, 5, &[]);
    let severity = seen.severity("host-swapping");
    assert!(matches!(severity, Some("warning" | "critical")), "{:#}", seen.json);
    type_statements(&server, seen.action("host-swapping"));
    wait_until("the shrink", 120, || {
        server.status("Innodb_buffer_pool_pages_total").parse::<u64>().unwrap() < 30_000
    });
    // The rest of the server alone is too much for its group. The page may ask for a smaller pool again while what is out
    // still comes in; in the end it says so, or is content.
    let settled = (0..3).any(|_| {
        let still = look_with(&server, 3, &[]);
        if still.finding("host-swapping").is_none() {
            return true;
        }
        let action = still.action("host-swapping");
        let says_so = action.contains("ive it more memory");
        if says_so {
            cgroup.raise(4 << 30);
        } else {
            type_statements(&server, action);
        }
        says_so
    });
    assert!(settled, "the page neither asks for more memory nor is content");
    // What is out is fetched once more, under the same load.
    wait_until("the swap-ins to end", 90, || {
        look_with(&server, 2, &[]).finding("host-swapping").is_none()
    });
    drop(load);
}
