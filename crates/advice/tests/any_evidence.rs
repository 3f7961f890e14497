//! Whatever a server or a person's paste says, the advice answers: no number makes it panic, no
//! ratio leaves its range, and no size it proposes is above the memory it was told.

mod common;

use common::Look;
use proptest::prelude::*;

const STATUS: &[&str] = &[
    "Uptime",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_ahead_evicted",
    "Innodb_buffer_pool_wait_free",
    "Innodb_pages_read",
    "Innodb_os_log_written",
    "Innodb_checkpoint_age",
];

const VARIABLES: &[&str] = &[
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_size_max",
    "innodb_page_size",
    "innodb_lru_scan_depth",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_old_blocks_time",
    "innodb_buffer_pool_dump_pct",
    "innodb_max_dirty_pages_pct",
];

/// Mostly numbers of servers, and now and then one that no server has.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_u64, 0..1_000_000_u64, 0..(1_u64 << 45), Just(u64::MAX), any::<u64>()]
}

fn values(names: &'static [&'static str]) -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let one = (0..names.len(), number()).prop_map(|(at, value)| (names[at], value.to_string()));
    prop::collection::vec(one, 0..20)
}

fn borrowed<'p>(pairs: &'p [(&'static str, String)]) -> Vec<(&'p str, &'p str)> {
    pairs.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

proptest! {
    #[test]
    fn is_answered_without_panic_and_within_bounds(
        version in prop::sample::select(vec!["5.5.62", "5.7.44", "8.0.36", "9.7.4", "10.4.3-MariaDB", "10.11.14-MariaDB"]),
        size in number(),
        variables in values(VARIABLES),
        first in values(STATUS),
        last in values(STATUS),
        data in prop::option::of(number()),
        memory in prop::option::of(0..(1_u64 << 44)),
    ) {
        let mut look = Look::server(version, "", size)
            .variables(&borrowed(&variables))
            .status(&borrowed(&first))
            .then(&borrowed(&last));
        if let Some(data) = data {
            look = look.data(data);
        }
        if let Some(memory) = memory {
            look = look.host_memory(memory);
        }
        let report = look.report();
        prop_assert!(report.pool.hit_per_mille.is_none_or(|hits| hits <= 1000));
        prop_assert!(report.pool.read_cost_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
        if let Some(memory) = memory {
            prop_assert!(report.memory.pool_budget_bytes.is_none_or(|bytes| bytes <= memory));
        }
        prop_assert!(report.findings.iter().all(|finding| !finding.action.is_empty()));
    }
}
