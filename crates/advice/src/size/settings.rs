//! Other values that go with the pool's size, only where they differ from what is set: instances,
//! redo log, the page cleaner's rate. Each from what was measured, never from the pool's size alone.

use super::report::Setting;
use crate::facts::Facts;
use crate::finding::{Finding, Verdict};
use crate::rules::{instances, writes};
use crate::{redo, words};

/// The values for a pool of `size_bytes`.
pub(crate) fn of(facts: &Facts<'_>, size_bytes: u64) -> Vec<Setting> {
    let mut settings = Vec::new();
    settings.extend(instances_for(facts, size_bytes));
    settings.extend(redo_log(facts));
    settings.extend(io_capacity(facts));
    settings
}

fn instances_for(facts: &Facts<'_>, size_bytes: u64) -> Option<Setting> {
    let (wanted, reason, evidence) = instances::wanted(facts, size_bytes)?;
    let name = "innodb_buffer_pool_instances";
    Some(Setting {
        name: name.to_owned(),
        current: facts.pool.instances.as_ref().map(|fact| fact.value),
        recommended: wanted,
        unit: "instances",
        reason: reason.to_owned(),
        evidence,
        action: facts.dialect.set_for_restart(name, &wanted.to_string()),
    })
}

fn redo_log(facts: &Facts<'_>) -> Option<Setting> {
    let Verdict::Found(finding) = redo::judge(facts) else {
        return None;
    };
    let current = redo::capacity(facts)?.value;
    let recommended = count(&finding, "wanted_bytes").filter(|wanted| *wanted > current)?;
    Some(Setting {
        name: facts.dialect.redo_variable().0.to_owned(),
        current: Some(current),
        recommended,
        unit: "bytes",
        reason: format!("{}.", words::sentence_start(&finding.summary)),
        evidence: finding.evidence,
        action: finding.action,
    })
}

/// The rate and its maximum, where flushing runs into it or it is below what flash gives.
fn io_capacity(facts: &Facts<'_>) -> Vec<Setting> {
    let Verdict::Found(finding) = writes::io_capacity_low(facts) else {
        return Vec::new();
    };
    let (wanted, wanted_max) = writes::wanted_io_capacity(facts);
    let setting = |name: &str, recommended: u64| Setting {
        name: name.to_owned(),
        current: facts.now.setting_bytes(name).map(|fact| fact.value),
        recommended,
        unit: "per_second",
        reason: format!("{}.", words::sentence_start(&finding.summary)),
        evidence: finding.evidence.clone(),
        action: facts.dialect.set(name, &recommended.to_string()),
    };
    let max = wanted_max.map(|max| setting("innodb_io_capacity_max", max));
    // The maximum first: the server refuses a rate above it.
    max.into_iter().chain([setting("innodb_io_capacity", wanted)]).collect()
}

fn count(finding: &Finding, name: &str) -> Option<u64> {
    finding.evidence.iter().find(|item| item.name == name)?.value.as_u64()
}
