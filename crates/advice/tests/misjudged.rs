//! What first users saw misjudged, each with the evidence that misled.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Notice, Warning};
use innopool_target::Content;

fn option_file(settings: &str) -> Content {
    Content::OptionFile(format!("[mysqld]\n{settings}\n"))
}

/// Counters of one moment, so that only averages since the start are known.
fn since_start(uptime: &str, reads: &str, requests: &str) -> Look {
    Look::mysql(128 * MIB).status(&[
        ("Uptime", uptime),
        ("Innodb_buffer_pool_pages_total", "8192"),
        ("Innodb_buffer_pool_pages_free", "1000"),
        ("Innodb_buffer_pool_pages_data", "7192"),
        ("Innodb_buffer_pool_reads", reads),
        ("Innodb_buffer_pool_read_requests", requests),
    ])
}

#[test]
fn a_poor_ratio_of_next_to_no_reads_is_no_small_pool() {
    since_start("8640000", "7000", "20000").not_found("pool-too-small");
    assert_eq!(since_start("8640000", "7000", "20000").severity("pool-default-size"), Some(Notice));
    // The same ratio with a thousand times the reads is one.
    let busy = since_start("8640000", "700000000", "2000000000");
    assert_eq!(
        busy.severity("pool-too-small"),
        Some(Warning),
        "never beyond doubt since the start"
    );
}

#[test]
fn the_misses_of_a_start_are_not_judged_as_size() {
    let look = since_start("60", "7000", "20000");
    look.not_found("pool-too-small");
    assert!(look.report().unknown.iter().any(|unknown| unknown.code == "pool-too-small"));
}

#[test]
fn an_absent_variable_is_not_its_default() {
    Look::server("8.0.36", "MySQL", 4 * GIB).not_found("double-buffering");
}

#[test]
fn a_line_the_server_refuses_is_named_with_its_place() {
    for value in ["1.5G", "6 GB", "75%", "abc"] {
        let finding = Look::nothing()
            .document("my.cnf", option_file(&format!("innodb_buffer_pool_size = {value}")))
            .found("settings-drift");
        assert_eq!(finding.severity, Warning, "{value}");
        assert!(finding.summary.contains("my.cnf:2"), "{}", finding.summary);
    }
}

#[test]
fn a_pool_that_could_not_be_allocated_is_critical() {
    let log = "2024-07-28T07:03:55.832449Z 0 [ERROR] InnoDB: Cannot allocate memory for the buffer pool\n";
    let look = Look::nothing().document("error.log", Content::ErrorLog(log.to_owned()));
    let finding = look.found("pool-over-memory-budget");
    assert_eq!(finding.severity.as_str(), "critical");
    assert!(finding.evidence.iter().any(|item| item.source.starts_with("error.log:1")));
}

#[test]
fn actions_of_one_page_do_not_contradict_each_other() {
    let look = Look::mariadb("10.11.14", 128 * MIB)
        .variables(&[("innodb_buffer_pool_size_max", &(128 * MIB).to_string())])
        .full_default_pool(2000.0)
        .cost(2000.0, 0.001, 4.0)
        .host_memory(32 * GIB);
    let size = |code: &str| -> Vec<u64> {
        let action = look.found(code).action;
        action
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .filter(|(name, _)| name.starts_with("innodb_buffer_pool_size"))
            .filter_map(|(_, value)| value.trim_end_matches(';').parse().ok())
            .collect()
    };
    let (wanted, ceiling) = (size("pool-too-small"), size("resize-refused"));
    assert!(
        wanted.iter().all(|bytes| ceiling.iter().all(|most| bytes <= most)),
        "{wanted:?} {ceiling:?}"
    );
}

#[test]
fn doubling_a_small_pool_doubles_it() {
    let action = Look::mysql(16 * MIB)
        .pages(1024, 0, 0)
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_buffer_pool_reads", 1, 1000.0)])
        .counters(&[("Innodb_buffer_pool_read_requests", 1, 2000.0)])
        .cost(1000.0, 0.001, 2.0)
        .found("pool-too-small")
        .action;
    assert!(action.contains("= 33554432;"), "{action}");
}

#[test]
fn more_evidence_does_not_make_a_worse_diagnosis() {
    let auto = r#"{"Version": 2, "mysql_dynamic_variables": {"innodb_buffer_pool_size":
        {"Value": "134217728", "Metadata": {"Host": "h", "User": "u", "Timestamp": 1550000000000000}}}}"#;
    let finding = Look::server("8.0.14", "MySQL", 2 * GIB)
        .document("/etc/my.cnf", option_file("innodb_buffer_pool_size=2G"))
        .document("mysqld-auto.cnf", Content::MysqldAuto(auto.to_owned()))
        .found("settings-drift");
    assert!(finding.summary.contains("wins over the option file"), "{}", finding.summary);
    assert!(finding.why.contains("94065"), "{}", finding.why);
}

#[test]
fn waits_since_the_start_are_seen_without_an_interval() {
    let look = Look::mysql(GIB).status(&[
        ("Uptime", "86400"),
        ("Innodb_buffer_pool_wait_free", "5000000"),
        ("Innodb_buffer_pool_pages_free", "0"),
        ("Innodb_buffer_pool_pages_total", "65536"),
    ]);
    assert_eq!(look.severity("flush-behind"), Some(Warning));
}

#[test]
fn dumps_and_loads_that_did_not_succeed_are_said() {
    let status = |name: &str, text: &str| Look::mysql(GIB).always(&[(name, text)]);
    let aborted =
        status("Innodb_buffer_pool_load_status", "Buffer pool(s) load aborted on request");
    assert_eq!(aborted.severity("warmup-failed"), Some(Notice));
    let full = "Cannot open '/d/ib_buffer_pool.incomplete' for writing: No space left on device";
    let failed = status("Innodb_buffer_pool_dump_status", full);
    assert_eq!(failed.severity("dump-at-risk"), Some(Warning));
}

#[test]
fn a_number_without_suffix_is_asked_about() {
    let finding = Look::nothing()
        .document("my.cnf", option_file("innodb_buffer_pool_size = 6000000"))
        .found("size-rounded");
    assert!(finding.summary.contains("was 6 GB meant?"), "{}", finding.summary);
    let slip = Look::mariadb("10.6.12", 8 * MIB)
        .document("my.cnf", option_file("innodb_buffer_pool_size = 4G"))
        .found("settings-drift");
    assert!(!slip.action.contains("8388608"), "{}", slip.action);
    assert!(slip.action.contains("4294967296"), "{}", slip.action);
}

#[test]
fn much_in_swap_at_one_look_is_a_notice() {
    let look = Look::mysql(48 * GIB).host(&[
        ("ram_bytes", &(64 * GIB).to_string()),
        ("available_bytes", &(11 * GIB).to_string()),
        ("swap_total_bytes", &(16 * GIB).to_string()),
        ("swap_free_bytes", &(6 * GIB).to_string()),
    ]);
    let finding = look.found("host-swapping");
    assert_eq!(finding.severity, Notice);
    assert!(finding.action.contains("NUMA"), "{}", finding.action);
}

#[test]
fn a_dump_over_in_four_milliseconds_holds_little_of_120_gb() {
    let log = "2023-04-12T07:24:14.800600Z 0 [Note] InnoDB: Initializing buffer pool, total size = 120G, instances = 64, chunk size = 128M\n\
               2023-04-16T09:00:00.100000Z 0 [Note] InnoDB: Dumping buffer pool(s) to /d/ib_buffer_pool\n\
               2023-04-16T09:00:00.104000Z 0 [Note] InnoDB: Buffer pool(s) dump completed at 230416  9:00:00\n";
    let finding = Look::nothing()
        .document("error.log", Content::ErrorLog(log.to_owned()))
        .found("dump-at-risk");
    assert!(finding.summary.contains("4 ms"), "{}", finding.summary);
}

#[test]
fn a_redo_log_that_is_large_already_is_not_set_to_the_size_it_has() {
    let size = 16 * GIB;
    let look = Look::mysql(64 * GIB)
        .variables(&[("innodb_redo_log_capacity", &size.to_string())])
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_os_log_written", 0, 60_000_000.0)])
        .always(&[("Innodb_checkpoint_age", &(size / 100 * 85).to_string())]);
    let action = look.found("redo-too-small").action;
    assert!(!action.contains("innodb_redo_log_capacity"), "{action}");
    assert!(action.contains("innodb_io_capacity"), "{action}");
}
