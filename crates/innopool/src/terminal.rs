//! Where answers go: stdout, with what is known of the terminal behind it, and stderr for all else.

use std::io::{self, IsTerminal, Write};

use crate::environment::Environment;
use crate::exit::Failure;
use crate::render::{Page, plain};

/// Columns of a page that is not written to a terminal.
const COLUMNS_PIPED: usize = 80;

/// What answers are written for: a terminal's width and colours, or a pipe.
pub(crate) fn page(environment: &Environment, verbose: bool, live: bool) -> Page {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let columns = rustix::termios::tcgetwinsize(&stdout)
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| is_terminal && *columns > 0);
    Page {
        width: columns.unwrap_or(COLUMNS_PIPED),
        colour: is_terminal && !environment.no_colour,
        verbose,
        live,
    }
}

/// Writes an answer to stdout. A reader that has gone (`| head`) has what it wanted.
///
/// # Errors
/// When stdout cannot be written to, such as a file on a full disk.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::could_not(format!("cannot write the answer to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one line to stderr, with the program's name before it. Nobody can be told when that
/// fails.
pub(crate) fn complain(message: &str) {
    let lines: Vec<_> = message.lines().map(plain).collect();
    let _ = writeln!(io::stderr(), "innopool: {}", lines.join("\n"));
}
