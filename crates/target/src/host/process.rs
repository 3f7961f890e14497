//! Memory of the server's process and of all the others.

use std::time::{Duration, Instant};

use super::Host;
use super::roots::Roots;
use crate::provenance::{Fact, NotRead, Source};

/// Adds what the kernel says of the server's memory.
pub(super) fn read_server(host: &mut Host, roots: &Roots, pid: u64) {
    let Some(text) = roots.proc_text(&format!("{pid}/status")) else {
        return;
    };
    let place = format!("/proc/{pid}/status");
    let bytes = |label: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(label))?;
        let kib: u64 =
            line.trim_start_matches(':').split_ascii_whitespace().next()?.parse().ok()?;
        Some(Fact::new(kib.checked_mul(1024)?, Source::new(place.as_str(), label)))
    };
    host.server_rss_bytes = bytes("VmRSS");
    host.server_rss_peak_bytes = bytes("VmHWM");
    host.server_swapped_bytes = bytes("VmSwap");
}

/// Resident memory of all processes but the server, in bytes. Memory that several of them share
/// is counted for each.
///
/// # Errors
/// When other users' processes are hidden, or when it takes longer than `patience`.
pub(super) fn others_rss(
    roots: &Roots,
    server_pid: u64,
    page_bytes: u64,
    patience: Duration,
) -> Result<Fact<u64>, NotRead> {
    const WHAT: &str = "memory of other processes";
    // The first process belongs to root: if it cannot be seen, others are hidden too (hidepid).
    if !roots.proc("1/statm").exists() {
        return Err(NotRead::new(WHAT, "processes of other users are hidden here"));
    }
    let begun = Instant::now();
    let mut pages: u64 = 0;
    for pid in roots.processes().filter(|pid| *pid != server_pid) {
        if begun.elapsed() >= patience {
            let why = format!("there are too many to add up in {} ms", patience.as_millis());
            return Err(NotRead::new(WHAT, why));
        }
        // A process that ended in between has no memory.
        let resident = roots
            .proc_text(&format!("{pid}/statm"))
            .and_then(|text| text.split(' ').nth(1)?.trim().parse::<u64>().ok());
        pages = pages.saturating_add(resident.unwrap_or(0));
    }
    let source = Source::new("/proc/*/statm", "resident");
    Ok(Fact::new(pages.saturating_mul(page_bytes), source))
}

/// The arguments a process was started with; empty for one without or out of reach.
pub(super) fn command_line(roots: &Roots, pid: u64) -> Vec<String> {
    let text = roots.proc_text(&format!("{pid}/cmdline")).unwrap_or_default();
    text.split('\0').filter(|argument| !argument.is_empty()).map(str::to_owned).collect()
}

/// Seconds since the process started, by the kernel's own clock.
pub(super) fn age_seconds(roots: &Roots, pid: u64) -> Option<f64> {
    /// Auxiliary vector key of the clock ticks in a second (`AT_CLKTCK`).
    const AUXILIARY_TICKS: u64 = 17;
    let text = roots.proc_text(&format!("{pid}/stat"))?;
    // The name in parentheses may hold blanks and parentheses; field 22 is the 20th after it.
    let (_, fields) = text.rsplit_once(')')?;
    let started_ticks: u64 = fields.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let ticks_per_second = roots.auxiliary(AUXILIARY_TICKS).filter(|ticks| *ticks > 0)?;
    let uptime = roots.proc_text("uptime")?;
    let uptime_seconds: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    Some(uptime_seconds - started_ticks as f64 / ticks_per_second as f64)
}

/// The effective user of a process.
pub(super) fn user_of(roots: &Roots, pid: u64) -> Option<u64> {
    let text = roots.proc_text(&format!("{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
