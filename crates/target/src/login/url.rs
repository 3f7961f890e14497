//! `mysql://user:password@host:port/?option=value`: the server in one word.
//!
//! Reserved characters in a part are percent-encoded (`%2F` for `/`). A schema after the host is
//! passed over: innopool looks at servers, not schemas. Because a password with an unencoded `/` or
//! `?` can end up in any part, no message repeats a part of the URL, except names of options that
//! are like those that exist.

use super::layer::{OPTIONS, port};
use super::{Layer, LoginError, Password, Secret};

/// Reads a `mysql://` or `mariadb://` URL. A host that is a path (`%2Frun%2Fmysqld.sock`) is a
/// socket, and so is the option `socket`.
///
/// # Errors
/// [`LoginError::Url`] says what is wrong and what to write.
pub fn parse_url(url: &str) -> Result<Layer, LoginError> {
    read(url).map_err(LoginError::Url)
}

const ENCODE: &str = "in a user name or password write %40 for '@', %2F for '/', %3F for '?', %23 \
                      for '#' and %3A for ':'";

fn read(url: &str) -> Result<Layer, String> {
    let (scheme, rest) = url
        .trim()
        .split_once("://")
        .ok_or("it must begin with mysql://, as in mysql://user@host:3306")?;
    if !["mysql", "mariadb"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err("only mysql:// and mariadb:// are known".to_owned());
    }
    // Part of a password may stand where a host should: nothing of it may reach a name server.
    if rest
        .find(['/', '?', '#'])
        .is_some_and(|end| rest.get(end..).is_some_and(|t| t.contains('@')))
    {
        return Err(format!("an '@' stands after a '/', '?' or '#'; {ENCODE}"));
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    let authority = before.split('/').next().unwrap_or_default();
    let mut layer = Layer { typed: true, ..Layer::default() };
    let place = match authority.rsplit_once('@') {
        Some((account, place)) => {
            read_account(account, &mut layer)?;
            place
        }
        None => authority,
    };
    read_place(place, &mut layer)?;
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        read_option(pair, &mut layer)?;
    }
    if layer.socket.is_some() && layer.host.as_deref().is_some_and(is_remote) {
        return Err("it names both a host and a socket; give one of them".to_owned());
    }
    Ok(layer)
}

fn is_remote(host: &str) -> bool {
    !host.eq_ignore_ascii_case("localhost")
}

fn read_account(account: &str, layer: &mut Layer) -> Result<(), String> {
    let (user, password) = match account.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (account, None),
    };
    if !user.is_empty() {
        layer.user = Some(decode_text(user, "user name")?);
    }
    if let Some(password) = password {
        layer.password = Some(Password::Given(Secret::new(decode(password, "password")?)));
    }
    Ok(())
}

fn read_place(place: &str, layer: &mut Layer) -> Result<(), String> {
    let (host, port_text) = if let Some(inside) = place.strip_prefix('[') {
        let (host, after) = inside
            .split_once(']')
            .ok_or("the '[' of the address has no ']': write mysql://[2001:db8::1]:3306")?;
        match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => return Err("after the ']' only a port may follow: ':3306'".to_owned()),
        }
    } else {
        match place.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(
                    "an IPv6 address stands in brackets: mysql://[2001:db8::1]:3306 (and a \
                            ':' or '@' in a user name is %3A or %40)"
                        .to_owned(),
                );
            }
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    if let Some(text) = port_text.filter(|text| !text.is_empty()) {
        layer.port = port(text).map_err(|message| {
            format!("{message} (in a password, '/' is %2F, '?' is %3F and '#' is %23)")
        })?;
    }
    let host = decode_text(host, "host")?;
    if host.starts_with('/') {
        layer.socket = Some(host);
    } else if !host.is_empty() {
        layer.host = Some(host);
    }
    Ok(())
}

fn read_option(pair: &str, layer: &mut Layer) -> Result<(), String> {
    if pair.is_empty() {
        return Ok(());
    }
    let (name, value) = match pair.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (pair, None),
    };
    let name = decode_text(name, "name of an option")?;
    let value = value.map(|value| decode_text(value, "value of an option")).transpose()?;
    if layer.set(&name, value.as_deref())? {
        Ok(())
    } else {
        Err(format!("an option after the '?' is not known; known are {}", OPTIONS.join(", ")))
    }
}

fn decode_text(part: &str, what: &str) -> Result<String, String> {
    let bytes = decode(part, what)?;
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => Err(format!("the {what} contains %00")),
        Ok(text) => Ok(text),
        Err(_) => Err(format!("the {what} is not UTF-8")),
    }
}

/// Resolves percent-encoding.
fn decode(part: &str, what: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        match (digit(), digit()) {
            // Below 256: two hexadecimal digits.
            (Some(high), Some(low)) => bytes.extend(u8::try_from(high * 16 + low)),
            _ => {
                return Err(format!(
                    "in the {what}, '%' must be followed by two hexadecimal digits; a '%' itself \
                     is %25"
                ));
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::TlsMode;
    use proptest::prelude::*;
    use std::time::Duration;

    fn place(url: &str) -> (Option<String>, Option<u16>, Option<String>) {
        let layer = parse_url(url).unwrap();
        assert!(layer.typed);
        (layer.host, layer.port, layer.socket)
    }

    fn host(name: &str, port: Option<u16>) -> (Option<String>, Option<u16>, Option<String>) {
        (Some(name.to_owned()), port, None)
    }

    #[test]
    fn reads_hosts_ports_and_sockets() {
        assert_eq!(place("mysql://db1:3307/"), host("db1", Some(3307)));
        assert_eq!(place("mysql://ada@db1.example"), host("db1.example", None));
        assert_eq!(place("MariaDB://db1:/shop?#x"), host("db1", None));
        assert_eq!(place("mysql://[2001:db8::1]:3306"), host("2001:db8::1", Some(3306)));
        assert_eq!(place("mysql://ada:x@[::1]/"), host("::1", None));
        assert_eq!(place("mysql://[fe80::1%25eth0]"), host("fe80::1%eth0", None));
        assert_eq!(place("mysql://"), (None, None, None));
        assert_eq!(place("mysql://ada@:3307"), (None, Some(3307), None));
        let socket = (None, None, Some("/run/my sql.sock".to_owned()));
        assert_eq!(place("mysql://ada@%2Frun%2Fmy%20sql.sock/"), socket);
        assert_eq!(place("mysql:///?socket=/run/my%20sql.sock"), socket);
    }

    #[test]
    fn reads_accounts_and_options() {
        let url = "mysql://a%40da:tu%3Alip%2f@db1/?ssl-mode=verify_ca&ssl_ca=/c%26a.pem\
                   &connect-timeout=3&protocol=tcp";
        let layer = parse_url(url).unwrap();
        assert_eq!(layer.user.as_deref(), Some("a@da"));
        assert_eq!(layer.password, Some(Password::Given(Secret::new("tu:lip/"))));
        assert_eq!(layer.tls_mode, Some(TlsMode::VerifyCa));
        assert_eq!(layer.tls_ca.as_deref(), Some("/c&a.pem"));
        assert_eq!(layer.connect_timeout, Some(Duration::from_secs(3)));
        // An '@' in the password need not be encoded, nor need its bytes be text.
        let layer = parse_url("mysql://ada:tu@lip%FF@db1").unwrap();
        let password = Password::Given(Secret::new(b"tu@lip\xff".to_vec()));
        assert_eq!((layer.host.as_deref(), layer.password), (Some("db1"), Some(password)));
        let layer = parse_url("mysql://:tulip@db1?ssl").unwrap();
        assert_eq!((layer.user, layer.tls), (None, Some(true)));
    }

    #[test]
    fn says_what_is_wrong_without_repeating_the_password() {
        for (url, said) in [
            ("ada:tulip@db1", "begin with mysql://"),
            ("postgres://ada:tulip@db1", "only mysql://"),
            ("mysql://ada:x@tulip/y@db1:3306", "%40"),
            ("mysql://ada:x@tulip?y@db1", "%3F"),
            ("mysql://ada:x@tulip#y@db1", "%23"),
            ("mysql://db1/?user=a@tulip", "%40"),
            ("mysql://ada:tulip/x@db1", "%2F"),
            ("mysql://ada:tulip?x@db1", "%2F"),
            ("mysql://ada:tulip@db1:x", "65535"),
            ("mysql://ada:tulip@db1:70000", "65535"),
            ("mysql://ada:tulip%zz@db1", "%25"),
            ("mysql://ada:tulip@db1%2", "%25"),
            ("mysql://ada:tulip@[::1", "no ']'"),
            ("mysql://ada:tulip@[::1]x", "':3306'"),
            ("mysql://ada:tulip@2001:db8::1", "brackets"),
            ("mysql://ada:tulip@db1?tulip=1", "known are user"),
            ("mysql://ada:tulip@db1?ssl-mode=tulip", "VERIFY_IDENTITY"),
            ("mysql://ada:tulip@db1?socket=/x", "both a host and a socket"),
            ("mysql://ada:tulip@db%00", "%00"),
            ("mysql://ada:tulip@db%ff", "not UTF-8"),
        ] {
            let message = parse_url(url).unwrap_err().to_string();
            assert!(message.contains(said), "{url}: {message}");
            assert!(!message.contains("tulip"), "{url}: {message}");
        }
    }

    fn encode(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02x}")).collect()
    }

    proptest! {
        #[test]
        fn an_encoded_account_comes_back(user in "[^\0]{1,12}", password in ".{0,12}") {
            let url = format!("mysql://{}:{}@db1", encode(&user), encode(&password));
            let layer = parse_url(&url).unwrap();
            prop_assert_eq!(layer.user, Some(user));
            prop_assert_eq!(layer.password, Some(Password::Given(Secret::new(password))));
        }

        #[test]
        fn no_error_repeats_a_password(
            password in "tulip[a-z/?#@:%&=\\[\\]]{0,6}",
            place in "[a-z/?#@:%&=\\[\\]]{0,8}",
        ) {
            if let Err(error) = parse_url(&format!("mysql://ada:{password}@{place}")) {
                prop_assert!(!error.to_string().contains("tulip"));
            }
        }
    }
}
