//! The live half of the crate against real servers, and against what is no server.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and tells its skips"
)]

mod accounts;
mod failures;
mod look;
mod privileges;
mod tls;

use innopool_target::live::{ConnectError, Connection, Limits};
use innopool_target::login::{Login, Secret, TlsMode};
use innopool_testkit::Server;

/// A login as root over TCP.
pub(crate) fn login(port: u16) -> Login {
    Login { host: "127.0.0.1".to_owned(), port, user: Some("root".to_owned()), ..Login::default() }
}

/// A login over TCP with a password.
pub(crate) fn as_user(server: &Server, user: &str, password: &str) -> Login {
    Login {
        user: Some(user.to_owned()),
        password: Some(Secret::new(password)),
        ..login(server.port())
    }
}

pub(crate) fn with_mode(mut login: Login, mode: TlsMode) -> Login {
    login.tls.mode = mode;
    login
}

pub(crate) fn by_socket(mut login: Login, server: &Server) -> Login {
    login.socket = Some(server.socket().display().to_string());
    login
}

/// Opens a connection and runs a statement on it, to see that it works.
pub(crate) fn open(login: &Login) -> Result<Connection, ConnectError> {
    let mut connection = Connection::open(login, Limits::default())?;
    let table = connection.query("SELECT 1 AS one").unwrap();
    assert_eq!(table.number(&table.rows[0], "one"), Some(1));
    Ok(connection)
}

/// The one line of a failure.
#[track_caller]
pub(crate) fn failure(login: &Login) -> String {
    let line = match Connection::open(login, Limits::default()) {
        Ok(_) => panic!("connected"),
        Err(error) => error.to_string(),
    };
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(!line.contains("tulip"), "a password in {line}");
    line
}
