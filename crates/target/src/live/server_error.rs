//! The error packet.

use crate::live::error::quoted;
use crate::live::wire::Fields;

/// An error as a server sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    /// Its text, fit to be shown.
    pub(crate) message: String,
}

impl ServerError {
    /// The first byte of an error packet.
    pub(crate) const MARK: u8 = 0xff;

    /// Reads an error packet; a cut one gives code 0.
    pub(crate) fn parse(payload: &[u8]) -> Self {
        let mut fields = Fields(payload.get(1..).unwrap_or_default());
        let code = fields.u16().unwrap_or(0);
        // The SQL state is missing before the client said that it knows what that is.
        let text = match fields.0 {
            [b'#', rest @ ..] if rest.len() >= 5 => &rest[5..],
            text => text,
        };
        Self { code, message: quoted(&String::from_utf8_lossy(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_with_and_without_state() {
        let error = ServerError::parse(b"\xff\x15\x04#28000Access denied");
        assert_eq!((error.code, error.message.as_str()), (1045, "Access denied"));
        let error = ServerError::parse(b"\xff\x10\x04Too many connections");
        assert_eq!(error.code, 1040);
        assert_eq!(error.message, "Too many connections");
        assert_eq!(ServerError::parse(&[0xff]).code, 0);
    }
}
