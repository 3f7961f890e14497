//! The memory limit of a process: of its cgroup and all above it, in versions 1 and 2.
//!
//! A cgroup path in `/proc/PID/cgroup` is relative to the root of the reader's cgroup namespace; the
//! mount in `/proc/self/mountinfo` says which part of that tree is visible here, and where.

use super::Host;
use super::roots::{Roots, read_text};
use crate::provenance::{Fact, NotRead, Source};

/// Version 1 writes "no limit" as a huge number that depends on the page size.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// Where the server's memory cgroup is visible here.
struct Place {
    version: u64,
    /// Where the hierarchy is mounted, without a slash at the end.
    mount: String,
    /// The cgroup below it: empty, or `/a/b`.
    path: String,
}

/// Adds the tightest limit that binds process `pid`, and the use of memory there.
pub(super) fn read(host: &mut Host, roots: &Roots, pid: u64) -> Result<(), NotRead> {
    let place = find(roots, pid).map_err(|why| NotRead::new("memory limit (cgroup)", why))?;
    if let Some(limit) = tightest(roots, &place) {
        host.cgroup_limit_bytes =
            Some(Fact::new(limit.bytes, Source::new(limit.directory.as_str(), limit.file)));
        host.cgroup_version =
            Some(Fact::new(place.version, Source::new(limit.directory.as_str(), "")));
        let usage_file = match place.version {
            1 => "memory.usage_in_bytes",
            _ => "memory.current",
        };
        host.cgroup_usage_bytes = number(roots, &limit.directory, usage_file)
            .map(|bytes| Fact::new(bytes, Source::new(limit.directory.as_str(), usage_file)));
    }
    Ok(())
}

/// Microseconds tasks stalled on memory: those of the server's own cgroup where the kernel counts
/// them, else of the machine.
pub(super) fn stall_microseconds(roots: &Roots, pid: Option<u64>) -> Option<Fact<u64>> {
    let own = pid.and_then(|pid| {
        let place = find_version_2(roots, pid)?;
        let directory = format!("{}{}", place.mount, place.path);
        let text = read_text(&roots.absolute(&format!("{directory}/memory.pressure"))).ok()?;
        let total = super::machine::stall_microseconds(&text)?;
        Some(Fact::new(total, Source::new(directory, "memory.pressure")))
    });
    own.or_else(|| {
        let text = roots.proc_text("pressure/memory")?;
        let total = super::machine::stall_microseconds(&text)?;
        Some(Fact::new(total, Source::new("/proc/pressure/memory", "some total")))
    })
}

struct Limit {
    bytes: u64,
    directory: String,
    file: &'static str,
}

/// The lowest limit from the cgroup up to the mount; `None` without any.
fn tightest(roots: &Roots, place: &Place) -> Option<Limit> {
    let files: &[&str] = match place.version {
        1 => &["memory.limit_in_bytes"],
        // Above `high` the kernel slows the process down and swaps: to a server that is the limit.
        _ => &["memory.max", "memory.high"],
    };
    let mut best: Option<Limit> = None;
    let mut path = place.path.as_str();
    loop {
        let directory = format!("{}{path}", place.mount);
        for file in files {
            if let Some(bytes) = number(roots, &directory, file)
                && bytes < UNLIMITED_BYTES
                && best.as_ref().is_none_or(|best| bytes < best.bytes)
            {
                let directory = directory.clone();
                best = Some(Limit { bytes, directory, file });
            }
        }
        let Some((parent, _)) = path.rsplit_once('/') else {
            return best;
        };
        path = parent;
        // An old hierarchy may not charge the parent for its children.
        let parent = format!("{}{path}", place.mount);
        if place.version == 1 && number(roots, &parent, "memory.use_hierarchy") == Some(0) {
            return best;
        }
    }
}

/// A number in a cgroup file; `None` for `max` or an unreadable file.
fn number(roots: &Roots, directory: &str, file: &str) -> Option<u64> {
    let text = read_text(&roots.absolute(&format!("{directory}/{file}"))).ok()?;
    text.trim().parse().ok()
}

/// Finds the hierarchy that controls memory: version 1 wherever it has the memory controller.
fn find(roots: &Roots, pid: u64) -> Result<Place, String> {
    let own = cgroups(roots, pid).ok_or("its cgroup cannot be read")?;
    let mounts = mounts(roots).ok_or("the mounts cannot be read")?;
    let version_1 = own.iter().find(|cgroup| cgroup.controllers.split(',').any(|c| c == "memory"));
    let (version, cgroup) = match version_1 {
        Some(cgroup) => (1, cgroup),
        None => (
            2,
            own.iter()
                .find(|cgroup| cgroup.controllers.is_empty())
                .ok_or("the server is in no memory cgroup")?,
        ),
    };
    locate(&mounts, version, &cgroup.path)
}

fn find_version_2(roots: &Roots, pid: u64) -> Option<Place> {
    let own = cgroups(roots, pid)?;
    let cgroup = own.iter().find(|cgroup| cgroup.controllers.is_empty())?;
    locate(&mounts(roots)?, 2, &cgroup.path).ok()
}

fn locate(mounts: &[Mount], version: u64, path: &str) -> Result<Place, String> {
    if path.split('/').any(|part| part == "..") {
        return Err("its cgroup lies outside of what this container can see".to_owned());
    }
    let of_version: Vec<&Mount> = mounts.iter().filter(|m| m.version == version).collect();
    if of_version.is_empty() {
        return Err(format!("no version {version} memory hierarchy is mounted here"));
    }
    of_version
        .iter()
        .find_map(|mount| {
            let below = below(path, &mount.root)?;
            Some(Place {
                version,
                mount: mount.point.trim_end_matches('/').to_owned(),
                path: below.trim_end_matches('/').to_owned(),
            })
        })
        .ok_or_else(|| format!("its cgroup {path} is not mounted here"))
}

/// The part of `path` below `root`, empty or with a slash ahead.
fn below<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// A line of `/proc/PID/cgroup`: `4:memory:/path`; version 2 is `0::/path`.
struct Cgroup {
    controllers: String,
    path: String,
}

fn cgroups(roots: &Roots, pid: u64) -> Option<Vec<Cgroup>> {
    let text = roots.proc_text(&format!("{pid}/cgroup"))?;
    let cgroups = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some(Cgroup { controllers: controllers.to_owned(), path: path.to_owned() })
    });
    Some(cgroups.collect())
}

/// A mounted hierarchy that may control memory.
struct Mount {
    version: u64,
    /// The cgroup that is visible as the mount point.
    root: String,
    point: String,
}

/// Reads `36 25 0:31 ROOT POINT options ... - TYPE source options`.
fn mounts(roots: &Roots) -> Option<Vec<Mount>> {
    let text = roots.proc_text("self/mountinfo")?;
    let mounts = text.lines().filter_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        let mut file_system = file_system.split(' ');
        let version = match file_system.next()? {
            "cgroup2" => 2,
            "cgroup" if file_system.nth(1)?.split(',').any(|o| o == "memory") => 1,
            _ => return None,
        };
        Some(Mount { version, root: root.to_owned(), point: point.to_owned() })
    });
    Some(mounts.collect())
}
