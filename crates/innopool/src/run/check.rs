//! `innopool check`: looks, judges, prints.

use innopool_target::build;

use super::look::Look;
use crate::args::CheckArgs;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::target::{self, Target};
use crate::{render, terminal};

/// Looks at a server or at saved evidence, and prints what is wrong with its pool.
///
/// # Errors
/// When there is nothing to judge: the server cannot be reached, the files cannot be read.
pub(crate) fn run(args: &CheckArgs, environment: &Environment) -> Result<Exit, Failure> {
    let target = target::resolve(&args.target, environment)?;
    let live = matches!(target, Target::Live { .. });
    let Look { name, documents, not_read } =
        super::evidence(target, &args.target, args.interval.interval)?;
    let report = innopool_advice::check(&build::observe(&name, documents, not_read));
    let page = terminal::page(environment, args.verbose, live);
    terminal::print(&render::report(&report, args.format, page))?;
    Ok(args.fail_on.judge(&report))
}
