//! The environment, read once and only here.

use std::env;
use std::os::unix::ffi::OsStringExt;

use innopool_target::login;
use innopool_target::login::Secret;

/// What the environment says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Environment {
    /// What the `mysql` client reads of it on the server.
    pub(crate) client: login::Environment,
    /// `HOME`: the personal option file and login path file are there.
    pub(crate) home: Option<String>,
    /// `MYSQL_TEST_LOGIN_FILE`: another login path file.
    pub(crate) login_file: Option<String>,
    /// True when `NO_COLOR` is set or `TERM` names a terminal without colours.
    pub(crate) no_colour: bool,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn read() -> Self {
        let text = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
        Self {
            client: login::Environment {
                mysql_pwd: env::var_os("MYSQL_PWD").map(|value| Secret::new(value.into_vec())),
                mysql_host: text("MYSQL_HOST"),
                mysql_tcp_port: text("MYSQL_TCP_PORT"),
                mysql_unix_port: text("MYSQL_UNIX_PORT"),
                account: text("USER").or_else(|| text("LOGNAME")),
            },
            home: text("HOME"),
            login_file: text("MYSQL_TEST_LOGIN_FILE"),
            no_colour: text("NO_COLOR").is_some() || text("TERM").as_deref() == Some("dumb"),
        }
    }
}
