//! The recorder before real servers.

#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

use std::time::{Duration, Instant};

use innopool_testkit::{Kind, Recorder, shared};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, SslOpts};

fn options(recorder: &Recorder) -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(recorder.port())
        .user(Some("root"))
        .prefer_socket(false)
        .read_timeout(Some(Duration::from_millis(500)))
}

#[test]
fn statements_and_preparations_are_recorded_in_order() {
    for kind in Kind::ALL {
        let Some(server) = shared(kind) else { continue };
        let recorder = Recorder::start(server).unwrap();
        let mut connection = Conn::new(options(&recorder)).unwrap();
        recorder.clear();
        let one: Option<u8> = connection.query_first("SELECT 1").unwrap();
        let seven: Option<u8> = connection.exec_first("SELECT ? + 1", (6,)).unwrap();
        assert_eq!((one, seven), (Some(1), Some(7)));
        assert_eq!(recorder.queries(), ["SELECT 1", "SELECT ? + 1"]);
    }
}

#[test]
fn a_frozen_answer_never_comes_until_it_is_thawed() {
    for kind in Kind::ALL {
        let Some(server) = shared(kind) else { continue };
        let recorder = Recorder::start(server).unwrap();
        let mut connection = Conn::new(options(&recorder)).unwrap();
        recorder.freeze_after(2);
        connection.query_drop("SELECT 1").unwrap();
        assert!(!recorder.is_frozen());
        let start = Instant::now();
        connection.query_drop("SELECT 2").unwrap_err();
        assert!(start.elapsed() >= Duration::from_millis(500));
        assert!(recorder.is_frozen());
        // Nobody else is answered either.
        assert!(Conn::new(options(&recorder)).is_err());

        recorder.thaw();
        let mut connection = Conn::new(options(&recorder)).unwrap();
        recorder.freeze_on("FROM DUAL");
        connection.query_drop("SELECT 3").unwrap();
        connection.query_drop("SELECT 4 FROM DUAL").unwrap_err();
        assert_eq!(recorder.queries().last().map(String::as_str), Some("SELECT 4 FROM DUAL"));
    }
}

#[test]
fn a_client_that_insists_on_tls_fails() {
    let Some(server) = shared(Kind::Mysql) else {
        return;
    };
    let tls = SslOpts::default().with_danger_accept_invalid_certs(true);
    let with_tls = |port: u16| {
        let options = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(port)
            .user(Some("root"))
            .prefer_socket(false)
            .ssl_opts(tls.clone());
        Conn::new(options)
    };
    with_tls(server.port()).unwrap();
    let recorder = Recorder::start(server).unwrap();
    assert!(with_tls(recorder.port()).is_err());
}
