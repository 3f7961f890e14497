//! The directory that evidence is written to: made beside its place and moved there whole, and never
//! in place of anything that is not evidence.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::CollectError;
use super::manifest::{MANIFEST, Manifest};

/// Larger files are not evidence.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads a file of evidence.
pub(super) fn read_text(path: &Path) -> Result<String, CollectError> {
    let refuse = |why: &str| {
        let error = std::io::Error::other(why.to_owned());
        CollectError::io("read", path)(error)
    };
    let metadata = fs::metadata(path).map_err(CollectError::io("read", path))?;
    // A pipe in its place would be waited for without end.
    if !metadata.is_file() {
        return Err(refuse("it is not a plain file"));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(refuse("it is larger than 256 MiB"));
    }
    let bytes = fs::read(path).map_err(CollectError::io("read", path))?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Where evidence will be, once checked that nothing else is lost there.
#[derive(Debug)]
pub(super) struct Target {
    path: PathBuf,
    parent: PathBuf,
    name: OsString,
    /// Evidence of ours is there and will be replaced.
    replaces: bool,
}

/// Checks the place to write to.
pub(super) fn target(dir: &Path) -> Result<Target, CollectError> {
    let not_ours = |why: String| CollectError::NotOurs { path: dir.to_owned(), why };
    let exists = fs::symlink_metadata(dir).is_ok();
    // A link is followed, so that the directory behind it is replaced and not the link.
    let path = if exists {
        fs::canonicalize(dir).map_err(CollectError::io("open", dir))?
    } else {
        dir.to_owned()
    };
    let name = path
        .file_name()
        .ok_or_else(|| not_ours("is not the name of a directory".to_owned()))?
        .to_owned();
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if !parent.exists() {
        return Err(CollectError::NoParent(parent));
    }
    let replaces = exists && holds_evidence(&path)?;
    Ok(Target { path, parent, name, replaces })
}

/// True for a directory of evidence, false for an empty one.
fn holds_evidence(path: &Path) -> Result<bool, CollectError> {
    let not_ours = |why: String| CollectError::NotOurs { path: path.to_owned(), why };
    if !path.is_dir() {
        return Err(not_ours("is not a directory".to_owned()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(CollectError::io("list", path))? {
        names.push(entry.map_err(CollectError::io("list", path))?.file_name());
    }
    if names.is_empty() {
        return Ok(false);
    }
    let manifest_path = path.join(MANIFEST);
    if !manifest_path.is_file() {
        return Err(not_ours("holds other files".to_owned()));
    }
    let manifest = Manifest::parse(&read_text(&manifest_path)?, &manifest_path)?;
    let is_known = |name: &OsString| {
        name == MANIFEST || manifest.documents.iter().any(|entry| *name == *entry.file)
    };
    match names.iter().find(|name| !is_known(name)) {
        Some(other) => Err(not_ours(format!(
            "holds a file that is not evidence of ours: {}",
            Path::new(other).display()
        ))),
        None => Ok(true),
    }
}

/// A directory in the making, beside its place. Removed unless it is finished.
#[derive(Debug)]
pub(super) struct Staging<'t> {
    target: &'t Target,
    path: PathBuf,
    finished: bool,
}

impl<'t> Staging<'t> {
    pub(super) fn begin(target: &'t Target) -> Result<Self, CollectError> {
        const ATTEMPTS: u32 = 100;
        let mut attempt = 0;
        loop {
            let path = target.beside("new", attempt);
            match make_private_directory(&path) {
                Ok(()) => {
                    return Ok(Self { target, path, finished: false });
                }
                // Left behind by a process of our number that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                Err(error) => return Err(CollectError::io("make", &target.path)(error)),
            }
        }
    }

    /// Writes one file, which only the owner may read.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), CollectError> {
        let path = self.path.join(name);
        let write = || {
            let mut file = private_file(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        // The name people know it by.
        write().map_err(CollectError::io("write", &self.target.path.join(name)))
    }

    /// Moves the directory to its place.
    pub(super) fn finish(mut self) -> Result<(), CollectError> {
        let Target { path, .. } = self.target;
        let io = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => {
                CollectError::Meanwhile(path.clone())
            }
            _ => CollectError::io("move evidence to", path)(error),
        };
        if !self.target.replaces {
            // Onto an empty directory, or where there is none; fails if something came in between.
            fs::rename(&self.path, path).map_err(io)?;
            self.finished = true;
            return Ok(());
        }
        let old = self.target.beside("old", 0);
        fs::rename(path, &old).map_err(io)?;
        if let Err(error) = fs::rename(&self.path, path) {
            // Put back what was there; if even that fails, it is still whole under the other name.
            let _ = fs::rename(&old, path);
            return Err(io(error));
        }
        self.finished = true;
        fs::remove_dir_all(&old)
            .map_err(CollectError::io("remove all of the evidence that was before in", path))
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // There is nobody to tell, and the directory can be removed by hand.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl Target {
    /// A hidden name beside the target that no other running process uses.
    fn beside(&self, role: &str, attempt: u32) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(format!(".{role}-{}-{attempt}", std::process::id()));
        self.parent.join(name)
    }
}

#[cfg(unix)]
fn make_private_directory(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private_directory(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().create(path)
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).open(path)
}
