//! Running helper programs: their output kept in a log, their time limited, their failure explained.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::places;

/// How much of a log a failure message quotes.
const TAIL_LINES_MAX: usize = 20;

/// Runs `program` to its end, with its output in `target/servers/log/NAME.log` until it succeeds.
pub(crate) fn run(name: &str, limit: Duration, program: &str, arguments: &[&str]) -> Result<()> {
    let directory = places::servers().join("log");
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let log = directory.join(format!("{name}.log"));
    let output = File::create(&log).with_context(|| format!("cannot create {}", log.display()))?;
    let status = Command::new("timeout")
        .arg("--kill-after=10")
        .arg(limit.as_secs().to_string())
        .arg(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(output.try_clone().context("cannot share a log file")?)
        .stderr(output)
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        let said = tail(&log);
        // 124 is what timeout(1) answers for a program that it had to end.
        if status.code() == Some(124) {
            bail!("{program} took longer than {} s; it said:\n{said}", limit.as_secs());
        }
        bail!("{program} failed ({status}); it said:\n{said}");
    }
    fs::remove_file(&log).with_context(|| format!("cannot remove {}", log.display()))
}

/// Returns the last lines of a log, indented for a message.
pub(crate) fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES_MAX);
    if lines.is_empty() {
        return format!("    (nothing in {})", log.display());
    }
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
