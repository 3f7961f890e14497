//! Logging in: what each authentication plugin wants to hear of the password.
//!
//! The password itself is sent only where nobody can listen (TLS, a unix socket) or encrypted with
//! the server's RSA key. The hashing is `mysql_common`'s.

use std::io::{self, Read, Write};

use mysql_common::crypto;
use mysql_common::scramble::{create_response_for_ed25519, scramble_native, scramble_sha256};

use crate::live::greeting::without_end_mark;
use crate::live::server_error::ServerError;
use crate::live::wire::{Channel, Fields, Packets, invalid};

/// More messages than any plugin needs.
const ROUNDS_MAX: u32 = 10;

/// How a login failed.
#[derive(Debug)]
pub(crate) enum AuthError {
    Io(io::Error),
    Server(ServerError),
    Plugin(String),
}

impl From<io::Error> for AuthError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The plugins that innopool speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plugin {
    Native,
    CachingSha2,
    Sha256,
    Ed25519,
}

impl Plugin {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "mysql_native_password" => Some(Self::Native),
            "caching_sha2_password" => Some(Self::CachingSha2),
            "sha256_password" => Some(Self::Sha256),
            "client_ed25519" => Some(Self::Ed25519),
            _ => None,
        }
    }

    /// The plugin to begin with: the server's own where it answers at once, else the old one, from
    /// which the server switches as it likes.
    pub(crate) fn to_begin_with(offered: &str) -> (Self, &'static str) {
        match Self::of(offered) {
            Some(Self::CachingSha2) => (Self::CachingSha2, "caching_sha2_password"),
            _ => (Self::Native, "mysql_native_password"),
        }
    }

    /// The first answer to a nonce.
    pub(crate) fn first_answer(self, password: &[u8], nonce: &[u8], channel: Channel) -> Vec<u8> {
        let hashed = match self {
            Self::Native => scramble_native(nonce, password).map(Vec::from),
            Self::CachingSha2 => scramble_sha256(nonce, password).map(Vec::from),
            Self::Ed25519 => return create_response_for_ed25519(password, nonce).into(),
            Self::Sha256 if password.is_empty() => return vec![0],
            // Unlike its successor, it takes a local socket for open.
            Self::Sha256 if channel == Channel::Encrypted => return in_clear(password),
            Self::Sha256 => return vec![ASK_SHA256_KEY],
        };
        hashed.unwrap_or_default()
    }
}

const ASK_SHA256_KEY: u8 = 1;
const ASK_CACHING_SHA2_KEY: u8 = 2;
const OK: u8 = 0;
const MORE: u8 = 1;
const SWITCH: u8 = 0xfe;
const CACHE_HIT: u8 = 3;
const WANTS_PASSWORD: u8 = 4;

fn in_clear(password: &[u8]) -> Vec<u8> {
    let mut bytes = password.to_vec();
    bytes.push(0);
    bytes
}

/// Answers the server's questions until it lets us in.
pub(crate) fn log_in<T: Read + Write>(
    packets: &mut Packets<T>,
    channel: Channel,
    mut plugin: Plugin,
    mut nonce: Vec<u8>,
    password: &[u8],
) -> Result<(), AuthError> {
    for _ in 0..ROUNDS_MAX {
        let payload = packets.read()?;
        match payload.as_slice() {
            [OK, ..] => return Ok(()),
            [ServerError::MARK, ..] => return Err(AuthError::Server(ServerError::parse(&payload))),
            [SWITCH] => return Err(AuthError::Plugin("mysql_old_password".to_owned())),
            [SWITCH, rest @ ..] => {
                let mut fields = Fields(rest);
                let name = String::from_utf8_lossy(fields.until_nul()).into_owned();
                plugin = Plugin::of(&name).ok_or(AuthError::Plugin(name))?;
                nonce = without_end_mark(fields.0).to_vec();
                packets.write(&plugin.first_answer(password, &nonce, channel))?;
            }
            [MORE, CACHE_HIT] if plugin == Plugin::CachingSha2 => {}
            [MORE, WANTS_PASSWORD] if plugin == Plugin::CachingSha2 => {
                let message = match channel {
                    Channel::Open => vec![ASK_CACHING_SHA2_KEY],
                    Channel::Encrypted | Channel::Local => in_clear(password),
                };
                packets.write(&message)?;
            }
            [MORE, key @ ..] if has_key(plugin) => {
                packets.write(&encrypted(password, &nonce, key)?)?;
            }
            _ => return Err(invalid("an answer that no login has").into()),
        }
    }
    Err(invalid("it asks on and on").into())
}

fn has_key(plugin: Plugin) -> bool {
    matches!(plugin, Plugin::CachingSha2 | Plugin::Sha256)
}

/// The password under the server's public key, so that only the server can read it.
fn encrypted(password: &[u8], nonce: &[u8], key: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = in_clear(password);
    for (byte, mask) in bytes.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    let key_bytes = modulus_bytes(key).ok_or_else(|| invalid("no RSA key where one belongs"))?;
    // What the padding (OAEP with SHA-1) takes of a block.
    if bytes.len() + 42 > key_bytes {
        return Err(invalid("an RSA key too small for this password"));
    }
    Ok(crypto::encrypt(&bytes, key))
}

/// The length of the modulus of a PEM public key; `None` unless the key is well formed throughout,
/// since the arithmetic panics on others.
fn modulus_bytes(pem: &[u8]) -> Option<usize> {
    use rustls::pki_types::SubjectPublicKeyInfoDer;
    use rustls::pki_types::pem::PemObject;

    let text = std::str::from_utf8(pem).ok()?;
    // The two readers must not see different keys: exactly one, of the form that servers send.
    if text.matches("-----BEGIN").count() != 1 || !text.contains("-----BEGIN PUBLIC KEY-----") {
        return None;
    }
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).ok()?;
    let (outer, rest) = der_element(0x30, &der)?;
    let (_, key) = der_element(0x30, outer)?;
    let (bits, nothing) = der_element(0x03, key)?;
    let (unused, key) = bits.split_first()?;
    let (numbers, end) = der_element(0x30, key)?;
    let (modulus, exponent) = der_element(0x02, numbers)?;
    let (exponent, last) = der_element(0x02, exponent)?;
    let whole = rest.is_empty() && nothing.is_empty() && end.is_empty() && last.is_empty();
    let modulus: &[u8] = match modulus {
        [0, digits @ ..] => digits,
        digits => digits,
    };
    let sane = whole
        && *unused == 0
        && (128..=2048).contains(&modulus.len())
        && modulus.first()? & 0x80 != 0
        && exponent.iter().any(|byte| *byte != 0);
    sane.then_some(modulus.len())
}

/// Splits DER into the content of a first element with this tag, and the rest.
fn der_element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields(der);
    if fields.byte()? != tag {
        return None;
    }
    let length = match fields.byte()? {
        short @ ..=0x7f => usize::from(short),
        0x81 => usize::from(fields.byte()?),
        0x82 => usize::from(u16::from_be_bytes(fields.bytes(2)?.try_into().ok()?)),
        _ => return None,
    };
    let content = fields.bytes(length)?;
    Some((content, fields.0))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    const NONCE: &[u8] = b"12345678abcdefghijkl";

    /// What we write to a server that sends these packets, and how it ends.
    fn exchange(
        channel: Channel,
        plugin: Plugin,
        said: &[&[u8]],
    ) -> (Result<(), AuthError>, Vec<Vec<u8>>) {
        let peer =
            Peer { said: said.iter().map(|part| part.to_vec()).collect(), ..Peer::default() };
        let mut packets = Packets::new(peer);
        let result = log_in(&mut packets, channel, plugin, NONCE.to_vec(), b"tulip");
        (result, std::mem::take(&mut packets.transport_mut().heard))
    }

    /// A server that answers each packet with the next of a list, numbered on.
    #[derive(Default)]
    struct Peer {
        said: std::collections::VecDeque<Vec<u8>>,
        heard: Vec<Vec<u8>>,
        now: Cursor<Vec<u8>>,
        sequence: u8,
    }

    impl Read for Peer {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.now.position() == self.now.get_ref().len() as u64
                && let Some(payload) = self.said.pop_front()
            {
                let mut packet = u32::try_from(payload.len()).unwrap().to_le_bytes();
                packet[3] = self.sequence;
                self.sequence += 1;
                self.now = Cursor::new([&packet, payload.as_slice()].concat());
            }
            self.now.read(buffer)
        }
    }

    impl Write for Peer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.heard.push(bytes[4..].to_vec());
            self.sequence = bytes[3] + 1;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_password_goes_in_clear_only_where_nobody_listens() {
        let asks: &[&[u8]] = &[&[MORE, WANTS_PASSWORD], &[OK]];
        let (result, heard) = exchange(Channel::Local, Plugin::CachingSha2, asks);
        assert!(result.is_ok());
        assert_eq!(heard, [b"tulip\0"]);
        let (_, heard) = exchange(Channel::Open, Plugin::CachingSha2, asks);
        assert_eq!(heard, [[ASK_CACHING_SHA2_KEY]]);
    }

    #[test]
    fn follows_a_switch_of_plugins() {
        let switch = [b"\xfemysql_native_password\0".as_slice(), NONCE, b"\0"].concat();
        let (result, heard) = exchange(Channel::Open, Plugin::CachingSha2, &[&switch, &[OK]]);
        assert!(result.is_ok());
        assert_eq!(heard[0], scramble_native(NONCE, b"tulip").unwrap());
    }

    #[test]
    fn names_a_plugin_it_does_not_have() {
        let (result, heard) =
            exchange(Channel::Encrypted, Plugin::Native, &[b"\xfemysql_clear_password\0"]);
        assert!(matches!(result, Err(AuthError::Plugin(name)) if name == "mysql_clear_password"));
        assert!(heard.is_empty());
    }

    #[test]
    fn a_broken_key_is_an_error() {
        let (result, _) =
            exchange(Channel::Open, Plugin::Sha256, &[b"\x01-----BEGIN PUBLIC KEY-----"]);
        assert!(matches!(result, Err(AuthError::Io(_))));
    }

    /// A key made for this test, which nobody has the other half of.
    const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0ErAwto1FVYs0WzoU2x7
+qYfajOu77wQ2Jhb5RT+DiKjvG4g0gAvexmlSbuFc6McsUGAiNI4/V0CNuE+bRlR
+KYRBWeipQ16waC7rrQIiXkxzZyuRNlGpRS90XxHcGEKCbbYQ9H6MOAcDvwdGz2E
uquoFXRh3wdzD3BDHVKzWYRmuwFd6NcCmXUKMoyWmBowJYIW7Gtry5Y7ShX+hNeM
cSkfIugx/AT+pxVgqJfhtGl94fXMrnbCR9fXbWoeQD1ayDVmes0xauH7Edbl8//T
8+HGDyLz3y38BZ8NJAL5nFgpKs1XZPYJBHnvahzp96gni8wYKqk2/U4mJDJQsVDl
oQIDAQAB
-----END PUBLIC KEY-----
";

    #[test]
    fn a_password_fits_its_key() {
        let key = KEY.as_bytes();
        assert_eq!(modulus_bytes(key), Some(256));
        assert_eq!(encrypted(b"tulip", NONCE, key).unwrap().len(), 256);
        assert!(encrypted(&[b'x'; 214], NONCE, key).is_err());
    }

    #[test]
    fn endless_questions_end() {
        let asks = vec![&[MORE, CACHE_HIT][..]; 40];
        let (result, _) = exchange(Channel::Encrypted, Plugin::CachingSha2, &asks);
        assert!(matches!(result, Err(AuthError::Io(_))));
    }

    proptest! {
        #[test]
        fn a_bent_key_never_panics(at in 0..KEY.len(), byte: u8, cut in 0..KEY.len()) {
            let mut key = KEY.as_bytes().to_vec();
            key[at] = byte;
            let _ = encrypted(b"tulip", NONCE, &key);
            key.truncate(cut);
            let _ = encrypted(b"tulip", NONCE, &key);
        }

        #[test]
        fn garbage_never_panics(said: Vec<Vec<u8>>, open: bool) {
            let channel = if open { Channel::Open } else { Channel::Encrypted };
            let said: Vec<&[u8]> = said.iter().map(Vec::as_slice).collect();
            for plugin in [Plugin::CachingSha2, Plugin::Native, Plugin::Sha256, Plugin::Ed25519] {
                let _ = exchange(channel, plugin, &said);
            }
        }
    }
}
