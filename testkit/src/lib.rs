//! Private MySQL and MariaDB servers for innopool's tests, and fake servers for its failure tests.
//!
//! A test that only reads asks for [`shared()`]: one instance for every test process, started by the
//! first that needs it and stopped by `cargo xtask servers down`. A test that sets, restarts or
//! kills anything asks for [`own()`]: an instance that dies with its [`Server`] value, and with the
//! test process however that ends.
//!
//! Nothing is needed beforehand: what the machine lacks is installed on first use ([`install`]).
//! A machine that cannot have a server skips its tests with a line on stderr; with
//! `REQUIRE_SERVERS=1` in the environment the skip is a panic.
//!
//! Everything lives in `target/servers` ([`places`]), so deleting `target` leaves a clean machine.

#![allow(clippy::print_stderr, reason = "tests tell their progress and their skips on stderr")]

pub mod fake;
pub mod install;
pub mod own;
pub mod page_events;
pub mod places;
pub mod recorder;
pub mod shared;

mod command;
mod launch;
mod lock;
mod option_file;
mod process;
mod server;
mod template;

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

pub use own::Own;
pub use recorder::Recorder;

pub use server::Server;

/// The two servers that innopool is tested against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// MySQL 9.7, from Debian's unstable suite, in a directory of its own.
    Mysql,
    /// MariaDB 10.11, from the distribution's packages.
    Mariadb,
}

impl Kind {
    /// Both kinds, for tests that must hold for either.
    pub const ALL: [Kind; 2] = [Kind::Mysql, Kind::Mariadb];

    /// Returns the name used for directories and messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mysql => "mysql",
            Kind::Mariadb => "mariadb",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the shared instance, starting it when it is not up; `None` where there can be none.
///
/// # Panics
///
/// With `REQUIRE_SERVERS=1`, when the server cannot be had.
pub fn shared(kind: Kind) -> Option<&'static Server> {
    shared::attached(kind)
}

/// Starts an instance with these options in its option file; `None` where there can be none.
///
/// Options are written as on a command line or in an option file, with or without the leading
/// dashes. [`Own`] is the long form.
///
/// # Panics
///
/// With `REQUIRE_SERVERS=1`, when the server cannot be had.
pub fn own(kind: Kind, options: &[&str]) -> Option<Server> {
    let mut builder = Own::new(kind);
    for option in options {
        builder = builder.option(option);
    }
    builder.start()
}

/// Returns the path of `sysbench`, installing it when it is missing; `None` where it cannot be had.
///
/// Over a unix socket it logs in to both kinds as root without a password:
/// `--mysql-socket=SOCKET --mysql-user=root`.
///
/// # Panics
///
/// With `REQUIRE_SERVERS=1`, when it cannot be had.
pub fn sysbench() -> Option<PathBuf> {
    required("sysbench", install::sysbench())
}

/// Turns a failure into a loud skip, or into a panic where servers are required.
pub(crate) fn required<T>(what: &str, result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if std::env::var_os("REQUIRE_SERVERS").is_some_and(|value| value == "1") => {
            panic!("REQUIRE_SERVERS=1, but {what} cannot be had: {error:#}")
        }
        Err(error) => {
            eprintln!("SKIPPED: {what} cannot be had: {error:#}");
            None
        }
    }
}
