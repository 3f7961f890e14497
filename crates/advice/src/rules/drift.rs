//! Will the next start bring the settings of today? What runs, what is persisted and what the
//! option files say are three different things.

use innopool_target::Fact;
use innopool_target::option_file::{Problem, parse_size};
use innopool_target::variables::{Origin, Variable, parse_flag};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::growth::unit_bytes;
use crate::words;

/// Settings whose loss at a restart hurts enough for a warning.
const WEIGHTY: &[&str] =
    &["innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "sync_binlog"];

/// Settings compared: those that shape the pool and its writes.
const COMPARED: &[&str] = &[
    "innodb_adaptive_flushing",
    "innodb_buffer_pool_dump_at_shutdown",
    "innodb_buffer_pool_dump_pct",
    "innodb_buffer_pool_load_at_startup",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_file_size",
    "innodb_lru_scan_depth",
    "innodb_max_dirty_pages_pct",
    "innodb_old_blocks_pct",
    "innodb_old_blocks_time",
    "innodb_random_read_ahead",
    "innodb_read_ahead_threshold",
    "innodb_redo_log_capacity",
    "sync_binlog",
];

/// One setting that the next start changes.
struct Drift {
    name: &'static str,
    now: Variable,
    /// What the next start uses; `None` where it is not known or is the built-in default.
    next: Option<Fact<String>>,
}

/// A restart would change settings.
pub(super) fn settings_drift(facts: &Facts<'_>) -> Verdict {
    if let Some(verdict) = refused_lines(facts) {
        return verdict;
    }
    if let Some(verdict) = contradiction(facts).or_else(|| much_larger_written(facts)) {
        return verdict;
    }
    if facts.now.variables.is_empty() {
        return Verdict::unknown("the running values");
    }
    let drifts: Vec<Drift> = COMPARED.iter().filter_map(|name| drift(facts, name)).collect();
    if drifts.is_empty() {
        return match knows_next_start(facts) {
            true => Verdict::fine("the next start brings the same settings"),
            false => Verdict::unknown("option files and persisted variables"),
        };
    }
    let weighty = drifts.iter().any(|drift| WEIGHTY.contains(&drift.name));
    let severity = if weighty { Severity::Warning } else { Severity::Notice };
    let names: Vec<&str> = drifts.iter().map(|drift| drift.name).collect();
    let summary = match names.as_slice() {
        [one] => format!("the next start changes {one}"),
        more => format!("the next start changes {} settings: {}", more.len(), more.join(", ")),
    };
    let mut finding = Finding::new("settings-drift", severity, summary)
        .because("Somebody set this on the running server; a restart takes it away.");
    let mut lines = vec!["to keep what runs now".to_owned()];
    for drift in &drifts {
        let next =
            drift.next.as_ref().map_or("the built-in default or an option file", |f| &f.value);
        let when = drift.now.set_at.as_ref().map(|at| format!(", set {at}")).unwrap_or_default();
        finding = finding
            .with_item(EvidenceItem::new(
                drift.name,
                "",
                drift.now.value.clone(),
                format!("in force{when}"),
            ))
            .with_item(EvidenceItem::new(
                &format!("{}_next_start", drift.name),
                "",
                next,
                drift.next.as_ref().map_or_else(|| "not read".to_owned(), |f| f.source.to_string()),
            ));
        lines.push(keep(facts, drift));
    }
    finding.act(lines.join("\n")).found()
}

/// Lines of the option files that the next start refuses, or takes for something else.
fn refused_lines(facts: &Facts<'_>) -> Option<Verdict> {
    let problems = &facts.now.configuration.problems;
    // A page that quotes an option file has sentences beside it: those are nobody's settings.
    let is_option_file =
        |problem: &Problem| [".cnf", ".ini"].iter().any(|end| problem.path.ends_with(end));
    let concerns_us = |problem: &&Problem| {
        problem.message.contains("innodb") || (problem.fatal && is_option_file(problem))
    };
    let first = problems.iter().filter(concerns_us).max_by_key(|problem| problem.fatal)?;
    let (severity, summary) = if first.fatal {
        let summary = format!("the next start fails at {}:{}", first.path, first.line);
        (Severity::Warning, summary)
    } else {
        let summary = format!("{}:{} is not read as it looks", first.path, first.line);
        (Severity::Notice, summary)
    };
    let mut finding = Finding::new("settings-drift", severity, summary)
        .because("What is written in an option file counts only at the next start.");
    let mut lines = vec!["mend in the option file".to_owned()];
    for problem in problems.iter().filter(concerns_us) {
        let place = format!("{}:{}", problem.path, problem.line);
        lines.push(format!("{place}: {}", problem.message));
        finding = finding.with_item(EvidenceItem::new(
            "option_file_line",
            "",
            problem.message.clone(),
            place,
        ));
    }
    Some(finding.act(lines.join("\n")).found())
}

/// The line that makes the running value last.
fn keep(facts: &Facts<'_>, drift: &Drift) -> String {
    if facts.dialect.can_persist() {
        return facts.dialect.set(drift.name, &quoted(&drift.now.value));
    }
    format!("in {}:\n{} = {}", facts.dialect.file_of(drift.name), drift.name, drift.now.value)
}

/// Numbers and switches as they are; anything else in quotes.
fn quoted(value: &str) -> String {
    let plain = value.parse::<f64>().is_ok() || parse_flag(value).is_some();
    if plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "''")) }
}

fn knows_next_start(facts: &Facts<'_>) -> bool {
    facts.now.persisted.is_some()
        || !facts.now.configuration.files.is_empty()
        || facts.now.variables.iter().any(|(_, variable)| variable.origin != Origin::Unknown)
}

/// What the next start uses: persisted over option files.
fn next_value(facts: &Facts<'_>, name: &str) -> Option<Fact<String>> {
    let persisted = facts.now.persisted.as_ref().and_then(|variables| variables.text(name));
    persisted.or_else(|| facts.now.configuration.text(name))
}

fn drift(facts: &Facts<'_>, name: &'static str) -> Option<Drift> {
    let now = facts.now.variables.get(name)?;
    let next = next_value(facts, name);
    let differs = match (&next, &now.origin) {
        (Some(next), _) => !same(facts, name, &now.value, &next.value),
        // Nothing known about the next start: only what was surely set at run time counts.
        (None, Origin::Dynamic) => true,
        (None, _) => false,
    };
    differs.then(|| Drift { name, now: now.clone(), next })
}

/// Equal as numbers, switches or words; a pool size within one rounding unit is the same wish.
fn same(facts: &Facts<'_>, name: &str, now: &str, next: &str) -> bool {
    if let (Ok(now), Ok(next)) = (parse_size(now), parse_size(next)) {
        let tolerance = if name == "innodb_buffer_pool_size" {
            // The rounding itself is size-rounded's subject.
            unit_bytes(facts).max(unit_at_start(facts, next))
        } else {
            1
        };
        return now.abs_diff(next) < tolerance;
    }
    if let (Ok(now), Ok(next)) = (now.trim().parse::<f64>(), next.trim().parse::<f64>()) {
        return (now - next).abs() < 1e-9;
    }
    match (parse_flag(now), parse_flag(next)) {
        (Some(now), Some(next)) => now == next,
        _ => now.trim().eq_ignore_ascii_case(next.trim()),
    }
}

/// The unit a start with `bytes` would round to.
fn unit_at_start(facts: &Facts<'_>, bytes: u64) -> u64 {
    crate::rounding::Rounding::of(facts).effective(bytes).unit_bytes
}

/// A persisted size that contradicts the option file, and wins at the next start.
fn contradiction(facts: &Facts<'_>) -> Option<Verdict> {
    let name = "innodb_buffer_pool_size";
    let persisted = facts.now.persisted.as_ref()?.count(name)?;
    let written = facts.now.configuration.number(name)?;
    let running = facts.now.variables.count(name);
    let persisted_runs = running.as_ref().is_some_and(|running| {
        same(facts, name, &running.value.to_string(), &persisted.value.to_string())
    });
    if persisted.value == written.value || persisted_runs {
        return None;
    }
    Some(
        Finding::new(
            "settings-drift",
            Severity::Warning,
            format!(
                "the persisted size {} wins over the option file's {}",
                words::bytes(persisted.value),
                words::bytes(written.value)
            ),
        )
        .because(
            "mysqld-auto.cnf is read last. Near 8.0.14 a persisted size below 1 GB with several \
             instances keeps the server from starting at all (bug 94065).",
        )
        .with("persisted_bytes", "bytes", Some(&persisted))
        .with("option_file_bytes", "bytes", Some(&written))
        .with("pool_size_bytes", "bytes", running.as_ref())
        .act("keep one of the two\nRESET PERSIST innodb_buffer_pool_size;")
        .found(),
    )
}

/// A running pool many times smaller than the one that is written: a slip of units in a `SET`.
fn much_larger_written(facts: &Facts<'_>) -> Option<Verdict> {
    let name = "innodb_buffer_pool_size";
    let running = facts.now.variables.count(name)?;
    let written = facts.now.configuration.number(name)?;
    let resizing = facts.now.status.count("innodb_buffer_pool_resize_status_code");
    if running.value >= written.value / 16 || resizing.is_some_and(|code| code.value > 0) {
        return None;
    }
    Some(
        Finding::new(
            "settings-drift",
            Severity::Warning,
            format!(
                "{} runs where {} is written: a slip of units?",
                words::bytes(running.value),
                words::bytes(written.value)
            ),
        )
        .because("SET takes bytes and no suffix, so 6000000 is not 6 GB.")
        .with("pool_size_bytes", "bytes", Some(&running))
        .with("option_file_bytes", "bytes", Some(&written))
        .act(format!(
            "if what is written is meant\n{}",
            crate::rules::size::set_size(facts, written.value)
        ))
        .found(),
    )
}

/// A restart would make a writable server read-only.
pub(super) fn restart_read_only(facts: &Facts<'_>) -> Verdict {
    const SWITCHES: &[&str] = &["super_read_only", "read_only", "offline_mode", "innodb_read_only"];
    let mut found = Vec::new();
    let mut known = facts.now.persisted.is_some() || !facts.now.configuration.files.is_empty();
    for name in SWITCHES {
        let Some(next) = next_value(facts, name) else {
            continue;
        };
        known = true;
        let on_next = parse_flag(&next.value).unwrap_or(false);
        let on_now = facts.now.variables.flag(name).is_none_or(|fact| fact.value);
        if on_next && !on_now {
            found.push((*name, next));
        }
    }
    if found.is_empty() {
        return if known {
            Verdict::fine("the next start leaves the server writable")
        } else {
            Verdict::unknown("persisted variables and option files")
        };
    }
    let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    let mut finding = Finding::new(
        "restart-read-only",
        Severity::Warning,
        format!("after the next restart the server is read-only: {}", names.join(", ")),
    )
    .because("Writes fail from that moment until somebody types the way out; have it ready.");
    let mut lines =
        vec!["if that is not meant (ask who set it: it may be the replication's)".to_owned()];
    for (name, next) in &found {
        finding = finding.with(name, "", Some(next));
        lines.push(if facts.dialect.can_persist() {
            format!("RESET PERSIST {name};")
        } else {
            format!("remove {name} from {}", facts.dialect.file_of(name))
        });
    }
    lines.push("or, after the restart".to_owned());
    lines.extend(
        names
            .iter()
            .filter(|name| **name != "innodb_read_only")
            .map(|name| format!("SET GLOBAL {name} = OFF;")),
    );
    finding.act(lines.join("\n")).found()
}
