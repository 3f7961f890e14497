//! Option files on this machine's disk, and the source that follows no include at all.

use std::fs;
use std::io::Read;

use super::walk::{IncludeError, Includes};

/// Bytes read of one option file at most; real ones have a few thousand.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Follows includes on this machine's disk, under a server's rules: a file that everybody may write
/// is ignored. Relative paths count from the current directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Includes for Disk {
    fn file(&mut self, path: &str) -> Result<String, IncludeError> {
        // Asked before opening: opening a named pipe would wait for its other end.
        let metadata = fs::metadata(path).map_err(unreadable)?;
        let refuse = |reason: &str| Err(IncludeError::Unreadable(reason.to_owned()));
        if !metadata.is_file() {
            return refuse("it is not a file");
        }
        if is_world_writable(&metadata) {
            return Err(IncludeError::WorldWritable);
        }
        if metadata.len() > FILE_BYTES_MAX {
            return refuse("it is larger than 16 MiB");
        }
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn directory(&mut self, path: &str) -> Result<Vec<String>, IncludeError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(unreadable)? {
            // A name that is not UTF-8 cannot be told in our output; it keeps its ending.
            let name = entry.map_err(unreadable)?.file_name();
            names.push(name.to_string_lossy().into_owned());
        }
        Ok(names)
    }
}

fn unreadable(error: std::io::Error) -> IncludeError {
    match error.kind() {
        std::io::ErrorKind::NotFound => IncludeError::Missing,
        _ => IncludeError::Unreadable(error.to_string()),
    }
}

#[cfg(unix)]
fn is_world_writable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o002 != 0
}

#[cfg(not(unix))]
fn is_world_writable(_: &fs::Metadata) -> bool {
    false
}

/// Follows no include: for text that was pasted or came from another machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotFollowed;

impl Includes for NotFollowed {
    fn file(&mut self, _: &str) -> Result<String, IncludeError> {
        Err(IncludeError::NotLookedFor)
    }

    fn directory(&mut self, _: &str) -> Result<Vec<String>, IncludeError> {
        Err(IncludeError::NotLookedFor)
    }
}
