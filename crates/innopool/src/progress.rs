//! What is going on, on one line of stderr that writes over itself; nothing where stderr is no
//! terminal.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use innopool_advice::words;

use crate::render::plain;

/// Goes back to the start of the line and empties it.
pub(crate) const CLEAR_LINE: &str = "\r\x1b[K";

/// The line; it is cleared when this is dropped.
pub(crate) struct ProgressLine {
    server: String,
    on: bool,
}

impl ProgressLine {
    /// A line about looking at `server`.
    pub(crate) fn new(server: &str) -> Self {
        Self { server: plain(server), on: io::stderr().is_terminal() }
    }

    /// Says that the server is being asked.
    pub(crate) fn reading(&self) {
        self.show(&format!("looking at {} ...", self.server));
    }

    /// Says how long the look still takes.
    pub(crate) fn waiting(&self, elapsed: Duration, interval: Duration) {
        let left = interval.saturating_sub(elapsed).as_secs_f64().ceil();
        self.show(&format!(
            "watching {} for {} ... {} left",
            self.server,
            words::duration(interval.as_secs_f64()),
            words::duration(left),
        ));
    }

    /// Says how many sizes have been replayed.
    pub(crate) fn replaying(&self, done: usize, sizes: usize) {
        self.show(&format!("replaying {} ... {done} of {sizes} sizes", self.server));
    }

    fn show(&self, text: &str) {
        if self.on {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "{CLEAR_LINE}{text}");
            let _ = stderr.flush();
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.show("");
    }
}
