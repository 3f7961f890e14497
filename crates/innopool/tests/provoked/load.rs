//! Work for a server while it is being watched: sysbench, or a statement in a loop.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use innopool_testkit::Server;

/// A sysbench run that is ended when dropped.
pub(crate) struct Sysbench(Child);

impl Drop for Sysbench {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Which work, over which tables.
#[derive(Clone)]
pub(crate) struct Workload {
    program: PathBuf,
    socket: PathBuf,
    tables: u32,
    rows: u32,
}

impl Workload {
    /// Tables of this many rows (about 0.24 MB for 1000) on a server; `None` without sysbench.
    pub(crate) fn prepare(server: &Server, tables: u32, rows: u32) -> Option<Self> {
        let program = innopool_testkit::sysbench()?;
        server.sql("CREATE DATABASE IF NOT EXISTS sbtest");
        let workload = Self { program, socket: server.socket(), tables, rows };
        let output =
            workload.command("oltp_read_only", 2).arg("prepare").output().expect("sysbench runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        Some(workload)
    }

    fn command(&self, test: &str, threads: u32) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(test)
            .arg(format!("--mysql-socket={}", self.socket.display()))
            .args(["--mysql-user=root", "--rand-type=uniform", "--time=300"])
            .arg(format!("--tables={}", self.tables))
            .arg(format!("--table-size={}", self.rows))
            .arg(format!("--threads={threads}"));
        command
    }

    /// Starts a test (`oltp_point_select`, `oltp_write_only`, ...); it runs until dropped.
    pub(crate) fn run(&self, test: &str, threads: u32) -> Sysbench {
        let child = self
            .command(test, threads)
            .arg("run")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sysbench starts");
        Sysbench(child)
    }
}

/// Sessions that repeat a statement until dropped.
pub(crate) struct Repeating {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Repeating {
    /// Repeats what `statement` gives for 0, 1, 2, ... in each of `sessions`.
    pub(crate) fn start(
        server: &Server,
        sessions: u32,
        statement: impl Fn(u64) -> String + Send + Sync + 'static,
    ) -> Self {
        use mysql::prelude::Queryable;
        let stop = Arc::new(AtomicBool::new(false));
        let statement = Arc::new(statement);
        let threads = (0..sessions)
            .map(|session| {
                let mut connection = server.connect().expect("a session");
                let (stop, statement) = (Arc::clone(&stop), Arc::clone(&statement));
                std::thread::spawn(move || {
                    let mut number = u64::from(session);
                    while !stop.load(Ordering::Relaxed) {
                        // A server that restarts under the load ends it.
                        if connection.query_drop(statement(number)).is_err() {
                            return;
                        }
                        number += u64::from(sessions);
                    }
                })
            })
            .collect();
        Self { stop, threads }
    }
}

impl Drop for Repeating {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
