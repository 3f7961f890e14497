//! Running other programs from the root of the workspace.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use innopool_testkit::places;

/// Returns a command that runs in the root of the workspace.
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(places::workspace());
    command
}

/// Returns a command that runs cargo in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = program(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    // `cargo run` describes xtask itself in the environment. Build scripts that look at such
    // variables would run again for every change between this cargo and one typed by hand.
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let of_package = name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if of_package || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "OUT_DIR"].contains(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command to its end, with its output on the terminal.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let name = name(command);
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    Ok(())
}

/// Runs a command to its end, and returns what it says on standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = name(command);
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{name} failed ({}): {}", output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{name} says no UTF-8"))
}

/// Names a program in a message, without the directory that it was found in.
fn name(command: &Command) -> String {
    let path = Path::new(command.get_program());
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}
