//! What the pool prints of itself: to the byte, and read back by the parser that reads real servers.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

mod pool_common;

use innopool_buf::status::{COLUMNS, Snapshot, Status, StatusReader, Value};
use innopool_buf::{Hint, MemoryUse, PoolStats, Time};
use innopool_target::pool::{HitRate, PoolBlock};
use innopool_target::read::{innodb_status, pool_stats};
use innopool_target::table::Table;
use pool_common::{Rig, page};

/// A status in which every count is another multiple of `unit`, or 1 or 0 if that is `unit`.
fn status_of(instances: u64, unit: u64) -> Status {
    let stats: Vec<PoolStats> = (0..instances).map(|number| stats_of(number, unit)).collect();
    let mut memory = MemoryUse::default();
    memory.frames_bytes = unit;
    memory.page_table_bytes = unit;
    let (since, at) = (Time::from_millis(500), Time::from_millis(10_500));
    let mut status = StatusReader::new().look(Snapshot { since, at, instances: stats, memory });
    status.dictionary_bytes = 3 * unit;
    status
}

fn stats_of(instance: u64, unit: u64) -> PoolStats {
    let value = |number: u64| if unit > 1 { unit + 100 * instance + number } else { unit };
    let mut stats = PoolStats::default();
    for (number, field) in (1..).zip([
        &mut stats.size_pages,
        &mut stats.free_pages,
        &mut stats.data_pages,
        &mut stats.old_pages,
        &mut stats.dirty_pages,
        &mut stats.pending_reads,
        &mut stats.pending_lru_writes,
        &mut stats.pending_list_writes,
        &mut stats.made_young,
        &mut stats.not_made_young,
        &mut stats.pages_read,
        &mut stats.pages_created,
        &mut stats.pages_written,
        &mut stats.read_ahead,
        &mut stats.read_ahead_random,
        &mut stats.read_ahead_evicted,
        &mut stats.io_recent_pages,
        &mut stats.io_current_pages,
    ]) {
        *field = value(number);
    }
    // Three quarters of them hits, where there are any.
    stats.gets = stats.pages_read * 4;
    stats
}

fn hit_rate(unit: u64) -> HitRate {
    if unit == 0 { HitRate::NoGets } else { HitRate::PerMille(750) }
}

fn assert_same_counts(read: &PoolBlock, printed: &PoolStats) {
    for (name, read, printed) in [
        ("size", read.size_pages, printed.size_pages),
        ("free", read.free_pages, printed.free_pages),
        ("data", read.database_pages, printed.data_pages),
        ("old", read.old_pages, printed.old_pages),
        ("dirty", read.modified_pages, printed.dirty_pages),
        ("pending reads", read.pending_reads, printed.pending_reads),
        ("pending LRU", read.pending_lru_writes, printed.pending_lru_writes),
        ("pending list", read.pending_flush_list_writes, printed.pending_list_writes),
        ("made young", read.made_young, printed.made_young),
        ("not young", read.not_made_young, printed.not_made_young),
        ("read", read.pages_read, printed.pages_read),
        ("created", read.pages_created, printed.pages_created),
        ("written", read.pages_written, printed.pages_written),
    ] {
        assert_eq!(read, Some(printed), "{name}");
    }
}

fn assert_same_rates(read: &PoolBlock, printed: &PoolStats, tolerance: f64) {
    for (name, read, count) in [
        ("reads/s", read.reads_per_second, printed.pages_read),
        ("writes/s", read.writes_per_second, printed.pages_written),
        ("youngs/s", read.youngs_per_second, printed.made_young),
        ("read ahead/s", read.read_ahead_per_second, printed.read_ahead),
        ("evicted/s", read.evicted_without_access_per_second, printed.read_ahead_evicted),
    ] {
        let expected = count as f64 / 10.001;
        let read = read.unwrap();
        assert!((read - expected).abs() <= tolerance + expected * 1e-12, "{name}: {read}");
    }
}

#[test]
fn the_text_is_read_back_to_the_same_numbers() {
    for instances in [1, 8] {
        for unit in [0, 1, 10_000_000_000_000] {
            let status = status_of(instances, unit);
            let read = innodb_status::parse(&status.to_string(), "the pool").unwrap();
            assert_eq!(read.total_memory_bytes, Some(2 * unit));
            assert_eq!(read.dictionary_memory_bytes, Some(3 * unit));
            let blocks = if instances == 1 { 0 } else { 8 };
            assert_eq!(read.instances.len(), blocks, "one instance has no section of its own");
            let total = read.pool.as_ref().unwrap();
            let printed = std::iter::once(&status.total).chain(&status.instances);
            for (read, printed) in std::iter::once(total).chain(&read.instances).zip(printed) {
                assert_same_counts(read, &printed.stats);
                assert_same_rates(read, &printed.stats, 0.005);
                assert_eq!(read.hit_rate, hit_rate(unit));
                assert_eq!(read.lru_len, Some(printed.stats.data_pages));
                assert_eq!(read.unzip_lru_len, Some(0));
                assert_eq!(read.pending_single_page_writes, Some(0));
            }
            let sizes: u64 = status.instances.iter().map(|block| block.stats.size_pages).sum();
            assert_eq!(total.size_pages, Some(sizes));
        }
    }
}

#[test]
fn the_rows_are_read_back_to_the_same_numbers() {
    for instances in [1, 8] {
        for unit in [0, 1, 10_000_000_000_000] {
            let status = status_of(instances, unit);
            let mut table = Table::new(COLUMNS);
            for row in status.rows() {
                table.push(row.values().iter().map(|value| Some(value.to_string())));
            }
            let read = pool_stats::parse(&table, "the pool").unwrap();
            assert_eq!(read.instances.len() as u64, instances);
            for (read, printed) in read.instances.iter().zip(&status.instances) {
                assert_same_counts(read, &printed.stats);
                assert_same_rates(read, &printed.stats, 0.0);
                assert_eq!(read.hit_rate, hit_rate(unit));
                assert_eq!(read.page_gets, Some(printed.stats.gets));
                assert_eq!(read.read_ahead_pages, Some(printed.stats.read_ahead));
                assert_eq!(read.read_ahead_evicted_pages, Some(printed.stats.read_ahead_evicted));
            }
        }
    }
}

#[test]
fn every_column_has_the_type_and_place_of_the_servers() {
    let row = status_of(2, 1000).rows()[1];
    let values = row.values();
    let of = |name: &str| values[COLUMNS.iter().position(|column| *column == name).unwrap()];
    assert_eq!(values[0], Value::Count(1));
    assert_eq!(of("POOL_SIZE"), Value::Count(1101));
    assert_eq!(of("LRU_IO_TOTAL"), Value::Count(1117));
    assert_eq!(of("HIT_RATE"), Value::Count(750));
    assert_eq!(of("PAGES_READ_RATE"), Value::Rate(1111.0 / 10.001));
    let rates = values.iter().filter(|value| matches!(value, Value::Rate(_))).count();
    let named = COLUMNS.iter().filter(|name| name.ends_with("_RATE") && **name != "HIT_RATE");
    assert_eq!(rates, named.count());
}

const TEXT: &str = "\
----------------------
BUFFER POOL AND MEMORY
----------------------
Total large memory allocated 2000
Dictionary memory allocated 3000
Buffer pool size   1001
Free buffers       1002
Database pages     1003
Old database pages 1004
Modified db pages  1005
Pending reads      1006
Pending writes: LRU 1007, flush list 1008, single page 0
Pages made young 1009, not young 1010
100.89 youngs/s, 100.99 non-youngs/s
Pages read 1011, created 1012, written 1013
101.09 reads/s, 101.19 creates/s, 101.29 writes/s
Buffer pool hit rate 750 / 1000, young-making rate 249 / 1000 not 249 / 1000
Pages read ahead 101.39/s, evicted without access 101.59/s, Random read ahead 101.49/s
LRU len: 1003, unzip_LRU len: 0
I/O sum[1017]:cur[1018], unzip sum[0]:cur[0]
";

#[test]
fn the_text_is_the_servers_to_the_byte() {
    assert_eq!(status_of(1, 1000).to_string(), TEXT);
    let one = TEXT.lines().count();
    let eight = status_of(8, 1000).to_string();
    assert_eq!(eight.lines().count(), one + 3 + 8 * (one - 4));
    assert!(eight.contains("\n---BUFFER POOL 7\nBuffer pool size   1701\n"), "{eight}");
}

#[test]
fn a_pool_shows_the_writes_and_the_traffic_it_has() {
    let rig = Rig::new(64, 1000);
    for number in 0..10 {
        let mut guard = rig.pool.get_exclusive(page(number), Hint::Normal).unwrap();
        guard[0] = 1;
        let lsn = rig.log.advance();
        guard.mark_dirty(lsn, lsn).unwrap();
    }
    rig.store.hold();
    let held = std::thread::scope(|scope| {
        let flush = scope.spawn(|| rig.pool.flush_all().unwrap());
        while rig.store.held().len() < 10 && !flush.is_finished() {
            std::thread::yield_now();
        }
        let held = status_now(&rig);
        rig.store.resume();
        held
    });
    assert!(held.contains("Pending writes: LRU 0, flush list 10, single page 0"), "{held}");
    assert!(status_now(&rig).contains("Pending writes: LRU 0, flush list 0, single page 0"));
    assert!(status_now(&rig).contains("I/O sum[0]:cur[20]"), "ten reads and ten writes");
    rig.pool.clean().unwrap();
    assert!(status_now(&rig).contains("I/O sum[20]:cur[0]"));
}

fn status_now(rig: &Rig) -> String {
    StatusReader::new().look(rig.pool.snapshot()).to_string()
}
