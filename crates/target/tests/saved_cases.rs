//! Output of servers in the wild: whatever is read of a pasted file, saving it and reading it back
//! leads to the same observation.

#![allow(clippy::print_stderr, reason = "a test tells that it was skipped")]

use std::path::{Path, PathBuf};

use innopool_target::build::observe;
use innopool_target::{collect, read};

/// The folder of cases, where this machine has it.
fn cases() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases");
    let folder = std::env::var_os("INNOPOOL_CASES").map_or_else(|| beside.into(), PathBuf::from);
    if folder.is_dir() {
        Some(folder)
    } else {
        eprintln!("SKIPPED: no cases in {}", folder.display());
        None
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["status", "metrics", "cnf", "errlog"]
        .iter()
        .filter_map(|kind| std::fs::read_dir(folder.join(kind)).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_pasted_file_reads_the_same_after_saving() {
    let Some(folder) = cases() else { return };
    let parent = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for path in files(&folder) {
        let place = path.file_name().unwrap().to_string_lossy().into_owned();
        let documents = read::read_bytes(&std::fs::read(&path).unwrap(), &place);
        let observation = observe(&place, documents.clone(), Vec::new());
        let dir = parent.path().join(&place);
        collect::write(&dir, &documents, &[], &place).unwrap();
        let (name, saved, not_read) = collect::read(&dir).unwrap();
        assert_eq!(observe(&name, saved, not_read), observation, "{place}");
        compared += usize::from(!documents.is_empty());
    }
    assert!(compared > 50, "only {compared} files held anything");
}
