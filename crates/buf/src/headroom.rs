//! How much more memory this process may take before the machine, or its container, would have to take some back.
//!
//! Asking the kernel for memory it does not have ends in swapping or in a killed process, not in an error. So growth is
//! checked against what the kernel says is available, and against every memory cgroup above us (v1 or v2), first.

use std::fs;
use std::path::{Path, PathBuf};

/// A bound on what may still be taken, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Headroom {
    bytes: u64,
    bound: String,
}

/// The tightest bound that can be read; `None` where there is none (not Linux, or no `/proc`).
fn headroom() -> Option<Headroom> {
    headroom_at(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

/// Memory left to everybody else.
const KEEP_FREE_BYTES: u64 = 64 << 20;

/// Why `wanted_bytes` more must not be taken, if they must not.
pub(crate) fn lack_of(wanted_bytes: u64) -> Option<String> {
    let left = headroom()?;
    (left.bytes < wanted_bytes.saturating_add(KEEP_FREE_BYTES))
        .then(|| format!("{} leaves {} bytes", left.bound, left.bytes))
}

fn headroom_at(proc: &Path, cgroups: &Path) -> Option<Headroom> {
    let machine = fs::read_to_string(proc.join("meminfo")).ok().and_then(|text| available(&text));
    let machine = machine.map(|bytes| Headroom { bytes, bound: "MemAvailable".to_owned() });
    let own = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    machine.into_iter().chain(limits(&own, cgroups)).min_by_key(|headroom| headroom.bytes)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The headroom of every memory cgroup from ours up. `own` is `/proc/self/cgroup`.
fn limits(own: &str, cgroups: &Path) -> Vec<Headroom> {
    let mut found = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (root, limit, usage) = match controllers {
            "" => (cgroups.to_owned(), "memory.max", "memory.current"),
            v1 if v1.split(',').any(|name| name == "memory") => {
                (cgroups.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        let own_dir = root.join(path.trim_start_matches('/'));
        for dir in own_dir.ancestors().take_while(|dir| dir.starts_with(&root)) {
            found.extend(headroom_of(dir, limit, usage));
        }
    }
    found
}

fn headroom_of(dir: &Path, limit: &str, usage: &str) -> Option<Headroom> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(dir.join(name)).ok()?.trim().parse().ok()
    };
    // "max", which is no number, means no limit.
    let limit_bytes = number(limit)?;
    let used = number(usage)?.saturating_sub(reclaimable(dir));
    let bound: PathBuf = dir.join(limit);
    Some(Headroom { bytes: limit_bytes.saturating_sub(used), bound: bound.display().to_string() })
}

/// Page cache of the cgroup that the kernel gives up without harm.
fn reclaimable(dir: &Path) -> u64 {
    let stat = fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
    let value = |name: &str| -> Option<u64> {
        stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    value("total_inactive_file ").or_else(|| value("inactive_file ")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_tightest_of_machine_and_container_binds() {
        let dir = tempfile::tempdir().unwrap();
        let (proc, cgroups) = (dir.path().join("proc"), dir.path().join("cg"));
        write(
            &proc,
            &[
                ("meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"),
                ("self/cgroup", "0::/a/b\n"),
            ],
        );
        write(
            &cgroups,
            &[
                ("a/memory.max", "3000000\n"),
                ("a/memory.current", "1000000\n"),
                ("a/memory.stat", "anon 5\ninactive_file 400000\n"),
                ("a/b/memory.max", "max\n"),
                ("a/b/memory.current", "1000000\n"),
            ],
        );
        let found = headroom_at(&proc, &cgroups).unwrap();
        assert_eq!(found.bytes, 2_400_000, "3,000,000 less 1,000,000 of which 400,000 are cache");
        assert!(found.bound.ends_with("a/memory.max"), "{}", found.bound);
    }

    #[test]
    fn a_version_1_cgroup_binds_too() {
        let dir = tempfile::tempdir().unwrap();
        let (proc, cgroups) = (dir.path().join("proc"), dir.path().join("cg"));
        write(
            &proc,
            &[
                ("meminfo", "MemAvailable: 4000 kB\n"),
                ("self/cgroup", "7:cpu,cpuacct:/x\n4:memory:/x\n0::/\n"),
            ],
        );
        write(
            &cgroups,
            &[
                ("memory/x/memory.limit_in_bytes", "100\n"),
                ("memory/x/memory.usage_in_bytes", "30\n"),
            ],
        );
        assert_eq!(headroom_at(&proc, &cgroups).unwrap().bytes, 70);
    }

    #[test]
    fn without_a_container_the_machine_binds() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[("meminfo", "MemAvailable: 4000 kB\n")]);
        let found = headroom_at(dir.path(), &dir.path().join("none")).unwrap();
        assert_eq!(found, Headroom { bytes: 4_096_000, bound: "MemAvailable".to_owned() });
        assert_eq!(headroom_at(&dir.path().join("none"), dir.path()), None);
    }
}
