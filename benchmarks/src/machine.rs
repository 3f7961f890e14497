//! The machine, as far as figures depend on it: a figure without its machine says nothing.

use std::fs;
use std::path::Path;

use crate::settings::Settings;

/// Bytes of the last-level cache, as the kernel says.
pub(crate) fn last_level_cache_bytes() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let of = |cache: &Path| {
        let text = fs::read_to_string(cache.join("size")).ok()?;
        let (number, unit) = text.trim().split_at(text.trim().len().checked_sub(1)?);
        let shift = match unit {
            "K" => 10,
            "M" => 20,
            _ => return None,
        };
        Some(number.parse::<u64>().ok()? << shift)
    };
    caches.filter_map(|cache| of(&cache.ok()?.path())).max()
}

/// Memory that could be taken without hurting anybody, in bytes.
pub(crate) fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = field(&text, "MemAvailable:")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// What stands above the table.
pub(crate) fn describe(settings: &Settings) -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&cpus, "model name").map(|text| text.trim_start_matches([':', ' ']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cache = last_level_cache_bytes().map_or("unknown".to_owned(), mib);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let memory = available_bytes().map_or("unknown".to_owned(), mib);
    let (device, file_system) = mount_of(&settings.directory).unwrap_or_default();
    let lines = [
        ("Processor", format!("{}, {cores} cores", model.unwrap_or("unknown"))),
        ("Caches", format!("last level {cache}, as the kernel says")),
        ("Memory", format!("{memory} available")),
        ("Load", format!("{} (1, 5 and 15 minutes) before the run", load())),
        ("System", format!("Linux {}; files on {device}, {file_system}", kernel.trim())),
        ("Pool", "innopool-buf, array page table unless a row says otherwise".to_owned()),
        ("Figures", format!("medians of {} repeats, taken in turn A B A B", settings.repeats)),
    ];
    lines.iter().map(|(name, what)| format!("  {name:<10} {what}\n")).collect()
}

/// The load averages.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Device and file system of the mount that `directory` is under.
fn mount_of(directory: &Path) -> Option<(String, String)> {
    let directory = directory.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            let (device, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
            directory.starts_with(at).then(|| (at.len(), device.to_owned(), kind.to_owned()))
        })
        .max_by_key(|mount| mount.0)
        .map(|(_, device, kind)| (device, kind))
}
