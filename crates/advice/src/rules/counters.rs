//! Can the counters be believed? A counter that cannot be trusted is named, and nothing is
//! computed from it.

use innopool_target::pool::HitRate;
use innopool_target::{Flavor, Server};

use crate::facts::Facts;
use crate::finding::{EvidenceItem, Finding, Severity, Verdict};

/// MariaDB versions whose `Innodb_buffer_pool_read_requests` does not count (MDEV-31309).
pub(crate) fn read_requests_do_not_count(server: &Server) -> bool {
    server.flavor == Flavor::Mariadb
        && ((server.at_least(10, 6, 0) && server.below(10, 6, 14))
            || (server.at_least(10, 7, 0) && server.below(10, 11, 4)))
}

/// Something in the evidence cannot be.
pub(super) fn counters_unreliable(facts: &Facts<'_>) -> Verdict {
    let doubts: Vec<EvidenceItem> = [
        known_bad_version(facts),
        went_backwards(facts),
        more_reads_than_requests(facts),
        printed_hit_rate(facts),
        printed_rates(facts),
        impossible_pages(facts),
    ]
    .into_iter()
    .flatten()
    .collect();
    let Some(first) = doubts.first() else {
        return Verdict::fine("no counter contradicts another");
    };
    let lasting = known_bad_version(facts).is_some();
    let summary = first.value.as_str().map_or_else(|| first.name.clone(), str::to_owned);
    let action = if lasting {
        "do not use the hit ratio of this version anywhere; upgrade to a fixed release (10.6.14, \
         10.11.4 or newer)"
    } else {
        "look again with two samples of the running server\ninnopool check --interval 60"
    };
    let mut finding = Finding::new("counters-unreliable", Severity::Notice, summary)
        .because("What rests on them was left out of this answer rather than guessed.")
        .act(action);
    finding.evidence = doubts;
    finding.found()
}

fn doubt(name: &str, words: String, source: String) -> EvidenceItem {
    EvidenceItem::new(name, "", words, source)
}

fn known_bad_version(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let server = facts.server();
    if !read_requests_do_not_count(server) {
        return None;
    }
    let version = server.version?;
    Some(doubt(
        "read_requests",
        format!("MariaDB {version} does not count read requests right (MDEV-31309)"),
        "version".to_owned(),
    ))
}

fn went_backwards(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let interval = facts.interval.as_ref()?;
    if interval.restarted {
        return Some(doubt(
            "restarted",
            "the server restarted between the two samples: no rates".to_owned(),
            "uptime".to_owned(),
        ));
    }
    let source = interval.went_backwards.first()?;
    Some(doubt(
        "went_backwards",
        format!("{} went backwards: it wrapped or was reset", source.name),
        source.to_string(),
    ))
}

fn more_reads_than_requests(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let reads = facts.now.status.count("innodb_buffer_pool_reads")?;
    let requests = facts.now.status.count("innodb_buffer_pool_read_requests")?;
    (reads.value > requests.value).then(|| {
        doubt(
            "more_reads_than_requests",
            format!("{} reads for {} requests", reads.value, requests.value),
            requests.source.to_string(),
        )
    })
}

fn printed_hit_rate(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let fact = facts.pool.printed_hit_rate.as_ref()?;
    match fact.value {
        HitRate::PerMille(hits) if hits > 1000 => Some(doubt(
            "printed_hit_rate",
            format!("a hit rate of {hits} of 1000 is printed: the server's subtraction wrapped"),
            fact.source.to_string(),
        )),
        _ => None,
    }
}

fn printed_rates(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let text = facts.now.innodb_status.as_ref()?;
    // With counters of our own the printed averages are not used.
    (text.rates_unusable && facts.now.status.is_empty()).then(|| {
        doubt(
            "printed_rates",
            "the printed averages cover no time to speak of".to_owned(),
            text.source("Per second averages").to_string(),
        )
    })
}

fn impossible_pages(facts: &Facts<'_>) -> Option<EvidenceItem> {
    let total = facts.pool.pages_total.as_ref()?;
    let count = |name: &str| facts.now.status.count(name);
    if let (Some(dirty), Some(data)) =
        (count("innodb_buffer_pool_pages_dirty"), count("innodb_buffer_pool_pages_data"))
        && dirty.value > data.value
    {
        return Some(doubt(
            "pages_dirty",
            format!("{} dirty pages of {} data pages", dirty.value, data.value),
            dirty.source.to_string(),
        ));
    }
    if let Some(free) = count("innodb_buffer_pool_pages_free")
        && free.value > total.value
    {
        return Some(doubt(
            "pages_free",
            format!("{} free pages of {}", free.value, total.value),
            free.source.to_string(),
        ));
    }
    let misc = facts.now.status.count("innodb_buffer_pool_pages_misc")?;
    // Compressed pages make the LRU longer than the pool, and the difference wraps (bug 59550).
    (misc.value > total.value).then(|| {
        doubt(
            "pages_misc",
            "pages_misc wrapped below zero: compressed tables".to_owned(),
            misc.source.to_string(),
        )
    })
}
