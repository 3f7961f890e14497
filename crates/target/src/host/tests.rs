//! The machine as fixture trees with figures made up here, and this real machine.

mod fixture;
mod locating;
mod options;
mod real;

use std::time::Duration;

use super::process::others_rss;
use super::{Host, sample};
use crate::build::observe;
use crate::provenance::{Fact, NotRead};
use fixture::Machine;

const MIB: u64 = 1 << 20;

/// A full sample of the fixture's server, folded as every document is.
fn host_of(machine: &Machine) -> (Host, Vec<NotRead>) {
    let (documents, not_read) = sample(&machine.server(), 0, true);
    let observation = observe("fixture", documents, not_read);
    (observation.host().cloned().unwrap(), observation.not_read)
}

fn value<T: Clone>(fact: &Option<Fact<T>>) -> Option<T> {
    fact.as_ref().map(|fact| fact.value.clone())
}

#[test]
fn reads_counters_and_layout() {
    let machine = Machine::new();
    machine.numa(&[12_582_912, 8_388_608, 0]);
    machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "6\n");
    machine.write("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "1\n");
    machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.swapped_in_pages), Some(4711));
    assert_eq!(value(&host.swapped_out_pages), Some(815));
    assert_eq!(value(&host.memory_page_bytes), Some(4096));
    assert_eq!(value(&host.iowait_ticks), Some(50));
    assert_eq!(value(&host.cpu_ticks), Some(10 + 20 + 30 + 400 + 50 + 6 + 7 + 8));
    assert_eq!(value(&host.cpus), Some(2));
    assert_eq!(value(&host.numa_nodes), Some(2), "a node without memory does not count");
    assert_eq!(value(&host.numa_node_bytes), Some(8 << 30));
    assert_eq!(value(&host.huge_pages_bytes), Some(12 * MIB + (1 << 30)));
    assert_eq!(value(&host.transparent_huge_pages).as_deref(), Some("madvise"));
    assert_eq!(value(&host.server_rss_bytes), Some(300 * MIB));
    assert_eq!(value(&host.server_rss_peak_bytes), Some(400 * MIB));
    assert_eq!(value(&host.server_swapped_bytes), Some(2 * MIB));
    let source = &host.server_rss_bytes.unwrap().source;
    assert_eq!(source.to_string(), "/proc/700/status: VmRSS");
}

#[test]
fn a_bare_system_gives_nothing_and_no_zeros() {
    let machine = Machine::new();
    let mut server = machine.server();
    server.roots = super::Roots {
        proc: "/nonexistent/proc".into(),
        sys: "/nonexistent/sys".into(),
        root: "/nonexistent".into(),
    };
    server.files_root = "/nonexistent".into();
    server.data_device = None;
    let (documents, not_read) = sample(&server, 0, true);
    let observation = observe("bare", documents, not_read);
    let mut host = observation.host().cloned().unwrap();
    assert_eq!(value(&host.pid.take()), Some(700));
    assert_eq!(host, Host::default());
    assert!(observation.not_read.len() >= 5, "{:?}", observation.not_read);
}

#[test]
fn version_1_takes_the_tightest_limit_above() {
    let machine = Machine::new();
    machine.cgroups("4:memory:/pods/db/server\n0::/\n");
    machine.mount_version_1("/");
    let unlimited = "9223372036854771712\n";
    let group = |path: &str, limit: &str, usage: &str| {
        let directory = format!("sys/fs/cgroup/memory{path}");
        machine.write(&format!("{directory}/memory.limit_in_bytes"), limit);
        machine.write(&format!("{directory}/memory.usage_in_bytes"), usage);
        machine.write(&format!("{directory}/memory.use_hierarchy"), "1\n");
    };
    group("", unlimited, "1");
    group("/pods", "3221225472\n", "2147483648\n");
    group("/pods/db", unlimited, "1");
    group("/pods/db/server", "4294967296\n", "1073741824\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(3 << 30));
    assert_eq!(value(&host.cgroup_usage_bytes), Some(2 << 30));
    assert_eq!(value(&host.cgroup_version), Some(1));
    assert_eq!(
        host.cgroup_limit_bytes.unwrap().source.to_string(),
        "/sys/fs/cgroup/memory/pods: memory.limit_in_bytes"
    );

    // A parent that is not charged for its children does not bind them.
    machine.write("sys/fs/cgroup/memory/pods/memory.use_hierarchy", "0\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(4 << 30));
}

#[test]
fn no_limit_is_unknown_and_not_a_huge_number() {
    let machine = Machine::new();
    machine.cgroups("4:memory:/\n");
    machine.mount_version_1("/");
    machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    let (host, not_read) = host_of(&machine);
    assert_eq!(host.cgroup_limit_bytes, None);
    assert_eq!(host.cgroup_version, None);
    assert!(!not_read.iter().any(|missing| missing.what.contains("cgroup")));
}

#[test]
fn version_2_takes_max_and_high_of_all_above() {
    let machine = Machine::new();
    machine.cgroups("0::/system.slice/mysql.service\n");
    machine.mount_version_2("/", "/sys/fs/cgroup");
    let directory = "sys/fs/cgroup/system.slice/mysql.service";
    machine.write(&format!("{directory}/memory.max"), "max\n");
    machine.write(&format!("{directory}/memory.high"), "max\n");
    machine.write(
        &format!("{directory}/memory.pressure"),
        "some avg10=1.00 avg60=0.50 avg300=0.10 total=98765\nfull avg10=0.00 total=1\n",
    );
    machine.write("sys/fs/cgroup/system.slice/memory.max", "8589934592\n");
    machine.write("sys/fs/cgroup/system.slice/memory.current", "5368709120\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(8 << 30));
    assert_eq!(value(&host.cgroup_usage_bytes), Some(5 << 30));
    assert_eq!(value(&host.cgroup_version), Some(2));
    assert_eq!(value(&host.memory_stall_microseconds), Some(98_765));

    machine.write(&format!("{directory}/memory.high"), "2147483648\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(2 << 30));
    assert_eq!(
        host.cgroup_limit_bytes.unwrap().source.to_string(),
        "/sys/fs/cgroup/system.slice/mysql.service: memory.high"
    );
}

#[test]
fn a_hybrid_system_limits_memory_in_version_1() {
    let machine = Machine::new();
    machine.cgroups("5:memory:/db\n1:name=systemd:/db.service\n0::/db.service\n");
    machine.mount_version_1("/");
    machine.mount_version_2("/", "/sys/fs/cgroup/unified");
    machine.write("sys/fs/cgroup/memory/db/memory.limit_in_bytes", "1073741824\n");
    machine.write("sys/fs/cgroup/unified/db.service/memory.max", "1\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(1 << 30));
    assert_eq!(value(&host.cgroup_version), Some(1));
    // Without a pressure file of its own the machine's counts.
    assert_eq!(value(&host.memory_stall_microseconds), Some(1234));
}

#[test]
fn in_a_container_the_mount_shows_a_part_of_the_tree() {
    let machine = Machine::new();
    machine.cgroups("3:memory:/docker/0123abcd\n");
    machine.mount_version_1("/docker/0123abcd");
    machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.cgroup_limit_bytes), Some(512 * MIB));

    machine.cgroups("0::/../other\n");
    machine.mount_version_2("/", "/sys/fs/cgroup");
    let (host, not_read) = host_of(&machine);
    assert_eq!(host.cgroup_limit_bytes, None);
    let why = not_read.iter().find(|missing| missing.what.contains("cgroup")).unwrap();
    assert!(why.why.contains("outside"), "{why:?}");
}

#[test]
fn a_partition_counts_as_its_disk() {
    let machine = Machine::new();
    machine.disk("sdq", 65, 0);
    machine.write("sys/devices/pci/block/sdq/sdq2/partition", "2\n");
    machine.link("sys/dev/block/65:2", "../../devices/pci/block/sdq/sdq2");
    let mut server = machine.server();
    server.data_device = Some(super::device::DeviceNumber { major: 65, minor: 2 });
    let (documents, not_read) = sample(&server, 1, false);
    let observation = observe("fixture", documents, not_read);
    let host = observation.host().unwrap();
    assert_eq!(value(&host.data_device).as_deref(), Some("sdq"));
    assert_eq!(value(&host.data_device_rotational), Some(true));
    assert_eq!(value(&host.data_device_reads), Some(1111));
    assert_eq!(value(&host.data_device_read_milliseconds), Some(4444));
    assert_eq!(value(&host.data_device_writes), Some(5555));
}

#[test]
fn a_file_system_without_a_disk_of_its_own_is_unknown() {
    let machine = Machine::new();
    let mut server = machine.server();
    server.data_device = Some(super::device::DeviceNumber { major: 0, minor: 45 });
    let (documents, not_read) = sample(&server, 0, true);
    let observation = observe("fixture", documents, not_read);
    assert_eq!(observation.host().unwrap().data_device, None);
    let said = |missing: &NotRead| missing.what.contains("device") && missing.why.contains("0:45");
    assert!(observation.not_read.iter().any(said));
}

#[test]
fn the_dump_file_is_counted_where_the_server_has_it() {
    let machine = Machine::new();
    machine.write("root/data/db/ib_buffer_pool", "0,5\n0,6\n3,1\n");
    let (host, _) = host_of(&machine);
    assert_eq!(value(&host.dump_file).as_deref(), Some("/data/db/ib_buffer_pool"));
    assert_eq!(value(&host.dump_file_pages), Some(3));
}

#[test]
fn a_light_sample_leaves_out_what_lasts() {
    let machine = Machine::new();
    machine.write("root/data/db/ib_buffer_pool", "0,5\n");
    machine.numa(&[1024]);
    let (documents, _) = sample(&machine.server(), 1, false);
    let observation = observe("fixture", documents, Vec::new());
    let host = observation.host().unwrap();
    assert_eq!(value(&host.swapped_in_pages), Some(4711));
    assert_eq!(value(&host.server_rss_bytes), Some(300 * MIB));
    assert_eq!(host.dump_file_pages, None);
    assert_eq!(host.numa_nodes, None);
    assert_eq!(host.other_processes_rss_bytes, None);
}

#[test]
fn adds_up_ten_thousand_other_processes() {
    let machine = Machine::new();
    for pid in 1000..11_000_u64 {
        machine.write(&format!("proc/{pid}/statm"), &format!("90 {} 3 1 0 5 0\n", pid % 7));
    }
    machine.write("proc/1/statm", "1000 100 3 1 0 5 0\n");
    let expected: u64 = 100 + (1000..11_000_u64).map(|pid| pid % 7).sum::<u64>();
    let patient = Duration::from_secs(600);
    let sum = others_rss(machine.roots(), 700, 4096, patient).unwrap();
    assert_eq!(sum.value, expected * 4096);
    let hurried = others_rss(machine.roots(), 700, 4096, Duration::ZERO).unwrap_err();
    assert!(hurried.why.contains("too many"), "{hurried:?}");
}

#[test]
fn hidden_processes_make_the_sum_unknown() {
    let machine = Machine::new();
    machine.remove("proc/1/statm");
    let (host, not_read) = host_of(&machine);
    assert_eq!(host.other_processes_rss_bytes, None);
    assert!(not_read.iter().any(|missing| missing.why.contains("hidden")));
}
