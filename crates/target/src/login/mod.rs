//! Which server to talk to, and with what credentials: everything a connection needs to know
//! before it is opened.
//!
//! What a person may have said of it comes in [`Layer`]s: a `mysql://` URL ([`parse_url`]), command
//! line options, the client's option files ([`OptionFiles`]), a login path ([`LoginPathFile`]), the
//! environment ([`Environment`]). [`resolve`] lays them over each other, highest rank first, into
//! one [`Login`]:
//!
//! ```text
//! command line, URL  >  login path  >  option files  >  environment  >  defaults
//! ```
//!
//! Nothing here opens a connection, reads the environment or asks for a password; the command line
//! passes all of that in. A password lives in a [`Secret`], which never prints.

use std::fmt;
use std::time::Duration;

mod environment;
mod error;
mod layer;
mod login_path;
mod option_files;
mod resolve;
mod secret;
mod url;

pub use environment::Environment;
pub use error::LoginError;
pub use layer::{Layer, Password, Protocol};
pub use login_path::LoginPathFile;
pub use option_files::{FromFiles, OptionFiles};
pub use resolve::{DEFAULT_SOCKETS, Resolved, resolve};
pub use secret::Secret;
pub use url::parse_url;

/// The port of a server that was given none.
pub const DEFAULT_PORT: u16 = 3306;

/// How long to wait for a connection when nobody said.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// All that is needed to connect to one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Host name or address to reach over TCP; an IPv6 address stands without brackets. Not used
    /// when [`Login::socket`] is set.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path of the server's unix socket; when set, it is used instead of TCP.
    pub socket: Option<String>,
    /// The account's name; `None` leaves it to the server's default for this connection.
    pub user: Option<String>,
    /// The password; `None` connects without one.
    pub password: Option<Secret>,
    /// Encryption of a TCP connection.
    pub tls: TlsOptions,
    /// How long to wait for the connection to open.
    pub connect_timeout: Duration,
}

impl Default for Login {
    fn default() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: DEFAULT_PORT,
            socket: None,
            user: None,
            password: None,
            tls: TlsOptions::default(),
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
        }
    }
}

impl Login {
    /// The target as it may be shown and saved: host and port, or the socket. Never the account or
    /// the password.
    pub fn display_name(&self) -> String {
        match &self.socket {
            Some(socket) => format!("socket {socket}"),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

/// How a TCP connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsOptions {
    /// Whether to encrypt, and what to verify.
    pub mode: TlsMode,
    /// Path of the PEM file with the certificate authorities to trust.
    pub ca: Option<String>,
    /// Path of the PEM file with the client's certificate.
    pub cert: Option<String>,
    /// Path of the PEM file with the client's private key.
    pub key: Option<String>,
}

/// The `ssl-mode` of the `mysql` client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TlsMode {
    /// Never encrypt.
    Disabled,
    /// Encrypt when the server can, verify nothing.
    #[default]
    Preferred,
    /// Refuse to connect without encryption, verify nothing.
    Required,
    /// Also verify that the certificate was issued by a trusted authority.
    VerifyCa,
    /// Also verify that the certificate names the host.
    VerifyIdentity,
}

impl TlsMode {
    /// Reads a mode as the `mysql` client takes it: any case, `_` or `-`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_uppercase().replace('-', "_").as_str() {
            "DISABLED" => Some(Self::Disabled),
            "PREFERRED" => Some(Self::Preferred),
            "REQUIRED" => Some(Self::Required),
            "VERIFY_CA" => Some(Self::VerifyCa),
            "VERIFY_IDENTITY" => Some(Self::VerifyIdentity),
            _ => None,
        }
    }

    /// The name the `mysql` client uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        }
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_target_without_account_or_password() {
        let mut login = Login {
            host: "db1.example".into(),
            port: 3307,
            user: Some("ada".into()),
            password: Some(Secret::new("tulip")),
            ..Login::default()
        };
        assert_eq!(login.display_name(), "db1.example:3307");
        login.host = "2001:db8::7".into();
        assert_eq!(login.display_name(), "[2001:db8::7]:3307");
        login.socket = Some("/run/mysqld/mysqld.sock".into());
        assert_eq!(login.display_name(), "socket /run/mysqld/mysqld.sock");
        assert!(!format!("{login:?}").contains("tulip"));
    }

    #[test]
    fn reads_back_every_mode_it_writes() {
        for mode in [
            TlsMode::Disabled,
            TlsMode::Preferred,
            TlsMode::Required,
            TlsMode::VerifyCa,
            TlsMode::VerifyIdentity,
        ] {
            assert_eq!(TlsMode::parse(mode.as_str()), Some(mode));
            let other_spelling = mode.as_str().to_lowercase().replace('_', "-");
            assert_eq!(TlsMode::parse(&other_spelling), Some(mode));
        }
        assert_eq!(TlsMode::parse("verify"), None);
    }
}
