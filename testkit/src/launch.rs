//! How a server process is started, so that it leaves nothing behind.
//!
//! Each program of the chain replaces the one before, so the process that is started is the server
//! itself, and its number is the server's:
//!
//! 1. an own instance: `setpriv --pdeathsig` (killed with the process that started it); the shared
//!    one: `setsid` (out of reach of the terminal's Ctrl-C);
//! 2. MySQL only: `unshare --mount`, a shell that binds what the server needs into its root, and
//!    `chroot`. The mounts go with the namespace, which goes with the process. The directory of
//!    instances is bound at the *same path* inside, so that every path the server tells about
//!    itself is true outside as well.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::{Kind, places, process};

/// What a server must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Ends with the process that started it.
    Own,
    /// Stays until it is told to stop.
    Shared,
}

/// Enters MySQL's root: `$1` is the root, `$2` the directory of instances, the rest the program.
const ENTER_ROOT: &str = r#"
root=$1 servers=$2
shift 2
mount --bind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount --bind /tmp "$root/tmp"
mkdir -p "$root$servers"
mount --bind "$servers" "$root$servers"
exec chroot "$root" "$@"
"#;

/// Returns the words that run MySQL's `program` inside its root.
pub(crate) fn in_mysql_root(program: &str) -> Result<Vec<String>> {
    let utf8 = |path: &Path| -> Result<String> {
        Ok(path.to_str().context("the workspace's path is not UTF-8")?.to_owned())
    };
    let root = utf8(&places::mysql_root())?;
    let servers = utf8(&places::servers())?;
    let words = ["unshare", "--mount", "--propagation", "private", "sh", "-euc", ENTER_ROOT, "sh"];
    let mut words: Vec<String> = words.map(str::to_owned).into();
    words.extend([root, servers, program.to_owned()]);
    Ok(words)
}

/// Starts a server with this option file and further arguments; its output goes to its error log.
///
/// `program` is the path by which the server's own root sees it.
pub(crate) fn server(
    kind: Kind,
    life: Life,
    program: &str,
    option_file: &Path,
    arguments: &[String],
    error_log: &Path,
) -> Result<Child> {
    let mut words: Vec<String> = match life {
        Life::Own => ["setpriv", "--pdeathsig", "KILL"].map(str::to_owned).into(),
        Life::Shared => vec!["setsid".to_owned()],
    };
    match kind {
        Kind::Mysql => words.extend(in_mysql_root(program)?),
        Kind::Mariadb => words.push(program.to_owned()),
    }
    // Servers accept this option in the first place only.
    words.push(format!("--defaults-file={}", option_file.display()));
    words.extend_from_slice(arguments);

    // What goes wrong before the server opens its log is said on stderr.
    let output = OpenOptions::new()
        .create(true)
        .append(true)
        .open(error_log)
        .with_context(|| format!("cannot open {}", error_log.display()))?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(output.try_clone().context("cannot share the error log")?)
        .stderr(output);
    if life == Life::Own {
        // A Ctrl-C ends the tests first, and the server with them. (A leader of a group cannot
        // become the leader of a session without a fork, hence not for the shared one.)
        command.process_group(0);
    }
    process::spawn(command)
}
