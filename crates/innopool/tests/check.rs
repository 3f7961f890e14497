//! `innopool check`: on real servers, on saved evidence, and on everything that is no server.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{
    account, codes, command, finish, for_each_shared, innopool, innopool_reading, not_read,
    on_terminal, run,
};
use innopool_testkit::fake::Fake;
use innopool_testkit::{Kind, Own, Recorder};

/// What a person pastes: the status of a server with a pool far too small.
const PASTED_STATUS: &str = "\
Variable_name\tValue
Innodb_buffer_pool_pages_data\t7600
Innodb_buffer_pool_pages_dirty\t500
Innodb_buffer_pool_pages_free\t0
Innodb_buffer_pool_pages_total\t8191
Innodb_buffer_pool_read_requests\t900000000
Innodb_buffer_pool_reads\t350000000
Innodb_page_size\t16384
Uptime\t86400
";

#[test]
fn a_server_without_load_is_healthy() {
    for_each_shared(|server| {
        let run = innopool(["check", &server.url(), "--interval", "1", "--format", "json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.stderr, "");
        let report = run.json();
        assert_eq!(report["schema"], "innopool.check/1");
        assert_eq!(report["server"]["flavor"], server.kind().name());
        let seconds = report["interval_seconds"].as_f64().unwrap();
        assert!((0.9..5.0).contains(&seconds), "{seconds}");
        assert_eq!(report["pool"]["size_bytes"], 134_217_728);
        // The server runs here, so its machine is known.
        let limit = report["memory"]["limit_bytes"].as_u64();
        assert!(limit.is_some_and(|bytes| bytes > 1 << 28), "{}", report["memory"]);
    });
}

#[test]
fn the_page_says_which_server_and_how_it_was_looked_at() {
    for_each_shared(|server| {
        let socket = server.socket();
        let socket = socket.to_str().unwrap();
        let run = innopool(["check", "--socket", socket, "--user", "root", "--interval", "1"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let first = run.stdout.lines().next().unwrap();
        assert!(first.starts_with("socket "), "{first}");
        let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("watched for 1"), "{page}");
        assert!(page.contains("Looked at "), "{page}");
        // On a pipe there is no progress and no colour.
        assert_eq!(run.stderr, "");
        assert!(!run.stdout.contains('\x1b'), "{page}");
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80 || line.contains(';'), "{line}");
        }
    });
}

#[test]
fn fail_on_decides_the_exit_code() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    // The pool has its default size, which is a notice on an idle server.
    for (fail_on, code) in [("critical", 0), ("warning", 0), ("notice", 1), ("never", 0)] {
        let url = server.url();
        let run = innopool(["check", &url, "--interval", "0", "--fail-on", fail_on]);
        assert_eq!(run.code, Some(code), "{fail_on}: {run:?}");
    }
    let args = ["check", "--from", "-", "--host-memory", "32G", "--fail-on"];
    for (fail_on, code) in [("warning", 1), ("never", 0)] {
        let run = innopool_reading(args.iter().copied().chain([fail_on]), PASTED_STATUS);
        assert_eq!(run.code, Some(code), "{fail_on}: {run:?}");
    }
}

#[test]
fn an_interval_of_zero_says_that_it_hides_the_present() {
    for_each_shared(|server| {
        let run = innopool(["check", &server.url(), "--interval", "0"]);
        assert!(run.stdout.contains("counted since it started"), "{run:?}");
        assert!(run.stdout.contains("hide the present"), "{run:?}");
        let run = innopool(["check", &server.url(), "--interval", "0", "--format", "json"]);
        assert_eq!(run.json()["interval_seconds"], serde_json::Value::Null);
        assert_eq!(run.json()["basis"], "since_start");
    });
}

#[test]
fn verbose_and_markdown_show_the_sources() {
    let Some(server) = innopool_testkit::shared(Kind::Mysql) else {
        return;
    };
    let run = innopool(["check", &server.url(), "--interval", "0", "-v"]);
    for words in ["How the memory budget adds up", "Fine", "SHOW GLOBAL"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    let run = innopool(["check", &server.url(), "--interval", "0", "--format", "markdown"]);
    assert!(run.stdout.starts_with("# Buffer pool of 127.0.0.1:"), "{}", run.stdout);
}

#[test]
fn nobody_there() {
    let port = innopool_testkit::own::free_port().unwrap();
    let run = innopool(["check", &format!("mysql://root@127.0.0.1:{port}")]);
    run.assert_fails(2, &[&format!("cannot reach 127.0.0.1:{port}: "), "Is the server running"]);
    assert!(!run.stderr.contains("os error"), "{run:?}");
    assert!(run.took < Duration::from_secs(5), "{run:?}");

    let run = innopool(["check", "--socket", "/nowhere/server.sock"]);
    run.assert_fails(2, &["/nowhere/server.sock", "its socket"]);
    let run = innopool(["check", "mysql://nobody.invalid"]);
    run.assert_fails(2, &["nobody.invalid"]);
}

#[test]
fn somebody_else_there() {
    for fake in [Fake::http().unwrap(), Fake::ssh().unwrap()] {
        let run = innopool(["check", &fake.url(), "--connect-timeout", "2"]);
        run.assert_fails(2, &["is not a MySQL or MariaDB server"]);
    }
    let fake = Fake::hanging_up().unwrap();
    innopool(["check", &fake.url()]).assert_fails(2, &[&fake.port().to_string()]);
    let fake = Fake::refusing(1040, "Too many connections").unwrap();
    innopool(["check", &fake.url()]).assert_fails(2, &["no connection left"]);
}

#[test]
fn a_server_that_stalls_in_the_handshake_is_given_up_in_time() {
    let fake = Fake::silent().unwrap();
    let run = innopool(["check", &fake.url(), "--connect-timeout", "1"]);
    run.assert_fails(2, &["gave up", "after 1 s"]);
    assert!(run.took < Duration::from_secs(4), "{run:?}");
}

#[test]
fn a_server_that_stalls_in_a_statement_is_given_up_in_time() {
    for_each_shared(|server| {
        let recorder = Recorder::start(server).unwrap();
        recorder.freeze_after(1);
        let limits = ["--statement-timeout", "1", "--connect-timeout", "1"];
        let run = innopool(["check", &recorder.url()].into_iter().chain(limits));
        run.assert_fails(2, &["no answer within 1 s"]);
        assert!(run.took < Duration::from_secs(5), "{run:?}");
    });
}

#[test]
fn a_server_that_stalls_later_is_judged_by_what_it_said() {
    for_each_shared(|server| {
        let recorder = Recorder::start(server).unwrap();
        recorder.freeze_on("INNODB_METRICS");
        let limits = ["--statement-timeout", "1", "--connect-timeout", "1", "--interval", "1"];
        let json = ["--format", "json", "--fail-on", "never"];
        let run = innopool(["check", &recorder.url()].into_iter().chain(limits).chain(json));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(not_read(&run.json()).contains("no answer within 1 s"), "{run:?}");
    });
}

#[test]
fn a_wrong_password_is_one_line_and_stays_secret() {
    for_each_shared(|server| {
        let url = format!("mysql://root:tulip@127.0.0.1:{}", server.port());
        let run = innopool(["check", &url]);
        run.assert_fails(2, &["refuses this user name and password"]);
        assert!(!run.stderr.contains("tulip"), "{run:?}");
        let url = format!("mysql://nobody@127.0.0.1:{}", server.port());
        innopool(["check", &url]).assert_fails(2, &["--password asks for it"]);
    });
}

#[test]
fn an_account_without_privileges_gets_an_answer_that_says_what_is_missing() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind).option("performance_schema=ON").start() else {
            continue;
        };
        let url = account(&server, "usage_only", "tulip", &[]);
        let run = innopool(["check", &url, "--interval", "1", "--format", "json"]);
        assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
        let report = run.json();
        assert_eq!(report["pool"]["size_bytes"], 134_217_728);
        let missing = not_read(&report);
        assert!(missing.contains("GRANT PROCESS ON *.*"), "{missing}");
        assert!(missing.contains("GRANT SELECT ON performance_schema."), "{missing}");
        assert!(!run.stdout.contains("usage_only") && !run.stdout.contains("tulip"), "{run:?}");
    }
}

#[test]
fn only_reading_statements_are_sent_and_not_many() {
    for_each_shared(|server| {
        let recorder = Recorder::start(server).unwrap();
        let run = innopool(["check", &recorder.url(), "--interval", "2"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let queries = recorder.queries();
        for query in &queries {
            let upper = query.trim().to_uppercase();
            let reads = ["SELECT ", "SHOW ", "SET STATEMENT MAX_STATEMENT_TIME"];
            assert!(reads.iter().any(|start| upper.starts_with(start)), "{query}");
            for part in ["SET GLOBAL", "FLUSH ", "INTO OUTFILE", "FOR UPDATE", "SLEEP", ";"] {
                assert!(!upper.contains(part), "{query}");
            }
            if let Some((_, statement)) =
                upper.split_once(" FOR ").filter(|_| upper.starts_with("SET"))
            {
                assert!(
                    statement.starts_with("SELECT ") || statement.starts_with("SHOW "),
                    "{query}"
                );
            }
        }
        // Two moments, a gauge each second between them.
        assert!((5..=40).contains(&queries.len()), "{}: {queries:#?}", queries.len());
    });
}

#[test]
fn the_password_comes_from_an_option_file_or_the_environment() {
    let Some(server) = Own::new(Kind::Mariadb).start() else {
        return;
    };
    account(&server, "ada", "tulip in bloom", &[]);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("client.cnf");
    let text = format!(
        "[client]\nhost=127.0.0.1\nport={}\nuser=ada\n[client_b]\npassword=\"tulip in bloom\"\n",
        server.port()
    );
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let with_file = ["check", "--interval", "0", "--defaults-file", file];
    innopool(with_file).assert_fails(2, &["refuses this user name and password"]);
    let run = innopool(with_file.iter().chain(&["--defaults-group-suffix", "_b"]));
    assert_eq!(run.code, Some(0), "{run:?}");

    let mut in_environment = command(with_file);
    in_environment.env("MYSQL_PWD", "tulip in bloom");
    let run = common::run(in_environment);
    assert_eq!(run.code, Some(0), "{run:?}");

    // In the home directory, as the mysql client finds it without being told.
    let home = directory.path().join(".my.cnf");
    fs::copy(file, &home).unwrap();
    let mut at_home = command(["check", "--interval", "0", "--defaults-group-suffix=_b"]);
    at_home.env("HOME", directory.path());
    let run = common::run(at_home);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn a_password_is_asked_for_without_showing_it() {
    let Some(server) = Own::new(Kind::Mariadb).start() else {
        return;
    };
    account(&server, "ada", "tulip", &[]);
    let url = format!("mysql://ada@127.0.0.1:{}", server.port());
    let args = ["check", &url, "--password", "--interval", "0"];
    let Some(run) = on_terminal(&args, &[], "tulip\n") else {
        return;
    };
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("Password for 127.0.0.1:"), "{run:?}");
    assert!(!run.stdout.contains("tulip"), "{run:?}");
    // Without a terminal there is nobody to ask. (A session of its own has none.)
    let mut command = std::process::Command::new("setsid");
    command.arg("--wait").arg(env!("CARGO_BIN_EXE_innopool")).args(args);
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("MYSQL_PWD"), "{stderr}");
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("status.txt");
    fs::write(&file, PASTED_STATUS).unwrap();
    let args = ["check", "--host-memory", "32G", "--from", file.to_str().unwrap()];
    for (environment, coloured) in
        [(&[][..], true), (&[("NO_COLOR", "1")], false), (&[("TERM", "dumb")], false)]
    {
        let Some(run) = on_terminal(&args, environment, "") else {
            return;
        };
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stdout.contains("WARNING"), "{run:?}");
        assert_eq!(run.stdout.contains("\x1b["), coloured, "{environment:?}: {run:?}");
    }
}

#[test]
fn progress_is_one_line_that_is_gone_at_the_end() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let Some(run) = on_terminal(&["check", &server.url(), "--interval", "3"], &[], "") else {
        return;
    };
    let before_page = run.stdout.split("MariaDB").next().unwrap();
    assert!(before_page.contains("watching 127.0.0.1:"), "{before_page:?}");
    assert!(before_page.contains("for 3 s ... 2 s left"), "{before_page:?}");
    assert_eq!(before_page.matches('\n').count(), 0, "{before_page:?}");
}

#[test]
fn ctrl_c_ends_within_a_second_and_says_where_it_stands() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let child = command(["check", &server.url(), "--interval", "10m"]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let pid = child.id().to_string();
    let begin = Instant::now();
    let killed = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(killed.success());
    let run = finish(child, begin);
    run.assert_fails(4, &["stopped before the end", "only read"]);
    assert!(run.took < Duration::from_secs(1), "{run:?}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut command = command(["check", "--help"]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer);
    drop(reader);
    let mut child = command.spawn().unwrap();
    // The command keeps a copy of the pipe's end.
    drop(command);
    let begin = Instant::now();
    child.stdout = None;
    let run = finish(child, begin);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let mut command = command(["explain"]);
    command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    let run = run(command);
    run.assert_fails(2, &["cannot write the answer"]);
}

#[test]
fn wrong_usage_is_64() {
    for args in [
        &[][..],
        &["chekc"],
        &["check", "--intervall", "5"],
        &["check", "--interval", "soon"],
        &["check", "--fail-on", "error"],
        &["check", "db1.example.org"],
        &["check", "--from", "x", "--interval", "5"],
        &["check", "mysql://db1", "--host", "db2"],
        &["check", "--host-memory", "32"],
        &["check", "--ssl-mode", "maybe"],
        &["check", "--password=tulip"],
        &["check", "--no-defaults", "--defaults-file", "x"],
        &["check", "mysql://root:p@tulip/x@127.0.0.1:1"],
        &["check", "mysql://db1", "--ssl-mode", "VERIFY_CA"],
        &["check", "--from", "mysql://root:tulip@db1"],
        &["check", "--from", "x", "-p"],
        &["check", "--interval", "-5"],
        &["check", "-P", "0"],
        &["collect"],
    ] {
        let run = innopool(args);
        assert_eq!(run.code, Some(64), "{args:?}: {run:?}");
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(!run.stderr.is_empty() && !run.stderr.contains("tulip"), "{args:?}: {run:?}");
    }
}

#[test]
fn a_typed_password_is_refused_and_not_repeated() {
    let run = innopool(["check", "mysql://db1", "--password=tulip"]);
    assert!(run.stderr.contains("process list"), "{run:?}");
}

#[test]
fn help_is_on_stdout_and_shows_how_to_begin() {
    let run = innopool(["check", "--help"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    for words in ["mysql://", "--from", "--interval", "Examples:", "Exit codes:"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn the_example_of_the_readme_is_what_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("status.txt"), PASTED_STATUS).unwrap();
    let typed = "check --from status.txt --host-memory 32G";
    let mut command = command(typed.split(' '));
    command.current_dir(directory.path());
    let run = run(command);
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, example) = readme.split_once(&format!("$ innopool {typed}\n")).unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert!(run.stdout.starts_with(example), "{example}\nis not the beginning of\n{}", run.stdout);
}

#[test]
fn pasted_output_is_judged() {
    let args = ["check", "--host-memory", "32G", "--format", "json", "--from", "-"];
    let run = innopool_reading(args, PASTED_STATUS);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    assert_eq!(report["name"], "stdin");
    assert_eq!(report["interval_seconds"], serde_json::Value::Null);
    assert_eq!(report["memory"]["limit_bytes"], 34_359_738_368_u64);
    assert_eq!(report["memory"]["limit_source"], "given");
    assert!(codes(&report).contains(&"pool-too-small".to_owned()), "{report:#}");
}

#[test]
fn a_directory_of_pasted_files_is_read_and_what_says_nothing_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("status.txt"), PASTED_STATUS).unwrap();
    fs::write(directory.path().join("notes.txt"), "Call me when it is slow.\n").unwrap();
    let path = directory.path().to_str().unwrap();
    let run = innopool(["check", "--format", "json", "--from", path]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.contains("notes.txt"), "{run:?}");
    assert!(not_read(&run.json()).contains("notes.txt"), "{run:?}");
}

#[test]
fn files_that_say_nothing_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().to_str().unwrap();
    innopool(["check", "--from", empty]).assert_fails(2, &["holds no files"]);
    let missing = directory.path().join("missing.txt");
    let missing = missing.to_str().unwrap();
    innopool(["check", "--from", missing]).assert_fails(2, &["missing.txt", "No such file"]);
    let file = directory.path().join("notes.txt");
    fs::write(&file, "Call me when it is slow.\n").unwrap();
    let run = innopool(["check", "--from", file.to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
    for words in ["notes.txt", "SHOW GLOBAL STATUS", "SHOW ENGINE INNODB STATUS"] {
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
    let file = file.to_str().unwrap();
    let first = format!("innopool: {file}: nothing in it is output that innopool reads");
    assert_eq!(run.stderr.lines().next(), Some(first.as_str()));
    let run = innopool(["check", "--from", file, file]);
    assert_eq!(run.stderr.matches("SHOW ENGINE INNODB STATUS\\G").count(), 1, "{run:?}");
    assert_eq!(run.stderr.matches("nothing in it").count(), 2, "{run:?}");
}

#[test]
fn files_of_two_servers_are_not_mixed() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let old = write("old.txt", "Variable_name\tValue\nversion\t8.0.36\nserver_uuid\ta-1\n");
    let new = write("new.txt", "Variable_name\tValue\nversion\t8.4.1\n");
    let twin = write("twin.txt", "Variable_name\tValue\nversion\t8.0.36\nserver_uuid\tb-2\n");
    let status = write("status.txt", PASTED_STATUS);
    let check = |a: &str, b: &str| innopool(["check", "--fail-on", "never", "--from", a, b]);
    check(&old, &new).assert_fails(2, &["old.txt", "new.txt", "two servers", "8.0.36 and 8.4.1"]);
    check(&old, &twin).assert_fails(2, &["two servers", "server_uuid differs"]);
    assert_eq!(check(&old, &status).code, Some(0));
    assert_eq!(check(&new, &new).code, Some(0));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    innopool(["check", "--from", pipe.to_str().unwrap()])
        .assert_fails(2, &["not a plain file", "--from -"]);
}

#[test]
fn one_line_over_and_over_is_one_line() {
    let text = "Innodb_buffer_pool_pages_total\t8192\n".repeat(20_000);
    let run = innopool_reading(["check", "--format", "json", "--from", "-"], &text);
    assert_eq!(run.json()["pool"]["pages_total"], 8192, "{run:?}");
}
