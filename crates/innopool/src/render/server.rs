//! The head of every page: which server, how long it is up, how it was looked at; and the few
//! figures of its pool that a person wants to see whatever was found.

use innopool_advice::report::{Basis, PoolReport, Report, ServerReport};
use innopool_advice::words;

use super::layout::plain;

/// `MySQL 8.0.36, up 41 days; watched for 10 s`.
pub(super) fn description(report: &Report) -> String {
    described(&report.server, report.basis, report.interval_seconds)
}

/// The same from its parts.
pub(super) fn described(
    server: &ServerReport,
    basis: Basis,
    interval_seconds: Option<f64>,
) -> String {
    let mut text = version(server);
    if let Some(seconds) = server.uptime_seconds {
        text.push_str(", up ");
        text.push_str(&words::duration(seconds as f64));
    }
    text.push_str("; ");
    text.push_str(&looked(basis, interval_seconds));
    text
}

fn looked(basis: Basis, interval_seconds: Option<f64>) -> String {
    match (basis, interval_seconds) {
        (Basis::Interval, Some(seconds)) => format!("watched for {}", words::duration(seconds)),
        (Basis::Interval, None) => "watched for a while".to_owned(),
        (Basis::SinceStart, _) => "counted since it started".to_owned(),
        (Basis::Moment, _) => "one moment".to_owned(),
    }
}

fn version(server: &ServerReport) -> String {
    let flavor = match server.flavor {
        "mysql" => "MySQL",
        "mariadb" => "MariaDB",
        "percona" => "Percona Server",
        _ => "unknown server",
    };
    match &server.version {
        Some(version) => format!("{flavor} {}", short_version(server.flavor, version)),
        None => flavor.to_owned(),
    }
}

/// The version without what the packager appended; Percona's own number after the dash stays.
fn short_version(flavor: &str, version: &str) -> String {
    let version = plain(version);
    if flavor == "percona" {
        return version;
    }
    let version = version.trim();
    // What MariaDB puts before its version, for replicas that know only one digit of it.
    let version = version.strip_prefix("5.5.5-").filter(|_| flavor == "mariadb").unwrap_or(version);
    version.split(['-', '+', ' ']).next().unwrap_or(version).to_owned()
}

/// Labelled figures of the pool: size and state, reads, memory. Only what is known.
pub(super) fn figures(report: &Report) -> Vec<(&'static str, String)> {
    [("Pool", pool(&report.pool)), ("Reads", reads(&report.pool)), ("Memory", memory(report))]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

pub(super) fn pool(pool: &PoolReport) -> String {
    let mut parts = Vec::new();
    if let Some(size) = pool.size_bytes {
        parts.push(words::bytes(size));
    }
    if let Some(total) = pool.pages_total.filter(|total| *total > 0) {
        let share = |pages: Option<u64>, what: &str| {
            pages.map(|pages| format!("{} {what}", words::percent(pages as f64 / total as f64)))
        };
        parts.extend(share(pool.pages_data, "data"));
        parts.extend(share(pool.pages_dirty, "dirty"));
        parts.extend(share(pool.pages_free, "free"));
    }
    if let Some(instances) = pool.instances.filter(|instances| *instances > 1) {
        parts.push(format!("{} instances", words::count(instances)));
    }
    if let Some(data) = pool.data_bytes {
        parts.push(format!("{} of data on disk", words::bytes(data)));
    }
    parts.join(", ")
}

pub(super) fn reads(pool: &PoolReport) -> String {
    let mut parts = Vec::new();
    if let Some(requests) = pool.read_requests_per_second {
        parts.push(format!("{} page requests/s", words::rate(requests)));
    }
    if let Some(reads) = pool.disk_reads_per_second {
        let mut text = format!("{} disk reads/s", words::rate(reads));
        let latency = pool.read_latency_seconds.filter(|latency| latency.is_finite());
        if let Some(latency) = latency.filter(|_| reads > 0.0) {
            text.push_str(&format!(" of {}", words::duration(latency)));
        }
        parts.push(text);
    }
    if let Some(share) = pool.read_cost_ratio {
        let of = match pool.read_cost_of {
            Some("running_threads") => "running threads",
            _ => "statement time",
        };
        parts.push(format!("{} of {of}", words::percent(share)));
    }
    if let Some(hits) = pool.hit_per_mille {
        parts.push(format!("{} of 1000 requests hit", words::count(hits)));
    }
    parts.join(", ")
}

fn memory(report: &Report) -> String {
    let memory = &report.memory;
    let Some(limit) = memory.limit_bytes else {
        return String::new();
    };
    let source = match memory.limit_source.as_deref() {
        Some("ram") => " of RAM",
        Some("cgroup") => " by its cgroup",
        Some("given") => ", as you said",
        _ => "",
    };
    let mut text = format!("{}{source}", words::bytes(limit));
    if let Some(budget) = memory.pool_budget_bytes {
        text.push_str(&format!("; a pool of {} would fit", words::bytes(budget)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_shown_as_people_say_them() {
        for (flavor, given, expected) in [
            ("mysql", "8.0.36-0ubuntu0.22.04.1", "8.0.36"),
            ("mysql", "9.7.0", "9.7.0"),
            ("mariadb", "10.11.19-MariaDB-0+deb12u1", "10.11.19"),
            ("mariadb", "5.5.5-10.6.12-MariaDB-log", "10.6.12"),
            ("mysql", "5.5.5-m3", "5.5.5"),
            ("percona", "8.0.36-28", "8.0.36-28"),
            ("unknown", "", ""),
        ] {
            assert_eq!(short_version(flavor, given), expected);
        }
    }
}
