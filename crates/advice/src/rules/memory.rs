//! Does the pool fit in the memory there is?

use innopool_target::Source;
use innopool_target::host::Host;
use innopool_target::log_events::LogEventKind;

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::growth::round_to_unit;
use crate::memory::{Budget, POOL_OVERHEAD_RATIO};
use crate::rules::size::set_size;
use crate::thresholds::{POOL_TO_BUDGET, POOL_TO_LIMIT, SERVER_SWAPPED, SWAP_IN};
use crate::words;

/// Less than a memory page a second is a leftover being picked up, in bytes.
const ONE_PAGE_A_SECOND: f64 = 4096.0;

/// The machine swaps, or the server's memory is swapped out.
pub(super) fn host_swapping(facts: &Facts<'_>) -> Verdict {
    let Some(host) = facts.observation.host() else {
        return Verdict::unknown("the host: the server does not run here");
    };
    let swap_in = facts.watched().and_then(|interval| interval.swap_in_bytes_per_second.as_ref());
    let swapped = host.server_swapped_bytes.as_ref();
    let size = facts.pool.size_bytes.as_ref().map_or(0, |fact| fact.value);
    let swapped_ratio = swapped.map(|fact| fact.value as f64 / size.max(1) as f64);
    let rate_severity = swap_in.and_then(|rate| SWAP_IN.judge(rate.value));
    // Swapped long ago and never asked for again is no trouble; swapped and being fetched is.
    let moving = swap_in.is_none_or(|rate| rate.value >= ONE_PAGE_A_SECOND);
    let share_severity =
        swapped_ratio.filter(|_| moving).and_then(|ratio| SERVER_SWAPPED.judge(ratio));
    let Some(severity) = rate_severity.max(share_severity) else {
        return match (swap_in, swapped) {
            (None, None) => {
                in_swap_once(facts, host).unwrap_or_else(|| Verdict::unknown("swap-ins over time"))
            }
            _ => Verdict::fine(calm(host)),
        };
    };
    let summary = match (swap_in, swapped) {
        (Some(rate), Some(swapped)) if rate.value > 0.0 => format!(
            "{}/s swapped in; {} of the server's memory is in swap",
            bytes_rate(rate.value),
            words::bytes(swapped.value)
        ),
        (Some(rate), None) => format!("{}/s swapped in", bytes_rate(rate.value)),
        (_, Some(swapped)) => {
            format!("{} of the server's memory is in swap", words::bytes(swapped.value))
        }
        (None, None) => "the host swaps".to_owned(),
    };
    Finding::new("host-swapping", severity, summary)
        .because(
            "A page of the pool that is in swap is slower than the same page on disk: the server \
             believes it is in memory, and holds latches while it waits.",
        )
        .with("swap_in_bytes_per_second", "bytes_per_second", swap_in)
        .with("server_swapped_bytes", "bytes", swapped)
        .with("ram_bytes", "bytes", host.ram_bytes.as_ref())
        .with("available_bytes", "bytes", host.available_bytes.as_ref())
        .with(
            "memory_stall_ratio",
            "ratio",
            facts.watched().and_then(|i| i.memory_stall_ratio.as_ref()),
        )
        .with("pool_size_bytes", "bytes", facts.pool.size_bytes.as_ref())
        .act(swap_action(facts, host))
        .found()
}

/// Much of memory is in swap at the one moment we have; whether it moves is not known.
fn in_swap_once(facts: &Facts<'_>, host: &Host) -> Option<Verdict> {
    let (total, free) = (host.swap_total_bytes.as_ref()?, host.swap_free_bytes.as_ref()?);
    let (ram, available) = (host.ram_bytes.as_ref()?, host.available_bytes.as_ref()?);
    let used = total.value.saturating_sub(free.value);
    if used < ram.value / 20 {
        return None;
    }
    let roomy = available.value > ram.value / 10;
    let action = if roomy {
        "look again over time on the host. Where memory is available while swap fills, and the \
         machine has several NUMA nodes, the pool has filled one of them: innodb_numa_interleave \
         spreads it\n$ numactl --hardware"
    } else {
        "look again over time on the host\n$ vmstat 1 10"
    };
    Some(
        Finding::new(
            "host-swapping",
            Severity::Notice,
            format!("{} is in swap; one look cannot tell whether it moves", words::bytes(used)),
        )
        .because("Swapped long ago it does no harm; fetched back while queries wait it does.")
        .with("swap_total_bytes", "bytes", Some(total))
        .with("swap_free_bytes", "bytes", Some(free))
        .with("available_bytes", "bytes", Some(available))
        .with("pool_size_bytes", "bytes", facts.pool.size_bytes.as_ref())
        .act(action)
        .found(),
    )
}

fn calm(host: &Host) -> String {
    match &host.available_bytes {
        Some(available) => {
            format!("no swap-in; {} of memory still available", words::bytes(available.value))
        }
        None => "no swap-in".to_owned(),
    }
}

fn swap_action(facts: &Facts<'_>, host: &Host) -> String {
    if numa_is_the_cause(facts, host) {
        let set = facts.dialect.set_for_restart("innodb_numa_interleave", "ON");
        return format!(
            "memory is free while the server swaps, and the pool is larger than one NUMA node: \
             spread it over all nodes\n{set}"
        );
    }
    let size = facts.pool.size_bytes.as_ref().map_or(0, |fact| fact.value);
    match &facts.budget {
        Some(budget) if budget.pool_bytes < size => shrink(facts, budget, size),
        _ => {
            "the pool is within its budget: find what else uses the memory\n$ ps -eo rss,swap,comm \
              --sort=-rss | head"
                .to_owned()
        }
    }
}

/// Swapping with memory free on a machine with several nodes.
fn numa_is_the_cause(facts: &Facts<'_>, host: &Host) -> bool {
    let value = |fact: &Option<innopool_target::Fact<u64>>| fact.as_ref().map(|fact| fact.value);
    let (Some(nodes), Some(node), Some(available), Some(ram), Some(size)) = (
        value(&host.numa_nodes),
        value(&host.numa_node_bytes),
        value(&host.available_bytes),
        value(&host.ram_bytes),
        value(&facts.pool.size_bytes),
    ) else {
        return false;
    };
    let interleaved =
        facts.now.setting_flag("innodb_numa_interleave").is_some_and(|fact| fact.value);
    nodes > 1 && size > node && available > ram / 10 && !interleaved
}

fn bytes_rate(value: f64) -> String {
    // Rates of bytes are positive and far below 2^63.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    words::bytes(value.max(0.0).round() as u64)
}

/// The pool does not fit in its budget.
pub(super) fn pool_over_memory_budget(facts: &Facts<'_>) -> Verdict {
    if let Some(verdict) = allocation_failed(facts) {
        return verdict;
    }
    let Some(budget) = &facts.budget else {
        return Verdict::unknown("the memory of the host: give --host-memory, or run on the host");
    };
    let Some(size) = &facts.pool.size_bytes else {
        return Verdict::unknown("the pool's size");
    };
    let to_budget = size.value as f64 / budget.pool_bytes.max(1) as f64;
    let to_limit =
        size.value as f64 * (1.0 + POOL_OVERHEAD_RATIO) / budget.limit.value.max(1) as f64;
    let over = POOL_TO_BUDGET.judge(to_budget).filter(|_| size.value > budget.pool_bytes);
    let Some(severity) = over.max(POOL_TO_LIMIT.judge(to_limit)) else {
        return Verdict::fine(format!(
            "{} of at most {}",
            words::bytes(size.value),
            words::bytes(budget.pool_bytes)
        ));
    };
    let limit = match budget.limit_source {
        "cgroup" => "its cgroup allows",
        _ => "the host has",
    };
    let mut finding = Finding::new(
        "pool-over-memory-budget",
        severity,
        format!(
            "{} of pool where {} fits: {limit} {}",
            words::bytes(size.value),
            words::bytes(budget.pool_bytes),
            words::bytes(budget.limit.value)
        ),
    )
    .because(
        "A pool takes its memory as it fills, so this works until it is warm; then the host swaps \
         or the kernel kills the server.",
    )
    .with("pool_size_bytes", "bytes", Some(size));
    for term in &budget.terms {
        finding = finding.with_item(term.clone());
    }
    finding.act(shrink(facts, budget, size.value)).found()
}

/// Down to the budget, where any pool fits in it.
fn shrink(facts: &Facts<'_>, budget: &Budget, size_bytes: u64) -> String {
    let fits = round_to_unit(facts, budget.pool_bytes);
    if fits == 0 || fits >= size_bytes {
        return "no pool fits beside the rest of the server: give it more memory, or make room"
            .to_owned();
    }
    format!("shrink the pool to its memory budget, outside busy hours\n{}", set_size(facts, fits))
}

/// The error log ends with a pool that could not be had.
fn allocation_failed(facts: &Facts<'_>) -> Option<Verdict> {
    let events = &facts.now.log_events;
    let failed =
        events.iter().rposition(|event| event.kind == LogEventKind::PoolAllocationFailed)?;
    let later = events.get(failed + 1..).unwrap_or_default();
    let started =
        later.iter().any(|event| matches!(event.kind, LogEventKind::PoolInitialised { .. }));
    if started || !facts.now.status.is_empty() {
        return None;
    }
    let event = events.get(failed)?;
    let place = Source::at_line(event.place.as_str(), event.line, "buffer pool");
    Some(
        Finding::new(
            "pool-over-memory-budget",
            Severity::Critical,
            "the memory for the pool could not be had: the server did not start",
        )
        .because("The kernel refused the memory when the server asked for all of it at its start.")
        .with("pool_size_bytes", "bytes", facts.pool.size_bytes.as_ref())
        .with_item(EvidenceItem::new("error_log", "", "allocation failed", place.to_string()))
        .act(
            "see what memory there is, write a size that fits into the option file, and start again\n\
             $ free -b",
        )
        .found(),
    )
}

/// The server sizes itself by the host's memory although a container allows it less.
pub(super) fn container_limit_unseen(facts: &Facts<'_>) -> Verdict {
    let Some(host) = facts.observation.host() else {
        return Verdict::unknown("the host: the server does not run here");
    };
    let (Some(limit), Some(ram)) = (&host.cgroup_limit_bytes, &host.ram_bytes) else {
        return Verdict::fine("no container limit below the host's memory");
    };
    if limit.value >= ram.value {
        return Verdict::fine("no container limit below the host's memory");
    }
    let server = facts.server();
    let sees_it = server.flavor.is_mysql_like() && server.at_least(9, 3, 0);
    let dedicated =
        facts.now.setting_flag("innodb_dedicated_server").is_some_and(|fact| fact.value);
    if sees_it || !dedicated {
        return Verdict::fine(format!(
            "the container's limit of {} was used for the budget",
            words::bytes(limit.value)
        ));
    }
    Finding::new(
        "container-limit-unseen",
        Severity::Warning,
        format!(
            "innodb_dedicated_server sizes the pool by {} of host memory; the container has {}",
            words::bytes(ram.value),
            words::bytes(limit.value)
        ),
    )
    .because("MySQL reads container limits itself only from 9.3 on.")
    .with("ram_bytes", "bytes", Some(ram))
    .with("cgroup_limit_bytes", "bytes", Some(limit))
    .with_item(EvidenceItem::new("innodb_dedicated_server", "", "ON", "variables"))
    .act(match &facts.budget {
        Some(budget) => {
            let fits = round_to_unit(facts, budget.pool_bytes).to_string();
            format!(
                "set the size yourself\n{}",
                facts.dialect.set_for_restart("innodb_buffer_pool_size", &fits)
            )
        }
        None => "set innodb_buffer_pool_size yourself".to_owned(),
    })
    .found()
}
