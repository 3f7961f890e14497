//! `innopool size`: on real servers, on saved evidence, and where there is nothing to go by.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{account, for_each_shared, innopool, not_read};
use innopool_testkit::{Kind, Own};
use serde_json::Value;

/// What a person pastes, ten seconds apart: a pool of 128 MB that reads 9,420 times a second.
fn pasted() -> [String; 3] {
    let status = |uptime: u64, reads: u64, requests: u64| {
        format!(
            "Variable_name\tValue\n\
             Innodb_buffer_pool_pages_data\t8000\n\
             Innodb_buffer_pool_pages_free\t100\n\
             Innodb_buffer_pool_pages_total\t8192\n\
             Innodb_buffer_pool_read_requests\t{requests}\n\
             Innodb_buffer_pool_reads\t{reads}\n\
             Innodb_page_size\t16384\n\
             Uptime\t{uptime}\n"
        )
    };
    [
        "Variable_name\tValue\nversion\t8.0.36\ninnodb_buffer_pool_size\t134217728\n".to_owned(),
        status(864_000, 100_000_000, 200_000_000),
        status(864_010, 100_094_200, 200_188_400),
    ]
}

/// Runs on the pasted files, with more arguments.
fn on_pasted(more: &[&str]) -> common::Run {
    let directory = tempfile::tempdir().unwrap();
    let mut args = vec!["size".to_owned(), "--from".to_owned()];
    for (position, text) in pasted().iter().enumerate() {
        let path = directory.path().join(format!("{position}.txt"));
        fs::write(&path, text).unwrap();
        args.push(path.to_str().unwrap().to_owned());
    }
    args.extend(more.iter().map(|word| (*word).to_owned()));
    innopool(args)
}

#[test]
fn an_idle_server_is_left_alone_and_its_memory_is_known() {
    for_each_shared(|server| {
        let run = innopool(["size", &server.url(), "--interval", "1", "--format", "json"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        let answer = run.json();
        assert_eq!(answer["schema"], "innopool.size/1");
        let found = &answer["recommendation"];
        assert_eq!(found["keep_current"], true, "{answer:#}");
        assert_eq!(found["pool_size_bytes"], 134_217_728);
        assert_eq!(found["evidence_level"], "counters");
        assert_eq!(answer["action"], "");
        assert_eq!(answer["verified"], Value::Null);
        let budget = &answer["memory_budget"];
        let ceiling = budget["ceiling_bytes"].as_u64().unwrap();
        // The first term is the limit, and everything after it is taken off.
        let terms: Vec<u64> = budget["terms"]
            .as_array()
            .unwrap()
            .iter()
            .map(|term| term["bytes"].as_u64().unwrap())
            .collect();
        let rest: u64 = terms[1..].iter().sum();
        assert_eq!(terms[0] - rest, ceiling, "{budget:#}");
    });
}

#[test]
fn the_page_of_a_real_server_begins_with_the_answer() {
    for_each_shared(|server| {
        let run = innopool(["size", &server.url(), "--interval", "1", "--explain"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let third = run.stdout.lines().nth(2).unwrap();
        assert!(third.starts_with("  Leave it at 128 MB"), "{}", run.stdout);
        assert!(run.stdout.contains("How the memory budget adds up"), "{}", run.stdout);
        assert!(run.stdout.contains("innopool capture"), "{}", run.stdout);
    });
}

/// A pool above its budget gets a smaller size, and once that was typed the server has exactly it.
fn a_size_that_is_typed_is_the_size_there_is(kind: Kind) {
    let Some(server) = Own::new(kind).option("innodb_buffer_pool_size=4G").start() else {
        return;
    };
    let size = |more: &[&str]| {
        let url = server.url();
        let args = ["size", url.as_str(), "--interval", "1", "--format", "json"];
        let run = innopool(args.iter().chain(more));
        assert_eq!(run.code, Some(0), "{run:?}");
        run.json()
    };
    // Whatever else runs on this machine leaves about 2 GB in the one, and plenty in the other.
    let terms = size(&["--host-memory", "1T"])["memory_budget"]["terms"].clone();
    let others = terms.as_array().unwrap().iter().find(|term| term["name"] == "other_processes");
    let others = others.and_then(|term| term["bytes"].as_u64()).unwrap_or(0);
    let (little, plenty) = (others + (5 << 29), others + (12 << 30));
    let answer = size(&["--host-memory", &little.to_string()]);
    let found = &answer["recommendation"];
    let bytes = found["pool_size_bytes"].as_u64().unwrap();
    let ceiling = answer["memory_budget"]["ceiling_bytes"].as_u64().unwrap();
    assert!(bytes <= ceiling && bytes < 5 << 29, "{answer:#}");
    assert_eq!(found["keep_current"], false);
    let action = answer["action"].as_str().unwrap();
    let statement = action.lines().find(|line| line.starts_with("SET ")).unwrap();
    server.sql(statement.trim_end_matches(';'));
    let begin = Instant::now();
    let pages = bytes / 16_384;
    loop {
        let total: u64 = server.status("Innodb_buffer_pool_pages_total").parse().unwrap();
        // MariaDB takes some frames for its own descriptors.
        if total <= pages && total * 100 >= pages * 93 {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{total} of {pages} pages");
        std::thread::sleep(Duration::from_millis(100));
    }
    let again = size(&["--host-memory", &plenty.to_string()]);
    assert_eq!(again["pool"]["size_bytes"], bytes, "{again:#}");
    assert_eq!(again["recommendation"]["keep_current"], true, "{again:#}");
}

#[test]
fn a_size_typed_on_mysql_is_the_size_there_is() {
    a_size_that_is_typed_is_the_size_there_is(Kind::Mysql);
}

#[test]
fn a_size_typed_on_mariadb_is_the_size_there_is() {
    a_size_that_is_typed_is_the_size_there_is(Kind::Mariadb);
}

#[test]
fn the_privileges_for_size_are_those_printed() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind).option("performance_schema=ON").start() else {
            continue;
        };
        let printed =
            innopool(["grants", "size", "--flavor", kind.name(), "--account", "'sizer'@'%'"]);
        assert_eq!(printed.code, Some(0), "{printed:?}");
        let grants: Vec<&str> = printed
            .stdout
            .lines()
            .filter(|line| line.starts_with("GRANT "))
            .map(|line| line.trim_end_matches(';'))
            .collect();
        let url = account(&server, "sizer", "tulip", &grants);
        let run = innopool(["size", &url, "--interval", "1", "--format", "json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let missing = not_read(&run.json());
        for word in ["GRANT", "privilege", "denie", "error"] {
            assert!(!missing.contains(word), "{kind}: {missing}");
        }
    }
}

#[test]
fn pasted_output_and_the_machines_memory_give_24_gb() {
    let run = on_pasted(&["--host-memory", "32G", "--format", "json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(run.json()["recommendation"]["pool_size_bytes"], 25_769_803_776_u64);
}

#[test]
fn the_answer_is_also_written_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("size.JSON");
    let run = on_pasted(&["--host-memory", "32G", "--report", json.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("24 GB instead of 128 MB"), "{}", run.stdout);
    let saved: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(saved["schema"], "innopool.size/1");
    let markdown = directory.path().join("size.md");
    let run = on_pasted(&["--host-memory", "32G", "--report", markdown.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(fs::read_to_string(&markdown).unwrap().starts_with("# Size of the buffer pool of "));
    let nowhere = directory.path().join("no-such-directory/size.md");
    let run = on_pasted(&["--report", nowhere.to_str().unwrap()]);
    run.assert_fails(2, &["cannot write the report to", "size.md"]);
}

#[test]
fn evidence_that_allows_no_size_is_2_and_says_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("variables.txt");
    fs::write(&path, &pasted()[0]).unwrap();
    let run = innopool(["size", "--from", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stdout.contains("No size can be recommended"), "{}", run.stdout);
    assert!(run.stdout.contains("--host-memory"), "{}", run.stdout);
}

#[test]
fn nobody_there_is_2_and_wrong_usage_64() {
    innopool(["size", "mysql://root@127.0.0.1:1"]).assert_fails(2, &["127.0.0.1"]);
    assert_eq!(innopool(["size", "--sweep"]).code, Some(64));
    assert_eq!(innopool(["size", "--interval", "-1"]).code, Some(64));
}
