//! `innopool size`: looks, recommends, prints.

use std::path::Path;

use innopool_advice::SizeReport;
use innopool_target::{Observation, build};

use super::look::{self, Look};
use super::recording::{self, Recorded};
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
    let recorded = match args.recording.as_slice() {
        [] => None,
        paths => Some(recording::replay(paths)?),
    };
    let (look, live) = match &recorded {
        Some(recorded) if !args.target.names_one() => {
            (from_recording(recorded, args.target.host_memory), false)
        }
        _ => {
            let target = target::resolve(&args.target, environment)?;
            let live = matches!(target, Target::Live { .. });
            (super::evidence(target, &args.target, args.interval.interval)?, live)
        }
    };
    let Look { name, documents, not_read } = look;
    if let Some(recorded) = &recorded {
        recorded.belongs_to(&documents)?;
    }
    let observation = build::observe(&name, documents, not_read);
    let report = recommend(&observation, recorded.as_ref());
    let page = terminal::page(environment, args.explain, live);
    if let Some(path) = &args.report {
        save(&report, path, page)?;
    }
    terminal::print(&render::size(&report, args.format, page))?;
    Ok(if report.recommendation.is_some() { Exit::Done } else { Exit::CouldNot })
}

/// What a recording alone says of its server, and what the person knows of the machine.
fn from_recording(recorded: &Recorded, host_memory: Option<u64>) -> Look {
    let mut documents = recorded.documents();
    documents.extend(host_memory.map(look::host_memory));
    Look { name: recorded.name.clone(), documents, not_read: Vec::new() }
}

/// The size by the curve of the whole, or by that of the window that needs most: a mean over
/// a day would starve its busiest hour.
fn recommend(observation: &Observation, recorded: Option<&Recorded>) -> SizeReport {
    let Some(recorded) = recorded else {
        return innopool_advice::size(observation, None);
    };
    let bytes = |report: &SizeReport| {
        let answer = report.recommendation.as_ref();
        answer
            .filter(|answer| answer.evidence_level == recorded.whole.level)
            .map(|a| a.pool_size_bytes)
    };
    let whole = innopool_advice::size(observation, Some(&recorded.whole));
    let of_windows =
        recorded.windows.iter().map(|curve| innopool_advice::size(observation, Some(curve)));
    of_windows.fold(whole, |most, window| if bytes(&window) > bytes(&most) { window } else { most })
}

/// Writes the answer to a file, in the form its name asks for.
fn save(report: &SizeReport, path: &Path, page: render::Page) -> Result<(), Failure> {
    let is_json = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    let format = if is_json { Format::Json } else { Format::Markdown };
    std::fs::write(path, render::size(report, format, page)).map_err(|error| {
        Failure::could_not(format!("cannot write the report to {}: {error}", path.display()))
    })
}
