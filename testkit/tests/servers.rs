//! Real servers: an own instance of each kind, the shared ones, and what a killed test run leaves.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use innopool_testkit::{Kind, Own, own, shared, sysbench};

/// Set in the environment of the process that [`kill_9_of_the_owner_leaves_no_server`] kills.
const VICTIM: &str = "TESTKIT_VICTIM";

fn path_of_the_buffer_pool_size(kind: Kind) -> &'static str {
    match kind {
        Kind::Mysql => {
            "SELECT VARIABLE_PATH FROM performance_schema.variables_info \
             WHERE VARIABLE_NAME = 'innodb_buffer_pool_size'"
        }
        Kind::Mariadb => {
            "SELECT GLOBAL_VALUE_PATH FROM information_schema.SYSTEM_VARIABLES \
             WHERE VARIABLE_NAME = 'INNODB_BUFFER_POOL_SIZE'"
        }
    }
}

fn an_own_instance_is_set_restarted_and_removed(kind: Kind) {
    let Some(mut server) = own(kind, &["--innodb-buffer-pool-size=64M"]) else {
        return;
    };
    assert_eq!(server.variable("innodb_buffer_pool_size"), (64 << 20).to_string());
    let path = server.sql(path_of_the_buffer_pool_size(kind))[0][0].clone();
    assert_eq!(path.as_deref(), server.option_file().to_str());

    // What the server says about itself is true outside its root.
    assert_eq!(Path::new(&server.variable("socket")), server.socket());
    assert_eq!(Path::new(&server.variable("datadir")), server.datadir().join(""));
    assert_eq!(server.variable("port"), server.port().to_string());
    let pid_file = std::fs::read_to_string(server.variable("pid_file")).unwrap();
    assert_eq!(pid_file.trim(), server.pid().to_string());

    server.sql("CREATE DATABASE kept; CREATE TABLE kept.t (i INT); INSERT INTO kept.t VALUES (7)");
    server.restart_with(&["innodb-buffer-pool-size=96M"]).unwrap();
    assert_eq!(server.variable("innodb_buffer_pool_size"), (96 << 20).to_string());
    server.kill9().unwrap();
    assert!(!server.is_running());
    server.start().unwrap();
    assert_eq!(server.sql("SELECT i, NULL FROM kept.t"), [[Some("7".to_owned()), None]]);

    let (pid, directory) = (server.pid(), server.directory().to_owned());
    drop(server);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!directory.exists());
}

#[test]
fn an_own_mysql_is_set_restarted_and_removed() {
    an_own_instance_is_set_restarted_and_removed(Kind::Mysql);
}

#[test]
fn an_own_mariadb_is_set_restarted_and_removed() {
    an_own_instance_is_set_restarted_and_removed(Kind::Mariadb);
}

#[test]
fn root_has_no_password_over_tcp_with_and_without_names() {
    for kind in Kind::ALL {
        for option in ["skip-name-resolve=0", "skip-name-resolve=1"] {
            let Some(server) = own(kind, &[option]) else {
                continue;
            };
            let mut connection = mysql::Conn::new(server.url().as_str()).unwrap();
            let user: Option<String> =
                mysql::prelude::Queryable::query_first(&mut connection, "SELECT CURRENT_USER()")
                    .unwrap();
            assert!(user.unwrap().starts_with("root@"));
        }
    }
}

#[test]
fn a_server_that_does_not_start_quotes_its_log() {
    for kind in Kind::ALL {
        if own(kind, &[]).is_none() {
            continue;
        }
        let error = Own::new(kind).option("no-such-option=1").try_start().unwrap_err();
        let message = format!("{error:#}");
        assert!(message.contains("unknown variable 'no_such_option=1'"), "{message}");
    }
}

#[test]
fn the_shared_instance_is_the_same_for_every_process() {
    for kind in Kind::ALL {
        let Some(server) = shared(kind) else { continue };
        let again = shared(kind).unwrap();
        assert_eq!(server.pid(), again.pid());
        assert!(!server.version().is_empty());
        let state = innopool_testkit::shared::status(kind).unwrap();
        assert_eq!((state.pid, state.url), (server.pid(), server.url()));
    }
}

/// Not a test by itself: the process that the next test kills.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    // Started on a thread that ends, since the kernel counts threads as parents.
    let start = || Kind::ALL.map(|kind| own(kind, &[]).unwrap());
    let servers = std::thread::spawn(start).join().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    for server in &servers {
        assert!(server.is_running());
        println!("VICTIM {}", server.pid());
    }
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn kill_9_of_the_owner_leaves_no_server() {
    if Kind::ALL.iter().any(|&kind| own(kind, &[]).is_none()) {
        return;
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let pids: Vec<String> = lines
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("VICTIM ")?.1.trim().to_owned()))
        .take(2)
        .collect();
    assert_eq!(pids.len(), 2);
    let victim_pid = victim.id();
    victim.kill().unwrap();
    victim.wait().unwrap();

    let start = Instant::now();
    let alive = |pid: &String| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|command| !command.is_empty())
    };
    while pids.iter().any(alive) {
        assert!(start.elapsed() < Duration::from_secs(10), "servers survive their owner");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Their directories are left to the next start, of which there may have been some by now.
    for kind in Kind::ALL {
        innopool_testkit::own::remove_stale(kind).unwrap();
        let directory = innopool_testkit::places::kind(kind);
        let left = std::fs::read_dir(directory).unwrap().flatten().any(|entry| {
            entry.file_name().to_string_lossy().starts_with(&format!("own-{victim_pid}-"))
        });
        assert!(!left);
    }
}

#[test]
fn sysbench_talks_to_both() {
    let Some(program) = sysbench() else { return };
    for kind in Kind::ALL {
        let Some(server) = own(kind, &[]) else {
            continue;
        };
        server.sql("CREATE DATABASE sbtest");
        let run = |command: &str| {
            let output = Command::new(&program)
                .args(["--db-driver=mysql", "--mysql-user=root", "--table-size=100", "--events=10"])
                .arg(format!("--mysql-socket={}", server.socket().display()))
                .args(["oltp_read_only", command])
                .output()
                .unwrap();
            assert!(output.status.success(), "{kind}: {output:?}");
        };
        run("prepare");
        run("run");
    }
}
