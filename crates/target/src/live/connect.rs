//! One connection to a server, which never makes its user wait beyond a limit.
//!
//! The protocol's client side is written here on plain sockets rather than taken from the `mysql`
//! crate, because that crate cannot be handed a socket: its time limit starts anew with every byte
//! that a peer drips, it connects twice to a server without TLS, and with `VERIFY_CA` it would take
//! a certificate of any public authority.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::live::auth::{AuthError, Plugin, log_in};
use crate::live::error::{ConnectError, QueryError, quoted, shortened};
use crate::live::greeting::{self, Greeting, capability};
use crate::live::server_error::ServerError;
use crate::live::tls;
use crate::live::wire::{Channel, DeadlineSocket, Fields, Packets, Transport, invalid};
use crate::login::{Login, TlsMode};
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
        Self {
            statement: DEFAULT_STATEMENT_LIMIT,
        }
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
        self.packets
            .as_ref()
            .is_some_and(|packets| packets.channel() != Channel::Open)
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
            return Err(QueryError::GivenUp {
                reason: self.reason.clone(),
            });
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
            Err(error) if error.kind() == io::ErrorKind::TimedOut => QueryError::Stalled {
                statement: shortened(sql),
                limit: self.limits.statement,
            },
            Err(error) => QueryError::Lost {
                statement: shortened(sql),
                reason: plain(&error),
            },
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

fn deadline(limit: Duration) -> Instant {
    // A limit beyond what the clock can count is as good as a year.
    let now = Instant::now();
    now.checked_add(limit)
        .unwrap_or_else(|| now + Duration::from_secs(31_536_000))
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
    Some(Some(
        String::from_utf8_lossy(fields.counted()?).into_owned(),
    ))
}

/// An I/O error in words.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => quoted(&error.to_string()),
    }
}

/// A connection that is being made.
struct Opening<'l> {
    login: &'l Login,
    address: String,
    limit: Duration,
    deadline: Instant,
}

impl<'l> Opening<'l> {
    fn new(login: &'l Login) -> Self {
        Self {
            login,
            address: match &login.socket {
                Some(path) => path.clone(),
                None => login.display_name(),
            },
            limit: login.connect_timeout,
            deadline: deadline(login.connect_timeout),
        }
    }

    fn run(&self) -> Result<(Packets<Transport>, String), ConnectError> {
        let socket = match &self.login.socket {
            Some(path) => self.unix(path)?,
            None => self.tcp()?,
        };
        let mut packets = Packets::new(Transport::Plain(socket));
        let greeting = self.greeting(&mut packets)?;
        let encrypt = self.encrypts(&greeting)?;
        if encrypt {
            packets = self.encrypted(packets, &greeting)?;
        }
        self.log_in(&mut packets, &greeting, encrypt)?;
        Ok((packets, greeting.version))
    }

    #[cfg(unix)]
    fn unix(&self, path: &str) -> Result<DeadlineSocket, ConnectError> {
        let owned = path.to_owned();
        // A frozen server's queue of connections may be full, and then the kernel waits.
        let socket = self
            .in_time("it does not take up the connection", move || {
                UnixStream::connect(owned)
            })?
            .map_err(|error| self.unreachable(&error))?;
        Ok(DeadlineSocket::unix(socket, self.deadline))
    }

    #[cfg(not(unix))]
    fn unix(&self, _: &str) -> Result<DeadlineSocket, ConnectError> {
        Err(ConnectError::Options(
            "this system has no unix sockets: connect with --host".to_owned(),
        ))
    }

    fn tcp(&self) -> Result<DeadlineSocket, ConnectError> {
        let addresses = self.addresses()?;
        let mut failure = io::Error::from(io::ErrorKind::NotFound);
        for (index, address) in addresses.iter().enumerate() {
            let left = self.left();
            // Each address gets its share, so that a dead first one leaves time for the others.
            let others = u32::try_from(addresses.len() - index).unwrap_or(1);
            let share = (left / others.max(1)).max(Duration::from_millis(1));
            match TcpStream::connect_timeout(address, share) {
                Ok(socket) => return Ok(DeadlineSocket::tcp(socket, self.deadline)),
                Err(error) => failure = error,
            }
        }
        if failure.kind() == io::ErrorKind::TimedOut {
            return Err(self.stalled("no answer; a firewall or a wrong address?"));
        }
        Err(self.unreachable(&failure))
    }

    fn addresses(&self) -> Result<Vec<SocketAddr>, ConnectError> {
        let target = (self.login.host.clone(), self.login.port);
        let unknown = |reason: String| ConnectError::UnknownHost {
            host: quoted(&self.login.host),
            reason,
        };
        let found: Vec<_> = self
            .in_time("its name is being looked up", move || {
                target.to_socket_addrs().map(Iterator::collect)
            })?
            .map_err(|error: io::Error| unknown(quoted(&error.to_string())))?;
        if found.is_empty() {
            return Err(unknown("it has no address".to_owned()));
        }
        Ok(found)
    }

    /// Does what cannot be told a time limit on a thread of its own, which is left behind when the
    /// limit passes; the kernel or the resolver ends it.
    fn in_time<T: Send + 'static>(
        &self,
        phase: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ConnectError> {
        let (sender, receiver) = mpsc::channel();
        let spawned = thread::Builder::new()
            .name("innopool-connect".to_owned())
            .spawn(move || sender.send(work()));
        if let Err(error) = spawned {
            return Err(self.unreachable(&error));
        }
        receiver
            .recv_timeout(self.left())
            .map_err(|_| self.stalled(phase))
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn greeting(&self, packets: &mut Packets<Transport>) -> Result<Greeting, ConnectError> {
        let payload = match packets.read() {
            Ok(payload) => payload,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let phase = if packets.first_bytes().is_empty() {
                    "it takes the connection and says nothing; is this the server's port?"
                } else {
                    "its greeting does not end"
                };
                return Err(self.stalled(phase));
            }
            Err(error) => {
                return Err(match packets.first_bytes() {
                    [] => self.broken(&error),
                    said => self.not_mysql(said),
                });
            }
        };
        if payload.first() == Some(&ServerError::MARK) {
            return Err(self.refused(ServerError::parse(&payload)));
        }
        match Greeting::parse(&payload) {
            Some(greeting) if greeting.can(capability::PROTOCOL_41) => Ok(greeting),
            Some(greeting) => {
                Err(self
                    .not_mysql(format!("{} is older than MySQL 4.1", greeting.version).as_bytes()))
            }
            None => Err(self.not_mysql(packets.first_bytes())),
        }
    }

    fn encrypts(&self, greeting: &Greeting) -> Result<bool, ConnectError> {
        let mode = self.login.tls.mode;
        if self.login.socket.is_some() || mode == TlsMode::Disabled {
            return Ok(false);
        }
        match greeting.can(capability::SSL) {
            true => Ok(true),
            false if mode == TlsMode::Preferred => Ok(false),
            false => Err(ConnectError::NoTls {
                address: self.address.clone(),
            }),
        }
    }

    fn encrypted(
        &self,
        mut packets: Packets<Transport>,
        greeting: &Greeting,
    ) -> Result<Packets<Transport>, ConnectError> {
        let session = tls::session(self.login)?;
        let failed = |error| self.failed(error, "the TLS handshake does not end");
        packets
            .write(&greeting::tls_request(greeting.capabilities))
            .map_err(failed)?;
        let mut packets = packets.encrypt(session).map_err(failed)?;
        if let Transport::Tls(stream) = packets.transport_mut() {
            while stream.conn.is_handshaking() {
                stream.conn.complete_io(&mut stream.sock).map_err(failed)?;
            }
        }
        Ok(packets)
    }

    fn log_in(
        &self,
        packets: &mut Packets<Transport>,
        greeting: &Greeting,
        encrypted: bool,
    ) -> Result<(), ConnectError> {
        let password = match &self.login.password {
            Some(secret) => secret.expose(),
            None => &[],
        };
        let user = self.login.user.as_deref().unwrap_or_default().as_bytes();
        let channel = packets.channel();
        let (plugin, name) = Plugin::to_begin_with(&greeting.plugin);
        let secret = plugin.first_answer(password, &greeting.nonce, channel);
        let answer = greeting::answer(greeting.capabilities, encrypted, user, name, &secret);
        packets
            .write(&answer)
            .map_err(AuthError::Io)
            .and_then(|()| log_in(packets, channel, plugin, greeting.nonce.clone(), password))
            .map_err(|error| match error {
                AuthError::Io(error) => self.failed(error, "the login does not end"),
                AuthError::Server(error) => self.refused(error),
                AuthError::Plugin(plugin) => ConnectError::Plugin {
                    address: self.address.clone(),
                    plugin: quoted(&plugin),
                },
            })
    }

    fn failed(&self, error: io::Error, phase: &'static str) -> ConnectError {
        if error.kind() == io::ErrorKind::TimedOut {
            return self.stalled(phase);
        }
        match tls::explain(&error, self.login) {
            Some(reason) => ConnectError::Tls {
                address: self.address.clone(),
                reason,
            },
            None => self.broken(&error),
        }
    }

    fn stalled(&self, phase: &'static str) -> ConnectError {
        ConnectError::Stalled {
            address: self.address.clone(),
            phase,
            limit: self.limit,
        }
    }

    fn unreachable(&self, error: &io::Error) -> ConnectError {
        ConnectError::Unreachable {
            address: self.address.clone(),
            reason: quoted(&error.to_string()),
        }
    }

    fn broken(&self, error: &io::Error) -> ConnectError {
        ConnectError::Broken {
            address: self.address.clone(),
            reason: plain(error),
        }
    }

    fn refused(&self, error: ServerError) -> ConnectError {
        let address = self.address.clone();
        let message = error.message;
        match error.code {
            1040 | 1203 => ConnectError::TooManyConnections { address, message },
            1129 | 1130 => ConnectError::HostRefused { address, message },
            1045 | 1698 => ConnectError::Denied { address, message },
            code => ConnectError::Refused {
                address,
                code,
                message,
            },
        }
    }

    fn not_mysql(&self, said: &[u8]) -> ConnectError {
        ConnectError::NotMysql {
            address: self.address.clone(),
            said: what_was_said(said),
        }
    }
}

/// What a stranger said, in words where there are any.
fn what_was_said(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    // The first message of MySQL's other protocol: a notice, with a length of four bytes.
    if let [_, 0, 0, 0, 0x0b, ..] = bytes {
        return "it speaks the X Protocol (port 33060); the port wanted here is usually 3306"
            .to_owned();
    }
    let line: String = String::from_utf8_lossy(bytes)
        .chars()
        .take_while(|c| !matches!(c, '\r' | '\n'))
        .take(SHOWN)
        .collect();
    if line.chars().any(|c| c.is_alphanumeric()) {
        format!("it says \"{}\"", quoted(&line))
    } else {
        "it says something else".to_owned()
    }
}
