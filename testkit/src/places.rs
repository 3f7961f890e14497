//! Where servers live: everything below `target/servers` of this workspace.
//!
//! ```text
//! target/servers/
//!   mysql-root/            a Debian of its own with MySQL in it; servers run inside by chroot
//!   install.lock           held while something is installed
//!   log/                   what helper programs said, as long as they have not succeeded
//!   mysql/, mariadb/
//!     template/            an initialised data directory, copied for each instance
//!     state.json           how to reach the shared instance
//!     shared/              the shared instance
//!     own-PID-N/           instances of test process PID
//! ```
//!
//! It is the workspace's `target` even when cargo is told to build elsewhere: the installation
//! is worth sharing between build directories.

use std::path::{Path, PathBuf};

use crate::Kind;

/// Returns the root of this workspace.
pub fn workspace() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Returns the directory that holds everything about servers.
pub fn servers() -> PathBuf {
    workspace().join("target/servers")
}

/// Returns the root directory of the Debian that MySQL is installed in.
pub fn mysql_root() -> PathBuf {
    servers().join("mysql-root")
}

/// Returns the directory for everything about one kind.
pub fn kind(kind: Kind) -> PathBuf {
    servers().join(kind.name())
}

/// Returns the directory of the shared instance.
pub fn shared(kind: Kind) -> PathBuf {
    self::kind(kind).join("shared")
}

/// Returns the file that says how to reach the shared instance.
pub fn state(kind: Kind) -> PathBuf {
    self::kind(kind).join("state.json")
}

/// Returns the initialised data directory that instances are copied from.
pub fn template(kind: Kind) -> PathBuf {
    self::kind(kind).join("template")
}
