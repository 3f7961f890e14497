//! `cargo xtask tidy`: the rules of this repository that neither compiler nor formatter know.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use innopool_testkit::places;

use crate::program::{output, program};

/// A file is split before a reader loses the thread.
const RUST_LINES_MAX: usize = 800;

/// What must not be left in Rust sources. (Put together, so that this file may say them.)
const BANNED: [&str; 4] = [
    concat!("to", "do!("),
    concat!("db", "g!("),
    concat!("unimplemen", "ted!("),
    concat!("#[ig", "nore"),
];

/// Directories whose files are what others wrote, kept byte for byte.
const VERBATIM: [&str; 4] = ["cases", "corpus", "fixtures", "snapshots"];

/// Files that must be in the repository.
const NEEDED: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Runs `cargo xtask tidy`.
pub(crate) fn run() -> Result<()> {
    // Files that are not added yet count, so that the check before a commit is about the commit.
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = output(program("git").args(listing)).context("cannot list the files")?;
    let paths: Vec<&str> = listed.split_terminator('\0').collect();
    let mut problems = missing(&paths);
    for path in &paths {
        let file = places::workspace().join(path);
        // A file that was removed but is still in the index has no text, and neither have pictures.
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        check(path, &text, &mut problems);
    }
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} problems in {} files looked at", problems.len(), paths.len());
    }
    println!("{} files are tidy", paths.len());
    Ok(())
}

fn missing(paths: &[&str]) -> Vec<String> {
    let absent = NEEDED.iter().filter(|needed| !paths.contains(needed));
    absent.map(|needed| format!("{needed}: is missing")).collect()
}

/// Adds what is wrong with one file, each with its place.
fn check(path: &str, text: &str, problems: &mut Vec<String>) {
    let verbatim = Path::new(path)
        .components()
        .any(|part| part.as_os_str().to_str().is_some_and(|name| VERBATIM.contains(&name)));
    if verbatim || path.ends_with(".snap") {
        return;
    }
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            problems.push(format!("{path}:{}: white space at the end", index + 1));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        problems.push(format!("{path}: the last line has no end"));
    }
    if path.ends_with(".rs") {
        check_rust(path, text, problems);
    }
}

fn check_rust(path: &str, text: &str, problems: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > RUST_LINES_MAX {
        problems.push(format!("{path}: {lines} lines, of at most {RUST_LINES_MAX}"));
    }
    if !text.starts_with("//! ") {
        problems.push(format!("{path}:1: does not start by saying what it is for (`//! ...`)"));
    }
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        if line.contains('\t') {
            problems.push(format!("{place}: a tab"));
        }
        for banned in BANNED.iter().filter(|&banned| line.contains(banned)) {
            problems.push(format!("{place}: `{banned}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        check(path, text, &mut problems);
        problems
    }

    #[test]
    fn each_rule_names_its_place() {
        let clean = "//! Why.\n\nfn f() {}\n";
        assert_eq!(problems("a.rs", clean), [""; 0]);
        assert_eq!(
            problems("a.md", "x \ny\r\n"),
            ["a.md:1: white space at the end", "a.md:2: white space at the end",]
        );
        assert_eq!(problems("a.md", "x"), ["a.md: the last line has no end"]);
        assert_eq!(problems("a.rs", "//! Why.\n\tx\n"), ["a.rs:2: a tab"]);
        assert_eq!(problems("a.rs", "fn f() {}\n").len(), 1);
        let long = format!("{clean}{}", "\n".repeat(RUST_LINES_MAX));
        assert_eq!(problems("a.rs", &long), ["a.rs: 803 lines, of at most 800"]);
        for banned in BANNED {
            let text = format!("//! Why.\n{banned}\n");
            assert_eq!(problems("a.rs", &text), [format!("a.rs:2: `{banned}`")]);
        }
    }

    #[test]
    fn what_others_wrote_is_left_alone() {
        assert_eq!(problems("cases/x/status.txt", "x \r\n"), [""; 0]);
        assert_eq!(problems("fuzz/corpus/version/a", "x"), [""; 0]);
    }

    #[test]
    fn missing_files_are_named() {
        assert_eq!(missing(&["Cargo.lock", "LICENSE-MIT"]), ["LICENSE-APACHE: is missing"]);
    }
}
