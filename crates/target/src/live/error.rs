//! What can go wrong between us and a server, each as one line that says what to do about it.
//!
//! The text of a server's own message is quoted with control characters removed and its length
//! bounded, since a terminal will show it. No message holds a password.

use std::time::Duration;

/// Why no connection came about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The name has no address.
    #[error("cannot find the host {host}: {reason}")]
    UnknownHost {
        /// The name as given.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// Nobody answers there, or the way is barred.
    #[error("cannot reach {address}: {reason}")]
    Unreachable {
        /// Host and port, or the socket's path.
        address: String,
        /// The operating system's words.
        reason: String,
    },
    /// The time limit passed.
    #[error("gave up on {address} after {} s: {phase}", .limit.as_secs_f32())]
    Stalled {
        /// Host and port, or the socket's path.
        address: String,
        /// How far it came.
        phase: &'static str,
        /// The limit that was set.
        limit: Duration,
    },
    /// Somebody answers, in another language.
    #[error("{address} is not a MySQL or MariaDB server: {said}")]
    NotMysql {
        /// Host and port, or the socket's path.
        address: String,
        /// What it said.
        said: String,
    },
    /// User name or password.
    #[error("{address} refuses this user name and password: {message}")]
    Denied {
        /// Host and port, or the socket's path.
        address: String,
        /// The server's words.
        message: String,
    },
    /// The account wants a way to log in that innopool does not have.
    #[error(
        "{address} wants this account to log in with the plugin {plugin}, which innopool cannot: \
         use an account with a password (caching_sha2_password, mysql_native_password or ed25519)"
    )]
    Plugin {
        /// Host and port, or the socket's path.
        address: String,
        /// The plugin's name.
        plugin: String,
    },
    /// `max_connections` is used up.
    #[error(
        "{address} has no connection left ({message}): an account with CONNECTION_ADMIN (MySQL 8), \
         SUPER (older) or CONNECTION ADMIN (MariaDB) may use the one kept in reserve"
    )]
    TooManyConnections {
        /// Host and port.
        address: String,
        /// The server's words.
        message: String,
    },
    /// `max_connect_errors`, or no account for this host.
    #[error("{address} does not let this host in: {message}")]
    HostRefused {
        /// Host and port.
        address: String,
        /// The server's words.
        message: String,
    },
    /// Encryption was asked for, and the server has none.
    #[error(
        "{address} offers no TLS: give the server a certificate, or allow an unencrypted \
         connection with --ssl-mode=PREFERRED"
    )]
    NoTls {
        /// Host and port.
        address: String,
    },
    /// The TLS handshake failed.
    #[error("no secure connection to {address}: {reason}")]
    Tls {
        /// Host and port.
        address: String,
        /// What failed, and what to do.
        reason: String,
    },
    /// A certificate or key file of ours.
    #[error("cannot use {path} ({option}): {reason}")]
    File {
        /// The file.
        path: String,
        /// The option that named it.
        option: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Options that do not go together.
    #[error("{0}")]
    Options(String),
    /// Another refusal of the server.
    #[error("{address} refuses the connection: {message} (error {code})")]
    Refused {
        /// Host and port, or the socket's path.
        address: String,
        /// The server's error number.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// It closed the connection, or broke the protocol, in the middle of the handshake.
    #[error("{address} broke off the handshake: {reason}")]
    Broken {
        /// Host and port, or the socket's path.
        address: String,
        /// What happened.
        reason: String,
    },
}

/// Why a statement has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The server refused the statement; the connection is good.
    #[error("the server refuses {statement}: {message} (error {code})")]
    Refused {
        /// The statement, shortened.
        statement: String,
        /// The server's error number.
        code: u16,
        /// The server's words.
        message: String,
    },
    /// No answer in time. The connection is given up.
    #[error("no answer within {} s to {statement}; the connection was given up", .limit.as_secs_f32())]
    Stalled {
        /// The statement, shortened.
        statement: String,
        /// The limit that was set.
        limit: Duration,
    },
    /// The connection broke, or the answer made no sense. The connection is given up.
    #[error("lost the connection during {statement}: {reason}")]
    Lost {
        /// The statement, shortened.
        statement: String,
        /// What happened.
        reason: String,
    },
    /// An earlier statement stalled or lost the connection.
    #[error("the connection was given up earlier: {reason}")]
    GivenUp {
        /// Why it was given up.
        reason: String,
    },
}

impl QueryError {
    /// The server's error number, when the server itself refused.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// Longest text of a server that is quoted, in characters.
const QUOTED_MAX: usize = 300;

/// A foreign text as it may be shown: one line, without control characters, not endless.
pub(crate) fn quoted(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.trim().chars().map(clean).take(QUOTED_MAX).collect();
    if text.trim().chars().nth(QUOTED_MAX).is_some() {
        line.push('…');
    }
    line
}

/// Longest part of a statement that is quoted, in characters.
const STATEMENT_MAX: usize = 60;

/// The beginning of a statement, enough to recognise it.
pub(crate) fn shortened(sql: &str) -> String {
    let mut words: String = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(STATEMENT_MAX) {
        words.truncate(end);
        words.push_str(" ...");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_one_bounded_line() {
        assert_eq!(quoted("  no\nway\u{1b}[31m "), "no way [31m");
        assert_eq!(quoted(&"ä".repeat(400)).chars().count(), QUOTED_MAX + 1);
    }

    #[test]
    fn statements_are_shortened_at_a_character() {
        assert_eq!(shortened("SELECT\n   1"), "SELECT 1");
        let long = shortened(&"ß".repeat(100));
        assert!(long.ends_with("ß ..."), "{long}");
    }
}
