//! The machine the server runs on, as far as the kernel tells us.
//!
//! Only read when the server provably runs here (its pid file or socket leads to a process), or
//! given by the person (`--host-memory`); a remote machine's memory is never assumed.

mod cgroup;
mod device;
mod dump_file;
mod fields;
mod locate;
mod machine;
mod options;
mod process;
mod roots;
mod sample;
mod sockets;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub use fields::{HOST_MEMORY_OPTION, to_table};
pub(crate) use fields::{inherit, parse_source, set};
pub use locate::{LocalServer, Login, ServerSays, locate};
pub use roots::Roots;
pub use sample::sample;

use crate::provenance::Fact;

/// What is known of the machine. Absent values are unknown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Host {
    /// The server's process id, and how it was found.
    pub pid: Option<Fact<u64>>,
    /// Physical memory, bytes.
    pub ram_bytes: Option<Fact<u64>>,
    /// Memory the kernel could give without swapping, bytes.
    pub available_bytes: Option<Fact<u64>>,
    /// Swap space, bytes.
    pub swap_total_bytes: Option<Fact<u64>>,
    /// Swap space free, bytes.
    pub swap_free_bytes: Option<Fact<u64>>,
    /// Pages swapped in since boot (counter).
    pub swapped_in_pages: Option<Fact<u64>>,
    /// Pages swapped out since boot (counter).
    pub swapped_out_pages: Option<Fact<u64>>,
    /// Bytes of a memory page (what the two counters count).
    pub memory_page_bytes: Option<Fact<u64>>,
    /// Resident memory of the server process, bytes.
    pub server_rss_bytes: Option<Fact<u64>>,
    /// The most it has been, bytes.
    pub server_rss_peak_bytes: Option<Fact<u64>>,
    /// Memory of the server process that is swapped out, bytes.
    pub server_swapped_bytes: Option<Fact<u64>>,
    /// Resident memory of all other processes, bytes.
    pub other_processes_rss_bytes: Option<Fact<u64>>,
    /// The tightest memory limit of the *server's* cgroup and its ancestors, bytes.
    pub cgroup_limit_bytes: Option<Fact<u64>>,
    /// Memory in use in that cgroup, bytes.
    pub cgroup_usage_bytes: Option<Fact<u64>>,
    /// Which cgroup version set the limit: 1 or 2.
    pub cgroup_version: Option<Fact<u64>>,
    /// Microseconds some task stalled on memory (PSI `some`, total; counter).
    pub memory_stall_microseconds: Option<Fact<u64>>,
    /// Clock ticks all processors waited for I/O (counter).
    pub iowait_ticks: Option<Fact<u64>>,
    /// Clock ticks of all processors in any state (counter).
    pub cpu_ticks: Option<Fact<u64>>,
    /// Processors online.
    pub cpus: Option<Fact<u64>>,
    /// NUMA nodes with memory.
    pub numa_nodes: Option<Fact<u64>>,
    /// Memory of the smallest NUMA node, bytes.
    pub numa_node_bytes: Option<Fact<u64>>,
    /// Reserved huge pages, bytes.
    pub huge_pages_bytes: Option<Fact<u64>>,
    /// Transparent huge pages mode: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<Fact<String>>,
    /// The block device under the data directory.
    pub data_device: Option<Fact<String>>,
    /// True when that device says it has spinning disks.
    pub data_device_rotational: Option<Fact<bool>>,
    /// Reads the device completed (counter), of all processes.
    pub data_device_reads: Option<Fact<u64>>,
    /// Milliseconds those reads took, summed (counter).
    pub data_device_read_milliseconds: Option<Fact<u64>>,
    /// Writes the device completed (counter).
    pub data_device_writes: Option<Fact<u64>>,
    /// The buffer pool dump file.
    pub dump_file: Option<Fact<String>>,
    /// Pages (lines) in it.
    pub dump_file_pages: Option<Fact<u64>>,
}
