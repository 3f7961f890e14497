//! How a run ends: the exit codes that scripts rely on, and the one line that says what went wrong.

use std::process::ExitCode;

use innopool_advice::{Report, Severity};

/// The exit codes of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and nothing found at or above `--fail-on`.
    Done = 0,
    /// Done, and something was found at or above `--fail-on`.
    Found = 1,
    /// Could not look or do.
    CouldNot = 2,
    /// Stopped half-way.
    Stopped = 4,
    /// Wrong usage.
    Usage = 64,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// From which severity on findings count for the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum FailOn {
    /// Only what hurts now
    Critical,
    /// What costs something or will
    #[default]
    Warning,
    /// Everything there is to know
    Notice,
    /// Nothing: 0 whenever the server could be looked at
    Never,
}

impl FailOn {
    /// The exit code for what a look has found.
    pub(crate) fn judge(self, report: &Report) -> Exit {
        let limit = match self {
            Self::Critical => Severity::Critical,
            Self::Warning => Severity::Warning,
            Self::Notice => Severity::Notice,
            Self::Never => return Exit::Done,
        };
        match report.worst() {
            Some(worst) if worst >= limit => Exit::Found,
            _ => Exit::Done,
        }
    }
}

/// Why there is no answer: one line for a person, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Says what is wrong, where, and what to do; without the program's name before it.
    pub(crate) message: String,
}

impl Failure {
    /// The server or a file could not be looked at.
    pub(crate) fn could_not(message: impl Into<String>) -> Self {
        Self { exit: Exit::CouldNot, message: without_error_number(&message.into()) }
    }

    /// What was typed makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }
}

/// The system's words without its number for them: `(os error 111)` helps nobody.
fn without_error_number(message: &str) -> String {
    let Some((before, rest)) = message.split_once(" (os error ") else {
        return message.to_owned();
    };
    match rest.split_once(')') {
        Some((_, after)) => format!("{before}{after}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_system_error_is_left_out() {
        for (given, expected) in [
            ("x: Connection refused (os error 111). Is it up?", "x: Connection refused. Is it up?"),
            ("x (os error", "x (os error"),
            ("x", "x"),
        ] {
            assert_eq!(Failure::could_not(given).message, expected);
        }
    }
}
