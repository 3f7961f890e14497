//! Will the pool be warm after the next start, and is it warm after the last?

use innopool_target::Fact;
use innopool_target::load_status::{DumpState, LoadState};
use innopool_target::log_events::LogEventKind;
use innopool_target::pool::HitRate;

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict, computed};
use crate::thresholds::{LOAD_SECONDS, MISS_PER_MILLE, READS_WORTH_A_LOOK};
use crate::words;

/// A pool with free pages that is read into: a matter of time, not of size.
pub(super) fn cold_pool(facts: &Facts<'_>) -> Verdict {
    let loading =
        facts.load_state().is_some_and(|state| matches!(state.value, LoadState::Running { .. }));
    let Some(full) = facts.nearly_full() else {
        return Verdict::unknown("free pages");
    };
    if full && !loading {
        return Verdict::fine("the pool is full");
    }
    let reads = facts.watched().and_then(|interval| interval.disk_reads_per_second.as_ref());
    let reading = reads.is_some_and(|reads| READS_WORTH_A_LOOK.judge(reads.value).is_some());
    let printed = match facts.pool.printed_hit_rate.as_ref().map(|fact| fact.value) {
        Some(HitRate::PerMille(hits)) if hits <= 1000 && reads.is_none() => Some(hits),
        _ => None,
    };
    let missing = printed.is_some_and(|hits| MISS_PER_MILLE.judge((1000 - hits) as f64).is_some());
    if !reading && !missing && !loading {
        return Verdict::fine("free pages left, and little is read");
    }
    let uptime = facts.now.uptime_seconds();
    let summary = match (loading, &uptime) {
        (true, _) => loading_words(facts),
        (false, Some(up)) => format!(
            "still filling, {} after the start: misses now say nothing of its size",
            words::duration(up.value as f64)
        ),
        (false, None) => "still filling: misses now say nothing of its size".to_owned(),
    };
    Finding::new("cold-pool", Severity::Notice, summary)
        .because("While pages are free every first use is a miss; judge the size once it is full.")
        .with("pages_free", "pages", facts.pool.pages_free.as_ref())
        .with("pages_total", "pages", facts.pool.pages_total.as_ref())
        .with("disk_reads_per_second", "per_second", reads)
        .with("uptime_seconds", "seconds", uptime.as_ref())
        .act("wait until it is warm, then look again\ninnopool check")
        .found()
}

/// How far the warm-up load has come.
fn loading_words(facts: &Facts<'_>) -> String {
    match facts.load_state().map(|state| state.value) {
        Some(LoadState::Running { progress: Some((done, all)) }) => format!(
            "the warm-up load is still running: {} ({} of {} pages)",
            words::percent(done as f64 / all.max(1) as f64),
            words::count(done),
            words::count(all)
        ),
        _ => "the warm-up load is still running".to_owned(),
    }
}

/// A restart starts cold because nobody asked for anything else.
pub(super) fn warmup_not_configured(facts: &Facts<'_>) -> Verdict {
    let dump = facts.now.setting_flag("innodb_buffer_pool_dump_at_shutdown");
    let load = facts.now.setting_flag("innodb_buffer_pool_load_at_startup");
    let fast = facts.now.setting_bytes("innodb_fast_shutdown").filter(|fact| fact.value == 2);
    let off = |flag: &Option<Fact<bool>>| flag.as_ref().is_some_and(|flag| !flag.value);
    if dump.is_none() && load.is_none() {
        return Verdict::unknown("the dump and load settings");
    }
    if !off(&dump) && !off(&load) && fast.is_none() {
        return Verdict::fine("dumped at shutdown, loaded at start");
    }
    let summary = if off(&dump) || off(&load) {
        "a restart starts with an empty pool"
    } else {
        "innodb_fast_shutdown = 2 stops without a dump"
    };
    let mut lines = vec![];
    if off(&dump) {
        lines.push(facts.dialect.set("innodb_buffer_pool_dump_at_shutdown", "ON"));
    }
    if off(&load) {
        lines.push(facts.dialect.set_for_restart("innodb_buffer_pool_load_at_startup", "ON"));
    }
    if fast.is_some() {
        lines.push(facts.dialect.set("innodb_fast_shutdown", "1"));
    }
    Finding::new("warmup-not-configured", Severity::Warning, summary)
        .because("Until it is warm again every query pays for reads that were in memory before.")
        .with("innodb_buffer_pool_dump_at_shutdown", "", dump.as_ref())
        .with("innodb_buffer_pool_load_at_startup", "", load.as_ref())
        .with("innodb_fast_shutdown", "", fast.as_ref())
        .act(lines.join("\n"))
        .found()
}

/// How the last load ended badly, if it did.
fn load_failure(facts: &Facts<'_>) -> Option<Fact<String>> {
    if let Some(state) = facts.load_state() {
        return match state.value {
            LoadState::Failed(words) => Some(Fact::new(words, state.source)),
            _ => None,
        };
    }
    let mut last = None;
    for event in &facts.now.log_events {
        match &event.kind {
            LogEventKind::LoadFailed { message } => {
                let source =
                    innopool_target::Source::at_line(event.place.as_str(), event.line, "load");
                last = Some(Fact::new(message.clone(), source));
            }
            LogEventKind::LoadCompleted | LogEventKind::PoolInitialised { .. } => last = None,
            _ => {}
        }
    }
    last
}

/// The dump file is not there: a first start, or a file somebody removed.
fn is_missing_file(words: &str) -> bool {
    words.contains("No such file")
}

/// The last start did not get its pages back.
pub(super) fn warmup_failed(facts: &Facts<'_>) -> Verdict {
    if let Some(words) = load_failure(facts) {
        return failed_load(facts, &words);
    }
    if crash_recovered(facts) {
        return Finding::new(
            "warmup-failed",
            Severity::Notice,
            "the last start was a crash recovery: no dump was written before it",
        )
        .because("What was loaded, if anything, is the list of an earlier shutdown.")
        .act("write a dump while the server runs\nSET GLOBAL innodb_buffer_pool_dump_now = ON;")
        .found();
    }
    if let Some(state) = facts.load_state().filter(|state| state.value == LoadState::Aborted) {
        return Finding::new(
            "warmup-failed",
            Severity::Notice,
            "the warm-up load was aborted: by a person, a resize or a shutdown",
        )
        .because("What it had not read by then is read when somebody asks for it.")
        .with_item(EvidenceItem::new("load_status", "", "aborted", state.source.to_string()))
        .act("run it again\nSET GLOBAL innodb_buffer_pool_load_now = ON;")
        .found();
    }
    let empty = facts.load_state().filter(|s| matches!(s.value, LoadState::CompletedEmpty));
    match empty {
        Some(state) => Finding::new(
            "warmup-failed",
            Severity::Notice,
            "the dump file was empty: nothing was loaded",
        )
        .with_item(EvidenceItem::new(
            "load_status",
            "",
            "load completed, file was empty",
            state.source.to_string(),
        ))
        .act("write a new one\nSET GLOBAL innodb_buffer_pool_dump_now = ON;")
        .found(),
        None if facts.load_state().is_none() && facts.now.log_events.is_empty() => {
            Verdict::unknown("Innodb_buffer_pool_load_status and the error log")
        }
        None => Verdict::fine("the last load did not fail"),
    }
}

fn failed_load(facts: &Facts<'_>, words: &Fact<String>) -> Verdict {
    let missing = is_missing_file(&words.value);
    let severity = if missing { Severity::Notice } else { Severity::Warning };
    let summary = if missing {
        "there was no dump file to load: the last start was cold".to_owned()
    } else {
        format!("the warm-up load failed: {}", words.value)
    };
    let action = if missing {
        "nothing, if this was the first start; else write one now\nSET GLOBAL \
         innodb_buffer_pool_dump_now = ON;\nSET GLOBAL innodb_buffer_pool_load_now = ON;"
    } else if words.value.contains("nput/output error") {
        "look after the disk under the data directory: it returned an error. The dump itself can be \
         done without: it only costs the warm-up\n$ dmesg | tail"
    } else if words.value.contains("ermission denied") {
        "give the dump file to the account the server runs as, then load it\n$ chown --reference=\
         <datadir> <datadir>/ib_buffer_pool\nSET GLOBAL innodb_buffer_pool_load_now = ON;"
    } else {
        "the file is damaged: write a new one, then load it\nSET GLOBAL \
         innodb_buffer_pool_dump_now = ON;\nSET GLOBAL innodb_buffer_pool_load_now = ON;"
    };
    Finding::new("warmup-failed", severity, summary)
        .because("The pool started empty, and every page had to be read when it was asked for.")
        .with("load_status", "", Some(words))
        .with("pages_free", "pages", facts.pool.pages_free.as_ref())
        .act(action)
        .found()
}

fn crash_recovered(facts: &Facts<'_>) -> bool {
    let mut crashed = false;
    for event in &facts.now.log_events {
        match event.kind {
            LogEventKind::CrashRecovery => crashed = true,
            LogEventKind::ShutdownCompleted | LogEventKind::DumpCompleted => crashed = false,
            _ => {}
        }
    }
    crashed
}

/// A load that takes longer than people can wait.
pub(super) fn warmup_throttled(facts: &Facts<'_>) -> Verdict {
    if !facts.dialect.load_is_throttled() {
        return match facts.server().flavor {
            innopool_target::Flavor::Unknown => Verdict::unknown("flavour and version"),
            _ => Verdict::fine("this version does not throttle the load"),
        };
    }
    if let Some(verdict) = running_load(facts) {
        return verdict;
    }
    let Some(capacity) =
        facts.now.setting_bytes("innodb_io_capacity").filter(|fact| fact.value > 0)
    else {
        return Verdict::unknown("innodb_io_capacity");
    };
    let Some((pages, how)) = pages_to_load(facts) else {
        return Verdict::unknown("pages in the dump");
    };
    let seconds = pages as f64 / capacity.value as f64;
    if LOAD_SECONDS.judge(seconds).is_none() {
        return Verdict::fine(format!("a load would take at most {}", words::duration(seconds)));
    }
    Finding::new(
        "warmup-throttled",
        Severity::Notice,
        format!("loading the dump on a busy server would take {}", words::duration(seconds)),
    )
    .because("While queries run the server loads at most innodb_io_capacity pages a second.")
    .with("innodb_io_capacity", "per_second", Some(&capacity))
    .with_item(EvidenceItem::new("pages_to_load", "pages", pages, how))
    .act(raise_io_capacity(facts, pages))
    .found()
}

/// A load under way: its pace, and when it will end.
fn running_load(facts: &Facts<'_>) -> Option<Verdict> {
    let state = facts.load_state()?;
    let LoadState::Running { progress: Some((done, all)) } = state.value else {
        return None;
    };
    let pace = load_pace(facts)?;
    let left = all.saturating_sub(done);
    let seconds = left as f64 / pace.max(0.1);
    let Some(severity) = LOAD_SECONDS.judge(seconds) else {
        return Some(Verdict::fine(format!("the load ends in {}", words::duration(seconds))));
    };
    let capacity = facts.now.setting_bytes("innodb_io_capacity");
    Some(
        Finding::new(
            "warmup-throttled",
            severity,
            format!(
                "{} of {} pages loaded; {} to go at {} pages/s",
                words::count(done),
                words::count(all),
                words::duration(seconds),
                words::rate(pace)
            ),
        )
        .because("While queries run the server loads at most innodb_io_capacity pages a second.")
        .with_item(EvidenceItem::new(
            "load_pages_per_second",
            "per_second",
            pace,
            "computed from two load statuses",
        ))
        .with("innodb_io_capacity", "per_second", capacity.as_ref())
        .act(raise_io_capacity(facts, left))
        .found(),
    )
}

/// Pages loaded per second between the first and the last load status seen.
fn load_pace(facts: &Facts<'_>) -> Option<f64> {
    let interval = facts.watched()?;
    let first = facts.observation.moments.first()?.status.text("innodb_buffer_pool_load_status")?;
    let done = |text: &str| match LoadState::parse(text) {
        LoadState::Running { progress: Some((done, _)) } => Some(done),
        _ => None,
    };
    let now = facts.now.status.text("innodb_buffer_pool_load_status")?;
    let loaded = done(&now.value)?.checked_sub(done(&first.value)?)?;
    Some(loaded as f64 / interval.seconds)
}

/// Pages the next load will read: the dump file where we see it, else the percentage of the pool.
fn pages_to_load(facts: &Facts<'_>) -> Option<(u64, String)> {
    if let Some(pages) = facts.observation.host().and_then(|host| host.dump_file_pages.as_ref()) {
        return Some((pages.value, pages.source.to_string()));
    }
    let data = facts.pool.pages_data.as_ref().or(facts.pool.pages_total.as_ref())?;
    let percent =
        facts.now.setting_bytes("innodb_buffer_pool_dump_pct").map_or(25, |fact| fact.value);
    let pages = data.value.saturating_mul(percent.min(100)) / 100;
    Some((pages, format!("{percent} % of {}", data.source)))
}

/// The io_capacity that loads `pages` in five minutes, and the way back.
fn raise_io_capacity(facts: &Facts<'_>, pages: u64) -> String {
    let wanted = (pages / 300).clamp(1_000, 20_000);
    let now = facts.now.setting_bytes("innodb_io_capacity");
    let max = facts.now.setting_bytes("innodb_io_capacity_max").map_or(0, |fact| fact.value);
    let mut lines = vec!["for the time of the load only, if the disk allows".to_owned()];
    if max < wanted {
        lines.push(format!("SET GLOBAL innodb_io_capacity_max = {};", wanted * 2));
    }
    lines.push(format!("SET GLOBAL innodb_io_capacity = {wanted};"));
    if let Some(now) = now {
        lines.push(format!("and back afterwards\nSET GLOBAL innodb_io_capacity = {};", now.value));
        if max > 0 && max < wanted {
            lines.push(format!("SET GLOBAL innodb_io_capacity_max = {max};"));
        }
    }
    lines.join("\n")
}

/// A shutdown now would replace a fuller dump by an emptier one.
pub(super) fn dump_at_risk(facts: &Facts<'_>) -> Verdict {
    if let Some(verdict) = failed_dump(facts).or_else(|| hasty_dump(facts)) {
        return verdict;
    }
    let Some(dump) = facts.now.setting_flag("innodb_buffer_pool_dump_at_shutdown") else {
        return Verdict::unknown("innodb_buffer_pool_dump_at_shutdown");
    };
    if !dump.value {
        return Verdict::NotApplicable;
    }
    if !facts.dialect.dumps_half_warm_pool() {
        return match facts.server().flavor {
            innopool_target::Flavor::Unknown => Verdict::unknown("flavour and version"),
            _ => Verdict::fine("this server keeps its dump while a load is incomplete"),
        };
    }
    let state = facts.load_state();
    let (severity, summary) = match state.as_ref().map(|state| &state.value) {
        Some(LoadState::Running { .. }) => {
            (Severity::Notice, "a shutdown before the load ends replaces the dump by a part of it")
        }
        Some(LoadState::Failed(words)) if !is_missing_file(words) => {
            (Severity::Warning, "the dump was not loaded, and a shutdown will overwrite it")
        }
        Some(LoadState::Aborted) => {
            (Severity::Warning, "the load was aborted, and a shutdown will overwrite the dump")
        }
        _ => match emptier_dump(facts) {
            Some(_) => {
                (Severity::Notice, "a shutdown now replaces a fuller dump by an emptier one")
            }
            None => return Verdict::fine("a shutdown now loses nothing of the dump"),
        },
    };
    let host = facts.observation.host();
    let file = host
        .and_then(|host| host.dump_file.as_ref())
        .map_or_else(|| "<datadir>/ib_buffer_pool".to_owned(), |file| file.value.clone());
    let mut lines = vec![format!("keep a copy of the dump\n$ cp -p {file} {file}.keep")];
    match state.as_ref().map(|state| &state.value) {
        Some(LoadState::Aborted | LoadState::Failed(_)) => {
            lines.push("and load it\nSET GLOBAL innodb_buffer_pool_load_now = ON;".to_owned());
        }
        Some(LoadState::Running { .. }) => lines.push("and let the load end".to_owned()),
        _ => lines.push(format!(
            "or dump more of the pool\n{}",
            facts.dialect.set("innodb_buffer_pool_dump_pct", "100")
        )),
    }
    let would = emptier_dump(facts);
    Finding::new("dump-at-risk", severity, summary)
        .because(
            "MySQL dumps at every clean shutdown, however little of the pool is warm (bug 76656).",
        )
        .with("load_status", "", facts.now.status.text("innodb_buffer_pool_load_status"))
        .with("dump_file_pages", "pages", host.and_then(|host| host.dump_file_pages.as_ref()))
        .with("pages_dumped_now", "pages", would.as_ref())
        .act(lines.join("\n"))
        .found()
}

/// The last dump did not succeed, so the next start has an old one or none.
fn failed_dump(facts: &Facts<'_>) -> Option<Verdict> {
    let words = facts.now.status.text("innodb_buffer_pool_dump_status")?;
    let DumpState::Failed(_) = DumpState::parse(&words.value) else { return None };
    Some(
        Finding::new(
            "dump-at-risk",
            Severity::Warning,
            format!("the last dump failed: {}", words.value),
        )
        .because("The next start loads an older dump, or none at all.")
        .with("dump_status", "", Some(words))
        .act("mend the reason, then dump again\nSET GLOBAL innodb_buffer_pool_dump_now = ON;")
        .found(),
    )
}

/// Writing the page ids of 4 GB takes longer than this (1 s for 200 GB was measured).
const DUMP_SECONDS_PER_4_GB: f64 = 0.001;

/// A dump that was over too soon to hold much of so large a pool, by the error log's clock.
fn hasty_dump(facts: &Facts<'_>) -> Option<Verdict> {
    let events = &facts.now.log_events;
    let end = events.iter().rposition(|event| event.kind == LogEventKind::DumpCompleted)?;
    let start = events
        .get(..end)?
        .iter()
        .rposition(|event| matches!(event.kind, LogEventKind::DumpStarted { .. }))?;
    let clock = |index: usize| seconds_of_day(events.get(index)?.logged_at.as_deref()?);
    let took = clock(end)? - clock(start)?;
    let size = facts.pool.size_bytes.as_ref()?;
    let least = size.value as f64 / (4_u64 << 30) as f64 * DUMP_SECONDS_PER_4_GB;
    if took < 0.0 || took >= least {
        return None;
    }
    Some(
        Finding::new(
            "dump-at-risk",
            Severity::Notice,
            format!(
                "the last dump took {}: little of {} can be in it",
                words::duration(took),
                words::bytes(size.value)
            ),
        )
        .because("The server was stopped before its pool was warm, and the dump it had is gone.")
        .with("pool_size_bytes", "bytes", Some(size))
        .with_item(EvidenceItem::new("dump_seconds", "seconds", took, "times in the error log"))
        .act("dump again once the pool is warm\nSET GLOBAL innodb_buffer_pool_dump_now = ON;")
        .found(),
    )
}

/// The seconds since midnight in a time such as `2023-04-16T10:11:12.345678Z`.
fn seconds_of_day(time: &str) -> Option<f64> {
    let clock = time.split(['T', ' ']).find(|part| part.matches(':').count() == 2)?;
    let mut parts = clock.splitn(3, ':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let rest = parts.next()?;
    let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
    let seconds: f64 = rest.get(..end)?.parse().ok()?;
    Some(hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Pages a dump now would have, where that is well below what the file holds.
fn emptier_dump(facts: &Facts<'_>) -> Option<Fact<u64>> {
    let file = facts.observation.host()?.dump_file_pages.as_ref()?;
    let data = facts.pool.pages_data.as_ref()?;
    let percent = facts.now.setting_bytes("innodb_buffer_pool_dump_pct")?.value.min(100);
    let loaded = facts.load_state().is_some_and(|state| state.value == LoadState::Completed);
    // What the file has beyond all of a pool that was loaded from it is dead: dropped or temporary.
    if loaded && percent == 100 {
        return None;
    }
    let now = data.value.saturating_mul(percent) / 100;
    (now.saturating_mul(4) < file.value.saturating_mul(3))
        .then(|| Fact::new(now, computed("pages_data x innodb_buffer_pool_dump_pct")))
}
