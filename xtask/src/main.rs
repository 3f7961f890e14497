//! Everything a contributor types: `cargo xtask COMMAND`.

#![allow(clippy::print_stdout, reason = "a command line tool prints its results")]
#![allow(clippy::print_stderr, reason = "a command line tool prints its progress")]

mod bench;
mod fuzz;
mod gate;
mod instructions;
mod long;
mod models;
mod program;
mod servers;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Everything a contributor types
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start, stop or show the servers that reading tests share
    Servers {
        #[command(subcommand)]
        action: servers::Action,
    },
    /// Run the gate that every change passes
    Test(gate::Arguments),
    /// Measure, and print a table
    Bench {
        #[command(subcommand)]
        subject: bench::Subject,
    },
    /// Check what the compiler and the formatter do not
    Tidy,
    /// Fuzz the parsers of outside text and bytes
    Fuzz(fuzz::Arguments),
    /// Check the buffer pool under the schedules of model checkers
    Models,
    /// Run what takes hours: an hour of fuzzing for each target, and more than the gate has time for
    Long(long::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Servers { action } => servers::run(action),
        Command::Test(arguments) => gate::run(arguments),
        Command::Bench { subject } => bench::run(subject),
        Command::Tidy => tidy::run(),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Models => models::run(),
        Command::Long(arguments) => long::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
