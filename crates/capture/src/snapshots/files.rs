//! The dump files in the server's data directory: ours, its own, and its own while ours has its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use innopool_target::host::LocalServer;

use super::SnapshotError;
use super::dump::DUMP_LIMIT;
use super::settings::{DUMP_FILE_NAME, DumpSettings};

/// What a server's own dump is called while one of ours has its name.
pub const KEPT_FILE_NAME: &str = "ib_buffer_pool.innopool-kept";

/// Puts the files in the data directory back as they were before a capture that was killed: removes dumps
/// of ours, and gives a server's own dump its name again, unless it has written a newer one since. Doing it
/// twice, or after a capture that left nothing, does nothing.
///
/// # Errors
///
/// When the server does not say where its data are, or a file cannot be renamed or removed.
pub fn put_files_back(server: &LocalServer, before: &DumpSettings) -> Result<(), SnapshotError> {
    let files = Files::of(server, before)?;
    files.put_back().map_err(|(path, source)| SnapshotError::File { path, source })
}

/// Where the files are, seen from here.
pub(super) struct Files {
    /// The dump that we ask for.
    pub(super) ours: PathBuf,
    /// What the server dumps to unless told otherwise, and loads at its start.
    pub(super) its_own: PathBuf,
    kept: PathBuf,
}

impl Files {
    pub(super) fn of(server: &LocalServer, before: &DumpSettings) -> Result<Files, SnapshotError> {
        let ours = server.pool_dump(DUMP_FILE_NAME).ok_or(SnapshotError::NoPlace)?;
        let its_own = server.pool_dump(&before.filename).ok_or(SnapshotError::NoPlace)?;
        // In the same directory, since a name can only move within a file system.
        let kept = its_own.with_file_name(KEPT_FILE_NAME);
        Ok(Files { ours, its_own, kept })
    }

    /// Finds out that we may not read the files before the server is asked to write one, and removes what
    /// a capture that was killed has left.
    pub(super) fn prepare(&self) -> Result<(), SnapshotError> {
        self.put_back().map_err(|(path, source)| SnapshotError::File { path, source })?;
        let directory = self.ours.parent().unwrap_or(&self.ours);
        fs::read_dir(directory)
            .map(drop)
            .map_err(|source| SnapshotError::File { path: self.ours.clone(), source })
    }

    /// Gives the server's own dump a second name, under which it stays when the server replaces it. False
    /// when there is none.
    pub(super) fn keep_its_own(&self) -> Result<bool, SnapshotError> {
        match fs::hard_link(&self.its_own, &self.kept) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(SnapshotError::Keep { path: self.its_own.clone(), source }),
        }
    }

    /// After a dump: puts everything back. Returns what is not as it should be then.
    pub(super) fn clean_up(&self) -> Option<String> {
        let (path, error) = self.put_back().err()?;
        Some(format!("{} could not be removed or renamed: {error}", path.display()))
    }

    fn put_back(&self) -> Result<(), (PathBuf, io::Error)> {
        remove(&self.ours)?;
        let Some(kept_at) = FileId::of(&self.kept).and_then(|kept| kept.changed) else {
            return Ok(());
        };
        // The second name was given just before our dump; a dump that is much newer is another one.
        let newest_of_ours = kept_at + DUMP_LIMIT * 2;
        let its_own = FileId::of(&self.its_own).and_then(|found| found.modified);
        if its_own.is_none_or(|modified| modified <= newest_of_ours) {
            fs::rename(&self.kept, &self.its_own).map_err(|error| (self.kept.clone(), error))?;
        }
        // Still there when both names were of one file.
        remove(&self.kept)
    }
}

fn remove(path: &Path) -> Result<(), (PathBuf, io::Error)> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err((path.to_owned(), error)),
        _ => Ok(()),
    }
}

/// Tells a file from another of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    inode: u64,
    modified: Option<SystemTime>,
    /// When its names or rights were changed last.
    changed: Option<SystemTime>,
}

impl FileId {
    pub(super) fn of(path: &Path) -> Option<FileId> {
        let found = fs::metadata(path).ok()?;
        let modified = found.modified().ok();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            use std::time::Duration;
            let seconds = u64::try_from(found.ctime()).ok();
            let nanos = u32::try_from(found.ctime_nsec()).unwrap_or(0);
            let changed =
                seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
            Some(FileId { inode: found.ino(), modified, changed })
        }
        #[cfg(not(unix))]
        Some(FileId { inode: 0, modified, changed: None })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may end by panicking")]
mod tests {
    use super::*;

    fn files(directory: &Path) -> Files {
        Files {
            ours: directory.join(DUMP_FILE_NAME),
            its_own: directory.join("ib_buffer_pool"),
            kept: directory.join(KEPT_FILE_NAME),
        }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What a server does: a file under another name, then this one.
    fn dump(path: &Path, text: &str) {
        let incomplete = path.with_extension("incomplete");
        fs::write(&incomplete, text).unwrap();
        fs::rename(&incomplete, path).unwrap();
    }

    #[test]
    fn a_dump_of_its_own_has_its_name_again() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path());
        fs::write(&files.its_own, "its own").unwrap();
        assert!(files.keep_its_own().unwrap());
        dump(&files.its_own, "the whole pool");
        dump(&files.ours, "ours");
        assert_eq!(files.clean_up(), None);
        assert_eq!(names(directory.path()), ["ib_buffer_pool"]);
        assert_eq!(fs::read_to_string(&files.its_own).unwrap(), "its own");
        // And when the server did not dump after all, one file has both names.
        assert!(files.keep_its_own().unwrap());
        assert_eq!(files.clean_up(), None);
        assert_eq!(names(directory.path()), ["ib_buffer_pool"]);
        assert_eq!(files.clean_up(), None);
    }

    #[test]
    fn a_dump_that_the_server_made_later_stays() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path());
        fs::write(&files.its_own, "its own").unwrap();
        assert!(files.keep_its_own().unwrap());
        dump(&files.its_own, "of its shutdown");
        let later = SystemTime::now() + DUMP_LIMIT * 3;
        fs::File::options().write(true).open(&files.its_own).unwrap().set_modified(later).unwrap();
        assert_eq!(files.clean_up(), None);
        assert_eq!(names(directory.path()), ["ib_buffer_pool"]);
        assert_eq!(fs::read_to_string(&files.its_own).unwrap(), "of its shutdown");
    }

    #[test]
    fn without_a_dump_of_its_own_there_is_nothing_to_keep() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path());
        files.prepare().unwrap();
        assert!(!files.keep_its_own().unwrap());
        assert_eq!(files.clean_up(), None);
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}
