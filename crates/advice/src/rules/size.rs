//! Is the pool the right size? Judged by what reading from disk costs, never by a share of RAM.

use innopool_target::{Fact, Flavor};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict, computed};
use crate::growth::{Growth, grow};
use crate::read_cost::{ReadCost, is_background_noise};
use crate::report::Basis;
use crate::thresholds::{FREE_SHARE, POOL_TO_DATA, READS_WORTH_A_LOOK};
use crate::words;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// The size every server starts with when nobody sets one.
const DEFAULT_SIZE_BYTES: u64 = 128 * MIB;

/// A pool so small that its turnover says more than a momentary ratio.
const TINY_POOL_BYTES: u64 = 64 * MIB;

/// Reads are waited for more than they should be.
pub(crate) fn pool_too_small(facts: &Facts<'_>) -> Verdict {
    let Some(size) = facts.pool.size_bytes.as_ref() else {
        return Verdict::unknown("the pool's size");
    };
    if let Some(data) = facts.data_bytes()
        && data.saturating_add(data / 20) <= size.value
    {
        let (data, pool) = (words::bytes(data), words::bytes(size.value));
        return Verdict::fine(format!("all data ({data}) fits in the pool ({pool})"));
    }
    if facts.is_full() == Some(false) && facts.nearly_full() == Some(false) {
        return Verdict::fine("the pool has free pages left");
    }
    if is_background_noise(facts) {
        return Verdict::fine("next to nothing is read from disk");
    }
    let Some(cost) = ReadCost::of(facts) else {
        return Verdict::unknown("reads from disk: no counters over time and no hit rate");
    };
    if is_since_start(facts, &cost)
        && facts.now.uptime_seconds().is_none_or(|uptime| uptime.value < 3600)
    {
        return Verdict::unknown("reads over time: the counters are of a start not an hour ago");
    }
    let severity = match (cost.severity(), is_since_start(facts, &cost)) {
        // Averages since start-up include every cold hour: never beyond doubt.
        (Some(_), true) => Severity::Warning,
        (Some(severity), false) => severity,
        (None, _) => match turnover_of_tiny_pool(facts, size) {
            Some(turnover) => return tiny_pool(facts, size, turnover),
            None => return Verdict::fine(margin(&cost)),
        },
    };
    too_small(facts, size, &cost, severity).found()
}

/// True when all that is known is the ratio of counters since the start.
fn is_since_start(facts: &Facts<'_>, cost: &ReadCost) -> bool {
    let ReadCost::HitPerMille(hits) = cost else { return false };
    let printed = facts.pool.printed_hit_rate.as_ref().map(|fact| &fact.source);
    facts.basis == Basis::SinceStart && Some(&hits.source) != printed
}

fn margin(cost: &ReadCost) -> String {
    match cost {
        ReadCost::Share { ratio, of } => {
            format!(
                "reading takes {} of {}; 5 % is too much",
                words::percent(ratio.value),
                of.words()
            )
        }
        ReadCost::InFlight(reads) => {
            format!("{} reads under way on average; 1 is too many", words::rate(reads.value))
        }
        ReadCost::PendingOnce(reads) => format!("{} reads pending", words::count(reads.value)),
        ReadCost::HitPerMille(hits) => {
            format!("{} of 1000 requests hit; below 985 is too few", hits.value)
        }
    }
}

fn too_small(facts: &Facts<'_>, size: &Fact<u64>, cost: &ReadCost, severity: Severity) -> Finding {
    let reads = facts.rate(|i| i.disk_reads_per_second.as_ref());
    let latency = facts.rate(|i| i.read_latency_seconds.as_ref());
    let hits = crate::read_cost::hit_per_mille(facts);
    let summary = summary(cost, reads.as_ref(), latency.as_ref(), hits.as_ref());
    Finding::new("pool-too-small", severity, summary)
        .because(why(facts, cost))
        .with_item(cost_item(cost))
        .with("disk_reads_per_second", "per_second", reads.as_ref())
        .with("read_latency_seconds", "seconds", latency.as_ref())
        .with("hit_per_mille", "per_mille", hits.as_ref())
        .with("pool_size_bytes", "bytes", Some(size))
        .with("pages_total", "pages", facts.pool.pages_total.as_ref())
        .with("pages_free", "pages", facts.pool.pages_free.as_ref())
        .with("pages_dirty", "pages", facts.pool.pages_dirty.as_ref())
        .act(action(facts, size.value))
}

fn summary(
    cost: &ReadCost,
    reads: Option<&Fact<f64>>,
    latency: Option<&Fact<f64>>,
    hits: Option<&Fact<u64>>,
) -> String {
    let mut parts = Vec::new();
    match (reads.filter(|reads| reads.value > 0.0), latency) {
        (Some(reads), Some(latency)) => parts.push(format!(
            "{} disk reads/s x {}",
            words::rate(reads.value),
            words::duration(latency.value)
        )),
        (Some(reads), None) => parts.push(format!("{} disk reads/s", words::rate(reads.value))),
        _ => {}
    }
    match cost {
        ReadCost::Share { ratio, of } => {
            parts.push(format!("{} of {}", words::percent(ratio.value), of.words()));
        }
        ReadCost::InFlight(in_flight) => {
            parts.push(format!("{} reads under way at any moment", words::rate(in_flight.value)));
        }
        ReadCost::PendingOnce(pending) => {
            parts.push(format!("{} reads pending at once", words::count(pending.value)));
        }
        ReadCost::HitPerMille(_) => {}
    }
    if let Some(hits) = hits {
        parts.push(format!("{} of 1000 requests hit", hits.value));
    }
    parts.join("; ")
}

fn why(facts: &Facts<'_>, cost: &ReadCost) -> String {
    let strength = match cost {
        ReadCost::Share { .. } => {
            "This is the share of all the time the server works that a larger pool could give back."
        }
        ReadCost::InFlight(_) => {
            "Statement time is not accounted on this server, so how large a share of it that is \
             stays unknown."
        }
        ReadCost::PendingOnce(_) => {
            "This was seen at one moment only: look again with counters over time \
             (innopool check on the live server)."
        }
        ReadCost::HitPerMille(_) => {
            "Only a ratio is known, which says nothing of the cost of a read: the confidence is \
             low until reads and their latency are measured on the live server."
        }
    };
    // A printed ratio is of an unknown time since somebody last looked.
    let when = match cost {
        ReadCost::Share { .. } | ReadCost::InFlight(_) => format!(" {}", facts.when()),
        ReadCost::PendingOnce(_) | ReadCost::HitPerMille(_) => String::new(),
    };
    format!("Requests wait for the disk{when}. {strength}")
}

fn cost_item(cost: &ReadCost) -> EvidenceItem {
    match cost {
        ReadCost::Share { ratio, .. } => EvidenceItem::of("read_cost_ratio", "ratio", ratio),
        ReadCost::InFlight(reads) => EvidenceItem::of("reads_in_flight", "reads", reads),
        ReadCost::PendingOnce(reads) => EvidenceItem::of("pending_reads", "reads", reads),
        ReadCost::HitPerMille(hits) => {
            let misses = 1000_u64.saturating_sub(hits.value);
            EvidenceItem::new("miss_per_mille", "per_mille", misses, hits.source.to_string())
        }
    }
}

/// How to grow, or why that cannot be done here.
fn action(facts: &Facts<'_>, size_bytes: u64) -> String {
    match grow(facts, size_bytes) {
        Growth::To { bytes, reason } => format!("{reason}\n{}", set_size(facts, bytes)),
        Growth::NoRoom { reason } => reason,
    }
}

/// The statement that sets the pool's size on this server, and how to follow it.
pub(crate) fn set_size(facts: &Facts<'_>, bytes: u64) -> String {
    let dialect = &facts.dialect;
    let name = "innodb_buffer_pool_size";
    let ceiling = facts.now.variables.count("innodb_buffer_pool_size_max");
    if ceiling.as_ref().is_some_and(|ceiling| ceiling.value > 0 && ceiling.value < bytes) {
        let file = dialect.file_of(name);
        return format!(
            "this server ignores sizes above innodb_buffer_pool_size_max, so in {file}:\n\
             innodb_buffer_pool_size_max = {bytes}\n{name} = {bytes}\nthen restart the server"
        );
    }
    if !dialect.can_resize() && facts.server().flavor != Flavor::Unknown {
        return dialect.set_for_restart(name, &bytes.to_string());
    }
    let set = dialect.set(name, &bytes.to_string());
    if facts.server().flavor == Flavor::Mariadb {
        return set;
    }
    format!("{set}\nand watch it\nSHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status';")
}

/// How often a very small pool was replaced since start-up, when that is often.
fn turnover_of_tiny_pool(facts: &Facts<'_>, size: &Fact<u64>) -> Option<f64> {
    if size.value > TINY_POOL_BYTES || facts.is_full() != Some(true) {
        return None;
    }
    let total = facts.pool.pages_total.as_ref()?.value.max(1);
    let from_text = || facts.now.innodb_status.as_ref()?.pool.as_ref()?.pages_read;
    let read = facts.now.status.count("innodb_pages_read").map(|f| f.value).or_else(from_text)?;
    let turnover = read as f64 / total as f64;
    (turnover >= 10.0).then_some(turnover)
}

fn tiny_pool(facts: &Facts<'_>, size: &Fact<u64>, turnover: f64) -> Verdict {
    let times = words::rate(turnover);
    Finding::new(
        "pool-too-small",
        Severity::Notice,
        format!("{} of pool, read anew {times} times since the start", words::bytes(size.value)),
    )
    .because(
        "Little is read at this moment, but a pool this small cannot keep what it reads. Its free \
         pages are the page cleaner's reserve, not room to spare.",
    )
    .with("pool_size_bytes", "bytes", Some(size))
    .with("pages_free", "pages", facts.pool.pages_free.as_ref())
    .with("pages_total", "pages", facts.pool.pages_total.as_ref())
    .with_item(EvidenceItem::new("turnovers", "", turnover, "pages read / pages of the pool"))
    .act(action(facts, size.value))
    .found()
}

/// Nobody chose this size.
pub(super) fn pool_default_size(facts: &Facts<'_>) -> Verdict {
    let Some(size) = facts.pool.size_bytes.as_ref() else {
        return Verdict::unknown("the pool's size");
    };
    // A server without chunks reports its frames only, a little less than was configured.
    let from_pages = facts.now.variables.get("innodb_buffer_pool_size").is_none();
    let is_default = size.value == DEFAULT_SIZE_BYTES
        || (from_pages && (DEFAULT_SIZE_BYTES - 4 * MIB..DEFAULT_SIZE_BYTES).contains(&size.value));
    let dedicated = facts.now.setting_flag("innodb_dedicated_server");
    if !is_default || dedicated.is_some_and(|fact| fact.value) {
        return Verdict::fine(format!("somebody chose this size ({})", words::bytes(size.value)));
    }
    let severity = default_size_severity(facts);
    let unused = facts.budget.as_ref().map(|budget| budget.pool_bytes.saturating_sub(size.value));
    let summary = match unused.filter(|bytes| *bytes > size.value) {
        Some(bytes) => format!(
            "{} is the default; {} more would fit in memory",
            words::bytes(DEFAULT_SIZE_BYTES),
            words::bytes(bytes)
        ),
        None => format!("{} is the size a server starts with", words::bytes(DEFAULT_SIZE_BYTES)),
    };
    let action = if severity == Severity::Notice {
        "nothing now: it holds what is asked for. Choose a size before the data grows".to_owned()
    } else {
        action(facts, size.value)
    };
    Finding::new("pool-default-size", severity, summary)
        .because("The default suits a laptop; servers run on it for years because nothing fails.")
        .with("pool_size_bytes", "bytes", Some(size))
        .with("pages_free", "pages", facts.pool.pages_free.as_ref())
        .with("memory_limit_bytes", "bytes", facts.budget.as_ref().map(|budget| &budget.limit))
        .act(action)
        .found()
}

/// A warning once the default pool is full and is being read into; before that, a notice.
fn default_size_severity(facts: &Facts<'_>) -> Severity {
    let no_room = facts.budget.as_ref().is_some_and(|b| b.pool_bytes < 2 * DEFAULT_SIZE_BYTES);
    if no_room || facts.nearly_full() != Some(true) {
        return Severity::Notice;
    }
    let young = facts.watched().is_none()
        && facts.now.uptime_seconds().is_some_and(|uptime| uptime.value < 3600);
    if young {
        return Severity::Notice;
    }
    let busy = facts
        .rate(|i| i.disk_reads_per_second.as_ref())
        .is_some_and(|reads| READS_WORTH_A_LOOK.judge(reads.value).is_some());
    let misses = !is_background_noise(facts)
        && ReadCost::of(facts).and_then(|cost| cost.severity()).is_some();
    if busy || misses { Severity::Warning } else { Severity::Notice }
}

/// Memory the pool holds but cannot use.
pub(super) fn pool_larger_than_data(facts: &Facts<'_>) -> Verdict {
    let pool = &facts.pool;
    let (Some(size), Some(free), Some(total)) =
        (&pool.size_bytes, &pool.pages_free, &pool.pages_total)
    else {
        return Verdict::unknown("the pool's size and its free pages");
    };
    let Some(spare) = facts.spare_pages() else {
        return Verdict::unknown("free pages");
    };
    let free_share = spare as f64 / total.value.max(1) as f64;
    if size.value < GIB || FREE_SHARE.judge(free_share).is_none() {
        return Verdict::fine(format!(
            "{} of the pool is free beyond the page cleaner's reserve",
            words::percent(free_share)
        ));
    }
    let data = facts.data_bytes();
    let ratio = data.map(|data| size.value as f64 / data.max(1) as f64);
    let long_up = facts.now.uptime_seconds().is_none_or(|uptime| uptime.value >= 3600);
    let larger = match ratio {
        Some(ratio) => POOL_TO_DATA.judge(ratio).is_some(),
        None => long_up,
    };
    if !larger {
        return Verdict::fine("free pages are room for data that is not read yet");
    }
    let summary = match data {
        Some(data) => format!(
            "{} of pool for {} of data; {} of it never filled",
            words::bytes(size.value),
            words::bytes(data),
            words::percent(free_share)
        ),
        None => format!(
            "{} of {} of pool never filled, or is not warm yet",
            words::percent(free_share),
            words::bytes(size.value)
        ),
    };
    let mut finding = Finding::new("pool-larger-than-data", Severity::Notice, summary)
        .because("It does no harm while the memory is nobody else's; it could be given to others.")
        .with("pool_size_bytes", "bytes", Some(size))
        .with("pages_free", "pages", Some(free))
        .with("pages_total", "pages", Some(total));
    if let (Some(data), Some(source)) = (data, facts.now.data.as_ref().map(|d| &d.source)) {
        finding =
            finding.with_item(EvidenceItem::new("data_bytes", "bytes", data, source.to_string()));
    }
    let used = pool.bytes(pool.pages_data.as_ref()).unwrap_or(0);
    let enough = data.map_or(used, |data| data.saturating_add(data / 2)).max(128 * MIB);
    let keep = crate::growth::round_to_unit(facts, enough);
    let action = if keep < size.value {
        format!(
            "only if the memory is wanted elsewhere, and outside busy hours (a shrink stalls queries \
             for seconds):\n{}",
            set_size(facts, keep)
        )
    } else {
        "nothing: smaller steps than this server's chunks are not possible".to_owned()
    };
    finding.act(action).found()
}

/// The pool is not as large as somebody wrote.
pub(super) fn size_rounded(facts: &Facts<'_>) -> Verdict {
    crate::rounding::judge(facts, computed)
}
