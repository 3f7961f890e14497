//! Is the pool split into the right number of instances? Only where the version has them.

use innopool_target::Fact;
use innopool_target::log_events::LogEventKind;
use innopool_target::variables::Origin;

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::thresholds::LATCH_WAITS;
use crate::words;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Below this an instance of Percona's server can deadlock in its free-list back-off.
const PERCONA_INSTANCE_MIN_BYTES: u64 = 20 * MIB;

/// One per GB of pool, at most 64: where to start, not where to end.
fn rule_of_thumb(size_bytes: u64) -> u64 {
    (size_bytes / GIB).clamp(1, 64)
}

/// What somebody asked for: the running variable, else an option file or persisted value.
fn asked(facts: &Facts<'_>) -> Option<Fact<u64>> {
    let name = "innodb_buffer_pool_instances";
    let running = facts.now.variables.count(name);
    let written = facts
        .now
        .persisted
        .as_ref()
        .and_then(|persisted| persisted.count(name))
        .or_else(|| facts.now.configuration.number(name));
    let more = |fact: &Fact<u64>| fact.value > 1;
    running.filter(more).or_else(|| written.filter(more))
}

/// Instances were set where the server does not use them.
pub(super) fn instances_ignored(facts: &Facts<'_>) -> Verdict {
    let Some(size) = facts.pool.size_bytes.as_ref() else {
        return Verdict::unknown("the pool's size");
    };
    let adjusted = facts.now.log_events.iter().find_map(|event| match event.kind {
        LogEventKind::InstancesAdjusted { from, .. } => {
            let source =
                innopool_target::Source::at_line(event.place.as_str(), event.line, "instances");
            Some(Fact::new(from, source))
        }
        _ => None,
    });
    let Some(asked) = asked(facts).or(adjusted) else {
        return Verdict::fine("no instances set that are not used");
    };
    let action = "remove innodb_buffer_pool_instances from the option file";
    if !facts.dialect.has_instances() {
        return Finding::new(
            "instances-ignored",
            Severity::Notice,
            format!("{} instances set; this version has one pool", asked.value),
        )
        .because("MariaDB has ignored the setting since 10.5.1 and removed it in 10.6.")
        .with("innodb_buffer_pool_instances", "instances", Some(&asked))
        .act(action)
        .found();
    }
    if size.value >= GIB {
        return Verdict::fine("the pool is large enough for instances");
    }
    Finding::new(
        "instances-ignored",
        Severity::Notice,
        format!("{} set, 1 in use: a pool below 1 GB has one", asked.value),
    )
    .because(
        "The setting does nothing today, and takes effect by itself once the pool reaches 1 GB.",
    )
    .with("innodb_buffer_pool_instances", "instances", Some(&asked))
    .with("pool_size_bytes", "bytes", Some(size))
    .act(action)
    .found()
}

/// Threads that wait for the pool's latches.
struct Contention {
    /// Waits per second, while we watched.
    waits: Option<Fact<f64>>,
    /// Threads waiting at one moment.
    waiters: Option<Fact<u64>>,
    /// Either is too much.
    seen: bool,
}

impl Contention {
    fn of(facts: &Facts<'_>) -> Self {
        let waits = facts.watched().and_then(|interval| interval.latch_waits_per_second.clone());
        let waiters = facts.now.innodb_status.as_ref().and_then(|text| {
            text.pool_latch_waiters.map(|count| Fact::new(count, text.source("SEMAPHORES")))
        });
        let seen = waits.as_ref().is_some_and(|waits| LATCH_WAITS.judge(waits.value).is_some())
            || waiters.as_ref().is_some_and(|waiters| waiters.value >= 4);
        Self { waits, waiters, seen }
    }
}

/// Instances where those in use are fought over.
fn more_instances(instances: u64, possible: u64) -> u64 {
    possible.min(8).max(instances.saturating_mul(2)).min(64)
}

/// The number that goes with a pool of `size_bytes` where it is not the one in use, with the reason
/// and what that rests on.
pub(crate) fn wanted(
    facts: &Facts<'_>,
    size_bytes: u64,
) -> Option<(u64, &'static str, Vec<EvidenceItem>)> {
    if !facts.dialect.has_instances() || size_bytes < GIB {
        return None;
    }
    let possible = rule_of_thumb(size_bytes);
    let instances = facts.pool.instances.as_ref()?;
    let contention = Contention::of(facts);
    if contention.seen && instances.value < possible {
        let waits = contention
            .waits
            .map(|waits| EvidenceItem::of("latch_waits_per_second", "per_second", &waits));
        let waiters = contention
            .waiters
            .map(|waiters| EvidenceItem::of("pool_latch_waiters", "threads", &waiters));
        let reason = "Threads queue for the pool's latches, and each instance has its own.";
        let evidence = waits.into_iter().chain(waiters).collect();
        return Some((more_instances(instances.value, possible), reason, evidence));
    }
    let asked = asked(facts).filter(|asked| asked.value > possible)?;
    let origin = facts.now.variables.get("innodb_buffer_pool_instances").map(|v| &v.origin);
    if matches!(origin, Some(Origin::Compiled | Origin::Auto)) {
        return None;
    }
    let reason = "Instances below 1 GB each only split the reserve of free pages.";
    Some((possible, reason, vec![EvidenceItem::of("instances_set", "instances", &asked)]))
}

/// Threads wait for the pool's latches, and more instances would spread them.
pub(super) fn instances_too_few(facts: &Facts<'_>) -> Verdict {
    if !facts.dialect.has_instances() {
        return Verdict::NotApplicable;
    }
    let (Some(size), Some(instances)) = (&facts.pool.size_bytes, &facts.pool.instances) else {
        return Verdict::unknown("the pool's size and instances");
    };
    let possible = rule_of_thumb(size.value);
    if instances.value >= possible {
        return Verdict::fine(format!(
            "{} for {}",
            words::count(instances.value),
            words::bytes(size.value)
        ));
    }
    let Contention { waits, waiters, seen } = Contention::of(facts);
    if !seen {
        return match (&waits, &waiters) {
            (None, None) => Verdict::unknown("waits for the pool's latches"),
            _ => Verdict::fine("no contention seen on the pool's latches"),
        };
    }
    let wanted = more_instances(instances.value, possible);
    Finding::new(
        "instances-too-few",
        Severity::Warning,
        format!(
            "threads queue for the pool's latches; {} of {} in {}",
            words::bytes(size.value),
            "pool",
            plural(instances.value)
        ),
    )
    .because("Each instance has its own lists and latches; the memory is divided, not multiplied.")
    .with("latch_waits_per_second", "per_second", waits.as_ref())
    .with("pool_latch_waiters", "threads", waiters.as_ref())
    .with("instances", "instances", Some(instances))
    .with("pool_size_bytes", "bytes", Some(size))
    .act(format!(
        "{} of {} each, {} as before\n{}",
        plural(wanted),
        words::bytes(size.value / wanted),
        words::bytes(size.value),
        facts.dialect.set_for_restart("innodb_buffer_pool_instances", &wanted.to_string())
    ))
    .found()
}

/// The pool is cut into pieces too small to work as pools.
pub(super) fn instances_too_many(facts: &Facts<'_>) -> Verdict {
    if !facts.dialect.has_instances() {
        return Verdict::NotApplicable;
    }
    let (Some(size), Some(instances)) = (&facts.pool.size_bytes, &facts.pool.instances) else {
        return Verdict::unknown("the pool's size and instances");
    };
    let origin = facts.now.variables.get("innodb_buffer_pool_instances").map(|v| &v.origin);
    let servers_choice = matches!(origin, Some(Origin::Compiled | Origin::Auto));
    let each = size.value / instances.value.max(1);
    let possible = rule_of_thumb(size.value);
    // Below 1 GB the server uses one, whatever is set: instances-ignored says so.
    if size.value < GIB || instances.value <= possible || servers_choice {
        return Verdict::fine(format!(
            "{} of {} each",
            plural(instances.value),
            words::bytes(each)
        ));
    }
    let dangerous = facts.server().flavor == innopool_target::Flavor::Percona
        && each < PERCONA_INSTANCE_MIN_BYTES;
    let severity = if dangerous { Severity::Warning } else { Severity::Notice };
    Finding::new(
        "instances-too-many",
        severity,
        format!(
            "{} of {} each, {} in all: below 1 GB each they only split the free reserve",
            plural(instances.value),
            words::bytes(each),
            words::bytes(size.value)
        ),
    )
    .because(if dangerous {
        "Below 20 MB an instance of this server can run out of free pages and hang (lp 1651657)."
    } else {
        "Every instance keeps its own reserve of free pages and its own list, and a hot table may \
         sit in one of them."
    })
    .with("instances", "instances", Some(instances))
    .with("pool_size_bytes", "bytes", Some(size))
    .with_item(EvidenceItem::new("instance_size_bytes", "bytes", each, "pool size / instances"))
    .act(facts.dialect.set_for_restart("innodb_buffer_pool_instances", &possible.to_string()))
    .found()
}

fn plural(instances: u64) -> String {
    if instances == 1 {
        "1 instance".to_owned()
    } else {
        format!("{} instances", words::count(instances))
    }
}
