//! `innopool`: parses arguments, calls the libraries, prints.
//!
//! The way of a run: [`args`] is what was typed; [`target`] resolves it with the environment and
//! the client's option files; [`run`] has a file per command, which looks (`run::look`), lets
//! `innopool-advice` judge, and hands the report to [`render`]. This crate alone reads the
//! environment ([`environment`]), owns the terminal ([`terminal`], [`progress`], [`prompt`]) and
//! decides how the process ends ([`exit`], [`interrupt`]).

mod args;
mod environment;
mod exit;
mod interrupt;
mod progress;
mod prompt;
mod render;
mod run;
mod target;
mod terminal;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Refusal};
use crate::exit::Exit;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&args::explain_refusal(&error, &words)),
    };
    interrupt::watch();
    match run::command(arguments.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            terminal::complain(&failure.message);
            failure.exit.into()
        }
    }
}

fn refuse(refusal: &Refusal) -> ExitCode {
    match refusal {
        Refusal::Asked(text) => match terminal::print(text) {
            Ok(()) => Exit::Done.into(),
            Err(failure) => failure.exit.into(),
        },
        Refusal::Wrong(text) => {
            // Nobody can be told when stderr is closed.
            let _ = std::io::stderr().write_all(text.as_bytes());
            Exit::Usage.into()
        }
    }
}
