//! `innopool collect`: looks, and saves what `check` would have judged.

use innopool_target::collect::{self, CollectError};

use super::look;
use crate::args::CollectArgs;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::target::{self, Target};
use crate::{interrupt, terminal};

/// Looks at a server and saves the evidence.
///
/// # Errors
/// When the server cannot be reached, or the directory holds something else or cannot be written.
pub(crate) fn run(args: &CollectArgs, environment: &Environment) -> Result<Exit, Failure> {
    let Target::Live { login, limits } = target::resolve(&args.target, environment)? else {
        return Err(Failure::usage(
            "--from is saved evidence already: innopool check --from reads it as it is",
        ));
    };
    collect::check_place(&args.output).map_err(failure)?;
    let options = look::Options {
        interval: args.interval.interval,
        skip_status_text: args.target.skip_status_text,
        host_memory: args.target.host_memory,
    };
    let look = look::look(&login, limits, options)?;
    interrupt::leaves("the server was only read; the evidence is not saved whole");
    let written = collect::write(&args.output, &look.documents, &look.not_read, &look.name);
    let files = written.map_err(failure)?;
    let dir = args.output.display();
    terminal::print(&format!(
        "Saved {} files in {dir}: counters, settings and sizes; no statement texts, accounts or \
         hosts.\nNext:  innopool check --from {dir}\n",
        files.len()
    ))?;
    Ok(Exit::Done)
}

fn failure(error: CollectError) -> Failure {
    match error {
        CollectError::NotOurs { .. } | CollectError::NoParent(_) => {
            Failure::usage(format!("--output: {error}"))
        }
        other => Failure::could_not(other.to_string()),
    }
}
