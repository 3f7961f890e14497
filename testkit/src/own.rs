//! Instances for one test alone.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::launch::Life;
use crate::{Kind, Server, install, lock, places, process, required, template};

/// Ports are taken below the range that the kernel gives to outgoing connections, so that an
/// instance finds its port free again after a restart.
const PORT_MIN: u16 = 20_000;
const PORTS: u16 = 12_000;

/// How many ports a start tries before the error is something else.
const PORT_ATTEMPTS_MAX: u32 = 5;

/// The longest path that fits a unix socket's address, without the byte that ends it.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Describes an instance to start.
///
/// ```no_run
/// use innopool_testkit::{Kind, Own};
///
/// # fn main() {
/// let Some(server) = Own::new(Kind::Mysql).option("innodb_buffer_pool_size=64M").start() else {
///     return;
/// };
/// assert_eq!(server.variable("innodb_buffer_pool_size"), "67108864");
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a description starts nothing"]
pub struct Own {
    kind: Kind,
    options: Vec<String>,
    arguments: Vec<String>,
    has_own_program: bool,
}

impl Own {
    /// Describes an instance with the server's own defaults.
    pub fn new(kind: Kind) -> Self {
        Own { kind, options: Vec::new(), arguments: Vec::new(), has_own_program: false }
    }

    /// Adds a line to the option file: `name=value` or `name`, with or without leading dashes.
    pub fn option(mut self, option: &str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// Adds an argument to the command line, word for word.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Runs a copy of the server's program that no other instance runs.
    ///
    /// A probe on a program is hit by every process that runs it; on a copy, by this server alone,
    /// and no other test's server is slowed down. Costs a copy of about 80 MB.
    pub fn own_program(mut self) -> Self {
        self.has_own_program = true;
        self
    }

    /// Starts the instance; `None` where there can be none.
    ///
    /// # Panics
    ///
    /// With `REQUIRE_SERVERS=1`, when the server cannot be had; always when there is a server but
    /// it does not start with these options, since that is the test's own failure.
    pub fn start(self) -> Option<Server> {
        required(self.kind.name(), template::prepare(self.kind))?;
        match self.try_start() {
            Ok(server) => Some(server),
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Starts the instance.
    ///
    /// # Errors
    ///
    /// When the server cannot be had or does not start with these options; its log is quoted.
    pub fn try_start(self) -> Result<Server> {
        remove_stale(self.kind)?;
        let directory = new_directory(self.kind)?;
        template::copy(self.kind, &directory)?;
        let program = self.has_own_program.then(|| copy_program(self.kind, &directory));
        let program = program.transpose()?;
        start_on_free_port(|port| {
            let mut server = Server::new(self.kind, Life::Own, directory.clone(), port);
            if let Some(program) = &program {
                server.run_copy(program);
            }
            server.configure(&self.options, &self.arguments);
            server
        })
    }
}

/// Copies the server's program into the directory of an instance, where its root sees it too.
fn copy_program(kind: Kind, directory: &Path) -> Result<PathBuf> {
    let from = install::program_file(kind);
    let to = directory.join(from.file_name().unwrap_or_default());
    fs::copy(&from, &to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(to)
}

/// Starts the server that `describe` makes for a port, with another port if that one was taken.
pub(crate) fn start_on_free_port(describe: impl Fn(u16) -> Server) -> Result<Server> {
    let mut attempt = 1;
    loop {
        let mut server = describe(free_port()?);
        match server.start() {
            Ok(()) => return Ok(server),
            Err(error) => {
                let taken = format!("{error:#}").contains("Address already in use");
                if !taken || attempt == PORT_ATTEMPTS_MAX {
                    return Err(error);
                }
                // Dropping an own server would remove the directory that the next attempt needs.
                std::mem::forget(server);
                attempt += 1;
            }
        }
    }
}

/// Returns a port of 127.0.0.1 that nobody listens on.
///
/// # Errors
///
/// When every port of the range is taken.
pub fn free_port() -> Result<u16> {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    // Processes start far apart, so that two that look at once seldom see the same port.
    let asked = ASKED.fetch_add(1, Ordering::Relaxed);
    let first = std::process::id().wrapping_mul(7919).wrapping_add(asked);
    for step in 0..u32::from(PORTS) {
        let offset = first.wrapping_add(step) % u32::from(PORTS);
        let port = PORT_MIN + u16::try_from(offset).context("a port beyond 65535")?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port from {PORT_MIN} to {}", PORT_MIN + PORTS - 1)
}

/// Makes a directory whose name tells the process that it belongs to.
fn new_directory(kind: Kind) -> Result<PathBuf> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    let count = STARTED.fetch_add(1, Ordering::Relaxed);
    let directory = places::kind(kind).join(format!("own-{pid}-{count}"));
    check_socket_path(&directory)?;
    let _lock = hold_instances(kind)?;
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let started = process::started_ticks(pid).context("cannot read /proc")?;
    fs::write(directory.join("owner"), started.to_string())
        .with_context(|| format!("cannot write to {}", directory.display()))?;
    Ok(directory)
}

pub(crate) fn check_socket_path(directory: &Path) -> Result<()> {
    let socket = directory.join("server.sock");
    let bytes = socket.as_os_str().len();
    if bytes > SOCKET_PATH_BYTES_MAX {
        bail!(
            "the workspace's path is too long: {} has {bytes} bytes, and a unix socket can have \
             {SOCKET_PATH_BYTES_MAX}",
            socket.display()
        );
    }
    Ok(())
}

/// Removes the instances of test processes that are gone, and returns how many there were.
///
/// # Errors
///
/// When such an instance cannot be killed or removed.
pub fn remove_stale(kind: Kind) -> Result<usize> {
    let _lock = hold_instances(kind)?;
    let mut removed = 0;
    let Ok(entries) = fs::read_dir(places::kind(kind)) else {
        return Ok(0);
    };
    for entry in entries.flatten() {
        let directory = entry.path();
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner_of) else {
            continue;
        };
        if owner_lives(owner, &directory) {
            continue;
        }
        for pid in process::servers_below(&directory) {
            process::signal(pid, Signal::KILL)?;
        }
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove {}", directory.display()))?;
        removed += 1;
    }
    Ok(removed)
}

fn hold_instances(kind: Kind) -> Result<lock::Lock> {
    lock::hold(&places::kind(kind).join("instances.lock"))
}

/// Returns the process number in `own-PID-N`.
fn owner_of(directory_name: &str) -> Option<u32> {
    directory_name.strip_prefix("own-")?.split_once('-')?.0.parse().ok()
}

fn owner_lives(owner: u32, directory: &Path) -> bool {
    let recorded = fs::read_to_string(directory.join("owner")).unwrap_or_default();
    process::started_ticks(owner).is_some_and(|started| started.to_string() == recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_names_its_owner() {
        assert_eq!(owner_of("own-123-4"), Some(123));
        assert_eq!(owner_of("shared"), None);
        assert_eq!(owner_of("own-x-4"), None);
    }

    #[test]
    fn a_path_too_long_for_a_socket_is_refused() {
        check_socket_path(Path::new("/short")).unwrap();
        let error = check_socket_path(Path::new(&format!("/{}", "x".repeat(100)))).unwrap_err();
        assert!(error.to_string().contains("113 bytes"), "{error}");
    }
}
