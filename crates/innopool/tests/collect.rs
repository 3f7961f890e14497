//! `innopool collect`: what it saves reads back, and holds nothing that is nobody's business.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

mod common;

use std::fs;
use std::io::Write;
use std::time::Duration;

use common::{files_below, for_each_shared, innopool};
use innopool_testkit::{Kind, Own, Server};
use mysql::prelude::Queryable;

#[test]
fn a_collection_reads_back_to_the_same_answer_each_time() {
    for_each_shared(|server| {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("evidence");
        let dir = dir.to_str().unwrap();
        let run = innopool(["collect", &server.url(), "--interval", "1", "-o", dir]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        assert!(run.stdout.contains(&format!("innopool check --from {dir}")), "{run:?}");

        let first = innopool(["check", "--format", "json", "--from", dir]);
        assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""), "{first:?}");
        let report = first.json();
        assert_eq!(report["name"], format!("127.0.0.1:{}", server.port()));
        assert_eq!(report["server"]["flavor"], server.kind().name());
        assert!(report["interval_seconds"].as_f64().is_some_and(|seconds| seconds > 0.9));
        assert!(report["memory"]["limit_bytes"].as_u64().is_some(), "{report:#}");
        let second = innopool(["check", "--format", "json", "--from", dir]);
        assert_eq!(first.stdout, second.stdout);
        // Another place, such as another machine, changes nothing.
        let moved = directory.path().join("moved");
        fs::rename(dir, &moved).unwrap();
        let third = innopool(["check", "--format", "json", "--from", moved.to_str().unwrap()]);
        assert_eq!(first.stdout, third.stdout);
    });
}

#[test]
fn what_is_there_is_not_overwritten_unless_it_is_evidence() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().to_str().unwrap();
    let args = ["collect", &server.url(), "--interval", "0", "-o", dir];
    assert_eq!(innopool(args).code, Some(0));
    assert_eq!(innopool(args).code, Some(0), "evidence is replaced by newer evidence");
    fs::write(directory.path().join("thesis.txt"), "years of work").unwrap();
    let run = innopool(args);
    run.assert_fails(64, &["thesis.txt"]);
    assert_eq!(fs::read_to_string(directory.path().join("thesis.txt")).unwrap(), "years of work");
}

#[test]
fn a_place_that_cannot_be_is_refused_before_the_look() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("a/b");
    // Nobody listens there, which is never found out.
    let run = innopool(["collect", "mysql://127.0.0.1:1", "-o", dir.to_str().unwrap()]);
    run.assert_fails(64, &["a does not exist: make it first"]);
}

#[test]
fn saved_evidence_is_not_collected_again() {
    let help = innopool(["collect", "--help"]).stdout;
    assert!(!help.contains("--from <"), "{help}");
    innopool(["collect", "--from", "x", "-o", "y"]).assert_fails(64, &["innopool check --from"]);
}

/// Part of everything that must not get out.
const PLANT: &str = "zq7plant";

/// A server that has the plant wherever one can be put, the account included.
struct Planted {
    server: Server,
    url: String,
    /// Kept open: what it does is shown in the status text.
    _sessions: Vec<mysql::Conn>,
}

fn planted(kind: Kind) -> Option<Planted> {
    let mut builder = Own::new(kind)
        .option("performance_schema=ON")
        .option(&format!("report_host=host-{PLANT}"))
        .option(&format!("report_user=reporter_{PLANT}"))
        .option(&format!("report_password=password_{PLANT}"))
        .option("innodb_print_all_deadlocks=ON")
        .option("general_log=OFF");
    if kind == Kind::Mysql {
        builder = builder.option("log_error_verbosity=3");
    } else {
        builder = builder.option("log_warnings=9");
    }
    let mut server = builder.start()?;
    // The option file as an administrator keeps it, with a password in it.
    let mut file = fs::File::options().append(true).open(server.option_file()).unwrap();
    writeln!(file, "# {PLANT} in a comment").unwrap();
    writeln!(file, "[client]\nuser=user_{PLANT}\npassword=\"password_{PLANT}\"").unwrap();
    writeln!(file, "[mysqldump]\npassword = {PLANT}").unwrap();
    writeln!(file, "[mysqld]\ninit_connect=\"SELECT '{PLANT}'\"").unwrap();
    drop(file);
    let user = format!("user_{PLANT}");
    server.sql(&format!("CREATE USER '{user}'@'%' IDENTIFIED BY 'password_{PLANT}'"));
    server.sql(&format!("GRANT ALL ON *.* TO '{user}'@'%'"));
    let url = format!("mysql://{user}:password_{PLANT}@127.0.0.1:{}", server.port());
    if kind == Kind::Mysql {
        server.sql(&format!("SET PERSIST init_connect = 'SELECT ''{PLANT}'''"));
        server.sql(&format!("SET PERSIST_ONLY report_user = 'persisted_{PLANT}'"));
    }
    // A login that fails goes to the error log with its account.
    let wrong = format!("mysql://intruder_{PLANT}:x@127.0.0.1:{}", server.port());
    assert!(mysql::Conn::new(wrong.as_str()).is_err());
    fs::OpenOptions::new()
        .append(true)
        .open(server.error_log())
        .unwrap()
        .write_all(format!("{PLANT} in the error log\n").as_bytes())
        .unwrap();
    let sessions = busy_sessions(&mut server, &url);
    Some(Planted { server, url, _sessions: sessions })
}

/// A deadlock behind us, a long transaction, and a statement that runs as we look.
fn busy_sessions(server: &mut Server, url: &str) -> Vec<mysql::Conn> {
    server.sql("CREATE DATABASE shop");
    server.sql("CREATE TABLE shop.t (i INT PRIMARY KEY, s VARCHAR(100))");
    server.sql(&format!("INSERT INTO shop.t VALUES (1, 'one {PLANT}'), (2, 'two {PLANT}')"));
    let connect = || mysql::Conn::new(url).unwrap();
    let statement =
        |i: u8| format!("UPDATE shop.t SET s = CONCAT(s, 'deadlock {PLANT}') WHERE i = {i}");
    let (mut one, mut two) = (connect(), connect());
    one.query_drop("BEGIN").unwrap();
    two.query_drop("BEGIN").unwrap();
    one.query_drop(statement(1)).unwrap();
    two.query_drop(statement(2)).unwrap();
    let waiting = std::thread::spawn(move || {
        let _ = one.query_drop(statement(2));
        one
    });
    std::thread::sleep(Duration::from_millis(500));
    let _ = two.query_drop(statement(1));
    let one = waiting.join().unwrap();
    let mut sleeping = connect();
    sleeping.query_drop("BEGIN").unwrap();
    sleeping.query_drop(format!("INSERT INTO shop.t VALUES (3, 'open {PLANT}')")).unwrap();
    let mut running = connect();
    std::thread::spawn(move || {
        let _ = running.query_drop(format!(
            "UPDATE shop.t SET s = 'running {PLANT}' WHERE SLEEP(60) = 0 AND i = 1"
        ));
    });
    // Distinct texts for the digests.
    let mut digests = connect();
    for column in 0..5 {
        digests
            .query_drop(format!("SELECT s AS digest_{PLANT}_{column} FROM shop.t WHERE i = 1"))
            .unwrap();
    }
    vec![one, two, sleeping, digests]
}

/// The status text, as soon as it shows the deadlock and the running statement.
fn status_text_with_all_plants(server: &Server) -> String {
    let wanted = [
        "LATEST DETECTED DEADLOCK".to_owned(),
        format!("deadlock {PLANT}"),
        format!("running {PLANT}"),
    ];
    for _ in 0..100 {
        let status = server.sql("SHOW ENGINE INNODB STATUS")[0].join_text();
        if wanted.iter().all(|words| status.contains(words)) {
            return status;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{wanted:?} did not all appear in the status text");
}

#[test]
fn no_secret_statement_account_or_host_gets_out() {
    for kind in Kind::ALL {
        let Some(planted) = planted(kind) else {
            continue;
        };
        // The plants are where they are meant to be.
        let status = status_text_with_all_plants(&planted.server);
        let digests = planted.server.sql(
            "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest \
             WHERE DIGEST_TEXT LIKE '%zq7plant%'",
        )[0]
        .join_text();
        assert_ne!(digests, "0", "{kind}");
        assert!(planted.server.variable("report_host").contains(PLANT));

        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("evidence");
        let dir_text = dir.to_str().unwrap();
        let collect = innopool(["collect", &planted.url, "--interval", "2", "-o", dir_text]);
        assert_eq!(collect.code, Some(0), "{collect:?}");
        let mut said = vec![collect.stdout, collect.stderr];
        // As a person pastes it, nothing left out.
        let pasted = directory.path().join("pasted");
        fs::create_dir(&pasted).unwrap();
        fs::write(pasted.join("status.txt"), &status).unwrap();
        fs::copy(planted.server.option_file(), pasted.join("my.cnf")).unwrap();
        fs::copy(planted.server.error_log(), pasted.join("error.log")).unwrap();
        let pasted = pasted.to_str().unwrap();
        for format in ["text", "json", "markdown"] {
            for target in
                [&["--from", dir_text][..], &["--from", pasted], &[&planted.url, "--interval", "1"]]
            {
                let args = ["check", "-v", "--format", format];
                let run = innopool(args.iter().chain(target));
                assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
                said.extend([run.stdout, run.stderr]);
            }
        }
        for text in &said {
            assert!(!text.contains(PLANT), "{kind}: {text}");
        }
        let files = files_below(&dir);
        for kind in ["option_file", "innodb_status", "digests", "persisted"] {
            let saved = files.iter().any(|file| file.to_string_lossy().contains(kind));
            // MariaDB persists nothing.
            let expected = kind != "persisted" || planted.server.kind() == Kind::Mysql;
            assert_eq!(saved, expected, "{kind}: {files:?}");
        }
        for file in files {
            assert!(!file.to_string_lossy().contains(PLANT), "{}", file.display());
            let bytes = fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(PLANT), "{kind}: {}: {text}", file.display());
        }
    }
}

trait JoinText {
    fn join_text(&self) -> String;
}

impl JoinText for Vec<Option<String>> {
    fn join_text(&self) -> String {
        self.iter().flatten().cloned().collect::<Vec<_>>().join("\n")
    }
}
