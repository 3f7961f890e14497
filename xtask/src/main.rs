//! Everything a contributor types: `cargo xtask COMMAND`.

#![allow(
    clippy::print_stdout,
    reason = "a command line tool prints its results"
)]
#![allow(
    clippy::print_stderr,
    reason = "a command line tool prints its progress"
)]

mod servers;

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
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Servers { action } => servers::run(action),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
