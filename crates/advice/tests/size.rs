//! The size of the pool: too small, by default, larger than its data, rounded.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Critical, Notice, Warning};

fn busy_default(latency: f64, statement_seconds: f64) -> Look {
    Look::mysql(128 * MIB).full_default_pool(1000.0).cost(1000.0, latency, statement_seconds)
}

#[test]
fn reads_are_judged_by_their_share_of_statement_time() {
    // 1000 reads/s x 1 ms is one second of waiting each second.
    assert_eq!(busy_default(0.001, 2.0).severity("pool-too-small"), Some(Critical));
    assert_eq!(busy_default(0.001, 10.0).severity("pool-too-small"), Some(Warning));
    assert_eq!(busy_default(0.001, 25.0).severity("pool-too-small"), None);
}

#[test]
fn a_ratio_of_999_does_not_hide_costly_reads() {
    let look = Look::mysql(4 * GIB)
        .pages(262_144, 1000, 0)
        .counters(&[
            ("Uptime", 864_000, 1.0),
            ("Innodb_buffer_pool_reads", 1_000_000, 500.0),
            ("Innodb_buffer_pool_read_requests", 500_000_000, 1_000_000.0),
        ])
        .cost(500.0, 0.004, 4.0);
    let finding = look.found("pool-too-small");
    assert_eq!(finding.severity, Critical);
    assert!(finding.summary.contains("999 of 1000 requests hit"), "{}", finding.summary);
    assert_eq!(look.report().pool.read_cost_ratio, Some(0.5));
}

#[test]
fn data_that_fits_and_pools_with_room_are_never_too_small() {
    busy_default(0.001, 2.0).data(100 * MIB).not_found("pool-too-small");
    busy_default(0.001, 2.0).pages(8192, 6000, 0).not_found("pool-too-small");
    assert!(busy_default(0.001, 2.0).data(10 * GIB).finding("pool-too-small").is_some());
}

#[test]
fn a_few_reads_of_an_idle_server_are_background() {
    let look = Look::mysql(128 * MIB).full_default_pool(2.0).cost(2.0, 0.01, 0.02);
    look.not_found("pool-too-small");
    assert_eq!(look.severity("pool-default-size"), Some(Notice));
}

#[test]
fn the_action_names_a_size_within_the_budget() {
    let finding = busy_default(0.001, 2.0).host_memory(32 * GIB).found("pool-too-small");
    let size: u64 = finding
        .action
        .lines()
        .find_map(|line| line.strip_prefix("SET PERSIST innodb_buffer_pool_size = "))
        .and_then(|rest| rest.trim_end_matches(';').parse().ok())
        .expect("a statement to type");
    assert!(size > 16 * GIB && size <= 24 * GIB, "{size}");
    assert_eq!(size % (128 * MIB), 0);
}

#[test]
fn small_data_asks_for_no_more_than_it_needs() {
    let finding =
        busy_default(0.001, 2.0).data(2 * GIB).host_memory(32 * GIB).found("pool-too-small");
    assert!(finding.action.contains("all data and a tenth more"), "{}", finding.action);
}

#[test]
fn mariadb_is_told_to_set_and_write_never_to_persist() {
    let finding = Look::mariadb("10.11.19", 128 * MIB)
        .full_default_pool(1000.0)
        .cost(1000.0, 0.001, 2.0)
        .host_memory(8 * GIB)
        .found("pool-too-small");
    assert!(finding.action.contains("SET GLOBAL innodb_buffer_pool_size = "), "{}", finding.action);
    assert!(!finding.action.contains("PERSIST"), "{}", finding.action);
}

#[test]
fn servers_before_online_resize_are_told_to_restart() {
    let finding = Look::server("5.6.51", "MySQL", 128 * MIB)
        .full_default_pool(1000.0)
        .cost(1000.0, 0.001, 2.0)
        .host_memory(8 * GIB)
        .found("pool-too-small");
    assert!(finding.action.contains("then restart the server"), "{}", finding.action);
    assert!(!finding.action.contains("SET"), "{}", finding.action);
}

#[test]
fn a_pool_with_nothing_left_in_its_budget_is_not_told_to_grow() {
    let look = Look::mysql(6 * GIB)
        .pages(393_216, 1000, 0)
        .counters(&[("Uptime", 864_000, 1.0), ("Innodb_buffer_pool_reads", 9, 1000.0)])
        .counters(&[("Innodb_buffer_pool_read_requests", 1_000_000, 50_000.0)])
        .cost(1000.0, 0.001, 2.0)
        .host_memory(8 * GIB);
    let finding = look.found("pool-too-small");
    assert!(finding.action.contains("more memory, or fewer reads"), "{}", finding.action);
    assert!(!finding.action.contains("SET"), "{}", finding.action);
}

#[test]
fn without_statement_time_running_threads_or_reads_in_flight_are_the_measure() {
    let look = Look::mariadb("10.11.19", 128 * MIB).full_default_pool(1000.0);
    // Device latency from the host: 1000 reads/s x 3 ms are three reads in flight.
    let first = [("data_device_reads", "1000"), ("data_device_read_milliseconds", "1000")];
    let last = [("data_device_reads", "11000"), ("data_device_read_milliseconds", "31000")];
    let finding = look.host(&first).host_then(&last).found("pool-too-small");
    assert_eq!(finding.severity, Warning);
    assert!(finding.summary.contains("reads under way"), "{}", finding.summary);
}

#[test]
fn a_default_pool_is_a_warning_once_it_is_full_and_read_into() {
    assert_eq!(busy_default(0.001, 2.0).severity("pool-default-size"), Some(Warning));
    let idle = Look::mysql(128 * MIB).pages(8192, 7000, 0).counters(&[("Uptime", 100, 1.0)]);
    assert_eq!(idle.severity("pool-default-size"), Some(Notice));
    Look::mysql(256 * MIB).full_default_pool(1000.0).not_found("pool-default-size");
}

#[test]
fn memory_a_large_pool_cannot_use_is_a_notice() {
    let look =
        Look::mysql(8 * GIB).pages(524_288, 480_000, 0).counters(&[("Uptime", 864_000, 1.0)]);
    assert_eq!(look.clone().data(GIB).severity("pool-larger-than-data"), Some(Notice));
    // Not yet read is not the same as not needed.
    look.clone().data(20 * GIB).not_found("pool-larger-than-data");
    // The page cleaner's reserve of a tiny pool is no spare room.
    Look::mysql(8 * MIB).pages(512, 255, 0).not_found("pool-larger-than-data");
}

#[test]
fn a_size_that_rounding_doubles_is_found_before_and_after_the_start() {
    let written = Look::server("5.7.21", "MySQL", 2 * GIB)
        .document("/etc/my.cnf", option_file("innodb_buffer_pool_size = 1228M"));
    let after = written.found("size-rounded");
    assert!(after.summary.contains("1.2 GB asked for, 2 GB in effect"), "{}", after.summary);
    let over = written.host_memory(2 * GIB).found("size-rounded");
    assert_eq!(over.severity, Warning);
    let exact = Look::server("5.7.21", "MySQL", 2 * GIB)
        .document("/etc/my.cnf", option_file("innodb_buffer_pool_size = 2G"));
    exact.not_found("size-rounded");
    let before = Look::nothing().document(
        "/etc/my.cnf",
        option_file("innodb_buffer_pool_size = 3GB\ninnodb_buffer_pool_instances = 16"),
    );
    assert!(before.found("size-rounded").summary.contains("4 GB"), "c27");
}

#[test]
fn a_variable_that_the_pages_contradict_is_found() {
    let look = Look::server("5.7.9", "MySQL", 25_165_824).pages(3072, 100, 0);
    let finding = look.found("size-rounded");
    assert_eq!(finding.severity, Warning);
    assert!(finding.summary.contains("24 MB, the pool has 48 MB"), "{}", finding.summary);
    // The frames MariaDB takes for descriptors are no contradiction.
    Look::mariadb("10.6.12", 128 * MIB).pages(8064, 100, 0).not_found("size-rounded");
}

fn option_file(settings: &str) -> innopool_target::Content {
    innopool_target::Content::OptionFile(format!("[mysqld]\n{settings}\n"))
}
