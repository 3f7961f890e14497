//! The figures of the machine at one moment, as documents.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::locate::LocalServer;
use super::roots::read_text;
use super::{Host, cgroup, device, dump_file, machine, options, process, to_table};
use crate::observation::{Content, Document};
use crate::provenance::{Fact, NotRead};

/// Longest time spent on adding up other processes.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the figures come from, as a whole; each one names its own file.
const PLACE: &str = "/proc and /sys";

/// Reads the machine of a server that was found here.
///
/// With `full` everything is read; without, only what changes by the second: counters, and the
/// memory of the server's process. Nothing fails: what cannot be read is in the second list.
pub fn sample(server: &LocalServer, moment: usize, full: bool) -> (Vec<Document>, Vec<NotRead>) {
    let mut not_read = Vec::new();
    let taken_unix_seconds =
        SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64());
    let document = |content, place: &str| Document {
        content,
        place: place.to_owned(),
        moment,
        taken_unix_seconds,
    };
    let mut host = Host::default();
    read_changing(&mut host, server, full, &mut not_read);
    let mut documents = Vec::new();
    if full {
        read_lasting(&mut host, server, &mut not_read);
        let options = options::read(server);
        documents.extend(
            options
                .files
                .into_iter()
                .map(|file| document(Content::OptionFile(file.text), &file.path)),
        );
        not_read.extend(options.not_read);
    }
    match read_text(&server.roots.proc("meminfo")) {
        Ok(text) => documents.push(document(Content::Meminfo(text), "/proc/meminfo")),
        Err(error) => not_read.push(NotRead::new("memory of the machine", error.to_string())),
    }
    documents.push(document(Content::Host(to_table(&host)), PLACE));
    (documents, not_read)
}

/// What changes by the second. Reasons for what is missing are given once, in the full sample.
fn read_changing(host: &mut Host, server: &LocalServer, full: bool, not_read: &mut Vec<NotRead>) {
    let LocalServer { pid, roots, .. } = server;
    host.pid = Some(Fact::new(*pid, server.found_by.clone()));
    machine::read_counters(host, roots);
    process::read_server(host, roots, *pid);
    let pressure = cgroup::stall_microseconds(roots, Some(*pid));
    if full && pressure.is_none() {
        let why = "this kernel does not count it (PSI)";
        not_read.push(NotRead::new("time stalled on memory", why));
    }
    host.memory_stall_microseconds = pressure;
    let device = match server.data_device {
        Some(number) => device::read(host, roots, number),
        None => Err(NotRead::new(
            "device of the data directory",
            "the directory cannot be looked at (run as root or as the server's user)",
        )),
    };
    if full {
        not_read.extend(device.err());
    }
}

/// What stays as it is for minutes.
fn read_lasting(host: &mut Host, server: &LocalServer, not_read: &mut Vec<NotRead>) {
    let LocalServer { pid, roots, .. } = server;
    machine::read_memory_layout(host, roots);
    not_read.extend(cgroup::read(host, roots, *pid).err());
    match machine::page_bytes(roots) {
        Some(page) => match process::others_rss(roots, *pid, page.value, PATIENCE) {
            Ok(bytes) => host.other_processes_rss_bytes = Some(bytes),
            Err(missing) => not_read.push(missing),
        },
        None => not_read.push(NotRead::new(
            "memory of other processes",
            "the size of a memory page is unknown",
        )),
    }
    if let Some(shown) = server.dump_file() {
        not_read.extend(dump_file::read(host, &shown, &server.path(&shown)).err());
    }
}
