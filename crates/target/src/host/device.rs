//! The block device under the data directory, and its counters.

use std::path::Path;

use super::Host;
use super::roots::{Roots, read_text};
use crate::provenance::{Fact, NotRead, Source};

/// A device number as the kernel writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u64,
    pub(crate) minor: u64,
}

impl DeviceNumber {
    /// The device that holds `path`; `None` where it cannot be looked at.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::linux::fs::MetadataExt;
        let number = std::fs::metadata(path).ok()?.st_dev();
        Some(Self {
            major: ((number >> 8) & 0xfff) | ((number >> 32) & !0xfff),
            minor: (number & 0xff) | ((number >> 12) & !0xff),
        })
    }

    /// Unknown on other systems.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_path: &Path) -> Option<Self> {
        None
    }
}

/// Adds the device's name, kind and counters. A partition counts as its whole disk.
pub(super) fn read(host: &mut Host, roots: &Roots, number: DeviceNumber) -> Result<(), NotRead> {
    let DeviceNumber { major, minor } = number;
    let not_read = |why: String| NotRead::new("device of the data directory", why);
    if major == 0 {
        // overlay, tmpfs, btrfs, zfs, nfs: an anonymous number that leads to no disk.
        return Err(not_read(format!(
            "its file system (device {major}:{minor}) does not say which disk it is on"
        )));
    }
    let link = roots.sys(&format!("dev/block/{major}:{minor}"));
    let directory = std::fs::canonicalize(&link)
        .map_err(|error| not_read(format!("/sys/dev/block/{major}:{minor}: {error}")))?;
    let disk = match directory.parent() {
        Some(parent) if directory.join("partition").exists() => parent.to_path_buf(),
        _ => directory,
    };
    let Some(name) = disk.file_name().and_then(|name| name.to_str()) else {
        return Err(not_read("its name is not readable".to_owned()));
    };
    let place = format!("/sys/block/{name}");
    host.data_device = Some(Fact::new(
        name.to_owned(),
        Source::new(format!("/sys/dev/block/{major}:{minor}"), ""),
    ));
    host.data_device_rotational = read_text(&disk.join("queue/rotational"))
        .ok()
        .and_then(|text| crate::variables::parse_flag(&text))
        .map(|flag| Fact::new(flag, Source::new(format!("{place}/queue"), "rotational")));
    read_counters(host, &disk, &format!("{place}/stat"));
    Ok(())
}

/// `stat`: reads, merged, sectors, milliseconds, then writes in the same order.
fn read_counters(host: &mut Host, disk: &Path, place: &str) {
    let Ok(text) = read_text(&disk.join("stat")) else {
        return;
    };
    let field = |at: usize, name: &str| {
        let value = text.split_ascii_whitespace().nth(at)?.parse().ok()?;
        Some(Fact::new(value, Source::new(place, name)))
    };
    host.data_device_reads = field(0, "reads");
    host.data_device_read_milliseconds = field(3, "read ms");
    host.data_device_writes = field(4, "writes");
}
