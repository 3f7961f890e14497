//! Instructions a hit takes, counted by valgrind: a figure that comes out the same on a busy machine.
//!
//! A hit is a get of a page that is in the pool, a read of its first bytes, and the drop of the guard. The benchmark
//! program is run twice, once with twice the hits, so that what it does before the first hit cancels out. The pool has
//! evicted pages, so InnoDB's rule of promotion is applied to every hit.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use innopool_testkit::install;

use crate::program::{cargo, output, program};

/// What a hit may take. It is what was counted with the toolchain of the day (1.95: 152) and 5 % for the next; more
/// than that is somebody's change, and is either undone or written here with its reason.
const BUDGET_PER_HIT: f64 = 160.0;

const HITS: u64 = 100_000;

/// The stage of the gate: counts, and fails above the budget.
pub(crate) fn check() -> Result<()> {
    let counted = count(&build()?)?;
    print(&counted);
    if counted > BUDGET_PER_HIT {
        bail!("a hit takes {counted:.1} instructions; the budget is {BUDGET_PER_HIT}");
    }
    Ok(())
}

/// Prints the row.
pub(crate) fn print(counted: &f64) {
    let held = if *counted <= BUDGET_PER_HIT { "held" } else { "MISSED" };
    println!("7. Instructions a hit on a hot page takes, counted by valgrind");
    println!("  get, read the first 8 bytes, drop, and the loop around it.  Batched promotion");
    println!("  {:<28} {counted:>9.1} {:<22}  <= {BUDGET_PER_HIT}  {held}", "pool", "");
}

/// Builds the benchmark program, and returns where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--package", "innopool-bench"];
    let messages = output(cargo().args(arguments).arg("--message-format=json-render-diagnostics"))?;
    let executable = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back();
    executable.context("cargo names no program that it has built")
}

/// Counts the instructions of a hit.
pub(crate) fn count(program_path: &Path) -> Result<f64> {
    install::program("valgrind", "valgrind").context("instructions are counted by valgrind")?;
    let (once, twice) = (total(program_path, HITS)?, total(program_path, 2 * HITS)?);
    Ok(twice.saturating_sub(once) as f64 / HITS as f64)
}

/// Instructions of a run with so many hits.
fn total(program_path: &Path, hits: u64) -> Result<u64> {
    let mut command = program("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]);
    command.arg(program_path).arg("hits").arg(hits.to_string());
    let said = output(&mut command)?;
    parse(&said).with_context(|| format!("valgrind tells no number of instructions: {said}"))
}

/// The total in what callgrind says at its end: `==1== Collected : 38589423`.
fn parse(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_in_what_callgrind_says() {
        let said = "==7== Events    : Ir\n==7== Collected : 38589423\n==7== \n";
        assert_eq!(parse(said), Some(38_589_423));
        assert_eq!(parse("==7== Collected : \n"), None);
    }
}
