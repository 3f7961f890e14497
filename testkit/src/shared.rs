//! The shared instance of each kind: started once, used by every test that only reads.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::launch::Life;
use crate::{Kind, Server, lock, own, places, process, required, template};

/// How to reach a shared instance; kept in [`places::state`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Which server it is.
    pub kind: Kind,
    /// Its process.
    pub pid: u32,
    /// Its TCP port on 127.0.0.1.
    pub port: u16,
    /// Its unix socket.
    pub socket: PathBuf,
    /// Its address over TCP, as root without a password.
    pub url: String,
}

/// Returns how to reach the shared instance, or `None` when it is not up.
pub fn status(kind: Kind) -> Option<State> {
    let text = fs::read(places::state(kind)).ok()?;
    let state: State = serde_json::from_slice(&text).ok()?;
    process::serves(state.pid, &places::shared(kind).join("my.cnf")).then_some(state)
}

/// Starts the shared instance unless it is up.
///
/// # Errors
///
/// When the server cannot be installed or started.
pub fn up(kind: Kind) -> Result<State> {
    let _lock = hold(kind)?;
    if let Some(state) = status(kind) {
        return Ok(state);
    }
    own::remove_stale(kind)?;
    clear(kind)?;
    let directory = places::shared(kind);
    own::check_socket_path(&directory)?;
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    template::copy(kind, &directory)?;
    let server =
        own::start_on_free_port(|port| Server::new(kind, Life::Shared, directory.clone(), port))?;
    let state = State {
        kind,
        pid: server.pid(),
        port: server.port(),
        socket: server.socket(),
        url: server.url(),
    };
    let file = places::state(kind);
    let text = serde_json::to_vec_pretty(&state).context("cannot write the state as JSON")?;
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(state)
}

/// Stops the shared instance, removes its data and what killed test runs left; returns whether
/// it was up.
///
/// # Errors
///
/// When it does not stop.
pub fn down(kind: Kind) -> Result<bool> {
    let _lock = hold(kind)?;
    own::remove_stale(kind)?;
    let state = status(kind);
    if let Some(state) = &state {
        Server::attach(kind, places::shared(kind), state.port, state.pid).stop()?;
    }
    clear(kind)?;
    Ok(state.is_some())
}

/// Returns this process's view of the shared instance.
pub(crate) fn attached(kind: Kind) -> Option<&'static Server> {
    static MYSQL: OnceLock<Option<Server>> = OnceLock::new();
    static MARIADB: OnceLock<Option<Server>> = OnceLock::new();
    let slot = match kind {
        Kind::Mysql => &MYSQL,
        Kind::Mariadb => &MARIADB,
    };
    let attach = || {
        let state = required(&format!("the shared {kind}"), up(kind))?;
        Some(Server::attach(kind, places::shared(kind), state.port, state.pid))
    };
    slot.get_or_init(attach).as_ref()
}

fn hold(kind: Kind) -> Result<lock::Lock> {
    lock::hold(&places::kind(kind).join("shared.lock"))
}

/// Removes the directory of an instance, and the instance if it was started but never recorded.
fn clear(kind: Kind) -> Result<()> {
    let directory = places::shared(kind);
    for pid in process::servers_below(&directory) {
        process::signal(pid, rustix::process::Signal::KILL)?;
    }
    for path in [places::state(kind), directory] {
        let result = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}
