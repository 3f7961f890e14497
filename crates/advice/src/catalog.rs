//! What each finding means, at length: the text behind `innopool explain CODE`.

use crate::thresholds::{self, Threshold};

/// The long explanation of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The code.
    pub code: &'static str,
    /// The finding in one line.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How innopool tells.
    pub how: &'static str,
    /// What to do, in general.
    pub action: &'static str,
    /// Where the rule comes from: manual pages, bug numbers, measurements.
    pub sources: &'static [&'static str],
}

impl Entry {
    /// The thresholds of this finding.
    pub fn thresholds(&self) -> impl Iterator<Item = &'static Threshold> + use<> {
        let code = self.code;
        thresholds::ALL.iter().filter(move |threshold| threshold.code == code)
    }
}

/// All entries, in the order a person should act.
pub const ALL: &[Entry] = &[
    Entry {
        code: "host-swapping",
        title: "The machine swaps, or the server's memory is in swap",
        why: "The server believes that its pages are in memory and holds latches while the \
              kernel fetches them from swap. A hit that waits for swap is slower than a miss \
              that waits for the disk. In a published sweep on a 32 GB host throughput rose to \
              a pool of 28 GB and fell at 31 GB because the host had begun to swap.",
        how: "From the kernel's own counters while we watched: pages swapped in (/proc/vmstat \
              pswpin), the server's swapped memory (/proc/PID/status VmSwap) and memory stalls \
              (PSI). Read only when the server provably runs on this machine. Swap in use that \
              nobody asks back is no finding.",
        action: "Shrink the pool to its memory budget, or find what else uses the memory. Where \
              memory is free while the server swaps, a NUMA node is full: interleave.",
        sources: &["proc(5), proc_vmstat(5)", "jcole.us: MySQL swap insanity and NUMA (2010)"],
    },
    Entry {
        code: "pool-over-memory-budget",
        title: "The pool does not fit in the memory it may use",
        why: "A pool takes its memory as it fills, so one that is too large works until it is \
              warm; then the host swaps or the kernel kills the server.",
        how: "The limit that binds (RAM, the server's cgroup, or what you gave) less a reserve \
              for the kernel, other processes, the rest of the server and the connections of \
              its peak, less the pool's own overhead. The sum is shown term by term with -v. A \
              remote host's memory is never assumed.",
        action: "Shrink the pool outside busy hours, or raise the limit first and the pool after \
              it.",
        sources: &[
            "MySQL manual: How MySQL uses memory",
            "Percona operators K8SPXC-995: 75 % is too much for small pods",
        ],
    },
    Entry {
        code: "container-limit-unseen",
        title: "The server sizes itself by memory its container does not have",
        why: "innodb_dedicated_server takes a share of the memory the server sees. Before \
              MySQL 9.3 that is the host's, not the container's.",
        how: "innodb_dedicated_server is ON, the version does not read container limits, and \
              the server's cgroup allows less than the host has.",
        action: "Set innodb_buffer_pool_size yourself, from the container's limit.",
        sources: &["MySQL 9.3 manual: container detection"],
    },
    Entry {
        code: "resize-stuck",
        title: "A resize does not get on",
        why: "A shrink must move every page out of the memory it gives back, and waits without \
              limit for pages that transactions hold. Until it ends the adaptive hash index is \
              off and no other resize is possible.",
        how: "The same words of Innodb_buffer_pool_resize_status at every sample of at least \
              five seconds; or three retries in the error log without an end.",
        action: "Find the oldest transactions and end them.",
        sources: &["MySQL manual: Resizing the InnoDB buffer pool online", "MySQL bug 81615"],
    },
    Entry {
        code: "resize-running",
        title: "A resize is under way",
        why: "The variable already shows the target while the pool still has another size, the \
              adaptive hash index is off, and a running warm-up load was aborted when the \
              resize began.",
        how: "Innodb_buffer_pool_resize_status and its code.",
        action: "Wait; start the warm-up load again afterwards.",
        sources: &["MySQL manual: Resizing the InnoDB buffer pool online"],
    },
    Entry {
        code: "pool-too-small",
        title: "Too much time is spent reading pages from disk",
        why: "A request for a page that is not in the pool waits for the disk. The hit ratio \
              hides how much: in a published sweep it stayed at 99 to 100 % at every size \
              while throughput doubled. What counts is disk reads per second times the latency \
              of a read, as a share of the time the server works.",
        how: "Best evidence first: demand reads x read latency / statement time (performance \
              schema); the same over running threads; reads in flight on average; and where \
              only a ratio is known, the ratio, with the confidence that deserves. Demand \
              reads are Innodb_buffer_pool_reads less random read-ahead and less the warm-up \
              load. A pool with free pages, or one that holds all data, is never too small.",
        action: "Grow the pool to what the data needs, never past the memory budget; where the \
              budget is used up, fewer reads help.",
        sources: &[
            "MySQL manual: InnoDB buffer pool",
            "HammerDB TPROC-C sweep, 1000 warehouses, 32 GB host (2026)",
        ],
    },
    Entry {
        code: "pool-default-size",
        title: "Nobody chose the size of this pool",
        why: "128 MB is what every server starts with. It works, nobody complains, and it \
              stays for years on machines of any size.",
        how: "The size is exactly the default and innodb_dedicated_server is off. A warning \
              only once the pool is full and is being read into; an idle or small server keeps \
              its default in peace.",
        action: "Choose a size from the data and the memory.",
        sources: &["MySQL manual: innodb_buffer_pool_size"],
    },
    Entry {
        code: "resize-refused",
        title: "A resize failed, was refused, or would be",
        why: "The statement succeeds and the pool does not change: some servers only warn. \
              MariaDB since 10.11.12, 11.4.6 and 11.8.2 ignores sizes above \
              innodb_buffer_pool_size_max with warning 1292.",
        how: "A failed status or code 7; the error log; or a MariaDB whose ceiling is its \
              present size although it needs more.",
        action: "Read the warnings, raise the ceiling at the next restart, read back what took \
              effect.",
        sources: &[
            "MDEV-29445, MDEV-38671",
            "MySQL manual: Resizing the InnoDB buffer pool online",
        ],
    },
    Entry {
        code: "size-rounded",
        title: "The pool is not as large as somebody wrote",
        why: "Sizes are rounded up to whole units of chunk x instances. 1228 MB with 8 \
              instances becomes 2 GB, on a machine that may not have it.",
        how: "The size asked for (option file or persisted) against the size in force, or the \
              size a start would give; and the variable against the pages there are.",
        action: "Write an exact size, or a smaller chunk.",
        sources: &[
            "MySQL manual: Configuring InnoDB buffer pool chunk size",
            "MySQL bugs 79379, 94065",
        ],
    },
    Entry {
        code: "restart-read-only",
        title: "The next restart makes the server read-only",
        why: "Persisted switches of an old replication set-up come back at a restart, and \
              writes fail from that moment.",
        how: "read_only, super_read_only, offline_mode or innodb_read_only is ON in \
              mysqld-auto.cnf or an option file while it is OFF now. A replica that is \
              read-only today is no finding.",
        action: "Ask who set it; remove it, or have SET GLOBAL ... = OFF ready.",
        sources: &["MySQL manual: Persisted system variables"],
    },
    Entry {
        code: "dump-at-risk",
        title: "A shutdown now replaces a good dump by a worse one",
        why: "MySQL writes the dump at every clean shutdown, however little of the pool is \
              warm. Two quick restarts lose it.",
        how: "A load that runs, failed or was aborted, with \
              innodb_buffer_pool_dump_at_shutdown ON; or a dump file that holds a third more \
              pages than a dump now would. MariaDB keeps its dump while a load is incomplete.",
        action: "Keep a copy of the file; let the load end or run it again; dump all of the pool.",
        sources: &["MySQL bug 76656", "MDEV-11455"],
    },
    Entry {
        code: "warmup-failed",
        title: "The last start did not get its pages back",
        why: "The pool started empty, and every page had to be read when it was asked for.",
        how: "Innodb_buffer_pool_load_status, or the error log. A missing file on a first \
              start is a notice; a file that cannot be read or parsed is a warning.",
        action: "Repair access to the file or write a new dump, then load it.",
        sources: &["MySQL manual: Saving and restoring the buffer pool state"],
    },
    Entry {
        code: "warmup-not-configured",
        title: "A restart starts with an empty pool",
        why: "Until the pool is warm again every query pays for reads that were in memory \
              before; on large pools that is most of an hour.",
        how: "innodb_buffer_pool_dump_at_shutdown or innodb_buffer_pool_load_at_startup is \
              OFF, or innodb_fast_shutdown is 2.",
        action: "Turn both on.",
        sources: &["MySQL manual: Saving and restoring the buffer pool state"],
    },
    Entry {
        code: "warmup-throttled",
        title: "The warm-up load is slower than it need be",
        why: "While queries run MySQL loads at most innodb_io_capacity pages a second: at 200 \
              that is 11 GB an hour.",
        how: "The pace of a running load, or pages in the dump / innodb_io_capacity. MariaDB \
              does not throttle since 10.5.19, 10.6.12 and 10.11.2.",
        action: "Raise innodb_io_capacity for the time of the load, if the disk allows.",
        sources: &["MDEV-25417", "MySQL manual: innodb_io_capacity"],
    },
    Entry {
        code: "cold-pool",
        title: "The pool is still filling",
        why: "While pages are free every first use is a miss. Nothing can be said of the size \
              yet.",
        how: "Free pages beyond the page cleaner's reserve, and reads from disk or a poor hit \
              rate.",
        action: "Wait and look again.",
        sources: &["MySQL manual: InnoDB buffer pool metrics"],
    },
    Entry {
        code: "flush-behind",
        title: "Threads wait for the page cleaner",
        why: "A statement that needs a frame has to write somebody else's page first.",
        how: "Innodb_buffer_pool_wait_free growing while we watched, LRU writes queued in the \
              status text, or page cleaner messages in the error log that flushed something \
              (those with flushed=0 come from suspended hosts). Few free pages alone are no \
              finding: a full pool has few.",
        action: "Raise the page cleaner's rate, if the disk has it.",
        sources: &["MySQL manual: Configuring buffer pool flushing"],
    },
    Entry {
        code: "dirty-pages-high",
        title: "Many pages are dirty, and stay so or become more",
        why: "Dirty pages are what a crash must redo, and what a shutdown and a shrink wait \
              for.",
        how: "At least three samples over a minute: all above three quarters of \
              innodb_max_dirty_pages_pct, or each part of the time dirtier than the one \
              before. A shorter look says that it cannot tell.",
        action: "Raise innodb_io_capacity; look whether the redo log is too small.",
        sources: &["MySQL manual: innodb_max_dirty_pages_pct"],
    },
    Entry {
        code: "io-capacity-low",
        title: "The setting, not the disk, decides how fast pages are written",
        why: "innodb_io_capacity is the page cleaner's budget. Its old default of 200 was made \
              for one spinning disk.",
        how: "Flushing at 80 % of the setting or more while a tenth of the pool stays dirty or \
              the redo log is half full; or a setting of 200 or less on flash (a notice).",
        action: "Raise it towards what the device does.",
        sources: &["MySQL manual: innodb_io_capacity"],
    },
    Entry {
        code: "redo-too-small",
        title: "The redo log is full before pages are flushed at leisure",
        why: "A full log forces pages out long before they are done changing, the same page \
              again and again, and in the end writers wait.",
        how: "Checkpoint age against the capacity in force (Innodb_redo_log_capacity_resized, \
              not the old file variables); and the time until the log is full at the rate \
              measured. Never a share of the pool's size.",
        action: "Size it for an hour of peak writes.",
        sources: &["MySQL manual: Configuring redo log capacity"],
    },
    Entry {
        code: "durability-relaxed",
        title: "Commits can be lost in a crash",
        why: "It is a fair trade for data that can be made again, and no trade for one person \
              to make.",
        how: "innodb_flush_log_at_trx_commit other than 1, sync_binlog other than 1 with a \
              binary log, or doublewrite off.",
        action: "Have whoever answers for the data say yes, or set it back.",
        sources: &["MySQL manual: innodb_flush_log_at_trx_commit, sync_binlog"],
    },
    Entry {
        code: "double-buffering",
        title: "Every page is cached twice",
        why: "The kernel's copies use memory the pool could have, and make reads look cheaper \
              than they will be when that memory is gone.",
        how: "innodb_flush_method without O_DIRECT (before MySQL 8.4 the default), or \
              MariaDB's innodb_data_file_buffering ON. Not judged on Windows.",
        action: "O_DIRECT, at the next restart.",
        sources: &["MySQL manual: innodb_flush_method"],
    },
    Entry {
        code: "scan-pollution",
        title: "One scan can empty the pool",
        why: "Without innodb_old_blocks_time a page is moved to the young part on its first \
              use, so a backup or a report that reads a large table once replaces everything \
              the application uses.",
        how: "innodb_old_blocks_time is 0: a notice, and a warning while pages are being read \
              into a full pool.",
        action: "Set it to 1000 milliseconds, the default.",
        sources: &["MySQL manual: Making the buffer pool scan resistant"],
    },
    Entry {
        code: "read-ahead-wasted",
        title: "Pages are read ahead and thrown away",
        why: "They cost disk reads and push out pages that are used.",
        how: "Read-ahead pages evicted unused, of all read ahead while we watched. The server \
              does not count those its page cleaner evicts, so the true share is higher.",
        action: "Turn random read-ahead off, or raise the threshold.",
        sources: &["MySQL manual: Configuring InnoDB read-ahead"],
    },
    Entry {
        code: "instances-too-few",
        title: "Threads queue for the pool's latches",
        why: "Each instance has its own lists and latches; more of them spread the threads. \
              The memory is divided, not multiplied.",
        how: "Waits for the pool's latches while we watched, or threads waiting in buf0*.cc in \
              the status text; and fewer instances than one per GB. The rule of thumb alone is \
              no finding.",
        action: "More instances, at the next restart.",
        sources: &["MySQL manual: Configuring multiple buffer pool instances"],
    },
    Entry {
        code: "instances-too-many",
        title: "The pool is cut into pieces too small to work as pools",
        why: "Every instance keeps its own reserve of free pages and its own list, and a hot \
              table may sit in one of them.",
        how: "More instances than GB of pool, set by somebody. Below 20 MB each Percona's \
              server can hang.",
        action: "One per GB at most.",
        sources: &[
            "MySQL manual: Configuring multiple buffer pool instances",
            "Percona lp 1651657",
        ],
    },
    Entry {
        code: "instances-ignored",
        title: "Instances were set where the server does not use them",
        why: "The setting looks as if it did something.",
        how: "More than one instance set for a pool below 1 GB, or on MariaDB from 10.5.1.",
        action: "Remove the setting.",
        sources: &["MySQL manual: innodb_buffer_pool_instances", "MariaDB: removed in 10.6.0"],
    },
    Entry {
        code: "settings-drift",
        title: "The next start changes settings",
        why: "What was set on the running server is gone after a restart, and nobody remembers \
              it.",
        how: "The value in force against what mysqld-auto.cnf and the option files say; a \
              value set at run time that neither of them has.",
        action: "SET PERSIST it, or write it into the option file.",
        sources: &["MySQL manual: Persisted system variables", "MDEV-16228"],
    },
    Entry {
        code: "pool-larger-than-data",
        title: "The pool holds memory it cannot use",
        why: "It does no harm while the memory is nobody else's.",
        how: "At least half of a pool of 1 GB or more never filled, and the data files are \
              smaller than two thirds of it (or, where their size is unknown, an hour has \
              passed).",
        action: "Give the memory back only if it is wanted elsewhere.",
        sources: &["MySQL manual: InnoDB buffer pool metrics"],
    },
    Entry {
        code: "counters-unreliable",
        title: "Some counters cannot be believed",
        why: "A ratio from a counter that wrapped, was reset or does not count is worse than \
              none.",
        how: "Counters that went backwards, more reads than requests, printed hit rates above \
              1000, averages over no time, page counts below zero, and versions with known \
              bugs (MDEV-31309). What rests on them is left out.",
        action: "Look again with two samples; upgrade where the version is the cause.",
        sources: &["MDEV-31309, MDEV-8932", "MySQL bug 59550"],
    },
];

/// The entry of a code.
pub fn find(code: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_entry_in_the_same_order() {
        let rules: Vec<_> = crate::rules::ALL.iter().map(|rule| rule.code).collect();
        let entries: Vec<_> = ALL.iter().map(|entry| entry.code).collect();
        assert_eq!(rules, entries);
    }

    #[test]
    fn every_threshold_belongs_to_an_entry() {
        for threshold in thresholds::ALL {
            assert!(find(threshold.code).is_some(), "{}", threshold.code);
            assert!(!threshold.reason.is_empty(), "{} has no reason", threshold.figure);
        }
    }
}
