//! `innopool check`: all rules over one observation, and the report of what they say.

use innopool_target::{Fact, Observation};

use crate::facts::Facts;
use crate::finding::{Finding, Severity, Verdict};
use crate::read_cost::ReadCost;
use crate::report::{
    FineReport, MemoryReport, NotReadReport, PoolReport, Report, SCHEMA, ServerReport,
    UnknownReport,
};
use crate::{headline, rules};

/// Looks at one server with every rule.
pub fn check(observation: &Observation) -> Report {
    let facts = Facts::of(observation);
    let mut report = Report {
        schema: SCHEMA,
        name: observation.name.clone(),
        server: server(&facts),
        interval_seconds: facts.watched().map(|interval| interval.seconds),
        basis: facts.basis,
        headline: String::new(),
        pool: pool(&facts),
        memory: memory(&facts),
        findings: Vec::new(),
        fine: Vec::new(),
        unknown: Vec::new(),
        not_read: not_read(observation),
    };
    for rule in rules::ALL {
        match (rule.judge)(&facts) {
            Verdict::Found(finding) => report.findings.push(*finding),
            Verdict::Fine(summary) => report.fine.push(FineReport { code: rule.code, summary }),
            Verdict::Unknown(why) => report.unknown.push(UnknownReport { code: rule.code, why }),
            Verdict::NotApplicable => {}
        }
    }
    order(&mut report.findings);
    report.headline = headline::of(&facts, &report);
    report
}

/// Most severe first; within a severity in the order of the rules, which is the order to act in.
fn order(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    debug_assert!(
        findings.is_sorted_by_key(|finding| std::cmp::Reverse::<Severity>(finding.severity))
    );
}

pub(crate) fn server(facts: &Facts<'_>) -> ServerReport {
    ServerReport {
        flavor: facts.server().flavor.as_str(),
        version: facts.server().version_text.clone(),
        uptime_seconds: facts.now.uptime_seconds().map(|fact| fact.value),
    }
}

pub(crate) fn pool(facts: &Facts<'_>) -> PoolReport {
    let value = |fact: &Option<Fact<u64>>| fact.as_ref().map(|fact| fact.value);
    let pool = &facts.pool;
    let rate = |of: fn(&innopool_target::Interval) -> Option<&Fact<f64>>| {
        facts.rate(of).map(|fact| fact.value)
    };
    let (read_cost_ratio, read_cost_of) = match ReadCost::of(facts) {
        Some(ReadCost::Share { ratio, of }) => (Some(ratio.value), Some(of.as_str())),
        _ => (None, None),
    };
    PoolReport {
        size_bytes: value(&pool.size_bytes),
        page_size_bytes: pool.pages_total.is_some().then_some(pool.page_size_bytes),
        instances: value(&pool.instances),
        pages_total: value(&pool.pages_total),
        pages_free: value(&pool.pages_free),
        pages_data: value(&pool.pages_data),
        pages_old: value(&pool.pages_old),
        pages_dirty: value(&pool.pages_dirty),
        read_requests_per_second: rate(|i| i.read_requests_per_second.as_ref()),
        disk_reads_per_second: rate(|i| i.disk_reads_per_second.as_ref()),
        pages_read_per_second: rate(|i| i.pages_read_per_second.as_ref()),
        hit_per_mille: crate::read_cost::hit_per_mille(facts).map(|fact| fact.value),
        read_latency_seconds: rate(|i| i.read_latency_seconds.as_ref()),
        read_cost_ratio,
        read_cost_of,
        data_bytes: facts.data_bytes(),
    }
}

fn memory(facts: &Facts<'_>) -> MemoryReport {
    let Some(budget) = &facts.budget else {
        return MemoryReport::default();
    };
    MemoryReport {
        limit_bytes: Some(budget.limit.value),
        limit_source: Some(budget.limit_source.to_owned()),
        pool_budget_bytes: Some(budget.pool_bytes),
        budget: budget.terms.clone(),
    }
}

pub(crate) fn not_read(observation: &Observation) -> Vec<NotReadReport> {
    let mut list: Vec<_> = observation
        .not_read
        .iter()
        .map(|item| NotReadReport { what: item.what.clone(), why: item.why.clone() })
        .collect();
    list.extend(cut_status_text(observation));
    list.sort();
    list.dedup();
    list
}

/// A status text that ends before its pool section, as servers cut it after a long list of locks.
fn cut_status_text(observation: &Observation) -> Option<NotReadReport> {
    let text = observation.latest().innodb_status.as_ref()?;
    text.pool.is_none().then(|| NotReadReport {
        what: "the buffer pool section of the InnoDB status text".to_owned(),
        why: format!(
            "{} ends before it: servers cut the text at 64,000 bytes. Read \
             information_schema.INNODB_BUFFER_POOL_STATS instead",
            text.place
        ),
    })
}
