//! The numbered rules of `docs/buffer-pool.md`: each one that the code cites is there, and each one there is cited.

#![cfg(not(any(feature = "loom", feature = "shuttle")))]
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by failing")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The numbers that follow the word `rule` in the sources under `directory`.
fn cited(directory: &Path, numbers: &mut BTreeSet<u32>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cited(&path, numbers);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap().to_lowercase();
            numbers.extend(text.split("rule ").skip(1).filter_map(number_at_start));
        }
    }
}

fn number_at_start(text: &str) -> Option<u32> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[test]
fn the_rules_that_the_code_cites_are_the_rules_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/buffer-pool.md")).unwrap();
    let section = page.split("## The rules of access").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let written: BTreeSet<u32> = section.lines().filter_map(number_at_start).collect();
    assert_eq!(written.iter().copied().collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    let mut numbers = BTreeSet::new();
    cited(&root.join("src"), &mut numbers);
    assert_eq!(numbers, written);
}
