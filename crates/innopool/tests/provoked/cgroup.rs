//! A memory cgroup around a server.

use std::path::PathBuf;

use innopool_testkit::Server;

/// A memory cgroup with one process in it, removed when dropped (the process goes back first).
pub(crate) struct Cgroup {
    parent: PathBuf,
    path: PathBuf,
    limit: PathBuf,
    pid: u32,
}

impl Cgroup {
    /// Moves a server into a group with this limit; `None` where no group can be made.
    pub(crate) fn limit(server: &Server, bytes: u64) -> Option<Self> {
        let cgroups = PathBuf::from("/sys/fs/cgroup");
        let v1 = cgroups.join("memory");
        let (parent, limit_file) = if v1.join("memory.limit_in_bytes").exists() {
            (v1, "memory.limit_in_bytes")
        } else {
            (cgroups, "memory.max")
        };
        let path = parent.join(format!("innopool-test-{}", server.pid()));
        let limit = path.join(limit_file);
        let pid = server.pid();
        let made = std::fs::create_dir(&path)
            .and_then(|()| std::fs::write(&limit, bytes.to_string()))
            .and_then(|()| std::fs::write(path.join("cgroup.procs"), pid.to_string()));
        match made {
            Ok(()) => Some(Self { parent, path, limit, pid }),
            #[allow(clippy::print_stderr, reason = "a skip is told loudly")]
            Err(error) => {
                eprintln!("SKIPPED: no memory cgroup can be made here: {error}");
                let _ = std::fs::remove_dir(&path);
                None
            }
        }
    }

    /// Gives the server more memory.
    #[allow(dead_code, reason = "only where a server swaps")]
    pub(crate) fn raise(&self, bytes: u64) {
        std::fs::write(&self.limit, bytes.to_string()).expect("a limit that can be raised");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = std::fs::write(self.parent.join("cgroup.procs"), self.pid.to_string());
        let _ = std::fs::remove_dir(&self.path);
    }
}
