//! `cargo xtask bench`: measurements, on the machine and at the moment that they say above the table.

use anyhow::Result;
use clap::Subcommand;
use innopool_testkit::places;

use crate::instructions;
use crate::program::{program, succeed};

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Subject {
    /// The buffer pool: hits, misses, loads, scans, instances, memory, instructions
    Pool {
        /// Less work: for a look while developing, not to be quoted
        #[arg(long)]
        short: bool,
        /// Only these rows: hot, wide, misses, loads, scan, instances, memory, instructions
        rows: Vec<String>,
    },
}

/// The rows that a tool counts from outside.
const INSTRUCTIONS: &str = "instructions";

/// Runs `cargo xtask bench`.
pub(crate) fn run(subject: Subject) -> Result<()> {
    let Subject::Pool { short, rows } = subject;
    let program_path = instructions::build()?;
    let (counted, measured): (Vec<String>, Vec<String>) =
        rows.into_iter().partition(|row| row == INSTRUCTIONS);
    let all = counted.is_empty() && measured.is_empty();
    if all || !measured.is_empty() {
        let mut command = program(&program_path.display().to_string());
        command.arg("pool").arg(places::workspace().join("target/bench"));
        command.args(short.then_some("--short")).args(measured);
        succeed(&mut command)?;
    }
    if all || !counted.is_empty() {
        instructions::print(&instructions::count(&program_path)?);
    }
    Ok(())
}
