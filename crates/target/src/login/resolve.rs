//! Lays what was said over each other: for each part of a login, the highest layer that says
//! something decides.

use std::time::Duration;

use super::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_PORT, Layer, Login, Password, Protocol, TlsMode, TlsOptions,
};

/// Where servers of the distributions put their socket, tried in this order when nobody named one.
pub const DEFAULT_SOCKETS: &[&str] = &[
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The login, without a password where it is to be asked for.
    pub login: Login,
    /// True when the password is to be asked for before connecting.
    pub ask_password: bool,
}

/// Makes a login of layers, the highest rank first. `exists` tells whether a socket is there; it is
/// asked for [`DEFAULT_SOCKETS`] only.
///
/// As for the `mysql` client, no host and the host `localhost` mean the unix socket, and any other
/// host means TCP, whatever socket an option file names. What was said at a higher rank counts more
/// than the client lets it: `--socket` beats the host of an option file, and a port that was typed
/// means TCP to `localhost` too.
pub fn resolve(layers: &[Layer], exists: &dyn Fn(&str) -> bool) -> Resolved {
    let host = first(layers, |layer| layer.host.clone());
    let socket = by_socket(layers, host.as_deref()).then(|| {
        first(layers, |layer| layer.socket.clone())
            .unwrap_or_else(|| default_socket(exists).to_owned())
    });
    let password = first(layers, |layer| layer.password.clone());
    let ask_password = password == Some(Password::Ask);
    let login = Login {
        host: host.unwrap_or_else(|| "localhost".to_owned()),
        port: first(layers, |layer| layer.port).unwrap_or(DEFAULT_PORT),
        socket,
        user: first(layers, |layer| layer.user.clone()),
        password: match password {
            Some(Password::Given(secret)) if !secret.is_empty() => Some(secret),
            _ => None,
        },
        tls: TlsOptions {
            mode: tls_mode(layers),
            ca: first(layers, |layer| layer.tls_ca.clone()),
            cert: first(layers, |layer| layer.tls_cert.clone()),
            key: first(layers, |layer| layer.tls_key.clone()),
        },
        connect_timeout: first(layers, |layer| layer.connect_timeout)
            .unwrap_or(DEFAULT_CONNECT_TIMEOUT)
            .max(Duration::from_millis(1)),
    };
    Resolved { login, ask_password }
}

/// What the highest layer that says something says.
fn first<T>(layers: &[Layer], part: impl Fn(&Layer) -> Option<T>) -> Option<T> {
    layers.iter().find_map(part)
}

/// Index of the highest layer that says something; beyond all of them if none does.
fn rank(layers: &[Layer], says: impl Fn(&Layer) -> bool) -> usize {
    layers.iter().position(says).unwrap_or(layers.len())
}

fn by_socket(layers: &[Layer], host: Option<&str>) -> bool {
    let socket_rank = rank(layers, |layer| layer.socket.is_some());
    let host_rank = rank(layers, |layer| layer.host.is_some());
    let protocol_rank = rank(layers, |layer| layer.protocol.is_some());
    if socket_rank < host_rank && socket_rank < protocol_rank {
        return true;
    }
    let local = host.is_none_or(|host| host.eq_ignore_ascii_case("localhost"));
    if !local && host_rank < protocol_rank {
        return false;
    }
    if let Some(protocol) = first(layers, |layer| layer.protocol) {
        return protocol == Protocol::Socket;
    }
    let typed_port_rank = rank(layers, |layer| layer.typed && layer.port.is_some());
    local && typed_port_rank >= socket_rank
}

fn default_socket(exists: &dyn Fn(&str) -> bool) -> &'static str {
    let found = DEFAULT_SOCKETS.iter().find(|path| exists(path));
    found.or(DEFAULT_SOCKETS.first()).copied().unwrap_or_default()
}

/// The mode of the highest layer that asks for one, where a layer's authorities are a wish to have
/// the certificate checked.
fn tls_mode(layers: &[Layer]) -> TlsMode {
    let mode = first(layers, Layer::tls_intent).unwrap_or_default();
    let explicit = first(layers, |layer| layer.tls_intent().and(Some(layer.tls_mode)));
    let has_ca = layers.iter().any(|layer| layer.tls_ca.is_some());
    // `--ssl` over an option file's `ssl-ca`: the authorities are there to be used.
    if mode == TlsMode::Required && has_ca && explicit.flatten().is_none() {
        return TlsMode::VerifyCa;
    }
    mode
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::{Secret, parse_url};

    fn layer(options: &[(&str, &str)]) -> Layer {
        let mut layer = Layer::default();
        for (name, value) in options {
            assert_eq!(layer.set(name, Some(value)), Ok(true));
        }
        layer
    }

    fn typed(options: &[(&str, &str)]) -> Layer {
        Layer { typed: true, ..layer(options) }
    }

    fn target(layers: &[Layer]) -> String {
        resolve(layers, &|path| path == "/tmp/mysql.sock").login.display_name()
    }

    #[test]
    fn the_highest_layer_decides_part_by_part() {
        let layers = [
            typed(&[("user", "ada")]),
            layer(&[("host", "db1"), ("password", "tulip")]),
            layer(&[("user", "bob"), ("host", "db2"), ("port", "3307"), ("connect-timeout", "4")]),
        ];
        let login = resolve(&layers, &|_| true).login;
        assert_eq!(login.user.as_deref(), Some("ada"));
        assert_eq!(login.password, Some(Secret::new("tulip")));
        assert_eq!(login.display_name(), "db1:3307");
        assert_eq!(login.connect_timeout, Duration::from_secs(4));
        assert_eq!(resolve(&[], &|_| true).login.host, "localhost");
    }

    #[test]
    fn localhost_means_the_socket() {
        let files = layer(&[("socket", "/run/a.sock"), ("port", "3306")]);
        let localhost = typed(&[("host", "LOCALHOST")]);
        assert_eq!(target(&[]), "socket /tmp/mysql.sock");
        assert_eq!(target(std::slice::from_ref(&files)), "socket /run/a.sock");
        assert_eq!(target(&[localhost, files.clone()]), "socket /run/a.sock");
        assert_eq!(target(&[typed(&[("host", "127.0.0.1")]), files.clone()]), "127.0.0.1:3306");
        assert_eq!(target(&[typed(&[("host", "db1")]), files.clone()]), "db1:3306");
        let tcp = layer(&[("protocol", "tcp")]);
        assert_eq!(target(&[tcp, files]), "localhost:3306");
        let login = resolve(&[], &|_| false).login;
        assert_eq!(login.socket.as_deref(), Some(DEFAULT_SOCKETS[0]));
    }

    #[test]
    fn what_was_typed_beats_where_the_files_point() {
        let files = layer(&[("host", "db1"), ("port", "3306"), ("socket", "/run/a.sock")]);
        let socket = typed(&[("socket", "/run/b.sock")]);
        assert_eq!(target(&[socket.clone(), files.clone()]), "socket /run/b.sock");
        let tcp = layer(&[("protocol", "tcp")]);
        assert_eq!(target(&[socket.clone(), tcp]), "socket /run/b.sock");
        let by_socket = layer(&[("protocol", "socket")]);
        assert_eq!(target(&[typed(&[("host", "db2")]), by_socket]), "db2:3306");
        let port = typed(&[("port", "3307")]);
        let local = layer(&[("socket", "/run/a.sock"), ("host", "localhost")]);
        assert_eq!(target(&[port.clone(), local.clone()]), "localhost:3307");
        assert_eq!(target(&[port]), "localhost:3307");
        assert_eq!(target(&[layer(&[("port", "3307")]), local]), "socket /run/a.sock");
        let url = parse_url("mysql://ada@localhost:3310").unwrap();
        assert_eq!(target(&[url, files.clone()]), "localhost:3310");
        let both = typed(&[("socket", "/run/b.sock"), ("port", "3307")]);
        assert_eq!(target(&[both, files]), "socket /run/b.sock");
    }

    #[test]
    fn a_password_is_asked_for_only_where_nobody_higher_gave_one() {
        let mut ask = Layer::default();
        ask.set("password", None).unwrap();
        let given = layer(&[("password", "tulip")]);
        let resolved = resolve(&[ask.clone(), given.clone()], &|_| true);
        assert!(resolved.ask_password && resolved.login.password.is_none());
        let resolved = resolve(&[given.clone(), ask], &|_| true);
        assert!(!resolved.ask_password && resolved.login.password.is_some());
        let none = layer(&[("password", "")]);
        let resolved = resolve(&[none, given], &|_| true);
        assert!(!resolved.ask_password && resolved.login.password.is_none());
    }

    #[test]
    fn encryption_is_decided_by_the_highest_layer_that_asks() {
        let mode = |layers: &[Layer]| resolve(layers, &|_| true).login.tls.mode;
        let required = layer(&[("ssl-mode", "REQUIRED")]);
        let ca = layer(&[("ssl-ca", "/ca.pem")]);
        assert_eq!(mode(&[]), TlsMode::Preferred);
        assert_eq!(mode(&[layer(&[("ssl", "0")]), required.clone()]), TlsMode::Disabled);
        assert_eq!(mode(&[required, ca.clone()]), TlsMode::Required);
        assert_eq!(mode(&[layer(&[("ssl", "1")]), ca.clone()]), TlsMode::VerifyCa);
        assert_eq!(mode(&[ca.clone(), layer(&[("ssl-mode", "DISABLED")])]), TlsMode::VerifyCa);
        let verify = layer(&[("ssl-verify-server-cert", "1")]);
        assert_eq!(mode(&[verify, ca]), TlsMode::VerifyIdentity);
    }
}
