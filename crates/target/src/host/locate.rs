//! Is the server we are logged in to a process of this machine, and which one?
//!
//! A wrong yes would lay one machine's memory at another's door, and `localhost:3307` may well be a
//! tunnel. So a process must be led to by what the *server* says of itself (its pid file, its
//! socket), and then be confirmed. Names of processes prove nothing and are not looked at.
//!
//! A candidate is confirmed when
//! 1. we may look at its open files, and among them is the server's listening socket or its
//!    `ibdata1`; or we may not, and it is as old as the server says it is up;
//! 2. its `auto.cnf`, where both sides have an identifier, holds the server's;
//! 3. a login over TCP ends in it: it listens at that port of our own loopback address, or (2)
//!    agreed.

use std::path::{Path, PathBuf};

use super::device::DeviceNumber;
use super::process;
use super::roots::{Roots, inside, read_text};
use super::sockets::{self, Files, Inode};
use crate::provenance::{NotRead, Source};
use crate::variables::Variables;

/// How far a process's age and the server's uptime may differ: the server counts from when it has
/// read its options, and a start script may have been the same process before.
const AGE_TOLERANCE_SECONDS: f64 = 30.0;

/// What the server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerSays {
    /// `@@pid_file`.
    pub pid_file: Option<String>,
    /// `@@socket`.
    pub socket: Option<String>,
    /// `@@datadir`.
    pub datadir: Option<String>,
    /// `@@innodb_data_home_dir`.
    pub innodb_data_home_dir: Option<String>,
    /// `@@innodb_buffer_pool_filename`.
    pub innodb_buffer_pool_filename: Option<String>,
    /// `@@server_uuid` (MySQL).
    pub server_uuid: Option<String>,
    /// `Uptime`, seconds, when [`locate`] is called.
    pub uptime_seconds: Option<u64>,
}

impl ServerSays {
    /// Takes what is needed from the variables; `uptime_seconds` comes from the status.
    pub fn from_variables(variables: &Variables, uptime_seconds: Option<u64>) -> Self {
        let text = |name: &str| {
            let text = variables.text(name)?.value;
            (!text.is_empty()).then_some(text)
        };
        Self {
            pid_file: text("pid_file"),
            socket: text("socket"),
            datadir: text("datadir"),
            innodb_data_home_dir: text("innodb_data_home_dir"),
            innodb_buffer_pool_filename: text("innodb_buffer_pool_filename"),
            server_uuid: text("server_uuid"),
            uptime_seconds,
        }
    }

    /// `path` as an absolute path, counted from the data directory.
    fn in_datadir(&self, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return Some(path.to_owned());
        }
        let datadir = self.datadir.as_deref()?;
        let path = path.strip_prefix("./").unwrap_or(path);
        Some(format!("{}/{path}", datadir.trim_end_matches('/')))
    }
}

/// How we are logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Through the Unix socket at this path of ours.
    Socket(String),
    /// Through TCP to a loopback address at this port.
    Loopback(u16),
}

/// A server process of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Its process id, as seen from here.
    pub pid: u64,
    /// What led to it.
    pub found_by: Source,
    pub(crate) roots: Roots,
    pub(crate) says: ServerSays,
    /// Where the server's own file system is, seen from here.
    pub(crate) files_root: PathBuf,
    /// The device that holds the data directory.
    pub(crate) data_device: Option<DeviceNumber>,
}

impl LocalServer {
    /// Where a file of the server can be opened from here.
    pub(crate) fn path(&self, of_server: &str) -> PathBuf {
        inside(&self.files_root, of_server)
    }

    /// Where a dump of the pool that the server writes under `name` (its
    /// `innodb_buffer_pool_filename`) can be opened from here; `None` when it did not say where its
    /// data are.
    pub fn pool_dump(&self, name: &str) -> Option<PathBuf> {
        Some(self.path(&self.dump_named(name)?))
    }

    /// The dump file, as an absolute path of the server's.
    pub(crate) fn dump_file(&self) -> Option<String> {
        self.dump_named(self.says.innodb_buffer_pool_filename.as_deref()?)
    }

    fn dump_named(&self, name: &str) -> Option<String> {
        if name.starts_with('/') {
            return Some(name.to_owned());
        }
        let home = self.says.innodb_data_home_dir.as_deref();
        let home = self.says.in_datadir(home.unwrap_or("./"))?;
        Some(format!("{}/{name}", home.trim_end_matches('/')))
    }
}

/// Finds the process of the server that says this of itself and that we are logged in to.
///
/// # Errors
/// [`NotRead`] tells why the server does not count as local; no figure of this machine may then be
/// used for it.
pub fn locate(roots: &Roots, says: &ServerSays, login: &Login) -> Result<LocalServer, NotRead> {
    let search = Search { roots, says, login };
    let mut reasons = Vec::new();
    let mut seen = Vec::new();
    // The cheap ways first: the later ones look at the open files of all processes.
    for candidates in [Search::by_pid_file, Search::by_socket, Search::in_containers] {
        for (pid, found_by) in candidates(&search) {
            if seen.contains(&pid) {
                continue;
            }
            seen.push(pid);
            match search.confirm(pid) {
                Ok(proof) => return Ok(search.found(pid, found_by, proof)),
                Err(why) => reasons.push(format!("process {pid}: {why}")),
            }
        }
    }
    let why = if reasons.is_empty() {
        "neither the pid file nor the socket it names leads to a process here".to_owned()
    } else {
        reasons.join("; ")
    };
    Err(NotRead::new("the machine the server runs on", why))
}

struct Search<'a> {
    roots: &'a Roots,
    says: &'a ServerSays,
    login: &'a Login,
}

impl Search<'_> {
    /// The process the pid file names, when there is one.
    fn by_pid_file(&self) -> Vec<(u64, Source)> {
        let path = self.says.pid_file.as_deref();
        let found = path.and_then(|path| {
            let path = self.says.in_datadir(path)?;
            let text = read_text(&inside(&self.roots.root, &path)).ok()?;
            let pid: u64 = text.trim().parse().ok()?;
            let exists = self.roots.proc(&pid.to_string()).exists();
            exists.then(|| (pid, Source::new(path, "pid")))
        });
        found.into_iter().collect()
    }

    /// Processes that hold a socket of the server's name.
    fn by_socket(&self) -> Vec<(u64, Source)> {
        self.owners_in("self", "/proc/net/unix")
    }

    /// The same in containers, which have lists of sockets of their own.
    fn in_containers(&self) -> Vec<(u64, Source)> {
        self.network_namespaces()
            .iter()
            .flat_map(|of| self.owners_in(of, &format!("/proc/{of}/net/unix")))
            .collect()
    }

    fn owners_in(&self, of: &str, place: &str) -> Vec<(u64, Source)> {
        let source = || Source::new(place, "owner of the server's socket");
        sockets::owners(self.roots, &self.sockets(of))
            .into_iter()
            .map(|pid| (pid, source()))
            .collect()
    }

    /// Listening sockets by the server's name for its socket, and by ours.
    fn sockets(&self, of: &str) -> Vec<Inode> {
        let mut paths: Vec<String> = Vec::new();
        if let Some(socket) = &self.says.socket {
            paths.extend(self.says.in_datadir(socket));
            paths.push(socket.clone());
        }
        if let Login::Socket(path) = self.login {
            paths.push(path.clone());
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        sockets::listening_unix(self.roots, of, &paths)
    }

    /// One process of each network namespace but ours.
    fn network_namespaces(&self) -> Vec<String> {
        let namespace =
            |of: &str| std::fs::read_link(self.roots.proc(&format!("{of}/ns/net"))).ok();
        let mut seen = vec![namespace("self")];
        let mut processes: Vec<u64> = self.roots.processes().collect();
        processes.sort_unstable();
        let mut found = Vec::new();
        for pid in processes {
            let pid = pid.to_string();
            let its = namespace(&pid);
            if its.is_some() && !seen.contains(&its) {
                seen.push(its);
                found.push(pid);
            }
        }
        found
    }

    /// Confirms a candidate, or says why not. The proof is in words.
    fn confirm(&self, pid: u64) -> Result<&'static str, String> {
        let files = Files::of(self.roots, pid);
        let root = self.files_root(pid);
        let proof = match &files {
            Some(files) => self.confirm_by_files(pid, files, &root)?,
            None => self.confirm_by_age(pid)?,
        };
        let same_uuid = self.compare_uuid(&root)?;
        if !same_uuid {
            match self.login {
                Login::Socket(path) => self.confirm_socket(path, &root)?,
                Login::Loopback(port) => self.confirm_port(*port, pid, files.as_ref())?,
            }
        }
        Ok(proof)
    }

    fn confirm_by_files(
        &self,
        pid: u64,
        files: &Files,
        root: &Path,
    ) -> Result<&'static str, String> {
        let sockets = self.sockets(&pid.to_string());
        if sockets.iter().any(|inode| files.has_socket(*inode)) {
            return Ok("it holds the server's socket");
        }
        let home = self.says.innodb_data_home_dir.as_deref();
        for directory in [home, Some("./")].into_iter().flatten() {
            if let Some(directory) = self.says.in_datadir(directory) {
                let ibdata = inside(root, &format!("{directory}/ibdata1"));
                if files.has_file(&ibdata) {
                    return Ok("it has the server's ibdata1 open");
                }
            }
        }
        Err("it has neither the server's socket nor its ibdata1 open".to_owned())
    }

    fn confirm_by_age(&self, pid: u64) -> Result<&'static str, String> {
        const NEEDS: &str = "its open files can only be seen as root or as its own user";
        let age = process::age_seconds(self.roots, pid);
        match (age, self.says.uptime_seconds) {
            (Some(age), Some(uptime)) => {
                // Both count to now.
                if (age - uptime as f64).abs() <= AGE_TOLERANCE_SECONDS {
                    Ok("it is as old as the server is up")
                } else {
                    Err(format!("{NEEDS}, and it is not as old as the server is up"))
                }
            }
            _ => Err(NEEDS.to_owned()),
        }
    }

    /// True when both sides have the same identifier; false when one has none.
    fn compare_uuid(&self, root: &Path) -> Result<bool, String> {
        let Some(of_server) = self.says.server_uuid.as_deref() else {
            return Ok(false);
        };
        let file = self.says.in_datadir("auto.cnf");
        let text = file.and_then(|path| read_text(&inside(root, &path)).ok());
        let of_process = text.as_deref().and_then(|text| {
            text.lines().find_map(|line| {
                let (name, value) = line.split_once('=')?;
                (name.trim() == "server-uuid").then(|| value.trim())
            })
        });
        match of_process {
            None => Ok(false),
            Some(uuid) if uuid.eq_ignore_ascii_case(of_server.trim()) => Ok(true),
            Some(_) => Err("its auto.cnf names another server".to_owned()),
        }
    }

    /// The socket we came through must be the one the process knows by the server's name.
    fn confirm_socket(&self, ours: &str, root: &Path) -> Result<(), String> {
        let theirs = self
            .says
            .socket
            .as_deref()
            .and_then(|path| self.says.in_datadir(path))
            .map(|path| inside(root, &path));
        let ours = sockets::file_identity(&inside(&self.roots.root, ours));
        let theirs = theirs.and_then(|path| sockets::file_identity(&path));
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => Ok(()),
            _ => Err("the socket we are logged in through is not the server's own".to_owned()),
        }
    }

    /// All that listens there must be the process: a tunnel may share the port.
    fn confirm_port(&self, port: u16, pid: u64, files: Option<&Files>) -> Result<(), String> {
        let listeners = sockets::listening_tcp(self.roots, port);
        let of_process = |listener: &sockets::TcpListener| match files {
            Some(files) => files.has_socket(listener.inode),
            None => process::user_of(self.roots, pid) == Some(listener.user),
        };
        if !listeners.is_empty() && listeners.iter().all(of_process) {
            Ok(())
        } else {
            Err(format!("it is not what listens at port {port}, which may be a tunnel or a proxy"))
        }
    }

    /// Where the process's own file system is seen from here. Without the right to look we take it
    /// to be ours.
    fn files_root(&self, pid: u64) -> PathBuf {
        let link = |of: &str| std::fs::read_link(self.roots.proc(of)).ok();
        let pid_root = format!("{pid}/root");
        let same_mounts = link(&format!("{pid}/ns/mnt")) == link("self/ns/mnt");
        let same_root = link(&pid_root).is_none_or(|root| root == Path::new("/"));
        if same_mounts && same_root || link(&pid_root).is_none() {
            self.roots.root.clone()
        } else {
            self.roots.proc(&pid_root)
        }
    }

    fn found(&self, pid: u64, mut found_by: Source, proof: &str) -> LocalServer {
        found_by.name = format!("{}; {proof}", found_by.name);
        let files_root = self.files_root(pid);
        let datadir = self.says.datadir.as_deref().unwrap_or_default();
        let data_device = (!datadir.is_empty())
            .then(|| DeviceNumber::of(&inside(&files_root, datadir)))
            .flatten();
        LocalServer {
            pid,
            found_by,
            roots: self.roots.clone(),
            says: self.says.clone(),
            files_root,
            data_device,
        }
    }
}
