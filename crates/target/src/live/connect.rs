//! One connection to a server, which never makes its user wait beyond a limit.
//!
//! The protocol's client side is written here on plain sockets rather than taken from the `mysql`
//! crate, because that crate cannot be handed a socket: its time limit starts anew with every byte
//! that a peer drips, it connects twice to a server without TLS, and with `VERIFY_CA` it would take
//! a certificate of any public authority.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::live::error::{ConnectError, QueryError, shortened};
use crate::live::opening::{Opening, deadline, plain};
use crate::live::server_error::ServerError;
use crate::live::wire::{Channel, Fields, Packets, Transport, invalid};
use crate::login::Login;
use crate::table::Table;

/// How long to wait for an answer to one statement when nobody said.
pub const DEFAULT_STATEMENT_LIMIT: Duration = Duration::from_secs(5);

/// How long to wait. The time for connecting, from the look-up of the name to the end of the login,
/// is the login's own [`connect_timeout`](Login::connect_timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the whole answer to one statement.
    pub statement: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { statement: DEFAULT_STATEMENT_LIMIT }
    }
}

/// A session on a server. Statements are sent as they are; nothing else is sent but the login and
/// the farewell.
pub struct Connection {
    login: Login,
    limits: Limits,
    /// `None` once given up.
    packets: Option<Packets<Transport>>,
    /// Why it was given up.
    reason: String,
    server_version: String,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("login", &self.login)
            .field("limits", &self.limits)
            .field("server_version", &self.server_version)
            .field("open", &self.packets.is_some())
            .finish()
    }
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// One line that says what is wrong, at the latest after the login's `connect_timeout`.
    pub fn open(login: &Login, limits: Limits) -> Result<Self, ConnectError> {
        let (packets, server_version) = Opening::new(login).run()?;
        Ok(Self {
            login: login.clone(),
            limits,
            packets: Some(packets),
            reason: String::new(),
            server_version,
        })
    }

    /// Connects anew, to the same server in the same way, if the connection was given up.
    ///
    /// # Errors
    /// As [`Connection::open`]; the connection stays given up.
    pub fn reopen(&mut self) -> Result<(), ConnectError> {
        if self.packets.is_none() {
            let (packets, server_version) = Opening::new(&self.login).run()?;
            self.packets = Some(packets);
            self.server_version = server_version;
        }
        Ok(())
    }

    /// The server as it may be shown and saved: host and port, or the socket.
    pub fn name(&self) -> String {
        self.login.display_name()
    }

    /// The version that the server greeted with. A proxy may greet with its own: `@@version` is
    /// what counts.
    pub fn greeted_version(&self) -> &str {
        &self.server_version
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// True when nobody between here and the server can listen.
    pub fn is_private(&self) -> bool {
        self.packets.as_ref().is_some_and(|packets| packets.channel() != Channel::Open)
    }

    /// False once a statement stalled or the connection broke.
    pub fn is_open(&self) -> bool {
        self.packets.is_some()
    }

    /// Runs one statement and returns its rows; a statement without a result gives no columns.
    ///
    /// # Errors
    /// [`QueryError::Refused`] leaves the connection good; after anything else it is given up, and
    /// every later statement says so until [`Connection::reopen`].
    pub fn query(&mut self, sql: &str) -> Result<Table, QueryError> {
        let Some(packets) = &mut self.packets else {
            return Err(QueryError::GivenUp { reason: self.reason.clone() });
        };
        packets.begin(deadline(self.limits.statement));
        let error = match ask(packets, sql) {
            Ok(Answer::Rows(table)) => return Ok(table),
            Ok(Answer::Refused(error)) => {
                return Err(QueryError::Refused {
                    statement: shortened(sql),
                    code: error.code,
                    message: error.message,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                QueryError::Stalled { statement: shortened(sql), limit: self.limits.statement }
            }
            Err(error) => QueryError::Lost { statement: shortened(sql), reason: plain(&error) },
        };
        self.packets = None;
        self.reason = error.to_string();
        Err(error)
    }
}

impl Drop for Connection {
    /// Says farewell, so that the server does not count an aborted client.
    fn drop(&mut self) {
        const COM_QUIT: u8 = 1;
        if let Some(packets) = &mut self.packets {
            packets.begin(deadline(Duration::from_millis(100)));
            // The connection ends either way.
            let _ = packets.write(&[COM_QUIT]);
        }
    }
}

enum Answer {
    Rows(Table),
    Refused(ServerError),
}

/// Sends a statement and reads its answer.
fn ask(packets: &mut Packets<Transport>, sql: &str) -> io::Result<Answer> {
    const COM_QUERY: u8 = 3;
    const OK: u8 = 0;
    const LOCAL_INFILE: u8 = 0xfb;
    let mut command = vec![COM_QUERY];
    command.extend_from_slice(sql.as_bytes());
    packets.write(&command)?;
    let first = packets.read()?;
    match first.first() {
        Some(&OK) => Ok(Answer::Rows(Table::default())),
        Some(&ServerError::MARK) => Ok(Answer::Refused(ServerError::parse(&first))),
        Some(&LOCAL_INFILE) => Err(invalid("the server asks for a file of this machine")),
        _ => rows(packets, &first),
    }
}

/// A result never has more columns than this.
const COLUMNS_MAX: u64 = 4096;

fn rows(packets: &mut Packets<Transport>, first: &[u8]) -> io::Result<Answer> {
    let columns = Fields(first)
        .length()
        .filter(|columns| (1..=COLUMNS_MAX).contains(columns))
        .ok_or_else(|| invalid("no answer to a statement"))?;
    let mut table = Table::default();
    for _ in 0..columns {
        let definition = packets.read()?;
        let name =
            column_name(&definition).ok_or_else(|| invalid("no column where one belongs"))?;
        table.columns.push(name);
    }
    if !is_end(&packets.read()?) {
        return Err(invalid("no end of the columns"));
    }
    loop {
        let payload = packets.read()?;
        if is_end(&payload) {
            return Ok(Answer::Rows(table));
        }
        if payload.first() == Some(&ServerError::MARK) {
            return Ok(Answer::Refused(ServerError::parse(&payload)));
        }
        let cells: Option<Vec<_>> = {
            let mut fields = Fields(&payload);
            (0..columns).map(|_| cell(&mut fields)).collect()
        };
        table.push(cells.ok_or_else(|| invalid("a row that breaks off"))?);
    }
}

/// The packet that ends columns and rows.
fn is_end(payload: &[u8]) -> bool {
    payload.first() == Some(&0xfe) && payload.len() < 9
}

/// The name shown for a column: the fifth of its texts.
fn column_name(definition: &[u8]) -> Option<String> {
    let mut fields = Fields(definition);
    for _ in 0..4 {
        fields.counted()?;
    }
    Some(String::from_utf8_lossy(fields.counted()?).into_owned())
}

/// The next cell of a row: NULL is `Some(None)`, a row that ends early is `None`.
fn cell(fields: &mut Fields<'_>) -> Option<Option<String>> {
    const NULL: u8 = 0xfb;
    if fields.0.first() == Some(&NULL) {
        fields.byte()?;
        return Some(None);
    }
    Some(Some(String::from_utf8_lossy(fields.counted()?).into_owned()))
}
