//! Does something other than the working set fill the pool: scans, and read-ahead for nothing?

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};
use crate::thresholds::{READ_AHEAD_WASTED, READ_AHEAD_WORTH_A_LOOK, READS_WORTH_A_LOOK};
use crate::words;

/// The scan protection is off.
pub(super) fn scan_pollution(facts: &Facts<'_>) -> Verdict {
    let Some(time) = facts.now.setting_bytes("innodb_old_blocks_time") else {
        return Verdict::unknown("innodb_old_blocks_time");
    };
    if time.value > 0 {
        return Verdict::fine(format!(
            "scans stay in the old part: a page must be used again after {}",
            words::duration(time.value as f64 / 1000.0)
        ));
    }
    let pages_read = facts.rate(|i| i.pages_read_per_second.as_ref());
    let busy = pages_read.as_ref().is_some_and(|r| READS_WORTH_A_LOOK.judge(r.value).is_some());
    let full = facts.nearly_full() != Some(false);
    let severity = if busy && full { Severity::Warning } else { Severity::Notice };
    Finding::new(
        "scan-pollution",
        severity,
        "innodb_old_blocks_time = 0: one scan can empty the pool",
    )
    .because(
        "Without it a page is moved to the young part on its first use, so a backup or a report \
             that reads a large table once replaces everything the application uses.",
    )
    .with("innodb_old_blocks_time", "milliseconds", Some(&time))
    .with("pages_read_per_second", "per_second", pages_read.as_ref())
    .with(
        "made_young_per_second",
        "per_second",
        facts.rate(|i| i.made_young_per_second.as_ref()).as_ref(),
    )
    .act(facts.dialect.set("innodb_old_blocks_time", "1000"))
    .found()
}

/// Pages are read ahead and thrown away.
pub(super) fn read_ahead_wasted(facts: &Facts<'_>) -> Verdict {
    let (ahead, evicted) = match watched(facts).or_else(|| printed(facts)) {
        Some(rates) => rates,
        None => return Verdict::unknown("read-ahead over time"),
    };
    if ahead < READ_AHEAD_WORTH_A_LOOK {
        return Verdict::fine("next to nothing is read ahead");
    }
    let wasted = (evicted / ahead).min(1.0);
    let Some(severity) = READ_AHEAD_WASTED.judge(wasted) else {
        return Verdict::fine(format!(
            "{} of the pages read ahead go unused",
            words::percent(wasted)
        ));
    };
    let random = facts.now.setting_flag("innodb_random_read_ahead").is_some_and(|fact| fact.value);
    let action = if random {
        facts.dialect.set("innodb_random_read_ahead", "OFF")
    } else {
        facts.dialect.set("innodb_read_ahead_threshold", "0")
    };
    Finding::new(
        "read-ahead-wasted",
        severity,
        format!(
            "{} of {} pages/s read ahead are evicted unused",
            words::percent(wasted),
            words::rate(ahead)
        ),
    )
    .because("They cost disk reads and push out pages that are used.")
    .with_item(EvidenceItem::new("read_ahead_pages_per_second", "per_second", ahead, "computed"))
    .with_item(EvidenceItem::new(
        "read_ahead_evicted_per_second",
        "per_second",
        evicted,
        "computed",
    ))
    .act(action)
    .found()
}

fn watched(facts: &Facts<'_>) -> Option<(f64, f64)> {
    let interval = facts.interval.as_ref()?;
    let ahead = interval.read_ahead_pages_per_second.as_ref()?.value;
    Some((ahead, interval.read_ahead_evicted_per_second.as_ref()?.value))
}

fn printed(facts: &Facts<'_>) -> Option<(f64, f64)> {
    let text = facts.now.innodb_status.as_ref().filter(|text| !text.rates_unusable)?;
    let pool = text.pool.as_ref()?;
    Some((pool.read_ahead_per_second?, pool.evicted_without_access_per_second?))
}
