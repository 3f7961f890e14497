//! Where the kernel's files are: `/proc`, `/sys` and `/`, or copies of them under another
//! directory. On a system without them every reader finds nothing, and all figures stay unknown.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The directories all readers of this module start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The process file system.
    pub proc: PathBuf,
    /// The device and cgroup file system.
    pub sys: PathBuf,
    /// The root directory.
    pub root: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), root: "/".into() }
    }
}

/// More than any kernel file or option file is long.
const FILE_BYTES_MAX: u64 = 16 << 20;

impl Roots {
    /// A path below `/proc`.
    pub(crate) fn proc(&self, relative: &str) -> PathBuf {
        self.proc.join(relative)
    }

    /// A path below `/sys`.
    pub(crate) fn sys(&self, relative: &str) -> PathBuf {
        self.sys.join(relative)
    }

    /// An absolute path of this machine, which may lie below `/sys` or `/proc`.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        let path = path.trim_start_matches('/');
        if let Some(rest) = below(path, "sys") {
            self.sys.join(rest)
        } else if let Some(rest) = below(path, "proc") {
            self.proc.join(rest)
        } else {
            self.root.join(path)
        }
    }

    /// The text of a file below `/proc`, if it can be read.
    pub(crate) fn proc_text(&self, relative: &str) -> Option<String> {
        read_text(&self.proc(relative)).ok()
    }

    /// The text of a file below `/sys`, if it can be read.
    pub(crate) fn sys_text(&self, relative: &str) -> Option<String> {
        read_text(&self.sys(relative)).ok()
    }

    /// All process ids, in no order.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u64> {
        std::fs::read_dir(&self.proc)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
    }

    /// An entry of the kernel's auxiliary vector for this process: hardware constants.
    pub(crate) fn auxiliary(&self, kind: u64) -> Option<u64> {
        let bytes = read_bytes(&self.proc("self/auxv")).ok()?;
        let word = size_of::<usize>();
        let number = |bytes: &[u8]| {
            let bytes: [u8; size_of::<usize>()] = bytes.try_into().ok()?;
            Some(usize::from_ne_bytes(bytes) as u64)
        };
        bytes.chunks_exact(2 * word).find_map(|pair| {
            let (key, value) = pair.split_at(word);
            (number(key)? == kind).then(|| number(value))?
        })
    }
}

/// Where `path` of a file system rooted at `root` is, seen from outside. Symbolic links are followed
/// as a process with that root would: an absolute one does not lead out.
pub(crate) fn inside(root: &Path, path: &str) -> PathBuf {
    const LINKS_MAX: usize = 40;
    let mut links = 0;
    let mut found: Vec<OsString> = Vec::new();
    let mut ahead: Vec<OsString> = parts(Path::new(path));
    while let Some(part) = ahead.pop() {
        if part == ".." {
            found.pop();
            continue;
        }
        found.push(part);
        let here = root.join(found.iter().collect::<PathBuf>());
        if let Ok(target) = std::fs::read_link(&here)
            && links < LINKS_MAX
        {
            links += 1;
            if target.is_absolute() {
                found.clear();
            } else {
                found.pop();
            }
            ahead.extend(parts(&target));
        }
    }
    root.join(found.iter().collect::<PathBuf>())
}

/// The names in a path, last first; `..` is kept, a slash at the head is not.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

fn below<'p>(path: &'p str, first: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(first)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
}

/// Reads a text file; bytes that are not UTF-8 are replaced. Directories, pipes and devices, which
/// could block, and files above 16 MiB are refused.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_bytes(path)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("the file is larger than 16 MiB"));
    }
    Ok(bytes)
}

/// Opens a file that is a plain file, so that reading it cannot block for ever.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    File::open(path)
}
