//! Is the redo log large enough? From the checkpoint age against the capacity, and from the rate at
//! which redo is written; never from the size of the pool.

use innopool_target::{Fact, Flavor};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict, computed};
use crate::thresholds::{CHECKPOINT_AGE, REDO_TEN_MINUTES};
use crate::words;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// An hour of peak writes is what to aim for, within these bounds: the upper is the most that
/// `innodb_dedicated_server` sets, for the log takes its size on disk and in a recovery.
const CAPACITY_BYTES: (u64, u64) = (GIB, 16 * GIB);

/// How full the log is.
pub(crate) struct Age {
    /// Bytes between the last checkpoint and the end of the log.
    pub(crate) bytes: Fact<u64>,
    /// Of the capacity, 0 to 1 and above.
    pub(crate) ratio: f64,
}

/// The size of the log in use, not the one asked for.
pub(crate) fn capacity(facts: &Facts<'_>) -> Option<Fact<u64>> {
    let now = facts.now;
    if let Some(resized) =
        now.status.count("innodb_redo_log_capacity_resized").filter(|f| f.value > 0)
    {
        return Some(resized);
    }
    if let Some(capacity) = now.variables.count("innodb_redo_log_capacity") {
        return Some(capacity);
    }
    // From 8.0.30 the file variables are kept for show and size nothing.
    let size = now.setting_bytes("innodb_log_file_size")?;
    let files = match facts.server().flavor {
        Flavor::Mariadb if facts.server().at_least(10, 5, 0) => 1,
        _ => now
            .setting_bytes("innodb_log_files_in_group")
            .map_or(2, |fact| fact.value.clamp(1, 100)),
    };
    Some(size.map(|bytes| bytes.saturating_mul(files)))
}

/// The checkpoint age, from whichever source has it.
pub(crate) fn age(facts: &Facts<'_>) -> Option<Age> {
    let now = facts.now;
    let lsn_difference = || {
        let current = now.status.count("innodb_redo_log_current_lsn")?;
        let checkpoint = now.status.count("innodb_redo_log_checkpoint_lsn")?;
        let age = current.value.checked_sub(checkpoint.value)?;
        Some(Fact::new(age, current.source))
    };
    let from_text = || {
        let text = now.innodb_status.as_ref()?;
        Some(Fact::new(text.log.checkpoint_age_bytes()?, text.source("LOG")))
    };
    let bytes = now
        .status
        .count("innodb_checkpoint_age")
        .or_else(lsn_difference)
        .or_else(|| now.metrics.count("log_lsn_checkpoint_age"))
        .or_else(from_text)?;
    let capacity = capacity(facts)?;
    let ratio = bytes.value as f64 / capacity.value.max(1) as f64;
    Some(Age { bytes, ratio })
}

/// Judges age and rate.
pub(crate) fn judge(facts: &Facts<'_>) -> Verdict {
    let Some(capacity) = capacity(facts) else {
        return Verdict::unknown("the redo log's size");
    };
    let age = age(facts);
    let rate = facts.watched().and_then(|interval| interval.redo_bytes_per_second.as_ref());
    let by_age = age.as_ref().and_then(|age| CHECKPOINT_AGE.judge(age.ratio));
    let fills = rate.map(|rate| rate.value * 600.0 / capacity.value.max(1) as f64);
    // Nothing larger would be proposed.
    let can_grow = capacity.value < CAPACITY_BYTES.1;
    let by_rate = fills.filter(|_| can_grow).and_then(|fills| REDO_TEN_MINUTES.judge(fills));
    let Some(severity) = by_age.max(by_rate) else {
        return match (&age, rate) {
            (Some(age), _) => Verdict::fine(format!(
                "{} of {} in use",
                words::percent(age.ratio),
                words::bytes(capacity.value)
            )),
            (None, Some(_)) => {
                Verdict::fine(format!("{} holds what is written", words::bytes(capacity.value)))
            }
            (None, None) => Verdict::unknown("checkpoint age and redo rate"),
        };
    };
    let summary = match (&age, rate) {
        (Some(age), _) if by_age.is_some() => format!(
            "{} of the {} redo log is in use: writers are about to be stopped",
            words::percent(age.ratio),
            words::bytes(capacity.value)
        ),
        (_, Some(rate)) => format!(
            "{} of redo log is full in {} at this rate",
            words::bytes(capacity.value),
            words::duration(capacity.value as f64 / rate.value.max(1.0))
        ),
        _ => "the redo log is too small".to_owned(),
    };
    let (wanted, how) = wanted_bytes(&capacity, rate, severity);
    Finding::new("redo-too-small", severity, summary)
        .because(
            "A full log forces pages out long before they are done changing; the same page is \
             written again and again, and in the end writers wait.",
        )
        .with("redo_capacity_bytes", "bytes", Some(&capacity))
        .with("checkpoint_age_bytes", "bytes", age.as_ref().map(|age| &age.bytes))
        .with("redo_bytes_per_second", "bytes_per_second", rate)
        .with_item(EvidenceItem::of("wanted_bytes", "bytes", &wanted))
        .act(if wanted.value > capacity.value {
            format!("{how}\n{}", set(facts, wanted.value))
        } else {
            format!(
                "the log has the size worth having: flush faster\n{}",
                crate::rules::writes::more_io_capacity(facts)
            )
        })
        .found()
}

/// An hour at the measured rate, or four times the size where the rate is not known, in bounds.
fn wanted_bytes(
    capacity: &Fact<u64>,
    rate: Option<&Fact<f64>>,
    severity: Severity,
) -> (Fact<u64>, String) {
    let (least, most) = CAPACITY_BYTES;
    let times = if severity == Severity::Notice { 2 } else { 4 };
    let grown = capacity.value.saturating_mul(times);
    // Bytes of an hour: positive, and the cast saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let hour = rate.map_or(0, |rate| (rate.value * 3600.0) as u64);
    let wanted = hour.max(grown);
    let bytes =
        wanted.clamp(least, most.max(capacity.value)).div_ceil(64 * MIB).saturating_mul(64 * MIB);
    let how = if wanted < least {
        format!("{}, the least that is worth having", words::bytes(bytes))
    } else if wanted > most {
        format!("{}: more would only make a recovery long", words::bytes(bytes))
    } else if hour >= grown {
        format!("{}: an hour of writes at this rate", words::bytes(bytes))
    } else {
        format!("{}: {times} times the present size", words::bytes(bytes))
    };
    let action = format!("{how}; measure the rate at the busiest time of day");
    (Fact::new(bytes, computed(&how)), action)
}

fn set(facts: &Facts<'_>, bytes: u64) -> String {
    let (variable, online) = facts.dialect.redo_variable();
    if online {
        return facts.dialect.set(variable, &bytes.to_string());
    }
    let files =
        facts.now.setting_bytes("innodb_log_files_in_group").map_or(2, |f| f.value.clamp(1, 100));
    let each = match facts.server().flavor {
        Flavor::Mariadb if facts.server().at_least(10, 5, 0) => bytes,
        _ => bytes / files,
    };
    facts.dialect.set_for_restart(variable, &each.to_string())
}
