//! `cargo xtask fuzz`: libFuzzer over every target in `fuzz/Cargo.toml`, on the stable toolchain.
//!
//! The compiler's own coverage pass is reached with `-Cpasses`, which is stable, and libFuzzer is
//! built from its sources by `libfuzzer-sys`: no nightly toolchain and no cargo-fuzz. What is not
//! had that way is the address sanitizer, which these parsers without unsafe code do not need.
//!
//! Each target reads its kept inputs in `fuzz/corpus/TARGET`, and writes new ones to
//! `target/fuzz-corpus/TARGET`, from where `--keep` takes over those that add coverage.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use innopool_testkit::{install, places};

use crate::program::{cargo, output, program, succeed};

/// What to fuzz, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The target to fuzz; all of them by default
    target: Option<String>,
    /// How long to fuzz each target
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// Run the target on this one file instead, as after a crash
    #[arg(long, value_name = "FILE", requires = "target")]
    input: Option<PathBuf>,
    /// Take new inputs that add coverage over into the kept ones instead
    #[arg(long, conflicts_with = "input")]
    keep: bool,
}

impl Arguments {
    /// Fuzzes every target.
    pub(crate) fn all_targets(seconds: u32) -> Self {
        Arguments { target: None, seconds, input: None, keep: false }
    }
}

const MANIFEST: &str = "fuzz/Cargo.toml";

/// Instruments as cargo-fuzz does, less the sanitizer.
const INSTRUMENTATION: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// An input that takes longer is a finding.
const INPUT_SECONDS_MAX: u32 = 5;
/// An input that takes more memory is a finding.
const MEMORY_MIB_MAX: u32 = 2048;
/// The longest input to try: a page and its surroundings, or a long report.
const INPUT_BYTES_MAX: u32 = 65_536;
/// How much of a log a failure shows.
const TAIL_LINES_MAX: usize = 40;

/// Runs `cargo xtask fuzz`.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut targets = targets()?;
    if let Some(wanted) = &arguments.target {
        let known = targets.join(", ");
        targets.retain(|target| target == wanted);
        if targets.is_empty() {
            bail!("no fuzz target {wanted}; there are: {known}");
        }
    }
    let binaries = build(&targets)?;
    match (&arguments.input, arguments.keep) {
        (Some(input), _) => {
            // Relative to where the command was typed, unlike everything else here.
            let input = std::path::absolute(input).context("cannot tell the current directory")?;
            succeed(program(&binaries.join(&targets[0]).display().to_string()).arg(input))
        }
        (None, true) => targets.iter().try_for_each(|target| keep(&binaries, target)),
        (None, false) => fuzz_all(&binaries, targets, arguments.seconds),
    }
}

/// Returns the names of the binaries of the fuzz package.
fn targets() -> Result<Vec<String>> {
    let arguments = ["metadata", "--manifest-path", MANIFEST, "--no-deps", "--format-version", "1"];
    let text = output(cargo().args(arguments))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&text).context("cargo metadata is no JSON")?;
    let targets = metadata["packages"][0]["targets"].as_array().context("no targets")?;
    let is_binary = |target: &&serde_json::Value| target["kind"][0] == "bin";
    let name = |target: &serde_json::Value| Some(target["name"].as_str()?.to_owned());
    Ok(targets.iter().filter(is_binary).filter_map(name).collect())
}

/// Builds the targets and returns the directory that they are in.
fn build(targets: &[String]) -> Result<PathBuf> {
    install::program("g++", "g++").context("libFuzzer is built with g++")?;
    let compiler = output(program("rustc").arg("-vV"))?;
    let host = compiler
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc does not tell its host")?;
    let directory = places::workspace().join("target/fuzz");
    let mut command = cargo();
    command.args(["build", "--release", "--manifest-path", MANIFEST]);
    // With an explicit target, build scripts and procedural macros stay without instrumentation.
    command.args(["--target", host, "--target-dir"]).arg(&directory);
    for target in targets {
        command.args(["--bin", target]);
    }
    command.env("RUSTFLAGS", INSTRUMENTATION.join(" ")).env_remove("CARGO_ENCODED_RUSTFLAGS");
    succeed(&mut command)?;
    Ok(directory.join(host).join("release"))
}

/// Fuzzes the targets, as many at a time as there are processors, and reports every crash.
fn fuzz_all(binaries: &Path, targets: Vec<String>, seconds: u32) -> Result<()> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    let queue = Mutex::new(VecDeque::from(targets));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        let mut failures = 0_usize;
        while let Some(target) = next() {
            match fuzz(binaries, &target, seconds) {
                Ok(summary) => println!("{target}: {summary}"),
                Err(error) => {
                    println!("{target}: {error:#}");
                    failures += 1;
                }
            }
        }
        failures
    };
    let failures: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(1)).sum()
    });
    if failures > 0 {
        bail!("{failures} fuzz targets failed");
    }
    Ok(())
}

/// Fuzzes one target, and returns libFuzzer's last line about it.
fn fuzz(binaries: &Path, target: &str, seconds: u32) -> Result<String> {
    let places = Places::prepare(target)?;
    let log = File::create(&places.log)
        .with_context(|| format!("cannot create {}", places.log.display()))?;
    let mut command = program(&binaries.join(target).display().to_string());
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-max_len={INPUT_BYTES_MAX}"))
        .arg(format!("-artifact_prefix={}/", places.artifacts.display()));
    if places.dictionary.exists() {
        command.arg(format!("-dict={}", places.dictionary.display()));
    }
    // New inputs go to the first directory.
    command.arg(&places.found).arg(&places.kept);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let status = command.status().with_context(|| format!("cannot run {target}"))?;
    let text = fs::read(&places.log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status.success() {
        return Ok(text.lines().last().unwrap_or("said nothing").to_owned());
    }
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES_MAX)..].join("\n    ");
    let artifact = text.lines().find_map(|line| line.split_once("Test unit written to "));
    let again = match artifact {
        Some((_, file)) => {
            let file = Path::new(file);
            let file = file.strip_prefix(places::workspace()).unwrap_or(file);
            format!("to reproduce: cargo xtask fuzz {target} --input {}", file.display())
        }
        None => format!("the whole log: {}", places.log.display()),
    };
    Err(anyhow!("failed ({status})\n    {tail}\n{again}"))
}

/// Adds the found inputs that reach what the kept ones do not.
fn keep(binaries: &Path, target: &str) -> Result<()> {
    let places = Places::prepare(target)?;
    let count = |directory: &Path| fs::read_dir(directory).map_or(0, Iterator::count);
    let before = count(&places.kept);
    let log = File::create(&places.log)
        .with_context(|| format!("cannot create {}", places.log.display()))?;
    let mut command = program(&binaries.join(target).display().to_string());
    command.arg("-merge=1").arg(format!("-max_len={INPUT_BYTES_MAX}"));
    command.arg(&places.kept).arg(&places.found).stdout(Stdio::null()).stderr(log);
    succeed(&mut command).with_context(|| format!("see {}", places.log.display()))?;
    println!("{target}: {before} kept before, {} now", count(&places.kept));
    Ok(())
}

/// Where one target's files are.
struct Places {
    kept: PathBuf,
    found: PathBuf,
    artifacts: PathBuf,
    dictionary: PathBuf,
    log: PathBuf,
}

impl Places {
    /// Makes the directories of a target.
    fn prepare(target: &str) -> Result<Self> {
        let root = places::workspace();
        let places = Places {
            kept: root.join("fuzz/corpus").join(target),
            found: root.join("target/fuzz-corpus").join(target),
            artifacts: root.join("fuzz/artifacts").join(target),
            dictionary: root.join("fuzz/dict").join(format!("{target}.dict")),
            log: root.join("target/fuzz-corpus").join(format!("{target}.log")),
        };
        for directory in [&places.kept, &places.found, &places.artifacts] {
            fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
        }
        Ok(places)
    }
}
