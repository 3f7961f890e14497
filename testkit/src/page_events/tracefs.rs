//! Probes in the kernel: a group of uprobes, and a trace of their hits alone.
//!
//! Both have a name that tells the process they belong to, so that what a killed process leaves
//! behind is found and removed by the next one. The trace is a tracefs *instance*: it has buffers,
//! a clock and switches of its own, and nobody else's events.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{command, lock, places, process};

const ROOT: &str = "/sys/kernel/tracing";
const PREFIX: &str = "innopool";
const MOUNT_TIME_MAX: Duration = Duration::from_secs(20);

/// A second's worth of hits at the highest rate seen, several times over; for each processor.
const BUFFER_KB: u32 = 64 * 1024;

/// A uprobe to make.
pub(crate) struct Uprobe {
    /// The name of its event.
    pub(crate) event: String,
    /// Where in the program, as an offset in its file.
    pub(crate) offset: u64,
    pub(crate) is_return: bool,
    /// What is read at each hit, as the kernel's documentation of uprobes writes it.
    pub(crate) fetch: &'static str,
}

/// A group of uprobes with their trace; removed when dropped.
#[derive(Debug)]
pub(crate) struct Trace {
    name: String,
    program: PathBuf,
}

impl Trace {
    /// Places the probes and starts to trace them.
    pub(crate) fn start(program: &Path, probes: &[Uprobe]) -> Result<Self> {
        let path = program.to_str().context("the workspace's path is not UTF-8")?;
        if path.contains(|c: char| c.is_whitespace() || c == ':') {
            bail!("no probe can be put on {path}: its path holds a blank or a colon");
        }
        let _lock = hold()?;
        mount()?;
        remove_stale()?;
        let trace = Trace { name: own_name()?, program: program.to_owned() };
        for probe in probes {
            let kind = if probe.is_return { 'r' } else { 'p' };
            let Uprobe { event, offset, fetch, .. } = probe;
            let line = format!("{kind}:{}/{event} {path}:{offset:#x} {fetch}", trace.name);
            append("uprobe_events", &line)?;
        }
        let instance = trace.instance();
        fs::create_dir(&instance)
            .with_context(|| format!("cannot create {}", instance.display()))?;
        write(&instance.join("trace_clock"), "mono")?;
        write(&instance.join("buffer_size_kb"), &BUFFER_KB.to_string())?;
        trace.switch(true)?;
        Ok(trace)
    }

    /// Opens the trace for reading; each line is read once, and a read never waits.
    pub(crate) fn open(&self) -> Result<File> {
        let path = self.instance().join("trace_pipe");
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new()
            .read(true)
            .custom_flags(nonblocking)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))
    }

    /// Makes the probes record no more. What was recorded can still be read.
    pub(crate) fn disable(&self) -> Result<()> {
        self.switch(false)
    }

    /// Returns how often the probes were hit, recorded or not.
    pub(crate) fn hits(&self) -> Result<u64> {
        let path = Path::new(ROOT).join("uprobe_profile");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let program = self.program.to_string_lossy();
        hits_in(&text, &program).with_context(|| format!("cannot read {}", path.display()))
    }

    fn switch(&self, on: bool) -> Result<()> {
        let path = self.instance().join("events").join(&self.name).join("enable");
        write(&path, if on { "1" } else { "0" })
    }

    fn instance(&self) -> PathBuf {
        Path::new(ROOT).join("instances").join(&self.name)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let removed = hold().and_then(|_lock| remove(&self.name));
        if let Err(error) = removed {
            eprintln!("testkit: {error:#}");
        }
    }
}

/// Sums the counts of lines `FILE EVENT HITS` of this file.
fn hits_in(profile: &str, program: &str) -> Result<u64> {
    let mut hits = 0;
    for line in profile.lines() {
        let mut words = line.split_whitespace();
        if words.next() == Some(program) {
            let count = words.nth(1).context("a line without a count")?;
            hits += count.parse::<u64>().with_context(|| format!("a count {count}"))?;
        }
    }
    Ok(hits)
}

/// Two processes must not look for leftovers while one of them makes its group.
fn hold() -> Result<lock::Lock> {
    lock::hold(&places::servers().join("tracefs.lock"))
}

fn mount() -> Result<()> {
    let events = Path::new(ROOT).join("uprobe_events");
    if events.exists() {
        return Ok(());
    }
    let arguments = ["-t", "tracefs", "nodev", ROOT];
    let mounted = command::run("mount-tracefs", MOUNT_TIME_MAX, "mount", &arguments);
    if events.exists() {
        return Ok(());
    }
    mounted.context("cannot mount tracefs")?;
    bail!("this kernel has no uprobes: there is no {}", events.display())
}

fn own_name() -> Result<String> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    let started = process::started_ticks(pid).context("cannot read /proc")?;
    Ok(format!("{PREFIX}_{pid}_{started}_{}", MADE.fetch_add(1, Ordering::Relaxed)))
}

/// Returns whether the name is that of a group whose process is gone.
fn is_stale(name: &str) -> bool {
    let words: Vec<&str> = name.split('_').collect();
    let [PREFIX, pid, started, _] = words[..] else { return false };
    let (Ok(pid), Ok(started)) = (pid.parse(), started.parse()) else { return false };
    process::started_ticks(pid) != Some(started)
}

/// Removes what processes left that are gone.
fn remove_stale() -> Result<()> {
    let mut names = groups()?;
    if let Ok(entries) = fs::read_dir(Path::new(ROOT).join("instances")) {
        names.extend(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()));
    }
    names.sort();
    names.dedup();
    for name in names.iter().filter(|name| is_stale(name)) {
        remove(name)?;
    }
    Ok(())
}

/// Returns the groups that there are probes of.
fn groups() -> Result<Vec<String>> {
    let text = read("uprobe_events")?;
    Ok(text
        .lines()
        .filter_map(|line| Some(event_of(line)?.split_once('/')?.0.to_owned()))
        .collect())
}

/// Returns `GROUP/EVENT` in `p:GROUP/EVENT PATH:OFFSET FETCH...`.
fn event_of(line: &str) -> Option<&str> {
    line.split_once(':')?.1.split_whitespace().next()
}

/// Removes a trace with its probes; a trace without probes too, and probes without a trace.
fn remove(name: &str) -> Result<()> {
    let instance = Path::new(ROOT).join("instances").join(name);
    if instance.exists() {
        let enable = instance.join("events").join(name).join("enable");
        if enable.exists() {
            write(&enable, "0")?;
        }
        fs::remove_dir(&instance)
            .with_context(|| format!("cannot remove {}", instance.display()))?;
    }
    let group = format!("{name}/");
    for line in read("uprobe_events")?.lines() {
        if let Some(event) = event_of(line).filter(|event| event.starts_with(&group)) {
            append("uprobe_events", &format!("-:{event}"))?;
        }
    }
    Ok(())
}

fn read(file: &str) -> Result<String> {
    let path = Path::new(ROOT).join(file);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Appends a line; opening such a file in any other way would remove every probe there is.
fn append(file: &str, line: &str) -> Result<()> {
    let path = Path::new(ROOT).join(file);
    let mut file = OpenOptions::new()
        .append(true)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    file.write_all(format!("{line}\n").as_bytes())
        .with_context(|| format!("the kernel refuses {line:?} in {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {text} to {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_dead_processes_are_stale() {
        assert!(!is_stale(&own_name().unwrap()));
        let pid = std::process::id();
        assert!(is_stale(&format!("innopool_{pid}_1_0")), "another process had the number");
        assert!(is_stale("innopool_4294967295_1_0"));
        for foreign in ["uprobes", "innopool", "innopool_x_1_0", "innopool_1_1_0_0", "perf_1_1_0"] {
            assert!(!is_stale(foreign), "{foreign}");
        }
    }

    #[test]
    fn the_kernels_lists_are_read() {
        let line = "p:innopool_1_2_0/get /usr/sbin/mysqld:0x02a7be80 s=+0(%di):u32";
        assert_eq!(event_of(line), Some("innopool_1_2_0/get"));
        assert_eq!(event_of(""), None);
        let profile = "  /a/mysqld get      12\n  /b/mysqld get      5\n  /a/mysqld getr      3\n";
        assert_eq!(hits_in(profile, "/a/mysqld").unwrap(), 15);
        assert!(hits_in("/a/mysqld get", "/a/mysqld").is_err());
    }
}
