//! A machine made of files: one server, process 700, with its data in `/data/db`.

use std::fs;
use std::path::PathBuf;

use crate::host::{LocalServer, Roots, ServerSays};
use crate::provenance::Source;

pub(super) struct Machine {
    directory: tempfile::TempDir,
    roots: Roots,
}

impl Machine {
    pub(super) fn new() -> Self {
        // In memory where there is such a place: ten thousand small files are slow on a busy disk.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let roots = Roots {
            proc: directory.path().join("proc"),
            sys: directory.path().join("sys"),
            root: directory.path().join("root"),
        };
        let machine = Self { directory, roots };
        machine.write("proc/vmstat", "nr_free_pages 9\npswpin 4711\npswpout 815\n");
        machine.write(
            "proc/stat",
            "cpu  10 20 30 400 50 6 7 8 1 1\ncpu0 5 10 15 200 25 3 3 4 0 0\n\
             cpu1 5 10 15 200 25 3 4 4 1 1\nintr 1\nbtime 1790000000\n",
        );
        machine.write("proc/uptime", "5000.25 9000.00\n");
        machine.write("proc/meminfo", "MemTotal:       33554432 kB\nMemAvailable:    8388608 kB\n");
        machine
            .write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n");
        machine.write("proc/1/statm", "100 10 5 1 0 9 0\n");
        machine.write_auxiliary(&[(6, 4096), (17, 100)]);
        machine.write("proc/self/net/unix", UNIX_HEAD);
        machine.link("proc/self/ns/mnt", "mnt:[1]");
        machine.link("proc/self/ns/net", "net:[1]");
        machine.add_process(700, 1000.0);
        machine.write("root/data/db/ibdata1", "pages");
        machine
    }

    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    pub(super) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn append(&self, relative: &str, text: &str) {
        let before = fs::read_to_string(self.path(relative)).unwrap_or_default();
        self.write(relative, &(before + text));
    }

    pub(super) fn remove(&self, relative: &str) {
        let path = self.path(relative);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub(super) fn link(&self, relative: &str, target: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    fn write_auxiliary(&self, pairs: &[(usize, usize)]) {
        let bytes: Vec<u8> = pairs
            .iter()
            .flat_map(|(key, value)| [key.to_ne_bytes(), value.to_ne_bytes()].concat())
            .collect();
        self.write("proc/self/auxv", "");
        fs::write(self.path("proc/self/auxv"), bytes).unwrap();
    }

    /// A process that started this many seconds after boot.
    pub(super) fn add_process(&self, pid: u64, started_seconds: f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let ticks = (started_seconds * 100.0) as u64;
        self.write(
            &format!("proc/{pid}/status"),
            "Name:\tany (name)\nUid:\t105\t105\t105\t105\nVmHWM:\t  409600 kB\n\
             VmRSS:\t  307200 kB\nVmSwap:\t    2048 kB\n",
        );
        let zeros = "0 ".repeat(18);
        let stat = format!("{pid} (any (name)) S {zeros}{ticks} 1 2 3\n");
        self.write(&format!("proc/{pid}/stat"), &stat);
        self.write(&format!("proc/{pid}/statm"), "200000 76800 100 1 0 9 0\n");
        self.write(&format!("proc/{pid}/cmdline"), "/usr/sbin/any\0");
        self.write(&format!("proc/{pid}/net/unix"), UNIX_HEAD);
        self.link(&format!("proc/{pid}/root"), "/");
        self.link(&format!("proc/{pid}/ns/mnt"), "mnt:[1]");
        self.link(&format!("proc/{pid}/ns/net"), "net:[1]");
        fs::create_dir_all(self.path(&format!("proc/{pid}/fd"))).unwrap();
    }

    /// The server as if it had been located.
    pub(super) fn server(&self) -> LocalServer {
        LocalServer {
            pid: 700,
            found_by: Source::new("/run/db.pid", "pid"),
            roots: self.roots.clone(),
            says: ServerSays {
                datadir: Some("/data/db/".to_owned()),
                innodb_buffer_pool_filename: Some("ib_buffer_pool".to_owned()),
                ..ServerSays::default()
            },
            files_root: self.roots.root.clone(),
            data_device: None,
        }
    }

    pub(super) fn cgroups(&self, text: &str) {
        self.write("proc/700/cgroup", text);
        self.write("proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n");
    }

    pub(super) fn mount_version_1(&self, root: &str) {
        self.append(
            "proc/self/mountinfo",
            &format!(
                "34 31 0:31 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n\
                 35 31 0:32 {root} /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
            ),
        );
    }

    pub(super) fn mount_version_2(&self, root: &str, point: &str) {
        self.append(
            "proc/self/mountinfo",
            &format!("36 31 0:33 {root} {point} rw - cgroup2 cgroup2 rw,nsdelegate\n"),
        );
    }

    /// Memory nodes of these sizes, in KiB.
    pub(super) fn numa(&self, nodes_kib: &[u64]) {
        self.write("sys/devices/system/node/online", "0-1\n");
        for (node, kib) in nodes_kib.iter().enumerate() {
            self.write(
                &format!("sys/devices/system/node/node{node}/meminfo"),
                &format!("Node {node} MemTotal:       {kib} kB\nNode {node} MemFree: 1 kB\n"),
            );
        }
    }

    /// A whole disk that spins.
    pub(super) fn disk(&self, name: &str, major: u64, minor: u64) {
        let directory = format!("sys/devices/pci/block/{name}");
        self.write(&format!("{directory}/queue/rotational"), "1\n");
        self.write(&format!("{directory}/stat"), "    1111  2 3 4444   5555 6 7 8888 0 9 10\n");
        let target = format!("../../devices/pci/block/{name}");
        self.link(&format!("sys/dev/block/{major}:{minor}"), &target);
    }

    /// A socket that listens at `path`, in the list of process `of`.
    pub(super) fn listen_unix(&self, of: &str, inode: u64, path: &str) {
        let line = format!("0000000000000000: 00000002 00000000 00010000 0001 01 {inode} {path}\n");
        self.append(&format!("proc/{of}/net/unix"), &line);
    }

    /// A socket that listens at a port of `address` (as the kernel writes it), opened by `user`.
    pub(super) fn listen_tcp(&self, inode: u64, address: &str, port: u16, user: u64) {
        let line = format!(
            "   0: {address}:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 \
             {user:5}        0 {inode} 1 0000000000000000 100 0 0 10 0\n"
        );
        self.append("proc/self/net/tcp", &line);
    }

    /// Gives a process an open socket.
    pub(super) fn hold_socket(&self, pid: u64, inode: u64) {
        self.link(&format!("proc/{pid}/fd/{inode}"), &format!("socket:[{inode}]"));
    }

    /// Gives a process an open file of this tree.
    pub(super) fn hold_file(&self, pid: u64, relative: &str) {
        let target = self.path(relative);
        self.link(&format!("proc/{pid}/fd/3"), target.to_str().unwrap());
    }
}

const UNIX_HEAD: &str = "Num       RefCount Protocol Flags    Type St Inode Path\n\
    0000000000000000: 00000003 00000000 00000000 0001 03 48583\n";
