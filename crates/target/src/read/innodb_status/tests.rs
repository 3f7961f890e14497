//! Status texts of many servers, their values, and what is kept of them.

use super::*;
use crate::pool::{HitRate, PoolBlock};

const MYSQL: &str = include_str!("../../../tests/fixtures/status_mysql84_2instances.txt");
const XTRADB: &str = include_str!("../../../tests/fixtures/status_xtradb55.txt");

/// Reads a text and checks what must hold for every text.
fn read(text: &str) -> InnodbStatus {
    let status = parse(text, "t").expect("a status text");
    let kept = keep_pool_sections(text);
    assert_eq!(parse(&kept, "t").as_ref(), Some(&status), "{kept}");
    assert_eq!(keep_pool_sections(&kept), kept);
    assert!(!kept.contains("planted-secret"), "{kept}");
    status
}

fn pool(text: &str) -> PoolBlock {
    read(text).pool.expect("a pool section")
}

#[test]
fn a_whole_text_with_two_instances() {
    let status = read(MYSQL);
    assert_eq!(status.averages_seconds, Some(12));
    assert_eq!(status.pool_latch_waiters, Some(2));
    assert_eq!(status.history_list_length, Some(321));
    assert_eq!(status.total_memory_bytes, Some(2_197_815_296));
    assert_eq!(status.dictionary_memory_bytes, Some(654_321));
    assert!(!status.truncated);
    assert!(!status.rates_unusable);
    assert_eq!(status.log.current_lsn, Some(9_000_000_200));
    assert_eq!(status.log.flushed_lsn, Some(9_000_000_150));
    assert_eq!(status.log.pages_flushed_lsn, Some(9_000_000_100));
    assert_eq!(status.log.checkpoint_age_bytes(), Some(150));
    let expected = PoolBlock {
        size_pages: Some(131_056),
        size_bytes: None,
        free_pages: Some(2050),
        database_pages: Some(128_000),
        old_pages: Some(47_200),
        modified_pages: Some(900),
        pending_reads: Some(6),
        pending_lru_writes: Some(1),
        pending_flush_list_writes: Some(2),
        pending_single_page_writes: Some(3),
        made_young: Some(5_000_000_001),
        not_made_young: Some(70),
        pages_read: Some(800),
        pages_created: Some(90),
        pages_written: Some(1000),
        page_gets: None,
        read_ahead_pages: None,
        read_ahead_evicted_pages: None,
        hit_rate: HitRate::PerMille(996),
        reads_per_second: Some(31.5),
        writes_per_second: Some(8.75),
        youngs_per_second: Some(4.25),
        read_ahead_per_second: Some(1.25),
        evicted_without_access_per_second: Some(0.75),
        lru_len: Some(128_000),
        unzip_lru_len: Some(5),
    };
    assert_eq!(status.pool, Some(expected));
    assert_eq!(status.instances.len(), 2);
    assert_eq!(status.instances[0].pages_read, Some(500));
    assert_eq!(status.instances[1].hit_rate, HitRate::NoGets);
}

#[test]
fn an_old_text_with_transactions_last() {
    let status = read(XTRADB);
    assert_eq!(status.log.current_lsn, Some((3 << 32) | 1000));
    assert_eq!(status.log.checkpoint_age_bytes(), Some(1001));
    assert_eq!(status.log.pages_flushed_lsn, None);
    assert!(status.rates_unusable, "averaged over one second");
    assert_eq!(status.total_memory_bytes, Some(700_000_000));
    assert_eq!(status.history_list_length, Some(11));
    let pool = status.pool.expect("a pool section");
    assert_eq!(pool.size_pages, Some(40_959));
    assert_eq!(pool.size_bytes, Some(671_072_256));
    assert_eq!(pool.old_pages, None);
    assert_eq!(pool.pending_flush_list_writes, Some(4));
    assert_eq!(pool.pending_single_page_writes, Some(0));
    assert_eq!(pool.hit_rate, HitRate::PerMille(950));
}

#[test]
fn rates_that_are_all_multiples_of_1000_are_unusable() {
    let text = XTRADB.replace("last 1 seconds", "last 9 seconds");
    assert!(read(&text).rates_unusable);
    let text = text.replace("31000.00 reads/s", "31000.50 reads/s");
    assert!(!read(&text).rates_unusable);
}

#[test]
fn the_batch_client_puts_the_text_on_one_line() {
    let body = MYSQL.split_once("Status: \n").expect("fixture").1;
    let escaped = body.replace('\\', "\\\\").replace('\n', "\\n");
    let text = format!("Type\tName\tStatus\nInnoDB\t\t\\n{escaped}\n");
    assert_eq!(read(&text), read(MYSQL));
}

#[test]
fn a_text_cut_before_the_pool_section_has_none() {
    let cut = MYSQL.split("INSERT BUFFER").next().expect("fixture");
    let status = read(cut);
    assert_eq!(status.pool, None);
    assert!(status.truncated);
    assert_eq!(status.history_list_length, Some(321));
}

#[test]
fn a_paste_without_the_heading_that_ends_transactions() {
    let text = "\
=====================================
2026-03-04 05:06:07 0x7f INNODB MONITOR OUTPUT
=====================================
------------
TRANSACTIONS
------------
Trx id counter 5003
(cut)
----------------------
BUFFER POOL AND MEMORY
----------------------
Buffer pool size   100
----------------------------
END OF INNODB MONITOR OUTPUT
============================
";
    assert_eq!(pool(text).size_pages, Some(100));
    // Without an end mark a quoted statement could be all there is.
    let cut = text.split("-----\nEND").next().expect("fixture");
    assert_eq!(read(cut).pool, None);
}

#[test]
fn annotations_markdown_and_wrapping_do_not_matter() {
    let text = r"
\-\-\-\-\-\-\-\-\-\-

**BUFFER POOL AND MEMORY**

\-\-\-\-\-\-\-\-\-\-

Total large memory allocated 2147483648  -> bytes, 128M by default

Buffer pool SIZE   100   # 16 KB each: 1600 KB
   select page size 16384
Free buffers       5 -> **17** would be good
Pending writes: LRU 0, FLUSH list 1
Buffer pool hit rate 991 / 1000, young-making rate 0 / 1000 not
0 / 1000
Pages read ahead 0.25/s, evicted without
access 0.50/s, Random read ahead 0.00/s
Pages READ 7, created 8,
written 9
";
    let status = read(text);
    assert!(status.truncated);
    assert_eq!(status.total_memory_bytes, Some(2 << 30));
    let pool = status.pool.expect("a pool section");
    assert_eq!(pool.size_pages, Some(100));
    assert_eq!(pool.free_pages, Some(5));
    assert_eq!(pool.pending_flush_list_writes, Some(1));
    assert_eq!(pool.pending_single_page_writes, None);
    assert_eq!(pool.hit_rate, HitRate::PerMille(991));
    assert_eq!(pool.read_ahead_per_second, Some(0.25));
    assert_eq!(pool.evicted_without_access_per_second, Some(0.5));
    assert_eq!(pool.pages_read, Some(7));
    assert_eq!(pool.pages_written, Some(9));
    assert_eq!(pool.database_pages, None);
}

#[test]
fn everything_on_one_line_with_remarks() {
    let text = "---------------------- BUFFER POOL AND MEMORY ---------------------- Total memory \
allocated 137363456; in additional pool allocated 0 Dictionary memory allocated 90 Buffer pool \
size 8191 - IF this is small, see hit rate Free buffers 70 - free buffers near 0 mean 1000 / 1000 \
Database pages 8000 Old database pages 2900 Modified db pages 12 Pending reads 0 Pending writes: \
LRU 0, flush list 0, single page 0 Pages made young 1, not young 0 0.50 youngs/s, 0.00 non-youngs/s \
Pages read 55, created 6, written 77 - all written 1.00 reads/s, 2.00 creates/s, 3.00 writes/s \
Buffer pool hit rate 998 / 1000 - 950 / 1000 is bad LRU len: 8000, unzip_LRU len: 0 -------------- \
ROW OPERATIONS -------------- 1 reads/s";
    let pool = pool(text);
    assert_eq!(pool.size_pages, Some(8191));
    assert_eq!(pool.free_pages, Some(70));
    assert_eq!(pool.database_pages, Some(8000));
    assert_eq!(pool.old_pages, Some(2900));
    assert_eq!(pool.pages_written, Some(77));
    assert_eq!(pool.reads_per_second, Some(1.0));
    assert_eq!(pool.hit_rate, HitRate::PerMille(998));
}

#[test]
fn a_few_lines_without_any_heading() {
    let pool = pool("here is it:\nBuffer pool size   640\nFree buffers 3\n");
    assert_eq!(pool.size_pages, Some(640));
    assert_eq!(pool.free_pages, Some(3));
}

#[test]
fn two_texts_in_one_file_are_two_regions() {
    let text = format!("{XTRADB}\nmysql> \n{MYSQL}");
    let lines = Lines::new(&text);
    let found = regions(&lines);
    assert_eq!(found.len(), 2);
    let second = keep_region(&lines, &found[1]);
    assert_eq!(parse(&second, "t"), Some(read(MYSQL)));
    // Two pasted pool sections, without banners.
    let part = "---\nLOG\n---\nLog sequence number 5\n-----\nBUFFER POOL AND MEMORY\n-----\nBuffer pool size 6\n";
    let text = part.repeat(2);
    assert_eq!(regions(&Lines::new(&text)).len(), 2);
}

#[test]
fn other_texts_are_not_status_texts() {
    for text in [
        "",
        "\n",
        "LOG\n",
        "innodb_buffer_pool_size = 8G",
        "END OF INNODB MONITOR OUTPUT",
        "Buffer pool size is what we talk about",
        "--------\nTALKS\n--------",
    ] {
        assert_eq!(parse(text, "t"), None, "{text}");
        assert_eq!(keep_pool_sections(text), "");
    }
}
