//! Which server, or which files: the arguments that most commands share.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

/// Arguments that say which server to look at. What is left out here is taken from the option
/// files of the `mysql` client and from the environment.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target: which server, or which files")]
pub(crate) struct TargetArgs {
    /// The server: mysql://USER@HOST:PORT
    ///
    /// Without it, the server that the mysql client would connect to, by its option files.
    /// Characters such as @ / ? # in a name or password are written %40 %2F %3F %23.
    #[arg(value_name = "TARGET", display_order = 0, conflicts_with_all = ["host", "port", "socket", "from"])]
    pub(crate) target: Option<Url>,

    /// Look at saved evidence instead of a server
    ///
    /// A directory that collect wrote, or files with pasted output in any mix, recognised by what
    /// is in them: SHOW GLOBAL STATUS and VARIABLES, SHOW ENGINE INNODB STATUS, option files, the
    /// error log, an exporter's page, /proc/meminfo. - is stdin.
    #[arg(long, value_name = "DIR|FILE", num_args = 1.., display_order = 1)]
    pub(crate) from: Vec<PathBuf>,

    /// Host name or address
    #[arg(long, value_name = "HOST", conflicts_with = "from")]
    pub(crate) host: Option<String>,

    /// TCP port
    #[arg(
        short = 'P',
        long,
        value_name = "PORT",
        value_parser = values::parse_port,
        allow_hyphen_values = true,
        conflicts_with = "from"
    )]
    pub(crate) port: Option<u16>,

    /// Unix socket of a server on this machine
    #[arg(short = 'S', long, value_name = "PATH", conflicts_with_all = ["host", "port", "from"])]
    pub(crate) socket: Option<String>,

    /// Account
    #[arg(short, long, value_name = "USER", conflicts_with = "from")]
    pub(crate) user: Option<String>,

    /// Ask for the password
    ///
    /// Takes no value, which the process list would show to everybody. For a script, put the
    /// password in an option file or in MYSQL_PWD.
    #[arg(short = 'p', long, conflicts_with = "from")]
    pub(crate) password: bool,

    /// Read only this option file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "no_defaults"])]
    pub(crate) defaults_file: Option<String>,

    /// Read this option file too, after the usual ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "no_defaults"])]
    pub(crate) defaults_extra_file: Option<String>,

    /// Read the groups with this suffix too: _b for the group client_b
    #[arg(long, value_name = "SUFFIX", conflicts_with = "from")]
    pub(crate) defaults_group_suffix: Option<String>,

    /// Read no option file but the login path file
    #[arg(long, conflicts_with = "from")]
    pub(crate) no_defaults: bool,

    /// Read this login path, as mysql_config_editor wrote it
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    pub(crate) login_path: Option<String>,

    /// Encrypt the connection: DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY
    #[arg(long, value_name = "MODE", conflicts_with = "from")]
    pub(crate) ssl_mode: Option<String>,

    /// Certificate authorities to trust, a PEM file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) ssl_ca: Option<String>,

    /// Certificate to log in with, a PEM file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) ssl_cert: Option<String>,

    /// Its private key, a PEM file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) ssl_key: Option<String>,

    /// Give up connecting after so long [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_limit, allow_hyphen_values = true, conflicts_with = "from")]
    pub(crate) connect_timeout: Option<Duration>,

    /// Give up a statement after so long [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_limit, allow_hyphen_values = true, conflicts_with = "from")]
    pub(crate) statement_timeout: Option<Duration>,

    /// Memory of the server's machine: 32G
    ///
    /// For a server on another machine, or saved evidence. Where the server runs here, innopool
    /// sees it.
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = values::parse_bytes,
        allow_hyphen_values = true
    )]
    pub(crate) host_memory: Option<u64>,

    /// Leave out InnoDB's status text and pool statistics
    ///
    /// Reading them starts anew the averages that the server prints in them for everybody.
    #[arg(long, conflicts_with = "from")]
    pub(crate) skip_status_text: bool,
}

impl TargetArgs {
    /// True when something says which server or which files; else it is the one that the client's
    /// option files name.
    pub(crate) fn names_one(&self) -> bool {
        let words = [&self.host, &self.socket, &self.user, &self.defaults_file, &self.login_path];
        self.target.is_some()
            || !self.from.is_empty()
            || self.port.is_some()
            || words.into_iter().any(Option::is_some)
    }
}

/// A URL as typed. It may hold a password, so it never shows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url(pub(crate) String);

impl From<String> for Url {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
