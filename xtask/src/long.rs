//! `cargo xtask long`: what takes hours, to be run before a release rather than for every change.

use anyhow::Result;

use crate::program::{cargo, succeed};
use crate::{fuzz, models};

/// Random schedules for each model of the buffer pool.
const SCHEDULES: u32 = 100_000;

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
    println!("stressing the buffer pool in all settings");
    let test = ["test", "--package", "innopool-buf", "--test", "stress", "in_any_setting"];
    succeed(cargo().args(test).env("INNOPOOL_LONG", "1"))?;
    println!("checking the buffer pool under many schedules, and its memory");
    models::run_long(SCHEDULES)?;
    println!("fuzzing each target for {} s", arguments.seconds);
    fuzz::run(&fuzz::Arguments::all_targets(arguments.seconds))
}
