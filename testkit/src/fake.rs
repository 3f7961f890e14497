//! Listeners on loopback that are not MySQL servers, each in one of the ways that a tool meets.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};

/// What a [`Fake`] does with each connection.
#[derive(Clone, Debug)]
enum Behaviour {
    /// Says these bytes, which may be none, and keeps the connection open.
    Stays(Vec<u8>),
    /// Says these bytes, which may be none, and closes the connection.
    Leaves(Vec<u8>),
}

/// A listener on 127.0.0.1 that ends when it is dropped.
#[derive(Debug)]
pub struct Fake {
    port: u16,
    stopping: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Accepts and never speaks: a server that is stalled in the handshake.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn silent() -> Result<Self> {
        Self::start(Behaviour::Stays(Vec::new()))
    }

    /// Accepts and closes at once.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn hanging_up() -> Result<Self> {
        Self::start(Behaviour::Leaves(Vec::new()))
    }

    /// Answers as a web server that was not asked properly.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn http() -> Result<Self> {
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\
                      Connection: close\r\nContent-Length: 15\r\n\r\n400 Bad Request";
        Self::start(Behaviour::Leaves(answer.as_bytes().to_vec()))
    }

    /// Introduces itself as an SSH server and waits for the client to do so.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn ssh() -> Result<Self> {
        Self::start(Behaviour::Stays(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".to_vec()))
    }

    /// Refuses with an error in place of the greeting, as a MySQL server with no connection left.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn refusing(code: u16, message: &str) -> Result<Self> {
        // An error before the handshake has no SQL state.
        let mut payload = vec![0xff];
        payload.extend(code.to_le_bytes());
        payload.extend(message.as_bytes());
        let length = u32::try_from(payload.len()).context("the message is too long")?;
        let mut packet = length.to_le_bytes()[..3].to_vec();
        packet.push(0);
        packet.extend(payload);
        Self::start(Behaviour::Leaves(packet))
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns its address as that of a MySQL server.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port)
    }

    /// Returns how many connections it accepted.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    fn start(behaviour: Behaviour) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
        let port = listener.local_addr().context("cannot learn the port")?.port();
        let stopping = Arc::new(AtomicBool::new(false));
        let accepted = Arc::new(AtomicUsize::new(0));
        let thread = {
            let (stopping, accepted) = (Arc::clone(&stopping), Arc::clone(&accepted));
            thread::spawn(move || serve(&listener, &behaviour, &stopping, &accepted))
        };
        Ok(Fake { port, stopping, accepted, thread: Some(thread) })
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The connection makes the listener look at the flag.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    listener: &TcpListener,
    behaviour: &Behaviour,
    stopping: &AtomicBool,
    accepted: &AtomicUsize,
) {
    let mut open = Vec::new();
    for stream in listener.incoming() {
        if stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        accepted.fetch_add(1, Ordering::SeqCst);
        // A client that left already is no concern of a fake.
        match behaviour {
            Behaviour::Stays(greeting) => {
                let _ = stream.write_all(greeting);
                open.push(stream);
            }
            Behaviour::Leaves(greeting) => {
                let _ = stream.write_all(greeting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Duration;

    use super::*;

    fn said(fake: &Fake) -> (Vec<u8>, bool) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, fake.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut bytes = Vec::new();
        let closed = stream.read_to_end(&mut bytes).is_ok();
        (bytes, closed)
    }

    #[test]
    fn each_fake_behaves_as_named() {
        assert_eq!(said(&Fake::silent().unwrap()), (Vec::new(), false));
        assert_eq!(said(&Fake::hanging_up().unwrap()), (Vec::new(), true));
        let (bytes, closed) = said(&Fake::http().unwrap());
        assert!(bytes.starts_with(b"HTTP/1.1 400 ") && closed);
        let (bytes, closed) = said(&Fake::ssh().unwrap());
        assert!(bytes.starts_with(b"SSH-2.0-") && !closed);
    }

    #[test]
    fn a_refusal_is_what_a_client_understands() {
        let fake = Fake::refusing(1040, "Too many connections").unwrap();
        let error = mysql::Conn::new(fake.url().as_str()).unwrap_err();
        assert!(error.to_string().contains("Too many connections"), "{error}");
        assert_eq!(fake.accepted(), 1);
    }
}
