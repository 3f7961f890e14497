//! `cargo xtask long`: what takes hours, to be run before a release rather than for every change.

use anyhow::Result;

use crate::fuzz;
use crate::program::{cargo, succeed};

/// What to run for hours.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How long to fuzz each target, in seconds
    #[arg(long, default_value_t = 3600)]
    seconds: u32,
}

/// Runs `cargo xtask long`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    println!("looking at servers with 100,000 tables");
    let test = ["test", "--package", "innopool", "--test", "provoked", "many_tables"];
    succeed(cargo().args(test).env("INNOPOOL_LONG", "1"))?;
    println!("fuzzing each target for {} s", arguments.seconds);
    fuzz::run(&fuzz::Arguments::all_targets(arguments.seconds))
}
