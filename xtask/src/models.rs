//! `cargo xtask models`: the buffer pool under model checkers, and under a sanitizer.
//!
//! `shuttle` runs the whole pool under random schedules; `loom` runs parts of it under all schedules of few preemptions and
//! all values that the memory orders allow. Either is a build of its own, since it replaces the locks and atomics of the
//! pool. AddressSanitizer needs a nightly compiler and is left to `cargo xtask long`.

use anyhow::Result;

use crate::program::{cargo, output, program, succeed};

/// What runs the models alone.
pub(crate) const AGAIN: &str = "cargo xtask models";

const SHUTTLE: [&str; 7] =
    ["test", "--package", "innopool-buf", "--features", "shuttle", "--test", "shuttle_pool"];
const LOOM: [&str; 7] =
    ["test", "--package", "innopool-buf", "--features", "loom", "--lib", "loom_models"];

/// The tests of the pool that use threads or lend memory. Those with servers or child processes gain nothing here.
const SANITIZED: [&str; 7] =
    ["pool", "races", "faults", "store_sim", "store_file", "store_file_errors", "stress"];

/// Runs the models for about a minute.
pub(crate) fn run() -> Result<()> {
    succeed(cargo().args(SHUTTLE))?;
    succeed(cargo().args(LOOM))
}

/// Runs the random ones under `iterations` schedules each, and the tests of the pool under AddressSanitizer.
pub(crate) fn run_long(iterations: u32) -> Result<()> {
    succeed(cargo().args(SHUTTLE).env("SHUTTLE_ITERATIONS", iterations.to_string()))?;
    sanitize()
}

/// The standard library that comes with a nightly compiler is not instrumented, which is good enough for addresses; races
/// between threads would need one that is.
fn sanitize() -> Result<()> {
    let Ok(version) = output(program("rustc").args(["+nightly", "--version", "--verbose"])) else {
        println!("AddressSanitizer: SKIPPED, there is no nightly compiler");
        return Ok(());
    };
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let mut command = program("cargo");
    command.args(["+nightly", "test", "--package", "innopool-buf", "--target", host]);
    SANITIZED.iter().for_each(|test| {
        command.args(["--test", test]);
    });
    // A directory of its own: the flags would rebuild everything for the next ordinary command.
    let target = innopool_testkit::places::workspace().join("target/sanitizer");
    succeed(command.env("RUSTFLAGS", "-Zsanitizer=address").env("CARGO_TARGET_DIR", target))
}
