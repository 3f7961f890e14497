//! Recordings in files.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::error::{ReadError, ReadFault, WriteError};
use crate::provenance::Provenance;
use crate::reader::RecordReader;
use crate::writer::RecordWriter;

/// What to do about a file of the name that a recording shall have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    #[default]
    Keep,
    /// Put the recording in its place. What it had is lost.
    Replace,
}

/// Begins a recording in a new file, which only its owner can read and write.
///
/// # Errors
///
/// When there is such a file and it is to be kept, the file cannot be made, or the provenance has values
/// that no reader takes.
pub fn create(
    path: &Path,
    existing: Existing,
    provenance: &Provenance,
) -> Result<RecordWriter<File>, WriteError> {
    let file = path.display().to_string();
    let output = create_file(path, existing).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => WriteError::Exists { file: file.clone() },
        _ => WriteError::Create { file: file.clone(), source },
    })?;
    RecordWriter::named(file, output, provenance)
}

fn create_file(path: &Path, existing: Existing) -> io::Result<File> {
    if existing == Existing::Replace {
        // Not truncated but removed: whoever reads the old one keeps it.
        match std::fs::symlink_metadata(path) {
            Ok(old) if old.is_file() => std::fs::remove_file(path)?,
            Ok(_) => return Err(io::Error::other("what is there is no regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Begins to read a recording in a file, or in a pipe.
///
/// # Errors
///
/// When it cannot be opened, and as [`RecordReader::new`].
pub fn open(path: &Path) -> Result<RecordReader<File>, ReadError> {
    let file = path.display().to_string();
    match File::open(path) {
        Ok(input) => RecordReader::named(file, input),
        Err(source) => Err(ReadError { file, fault: ReadFault::Open { source } }),
    }
}
