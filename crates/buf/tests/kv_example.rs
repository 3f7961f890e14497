//! The example store, run as a newcomer runs it, and killed as nobody would.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The example's program. `cargo test` builds it beside the tests; a run of this test alone does not.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().parent().unwrap().join("examples/kv");
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kv.rs");
    if changed(&path) < changed(&source) {
        let build = ["build", "-p", "innopool-buf", "--example", "kv"];
        assert!(Command::new(env!("CARGO")).args(build).status().unwrap().success());
    }
    path
}

fn kv(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(program()).arg(dir).args(arguments).output().unwrap()
}

fn kv_prints(dir: &Path, arguments: &[&str]) -> String {
    let output = kv(dir, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn scan(dir: &Path) -> BTreeMap<String, String> {
    let printed = kv_prints(dir, &["scan"]);
    let pairs = printed.lines().map(|line| line.split_once(' ').unwrap());
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn what_was_put_is_got_and_scanned() {
    let dir = tempfile::tempdir().unwrap();
    kv_prints(dir.path(), &["put", "colour", "dark green"]);
    kv_prints(dir.path(), &["put", "size", "7", "colour", "blue"]);
    assert_eq!(kv_prints(dir.path(), &["get", "colour"]), "blue\n");
    assert_eq!(
        scan(dir.path()).into_iter().collect::<Vec<_>>(),
        [("colour".to_owned(), "blue".to_owned()), ("size".to_owned(), "7".to_owned()),]
    );
    assert!(!kv(dir.path(), &["get", "smell"]).status.success());
    assert!(!kv(dir.path(), &["put", "two words", "1"]).status.success());
}

/// Puts `pairs` until `acknowledged` of them have been, then kills the process. Returns how many were.
fn put_and_kill(dir: &Path, pairs: &[(String, String)], acknowledged: usize) -> usize {
    let mut child = Command::new(program())
        .arg(dir)
        .arg("put")
        .args(pairs.iter().flat_map(|(key, value)| [key, value]))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = lines.by_ref().take(acknowledged).filter(Result::is_ok).count();
    child.kill().unwrap();
    // What it said before it died counts.
    seen += lines.map_while(Result::ok).count();
    child.wait().unwrap();
    assert!(seen < pairs.len(), "the kill came too late to prove anything");
    seen
}

#[test]
fn acknowledged_puts_survive_kill_9() {
    let dir = tempfile::tempdir().unwrap();
    let mut expected = BTreeMap::new();
    // Early, within a log, after its checkpoint (1024 records), and as soon as it has begun again.
    for (round, kill_after) in [1, 60, 1100, 300, 2].into_iter().enumerate() {
        let pairs: Vec<(String, String)> = (0..kill_after + 2000)
            .map(|number| {
                (format!("key{}", number * 7 % 600), format!("round {round} put {number}"))
            })
            .collect();
        let seen = put_and_kill(dir.path(), &pairs, kill_after);
        assert!(seen >= kill_after);
        expected.extend(pairs[..seen].iter().cloned());
        let found = scan(dir.path());
        // The put that was under way may have come in, and no other.
        let mut with_next = expected.clone();
        with_next.extend([pairs[seen].clone()]);
        assert!(found == expected || found == with_next, "round {round}, {seen} acknowledged");
        expected = found;
    }
    assert_eq!(kv_prints(dir.path(), &["get", "key7"]).trim_end(), expected["key7"]);
}

#[test]
fn a_record_that_was_not_wholly_written_ends_the_log() {
    let dir = tempfile::tempdir().unwrap();
    kv_prints(dir.path(), &["put", "a", "1"]);
    let log = dir.path().join("log");
    let whole = fs::read(&log).unwrap();
    assert_eq!(whole.len(), 16 << 10, "one record, which the next start will replay");
    // A second one, of which a power cut kept the length and the first half.
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(&[&whole[..5000], &[0; 11384]].concat()).unwrap();
    file.write_all(&[0; 16384]).unwrap();
    drop(file);
    assert_eq!(kv_prints(dir.path(), &["get", "a"]), "1\n");
    assert_eq!(fs::metadata(&log).unwrap().len(), 0, "recovery ended with a checkpoint");
}

#[test]
fn a_torn_page_is_repaired_from_the_log_and_without_it_refused() {
    let dir = tempfile::tempdir().unwrap();
    let tear = |key: &str| {
        let data = dir.path().join("data");
        let mut bytes = fs::read(&data).unwrap();
        let needle = format!("{key} 1\n").into_bytes();
        let at = bytes.windows(needle.len()).position(|window| window == needle);
        let at = at.expect("the page is in the file");
        bytes[at] ^= 0xFF;
        fs::write(&data, bytes).unwrap();
    };
    kv_prints(dir.path(), &["put", "torn", "1"]);
    kv_prints(dir.path(), &["get", "torn"]);
    // A second image of the same page, in the log only, and the page torn under it.
    kv_prints(dir.path(), &["put", "torn", "1"]);
    tear("torn");
    assert_eq!(kv_prints(dir.path(), &["get", "torn"]), "1\n");
    tear("torn");
    let output = kv(dir.path(), &["get", "torn"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("wrong checksum"), "{said}");
}
