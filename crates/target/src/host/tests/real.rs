//! This machine: its own kernel's files, and a process in a real memory cgroup.

use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::host::{Host, Login, Roots, ServerSays, locate, sample};
use crate::provenance::NotRead;

/// The test process plays the server: it listens at a socket and has an `ibdata1` open.
struct Server {
    directory: tempfile::TempDir,
    _listener: UnixListener,
    _tablespace: std::fs::File,
}

impl Server {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let listener = UnixListener::bind(path("db.sock")).unwrap();
        std::fs::write(path("db.pid"), format!("{}\n", std::process::id())).unwrap();
        std::fs::write(path("ib_buffer_pool"), "0,1\n0,2\n0,3\n").unwrap();
        let tablespace = std::fs::File::create(path("ibdata1")).unwrap();
        Self { _listener: listener, _tablespace: tablespace, directory }
    }

    fn says(&self) -> ServerSays {
        let path = |name: &str| Some(self.directory.path().join(name).display().to_string());
        ServerSays {
            pid_file: path("db.pid"),
            socket: path("db.sock"),
            datadir: path(""),
            innodb_buffer_pool_filename: Some("ib_buffer_pool".to_owned()),
            ..ServerSays::default()
        }
    }

    fn login(&self) -> Login {
        Login::Socket(self.directory.path().join("db.sock").display().to_string())
    }
}

#[test]
#[cfg(target_os = "linux")]
fn this_process_is_found_and_measured() {
    let server = Server::start();
    let found = locate(&Roots::default(), &server.says(), &server.login()).unwrap();
    assert_eq!(found.pid, u64::from(std::process::id()));
    let mut without_pid_file = server.says();
    without_pid_file.pid_file = None;
    let by_socket = locate(&Roots::default(), &without_pid_file, &server.login()).unwrap();
    assert_eq!(by_socket.pid, found.pid);

    let (documents, not_read) = sample(&found, 0, true);
    let observation = crate::build::observe("here", documents, not_read);
    let host = observation.host().unwrap();
    let rss = host.server_rss_bytes.as_ref().unwrap().value;
    let page = host.memory_page_bytes.as_ref().unwrap().value;
    assert!(page >= 4096 && rss > page, "{rss} bytes in pages of {page}");
    assert!(host.server_rss_peak_bytes.as_ref().unwrap().value >= rss);
    let ticks = host.cpu_ticks.as_ref().unwrap().value;
    assert!(host.iowait_ticks.as_ref().unwrap().value < ticks);
    assert!(host.cpus.as_ref().unwrap().value >= 1);
    assert_eq!(host.dump_file_pages.as_ref().unwrap().value, 3);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_is_as_old_as_it_is() {
    let age = |pid: u32| crate::host::process::age_seconds(&Roots::default(), u64::from(pid));
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let young = age(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((-1.0..60.0).contains(&young), "{young} s");
    assert!(age(1).unwrap() >= young);
}

/// A memory cgroup of version 1 below our own, removed at the end.
struct MemoryGroup(std::path::PathBuf);

impl MemoryGroup {
    fn create(name: &str, limit_bytes: u64) -> std::io::Result<Self> {
        let path = std::path::Path::new("/sys/fs/cgroup/memory").join(name);
        std::fs::create_dir(&path)?;
        let group = Self(path);
        std::fs::write(group.0.join("memory.limit_in_bytes"), limit_bytes.to_string())?;
        Ok(group)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_real_memory_cgroup_limits_a_real_process() {
    const LIMIT_BYTES: u64 = 256 << 20;
    let name = format!("innopool-test-{}", std::process::id());
    let outer = match MemoryGroup::create(&name, LIMIT_BYTES) {
        Ok(group) => group,
        Err(error) => {
            eprintln!("SKIPPED: no version 1 memory cgroup to write to here: {error}");
            return;
        }
    };
    let inner = MemoryGroup::create(&format!("{name}/inner"), LIMIT_BYTES * 2);
    let inner = inner.unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let moved = std::fs::write(inner.0.join("cgroup.procs"), child.id().to_string());
    let mut host = Host::default();
    let read: Result<(), NotRead> =
        crate::host::cgroup::read(&mut host, &Roots::default(), u64::from(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(inner);
    drop(outer);
    moved.unwrap();
    read.unwrap();
    let limit = host.cgroup_limit_bytes.unwrap();
    assert_eq!(limit.value, LIMIT_BYTES);
    assert!(limit.source.place.ends_with(&name), "{}", limit.source);
    assert_eq!(host.cgroup_version.unwrap().value, 1);
    assert!(host.cgroup_usage_bytes.is_some());
}
