//! Processes by number: who they are, whether they still live, and how they are ended.
//!
//! A number alone is not an identity, since the kernel reuses them. A server is recognised by the
//! option file on its command line, and a test process by its start time.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};

/// How often a wait looks again.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns whether process `pid` is a server that was started with this option file.
///
/// A process that ended but was not reaped has an empty command line and so counts as gone.
pub(crate) fn serves(pid: u32, option_file: &Path) -> bool {
    let Ok(command_line) = fs::read(format!("/proc/{pid}/cmdline")) else {
        return false;
    };
    let wanted = format!("--defaults-file={}", option_file.display());
    command_line.split(|&byte| byte == 0).any(|argument| argument == wanted.as_bytes())
}

/// Returns every process that is a server with an option file below `directory`.
pub(crate) fn servers_below(directory: &Path) -> Vec<u32> {
    let prefix = format!("--defaults-file={}/", directory.display());
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|command_line| {
                command_line
                    .split(|&byte| byte == 0)
                    .any(|argument| argument.starts_with(prefix.as_bytes()))
            })
        })
        .collect()
}

/// Returns when a process started, in clock ticks since boot; `None` when there is no such process.
pub(crate) fn started_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, and may hold anything.
    let after_name = stat.rsplit_once(") ")?.1;
    // Field 3 is the first after the name, and field 22 is the start time.
    after_name.split(' ').nth(22 - 3)?.parse().ok()
}

/// Sends a signal; a process that is gone already is no failure.
pub(crate) fn signal(pid: u32, signal: Signal) -> Result<()> {
    let number = i32::try_from(pid).context("process number out of range")?;
    let pid = Pid::from_raw(number).ok_or_else(|| anyhow!("process number 0"))?;
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno).with_context(|| format!("cannot signal process {number}")),
    }
}

/// Waits until `done`, looking every [`POLL_INTERVAL`].
pub(crate) fn wait_until(
    what: &str,
    limit: Duration,
    mut done: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let start = Instant::now();
    while !done()? {
        if start.elapsed() > limit {
            bail!("{what} took longer than {} s", limit.as_secs());
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

type Request = (Command, mpsc::Sender<std::io::Result<Child>>);

/// Starts a process from a thread that lives as long as this process.
///
/// A server asks the kernel to be killed with its parent, and to the kernel the parent is the
/// *thread* that started it: a test's own thread would take a server along that outlives the test.
pub(crate) fn spawn(command: Command) -> Result<Child> {
    static SPAWNER: OnceLock<Mutex<mpsc::Sender<Request>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (requests, inbox) = mpsc::channel::<Request>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                // The asker waits for the answer, so a closed channel means that it panicked.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(requests)
    });
    let (answer, outcome) = mpsc::channel();
    spawner
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send((command, answer))
        .context("the thread that starts servers is gone")?;
    let child = outcome.recv().context("the thread that starts servers is gone")?;
    child.context("cannot start the server process")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_start_time_and_serves_nothing() {
        let pid = std::process::id();
        assert!(started_ticks(pid).is_some());
        assert!(!serves(pid, Path::new("/nowhere/my.cnf")));
        assert_eq!(started_ticks(u32::MAX), None);
    }

    #[test]
    fn a_wait_ends_at_its_limit() {
        let error = wait_until("nothing", Duration::ZERO, || Ok(false)).unwrap_err();
        assert_eq!(error.to_string(), "nothing took longer than 0 s");
    }
}
