//! `innopool size`: looks, recommends, prints.

use std::path::Path;

use innopool_advice::SizeReport;
use innopool_target::build;

use super::look::Look;
use crate::args::SizeArgs;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::render::Format;
use crate::target::{self, Target};
use crate::{render, terminal};

/// Looks at a server or at saved evidence, and prints the size its pool should have.
///
/// # Errors
/// When there is nothing to judge, or the report cannot be written.
pub(crate) fn run(args: &SizeArgs, environment: &Environment) -> Result<Exit, Failure> {
    let target = target::resolve(&args.target, environment)?;
    let live = matches!(target, Target::Live { .. });
    let Look { name, documents, not_read } =
        super::evidence(target, &args.target, args.interval.interval)?;
    let observation = build::observe(&name, documents, not_read);
    let report = innopool_advice::size(&observation, None);
    let page = terminal::page(environment, args.explain, live);
    if let Some(path) = &args.report {
        save(&report, path, page)?;
    }
    terminal::print(&render::size(&report, args.format, page))?;
    Ok(if report.recommendation.is_some() { Exit::Done } else { Exit::CouldNot })
}

/// Writes the answer to a file, in the form its name asks for.
fn save(report: &SizeReport, path: &Path, page: render::Page) -> Result<(), Failure> {
    let is_json = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    let format = if is_json { Format::Json } else { Format::Markdown };
    std::fs::write(path, render::size(report, format, page)).map_err(|error| {
        Failure::could_not(format!("cannot write the report to {}: {error}", path.display()))
    })
}
