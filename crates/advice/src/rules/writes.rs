//! Can the server write as fast as it dirties, and what has been traded for speed?

use innopool_target::log_events::LogEventKind;
use innopool_target::{Fact, Flavor};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::redo;
use crate::thresholds::{
    CHECKPOINT_AGE, DIRTY_SHARE, DIRTY_SHARE_ONCE, FLUSH_TO_IO_CAPACITY, FREE_WAITS,
    IO_CAPACITY_FLASH,
};
use crate::words;

const GIB: u64 = 1024 * 1024 * 1024;

/// Samples and seconds it takes to call a dirty share high and stable.
const DIRTY_SAMPLES: usize = 3;
const DIRTY_SECONDS: f64 = 60.0;

/// LRU writes pending at once that mean threads wait for frames.
const PENDING_LRU_WRITES: u64 = 32;

/// Threads wait for the page cleaner.
pub(super) fn flush_behind(facts: &Facts<'_>) -> Verdict {
    let waits = facts.rate(|interval| interval.free_waits_per_second.as_ref());
    let waits = waits.as_ref();
    let pending = facts.now.innodb_status.as_ref().and_then(|text| {
        let pending = text.pool.as_ref()?.pending_lru_writes?;
        Some(Fact::new(pending, text.source("Pending writes: LRU")))
    });
    let slow = slow_cleaner(facts);
    let by_waits = waits.and_then(|waits| FREE_WAITS.judge(waits.value));
    let by_queue =
        pending.as_ref().filter(|p| p.value >= PENDING_LRU_WRITES).map(|_| Severity::Warning);
    let by_log = slow.as_ref().map(|_| Severity::Warning);
    let by_starvation = starved_cleaner(facts).then_some(Severity::Warning);
    let Some(severity) = by_waits.max(by_queue).max(by_log).max(by_starvation) else {
        return match (waits, &pending) {
            (None, None) if facts.now.log_events.is_empty() => {
                Verdict::unknown("waits for free frames over time")
            }
            _ => Verdict::fine("nobody waits for a free frame"),
        };
    };
    let summary = match (waits, &pending, &slow) {
        (Some(waits), _, _) if by_waits.is_some() => {
            format!(
                "{} waits/s for a free frame {}: pages are not written ahead of need",
                words::rate(waits.value),
                facts.when()
            )
        }
        (_, Some(pending), _) if by_queue.is_some() => {
            format!(
                "{} pages at the end of the list wait to be written",
                words::count(pending.value)
            )
        }
        (_, _, Some(slow)) => format!(
            "the page cleaner took {} for its one second, {} in the log",
            words::duration(slow.worst_ms as f64 / 1000.0),
            if slow.times == 1 { "once".to_owned() } else { format!("{} times", slow.times) }
        ),
        _ => {
            "no page is free while the redo log is nearly full: the page cleaner starves".to_owned()
        }
    };
    let mut finding = Finding::new("flush-behind", severity, summary)
        .because("A statement that needs a frame has to write somebody else's page first.")
        .with("free_waits_per_second", "per_second", waits)
        .with("pending_lru_writes", "pages", pending.as_ref())
        .with(
            "innodb_io_capacity",
            "per_second",
            facts.now.setting_bytes("innodb_io_capacity").as_ref(),
        )
        .with(
            "innodb_lru_scan_depth",
            "pages",
            facts.now.setting_bytes("innodb_lru_scan_depth").as_ref(),
        );
    if let Some(slow) = slow {
        finding = finding
            .with_item(EvidenceItem::new(
                "page_cleaner_ms",
                "milliseconds",
                slow.worst_ms,
                slow.source.clone(),
            ))
            .with_item(EvidenceItem::new(
                "page_cleaner_flushed_pages",
                "pages",
                slow.flushed_pages,
                slow.source,
            ));
    }
    let action = if by_starvation.is_some() {
        "upgrade first: MariaDB 10.5 to 11.8 had page cleaner defects that no setting mends \
         (MDEV-31939, MDEV-34265, MDEV-36226); only then tune"
            .to_owned()
    } else {
        more_io_capacity(facts)
    };
    finding.act(action).found()
}

/// MariaDB from 10.5 on: no free page and a redo log nearly full at once. Either alone is normal.
fn starved_cleaner(facts: &Facts<'_>) -> bool {
    let server = facts.server();
    let affected =
        server.flavor == Flavor::Mariadb && server.at_least(10, 5, 0) && server.below(12, 0, 0);
    let no_page_free = facts.pool.pages_free.as_ref().is_some_and(|free| free.value < 16);
    affected
        && no_page_free
        && redo::age(facts).is_some_and(|age| CHECKPOINT_AGE.judge(age.ratio).is_some())
}

/// The page cleaner's complaints in the log that are about the disk.
struct SlowCleaner {
    times: usize,
    worst_ms: u64,
    flushed_pages: u64,
    source: String,
}

/// Loops that flushed something; one that flushed nothing was a suspended host, not a slow disk.
fn slow_cleaner(facts: &Facts<'_>) -> Option<SlowCleaner> {
    let mut found: Option<SlowCleaner> = None;
    for event in &facts.now.log_events {
        let LogEventKind::PageCleanerSlow { took_ms, flushed_pages, evicted_pages } = event.kind
        else {
            continue;
        };
        if flushed_pages == 0 && evicted_pages.unwrap_or(0) == 0 {
            continue;
        }
        let source = format!("{}:{}", event.place, event.line);
        let slow =
            found.get_or_insert(SlowCleaner { times: 0, worst_ms: 0, flushed_pages, source });
        slow.times += 1;
        if took_ms > slow.worst_ms {
            slow.worst_ms = took_ms;
            slow.flushed_pages = flushed_pages;
        }
    }
    found
}

/// Raises io_capacity to twice what it is, at least to what flash gives.
pub(crate) fn more_io_capacity(facts: &Facts<'_>) -> String {
    let (wanted, wanted_max) = wanted_io_capacity(facts);
    let mut lines = vec!["raise the page cleaner's rate, if the disk has it".to_owned()];
    if let Some(max) = wanted_max {
        lines.push(facts.dialect.set("innodb_io_capacity_max", &max.to_string()));
    }
    lines.push(facts.dialect.set("innodb_io_capacity", &wanted.to_string()));
    lines.join("\n")
}

/// Twice the page cleaner's rate, and its maximum where that has to follow.
pub(crate) fn wanted_io_capacity(facts: &Facts<'_>) -> (u64, Option<u64>) {
    let now = facts.now.setting_bytes("innodb_io_capacity").map_or(200, |fact| fact.value);
    let max = facts.now.setting_bytes("innodb_io_capacity_max").map_or(0, |fact| fact.value);
    let wanted = now.saturating_mul(2).clamp(1_000, 100_000);
    let wanted_max = wanted.saturating_mul(2);
    (wanted, (max < wanted_max).then_some(wanted_max))
}

/// Many pages are dirty, and stay so or become more.
pub(super) fn dirty_pages_high(facts: &Facts<'_>) -> Verdict {
    let Some(share) = facts.dirty_share() else {
        return Verdict::unknown("dirty pages");
    };
    let max =
        facts.now.variables.decimal("innodb_max_dirty_pages_pct").map_or(90.0, |fact| fact.value);
    let limit = (max / 100.0).max(0.01);
    let samples = dirty_samples(facts);
    let long_enough = samples.len() >= DIRTY_SAMPLES && span(&samples) >= DIRTY_SECONDS - 1.0;
    let high = |share: f64| DIRTY_SHARE.judge(share / limit).is_some();
    let finding = if long_enough && samples.iter().all(|(_, share)| high(*share)) {
        Finding::new(
            "dirty-pages-high",
            Severity::Warning,
            format!(
                "{} of the pool is dirty and stays so; the limit is {max:.0} %",
                words::percent(share)
            ),
        )
    } else if long_enough && is_rising(&samples) && DIRTY_SHARE_ONCE.judge(share).is_some() {
        let first = samples.first().map_or(0.0, |(_, share)| *share);
        Finding::new(
            "dirty-pages-high",
            Severity::Warning,
            format!(
                "pages are dirtied faster than flushed: {} dirty, then {}",
                words::percent(first),
                words::percent(share)
            ),
        )
    } else if !long_enough && DIRTY_SHARE_ONCE.judge(share).is_some() {
        Finding::new(
            "dirty-pages-high",
            Severity::Notice,
            format!(
                "{} of the pool is dirty; too short a look to say whether it stays so",
                words::percent(share)
            ),
        )
    } else {
        return Verdict::fine(format!("{} of the pool is dirty", words::percent(share)));
    };
    let once = finding.severity == Severity::Notice;
    let finding = match samples.len() {
        0 => finding,
        number => finding.with_item(EvidenceItem::new(
            "samples",
            "samples",
            number as u64,
            "samples of one look",
        )),
    };
    let action = if once {
        "look for a minute: three samples tell high from rising\ninnopool check --interval 60"
            .to_owned()
    } else {
        more_io_capacity(facts)
    };
    finding
        .because(
            "Dirty pages are what a crash must redo, and what a shutdown and a shrink wait for.",
        )
        .with("pages_dirty", "pages", facts.pool.pages_dirty.as_ref())
        .with("pages_data", "pages", facts.pool.pages_data.as_ref())
        .with_item(EvidenceItem::new("dirty_ratio", "ratio", share, "dirty / (data + free + 1)"))
        .with("checkpoint_age_bytes", "bytes", redo::age(facts).map(|age| age.bytes).as_ref())
        .with(
            "pages_written_per_second",
            "per_second",
            facts.rate(|i| i.pages_written_per_second.as_ref()).as_ref(),
        )
        .act(action)
        .found()
}

/// Time and dirty share of each sample, oldest first, by the server's own formula.
fn dirty_samples(facts: &Facts<'_>) -> Vec<(f64, f64)> {
    facts
        .gauges()
        .iter()
        .filter_map(|sample| {
            let count = |name: &str| sample.status.count(name).map(|fact| fact.value as f64);
            let dirty = count("innodb_buffer_pool_pages_dirty")?;
            let data = count("innodb_buffer_pool_pages_data")?;
            let free = count("innodb_buffer_pool_pages_free").unwrap_or(0.0);
            Some((sample.taken_unix_seconds, dirty / (1.0 + data + free)))
        })
        .collect()
}

fn span(samples: &[(f64, f64)]) -> f64 {
    match samples {
        [(first, _), .., (last, _)] => last - first,
        _ => 0.0,
    }
}

/// Each third of the samples is dirtier than the one before, and the whole by a fifth.
fn is_rising(samples: &[(f64, f64)]) -> bool {
    let third = (samples.len() / 3).max(1);
    let means: Vec<f64> = samples
        .chunks(third)
        .map(|chunk| chunk.iter().map(|(_, share)| share).sum::<f64>() / chunk.len() as f64)
        .collect();
    let rises = means.windows(2).all(|pair| matches!(pair, [a, b] if b > a));
    let (first, last) =
        (means.first().copied().unwrap_or(0.0), means.last().copied().unwrap_or(0.0));
    rises && last >= first * 1.2
}

/// The page cleaner is held back by its setting.
pub(crate) fn io_capacity_low(facts: &Facts<'_>) -> Verdict {
    let Some(capacity) = facts.now.setting_bytes("innodb_io_capacity") else {
        return Verdict::unknown("innodb_io_capacity");
    };
    let flushed = facts.watched().and_then(|interval| {
        interval.pages_flushed_per_second.as_ref().or(interval.pages_written_per_second.as_ref())
    });
    let share = facts.dirty_share().unwrap_or(0.0);
    let used = flushed.map(|flushed| flushed.value / capacity.value.max(1) as f64);
    let age_ratio = redo::age(facts).map_or(0.0, |age| age.ratio);
    let held_back = share >= 0.10 || age_ratio >= 0.5;
    if let (Some(severity), Some(flushed), true) =
        (used.and_then(|used| FLUSH_TO_IO_CAPACITY.judge(used)), flushed, held_back)
    {
        return Finding::new(
            "io-capacity-low",
            severity,
            format!(
                "{} pages/s flushed of the {} that innodb_io_capacity allows, and {} stay dirty",
                words::rate(flushed.value),
                words::count(capacity.value),
                words::percent(share)
            ),
        )
        .because("The setting, not the disk, decides how fast pages are written.")
        .with("pages_flushed_per_second", "per_second", Some(flushed))
        .with("innodb_io_capacity", "per_second", Some(&capacity))
        .with("pages_dirty", "pages", facts.pool.pages_dirty.as_ref())
        .act(more_io_capacity(facts))
        .found();
    }
    let rotational = facts
        .observation
        .host()
        .and_then(|host| host.data_device_rotational.as_ref())
        .map(|f| f.value);
    let low_for_flash = rotational == Some(false) && capacity.value as f64 <= IO_CAPACITY_FLASH;
    let below_any_default = (capacity.value as f64) < IO_CAPACITY_FLASH;
    if low_for_flash || below_any_default {
        let device =
            if low_for_flash { "data is on flash" } else { "below the default of any version" };
        return Finding::new(
            "io-capacity-low",
            Severity::Notice,
            format!("innodb_io_capacity = {}: {device}", words::count(capacity.value)),
        )
        .because("Nothing waits for it today; a burst of writes or a warm-up load would.")
        .with("innodb_io_capacity", "per_second", Some(&capacity))
        .act(more_io_capacity(facts))
        .found();
    }
    match used {
        Some(used) => {
            Verdict::fine(format!("flushing uses {} of innodb_io_capacity", words::percent(used)))
        }
        None => Verdict::fine(format!("innodb_io_capacity = {}", words::count(capacity.value))),
    }
}

/// The redo log is full before its pages are flushed at leisure.
pub(super) fn redo_too_small(facts: &Facts<'_>) -> Verdict {
    redo::judge(facts)
}

/// Commits that a crash can lose.
pub(super) fn durability_relaxed(facts: &Facts<'_>) -> Verdict {
    let Some(commit) = facts.now.setting_bytes("innodb_flush_log_at_trx_commit") else {
        return Verdict::unknown("innodb_flush_log_at_trx_commit");
    };
    let binlog_on = facts.now.setting_flag("log_bin").is_some_and(|fact| fact.value);
    let sync_binlog = facts.now.setting_bytes("sync_binlog").filter(|_| binlog_on);
    let doublewrite_off = facts.now.setting_text("innodb_doublewrite").filter(|fact| {
        matches!(fact.value.to_ascii_uppercase().as_str(), "OFF" | "0" | "DETECT_ONLY")
    });
    let binlog_relaxed = sync_binlog.as_ref().is_some_and(|fact| fact.value != 1);
    if commit.value == 1 && !binlog_relaxed && doublewrite_off.is_none() {
        return Verdict::fine("every commit is on disk before it returns");
    }
    let mut losses = Vec::new();
    match commit.value {
        0 => losses.push("about 1 s of commits if mysqld or the machine stops"),
        1 => {}
        _ => losses.push("about 1 s of commits if the machine stops"),
    }
    if binlog_relaxed {
        losses.push("the last transactions of the binary log");
    }
    if doublewrite_off.is_some() {
        losses.push("a torn page if power fails during a write");
    }
    let severe = commit.value == 0 || doublewrite_off.is_some();
    let severity = if severe { Severity::Warning } else { Severity::Notice };
    let mut lines = vec!["have whoever answers for the data say yes to this, or".to_owned()];
    if commit.value != 1 {
        lines.push(facts.dialect.set("innodb_flush_log_at_trx_commit", "1"));
    }
    if binlog_relaxed {
        lines.push(facts.dialect.set("sync_binlog", "1"));
    }
    if doublewrite_off.is_some() {
        lines.push(facts.dialect.set_for_restart("innodb_doublewrite", "ON"));
    }
    Finding::new(
        "durability-relaxed",
        severity,
        format!("can be lost: {}", losses.join("; ")),
    )
    .because(
        "It is a fair trade for data that can be made again, and no trade for one person to make.",
    )
    .with("innodb_flush_log_at_trx_commit", "", Some(&commit))
    .with("sync_binlog", "", sync_binlog.as_ref())
    .with("innodb_doublewrite", "", doublewrite_off.as_ref())
    .act(lines.join("\n"))
    .found()
}

/// Every page is in memory twice.
pub(super) fn double_buffering(facts: &Facts<'_>) -> Verdict {
    let windows = facts.now.variables.text("version_compile_os").is_some_and(|os| {
        let os = os.value.to_ascii_lowercase();
        os.starts_with("win")
    });
    if windows {
        return Verdict::NotApplicable;
    }
    let buffered = facts.now.setting_flag("innodb_data_file_buffering");
    let method = facts.now.setting_text("innodb_flush_method");
    let (cached, fact) = match (&buffered, &method) {
        (Some(buffered), _) => (buffered.value, buffered.clone().map(|on| on.to_string())),
        (None, Some(method)) => (!is_direct(&method.value), method.clone()),
        (None, None) => return Verdict::unknown("innodb_flush_method"),
    };
    if !cached {
        return Verdict::fine("data files bypass the page cache");
    }
    let size = facts.pool.size_bytes.as_ref().map_or(0, |fact| fact.value);
    let severity = if size >= GIB { Severity::Warning } else { Severity::Notice };
    let action = if buffered.is_some() {
        facts.dialect.set("innodb_data_file_buffering", "OFF")
    } else {
        facts.dialect.set_for_restart("innodb_flush_method", "O_DIRECT")
    };
    Finding::new(
        "double-buffering",
        severity,
        "pages are cached twice: in the pool and by the kernel",
    )
    .because(
        "The kernel's copies use memory the pool could have, and make reads look cheaper than \
             they will be when that memory is gone.",
    )
    .with("innodb_flush_method", "", Some(&fact))
    .with("pool_size_bytes", "bytes", facts.pool.size_bytes.as_ref())
    .act(action)
    .found()
}

fn is_direct(method: &str) -> bool {
    let method = method.trim().to_ascii_lowercase();
    method.starts_with("o_direct")
        || method.contains("unbuffered")
        || matches!(method.as_str(), "4" | "5")
}
