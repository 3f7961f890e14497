//! The first packet of a server, and our answer to it.

use crate::live::wire::Fields;

/// Capabilities, as the protocol numbers them.
pub(crate) mod capability {
    pub(crate) const LONG_PASSWORD: u32 = 1;
    pub(crate) const LONG_FLAG: u32 = 1 << 2;
    pub(crate) const PROTOCOL_41: u32 = 1 << 9;
    pub(crate) const SSL: u32 = 1 << 11;
    pub(crate) const TRANSACTIONS: u32 = 1 << 13;
    pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(crate) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(crate) const CONNECT_ATTRS: u32 = 1 << 20;
}

/// What we ask for: no files, no compression, one statement at a time.
const WANTED: u32 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS;

/// utf8mb4_general_ci, which every supported server has.
const COLLATION: u8 = 45;

/// The largest packet that we claim to take.
const PACKET_MAX: u32 = 16 << 20;

/// What a server says of itself before anybody logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    pub(crate) capabilities: u32,
    /// The plugin of its default account.
    pub(crate) plugin: String,
    /// Random bytes that the answer to the password question depends on.
    pub(crate) nonce: Vec<u8>,
}

impl Greeting {
    /// Reads protocol version 10; `None` for anything else.
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        if fields.byte()? != 10 {
            return None;
        }
        let version = String::from_utf8_lossy(fields.until_nul()).into_owned();
        fields.bytes(4)?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.byte()?;
        let mut capabilities = u32::from(fields.u16()?);
        // Servers before 4.1 end here; they are told apart by their capabilities.
        if !fields.0.is_empty() {
            fields.bytes(3)?;
            capabilities |= u32::from(fields.u16()?) << 16;
            let nonce_length = usize::from(fields.byte()?);
            fields.bytes(10)?;
            nonce.extend_from_slice(fields.bytes(nonce_length.saturating_sub(8).max(13))?);
        }
        Some(Self {
            version,
            capabilities,
            plugin: String::from_utf8_lossy(fields.until_nul()).into_owned(),
            nonce: without_end_mark(&nonce).to_vec(),
        })
    }

    /// True when the server has all of these capabilities.
    pub(crate) fn can(&self, capabilities: u32) -> bool {
        self.capabilities & capabilities == capabilities
    }
}

/// The nonce without the NUL that closes it in a packet. A nonce has 20 bytes, or 32 for ed25519.
pub(crate) fn without_end_mark(nonce: &[u8]) -> &[u8] {
    match nonce {
        [body @ .., 0] if body.len() == 20 || body.len() == 32 => body,
        whole => whole,
    }
}

/// The request to go on encrypted: the head of the answer.
pub(crate) fn tls_request(server_capabilities: u32) -> Vec<u8> {
    head(WANTED & server_capabilities | capability::SSL)
}

/// The answer to a greeting: who we are, and the first word on the password.
pub(crate) fn answer(
    server_capabilities: u32,
    encrypted: bool,
    user: &[u8],
    plugin: &str,
    secret: &[u8],
) -> Vec<u8> {
    let mut capabilities = WANTED & server_capabilities;
    if encrypted {
        capabilities |= capability::SSL;
    }
    let mut payload = head(capabilities);
    payload.extend(user.iter().copied().filter(|byte| *byte != 0));
    payload.push(0);
    // No plugin that answers at once has more than 32 bytes to say.
    payload.push(u8::try_from(secret.len()).unwrap_or(0));
    payload.extend_from_slice(secret);
    if capabilities & capability::PLUGIN_AUTH != 0 {
        payload.extend_from_slice(plugin.as_bytes());
        payload.push(0);
    }
    if capabilities & capability::CONNECT_ATTRS != 0 {
        payload.extend(attributes());
    }
    payload
}

fn head(capabilities: u32) -> Vec<u8> {
    let mut payload = Vec::with_capacity(128);
    payload.extend(capabilities.to_le_bytes());
    payload.extend(PACKET_MAX.to_le_bytes());
    payload.push(COLLATION);
    payload.extend([0; 23]);
    payload
}

/// How an administrator recognises us in `session_connect_attrs`.
fn attributes() -> Vec<u8> {
    let mut list = Vec::new();
    for (name, value) in
        [("program_name", "innopool"), ("_client_version", env!("CARGO_PKG_VERSION"))]
    {
        for text in [name, value] {
            // Short constants: one byte of length each, and of the list.
            list.push(u8::try_from(text.len()).unwrap_or(0));
            list.extend_from_slice(text.as_bytes());
        }
    }
    list.insert(0, u8::try_from(list.len()).unwrap_or(0));
    list
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A greeting as a server writes it.
    pub(crate) fn greeting(version: &str, capabilities: u32, plugin: &str) -> Vec<u8> {
        let mut bytes = vec![10];
        bytes.extend_from_slice(version.as_bytes());
        bytes.extend([0, 7, 0, 0, 0]);
        bytes.extend(*b"12345678\0");
        bytes.extend_from_slice(&capabilities.to_le_bytes()[..2]);
        bytes.extend([45, 2, 0]);
        bytes.extend_from_slice(&capabilities.to_le_bytes()[2..]);
        bytes.push(21);
        bytes.extend([0; 10]);
        bytes.extend(*b"abcdefghijkl\0");
        bytes.extend_from_slice(plugin.as_bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn reads_version_nonce_and_plugin() {
        let bytes = greeting("9.7.4-2", WANTED, "caching_sha2_password");
        let greeting = Greeting::parse(&bytes).unwrap();
        assert_eq!(greeting.version, "9.7.4-2");
        assert_eq!(greeting.nonce, b"12345678abcdefghijkl");
        assert_eq!(greeting.plugin, "caching_sha2_password");
        assert!(greeting.can(capability::PLUGIN_AUTH));
        assert!(!greeting.can(capability::SSL));
    }

    #[test]
    fn answers_only_what_the_server_can() {
        let payload = answer(capability::PROTOCOL_41, false, b"ada", "x", b"secret");
        assert_eq!(payload[..4], capability::PROTOCOL_41.to_le_bytes());
        assert_eq!(&payload[32..], b"ada\0\x06secret");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut greeting = vec![10];
            greeting.extend(bytes);
            let _ = Greeting::parse(&greeting);
        }
    }
}
