//! `cargo xtask servers`: the servers that reading tests share.

use anyhow::Result;
use clap::Subcommand;
use innopool_testkit::shared::{self, State};
use innopool_testkit::{Kind, own};

/// What to do with the shared servers.
#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Action {
    /// Install and start MySQL and MariaDB, unless they are up
    Up,
    /// Stop both, and remove what killed test runs left
    Down,
    /// Show which are up
    Status,
}

/// Runs `cargo xtask servers ACTION`.
pub(crate) fn run(action: Action) -> Result<()> {
    for kind in Kind::ALL {
        match action {
            Action::Up => print(&shared::up(kind)?),
            Action::Down => {
                let stale = own::remove_stale(kind)?;
                if stale > 0 {
                    println!("{kind}: removed {stale} left by killed test runs");
                }
                println!("{kind}: {}", if shared::down(kind)? { "stopped" } else { "was down" });
            }
            Action::Status => match shared::status(kind) {
                Some(state) => print(&state),
                None => println!("{kind}: down"),
            },
        }
    }
    Ok(())
}

fn print(state: &State) {
    println!("{}: {}  (pid {})", state.kind, state.url, state.pid);
    println!("    {}", state.socket.display());
}
