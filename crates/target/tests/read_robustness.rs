//! What the readers must hold for any text: no panic, time in proportion to the text, nothing kept
//! that is not on the allow-list, and what is kept reads back as what was read.

use std::time::{Duration, Instant};

use innopool_target::allow;
use innopool_target::read::{error_log, innodb_status, meminfo, read_bytes, read_text};
use innopool_target::{Content, Document, Table};
use proptest::prelude::*;

const FIXTURES: &[&str] = &[
    include_str!("fixtures/status_mysql84_2instances.txt"),
    include_str!("fixtures/status_xtradb55.txt"),
    include_str!("fixtures/mixed.txt"),
];

/// No fixture's secret may come through; they stand in statements, accounts and unknown names.
const SECRET: &str = "planted-secret";

fn check_names(table: &Table, allowed: fn(&str) -> bool) {
    for row in &table.rows {
        let name = row.cells[0].as_deref().expect("a name");
        assert!(allowed(name), "{name}");
    }
}

fn check(document: &Document) {
    match &document.content {
        Content::Status(table) => check_names(table, allow::is_status),
        Content::Variables(table) => check_names(table, allow::is_variable),
        Content::Metrics(table) => check_names(table, |name| allow::METRICS.contains(&name)),
        Content::PoolStats(table) => {
            let cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
            for cell in cells {
                assert!(cell.parse::<f64>().is_ok(), "{cell}");
            }
        }
        Content::InnodbStatus(text) => {
            let status = innodb_status::parse(text, "x").expect("a kept text is one");
            assert_eq!(&innodb_status::keep_pool_sections(text), text);
            let again = read_text(text, "x");
            assert_eq!(again.len(), 1, "{text}");
            let Content::InnodbStatus(again) = &again[0].content else {
                panic!("{text}");
            };
            assert_eq!(innodb_status::parse(again, "x"), Some(status));
        }
        Content::ErrorLog(text) => assert_eq!(&error_log::keep_events(text), text),
        Content::Meminfo(text) => {
            assert!(meminfo::parse(text, "x").ram_bytes.is_some() || !text.contains("MemTotal: "));
        }
        _ => {}
    }
}

fn check_text(text: &str) {
    for document in read_text(text, "x") {
        check(&document);
    }
    let events = error_log::parse(text, "x");
    assert_eq!(error_log::parse(&error_log::keep_events(text), "x"), events);
    let kept = innodb_status::keep_pool_sections(text);
    assert_eq!(innodb_status::parse(&kept, "x"), innodb_status::parse(text, "x"));
}

#[test]
fn fixtures_hold() {
    for fixture in FIXTURES {
        assert!(fixture.contains(SECRET));
        check_text(fixture);
        for document in read_text(fixture, "x") {
            assert!(!format!("{document:?}").contains(SECRET), "{document:?}");
        }
    }
}

/// A fixture cut into lines, some of them dropped, doubled, moved or damaged.
fn damaged() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<u16>(), any::<u16>(), 0..6_u8, "\\PC{0,12}"), 0..12);
    (0..FIXTURES.len(), edits).prop_map(|(fixture, edits)| {
        let mut lines: Vec<String> = FIXTURES[fixture].lines().map(str::to_owned).collect();
        for (at, to, kind, junk) in edits {
            if lines.is_empty() {
                break;
            }
            let (at, to) = (at as usize % lines.len(), to as usize % lines.len());
            match kind {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, to),
                2 => lines[at].push_str(&junk),
                3 => {
                    let line = lines[at].clone();
                    lines.insert(to, line);
                }
                4 => {
                    let half = lines[at].chars().count() / 2;
                    lines[at] = lines[at].chars().take(half).collect();
                }
                _ => lines.insert(at, junk),
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for document in read_bytes(&bytes, "x") {
            check(&document);
        }
    }

    #[test]
    fn any_text(text in "(\\PC{0,20}[\n\t|'{}\\[\\]]){0,20}") {
        check_text(&text);
    }

    #[test]
    fn damaged_fixtures(text in damaged()) {
        check_text(&text);
        for document in read_text(&text, "x") {
            if matches!(document.content, Content::InnodbStatus(_) | Content::PoolStats(_)) {
                let shown = format!("{document:?}");
                prop_assert!(!shown.contains(SECRET), "{}", shown);
            }
        }
    }

    #[test]
    fn cut_fixtures(fixture in 0..FIXTURES.len(), at in any::<prop::sample::Index>()) {
        let bytes = FIXTURES[fixture].as_bytes();
        for document in read_bytes(&bytes[..at.index(bytes.len())], "x") {
            check(&document);
        }
    }
}

/// Not a benchmark: reading anything twice over, or once for every line, takes minutes here.
#[test]
fn huge_inputs_take_time_in_proportion() {
    const BYTES: usize = 1 << 18;
    let pieces = [
        " ",
        "[",
        "]",
        "{",
        "}",
        "(",
        "('",
        "('a'",
        "'",
        "\"",
        "|",
        "+",
        "-",
        "=",
        "*",
        ">",
        "\\",
        "\\n",
        "\t",
        ",",
        ":",
        "0",
        "1.",
        "#",
        "\u{3000}",
        "[Note]",
        "InnoDB: ",
        "buffer pool size 1 ",
        "BUFFER POOL AND MEMORY\\n",
        "a=1i,",
        "mysql_x{a=\"",
        "1:",
    ];
    for piece in pieces {
        for separator in ["", "\n", "\t\n"] {
            let unit = format!("{piece}{separator}");
            quick(&unit.repeat(BYTES / unit.len()), &unit);
        }
    }
    for unit in [
        "[mysqld]\nmysql>\n",
        "[mysqld]\n---\nLOG\n---\n",
        "innodb monitor output\nmysql>\n",
        "innodb monitor output\nend of innodb monitor output\n",
        "x innodb monitor output\n---\nBUFFER POOL AND MEMORY\n---\nBuffer pool size 1\nend of innodb monitor output\n",
        "MemTotal: 1\nx\n",
        "{\"mysql_server\": 1}\n",
        "a\tb\na\tb\tc\n",
        "Uptime\t1\n",
        "+--+\n| Variable_name | Value |\n",
        "*** 1. row ***\nPOOL_ID: 1\nPOOL_SIZE: 1\nFREE_BUFFERS: 1\n",
        "[Note] InnoDB: Completed to resize buffer pool from\n",
    ] {
        quick(&unit.repeat(BYTES / unit.len()), unit);
    }
    let tail = "\nend of innodb monitor output\nbuffer pool size 1\n";
    quick(&("innodb monitor output\nmysql>\n".repeat(BYTES / 29) + tail), tail);
}

fn quick(text: &str, what: &str) {
    let start = Instant::now();
    let documents = read_text(text, "x");
    let took = start.elapsed();
    drop(documents);
    assert!(took < Duration::from_secs(10), "{what:?} took {took:?}");
}
