//! Reports made by hand, with numbers of their own.

use innopool_advice::report::{
    Basis, FineReport, MemoryReport, NotReadReport, PoolReport, Report, SCHEMA, ServerReport,
    UnknownReport,
};
use innopool_advice::{EvidenceItem, Finding, Severity};

fn fine(code: &'static str, summary: &str) -> FineReport {
    FineReport { code, summary: summary.to_owned() }
}

fn item(
    name: &str,
    unit: &'static str,
    value: impl Into<serde_json::Value>,
    source: &str,
) -> EvidenceItem {
    EvidenceItem::new(name, unit, value, source)
}

/// A MySQL server whose 24 GB pool fits.
pub(super) fn healthy() -> Report {
    Report {
        schema: SCHEMA,
        name: "shop-db:3306".to_owned(),
        server: ServerReport {
            flavor: "mysql",
            version: Some("8.4.3-0ubuntu0.24.04.1".to_owned()),
            uptime_seconds: Some(3_542_400),
        },
        interval_seconds: Some(10.02),
        basis: Basis::Interval,
        headline: "The 24 GB pool is large enough: 3.1 disk reads/s while watched.".to_owned(),
        pool: PoolReport {
            size_bytes: Some(24 << 30),
            page_size_bytes: Some(16_384),
            instances: Some(8),
            pages_total: Some(1_572_864),
            pages_free: Some(131_072),
            pages_data: Some(1_430_000),
            pages_old: Some(500_000),
            pages_dirty: Some(31_457),
            read_requests_per_second: Some(48_120.4),
            disk_reads_per_second: Some(3.1),
            pages_read_per_second: Some(3.3),
            hit_per_mille: Some(999),
            read_latency_seconds: Some(0.000_42),
            read_cost_ratio: Some(0.0007),
            read_cost_of: Some("statement_time"),
            data_bytes: Some(21 << 30),
        },
        memory: MemoryReport {
            limit_bytes: Some(32 << 30),
            limit_source: Some("ram".to_owned()),
            pool_budget_bytes: Some(27_058_293_965),
            budget: vec![
                item("limit_bytes", "bytes", 32_u64 << 30, "/proc/meminfo: MemTotal"),
                item("kernel_reserve_bytes", "bytes", 1_717_986_918, "5 % of the limit"),
                item("rest_of_server_bytes", "bytes", 700_u64 << 20, "/proc/811/status: VmRSS"),
                item("pool_overhead_bytes", "bytes", 1_894_080_577, "7 % of the pool"),
                item("pool_budget_bytes", "bytes", 27_058_293_965_u64, "what remains"),
            ],
        },
        findings: Vec::new(),
        fine: vec![
            fine("host-swapping", "nothing is swapped in; 96 MB of the server is in swap"),
            fine("pool-over-memory-budget", "1.2 GB below the budget of 25.2 GB"),
            fine(
                "pool-too-small",
                "reads take under 0.1 % of statement time; 5 % would be a warning",
            ),
            fine("dirty-pages-high", "2 % dirty; the server's limit is 90 %"),
            fine("redo-too-small", "the log of 8 GB holds 3 h 20 min of writes at today's rate"),
            fine("warmup-not-configured", "the pool is dumped at shutdown and loaded at start"),
            fine("instances-too-few", "8 instances, no waits seen"),
        ],
        unknown: Vec::new(),
        not_read: Vec::new(),
    }
}

fn pool_too_small() -> Finding {
    Finding::new(
        "pool-too-small",
        Severity::Critical,
        "9,420 disk reads/s x 0.9 ms; 501 of 1000 requests hit",
    )
    .because(
        "Every second request waits for the disk. Of all the time the server spends on statements, \
         61 % is this waiting, which a larger pool gives back.",
    )
    .with_item(item(
        "disk_reads_per_second",
        "per_second",
        9420.4,
        "SHOW GLOBAL STATUS: Innodb_buffer_pool_reads",
    ))
    .with_item(item(
        "read_latency_seconds",
        "seconds",
        0.0009,
        "performance_schema.file_summary_by_event_name: innodb_data_file",
    ))
    .with_item(item("hit_per_mille", "per_mille", 501, "computed from the two rates"))
    .act(
        "Grow the pool to what memory allows; it takes effect at once and lasts:\n\
         SET PERSIST innodb_buffer_pool_size = 25769803776;\n\
         Watch it with:\n\
         SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status';\n\
         Undo: the same with 134217728.",
    )
}

/// One warning on a MariaDB server, counted since it started.
pub(super) fn one_finding() -> Report {
    let finding = Finding::new(
        "warmup-not-configured",
        Severity::Warning,
        "a restart starts with an empty pool",
    )
    .because("After a restart the pool fills at the pace of the queries, and every first access waits for the disk.")
    .with_item(item(
        "innodb_buffer_pool_load_at_startup",
        "",
        "OFF",
        "/etc/mysql/my.cnf:12: innodb_buffer_pool_load_at_startup",
    ))
    .act("In the server's option file, then at the next restart:\n[mariadb]\ninnodb_buffer_pool_load_at_startup = ON");
    Report {
        name: "socket /run/mysqld/mysqld.sock".to_owned(),
        server: ServerReport {
            flavor: "mariadb",
            version: Some("10.11.19-MariaDB-0+deb12u1".to_owned()),
            uptime_seconds: Some(125),
        },
        interval_seconds: None,
        basis: Basis::SinceStart,
        headline: "The pool's size is not the trouble; 1 warning beside it. Rates are averages \
                   since the server started: they hide the present."
            .to_owned(),
        findings: vec![finding],
        ..healthy()
    }
}

/// Findings of every severity, and things not known.
pub(super) fn many() -> Report {
    let healthy = healthy();
    let default_size = Finding::new(
        "pool-default-size",
        Severity::Warning,
        "128 MB is the default; 27 GB of RAM is unused",
    )
    .because("Nobody has chosen this size: it is what the server comes with.")
    .act("As for pool-too-small.");
    let drift = Finding::new(
        "settings-drift",
        Severity::Warning,
        "innodb_io_capacity is 2,000 now and will be 200 after a restart, because somebody set it \
         by hand and /etc/mysql/mysql.conf.d/mysqld.cnf:31 says otherwise",
    )
    .because("What was tuned by hand is lost at the next restart, when nobody thinks of it.")
    .act("Keep what is in force:\nSET PERSIST innodb_io_capacity = 2000;");
    let instances = Finding::new(
        "instances-ignored",
        Severity::Notice,
        "8 set, 1 in use: a pool below 1 GB has one",
    )
    .because("It does no harm.")
    .act("Nothing, once the pool is larger.");
    Report {
        headline: "The pool is far too small: 128 MB on 32 GB of memory. Reading from disk takes \
                   61 % of all statement time."
            .to_owned(),
        pool: PoolReport {
            size_bytes: Some(128 << 20),
            instances: Some(1),
            pages_total: Some(8_192),
            pages_free: Some(0),
            pages_data: Some(7_690),
            pages_old: Some(2_838),
            pages_dirty: Some(512),
            read_requests_per_second: Some(18_900.0),
            disk_reads_per_second: Some(9_420.4),
            pages_read_per_second: Some(9_500.0),
            hit_per_mille: Some(501),
            read_latency_seconds: Some(0.0009),
            read_cost_ratio: Some(0.61),
            read_cost_of: Some("statement_time"),
            ..healthy.pool
        },
        findings: vec![pool_too_small(), default_size, drift, instances],
        fine: healthy.fine.into_iter().skip(3).collect(),
        unknown: vec![
            UnknownReport {
                code: "flush-behind",
                why: "needs three samples over a minute: --interval 60".to_owned(),
            },
            UnknownReport {
                code: "scan-pollution",
                why: "the pages made young were not read".to_owned(),
            },
        ],
        not_read: vec![
            NotReadReport {
                what: "memory of other processes".to_owned(),
                why: "no root".to_owned(),
            },
            NotReadReport {
                what: "InnoDB status text".to_owned(),
                why: "needs the PROCESS privilege: GRANT PROCESS ON *.* TO this account".to_owned(),
            },
        ],
        ..healthy
    }
}

/// Numbers from 1 to 10^13, wide and long names, nothing to break a line at.
pub(super) fn extremes() -> Report {
    let huge = 10_000_000_000_000_u64;
    let finding = Finding::new(
        "pool-larger-than-data",
        Severity::Notice,
        format!("1 page of {huge} is used; {}", "x".repeat(130)),
    )
    .because("数据库的缓冲池太大了。".repeat(8))
    .with_item(item("pages_free", "pages", huge - 1, "SHOW GLOBAL STATUS"))
    .with_item(item("pages_data", "pages", 1, "SHOW GLOBAL STATUS"))
    .with_item(item("nothing", "ratio", f64::MIN_POSITIVE, ""))
    .with_item(item("unknown_bytes", "bytes", serde_json::Value::Null, "nowhere"))
    .act(format!("SET GLOBAL innodb_buffer_pool_size = {huge}; -- {};", "y".repeat(100)));
    Report {
        name: "商店数据库-Ünïcödé-🐬-".repeat(4),
        server: ServerReport {
            flavor: "unknown",
            version: Some("99.99.99-".to_owned() + &"z".repeat(90)),
            uptime_seconds: Some(u64::MAX),
        },
        interval_seconds: Some(1e-9),
        headline: "A headline without a place to break: ".to_owned() + &"w".repeat(100),
        pool: PoolReport {
            size_bytes: Some(u64::MAX),
            pages_total: Some(huge),
            pages_free: Some(huge - 1),
            pages_data: Some(1),
            pages_dirty: Some(0),
            instances: Some(64),
            read_requests_per_second: Some(1e13),
            disk_reads_per_second: Some(1e-13),
            read_latency_seconds: Some(f64::INFINITY),
            read_cost_ratio: Some(1.0),
            read_cost_of: Some("statement_time"),
            hit_per_mille: Some(0),
            ..PoolReport::default()
        },
        memory: MemoryReport {
            limit_bytes: Some(1),
            limit_source: Some("cgroup".to_owned()),
            pool_budget_bytes: Some(0),
            budget: Vec::new(),
        },
        findings: vec![finding],
        fine: Vec::new(),
        ..healthy()
    }
}

/// Evidence that says next to nothing.
pub(super) fn nothing() -> Report {
    Report {
        name: "meminfo.txt".to_owned(),
        server: ServerReport { flavor: "unknown", version: None, uptime_seconds: None },
        interval_seconds: None,
        basis: Basis::Moment,
        headline: "The evidence does not tell the pool's size: nothing to judge.".to_owned(),
        pool: PoolReport::default(),
        memory: MemoryReport::default(),
        fine: Vec::new(),
        unknown: vec![UnknownReport { code: "pool-too-small", why: "no reads counted".to_owned() }],
        ..healthy()
    }
}
