//! The commands, a file each. [`look`] is what `check` and `collect` share: looking at a server.

mod check;
mod collect;
mod explain;
mod grants;
mod look;
mod saved;
#[cfg(test)]
mod tests;

use crate::args::Command;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};

/// Runs a command.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn command(command: Command) -> Result<Exit, Failure> {
    let environment = Environment::read();
    match command {
        Command::Check(args) => check::run(&args, &environment),
        Command::Collect(args) => collect::run(&args, &environment),
        Command::Explain(args) => explain::run(&args, &environment),
        Command::Grants(args) => grants::run(&args, &environment),
    }
}
