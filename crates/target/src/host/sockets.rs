//! Listening sockets of this machine, and which process holds one open.

use std::path::Path;

use super::roots::Roots;

/// A socket's number in the kernel's lists and in `/proc/PID/fd`.
pub(crate) type Inode = u64;

/// Listening Unix sockets bound to one of `paths`, in the network namespace of process `of` (`self`
/// or a process id).
pub(super) fn listening_unix(roots: &Roots, of: &str, paths: &[&str]) -> Vec<Inode> {
    /// Flag of a socket that accepts connections.
    const ACCEPTS: u64 = 0x1_0000;
    let text = roots.proc_text(&format!("{of}/net/unix")).unwrap_or_default();
    // Num RefCount Protocol Flags Type St Inode Path
    let inode = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let flags = u64::from_str_radix(fields.nth(3)?, 16).ok()?;
        let inode = fields.nth(2)?.parse().ok()?;
        // The path is the rest of the line: it may hold blanks.
        let (_, path) = line.split_once(&format!(" {inode} "))?;
        (flags & ACCEPTS != 0 && paths.contains(&path)).then_some(inode)
    };
    text.lines().filter_map(inode).collect()
}

/// A TCP socket that a connection to the loopback address at some port may reach.
pub(super) struct TcpListener {
    pub(super) inode: Inode,
    /// The user who opened it.
    pub(super) user: u64,
}

/// Sockets that listen at `port` on the loopback address or on all addresses, in our own network
/// namespace.
pub(super) fn listening_tcp(roots: &Roots, port: u16) -> Vec<TcpListener> {
    let listener = |line: &str| {
        // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
        let mut fields = line.split_ascii_whitespace();
        let (address, at) = fields.nth(1)?.split_once(':')?;
        let listens = fields.nth(1)? == "0A";
        let user = fields.nth(3)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        let here = u16::from_str_radix(at, 16).ok()? == port && reaches_loopback(address);
        (listens && here).then_some(TcpListener { inode, user })
    };
    ["self/net/tcp", "self/net/tcp6"]
        .iter()
        .filter_map(|file| roots.proc_text(file))
        .flat_map(|text| text.lines().filter_map(listener).collect::<Vec<_>>())
        .collect()
}

/// True for all addresses, `127.x.x.x`, `::1` and `::ffff:127.x.x.x`, written as the kernel does:
/// words of four bytes in the machine's byte order.
fn reaches_loopback(hex: &str) -> bool {
    let word = |at: usize| {
        let word = u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    match hex.len() {
        8 => word(0).is_some_and(|address| address == [0; 4] || address.first() == Some(&127)),
        32 => {
            let words: Option<Vec<[u8; 4]>> = (0..4).map(|n| word(n * 8)).collect();
            match words.as_deref() {
                Some([a, b, c, d]) if a == &[0; 4] && b == &[0; 4] => {
                    let mapped =
                        c == &[0, 0, 0xff, 0xff] && (d.first() == Some(&127) || d == &[0; 4]);
                    mapped || (c == &[0; 4] && (d == &[0; 4] || d == &[0, 0, 0, 1]))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Processes that hold one of these sockets open, as far as we may look.
pub(super) fn owners(roots: &Roots, inodes: &[Inode]) -> Vec<u64> {
    if inodes.is_empty() {
        return Vec::new();
    }
    let mut owners: Vec<u64> = roots
        .processes()
        .filter(|pid| {
            Files::of(roots, *pid).is_some_and(|files| inodes.iter().any(|i| files.has_socket(*i)))
        })
        .collect();
    owners.sort_unstable();
    owners
}

/// The open files of a process.
pub(super) struct Files {
    /// Each link in `/proc/PID/fd` with what it says it leads to.
    links: Vec<(std::path::PathBuf, String)>,
}

impl Files {
    /// `None` where we may not look: processes of other users, without root.
    pub(super) fn of(roots: &Roots, pid: u64) -> Option<Self> {
        let entries = std::fs::read_dir(roots.proc(&format!("{pid}/fd"))).ok()?;
        let links = entries.flatten().filter_map(|entry| {
            let path = entry.path();
            let target = std::fs::read_link(&path).ok()?;
            Some((path, target.to_string_lossy().into_owned()))
        });
        Some(Self { links: links.collect() })
    }

    /// True when the process holds this socket.
    pub(super) fn has_socket(&self, inode: Inode) -> bool {
        let wanted = format!("socket:[{inode}]");
        self.links.iter().any(|(_, target)| *target == wanted)
    }

    /// True when the process has the very file `path` open, by whatever name.
    pub(super) fn has_file(&self, path: &Path) -> bool {
        let Some(wanted) = file_identity(path) else {
            return false;
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.links
            .iter()
            .filter(|(_, target)| target.ends_with(name.as_ref()))
            .any(|(link, _)| file_identity(link) == Some(wanted))
    }
}

/// What makes two paths the same file: device and inode.
#[cfg(unix)]
pub(super) fn file_identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Unknown on other systems.
#[cfg(not(unix))]
pub(super) fn file_identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::reaches_loopback;

    #[test]
    #[cfg(target_endian = "little")]
    fn tells_loopback_from_other_addresses() {
        assert!(reaches_loopback("00000000"));
        assert!(reaches_loopback("0100007F"));
        assert!(!reaches_loopback("0500000A"), "10.0.0.5");
        assert!(reaches_loopback("00000000000000000000000000000000"));
        assert!(reaches_loopback("00000000000000000000000001000000"), "::1");
        assert!(reaches_loopback("0000000000000000FFFF00000100007F"));
        assert!(!reaches_loopback("0000000000000000FFFF00000500000A"));
        assert!(!reaches_loopback("B80D0120000000000000000001000000"));
        assert!(!reaches_loopback("xyz"));
        assert!(!reaches_loopback("éééé"));
    }
}
