//! Making a connection: the look-up of the name, the socket, the greeting, TLS and the login, all
//! before one deadline.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::live::auth::{AuthError, Plugin, log_in};
use crate::live::error::{ConnectError, quoted};
use crate::live::greeting::{self, Greeting, capability};
use crate::live::server_error::ServerError;
use crate::live::tls;
use crate::live::wire::{DeadlineSocket, Packets, Transport};
use crate::login::{Login, TlsMode};

/// The moment at which a limit that begins now has passed.
pub(crate) fn deadline(limit: Duration) -> Instant {
    // A limit beyond what the clock can count is as good as a year.
    let now = Instant::now();
    now.checked_add(limit).unwrap_or_else(|| now + Duration::from_secs(31_536_000))
}

/// An I/O error in words.
pub(crate) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => quoted(&error.to_string()),
    }
}

/// A connection that is being made.
pub(crate) struct Opening<'l> {
    login: &'l Login,
    address: String,
    limit: Duration,
    deadline: Instant,
}

impl<'l> Opening<'l> {
    pub(crate) fn new(login: &'l Login) -> Self {
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

    /// Connects and logs in; gives the session and the version that the server greeted with.
    pub(crate) fn run(&self) -> Result<(Packets<Transport>, String), ConnectError> {
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
            .in_time("it does not take up the connection", move || UnixStream::connect(owned))?
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
        let unknown =
            |reason: String| ConnectError::UnknownHost { host: quoted(&self.login.host), reason };
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
        receiver.recv_timeout(self.left()).map_err(|_| self.stalled(phase))
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
            false => Err(ConnectError::NoTls { address: self.address.clone() }),
        }
    }

    fn encrypted(
        &self,
        mut packets: Packets<Transport>,
        greeting: &Greeting,
    ) -> Result<Packets<Transport>, ConnectError> {
        let session = tls::session(self.login)?;
        let failed = |error| self.failed(error, "the TLS handshake does not end");
        packets.write(&greeting::tls_request(greeting.capabilities)).map_err(failed)?;
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
                AuthError::Plugin(plugin) => {
                    ConnectError::Plugin { address: self.address.clone(), plugin: quoted(&plugin) }
                }
            })
    }

    fn failed(&self, error: io::Error, phase: &'static str) -> ConnectError {
        if error.kind() == io::ErrorKind::TimedOut {
            return self.stalled(phase);
        }
        match tls::explain(&error, self.login) {
            Some(reason) => ConnectError::Tls { address: self.address.clone(), reason },
            None => self.broken(&error),
        }
    }

    fn stalled(&self, phase: &'static str) -> ConnectError {
        ConnectError::Stalled { address: self.address.clone(), phase, limit: self.limit }
    }

    fn unreachable(&self, error: &io::Error) -> ConnectError {
        ConnectError::Unreachable {
            address: self.address.clone(),
            reason: quoted(&error.to_string()),
        }
    }

    fn broken(&self, error: &io::Error) -> ConnectError {
        ConnectError::Broken { address: self.address.clone(), reason: plain(error) }
    }

    fn refused(&self, error: ServerError) -> ConnectError {
        let address = self.address.clone();
        let message = error.message;
        match error.code {
            1040 | 1203 => ConnectError::TooManyConnections { address, message },
            1129 | 1130 => ConnectError::HostRefused { address, message },
            1045 | 1698 => ConnectError::Denied { address, message },
            code => ConnectError::Refused { address, code, message },
        }
    }

    fn not_mysql(&self, said: &[u8]) -> ConnectError {
        ConnectError::NotMysql { address: self.address.clone(), said: what_was_said(said) }
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
