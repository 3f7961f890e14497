//! The commands, a file each. [`look`] is what `check`, `size` and `collect` share: looking at a
//! server.

mod check;
mod collect;
mod explain;
mod grants;
mod look;
mod recording;
mod saved;
mod size;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::args::{Command, TargetArgs};
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::target::Target;

/// Runs a command.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn command(command: Command) -> Result<Exit, Failure> {
    let environment = Environment::read();
    match command {
        Command::Check(args) => check::run(&args, &environment),
        Command::Size(args) => size::run(&args, &environment),
        Command::Collect(args) => collect::run(&args, &environment),
        Command::Explain(args) => explain::run(&args, &environment),
        Command::Grants(args) => grants::run(&args, &environment),
    }
}

/// Looks at a server for so long, or reads what was saved.
///
/// # Errors
/// When there is nothing to judge: the server cannot be reached, the files cannot be read.
fn evidence(target: Target, args: &TargetArgs, interval: Duration) -> Result<look::Look, Failure> {
    match target {
        Target::Live { login, limits } => look::look(
            &login,
            limits,
            look::Options {
                interval,
                skip_status_text: args.skip_status_text,
                host_memory: args.host_memory,
            },
        ),
        Target::Saved(paths) => saved::read(&paths, args.host_memory),
    }
}
