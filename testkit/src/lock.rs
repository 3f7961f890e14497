//! A lock between processes, for steps that several test processes would otherwise do at once.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};

/// Holds the lock until dropped; the kernel drops it with the process too.
pub(crate) struct Lock {
    _file: File,
}

/// Waits for the lock at `path`.
///
/// The wait has no limit of its own: every step done under a lock has one.
pub(crate) fn hold(path: &Path) -> Result<Lock> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
    }
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    flock(&file, FlockOperation::LockExclusive)
        .with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(Lock { _file: file })
}
