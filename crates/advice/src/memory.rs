//! The memory budget: what may the pool have at most, added up term by term.
//!
//! The limit that binds, less a reserve for the kernel, other processes, the rest of the server and
//! the connections it has seen at its peak; what remains holds the pool and the pool's own overhead
//! (DESIGN 5.3). Terms that could not be measured are assumed and say so. Percentages of RAM are a
//! cross-check for people, never the rule.

use innopool_target::{Evidence, Fact, Pool};

use crate::finding::EvidenceItem;

const MIB: u64 = 1024 * 1024;

/// The pool's descriptors, page hash and lock tables beside its pages: 5 to 10 % observed.
pub(crate) const POOL_OVERHEAD_RATIO: f64 = 0.07;

/// A connection's stack, buffers and caches, where the server does not account for them.
const ASSUMED_CONNECTION_BYTES: u64 = MIB;

/// The server's memory beside pool and connections where nothing is measured: with and without the
/// performance schema.
const ASSUMED_SERVER_BYTES: (u64, u64) = (400 * MIB, 200 * MIB);

/// The largest pool that fits, with its sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Budget {
    /// The limit that binds.
    pub(crate) limit: Fact<u64>,
    /// What kind of limit: `ram`, `cgroup` or `given`.
    pub(crate) limit_source: &'static str,
    /// Bytes the pool may have.
    pub(crate) pool_bytes: u64,
    /// The sum, term by term.
    pub(crate) terms: Vec<EvidenceItem>,
    /// True when every term was measured.
    pub(crate) measured: bool,
}

impl Budget {
    /// Adds up the budget; `None` when no limit is known (a remote host without `--host-memory`).
    pub(crate) fn of(evidence: &Evidence, pool: &Pool) -> Option<Self> {
        let (limit, limit_source) = binding_limit(evidence)?;
        let reserve = (limit.value / 20).clamp(256 * MIB, 2048 * MIB).min(limit.value / 4);
        let (server, server_how, server_measured) = rest_of_server(evidence, pool);
        let others = others(evidence, limit_source);
        let connections = connections(evidence);

        let mut terms = vec![
            EvidenceItem::of("limit_bytes", "bytes", &limit),
            EvidenceItem::new(
                "kernel_reserve_bytes",
                "bytes",
                reserve,
                "5 % of the limit, 256 MB to 2 GB",
            ),
            EvidenceItem::new("rest_of_server_bytes", "bytes", server, server_how),
        ];
        let mut taken = reserve.saturating_add(server);
        if let Some(others) = &others {
            taken = taken.saturating_add(others.value);
            terms.push(EvidenceItem::of("other_processes_bytes", "bytes", others));
        }
        if let Some(connections) = &connections {
            taken = taken.saturating_add(connections.value);
            terms.push(EvidenceItem::of("more_connections_at_peak_bytes", "bytes", connections));
        }
        let room = limit.value.saturating_sub(taken);
        // Both are below 2^64 and the ratio is positive; the cast saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let pool_bytes = (room as f64 / (1.0 + POOL_OVERHEAD_RATIO)) as u64;
        terms.push(EvidenceItem::new(
            "pool_overhead_bytes",
            "bytes",
            room - pool_bytes,
            "7 % of the pool: descriptors, page hash, lock tables",
        ));
        terms.push(EvidenceItem::new("pool_budget_bytes", "bytes", pool_bytes, "what remains"));
        Some(Self { limit, limit_source, pool_bytes, terms, measured: server_measured })
    }
}

/// The tightest of RAM, the server's cgroup and what the person said.
fn binding_limit(evidence: &Evidence) -> Option<(Fact<u64>, &'static str)> {
    let host = evidence.host.as_ref()?;
    let ram = host.ram_bytes.clone().map(|fact| {
        let kind = if &*fact.source.place == "--host-memory" { "given" } else { "ram" };
        (fact, kind)
    });
    let cgroup = host.cgroup_limit_bytes.clone().map(|fact| (fact, "cgroup"));
    [ram, cgroup].into_iter().flatten().min_by_key(|(fact, _)| fact.value)
}

/// Memory of the server beside the pool, how it is known, and whether it was measured.
fn rest_of_server(evidence: &Evidence, pool: &Pool) -> (u64, String, bool) {
    if let Some(memory) = &evidence.memory {
        let rest = memory.total_bytes.saturating_sub(memory.buffer_pool_bytes);
        return (rest, memory.source.to_string(), true);
    }
    let rss = evidence.host.as_ref().and_then(|host| host.server_rss_bytes.as_ref());
    if let (Some(rss), Some(data)) = (rss, pool.bytes(pool.pages_data.as_ref())) {
        let rest = rss.value.saturating_sub(data);
        return (rest, format!("{} less the pool's data pages", rss.source), true);
    }
    let schema_on = evidence.setting_flag("performance_schema").is_none_or(|fact| fact.value);
    let (with, without) = ASSUMED_SERVER_BYTES;
    let bytes = if schema_on { with } else { without };
    (bytes, "assumed: nothing measured".to_owned(), false)
}

/// Other processes count against RAM, not against the server's own cgroup.
fn others(evidence: &Evidence, limit_source: &str) -> Option<Fact<u64>> {
    if limit_source == "cgroup" {
        return None;
    }
    evidence.host.as_ref()?.other_processes_rss_bytes.clone()
}

/// Room for the connections of the peak that are not open now: observed counts, never
/// `max_connections` times every buffer.
fn connections(evidence: &Evidence) -> Option<Fact<u64>> {
    let peak = evidence.status.count("max_used_connections")?;
    let now = evidence.status.count("threads_connected").map_or(0, |fact| fact.value);
    let more = peak.value.saturating_sub(now);
    Some(peak.map(|_| more.saturating_mul(ASSUMED_CONNECTION_BYTES)))
}
