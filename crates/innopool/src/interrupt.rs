//! Ctrl-C: ends at once, whatever is being waited for, and says what that leaves behind.
//!
//! A thread waits for the signals. It ends the process itself, since the main thread may be inside
//! a read with a long time limit. Nothing innopool does so far changes a server, so there is never
//! anything to undo there.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::progress::CLEAR_LINE;
use crate::{prompt, terminal};

/// What an end right now leaves behind.
static STATE: Mutex<&str> = Mutex::new("nothing was read or changed");

/// Starts to wait for signals. Where that cannot be had, a signal ends the process the system's own
/// way, which is safe too.
pub(crate) fn watch() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    let waiting = move || {
        if signals.forever().next().is_some() {
            end();
        }
    };
    // Without a thread the signals would be swallowed; there is none only on a machine at its end.
    if std::thread::Builder::new().name("signals".to_owned()).spawn(waiting).is_err() {
        terminal::complain("cannot watch for Ctrl-C; end it with kill -9 if you must");
    }
}

/// Notes what an end from here on leaves behind.
pub(crate) fn leaves(state: &'static str) {
    *STATE.lock().unwrap_or_else(PoisonError::into_inner) = state;
}

fn end() -> ! {
    prompt::restore_echo();
    if io::stderr().is_terminal() {
        let _ = io::stderr().write_all(CLEAR_LINE.as_bytes());
    }
    let state = *STATE.lock().unwrap_or_else(PoisonError::into_inner);
    terminal::complain(&format!("stopped before the end: {state}."));
    std::process::exit(Exit::Stopped as i32)
}
