//! A pool is not always as large as somebody wrote: sizes are rounded up to whole units of chunk
//! times instances, and a start and a `SET` round differently (bugs 79379, 94065).

use innopool_target::effective_size::{EffectiveSize, effective_pool_size};
use innopool_target::variables::Origin;
use innopool_target::{Fact, Flavor, Source};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::words;

const MIB: u64 = 1024 * 1024;

/// Frames a server takes for its own descriptors make the page count up to this share smaller.
const PAGES_TOLERANCE: f64 = 0.07;

/// What decides how a start rounds a size, besides the version: as written down for the next start,
/// else as in force.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding<'o> {
    instances: Option<u64>,
    chunk_bytes: Option<u64>,
    cpus: Option<u64>,
    server: &'o innopool_target::Server,
}

impl<'o> Rounding<'o> {
    /// The rounding of a server.
    pub(crate) fn of(facts: &Facts<'o>) -> Self {
        let asked = |name: &str| {
            let written = facts.now.persisted.as_ref().and_then(|persisted| persisted.count(name));
            written
                .or_else(|| facts.now.configuration.number(name))
                .or_else(|| facts.now.variables.count(name))
                .map(|fact| fact.value)
        };
        let host = facts.observation.host();
        Self {
            instances: asked("innodb_buffer_pool_instances"),
            chunk_bytes: asked("innodb_buffer_pool_chunk_size"),
            cpus: host.and_then(|host| host.cpus.as_ref()).map(|fact| fact.value),
            server: facts.server(),
        }
    }

    /// The size a start with `bytes` would give.
    pub(crate) fn effective(&self, bytes: u64) -> EffectiveSize {
        effective_pool_size(bytes, self.instances, self.chunk_bytes, self.cpus, self.server)
    }
}

/// Compares what was asked for with what is, or would be, in force.
pub(crate) fn judge(facts: &Facts<'_>, computed: fn(&str) -> Source) -> Verdict {
    if let Some(verdict) = pages_against_variable(facts) {
        return verdict;
    }
    let name = "innodb_buffer_pool_size";
    let persisted = facts.now.persisted.as_ref().and_then(|persisted| persisted.count(name));
    let Some(asked) = persisted.or_else(|| facts.now.configuration.number(name)) else {
        let origin = facts.now.variables.get(name).map(|variable| &variable.origin);
        return match origin {
            None | Some(Origin::Unknown) => Verdict::unknown("the size somebody asked for"),
            Some(_) => Verdict::fine("no size is written anywhere"),
        };
    };
    if let Some(meant) = unit_slip(asked.value) {
        return slipped(facts, &asked, meant);
    }
    let effective = Rounding::of(facts).effective(asked.value);
    let rounded = match facts.now.variables.count(name) {
        // Only a size that came from this wish tells of its rounding.
        Some(now) if now.value == effective.size_bytes => now,
        Some(_) => return Verdict::fine("the size in force was set at run time"),
        None => Fact::new(effective.size_bytes, computed("rounded up to chunk x instances")),
    };
    if rounded.value.abs_diff(asked.value) < MIB {
        return Verdict::fine(format!("{} as asked for", words::bytes(asked.value)));
    }
    found(facts, &asked, &rounded, &effective)
}

fn found(
    facts: &Facts<'_>,
    asked: &Fact<u64>,
    rounded: &Fact<u64>,
    effective: &EffectiveSize,
) -> Verdict {
    let over = facts.budget.as_ref().is_some_and(|budget| rounded.value > budget.pool_bytes);
    let severity = if over { Severity::Warning } else { Severity::Notice };
    let only_newer = match facts.server().flavor {
        Flavor::Unknown => " (MySQL 5.7.5 and newer)",
        _ => "",
    };
    let exact = exact_choices(facts, asked.value, effective);
    Finding::new(
        "size-rounded",
        severity,
        format!(
            "{} asked for, {} in effect{only_newer}: {} of {} chunks each",
            words::bytes(asked.value),
            words::bytes(rounded.value),
            if effective.instances == 1 {
                "1 instance".to_owned()
            } else {
                format!("{} instances", effective.instances)
            },
            words::bytes(effective.chunk_bytes)
        ),
    )
    .because(if over {
        "The size is rounded up to whole units, and here that is more than memory allows."
    } else {
        "The size is rounded up to whole units of chunk x instances."
    })
    .with("asked_bytes", "bytes", Some(asked))
    .with("pool_size_bytes", "bytes", Some(rounded))
    .with_item(EvidenceItem::new("unit_bytes", "bytes", effective.unit_bytes, "chunk x instances"))
    .with(
        "memory_budget_bytes",
        "bytes",
        facts.budget.as_ref().map(|b| Fact::new(b.pool_bytes, b.limit.source.clone())).as_ref(),
    )
    .act(format!(
        "{exact}\n{}",
        facts
            .dialect
            .set_for_restart("innodb_buffer_pool_size", &down(asked.value, effective).to_string())
    ))
    .found()
}

/// `6000000` for 6 GB: a round decimal number far below any sensible pool, without a suffix.
fn unit_slip(asked: u64) -> Option<u64> {
    const GIB: u64 = 1024 * MIB;
    if !(1_000_000..64 * MIB).contains(&asked)
        || !asked.is_multiple_of(1_000_000)
        || asked.is_multiple_of(MIB)
    {
        return None;
    }
    Some(asked / 1_000_000 * GIB)
}

fn slipped(facts: &Facts<'_>, asked: &Fact<u64>, meant: u64) -> Verdict {
    Finding::new(
        "size-rounded",
        Severity::Warning,
        format!(
            "{} is written, which is {}: was {} meant?",
            asked.value,
            words::bytes(asked.value),
            words::bytes(meant)
        ),
    )
    .because("A number without suffix is bytes. SET takes no suffix at all, an option file does.")
    .with("asked_bytes", "bytes", Some(asked))
    .act(facts.dialect.set_for_restart("innodb_buffer_pool_size", &meant.to_string()))
    .found()
}

/// The largest exact size not above what was asked for.
fn down(asked: u64, effective: &EffectiveSize) -> u64 {
    let unit = effective.unit_bytes.max(1);
    (asked / unit).max(1) * unit
}

fn exact_choices(facts: &Facts<'_>, asked: u64, effective: &EffectiveSize) -> String {
    let down = down(asked, effective);
    let up = down.saturating_add(effective.unit_bytes);
    let fits = facts.budget.as_ref().is_none_or(|budget| up <= budget.pool_bytes);
    let or_up = if fits { format!(" or {}", words::bytes(up)) } else { String::new() };
    format!(
        "write a size that is exact ({}{or_up}), or a smaller innodb_buffer_pool_chunk_size",
        words::bytes(down)
    )
}

/// The variable says one thing and the pages another, and no resize is under way.
fn pages_against_variable(facts: &Facts<'_>) -> Option<Verdict> {
    let variable = facts.now.variables.count("innodb_buffer_pool_size")?;
    let pages = facts.pool.pages_total.as_ref()?;
    let held = facts.pool.bytes(Some(pages))?;
    let resizing = facts.resize_state().is_some_and(|state| {
        matches!(state.value, innopool_target::load_status::ResizeState::Running(_))
    });
    let off = held as f64 / variable.value.max(1) as f64 - 1.0;
    if resizing || off.abs() <= PAGES_TOLERANCE || held.abs_diff(variable.value) < 2 * MIB {
        return None;
    }
    Some(
        Finding::new(
            "size-rounded",
            Severity::Warning,
            format!(
                "the variable says {}, the pool has {}",
                words::bytes(variable.value),
                words::bytes(held)
            ),
        )
        .because("A resize that failed half-way, or one that rounds otherwise than the start does.")
        .with("innodb_buffer_pool_size", "bytes", Some(&variable))
        .with("pages_total", "pages", Some(pages))
        .with_item(EvidenceItem::new("pages_bytes", "bytes", held, "pages_total x page size"))
        .act(format!(
            "set the size that is meant, and read back what took effect\n{}",
            facts.dialect.set("innodb_buffer_pool_size", &variable.value.to_string())
        ))
        .found(),
    )
}
