//! What is no server, or one that does not answer: one line, within the limit.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use innopool_target::live::{Connection, Limits, QueryError, WatchOptions, watch};
use innopool_target::login::{Login, TlsMode};
use innopool_target::{Content, Document};
use innopool_testkit::fake::Fake;
use innopool_testkit::recorder::Recorder;
use innopool_testkit::{Kind, own};

use crate::{failure, login, open, with_mode};

/// The limit given to connections here.
const LIMIT: Duration = Duration::from_millis(600);
/// How long a return within the limit may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

fn hasty(port: u16) -> Login {
    Login { connect_timeout: LIMIT, ..login(port) }
}

#[track_caller]
fn failure_in_time(login: &Login) -> String {
    let begin = Instant::now();
    let line = failure(login);
    assert!(begin.elapsed() < LIMIT + PATIENCE, "{:?}: {line}", begin.elapsed());
    line
}

#[test]
fn nobody_there() {
    let port = innopool_testkit::own::free_port().unwrap();
    let line = failure_in_time(&hasty(port));
    assert!(
        line.starts_with(&format!("cannot reach 127.0.0.1:{port}: Connection refused")),
        "{line}"
    );
    let mut nowhere = hasty(port);
    nowhere.socket = Some("/nonexistent/mysqld.sock".to_owned());
    let line = failure_in_time(&nowhere);
    assert!(line.starts_with("cannot reach /nonexistent/mysqld.sock: No such file"), "{line}");
}

#[test]
fn strangers() {
    let silent = Fake::silent().unwrap();
    let line = failure_in_time(&hasty(silent.port()));
    assert!(line.contains("gave up") && line.contains("says nothing"), "{line}");
    let http = Fake::http().unwrap();
    let line = failure_in_time(&hasty(http.port()));
    assert!(line.contains("not a MySQL or MariaDB server: it says \"HTTP/1.1 400"), "{line}");
    let ssh = Fake::ssh().unwrap();
    let line = failure_in_time(&hasty(ssh.port()));
    assert!(line.contains("it says \"SSH-2.0-"), "{line}");
    let gone = Fake::hanging_up().unwrap();
    let line = failure_in_time(&hasty(gone.port()));
    assert!(line.contains("broke off the handshake"), "{line}");
}

#[test]
fn refusals_before_the_login() {
    let full = Fake::refusing(1040, "Too many connections").unwrap();
    let line = failure_in_time(&hasty(full.port()));
    assert!(line.contains("no connection left"), "{line}");
    let blocked = "Host '192.0.2.7' is blocked because of many connection errors";
    let blocked = Fake::refusing(1129, blocked).unwrap();
    let line = failure_in_time(&hasty(blocked.port()));
    assert!(line.contains("does not let this host in"), "{line}");
    let hostile = Fake::refusing(9999, "line one\nline two\u{1b}[2J").unwrap();
    let line = failure_in_time(&hasty(hostile.port()));
    assert!(!line.contains('\u{1b}'), "{line}");
}

/// A greeting that comes a byte at a time never ends within the limit, though every read of it
/// brings something.
#[test]
fn a_drip_of_bytes() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            thread::spawn(move || {
                for byte in [0xf0, 0, 0, 0, 10].into_iter().chain(std::iter::repeat(b'8')) {
                    if stream.write_all(&[byte]).is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            });
        }
    });
    let line = failure_in_time(&hasty(port));
    assert!(line.contains("its greeting does not end"), "{line}");
}

#[test]
fn frozen_in_a_statement() {
    for kind in Kind::ALL {
        let Some(server) = innopool_testkit::shared(kind) else {
            continue;
        };
        let recorder = Recorder::start(server).unwrap();
        let limits = Limits { statement: LIMIT };
        let mut connection = Connection::open(&hasty(recorder.port()), limits).unwrap();
        recorder.freeze_on("SELECT 'frozen'");
        let begin = Instant::now();
        let error = connection.query("SELECT 'frozen'").unwrap_err();
        assert!(begin.elapsed() < LIMIT + PATIENCE);
        assert!(matches!(error, QueryError::Stalled { .. }), "{error}");
        assert!(error.to_string().contains("to SELECT 'frozen'"), "{error}");
        assert!(!connection.is_open());
        let error = connection.query("SELECT 1").unwrap_err();
        assert!(error.to_string().contains("given up earlier"), "{error}");
        recorder.thaw();
        connection.reopen().unwrap();
        connection.query("SELECT 1").unwrap();
    }
}

fn not_read(documents: &[Document]) -> Vec<(String, String)> {
    let table = documents.iter().find_map(|document| match &document.content {
        Content::NotRead(table) => Some(table),
        _ => None,
    });
    let cell = |cells: &[Option<String>], n: usize| cells[n].clone().unwrap_or_default();
    let rows = table.map(|table| table.rows.as_slice()).unwrap_or_default();
    rows.iter().map(|row| (cell(&row.cells, 0), cell(&row.cells, 1))).collect()
}

#[test]
fn a_look_survives_one_statement_without_an_answer() {
    let Some(server) = innopool_testkit::shared(Kind::Mysql) else {
        return;
    };
    let recorder = Recorder::start(server).unwrap();
    let limits = Limits { statement: LIMIT };
    let mut connection = Connection::open(&hasty(recorder.port()), limits).unwrap();
    recorder.freeze_on("INNODB_TABLESPACES");
    // The server is back as soon as it was given up.
    let mut progress = |_| {
        if recorder.is_frozen() {
            recorder.thaw();
        }
    };
    let begin = Instant::now();
    let mut options = WatchOptions::new(Duration::ZERO);
    options.skip_status_text = true;
    let documents = watch(&mut connection, &options, &mut progress);
    assert!(begin.elapsed() < 4 * LIMIT + PATIENCE);
    let missing = not_read(&documents);
    let sizes = missing.iter().find(|(what, _)| what.starts_with("size of the data"));
    assert!(sizes.is_some(), "{missing:?}");
    // Whether the new connection comes before the thaw is a matter of luck: what counts is that
    // the look ends, keeps what it had and names what it has not.
    assert!(documents.iter().any(|d| matches!(d.content, Content::Variables(_))));
}

#[test]
fn a_look_at_a_server_that_freezes_for_good_ends() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let recorder = Recorder::start(server).unwrap();
    let limits = Limits { statement: LIMIT };
    let mut connection = Connection::open(&hasty(recorder.port()), limits).unwrap();
    recorder.freeze_on("SHOW GLOBAL STATUS");
    let begin = Instant::now();
    let options = WatchOptions::new(Duration::from_secs(1));
    let documents = watch(&mut connection, &options, &mut |_| {});
    assert!(begin.elapsed() < 6 * LIMIT + PATIENCE);
    let missing = not_read(&documents);
    let why = |what: &str| missing.iter().find(|(w, _)| w == what).map(|(_, why)| why.as_str());
    assert_eq!(why("the server's counters"), Some("no answer within 0.6 s"));
    assert!(why("open transactions").unwrap().contains("connection was lost"), "{missing:?}");
}

#[test]
fn a_server_that_dies_during_a_statement() {
    let Some(mut server) = own(Kind::Mariadb, &[]) else {
        return;
    };
    let mut connection = open(&with_mode(login(server.port()), TlsMode::Disabled)).unwrap();
    server.kill9().unwrap();
    let error = connection.query("SELECT 1").unwrap_err();
    assert!(matches!(error, QueryError::Lost { .. }), "{error}");
    assert!(!connection.is_open());
}

#[test]
fn the_server_ends_what_takes_too_long() {
    use innopool_target::Server;
    use innopool_target::live::statements::limited;
    for (kind, version) in [(Kind::Mysql, "9.7.4"), (Kind::Mariadb, "10.11.19-MariaDB")] {
        let Some(server) = innopool_testkit::shared(kind) else {
            continue;
        };
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        let slow = "SELECT COUNT(*) FROM information_schema.COLLATIONS a, \
            information_schema.COLLATIONS b, information_schema.COLLATIONS c, \
            information_schema.COLLATIONS d";
        let slow = limited(slow, &Server::detect(version, ""), Duration::from_millis(300));
        let error = connection.query(&slow).unwrap_err();
        assert!(matches!(error.code(), Some(1969 | 3024)), "{error}");
        assert!(connection.is_open());
    }
}
