//! A proxy that records the statements sent to a server, and can keep its answers back.
//!
//! It stands between a client and a real server on 127.0.0.1. So that it can read along, it takes
//! encryption, compression and query attributes out of what the server's greeting offers: a client
//! that insists on TLS fails, as it should.
//!
//! Each connection has two threads, one for either direction; they end with the connection, or
//! with the [`Recorder`].

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

use crate::Server;

/// The capability bits that would hide what is said, or move it.
const CLIENT_COMPRESS: u32 = 1 << 5;
const CLIENT_SSL: u32 = 1 << 11;
const CLIENT_ZSTD_COMPRESSION_ALGORITHM: u32 = 1 << 26;
const CLIENT_QUERY_ATTRIBUTES: u32 = 1 << 27;
const HIDING: u32 =
    CLIENT_COMPRESS | CLIENT_SSL | CLIENT_ZSTD_COMPRESSION_ALGORITHM | CLIENT_QUERY_ATTRIBUTES;

const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;

/// Records what is sent to a server, until it is dropped.
#[derive(Debug)]
pub struct Recorder {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queries: Vec<String>,
    /// The statement that freezes, as the count of recorded ones at which it is reached.
    freeze_at: Option<usize>,
    /// The statement that freezes, as a part of its text.
    freeze_on: Option<String>,
    frozen: bool,
    stopping: bool,
    /// Every connection's two ends, to be shut when the recorder ends.
    streams: Vec<TcpStream>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a statement, before the server sees it: an answer is never ahead of a freeze.
    fn record(&self, text: &str) {
        let mut state = self.lock();
        state.queries.push(text.to_owned());
        let reached = state.freeze_at.is_some_and(|count| state.queries.len() >= count);
        let matched = state.freeze_on.as_ref().is_some_and(|part| text.contains(part.as_str()));
        if reached || matched {
            state.frozen = true;
            self.changed.notify_all();
        }
    }

    /// Waits while frozen; returns whether to go on.
    fn pass(&self) -> bool {
        let frozen = |state: &mut State| state.frozen && !state.stopping;
        let state = self.changed.wait_while(self.lock(), frozen);
        !state.unwrap_or_else(PoisonError::into_inner).stopping
    }
}

impl Recorder {
    /// Starts recording what is sent to this server by way of [`Recorder::url`].
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn start(server: &Server) -> Result<Self> {
        Self::start_for_port(server.port())
    }

    /// Starts recording what is sent to this port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn start_for_port(server_port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
        let port = listener.local_addr().context("cannot learn the port")?.port();
        let shared = Arc::new(Shared::default());
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&listener, server_port, &shared))
        };
        Ok(Recorder { port, shared, thread: Some(thread) })
    }

    /// Returns the port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address that clients connect to, as root.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// Returns the text of every statement sent or prepared so far, of all connections.
    pub fn queries(&self) -> Vec<String> {
        self.shared.lock().queries.clone()
    }

    /// Forgets the statements recorded so far.
    pub fn clear(&self) {
        self.shared.lock().queries.clear();
    }

    /// Keeps back whatever the server says from the `n`-th statement from now, counted from 1.
    ///
    /// That statement still reaches the server, and no connection hears from it again.
    pub fn freeze_after(&self, n: usize) {
        let mut state = self.shared.lock();
        state.freeze_at = Some(state.queries.len() + n);
    }

    /// Keeps back whatever the server says from the first statement that contains `part`.
    pub fn freeze_on(&self, part: &str) {
        self.shared.lock().freeze_on = Some(part.to_owned());
    }

    /// Returns whether answers are kept back.
    pub fn is_frozen(&self) -> bool {
        self.shared.lock().frozen
    }

    /// Hands out what was kept back, and freezes no more.
    pub fn thaw(&self) {
        let mut state = self.shared.lock();
        state.freeze_at = None;
        state.freeze_on = None;
        state.frozen = false;
        self.shared.changed.notify_all();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            for stream in state.streams.drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
            self.shared.changed.notify_all();
        }
        // The connection makes the listener look at the flag.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, server_port: u16, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.lock().stopping {
            return;
        }
        let Ok(client) = client else { continue };
        // A server that is gone shows as a connection that closes.
        let _ = join(client, server_port, shared);
    }
}

/// Connects a client to the server, with a thread for either direction.
fn join(client: TcpStream, server_port: u16, shared: &Arc<Shared>) -> std::io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut client_reads, mut client_writes) = (client.try_clone()?, client.try_clone()?);
    let (mut server_reads, mut server_writes) = (server.try_clone()?, server.try_clone()?);
    {
        let mut state = shared.lock();
        state.streams.push(client.try_clone()?);
        state.streams.push(server.try_clone()?);
    }
    let shared_up = Arc::clone(shared);
    thread::spawn(move || {
        let _ = record(&mut client_reads, &mut server_writes, &shared_up);
        // A client that leaves while answers are kept back must be seen to leave.
        let _ = server_writes.shutdown(Shutdown::Both);
    });
    let shared_down = Arc::clone(shared);
    thread::spawn(move || {
        let _ = answer(&mut server_reads, &mut client_writes, &shared_down);
        let _ = client_writes.shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Forwards what the client says, packet by packet, and records its statements.
fn record(client: &mut TcpStream, server: &mut TcpStream, shared: &Shared) -> std::io::Result<()> {
    loop {
        let packet = read_packet(client)?;
        if let Some(text) = statement(&packet) {
            shared.record(&text);
        }
        server.write_all(&packet)?;
    }
}

/// Forwards what the server says, unless it is kept back.
fn answer(server: &mut TcpStream, client: &mut TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut greeting = read_packet(server)?;
    take_out_of_greeting(&mut greeting, HIDING);
    if !shared.pass() {
        return Ok(());
    }
    client.write_all(&greeting)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = server.read(&mut buffer)?;
        if length == 0 || !shared.pass() {
            return Ok(());
        }
        client.write_all(&buffer[..length])?;
    }
}

/// Reads one packet, with the header of three bytes of length and one of sequence.
fn read_packet(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let length =
        usize::from(header[0]) | (usize::from(header[1]) << 8) | (usize::from(header[2]) << 16);
    let mut packet = vec![0; 4 + length];
    packet[..4].copy_from_slice(&header);
    stream.read_exact(&mut packet[4..])?;
    Ok(packet)
}

/// Returns the text of a packet that sends or prepares a statement.
///
/// A command starts a sequence anew, unlike everything said during login. A statement beyond
/// 16 MiB is recorded up to there.
fn statement(packet: &[u8]) -> Option<String> {
    match packet {
        [_, _, _, 0, COM_QUERY | COM_STMT_PREPARE, text @ ..] => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    }
}

/// Clears capability bits in a greeting of protocol version 10; anything else is left alone.
fn take_out_of_greeting(packet: &mut [u8], bits: u32) {
    const PROTOCOL_VERSION_AT: usize = 4;
    if packet.get(PROTOCOL_VERSION_AT) != Some(&10) {
        return;
    }
    let after_version = PROTOCOL_VERSION_AT + 1;
    let Some(name_bytes) = packet[after_version..].iter().position(|&byte| byte == 0) else {
        return;
    };
    // Connection number, first part of the scramble, and a filler stand before the lower half;
    // the character set and the status stand between the halves.
    let low_at = after_version + name_bytes + 1 + 4 + 8 + 1;
    let high_at = low_at + 2 + 1 + 2;
    let bytes = bits.to_le_bytes();
    for (at, byte) in [low_at, low_at + 1, high_at, high_at + 1].into_iter().zip(bytes) {
        if let Some(capabilities) = packet.get_mut(at) {
            *capabilities &= !byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_other_packets() {
        assert_eq!(statement(b"\x09\0\0\0\x03SELECT 1").as_deref(), Some("SELECT 1"));
        assert_eq!(statement(b"\x09\0\0\0\x16SELECT ?").as_deref(), Some("SELECT ?"));
        assert_eq!(statement(b"\x01\0\0\0\x0e"), None, "a ping");
        assert_eq!(statement(b"\x09\0\0\x03\x03SELECT 1"), None, "part of a login");
    }

    #[test]
    fn a_greeting_loses_the_bits_that_hide() {
        let mut packet = b"xxx\0\x0a9.7.4\0IIIISSSSSSSSF".to_vec();
        let low_at = packet.len();
        packet.extend([0xff; 7]);
        take_out_of_greeting(&mut packet, HIDING);
        assert_eq!(packet[low_at..], [0xdf, 0xf7, 0xff, 0xff, 0xff, 0xff, 0xf3]);
        let mut error = b"xxx\0\xff\x10\x04Too many connections".to_vec();
        let before = error.clone();
        take_out_of_greeting(&mut error, HIDING);
        assert_eq!(error, before);
    }
}
