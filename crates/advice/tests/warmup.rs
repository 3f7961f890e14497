//! Warm-up, instances, scans, resizes, memory and drift: provoked, and cleared.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Critical, Notice, Warning};
use innopool_target::Content;

fn look() -> Look {
    Look::mysql(GIB).pages(65_536, 1000, 0).counters(&[("Uptime", 864_000, 1.0)])
}

#[test]
fn a_filling_pool_is_cold_and_not_too_small() {
    let cold = Look::mysql(GIB)
        .pages(65_536, 40_000, 0)
        .counters(&[
            ("Uptime", 300, 1.0),
            ("Innodb_buffer_pool_reads", 1000, 500.0),
            ("Innodb_buffer_pool_read_requests", 10_000, 2000.0),
        ])
        .cost(500.0, 0.001, 1.0);
    assert_eq!(cold.severity("cold-pool"), Some(Notice));
    cold.not_found("pool-too-small");
    look().not_found("cold-pool");
}

#[test]
fn warm_up_that_nobody_asked_for_is_found_with_what_turns_it_on() {
    let set = |dump: &str, load: &str| {
        look().variables(&[
            ("innodb_buffer_pool_dump_at_shutdown", dump),
            ("innodb_buffer_pool_load_at_startup", load),
        ])
    };
    set("ON", "ON").not_found("warmup-not-configured");
    let off = set("OFF", "OFF").found("warmup-not-configured");
    assert_eq!(off.severity, Warning);
    assert!(off.action.contains("SET PERSIST innodb_buffer_pool_dump_at_shutdown = ON;"));
    // MySQL does not let anybody persist this one.
    assert!(off.action.contains("group [mysqld]:\ninnodb_buffer_pool_load_at_startup = ON"));
    let fast = set("ON", "ON").variables(&[("innodb_fast_shutdown", "2")]);
    assert!(fast.finding("warmup-not-configured").is_some());
}

#[test]
fn a_failed_load_is_a_warning_and_a_missing_file_a_notice() {
    let status = |text: &str| look().always(&[("Innodb_buffer_pool_load_status", text)]);
    let parse = "Error parsing '/d/ib_buffer_pool', unable to load buffer pool (stage 1)";
    assert_eq!(status(parse).severity("warmup-failed"), Some(Warning));
    let missing = "Cannot open '/d/ib_buffer_pool' for reading: No such file or directory";
    assert_eq!(status(missing).severity("warmup-failed"), Some(Notice));
    status("Buffer pool(s) load completed at 240501 10:00:00").not_found("warmup-failed");
    status("Loading of buffer pool not started").not_found("warmup-failed");
}

#[test]
fn a_throttled_load_is_judged_by_its_pace() {
    let load = |from: u64, to: u64, all: u64| {
        look()
            .variables(&[("innodb_io_capacity", "200")])
            .status(&[("Innodb_buffer_pool_load_status", &format!("Loaded {from}/{all} pages"))])
            .then(&[("Innodb_buffer_pool_load_status", &format!("Loaded {to}/{all} pages"))])
    };
    // 2000 pages in 10 s, a million to go: 83 minutes.
    assert_eq!(load(1000, 3000, 1_000_000).severity("warmup-throttled"), Some(Warning));
    load(1000, 3000, 20_000).not_found("warmup-throttled");
    let mariadb = Look::mariadb("10.11.19", GIB).variables(&[("innodb_io_capacity", "200")]);
    mariadb.not_found("warmup-throttled");
}

#[test]
fn an_aborted_load_puts_the_dump_at_risk_on_mysql_only() {
    let aborted = |look: Look| {
        look.variables(&[("innodb_buffer_pool_dump_at_shutdown", "ON")])
            .always(&[("Innodb_buffer_pool_load_status", "Buffer pool(s) load aborted on request")])
    };
    let finding = aborted(look()).found("dump-at-risk");
    assert_eq!(finding.severity, Warning);
    assert!(finding.action.contains("SET GLOBAL innodb_buffer_pool_load_now = ON;"));
    aborted(Look::mariadb("10.11.19", GIB)).not_found("dump-at-risk");
    aborted(look())
        .always(&[(
            "Innodb_buffer_pool_load_status",
            "Buffer pool(s) load completed at 240501 10:00:00",
        )])
        .not_found("dump-at-risk");
}

#[test]
fn a_fuller_dump_on_disk_is_at_risk() {
    let host = |pages: &str| {
        look()
            .variables(&[
                ("innodb_buffer_pool_dump_at_shutdown", "ON"),
                ("innodb_buffer_pool_dump_pct", "25"),
            ])
            .host(&[("dump_file_pages", pages), ("dump_file", "/d/ib_buffer_pool")])
    };
    let finding = host("60000").found("dump-at-risk");
    assert!(finding.action.contains("cp -p /d/ib_buffer_pool"), "{}", finding.action);
    host("16000").not_found("dump-at-risk");
}

#[test]
fn instances_below_a_gigabyte_are_ignored() {
    let set = |size: u64| {
        Look::server("8.0.36", "MySQL", size).variables(&[("innodb_buffer_pool_instances", "8")])
    };
    assert_eq!(set(512 * MIB).severity("instances-ignored"), Some(Notice));
    set(16 * GIB).not_found("instances-ignored");
}

#[test]
fn few_instances_are_a_finding_only_with_contention() {
    let latches = |waits: u64| {
        let mut table = innopool_target::Table::new(["name", "waits"]);
        table.push([Some("buf_pool_LRU_list".to_owned()), Some(waits.to_string())]);
        Content::Latches(table)
    };
    let large = || {
        Look::mysql(16 * GIB)
            .variables(&[("innodb_buffer_pool_instances", "1")])
            .pages(1_048_576, 1000, 0)
            .counters(&[("Uptime", 864_000, 1.0)])
    };
    large().document("SHOW ENGINE INNODB MUTEX", latches(0)).not_found("instances-too-few");
    let contended = large()
        .document("SHOW ENGINE INNODB MUTEX", latches(0))
        .document_then("SHOW ENGINE INNODB MUTEX", latches(500_000));
    assert_eq!(contended.severity("instances-too-few"), Some(Warning));
}

#[test]
fn scan_protection_switched_off_is_found() {
    let set = |time: &str| {
        look().variables(&[("innodb_old_blocks_time", time)]).counters(&[(
            "Innodb_pages_read",
            0,
            500.0,
        )])
    };
    assert_eq!(set("0").severity("scan-pollution"), Some(Warning));
    set("1000").not_found("scan-pollution");
}

#[test]
fn read_ahead_for_nothing_is_found() {
    let ahead = |evicted: f64| {
        look().counters(&[
            ("Innodb_buffer_pool_read_ahead", 1, 100.0),
            ("Innodb_buffer_pool_read_ahead_rnd", 1, 0.0),
            ("Innodb_buffer_pool_read_ahead_evicted", 1, evicted),
        ])
    };
    assert_eq!(ahead(40.0).severity("read-ahead-wasted"), Some(Warning));
    ahead(5.0).not_found("read-ahead-wasted");
}

#[test]
fn a_resize_runs_sticks_or_fails() {
    let name = "Innodb_buffer_pool_resize_status";
    let running = look()
        .status(&[(name, "Withdrawing blocks to be shrunken.")])
        .then(&[(name, "Latching whole of buffer pool.")]);
    assert_eq!(running.severity("resize-running"), Some(Notice));
    let stuck = look().always(&[(name, "buffer pool 0 : withdrawing blocks. (10/8192)")]);
    assert_eq!(stuck.severity("resize-stuck"), Some(Warning));
    stuck.not_found("resize-running");
    let failed = look()
        .always(&[(name, "Resizing buffer pool failed, finished resizing at 240501 10:00:00.")]);
    assert_eq!(failed.severity("resize-refused"), Some(Warning));
    let done = look().always(&[(name, "Completed resizing buffer pool at 240501 10:00:00.")]);
    for code in ["resize-running", "resize-stuck", "resize-refused"] {
        done.not_found(code);
    }
}

#[test]
fn a_ceiling_matters_only_when_the_pool_needs_more() {
    let ceiling =
        |look: Look| look.variables(&[("innodb_buffer_pool_size_max", &(128 * MIB).to_string())]);
    let idle = ceiling(Look::mariadb("10.11.14", 128 * MIB)).full_default_pool(0.0);
    idle.not_found("resize-refused");
    let starving = ceiling(Look::mariadb("10.11.14", 128 * MIB))
        .full_default_pool(2000.0)
        .cost(2000.0, 0.001, 4.0);
    assert_eq!(starving.severity("resize-refused"), Some(Warning));
    let action = starving.found("pool-too-small").action;
    assert!(action.contains("innodb_buffer_pool_size_max"), "{action}");
}

#[test]
fn swap_counts_when_it_moves() {
    let swapping = look()
        .host(&[
            ("swapped_in_pages", "1000"),
            ("memory_page_bytes", "4096"),
            ("server_swapped_bytes", "104857600"),
        ])
        .host_then(&[("swapped_in_pages", "11000")]);
    assert_eq!(swapping.severity("host-swapping"), Some(Critical));
    let long_ago = look().host(&[
        ("swapped_in_pages", "1000"),
        ("memory_page_bytes", "4096"),
        ("server_swapped_bytes", "104857600"),
    ]);
    long_ago.not_found("host-swapping");
}

#[test]
fn swapping_with_free_memory_points_to_numa() {
    let finding = Look::mysql(48 * GIB)
        .pages(3_145_728, 1000, 0)
        .counters(&[("Uptime", 864_000, 1.0)])
        .host(&[
            ("ram_bytes", &(64 * GIB).to_string()),
            ("available_bytes", &(12 * GIB).to_string()),
            ("numa_nodes", "2"),
            ("numa_node_bytes", &(32 * GIB).to_string()),
            ("swapped_in_pages", "1000"),
            ("memory_page_bytes", "4096"),
        ])
        .host_then(&[("swapped_in_pages", "110000")])
        .found("host-swapping");
    assert!(finding.action.contains("innodb_numa_interleave"), "{}", finding.action);
}

#[test]
fn settings_of_the_running_server_that_a_restart_loses() {
    let set = |persisted: &[(&str, &str)]| {
        look().origins(&[("innodb_buffer_pool_size", "dynamic", "")]).persisted(persisted)
    };
    let lost = set(&[]).found("settings-drift");
    assert_eq!(lost.severity, Warning);
    assert!(
        lost.action.contains("SET PERSIST innodb_buffer_pool_size = 1073741824;"),
        "{}",
        lost.action
    );
    set(&[("innodb_buffer_pool_size", "1073741824")]).not_found("settings-drift");
    let other = set(&[("innodb_buffer_pool_size", "8589934592")]).found("settings-drift");
    assert!(other.evidence.iter().any(|item| item.name.ends_with("next_start")));
}

#[test]
fn a_restart_that_makes_the_server_read_only() {
    let set = |now: &str, next: &str| {
        look()
            .variables(&[("super_read_only", now), ("read_only", now)])
            .persisted(&[("super_read_only", next)])
    };
    let finding = set("OFF", "ON").found("restart-read-only");
    assert_eq!(finding.severity, Warning);
    assert!(finding.action.contains("SET GLOBAL super_read_only = OFF;"), "{}", finding.action);
    set("ON", "ON").not_found("restart-read-only");
    set("OFF", "OFF").not_found("restart-read-only");
}
