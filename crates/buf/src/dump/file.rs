//! Dump files on disk: read with their name in every error, replaced in one step.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use innopool_policy::PageId;

use super::format::{self, Parsed};
use crate::error::PoolError;

/// Reads the dump file `path`, good lines and bad.
pub(super) fn read(path: &Path) -> Result<Parsed, PoolError> {
    let file = File::open(path).map_err(failed("cannot be opened for reading", path))?;
    format::parse(BufReader::with_capacity(1 << 16, file)).map_err(failed("cannot be read", path))
}

/// Puts a dump of `pages` in the place of `path`, durably. Until the very end `path` is what it was; a crash leaves at most
/// a file named `path` with `.incomplete` behind it, which the next dump overwrites.
pub(super) fn replace(path: &Path, pages: &[PageId]) -> Result<(), PoolError> {
    let incomplete = incomplete(path);
    let result = write_durably(&incomplete, pages).and_then(|()| publish(&incomplete, path));
    if result.is_err() {
        // What stopped us may stop this too, and what is left does no harm.
        let _ = fs::remove_file(&incomplete);
    }
    result
}

fn incomplete(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".incomplete");
    PathBuf::from(name)
}

fn write_durably(path: &Path, pages: &[PageId]) -> Result<(), PoolError> {
    let file = File::create(path).map_err(failed("cannot be opened for writing", path))?;
    let output = BufWriter::with_capacity(1 << 16, &file);
    format::write(output, pages.iter().copied())
        .and_then(|()| file.sync_all())
        .map_err(failed("cannot be written", path))
}

/// Renames a complete file and makes the rename durable.
fn publish(incomplete: &Path, path: &Path) -> Result<(), PoolError> {
    fs::rename(incomplete, path).map_err(failed("cannot be replaced by the new dump", path))?;
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .map_err(failed("the directory cannot be synced", directory))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PoolError {
    let path = path.display().to_string();
    move |error| PoolError::File { path, what: format!("{what}: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(numbers: std::ops::Range<u32>) -> Vec<PageId> {
        numbers.map(|number| PageId::new(1, number)).collect()
    }

    #[test]
    fn a_crash_before_the_rename_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        replace(&path, &pages(0..5)).unwrap();
        // All that happens before the rename, whole and torn.
        write_durably(&incomplete(&path), &pages(5..50)).unwrap();
        assert_eq!(read(&path).unwrap().pages, pages(0..5));
        fs::write(incomplete(&path), "1,5\n1,").unwrap();
        assert_eq!(read(&path).unwrap().pages, pages(0..5));
        replace(&path, &pages(5..7)).unwrap();
        assert_eq!(read(&path).unwrap().pages, pages(5..7));
        assert!(!incomplete(&path).exists());
    }

    #[test]
    fn a_failure_names_the_file_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("is_a_directory");
        fs::create_dir(&path).unwrap();
        let error = replace(&path, &pages(0..5)).unwrap_err().to_string();
        assert!(error.contains("is_a_directory: cannot be replaced"), "{error}");
        assert!(!incomplete(&path).exists());
        let nowhere = directory.path().join("no").join("such");
        let error = replace(&nowhere, &[]).unwrap_err().to_string();
        assert!(error.contains("such.incomplete: cannot be opened for writing"), "{error}");
        let error = read(&nowhere).unwrap_err().to_string();
        assert!(error.contains("cannot be opened for reading"), "{error}");
    }
}
