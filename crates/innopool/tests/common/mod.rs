//! Runs the binary as a person would: with an environment of its own and a time limit.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test may panic anywhere and tells its skips on stderr, and each uses a part of this"
)]

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use innopool_testkit::{Kind, Server};
use serde_json::Value;

/// Longer than any run here takes, even on a busy machine.
const RUN_TIME_MAX: Duration = Duration::from_secs(90);

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Run {
    /// The answer as JSON.
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("{error}: {self:?}"),
        }
    }

    /// Asserts that there is no answer, this exit code, and one line on stderr with these words.
    pub fn assert_fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(self.stderr.starts_with("innopool: "), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word}: {self:?}");
        }
    }
}

/// The binary with an empty home and nothing in its environment.
pub fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_innopool"));
    command
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary to its end.
pub fn innopool<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Run {
    run(command(args))
}

/// Runs the binary with something on its stdin.
pub fn innopool_reading<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I, stdin: &str) -> Run {
    let mut command = command(args);
    command.stdin(Stdio::piped());
    let begin = Instant::now();
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    finish(child, begin)
}

/// Runs a command to its end.
pub fn run(mut command: Command) -> Run {
    let begin = Instant::now();
    finish(command.spawn().unwrap(), begin)
}

/// Waits for a child and gathers what it says.
pub fn finish(mut child: Child, begin: Instant) -> Run {
    let stdout = child.stdout.take().map(gather);
    let stderr = child.stderr.take().map(gather);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > RUN_TIME_MAX {
            child.kill().unwrap();
            panic!("still running after {RUN_TIME_MAX:?}");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let text = |thread: Option<thread::JoinHandle<String>>| {
        thread.map(|thread| thread.join().unwrap()).unwrap_or_default()
    };
    Run { code: status.code(), took: begin.elapsed(), stdout: text(stdout), stderr: text(stderr) }
}

fn gather(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}

/// Runs the binary on a terminal of its own, typing `typed`; stdout and stderr come together.
/// `None` where there is no `script` to make one.
pub fn on_terminal(args: &[&str], environment: &[(&str, &str)], typed: &str) -> Option<Run> {
    let quoted: Vec<String> = std::iter::once(env!("CARGO_BIN_EXE_innopool"))
        .chain(args.iter().copied())
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    // The size that a new terminal lacks.
    let line = format!("stty cols 80 rows 24; {}", quoted.join(" "));
    let mut command = Command::new("script");
    command
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("SKIPPED: no `script` to make a terminal with: {error}");
            return None;
        }
    };
    // Kept open: the end of its input would end the terminal.
    let mut stdin = child.stdin.take().unwrap();
    // What is typed before the question would be shown by the terminal, and then thrown away.
    thread::sleep(Duration::from_millis(700));
    stdin.write_all(typed.as_bytes()).unwrap();
    let run = finish(child, begin);
    drop(stdin);
    Some(run)
}

/// An account with just these privileges, and its URL.
pub fn account(server: &Server, user: &str, password: &str, grants: &[&str]) -> String {
    server.sql(&format!("CREATE USER '{user}'@'%' IDENTIFIED BY '{password}'"));
    for grant in grants {
        server.sql(grant);
    }
    format!("mysql://{user}:{password}@127.0.0.1:{}", server.port())
}

/// Both kinds, unless only some can be had.
pub fn for_each_shared(test: impl Fn(&Server)) {
    for kind in Kind::ALL {
        if let Some(server) = innopool_testkit::shared(kind) {
            test(server);
        }
    }
}

/// All files below a directory.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Why things were not read, in one text.
pub fn not_read(report: &Value) -> String {
    report["not_read"].to_string()
}

/// The codes found.
pub fn codes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}
