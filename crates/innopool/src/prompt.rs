//! Asks for a password on the terminal, without showing what is typed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};

use innopool_target::login::Secret;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::Failure;

/// No password is longer; a terminal that never ends a line is given up.
const PASSWORD_BYTES_MAX: usize = 4096;

/// The terminal and its settings from before the question, as long as it is open.
static ASKING: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Asks for the password of a server, on the terminal of this session even where stdin is a pipe.
///
/// # Errors
/// When there is no terminal to ask on.
pub(crate) fn password(server: &str) -> Result<Secret, Failure> {
    ask(&format!("Password for {server}: ")).map_err(|error| {
        Failure::could_not(format!(
            "cannot ask for the password, there is no terminal ({error}): put it in an option file \
             (--defaults-extra-file) or in MYSQL_PWD"
        ))
    })
}

fn ask(question: &str) -> io::Result<Secret> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    quiet.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
    *asking() = Some((terminal.try_clone()?, before));
    let answer = tcsetattr(&terminal, OptionalActions::Flush, &quiet)
        .map_err(io::Error::from)
        .and_then(|()| terminal.write_all(question.as_bytes()))
        .and_then(|()| read_line(&mut terminal));
    restore_echo();
    answer
}

/// Gives the terminal back as it was, if a question is open.
pub(crate) fn restore_echo() {
    if let Some((terminal, before)) = asking().take() {
        // The terminal may be gone by now; then there is nothing to restore.
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    }
}

fn asking() -> std::sync::MutexGuard<'static, Option<(File, Termios)>> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads up to the end of the line, which is not part of the password.
fn read_line(from: &mut impl Read) -> io::Result<Secret> {
    let mut line = Vec::with_capacity(PASSWORD_BYTES_MAX);
    let mut byte = [0];
    while line.len() < PASSWORD_BYTES_MAX && from.read(&mut byte)? == 1 && byte != *b"\n" {
        line.extend(byte);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Secret::new(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_ends_with_its_line() {
        for (typed, password) in [
            (&b"tulip\nrose\n"[..], &b"tulip"[..]),
            (b"tulip\r\n", b"tulip"),
            (b" two words ", b" two words "),
            (b"", b""),
        ] {
            assert_eq!(read_line(&mut &typed[..]).unwrap().expose(), password);
        }
    }
}
