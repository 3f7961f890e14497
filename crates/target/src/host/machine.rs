//! Figures of the whole machine from `/proc` and `/sys`. What `/proc/meminfo` says is not read
//! here: it travels as a document of its own.

use super::Host;
use super::roots::Roots;
use crate::provenance::{Fact, Source};

/// Auxiliary vector key of the page size (`AT_PAGESZ`).
const AUXILIARY_PAGE_BYTES: u64 = 6;

/// Adds the counters of swapping and processor time.
pub(super) fn read_counters(host: &mut Host, roots: &Roots) {
    if let Some(text) = roots.proc_text("vmstat") {
        let counter = |name: &str| {
            let value = labelled(&text, name)?.parse().ok()?;
            Some(Fact::new(value, Source::new("/proc/vmstat", name)))
        };
        host.swapped_in_pages = counter("pswpin");
        host.swapped_out_pages = counter("pswpout");
    }
    host.memory_page_bytes = page_bytes(roots);
    if let Some(text) = roots.proc_text("stat") {
        let source = |name: &str| Source::new("/proc/stat", name);
        if let Some(ticks) = processor_ticks(&text) {
            host.iowait_ticks = Some(Fact::new(ticks.iowait, source("iowait")));
            host.cpu_ticks = Some(Fact::new(ticks.total, source("cpu")));
        }
        let cpus = text.lines().filter(|line| is_processor(line)).count() as u64;
        host.cpus = (cpus > 0).then(|| Fact::new(cpus, source("cpu0, cpu1, ...")));
    }
}

/// Adds memory nodes, huge pages and their mode.
pub(super) fn read_memory_layout(host: &mut Host, roots: &Roots) {
    let nodes = node_sizes(roots);
    if let Some(smallest) = nodes.iter().min() {
        let source = || Source::new("/sys/devices/system/node", "MemTotal");
        host.numa_nodes = Some(Fact::new(nodes.len() as u64, source()));
        host.numa_node_bytes = Some(Fact::new(*smallest, source()));
    }
    host.huge_pages_bytes = huge_pages_bytes(roots)
        .map(|bytes| Fact::new(bytes, Source::new("/sys/kernel/mm/hugepages", "nr_hugepages")));
    const MODE: &str = "kernel/mm/transparent_hugepage/enabled";
    host.transparent_huge_pages = roots.sys_text(MODE).and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        let (mode, _) = rest.split_once(']')?;
        Some(Fact::new(mode.to_owned(), Source::new(format!("/sys/{MODE}"), "")))
    });
}

/// Bytes of a memory page.
pub(super) fn page_bytes(roots: &Roots) -> Option<Fact<u64>> {
    let bytes = roots.auxiliary(AUXILIARY_PAGE_BYTES)?;
    Some(Fact::new(bytes, Source::new("/proc/self/auxv", "AT_PAGESZ")))
}

/// Total microseconds some task stalled, from a pressure file.
pub(super) fn stall_microseconds(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split(' ').find_map(|word| word.strip_prefix("total="))?;
    total.trim().parse().ok()
}

/// The word after `name` at the head of a line.
fn labelled<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next()? == name).then(|| words.next())?
    })
}

struct Ticks {
    iowait: u64,
    total: u64,
}

/// The `cpu` line: user, nice, system, idle, iowait, irq, softirq, steal; what follows is contained
/// in user and nice.
fn processor_ticks(text: &str) -> Option<Ticks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    Some(Ticks {
        iowait: *ticks.get(4)?,
        total: ticks.iter().copied().fold(0, u64::saturating_add),
    })
}

fn is_processor(line: &str) -> bool {
    line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Bytes of each node that has memory.
fn node_sizes(roots: &Roots) -> Vec<u64> {
    let entries = std::fs::read_dir(roots.sys("devices/system/node"));
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            name.to_str()?.strip_prefix("node")?.parse::<u32>().ok()?;
            let text = super::roots::read_text(&entry.path().join("meminfo")).ok()?;
            // `Node 0 MemTotal:       16384 kB`
            let line = text.lines().find(|line| line.contains(" MemTotal:"))?;
            let kib: u64 = line.split_ascii_whitespace().nth(3)?.parse().ok()?;
            kib.checked_mul(1024)
        })
        .filter(|bytes| *bytes > 0)
        .collect()
}

/// Reserved huge pages of all sizes, in bytes.
fn huge_pages_bytes(roots: &Roots) -> Option<u64> {
    let entries = std::fs::read_dir(roots.sys("kernel/mm/hugepages")).ok()?;
    let mut total: u64 = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let kib = name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?;
        let kib: u64 = kib.parse().ok()?;
        let count = super::roots::read_text(&entry.path().join("nr_hugepages")).ok()?;
        let count: u64 = count.trim().parse().ok()?;
        total = total.checked_add(count.checked_mul(kib.checked_mul(1024)?)?)?;
    }
    Some(total)
}
