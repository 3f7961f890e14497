//! Dirty pages, the redo log, io_capacity, and what has been traded for speed.

mod common;

use common::{GIB, Look, MIB};
use innopool_advice::Severity::{Critical, Notice, Warning};
use innopool_target::Content;

fn look() -> Look {
    Look::mysql(GIB).pages(65_536, 1000, 0).counters(&[("Uptime", 864_000, 1.0)])
}

#[test]
fn dirty_pages_need_three_samples_over_a_minute() {
    let short = look().pages(1000, 0, 800);
    let finding = short.found("dirty-pages-high");
    assert_eq!(finding.severity, Notice);
    assert!(finding.action.contains("--interval 60"), "{}", finding.action);

    // First and last moment a minute apart, and a sample between them.
    let minute = |first: u64, middle: u64, last: u64| {
        let pages = |dirty: u64| {
            [
                ("Innodb_buffer_pool_pages_total".to_owned(), 1000.to_string()),
                ("Innodb_buffer_pool_pages_data".to_owned(), 1000.to_string()),
                ("Innodb_buffer_pool_pages_free".to_owned(), 0.to_string()),
                ("Innodb_buffer_pool_pages_dirty".to_owned(), dirty.to_string()),
            ]
        };
        let (first, last) = (pages(first), pages(last));
        let first: Vec<_> = first.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let last: Vec<_> = last.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        Look::mysql(GIB).seconds(60.0).status(&first).dirty_samples(&[(30.0, middle)]).then(&last)
    };
    let stable = minute(790, 810, 800);
    assert_eq!(stable.severity("dirty-pages-high"), Some(Warning));

    let rising = minute(100, 200, 320).found("dirty-pages-high");
    assert_eq!(rising.severity, Warning);
    assert!(rising.summary.contains("faster than flushed"), "{}", rising.summary);

    minute(400, 300, 200).not_found("dirty-pages-high");
}

#[test]
fn waits_for_free_frames_are_found_and_few_free_pages_are_not() {
    let waits = look().counters(&[("Innodb_buffer_pool_wait_free", 10, 50.0)]);
    assert_eq!(waits.severity("flush-behind"), Some(Warning));
    let full = look().pages(65_536, 1, 0).counters(&[("Innodb_buffer_pool_wait_free", 10, 0.0)]);
    full.not_found("flush-behind");
}

#[test]
fn flushing_at_the_setting_while_pages_stay_dirty_is_the_brake() {
    let busy = |rate: f64, dirty: u64| {
        look().variables(&[("innodb_io_capacity", "200")]).pages(65_536, 1000, dirty).counters(&[(
            "Innodb_buffer_pool_pages_flushed",
            1000,
            rate,
        )])
    };
    let finding = busy(195.0, 15_000).found("io-capacity-low");
    assert_eq!(finding.severity, Warning);
    assert!(
        finding.action.contains("SET PERSIST innodb_io_capacity = 1000;"),
        "{}",
        finding.action
    );
    busy(50.0, 15_000).not_found("io-capacity-low");
    busy(195.0, 100).not_found("io-capacity-low");
    let flash = busy(1.0, 100).host(&[("data_device_rotational", "false")]);
    assert_eq!(flash.severity("io-capacity-low"), Some(Notice));
}

#[test]
fn a_full_redo_log_is_found_by_age_and_by_rate() {
    let redo = |age: u64, rate: f64| {
        look()
            .variables(&[("innodb_redo_log_capacity", &(100 * MIB).to_string())])
            .counters(&[("Innodb_os_log_written", 0, rate)])
            .status(&[("Innodb_checkpoint_age", &age.to_string())])
            .then(&[("Innodb_checkpoint_age", &age.to_string())])
    };
    assert_eq!(redo(85 * MIB, 1e6).severity("redo-too-small"), Some(Critical));
    assert_eq!(redo(72 * MIB, 1e4).severity("redo-too-small"), Some(Warning));
    assert_eq!(redo(10 * MIB, 1e6).severity("redo-too-small"), Some(Notice));
    redo(10 * MIB, 1e4).not_found("redo-too-small");
}

#[test]
fn durability_is_named_with_what_can_be_lost() {
    let set = |commit: &str, binlog: &str, sync: &str| {
        look().variables(&[
            ("innodb_flush_log_at_trx_commit", commit),
            ("log_bin", binlog),
            ("sync_binlog", sync),
        ])
    };
    set("1", "ON", "1").not_found("durability-relaxed");
    set("1", "OFF", "0").not_found("durability-relaxed");
    assert_eq!(set("2", "ON", "1").severity("durability-relaxed"), Some(Notice));
    let none = set("0", "ON", "0").found("durability-relaxed");
    assert_eq!(none.severity, Warning);
    assert!(none.action.contains("SET PERSIST sync_binlog = 1;"), "{}", none.action);
}

#[test]
fn pages_cached_twice_are_found_where_they_are() {
    let method = |method: &str| look().variables(&[("innodb_flush_method", method)]);
    assert_eq!(method("fsync").severity("double-buffering"), Some(Warning));
    method("O_DIRECT").not_found("double-buffering");
    method("O_DIRECT_NO_FSYNC").not_found("double-buffering");
    method("unbuffered")
        .variables(&[("version_compile_os", "Win64")])
        .not_found("double-buffering");
    let mariadb = Look::mariadb("11.4.4", GIB).variables(&[("innodb_data_file_buffering", "ON")]);
    assert!(mariadb.found("double-buffering").action.contains("innodb_data_file_buffering"));
}

#[test]
fn page_cleaner_messages_count_only_when_something_was_flushed() {
    let log = |flushed: u64| {
        let line = format!(
            "2024-05-01T10:00:00.000000Z 0 [Note] InnoDB: page_cleaner: 1000ms intended loop took \
             5123ms. The settings might not be optimal. (flushed={flushed} and evicted=0, during the time.)\n"
        );
        look().document("error.log", Content::ErrorLog(line))
    };
    assert_eq!(log(1900).severity("flush-behind"), Some(Warning));
    log(0).not_found("flush-behind");
}
