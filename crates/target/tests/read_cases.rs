//! The readers against outputs of servers in the wild, where the folder with them is at hand.

// A skipped test must say so.
#![allow(clippy::print_stderr)]

use std::path::PathBuf;

use innopool_target::innodb_status::InnodbStatus;
use innopool_target::log_events::LogEventKind as Event;
use innopool_target::pool::HitRate;
use innopool_target::read::{error_log, innodb_status, pool_stats, read_text};
use innopool_target::{Content, Document, Evidence, Pool, Source};
use serde_json::Value;

/// The folder, or `None` with a line that says so.
fn cases(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("INNOPOOL_CASES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")),
        PathBuf::from,
    );
    let path = root.join(folder);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: no {}", path.display());
        None
    }
}

/// Name and text of every file in a folder.
fn files(folder: &str) -> Vec<(String, String)> {
    let Some(path) = cases(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = std::fs::read_dir(path)
        .expect("a readable folder")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into();
            let bytes = std::fs::read(&path).expect("a readable file");
            (name, String::from_utf8_lossy(&bytes).into_owned())
        })
        .filter(|(name, _): &(String, _)| !name.ends_with(".md"))
        .collect();
    found.sort();
    found
}

fn actual(status: &InnodbStatus, key: &str) -> Option<u64> {
    let pool = status.pool.as_ref().expect("a pool section");
    match key {
        "size" => pool.size_pages,
        "bytes" => pool.size_bytes,
        "free" => pool.free_pages,
        "db" => pool.database_pages,
        "old" => pool.old_pages,
        "mod" => pool.modified_pages,
        "pr" => pool.pending_reads,
        "lru" => pool.pending_lru_writes,
        "fl" => pool.pending_flush_list_writes,
        "sp" => pool.pending_single_page_writes,
        "hit" => match pool.hit_rate {
            HitRate::PerMille(hits) => Some(hits),
            HitRate::NoGets | HitRate::NotPrinted => None,
        },
        "nogets" => Some(u64::from(pool.hit_rate == HitRate::NoGets)),
        "read" => pool.pages_read,
        "created" => pool.pages_created,
        "written" => pool.pages_written,
        "unzip" => pool.unzip_lru_len,
        "young" => pool.made_young,
        "ny" => pool.not_made_young,
        "inst" => Some(status.instances.len().max(1) as u64),
        other => panic!("unknown key {other}"),
    }
}

#[test]
fn every_status_text_gives_the_expected_values() {
    let Some(path) = cases("status_expected.json") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("readable");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let files = files("status");
    assert!(files.len() > 40);
    for (name, text) in files {
        let wanted = &expected[&name];
        let status = innodb_status::parse(&text, &name).unwrap_or_else(|| panic!("{name}"));
        let kept = innodb_status::keep_pool_sections(&text);
        assert_eq!(innodb_status::parse(&kept, &name).as_ref(), Some(&status), "{name}: {kept}");
        if wanted.is_null() {
            assert_eq!(status.pool, None, "{name}");
            assert!(status.truncated, "{name}");
            continue;
        }
        for (key, value) in wanted.as_object().expect("an object") {
            let value = match value {
                Value::Bool(flag) => Some(u64::from(*flag)),
                Value::Array(_) => continue,
                other => other.as_u64(),
            };
            assert_eq!(actual(&status, key), value, "{name}: {key}");
        }
        if status.instances.len() > 1 {
            let pool = status.pool.as_ref().expect("a pool section");
            let sum: Option<u64> = status.instances.iter().map(|i| i.database_pages).sum();
            assert_eq!(sum, pool.database_pages, "{name}");
        }
    }
}

/// The kinds of document found in a text, in order.
fn kinds(documents: &[Document]) -> Vec<&'static str> {
    documents
        .iter()
        .map(|document| match document.content {
            Content::Status(_) => "status",
            Content::Variables(_) => "variables",
            Content::PoolStats(_) => "pool stats",
            Content::InnodbStatus(_) => "innodb status",
            Content::OptionFile(_) => "option file",
            Content::MysqldAuto(_) => "auto",
            Content::ErrorLog(_) => "error log",
            _ => "other",
        })
        .collect()
}

#[test]
fn every_file_is_of_the_kind_it_is() {
    for folder in ["status", "cnf", "metrics", "errlog"] {
        for (name, text) in files(folder) {
            let found = kinds(&read_text(&text, &name));
            let wanted: &[&str] = match (folder, name.as_str()) {
                ("status", _) => &["innodb status"],
                ("cnf", name) if name.ends_with(".json") => &["auto"],
                ("cnf", _) => &["option file"],
                ("metrics", name) if name.starts_with('b') => &["pool stats"],
                ("metrics", name) if name.starts_with('v') => &["variables"],
                ("metrics", name) if name.starts_with("g04") => &["status"; 4],
                ("metrics", _) => &["status"],
                _ => &["error log"],
            };
            assert_eq!(found, wanted, "{name}");
        }
    }
}

/// The documents of a metrics file, put into evidence, by moment.
fn evidence(prefix: &str) -> Option<Vec<Evidence>> {
    let (name, text) = files("metrics").into_iter().find(|(name, _)| name.starts_with(prefix))?;
    let mut moments: Vec<Evidence> = Vec::new();
    for document in read_text(&text, &name) {
        moments.resize_with(moments.len().max(document.moment + 1), Evidence::default);
        let moment = &mut moments[document.moment];
        match document.content {
            Content::Status(table) => {
                for row in &table.rows {
                    let cell = |at: usize| row.cells[at].clone().unwrap_or_default();
                    let source = Source::new(name.as_str(), cell(0));
                    moment.status.insert(&cell(0), cell(1), source);
                }
            }
            Content::Variables(table) => {
                for row in &table.rows {
                    let cell = |at: usize| row.cells[at].clone().unwrap_or_default();
                    let source = Source::new(name.as_str(), cell(0));
                    moment.variables.insert(&cell(0), cell(1), source);
                }
            }
            Content::PoolStats(table) => moment.pool_stats = pool_stats::parse(&table, &name),
            other => panic!("{name}: {other:?}"),
        }
    }
    Some(moments)
}

#[test]
fn status_listings_give_their_values() {
    for (prefix, moment, status, value) in [
        ("g01", 0, "innodb_buffer_pool_pages_total", "15999992"),
        ("g01", 0, "innodb_buffer_pool_read_requests", "90370625297"),
        ("g01", 0, "uptime", "50683"),
        ("g02", 0, "innodb_buffer_pool_pages_dirty", "176796"),
        ("g02", 0, "uptime", "1365"),
        ("g04", 0, "uptime", "5550"),
        ("g04", 1, "uptime", "5553"),
        ("g04", 3, "innodb_buffer_pool_pages_total", "1024"),
        ("g05", 0, "innodb_buffer_pool_resize_status", ""),
        ("g07", 0, "innodb_buffer_pool_pages_data", "359"),
        (
            "g08",
            0,
            "innodb_buffer_pool_resize_status",
            "Completed resizing buffer pool at 200101  7:28:30.",
        ),
        ("g08", 0, "innodb_buffer_pool_dump_status", ""),
        (
            "g10",
            0,
            "innodb_buffer_pool_load_status",
            "Cannot open '/var/lib/mysql/data/innodb_ts/ib_buffer_pool' for reading: No such file or directory",
        ),
        ("g11", 0, "innodb_buffer_pool_reads", "513"),
        ("m01", 0, "innodb_buffer_pool_pages_flushed", "14547024"),
        ("m01", 0, "innodb_buffer_pool_pages_dirty", "132"),
        ("m02", 0, "innodb_buffer_pool_pages_dirty", "0"),
        ("m02", 0, "innodb_buffer_pool_read_requests", "736711"),
        ("m05", 0, "innodb_rows_read", "8"),
        ("m05", 0, "innodb_buffer_pool_pages_lru_flushed", "13"),
    ] {
        let Some(moments) = evidence(prefix) else {
            return;
        };
        let text = moments[moment].status.text(status);
        assert_eq!(text.map(|fact| fact.value.as_str()), Some(value), "{prefix} {status}");
    }
    for (prefix, pages, dirty) in
        [("m01", 1_048_568, Some(132)), ("m02", 8191, Some(0)), ("m04", 8192, None)]
    {
        let moments = evidence(prefix).expect("the folder was there");
        let pool = Pool::of(&moments[0]);
        assert_eq!(pool.pages_total.map(|fact| fact.value), Some(pages), "{prefix}");
        assert_eq!(pool.pages_dirty.map(|fact| fact.value), dirty, "{prefix}");
    }
}

#[test]
fn variables_and_pool_statistics_give_their_values() {
    for (prefix, name, value) in [
        ("v01", "innodb_buffer_pool_size", 16_777_216),
        ("v01", "innodb_redo_log_capacity", 104_857_600),
        ("v01", "sync_binlog", 1),
        ("v02", "innodb_buffer_pool_instances", 8),
        ("v02", "innodb_flush_log_at_trx_commit", 0),
        ("v02", "sync_binlog", 0),
    ] {
        let Some(moments) = evidence(prefix) else {
            return;
        };
        let count = moments[0].variables.count(name);
        assert_eq!(count.map(|fact| fact.value), Some(value), "{prefix} {name}");
    }
    for (prefix, size, free, hit_rate) in [
        ("b01", 8192, 1, HitRate::NoGets),
        ("b02", 8192, 1, HitRate::PerMille(1000)),
        ("b04", 512, 241, HitRate::NoGets),
    ] {
        let moments = evidence(prefix).expect("the folder was there");
        let stats = moments[0].pool_stats.as_ref().expect("statistics");
        let [block] = stats.instances.as_slice() else {
            panic!("{prefix}: one instance");
        };
        assert_eq!(block.size_pages, Some(size), "{prefix}");
        assert_eq!(block.free_pages, Some(free), "{prefix}");
        assert_eq!(block.hit_rate, hit_rate, "{prefix}");
    }
    let moments = evidence("b02").expect("the folder was there");
    let block = &moments[0].pool_stats.as_ref().expect("statistics").instances[0];
    assert_eq!(block.youngs_per_second, Some(357.626_021_998_705_94));
    assert_eq!(block.page_gets, Some(33_322_210));
}

#[test]
fn error_logs_tell_what_happened() {
    let file = |path: &str| path.to_owned();
    let initialised = |size: u64, instances, chunk_bytes| Event::PoolInitialised {
        size_bytes: Some(size),
        instances,
        chunk_bytes,
    };
    let resize = |from, to| Event::ResizeStarted { from_bytes: Some(from), to_bytes: Some(to) };
    let slow = |took_ms, flushed_pages, evicted_pages| Event::PageCleanerSlow {
        took_ms,
        flushed_pages,
        evicted_pages,
    };
    const M: u64 = 1 << 20;
    const G: u64 = 1 << 30;
    let lib = "/var/lib/mysql/ib_buffer_pool";
    let glued = "/var/lib/mysqlib_buffer_pool";
    let mac = "/usr/local/mysql-5.7.17-macos10.12-x86_64/data/ib_buffer_pool";
    let expected: Vec<(&str, Vec<Event>)> = vec![
        (
            "e01",
            vec![
                initialised(120 * G, Some(64), Some(128 * M)),
                slow(4255, 0, None),
                Event::LoadStarted { file: file(glued) },
                Event::LoadCompleted,
                Event::DumpStarted { file: file(glued) },
                Event::DumpCompleted,
                Event::ShutdownCompleted,
            ],
        ),
        (
            "e02",
            vec![
                initialised(6 * G, Some(16), Some(128 * M)),
                Event::LoadStarted { file: file(lib) },
                Event::LoadCompleted,
            ],
        ),
        ("e04", vec![]),
        (
            "e05",
            vec![Event::LoadFailed {
                message: file(
                    "Cannot open '/usr/local/mysql-8.0.11-macos10.13-x86_64/data/ib_buffer_pool' \
                     for reading: Permission denied",
                ),
            }],
        ),
        (
            "e07",
            vec![
                Event::ResizeRetry { withdrawn_pages: Some(65535), target_pages: Some(65536) },
                Event::ResizeCompleted,
            ],
        ),
        ("e08", vec![resize(128 * M, G), Event::ResizeCompleted]),
        ("e10", vec![resize(128 * M, 256 * M), Event::ResizeCompleted]),
        ("e11", vec![Event::LoadStarted { file: file(lib) }, Event::LoadCompleted]),
        (
            "e13",
            vec![
                Event::DumpStarted { file: file(mac) },
                Event::DumpCompleted,
                Event::ShutdownCompleted,
            ],
        ),
        ("e14", vec![Event::PoolAllocationFailed]),
        (
            "e16",
            vec![
                slow(4138, 2002, Some(0)),
                slow(7140, 2002, Some(0)),
                slow(7691, 102, Some(839)),
                slow(5820, 86, Some(747)),
            ],
        ),
        (
            "e17",
            vec![
                slow(5_966_815, 0, Some(0)),
                slow(1_949_304, 0, Some(0)),
                slow(61_473, 0, Some(0)),
            ],
        ),
        (
            "e19",
            vec![
                initialised(8 * G, None, Some(128 * M)),
                initialised(128 * M, None, Some(128 * M)),
                initialised(16 * M, Some(1), Some(16 * M)),
                initialised(256 * M, None, None),
            ],
        ),
        ("e20", vec![initialised(8 * G, None, Some(128 * M)), Event::CrashRecovery]),
        ("e22", vec![Event::LoadStarted { file: file(lib) }, Event::LoadCompleted]),
    ];
    for (name, text) in files("errlog") {
        let wanted = expected.iter().find(|(prefix, _)| name.starts_with(prefix));
        let (_, wanted) = wanted.unwrap_or_else(|| panic!("{name}: no expectation"));
        let events = error_log::parse(&text, &name);
        let kinds: Vec<_> = events.iter().map(|event| event.kind.clone()).collect();
        assert_eq!(&kinds, wanted, "{name}");
        let kept = error_log::keep_events(&text);
        assert_eq!(error_log::parse(&kept, &name), events, "{name}: {kept}");
        if name.starts_with("e10") {
            let time = events[0].logged_at.as_deref();
            assert_eq!(time, Some("2021-06-26T06:58:26.824890Z"));
        }
        if name.starts_with("e08") {
            assert_eq!(events[0].logged_at, None);
        }
    }
}
