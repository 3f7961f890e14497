//! Where other advisors are known to be wrong, innopool is right: one test per complaint, named
//! after it. The numbers are those of facts on user pains.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Critical, Notice, Warning};
use innopool_advice::finding::Finding;

fn sizes_in(action: &str) -> Vec<u64> {
    action
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .filter(|bytes| *bytes >= 64 * MIB)
        .collect()
}

fn starving(look: Look) -> Look {
    look.full_default_pool(2000.0).cost(2000.0, 0.001, 4.0)
}

#[test]
fn pain_01_advice_is_never_bigger_than_ram() {
    for gib in [1, 2, 8, 64] {
        let finding = starving(Look::mysql(128 * MIB))
            .data(500 * GIB)
            .host_memory(gib * GIB)
            .found("pool-too-small");
        for bytes in sizes_in(&finding.action) {
            assert!(bytes < gib * GIB, "{bytes} on {gib} GiB: {}", finding.action);
        }
    }
}

#[test]
fn pain_02_the_container_limit_binds() {
    let look = starving(Look::mysql(128 * MIB)).data(500 * GIB).host(&[
        ("ram_bytes", &(128 * GIB).to_string()),
        ("cgroup_limit_bytes", &(4 * GIB).to_string()),
    ]);
    let report = look.report();
    assert_eq!(report.memory.limit_bytes, Some(4 * GIB));
    assert_eq!(report.memory.limit_source.as_deref(), Some("cgroup"));
    for bytes in sizes_in(&look.found("pool-too-small").action) {
        assert!(bytes < 4 * GIB);
    }
}

#[test]
fn pain_02_a_remote_hosts_memory_is_never_assumed() {
    let report = starving(Look::mysql(128 * MIB)).report();
    assert_eq!(report.memory.limit_bytes, None);
    assert!(report.unknown.iter().any(|unknown| unknown.code == "pool-over-memory-budget"));
}

#[test]
fn pain_03_dedicated_server_in_a_container_before_9_3() {
    let container = |version: &str| {
        Look::server(version, "MySQL Community Server", 48 * GIB)
            .variables(&[("innodb_dedicated_server", "ON")])
            .host(&[
                ("ram_bytes", &(64 * GIB).to_string()),
                ("cgroup_limit_bytes", &(8 * GIB).to_string()),
            ])
    };
    let finding = container("8.4.6").found("container-limit-unseen");
    assert!(
        finding.summary.contains("64 GB") && finding.summary.contains("8 GB"),
        "{}",
        finding.summary
    );
    container("9.3.0").not_found("container-limit-unseen");
}

#[test]
fn pain_04_the_memory_sum_is_shown_term_by_term_and_adds_up() {
    let report = Look::mysql(GIB).host_memory(8 * GIB).report();
    let value = |name: &str| {
        report
            .memory
            .budget
            .iter()
            .find(|term| term.name == name)
            .and_then(|term| term.value.as_u64())
            .unwrap_or(0)
    };
    let taken = value("kernel_reserve_bytes")
        + value("rest_of_server_bytes")
        + value("other_processes_bytes")
        + value("more_connections_at_peak_bytes")
        + value("pool_overhead_bytes")
        + value("pool_budget_bytes");
    assert_eq!(taken, value("limit_bytes"));
    assert!(report.memory.budget.iter().all(|term| !term.source.is_empty()));
}

#[test]
fn pain_05_the_ratio_is_of_the_interval() {
    // 999 of 1000 since the start, 500 of 1000 now.
    let report = Look::mysql(GIB)
        .pages(65_536, 1000, 0)
        .counters(&[
            ("Uptime", 864_000, 1.0),
            ("Innodb_buffer_pool_reads", 1_000_000, 5_000.0),
            ("Innodb_buffer_pool_read_requests", 1_000_000_000, 10_000.0),
        ])
        .report();
    assert_eq!(report.pool.hit_per_mille, Some(500));
    assert_eq!(report.interval_seconds, Some(10.0));
}

#[test]
fn pain_06_no_impossible_ratio_is_printed() {
    let counters = |version: &str| {
        Look::mariadb(version, GIB).pages(65_536, 1000, 0).counters(&[
            ("Uptime", 864_000, 1.0),
            ("Innodb_buffer_pool_reads", 1_000_000, 5_000.0),
            ("Innodb_buffer_pool_read_requests", 30_000, 10.0),
        ])
    };
    for version in ["10.11.2", "10.11.19"] {
        let look = counters(version);
        assert_eq!(look.report().pool.hit_per_mille, None, "{version}");
        assert!(look.finding("counters-unreliable").is_some(), "{version}");
    }
    assert!(counters("10.11.2").found("counters-unreliable").summary.contains("MDEV-31309"));
}

#[test]
fn pain_06_a_counter_that_wrapped_gives_no_rate() {
    let look = Look::mysql(GIB)
        .pages(65_536, 1000, 0)
        .status(&[("Uptime", "1000"), ("Innodb_buffer_pool_read_requests", "4294967000")])
        .then(&[("Uptime", "1010"), ("Innodb_buffer_pool_read_requests", "500")]);
    let report = look.report();
    assert_eq!(report.pool.read_requests_per_second, None);
    assert!(look.found("counters-unreliable").summary.contains("went backwards"));
}

#[test]
fn pain_07_and_08_misses_are_never_called_efficiency() {
    let json = serde_json::to_string(&starving(Look::mysql(128 * MIB)).report()).expect("a report");
    assert!(!json.contains("efficiency"));
    assert!(json.contains("\"hit_per_mille\":900"), "{json}");
}

#[test]
fn pain_09_misc_pages_below_zero_are_named_and_not_passed_on() {
    let wrapped = u64::MAX - 5;
    let look = Look::mysql(GIB)
        .pages(65_536, 1000, 0)
        .always(&[("Innodb_buffer_pool_pages_misc", &wrapped.to_string())]);
    let report = look.report();
    assert_eq!(report.pool.pages_total, Some(65_536));
    assert!(look.found("counters-unreliable").summary.contains("pages_misc"));
}

#[test]
fn pain_10_the_total_comes_from_its_parts_where_it_is_not_exported() {
    let report = Look::nothing()
        .status(&[
            ("Innodb_buffer_pool_pages_data", "794000"),
            ("Innodb_buffer_pool_pages_free", "244000"),
            ("Innodb_buffer_pool_pages_misc", "10576"),
            ("Innodb_buffer_pool_pages_old", "293000"),
        ])
        .report();
    assert_eq!(report.pool.pages_total, Some(1_048_576));
}

fn redo_capacity(finding: &Finding) -> Option<u64> {
    finding.evidence.iter().find(|item| item.name == "redo_capacity_bytes")?.value.as_u64()
}

#[test]
fn pain_11_the_redo_log_is_not_a_share_of_the_pool() {
    // 1 GB of redo for 64 GB of pool, hardly written: fine.
    Look::mysql(64 * GIB)
        .variables(&[("innodb_redo_log_capacity", &GIB.to_string())])
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_os_log_written", 0, 10_000.0)])
        .not_found("redo-too-small");
}

#[test]
fn pain_12_the_redo_size_in_force_is_the_resized_one() {
    let look = Look::server("9.0.1", "MySQL Community Server", GIB)
        .variables(&[
            ("innodb_log_file_size", "50331648"),
            ("innodb_log_files_in_group", "2"),
            ("innodb_redo_log_capacity", "104857600"),
        ])
        .always(&[("Innodb_redo_log_capacity_resized", "4294967296")])
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_os_log_written", 0, 50_000_000.0)]);
    assert_eq!(redo_capacity(&look.found("redo-too-small")), Some(4 * GIB));
}

#[test]
fn pain_13_no_deprecated_variable_is_named() {
    let busy = |version: &str, comment: &str| {
        Look::server(version, comment, GIB)
            .variables(&[("innodb_log_file_size", "50331648"), ("innodb_log_files_in_group", "2")])
            .counters(&[("Uptime", 864_000, 1.0), ("Innodb_os_log_written", 0, 50_000_000.0)])
            .found("redo-too-small")
            .action
    };
    let mysql = busy("8.0.36", "MySQL Community Server");
    assert!(
        mysql.contains("innodb_redo_log_capacity") && !mysql.contains("log_file_size"),
        "{mysql}"
    );
    let old = busy("5.7.44", "MySQL Community Server");
    assert!(old.contains("innodb_log_file_size") && !old.contains("capacity"), "{old}");
    let mariadb = busy("10.11.19-MariaDB", "");
    assert!(mariadb.contains("innodb_log_file_size") && !mariadb.contains("PERSIST"), "{mariadb}");
}

#[test]
fn pain_13_calendar_versions_are_still_mysql() {
    let look = starving(Look::server("26.7.0", "MySQL Community Server - GPL", 128 * MIB));
    assert_eq!(look.report().server.flavor, "mysql");
    assert!(look.found("pool-too-small").action.contains("SET PERSIST"));
}

#[test]
fn pain_14_a_value_that_rounding_gave_is_not_asked_for_again() {
    let look = Look::server("8.0.36", "MySQL", 2 * GIB)
        .variables(&[("innodb_buffer_pool_instances", "8")])
        .persisted(&[("innodb_buffer_pool_size", &(GIB + GIB / 2).to_string())]);
    look.not_found("settings-drift");
}

#[test]
fn pain_15_no_log_buffer_advice_at_any_ratio() {
    let look = Look::mysql(GIB).counters(&[
        ("Uptime", 864_000, 1.0),
        ("Innodb_log_write_requests", 1, 1.0),
        ("Innodb_log_writes", 1, 1000.0),
        ("Innodb_log_waits", 0, 0.0),
    ]);
    let json = serde_json::to_string(&look.report()).expect("a report");
    assert!(!json.contains("innodb_log_buffer_size"));
}

#[test]
fn pain_16_instances_divide_the_memory_and_say_so() {
    let look = Look::server("8.0.36", "MySQL", 2 * GIB)
        .variables(&[("innodb_buffer_pool_instances", "8")]);
    let finding = look.found("instances-too-many");
    assert!(
        finding.summary.contains("8 instances of 256 MB each, 2 GB in all"),
        "{}",
        finding.summary
    );
    let mariadb =
        Look::mariadb("10.11.19", 2 * GIB).variables(&[("innodb_buffer_pool_instances", "8")]);
    mariadb.not_found("instances-too-many");
    assert_eq!(mariadb.severity("instances-ignored"), Some(Notice));
}

#[test]
fn pain_17_rounding_up_to_an_out_of_memory_kill_is_seen_before_the_start() {
    let look = Look::server("5.7.21", "MySQL Community Server", 2 * GIB)
        .document(
            "/etc/my.cnf",
            innopool_target::Content::OptionFile(
                "[mysqld]\ninnodb_buffer_pool_size=1228M\n".into(),
            ),
        )
        .host_memory(2 * GIB);
    assert_eq!(look.severity("size-rounded"), Some(Warning));
    assert_eq!(look.severity("pool-over-memory-budget"), Some(Critical));
}

#[test]
fn pain_18_the_advice_does_not_flap_with_a_little_less_data() {
    let action = |data: u64| {
        starving(Look::mysql(128 * MIB))
            .data(data)
            .host_memory(32 * GIB)
            .found("pool-too-small")
            .action
    };
    assert_eq!(action(5_000 * MIB), action(4_990 * MIB));
}

#[test]
fn pain_38_every_statement_in_an_action_is_complete() {
    let looks = [
        starving(Look::mysql(128 * MIB)).host_memory(32 * GIB),
        starving(Look::mariadb("10.11.19", 128 * MIB)).host_memory(32 * GIB),
        starving(Look::server("5.7.44", "MySQL", 128 * MIB)),
        Look::mysql(GIB)
            .variables(&[("innodb_old_blocks_time", "0"), ("innodb_flush_method", "fsync")]),
    ];
    for look in looks {
        for finding in look.report().findings {
            for line in finding.action.lines().filter(|line| line.starts_with("SET ")) {
                let (left, value) = line.split_once(" = ").expect("an assignment");
                let name = left.rsplit(' ').next().expect("a variable");
                let value = value.strip_suffix(';').expect("a whole statement");
                let named = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                // SET takes bytes and no suffix; words stand in quotes or are a switch.
                let plain = value.parse::<u64>().is_ok() || ["ON", "OFF"].contains(&value);
                let quoted = value.starts_with('\'') && value.ends_with('\'') && value.len() > 2;
                assert!(named && (plain || quoted), "{}: {line}", finding.code);
            }
        }
    }
}
