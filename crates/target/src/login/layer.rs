//! What one place says of the server: any part of a login, by the names the `mysql` client uses.

use std::time::Duration;

use super::{Secret, TlsMode};
use crate::variables::{normalise_name, parse_flag};

/// The options that mean something here, as written in URLs and option files.
pub(super) const OPTIONS: &[&str] = &[
    "user",
    "password",
    "host",
    "port",
    "socket",
    "protocol",
    "ssl-mode",
    "ssl",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-verify-server-cert",
    "connect-timeout",
];

/// How to reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Over TCP, to this machine too.
    Tcp,
    /// Over the unix socket.
    Socket,
}

/// What was said of the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// The password; empty for none.
    Given(Secret),
    /// To be asked for (`password` without a value).
    Ask,
}

/// What one place says; `None` is what it does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layer {
    /// Host name or address.
    pub host: Option<String>,
    /// TCP port.
    pub port: Option<u16>,
    /// Path of the unix socket.
    pub socket: Option<String>,
    /// TCP or socket.
    pub protocol: Option<Protocol>,
    /// The account's name.
    pub user: Option<String>,
    /// The password, or that it is to be asked for.
    pub password: Option<Password>,
    /// `ssl-mode`, as written.
    pub tls_mode: Option<TlsMode>,
    /// MariaDB's `ssl`: encryption as such, wanted or not.
    pub tls: Option<bool>,
    /// MariaDB's `ssl-verify-server-cert`.
    pub verify_server: Option<bool>,
    /// Certificate authorities, a PEM file.
    pub tls_ca: Option<String>,
    /// The client's certificate, a PEM file.
    pub tls_cert: Option<String>,
    /// The client's private key, a PEM file.
    pub tls_key: Option<String>,
    /// How long to wait for the connection.
    pub connect_timeout: Option<Duration>,
    /// Typed for this run (command line or URL). A port that was typed means TCP even to
    /// `localhost`; a port from an option file does not.
    pub typed: bool,
}

impl Layer {
    /// Takes one option over, by its name in any spelling (`ssl-ca`, `ssl_ca`, `loose-ssl-ca`).
    /// Returns false for an option that means nothing here.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the value and what to write; never the value of a
    /// password.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let name = normalise_name(name);
        let name = name.strip_prefix("loose_").unwrap_or(&name);
        match name {
            "user" => self.user = Some(text(name, value)?),
            "password" | "password1" => self.password = Some(password(value)?),
            "skip_password" => self.password = Some(Password::Given(Secret::new(""))),
            "host" => self.host = Some(text(name, value)?),
            "port" => self.port = port(&text(name, value)?)?,
            "socket" => self.socket = Some(text(name, value)?),
            "protocol" => self.protocol = Some(protocol(&text(name, value)?)?),
            "ssl_mode" => self.tls_mode = Some(tls_mode(&text(name, value)?)?),
            "ssl" | "skip_ssl" | "disable_ssl" => self.tls = Some(flag(name, value)?),
            "ssl_verify_server_cert"
            | "skip_ssl_verify_server_cert"
            | "disable_ssl_verify_server_cert" => self.verify_server = Some(flag(name, value)?),
            "ssl_ca" => self.tls_ca = Some(text(name, value)?),
            "ssl_cert" => self.tls_cert = Some(text(name, value)?),
            "ssl_key" => self.tls_key = Some(text(name, value)?),
            "connect_timeout" => self.connect_timeout = Some(seconds(&text(name, value)?)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The mode this layer asks for, where it does.
    pub(super) fn tls_intent(&self) -> Option<TlsMode> {
        let verify = |on: bool| on.then_some(TlsMode::VerifyIdentity);
        self.tls_mode
            .or(match self.tls {
                Some(false) => Some(TlsMode::Disabled),
                _ => None,
            })
            .or_else(|| self.verify_server.and_then(verify))
            .or(match self.tls {
                // The authority's certificate is there to be checked against.
                Some(true) if self.tls_ca.is_some() => Some(TlsMode::VerifyCa),
                Some(true) => Some(TlsMode::Required),
                _ => None,
            })
            .or(self.tls_ca.is_some().then_some(TlsMode::VerifyCa))
    }
}

fn text(name: &str, value: Option<&str>) -> Result<String, String> {
    match value {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => {
            let name = name.replace('_', "-");
            Err(format!("{name} needs a value: write {name} = VALUE"))
        }
    }
}

fn password(value: Option<&str>) -> Result<Password, String> {
    match value {
        None => Ok(Password::Ask),
        // What a reader puts in the place of bytes that are no text.
        Some(text) if text.contains('\u{fffd}') => Err(
            "the password has bytes that are not UTF-8; give it with MYSQL_PWD or at the prompt"
                .to_owned(),
        ),
        Some(text) => Ok(Password::Given(Secret::new(text))),
    }
}

/// Reads a port; 0 leaves it to the default, as for the `mysql` client.
pub(super) fn port(text: &str) -> Result<Option<u16>, String> {
    match text.trim().parse::<u16>() {
        Ok(0) => Ok(None),
        Ok(port) => Ok(Some(port)),
        Err(_) => Err("the port must be a number from 1 to 65535".to_owned()),
    }
}

fn protocol(text: &str) -> Result<Protocol, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "tcp" => Ok(Protocol::Tcp),
        "socket" => Ok(Protocol::Socket),
        "pipe" | "memory" => Err("only the protocols tcp and socket exist here".to_owned()),
        _ => Err("the protocol must be tcp or socket".to_owned()),
    }
}

fn tls_mode(text: &str) -> Result<TlsMode, String> {
    TlsMode::parse(text).ok_or_else(|| {
        "ssl-mode must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY".to_owned()
    })
}

/// A switch, on without a value; `skip_` and `disable_` turn it round.
fn flag(name: &str, value: Option<&str>) -> Result<bool, String> {
    let inverted = name.starts_with("skip_") || name.starts_with("disable_");
    let on = match value {
        None => true,
        Some(text) => {
            parse_flag(text).ok_or_else(|| format!("{} must be 1 or 0", name.replace('_', "-")))?
        }
    };
    Ok(on != inverted)
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.trim().parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err("connect-timeout must be a number of seconds, 1 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(options: &[(&str, Option<&str>)]) -> Layer {
        let mut layer = Layer::default();
        for (name, value) in options {
            assert_eq!(layer.set(name, *value), Ok(true), "{name}");
        }
        layer
    }

    #[test]
    fn takes_options_in_any_spelling() {
        let layer = layer(&[
            ("User", Some("ada")),
            ("loose-password", Some("tulip")),
            ("PORT", Some("3307")),
            ("ssl_ca", Some("/ca.pem")),
            ("connect-timeout", Some("7")),
            ("protocol", Some("TCP")),
        ]);
        assert_eq!(layer.user.as_deref(), Some("ada"));
        assert_eq!(layer.password, Some(Password::Given(Secret::new("tulip"))));
        assert_eq!(layer.port, Some(3307));
        assert_eq!(layer.tls_ca.as_deref(), Some("/ca.pem"));
        assert_eq!(layer.connect_timeout, Some(Duration::from_secs(7)));
        assert_eq!(layer.protocol, Some(Protocol::Tcp));
        assert!(!format!("{layer:?}").contains("tulip"));
        assert_eq!(Layer::default().set("prompt", Some("x")), Ok(false));
    }

    #[test]
    fn a_bare_password_is_asked_for() {
        assert_eq!(layer(&[("password", None)]).password, Some(Password::Ask));
        let none = Some(Password::Given(Secret::new("")));
        assert_eq!(layer(&[("password", Some(""))]).password, none);
        assert_eq!(layer(&[("skip-password", None)]).password, none);
    }

    #[test]
    fn refuses_wrong_values_and_says_what_to_write() {
        for (name, value, said) in [
            ("port", Some("70000"), "1 to 65535"),
            ("port", None, "needs a value"),
            ("host", Some(""), "host needs a value"),
            ("protocol", Some("pipe"), "tcp and socket"),
            ("ssl-mode", Some("on"), "VERIFY_IDENTITY"),
            ("ssl-verify-server-cert", Some("maybe"), "1 or 0"),
            ("connect_timeout", Some("0"), "1 or more"),
            ("password", Some("tu\u{fffd}lip"), "MYSQL_PWD"),
        ] {
            let message = Layer::default().set(name, value).unwrap_err();
            assert!(message.contains(said), "{name}: {message}");
            assert!(!message.contains("lip"), "{message}");
        }
        assert_eq!(layer(&[("port", Some("0"))]).port, None);
    }

    #[test]
    fn derives_the_mode_from_mariadbs_options() {
        let ca = ("ssl-ca", Some("/ca.pem"));
        for (options, mode) in [
            (&[][..], None),
            (&[("ssl", None)], Some(TlsMode::Required)),
            (&[("ssl", Some("0"))], Some(TlsMode::Disabled)),
            (&[("skip-ssl", None)], Some(TlsMode::Disabled)),
            (&[ca], Some(TlsMode::VerifyCa)),
            (&[ca, ("ssl", Some("ON"))], Some(TlsMode::VerifyCa)),
            (&[ca, ("ssl-mode", Some("required"))], Some(TlsMode::Required)),
            (&[ca, ("skip-ssl", None)], Some(TlsMode::Disabled)),
            (&[("ssl-verify-server-cert", None)], Some(TlsMode::VerifyIdentity)),
            (&[("ssl-verify-server-cert", Some("0"))], None),
            (&[("disable-ssl-verify-server-cert", None), ("ssl", None)], Some(TlsMode::Required)),
        ] {
            assert_eq!(layer(options).tls_intent(), mode, "{options:?}");
        }
    }

    #[test]
    fn every_listed_option_means_something() {
        for option in OPTIONS {
            let known = Layer::default().set(option, Some("1"));
            assert_ne!(known, Ok(false), "{option}");
        }
    }
}
