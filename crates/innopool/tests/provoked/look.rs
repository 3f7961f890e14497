//! What the provocations share: running `innopool check` on a server as a person would, reading its
//! JSON, and typing the statements of an action.

use std::process::Command;

use innopool_testkit::{Kind, Own, Server};
use serde_json::Value;

/// The answer of one `innopool check --format json`.
pub(crate) struct Look {
    pub(crate) json: Value,
    pub(crate) exit_code: i32,
}

/// Looks at a server over its socket, for `seconds`, with more arguments where needed.
pub(crate) fn look_with(server: &Server, seconds: u32, more: &[&str]) -> Look {
    let socket = server.socket();
    let output = Command::new(env!("CARGO_BIN_EXE_innopool"))
        .args(["check", "--no-defaults", "--format", "json", "--user", "root", "--socket"])
        .arg(socket)
        .args(["--interval", &seconds.to_string()])
        .args(more)
        .output()
        .expect("innopool runs");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let json = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    Look { json, exit_code: output.status.code().expect("an exit code") }
}

/// Looks for two seconds.
pub(crate) fn look(server: &Server) -> Look {
    look_with(server, 2, &[])
}

impl Look {
    pub(crate) fn finding(&self, code: &str) -> Option<&Value> {
        self.json["findings"].as_array()?.iter().find(|finding| finding["code"] == code)
    }

    /// The finding, which must be there.
    #[track_caller]
    pub(crate) fn found(&self, code: &str) -> &Value {
        match self.finding(code) {
            Some(finding) => finding,
            None => panic!("no {code} in {:#}", self.json),
        }
    }

    /// The finding must be gone.
    #[track_caller]
    pub(crate) fn cleared(&self, code: &str) {
        if let Some(finding) = self.finding(code) {
            panic!("{code} did not clear: {finding:#}");
        }
    }

    pub(crate) fn severity(&self, code: &str) -> Option<&str> {
        self.finding(code)?["severity"].as_str()
    }

    pub(crate) fn action(&self, code: &str) -> &str {
        self.found(code)["action"].as_str().expect("an action")
    }

    /// Warnings and worse, by code.
    pub(crate) fn alarms(&self) -> Vec<&str> {
        let findings = self.json["findings"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        findings
            .iter()
            .filter(|finding| finding["severity"] != "notice")
            .filter_map(|finding| finding["code"].as_str())
            .collect()
    }
}

/// Types every statement of an action at the server, as the page asks to.
pub(crate) fn type_statements(server: &Server, action: &str) {
    let mut typed = 0;
    for line in action.lines().filter(|line| line.ends_with(';')) {
        server.sql(line);
        typed += 1;
    }
    assert!(typed > 0, "nothing to type in: {action}");
}

/// Does what an action says for the next restart: `SET PERSIST_ONLY` at the server, or a setting
/// in its option file; then restarts.
pub(crate) fn type_and_restart(server: &mut Server, action: &str) {
    assert!(action.contains("restart the server"), "no restart asked for: {action}");
    let mut settings = Vec::new();
    for line in action.lines() {
        if line.ends_with(';') {
            server.sql(line);
        } else if let Some((name, value)) = line.split_once(" = ")
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            settings.push(format!("{name}={value}"));
        }
    }
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    server.restart_with(&settings).expect("the server restarts");
}

/// An own server with these options; `None` where there can be none.
pub(crate) fn server(kind: Kind, options: &[&str]) -> Option<Server> {
    let mut own = Own::new(kind);
    for option in options {
        own = own.option(option);
    }
    own.start()
}

/// Makes `test.filler` about this large, with a row of 4 KB a quarter page, by doubling.
pub(crate) fn fill(server: &Server, megabytes: u32) {
    server.sql("CREATE DATABASE IF NOT EXISTS test");
    server.sql("CREATE TABLE test.filler (id BIGINT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(4000) NOT NULL)");
    server.sql("INSERT INTO test.filler (pad) VALUES (REPEAT('x', 3900))");
    let rows = u64::from(megabytes) * 256;
    let mut have = 1;
    while have < rows {
        let more = have.min(rows - have);
        server.sql(&format!(
            "INSERT INTO test.filler (pad) SELECT pad FROM test.filler LIMIT {more}"
        ));
        have += more;
    }
}

/// Waits until `done`, at most this long.
#[track_caller]
pub(crate) fn wait_until(what: &str, seconds: u64, mut done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        assert!(start.elapsed().as_secs() < seconds, "waited {seconds} s for: {what}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
