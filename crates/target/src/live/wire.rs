//! Packets of the MySQL protocol over a socket that never waits beyond a deadline.
//!
//! [`Packets`] reads and writes whole packets; below it a [`Transport`] is the plain socket or TLS
//! over it; at the bottom [`DeadlineSocket`] gives the kernel what is left of the time before each
//! call, so that a peer that sends a byte now and then gains nothing by it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

/// A packet with a payload of this size is followed by its continuation.
const PAYLOAD_MAX: usize = 0xff_ffff;

/// The most that one statement may bring, in bytes. Our largest result is far below 1 MiB, so more
/// is a mistake or an attack.
pub(crate) const ANSWER_MAX: usize = 64 << 20;

/// How many of the first bytes are kept to be quoted.
const FIRST_BYTES: usize = 128;

/// What is read from the socket at once.
const CHUNK: usize = 16 << 10;

/// A connected socket with the time until which it may be waited for.
#[derive(Debug)]
pub(crate) struct DeadlineSocket {
    socket: Socket,
    deadline: Instant,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl DeadlineSocket {
    pub(crate) fn tcp(socket: TcpStream, deadline: Instant) -> Self {
        // Without it a small packet may wait 40 ms for company; failing to set it is no reason to
        // fail.
        let _ = socket.set_nodelay(true);
        Self { socket: Socket::Tcp(socket), deadline }
    }

    #[cfg(unix)]
    pub(crate) fn unix(socket: UnixStream, deadline: Instant) -> Self {
        Self { socket: Socket::Unix(socket), deadline }
    }

    fn is_unix(&self) -> bool {
        !matches!(self.socket, Socket::Tcp(_))
    }

    /// The time left; an error when there is none.
    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }
}

/// The kernel reports a timeout of a socket as "would block".
fn as_timeout(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for DeadlineSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = Some(self.left()?);
        match &mut self.socket {
            Socket::Tcp(socket) => {
                socket.set_read_timeout(left)?;
                socket.read(buffer)
            }
            #[cfg(unix)]
            Socket::Unix(socket) => {
                socket.set_read_timeout(left)?;
                socket.read(buffer)
            }
        }
        .map_err(as_timeout)
    }
}

impl Write for DeadlineSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = Some(self.left()?);
        match &mut self.socket {
            Socket::Tcp(socket) => {
                socket.set_write_timeout(left)?;
                socket.write(bytes)
            }
            #[cfg(unix)]
            Socket::Unix(socket) => {
                socket.set_write_timeout(left)?;
                socket.write(bytes)
            }
        }
        .map_err(as_timeout)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The socket, with or without encryption.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain(DeadlineSocket),
    Tls(Box<StreamOwned<ClientConnection, DeadlineSocket>>),
}

impl Transport {
    fn socket_mut(&mut self) -> &mut DeadlineSocket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &mut stream.sock,
        }
    }

    fn channel(&self) -> Channel {
        match self {
            Self::Plain(socket) if socket.is_unix() => Channel::Local,
            Self::Plain(_) => Channel::Open,
            Self::Tls(_) => Channel::Encrypted,
        }
    }
}

/// Who can listen to what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Nobody: TLS.
    Encrypted,
    /// Nobody: a socket that does not leave the machine.
    Local,
    /// Whoever is on the way.
    Open,
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// Whole packets, numbered as the protocol wants it.
#[derive(Debug)]
pub(crate) struct Packets<T> {
    transport: T,
    /// Read from the transport and not yet used: `ahead[used..]`.
    ahead: Vec<u8>,
    used: usize,
    /// The first bytes that ever came.
    first: Vec<u8>,
    sequence: u8,
    /// Bytes that this exchange may still bring.
    allowance: usize,
}

impl Packets<Transport> {
    /// Begins an exchange that must be over at `deadline`.
    pub(crate) fn begin(&mut self, deadline: Instant) {
        self.transport.socket_mut().deadline = deadline;
        self.sequence = 0;
        self.allowance = ANSWER_MAX;
    }

    /// Encrypts from here on.
    ///
    /// # Errors
    /// When the server already sent more in the clear: an attempt to slip it into the session.
    pub(crate) fn encrypt(self, tls: ClientConnection) -> io::Result<Self> {
        let Transport::Plain(socket) = self.transport else {
            return Ok(self);
        };
        if self.used < self.ahead.len() {
            return Err(io::Error::other("it sent data before the encryption began"));
        }
        Ok(Self {
            transport: Transport::Tls(Box::new(StreamOwned::new(tls, socket))),
            ahead: self.ahead,
            used: self.used,
            first: self.first,
            sequence: self.sequence,
            allowance: self.allowance,
        })
    }

    pub(crate) fn channel(&self) -> Channel {
        self.transport.channel()
    }
}

impl<T: Read + Write> Packets<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self {
            transport,
            ahead: Vec::new(),
            used: 0,
            first: Vec::new(),
            sequence: 0,
            allowance: ANSWER_MAX,
        }
    }

    /// The transport itself.
    pub(crate) fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Reads the next packet's payload.
    ///
    /// # Errors
    /// `TimedOut` at the deadline, `UnexpectedEof` when the peer closed, `InvalidData` when what it
    /// sent is not the next packet.
    pub(crate) fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let length = self.read_header()?;
            self.take(length, &mut payload)?;
            if length < PAYLOAD_MAX {
                return Ok(payload);
            }
        }
    }

    /// Reads a packet's header and returns the length of its payload.
    fn read_header(&mut self) -> io::Result<usize> {
        let mut header = Vec::with_capacity(4);
        self.take(4, &mut header)?;
        let [a, b, c, sequence] = header[..] else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if sequence != self.sequence {
            return Err(invalid("a packet out of order"));
        }
        self.sequence = self.sequence.wrapping_add(1);
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        self.allowance = self
            .allowance
            .checked_sub(length)
            .ok_or_else(|| invalid("an answer of more than 64 MiB"))?;
        Ok(length)
    }

    /// Moves `count` bytes to `into`, reading on as needed. Memory grows with what really comes.
    fn take(&mut self, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let mut missing = count;
        while missing > 0 {
            if self.used == self.ahead.len() {
                self.fill()?;
            }
            let ready = &self.ahead[self.used..];
            let part = &ready[..missing.min(ready.len())];
            into.extend_from_slice(part);
            self.used += part.len();
            missing -= part.len();
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.ahead.resize(CHUNK, 0);
        self.used = 0;
        let result = loop {
            match self.transport.read(&mut self.ahead) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.ahead.truncate(*result.as_ref().unwrap_or(&0));
        let room = FIRST_BYTES.saturating_sub(self.first.len());
        self.first.extend(self.ahead.iter().take(room));
        match result {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The first bytes that ever came, to quote a peer that does not speak this protocol.
    pub(crate) fn first_bytes(&self) -> &[u8] {
        &self.first
    }

    /// Writes one payload, which must be shorter than 16 MiB, as the next packet.
    pub(crate) fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        if payload.len() >= PAYLOAD_MAX {
            return Err(invalid("a statement of more than 16 MiB"));
        }
        let mut packet = Vec::with_capacity(payload.len() + 4);
        // Below 2^24 by the check above.
        #[allow(clippy::cast_possible_truncation)]
        packet.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
        packet.push(self.sequence);
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.transport.write_all(&packet)?;
        self.transport.flush()
    }
}

pub(crate) fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads the fields of a payload from front to back; every read may find the end.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'p>(pub(crate) &'p [u8]);

impl<'p> Fields<'p> {
    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'p [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// The next two bytes as a number.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(2)?.try_into().ok()?))
    }

    /// The bytes up to a NUL, which is skipped, or else all that is left.
    pub(crate) fn until_nul(&mut self) -> &'p [u8] {
        match self.0.iter().position(|byte| *byte == 0) {
            Some(end) => {
                let text = &self.0[..end];
                self.0 = &self.0[end + 1..];
                text
            }
            None => std::mem::take(&mut self.0),
        }
    }

    /// A number in the protocol's variable length; `None` for NULL, malformed and the end.
    pub(crate) fn length(&mut self) -> Option<u64> {
        let width = match self.byte()? {
            small @ ..=0xfa => return Some(u64::from(small)),
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return None,
        };
        let mut number = [0; 8];
        number[..width].copy_from_slice(self.bytes(width)?);
        Some(u64::from_le_bytes(number))
    }

    /// Bytes with their length before them.
    pub(crate) fn counted(&mut self) -> Option<&'p [u8]> {
        let length = usize::try_from(self.length()?).ok()?;
        self.bytes(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writes_what_it_reads() {
        let mut wire = Packets::new(Cursor::new(Vec::new()));
        wire.write(b"one").unwrap();
        wire.write(b"").unwrap();
        let bytes = wire.transport_mut().get_ref().clone();
        assert_eq!(bytes, b"\x03\0\0\0one\0\0\0\x01");
        let mut wire = Packets::new(Cursor::new(bytes));
        assert_eq!(wire.read().unwrap(), b"one");
        assert_eq!(wire.read().unwrap(), b"");
        let end = wire.read().unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_full_packet_continues_in_the_next() {
        let mut bytes = vec![0xff, 0xff, 0xff, 0];
        bytes.extend(vec![b'x'; PAYLOAD_MAX]);
        bytes.extend([1, 0, 0, 1, b'y']);
        let payload = Packets::new(Cursor::new(bytes)).read().unwrap();
        assert_eq!(payload.len(), PAYLOAD_MAX + 1);
        assert_eq!(payload.last(), Some(&b'y'));
    }

    #[test]
    fn a_packet_out_of_order_is_refused() {
        let error = Packets::new(Cursor::new(b"SSH-2.0".to_vec())).read();
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn numbers_have_four_widths() {
        let read = |bytes: &[u8]| Fields(bytes).length();
        assert_eq!(read(&[0xfa]), Some(250));
        assert_eq!(read(&[0xfc, 1, 2]), Some(0x201));
        assert_eq!(read(&[0xfd, 1, 2, 3]), Some(0x3_0201));
        assert_eq!(read(&[0xfe, 1, 0, 0, 0, 0, 0, 0, 1]), Some(1 + (1 << 56)));
        assert_eq!(read(&[0xfb]), None);
        assert_eq!(read(&[0xfc, 1]), None);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes: Vec<u8>) {
            let mut wire = Packets::new(Cursor::new(bytes.clone()));
            while wire.read().is_ok() {}
            let mut fields = Fields(&bytes);
            while fields.counted().is_some() {}
            fields.until_nul();
        }
    }
}
