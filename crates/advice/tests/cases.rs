//! Outputs of servers in the wild: each gets the diagnosis of whoever collected it, and no other
//! alarm. Runs where the folder of cases is at hand (`INNOPOOL_CASES`, or beside the repository).

#![allow(clippy::print_stderr, reason = "a skip is told loudly")]

use std::path::PathBuf;

use innopool_advice::Severity::{self, Critical, Notice, Warning};
use innopool_advice::{Report, check};
use innopool_target::{build, read};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("INNOPOOL_CASES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")),
        PathBuf::from,
    );
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no collected cases at hand");
    None
}

/// Every file of a sub-folder with its report, by name.
fn reports(sub_folder: &str) -> Vec<(String, Report)> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let mut reports = Vec::new();
    for entry in std::fs::read_dir(folder.join(sub_folder)).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("a file");
        let documents = read::read_bytes(&bytes, &name);
        reports.push((name.clone(), check(&build::observe(&name, documents, Vec::new()))));
    }
    reports.sort_by(|a, b| a.0.cmp(&b.0));
    reports
}

/// The findings that must be there, by the name's first part; all other files: no warning at all.
fn diagnoses(sub_folder: &str, expected: &[(&str, &[(&str, Severity)])]) {
    let reports = reports(sub_folder);
    for (name, report) in &reports {
        let id = name.split('_').next().expect("an id");
        let wanted = expected.iter().find(|(wanted, _)| *wanted == id).map_or(&[][..], |(_, w)| w);
        for (code, severity) in wanted {
            let found = report.findings.iter().find(|finding| finding.code == *code);
            assert_eq!(
                found.map(|finding| finding.severity),
                Some(*severity),
                "{name}: {code} in {:#?}",
                report.findings
            );
        }
        let alarms: Vec<_> = report
            .findings
            .iter()
            .filter(|finding| finding.severity > Notice)
            .filter(|finding| !wanted.iter().any(|(code, _)| *code == finding.code))
            .map(|finding| (finding.code, &finding.summary))
            .collect();
        assert!(alarms.is_empty(), "{name}: {alarms:?}");
    }
}

#[test]
fn status_texts() {
    diagnoses(
        "status",
        &[
            // Cold, not small: nearly all pages are free.
            ("s02", &[("cold-pool", Notice)]),
            ("s08", &[("cold-pool", Notice)]),
            ("s55", &[("cold-pool", Notice)]),
            ("s56", &[("cold-pool", Notice)]),
            ("s19", &[("dirty-pages-high", Notice)]),
            (
                "s26",
                &[
                    ("counters-unreliable", Notice),
                    ("flush-behind", Warning),
                    ("pool-too-small", Warning),
                ],
            ),
            ("s28", &[("pool-too-small", Warning)]),
            ("s40", &[("instances-too-many", Notice)]),
            ("s47", &[("dirty-pages-high", Notice)]),
            ("s53", &[("pool-larger-than-data", Notice)]),
            // Half of it is free, and still it is too small.
            ("s65", &[("pool-too-small", Notice)]),
        ],
    );
}

#[test]
fn a_status_text_without_pool_section_says_so() {
    for (name, report) in reports("status").iter().filter(|(name, _)| name.starts_with("s44")) {
        assert_eq!(report.pool.size_bytes, None, "{name}");
        assert!(report.not_read.iter().any(|item| item.why.contains("64,000")), "{name}");
    }
}

#[test]
fn full_pools_of_old_and_tiny_servers_are_not_called_too_large() {
    for (name, report) in reports("status") {
        if ["s20", "s40", "s50", "s59", "s65"].iter().any(|id| name.starts_with(id)) {
            let larger = report.findings.iter().any(|f| f.code == "pool-larger-than-data");
            assert!(!larger, "{name}");
        }
    }
}

#[test]
fn metrics_and_variables() {
    diagnoses(
        "metrics",
        &[
            ("g01", &[("pool-larger-than-data", Notice)]),
            ("g02", &[("dirty-pages-high", Notice)]),
            ("g10", &[("warmup-failed", Notice)]),
            (
                "v02",
                &[
                    ("instances-ignored", Notice),
                    ("durability-relaxed", Warning),
                    ("warmup-not-configured", Warning),
                ],
            ),
        ],
    );
}

#[test]
fn idle_since_the_last_sampling_is_not_a_hit_rate_of_zero() {
    for (name, report) in reports("metrics").iter().filter(|(name, _)| name.starts_with("b0")) {
        assert_eq!(report.pool.hit_per_mille.filter(|hits| *hits == 0), None, "{name}");
        assert!(!report.findings.iter().any(|f| f.code == "pool-too-small"), "{name}");
    }
}

#[test]
fn option_files() {
    diagnoses(
        "cnf",
        &[
            ("c01", &[("durability-relaxed", Notice)]),
            ("c05", &[("durability-relaxed", Notice)]),
            ("c10", &[("durability-relaxed", Warning)]),
            // 1/2/0 is a placeholder that no server takes, and 12 instances round 64 GB up.
            ("c19", &[("settings-drift", Warning), ("size-rounded", Notice)]),
            ("c22", &[("durability-relaxed", Warning)]),
            ("c26", &[("settings-drift", Warning)]),
        ],
    );
}

#[test]
fn error_logs() {
    diagnoses(
        "errlog",
        &[
            ("e05", &[("warmup-failed", Warning)]),
            ("e14", &[("pool-over-memory-budget", Critical)]),
            ("e16", &[("flush-behind", Warning)]),
            ("e20", &[("warmup-failed", Notice)]),
        ],
    );
}

/// Every output gets an answer: today's size or another with its reasons, or what is missing.
#[test]
fn a_size_for_everything_collected() {
    let Some(folder) = folder() else {
        return;
    };
    let mut sizes = 0;
    for sub_folder in ["status", "metrics", "cnf"] {
        for entry in std::fs::read_dir(folder.join(sub_folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let documents = read::read_bytes(&std::fs::read(&path).expect("a file"), &name);
            let report = innopool_advice::size(&build::observe(&name, documents, Vec::new()), None);
            match &report.recommendation {
                Some(found) => {
                    assert!(found.pool_size_bytes > 0 && !found.reasons.is_empty(), "{name}");
                    // Without a machine's memory nothing strong is said.
                    let grown = !found.keep_current;
                    let asked = found.reasons.iter().any(|why| why.contains("--host-memory"));
                    assert!(!grown || asked, "{name}: {found:?}");
                    sizes += 1;
                }
                None => assert!(!report.remarks.is_empty(), "{name}"),
            }
        }
    }
    assert!(sizes > 20, "{sizes}");
}
