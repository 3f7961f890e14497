//! Online resizes: running, stuck, refused.

use innopool_target::load_status::ResizeState;
use innopool_target::log_events::LogEventKind;
use innopool_target::{Fact, Flavor};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::growth::{Growth, grow};
use crate::read_cost::ReadCost;
use crate::words;

/// Retries in an error log after which a shrink counts as stuck.
const RETRIES_STUCK: usize = 3;

/// The words of a resize under way, if one is.
fn running(facts: &Facts<'_>) -> Option<Fact<String>> {
    let code = facts.now.status.count("innodb_buffer_pool_resize_status_code");
    let state = facts.resize_state()?;
    match (state.value, code) {
        // The code is the surer sign where there is one: 0 is done, 7 failed.
        (_, Some(code)) if code.value == 0 || code.value == 7 => None,
        (ResizeState::Running(words), _) => Some(Fact::new(words, state.source)),
        _ => None,
    }
}

/// A resize is under way.
pub(super) fn resize_running(facts: &Facts<'_>) -> Verdict {
    if facts.now.status.is_empty() {
        return Verdict::unknown("Innodb_buffer_pool_resize_status");
    }
    let Some(words) = running(facts) else {
        return Verdict::fine("no resize under way");
    };
    if is_stuck(facts, &words) {
        // resize-stuck says more.
        return Verdict::NotApplicable;
    }
    Finding::new(
        "resize-running",
        Severity::Notice,
        format!("a resize is under way: {}", words.value),
    )
    .because(
        "The variable already shows the target. The adaptive hash index is off until it ends, \
             and a warm-up load was aborted when it began.",
    )
    .with("resize_status", "", Some(&words))
    .act("wait, and watch it\nSHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status%';")
    .found()
}

/// Same words at the first and last moment, and in all samples between.
fn is_stuck(facts: &Facts<'_>, words: &Fact<String>) -> bool {
    let name = "innodb_buffer_pool_resize_status";
    let [first, .., _] = facts.observation.moments.as_slice() else {
        return false;
    };
    let watched_long_enough = facts.watched().is_some_and(|interval| interval.seconds >= 5.0);
    let same =
        |text: Option<&Fact<String>>| text.is_some_and(|text| same_step(&text.value, &words.value));
    let progress = |evidence: &innopool_target::Evidence| {
        evidence.status.count("innodb_buffer_pool_resize_status_progress").map(|fact| fact.value)
    };
    watched_long_enough
        && same(first.status.text(name))
        && progress(first) == progress(facts.now)
        && facts.gauges().iter().all(|sample| same(sample.status.text(name)))
}

/// The same step of a resize; while withdrawing, the pages withdrawn are what counts as progress.
fn same_step(one: &str, other: &str) -> bool {
    one.trim() == other.trim()
}

/// A shrink that does not get on.
pub(super) fn resize_stuck(facts: &Facts<'_>) -> Verdict {
    let from_log = retries_without_end(facts);
    let stuck_words = running(facts).filter(|words| is_stuck(facts, words));
    if facts.now.status.is_empty() && facts.now.log_events.is_empty() {
        return Verdict::unknown("resize status and error log");
    }
    let summary = match (&stuck_words, from_log) {
        (Some(words), _) => format!("a resize makes no progress: {}", words.value),
        (None, Some(retries)) => {
            format!("a shrink was retried {} times and has not ended", words::count(retries as u64))
        }
        (None, None) => return Verdict::fine("no resize is stuck"),
    };
    let transactions = facts.now.transactions.as_ref();
    let mut finding = Finding::new("resize-stuck", Severity::Warning, summary)
        .because(
            "A shrink has to move every page out of the memory it gives back, and waits without \
             limit for pages that transactions hold.",
        )
        .with("resize_status", "", stuck_words.as_ref());
    if let Some(open) = transactions {
        finding = finding.with_item(EvidenceItem::new(
            "oldest_transaction_seconds",
            "seconds",
            open.oldest_seconds,
            open.source.to_string(),
        ));
    }
    finding
        .act(
            "find the oldest transaction and end it\nSELECT trx_mysql_thread_id, trx_started, \
             trx_rows_locked FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 5;\n\
             KILL <trx_mysql_thread_id>;",
        )
        .found()
}

/// Retries in the error log since the last resize began, if it has not ended.
fn retries_without_end(facts: &Facts<'_>) -> Option<usize> {
    let mut retries = 0;
    for event in &facts.now.log_events {
        match event.kind {
            LogEventKind::ResizeRetry { .. } => retries += 1,
            LogEventKind::ResizeStarted { .. }
            | LogEventKind::ResizeCompleted
            | LogEventKind::ResizeFailed { .. }
            | LogEventKind::PoolInitialised { .. } => retries = 0,
            _ => {}
        }
    }
    (retries >= RETRIES_STUCK).then_some(retries)
}

/// A resize failed, was refused, or would be.
pub(super) fn resize_refused(facts: &Facts<'_>) -> Verdict {
    if let Some(words) = failed(facts) {
        return Finding::new(
            "resize-refused",
            Severity::Warning,
            format!("the last resize failed: {}", words.value),
        )
        .because("The pool kept the size it had, or what of the new size could be had.")
        .with("resize_status", "", Some(&words))
        .with("pool_size_bytes", "bytes", facts.pool.size_bytes.as_ref())
        .with("pages_total", "pages", facts.pool.pages_total.as_ref())
        .act(refused_action(facts))
        .found();
    }
    if let Some(verdict) = ceiling(facts) {
        return verdict;
    }
    if facts.now.status.is_empty() && facts.now.log_events.is_empty() {
        return Verdict::unknown("resize status and error log");
    }
    Verdict::fine("no resize was refused")
}

fn failed(facts: &Facts<'_>) -> Option<Fact<String>> {
    if let Some(state) = facts.resize_state()
        && let ResizeState::Failed(words) = state.value
    {
        return Some(Fact::new(words, state.source));
    }
    let mut last = None;
    for event in &facts.now.log_events {
        match &event.kind {
            LogEventKind::ResizeFailed { message } => {
                let source =
                    innopool_target::Source::at_line(event.place.as_str(), event.line, "resize");
                last = Some(Fact::new(message.clone(), source));
            }
            LogEventKind::ResizeStarted { .. }
            | LogEventKind::ResizeCompleted
            | LogEventKind::PoolInitialised { .. } => last = None,
            _ => {}
        }
    }
    last
}

fn refused_action(facts: &Facts<'_>) -> String {
    if facts.server().flavor == Flavor::Mariadb && facts.dialect.has_size_max() {
        return "read the warnings of the SET, end long transactions, and try again outside busy \
                hours\nSHOW WARNINGS;"
            .to_owned();
    }
    "look for the reason in the error log, check that the memory is there, and set the size again; \
     then read back what took effect\nSHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_total';"
        .to_owned()
}

/// MariaDB's ceiling: growing beyond it is answered with warning 1292 and nothing else.
fn ceiling(facts: &Facts<'_>) -> Option<Verdict> {
    let ceiling = facts.now.variables.count("innodb_buffer_pool_size_max")?;
    let size = facts.pool.size_bytes.as_ref()?;
    if ceiling.value == 0 || ceiling.value > size.value.saturating_add(size.value / 10) {
        return Some(Verdict::fine(format!(
            "the pool can grow online up to {}",
            words::bytes(ceiling.value)
        )));
    }
    let needs_growth = ReadCost::of(facts).and_then(|cost| cost.severity()).is_some()
        && facts.nearly_full() == Some(true);
    let wanted_more = facts
        .now
        .configuration
        .number("innodb_buffer_pool_size")
        .is_some_and(|wanted| wanted.value > ceiling.value);
    if !needs_growth && !wanted_more {
        return Some(Verdict::fine("the pool is at its ceiling, and needs no more"));
    }
    let wanted = match grow(facts, size.value) {
        Growth::To { bytes, .. } => bytes,
        Growth::NoRoom { .. } => size.value.saturating_mul(2),
    };
    Some(
        Finding::new(
            "resize-refused",
            Severity::Warning,
            format!("growing beyond {} is ignored until a restart", words::bytes(ceiling.value)),
        )
        .because(
            "This MariaDB answers a size above innodb_buffer_pool_size_max with warning 1292 and \
             changes nothing, although the statement succeeds.",
        )
        .with("innodb_buffer_pool_size_max", "bytes", Some(&ceiling))
        .with("pool_size_bytes", "bytes", Some(size))
        .act(format!(
            "raise the ceiling at the next restart\n{}",
            facts.dialect.set_for_restart("innodb_buffer_pool_size_max", &wanted.to_string())
        ))
        .found(),
    )
}
