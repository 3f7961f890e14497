//! `cargo xtask test`: the gate, as named stages that stop at the first failure.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use innopool_testkit::{Kind, install, own, shared};

use crate::program::{cargo, succeed};
use crate::{fuzz, instructions, models, tidy};

/// How long the gate fuzzes each target.
const FUZZ_SECONDS: u32 = 30;

/// Which parts of the gate to run.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Arguments {
    /// Leave out fuzzing
    #[arg(long)]
    quick: bool,
}

/// One step of the gate.
struct Stage {
    name: &'static str,
    /// What runs this step alone.
    again: &'static str,
    run: fn() -> Result<()>,
    in_quick: bool,
}

const STAGES: [Stage; 9] = [
    Stage { name: "prepare", again: "cargo xtask servers up", run: prepare, in_quick: true },
    Stage { name: "format", again: "cargo fmt --all --check", run: format, in_quick: true },
    Stage {
        name: "lint",
        again: "cargo clippy --workspace --all-targets -- -D warnings",
        run: lint,
        in_quick: true,
    },
    Stage { name: "tests", again: "cargo test --workspace", run: tests, in_quick: true },
    Stage { name: "models", again: models::AGAIN, run: models::run, in_quick: true },
    Stage {
        name: "docs",
        again: "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps",
        run: docs,
        in_quick: true,
    },
    Stage { name: "tidy", again: "cargo xtask tidy", run: tidy::run, in_quick: true },
    Stage {
        name: "instructions",
        again: "cargo xtask bench pool instructions",
        run: instructions::check,
        in_quick: true,
    },
    Stage { name: "fuzz", again: "cargo xtask fuzz", run: fuzz, in_quick: false },
];

/// Runs `cargo xtask test`.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let start = Instant::now();
    let were_up = Kind::ALL.map(|kind| shared::status(kind).is_some());
    let mut times: Vec<(&Stage, Duration)> = Vec::new();
    let mut failure = None;
    for stage in STAGES.iter().filter(|stage| stage.in_quick || !arguments.quick) {
        println!("\n== {} ==", stage.name);
        let stage_start = Instant::now();
        let result = (stage.run)();
        times.push((stage, stage_start.elapsed()));
        if let Err(error) = result {
            failure = Some((stage, error));
            break;
        }
    }
    let stopped = stop(were_up);
    println!("\n== summary ==");
    for (stage, time) in &times {
        let failed = failure.as_ref().is_some_and(|(failed, _)| failed.name == stage.name);
        let verdict = if failed { "FAILED" } else { "ok" };
        println!("{:<12} {:>6.1} s  {verdict}", stage.name, time.as_secs_f64());
    }
    println!("{:<12} {:>6.1} s", "all", start.elapsed().as_secs_f64());
    match failure {
        Some((stage, error)) => Err(anyhow!("{error:#}\nto run this stage again: {}", stage.again)),
        None => stopped,
    }
}

/// Stops the servers that were not up before, and what killed test runs left.
fn stop(were_up: [bool; Kind::ALL.len()]) -> Result<()> {
    for (kind, was_up) in Kind::ALL.into_iter().zip(were_up) {
        own::remove_stale(kind)?;
        if !was_up {
            shared::down(kind)?;
        }
    }
    Ok(())
}

/// Installs and starts what the later stages need.
fn prepare() -> Result<()> {
    let required = std::env::var_os("REQUIRE_SERVERS").is_some_and(|value| value == "1");
    for kind in Kind::ALL {
        match shared::up(kind) {
            Ok(state) => println!("{kind}: {}", state.url),
            Err(error) if required => return Err(error),
            Err(error) => println!("{kind}: its tests will be SKIPPED: {error:#}"),
        }
    }
    match install::sysbench() {
        Err(error) if required => Err(error),
        Err(error) => {
            println!("sysbench: its tests will be SKIPPED: {error:#}");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

fn format() -> Result<()> {
    succeed(cargo().args(["fmt", "--all", "--check"]))?;
    succeed(cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
}

fn lint() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    succeed(cargo().args(arguments))
}

fn tests() -> Result<()> {
    succeed(cargo().args(["test", "--workspace"]))
}

fn docs() -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps"];
    succeed(cargo().args(arguments).env("RUSTDOCFLAGS", "-Dwarnings"))
}

fn fuzz() -> Result<()> {
    fuzz::run(&fuzz::Arguments::all_targets(FUZZ_SECONDS))
}
