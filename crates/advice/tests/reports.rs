//! What people reported of their servers, and the diagnosis an expert gave. Each test rebuilds the
//! facts of one report; where the folder of collected reports is at hand, every report in it must
//! have its test here and still state the numbers used.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Critical, Notice, Warning};
use innopool_target::Content;

fn option_file(settings: &str) -> Content {
    Content::OptionFile(format!("[mysqld]\n{settings}\n"))
}

#[test]
fn r01_1228m_becomes_2048m_on_a_2g_machine() {
    let look = Look::server("5.7.21", "MySQL Community Server", 2 * GIB)
        .document("/etc/my.cnf", option_file("innodb_buffer_pool_size = 1228M"))
        .host_memory(2 * GIB);
    assert_eq!(look.severity("size-rounded"), Some(Warning));
    assert_eq!(look.severity("pool-over-memory-budget"), Some(Critical));
    assert!(look.found("size-rounded").action.contains("exact (1 GB),"));
}

#[test]
fn r02_one_free_buffer_is_normal_on_mariadb_106() {
    let look = Look::mariadb("10.6.7", 64 * GIB)
        .variables(&[("innodb_io_capacity", "100"), ("innodb_flush_log_at_trx_commit", "2")])
        .pages(4_194_304, 1, 1000)
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_buffer_pool_wait_free", 5, 0.0)]);
    look.not_found("flush-behind");
    look.not_found("pool-too-small");
    assert_eq!(look.severity("io-capacity-low"), Some(Notice));
    assert_eq!(look.severity("durability-relaxed"), Some(Notice));
}

#[test]
fn r04_a_shrink_that_needed_retries_and_ended_is_over() {
    let log = "2020-06-19T09:44:10.100000Z 0 [Note] InnoDB: Resizing buffer pool from 10737418240 to 8589934592 (unit=268435456).\n\
               2020-06-19T09:44:10.300000Z 0 [Note] InnoDB: buffer pool 0 : will retry to withdraw later.\n\
               2020-06-19T09:44:10.300001Z 0 [Note] InnoDB: Will retry to withdraw 1 seconds later.\n\
               2020-06-19T09:44:11.400001Z 0 [Note] InnoDB: Will retry to withdraw 2 seconds later.\n\
               2020-06-19T09:44:13.400001Z 0 [Note] InnoDB: Will retry to withdraw 4 seconds later.\n";
    let end = "2020-06-19T09:44:19.500000Z 0 [Note] InnoDB: Completed resizing buffer pool at 200619  9:44:19.\n";
    let read = |text: String| Look::nothing().document("error.log", Content::ErrorLog(text));
    assert_eq!(read(log.to_owned()).severity("resize-stuck"), Some(Warning));
    let ended = read(format!("{log}{end}"));
    ended.not_found("resize-stuck");
    ended.not_found("resize-refused");
}

#[test]
fn r05_more_reads_than_requests_is_a_counter_that_wrapped() {
    let look = Look::server("5.6.40", "MySQL", GIB).pages(65_536, 1000, 0).always(&[
        ("Innodb_buffer_pool_reads", "12000000"),
        ("Innodb_buffer_pool_read_requests", "90000"),
        ("Uptime", "864000"),
    ]);
    assert_eq!(look.report().pool.hit_per_mille, None);
    assert!(look.finding("counters-unreliable").is_some());
}

#[test]
fn r07_a_size_above_the_ceiling_was_silently_ignored() {
    let look = Look::mariadb("10.11.12", GIB)
        .variables(&[("innodb_buffer_pool_size_max", &GIB.to_string())])
        .document("/etc/mysql/my.cnf", option_file("innodb_buffer_pool_size = 8G"))
        .counters(&[("Uptime", 864_000, 1.0)]);
    let finding = look.found("resize-refused");
    assert!(finding.why.contains("1292"), "{}", finding.why);
    assert!(finding.action.contains("innodb_buffer_pool_size_max"), "{}", finding.action);
}

#[test]
fn r08_only_exact_multiples_of_a_unit_are_proposed() {
    let look = Look::server("8.0.36", "MySQL", 4 * GIB)
        .variables(&[
            ("innodb_buffer_pool_instances", "3"),
            ("innodb_buffer_pool_chunk_size", &(96 * MIB).to_string()),
        ])
        .host_memory(3 * GIB);
    let action = look.found("pool-over-memory-budget").action;
    let size: u64 = action
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .max()
        .expect("a size");
    assert_eq!(size % (3 * 96 * MIB), 0, "{action}");
}

#[test]
fn r10_percona_instances_below_20_mb() {
    let look = Look::server("5.7.16-10", "Percona Server (GPL)", GIB + GIB / 10)
        .variables(&[("innodb_buffer_pool_instances", "64")]);
    assert_eq!(look.severity("instances-too-many"), Some(Warning));
}

#[test]
fn r13_an_io_error_on_the_dump_is_about_the_disk() {
    let text = "Cannot open '/var/lib/mysql/ib_buffer_pool' for reading: Input/output error";
    let finding = Look::mariadb("10.3.9", GIB)
        .always(&[("Innodb_buffer_pool_load_status", text)])
        .found("warmup-failed");
    assert!(finding.action.contains("disk"), "{}", finding.action);
}

#[test]
fn r14_statements_give_bytes_and_never_a_suffix() {
    let action = Look::mariadb("10.6.12", 128 * MIB)
        .full_default_pool(2000.0)
        .cost(2000.0, 0.001, 4.0)
        .data(6 * GIB)
        .host_memory(16 * GIB)
        .found("pool-too-small")
        .action;
    assert!(action.contains("SET GLOBAL innodb_buffer_pool_size = 7113539584;"), "{action}");
    assert!(!action.contains("G;") && !action.contains("M;"), "{action}");
}

#[test]
fn r17_a_load_under_way_is_named_with_its_progress() {
    let finding = Look::server("5.7.15", "Percona Server", 26 * GIB)
        .pages(1_703_936, 1_300_479, 0)
        .always(&[("Innodb_buffer_pool_load_status", "Loaded 403457/419487 pages")])
        .found("cold-pool");
    assert!(finding.summary.contains("96 % (403,457 of 419,487 pages)"), "{}", finding.summary);
}

#[test]
fn r19_a_persisted_default_contradicts_the_option_file_and_wins() {
    let auto = r#"{"Version": 2, "mysql_dynamic_variables": {"innodb_buffer_pool_size":
        {"Value": "134217728", "Metadata": {"Host": "h", "User": "u", "Timestamp": 1550000000000000}}}}"#;
    let finding = Look::nothing()
        .document(
            "/etc/my.cnf",
            option_file("innodb_buffer_pool_size=2G\ninnodb_buffer_pool_instances=4"),
        )
        .document("mysqld-auto.cnf", Content::MysqldAuto(auto.to_owned()))
        .found("settings-drift");
    assert!(
        finding.summary.contains("128 MB wins over the option file's 2 GB"),
        "{}",
        finding.summary
    );
    assert!(finding.action.contains("RESET PERSIST innodb_buffer_pool_size;"));
}

#[test]
fn r20_a_start_and_a_set_round_differently() {
    let finding =
        Look::server("5.7.9", "MySQL", 25_165_824).pages(3072, 100, 0).found("size-rounded");
    let values: Vec<_> = finding.evidence.iter().filter_map(|item| item.value.as_u64()).collect();
    for value in [25_165_824, 3072, 50_331_648] {
        assert!(values.contains(&value), "{values:?}");
    }
}

#[test]
fn r22_the_pods_limit_counts_and_68_percent_of_it_is_fine() {
    let look = Look::mariadb("10.4.12", 56_000 * MIB).pages(3_584_000, 100_000, 0).host(&[
        ("ram_bytes", &(125 * GIB).to_string()),
        ("cgroup_limit_bytes", &(80 * GIB).to_string()),
    ]);
    look.not_found("pool-over-memory-budget");
    assert_eq!(look.report().memory.limit_bytes, Some(80 * GIB));
}

#[test]
fn r23_three_quarters_of_a_small_pod_is_too_much() {
    let pod = |pool: u64, limit: u64| {
        Look::server("8.0.36", "Percona XtraDB Cluster", pool)
            .host(&[
                ("ram_bytes", &(64 * GIB).to_string()),
                ("cgroup_limit_bytes", &limit.to_string()),
            ])
            .severity("pool-over-memory-budget")
    };
    assert_eq!(pod(2 * GIB * 3 / 4, 2 * GIB), Some(Warning));
    assert_eq!(pod(GIB, 2 * GIB), None);
    assert_eq!(pod(16 * GIB * 3 / 4, 16 * GIB), None);
}

#[test]
fn r25_swapping_with_memory_free_is_a_full_numa_node() {
    let finding = Look::server("5.6.20", "MySQL", 48 * GIB)
        .counters(&[("Uptime", 864_000, 1.0)])
        .host(&[
            ("ram_bytes", &(64 * GIB).to_string()),
            ("available_bytes", &(10 * GIB).to_string()),
            ("numa_nodes", "2"),
            ("numa_node_bytes", &(32 * GIB).to_string()),
            ("memory_page_bytes", "4096"),
            ("swapped_in_pages", "0"),
        ])
        .host_then(&[("swapped_in_pages", "50000")])
        .found("host-swapping");
    assert!(finding.action.contains("NUMA"), "{}", finding.action);
}

#[test]
fn r26_4g_of_64g_with_38g_of_data_grows_to_what_the_data_needs() {
    let finding = Look::server("8.0.36", "MySQL", 4 * GIB)
        .pages(262_144, 1024, 0)
        .counters(&[
            ("Uptime", 864_000, 1.0),
            ("Innodb_buffer_pool_reads", 1, 2800.0),
            ("Innodb_buffer_pool_read_requests", 1_000_000, 10_000.0),
        ])
        .data(38 * GIB)
        .host_memory(64 * GIB)
        .found("pool-too-small");
    assert_eq!(finding.severity, Critical, "28 of 100 requests miss");
    assert!(finding.action.contains("all data and a tenth more"), "{}", finding.action);
    let size = 41 * GIB + 896 * MIB;
    assert!(finding.action.contains(&size.to_string()), "{}", finding.action);
}

#[test]
fn r28_a_fifth_dirty_once_is_a_notice_with_the_checkpoint_age() {
    let finding = Look::server("5.7.30", "MySQL", 80 * GIB)
        .pages(5_242_480, 7_765, 1_143_064)
        .always(&[("Innodb_checkpoint_age", "1500199671")])
        .variables(&[("innodb_log_file_size", "2147483648"), ("innodb_log_files_in_group", "2")])
        .found("dirty-pages-high");
    assert_eq!(finding.severity, Notice);
    assert!(finding.summary.starts_with("22 %"), "{}", finding.summary);
    assert!(finding.evidence.iter().any(|item| item.name == "checkpoint_age_bytes"));
}

#[test]
fn r29_no_free_page_and_a_full_log_on_mariadb_ask_for_an_upgrade_first() {
    let look = |free: u64, age: u64| {
        Look::mariadb("10.6.16", GIB)
            .pages(65_536, free, 40_000)
            .always(&[("Innodb_checkpoint_age", &age.to_string())])
            .variables(&[("innodb_log_file_size", &(96 * MIB).to_string())])
    };
    let finding = look(0, 80 * MIB).found("flush-behind");
    assert!(finding.action.contains("Upgrade first"), "{}", finding.action);
    look(0, 10 * MIB).not_found("flush-behind");
    look(2000, 80 * MIB).not_found("flush-behind");
}

/// Reports that are about other commands: a restart plan and a benchmark.
const NOT_FOR_CHECK: [&str; 2] = ["r11", "r16"];

#[test]
fn every_collected_report_has_its_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/reports");
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("SKIPPED: no collected reports at hand");
        return;
    };
    let source = include_str!("reports.rs");
    for entry in entries {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let id = name.split('_').next().expect("an id");
        let tested = source.contains(&format!("fn {id}_"));
        assert!(tested || NOT_FOR_CHECK.contains(&id), "{name} has no test");
    }
}
