//! From documents to an observation, with documents made here.

use proptest::prelude::*;

use super::observe;
use crate::evidence::FileKind;
use crate::observation::{Content, Document, Observation};
use crate::provenance::NotRead;
use crate::table::Table;
use crate::variables::Origin;
use crate::version::{Flavor, Version};

fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
    let mut table = Table::new(columns.iter().copied());
    for row in rows {
        table.push(row.iter().map(|cell| (*cell != "NULL").then(|| (*cell).to_owned())));
    }
    table
}

fn pairs(rows: &[&[&str]]) -> Table {
    table(&["Variable_name", "Value"], rows)
}

fn document(moment: usize, place: &str, content: Content) -> Document {
    Document { content, place: place.to_owned(), moment, taken_unix_seconds: None }
}

fn at(seconds: f64, moment: usize, content: Content) -> Document {
    Document { taken_unix_seconds: Some(seconds), ..document(moment, "SHOW", content) }
}

fn look(documents: Vec<Document>) -> Observation {
    observe("shop-db", documents, Vec::new())
}

fn status(uptime: &str, reads: &str) -> Content {
    Content::Status(pairs(&[
        &["Uptime", uptime],
        &["Innodb_buffer_pool_reads", reads],
        &["Innodb_buffer_pool_read_requests", reads],
    ]))
}

#[test]
fn nothing_gives_one_empty_moment() {
    let observation = look(Vec::new());
    assert_eq!(observation.moments, [crate::Evidence::default()]);
    assert_eq!(observation.name, "shop-db");
    assert_eq!(observation.not_read, []);
}

#[test]
fn every_table_kind_reaches_its_place() {
    let documents = vec![
        document(
            0,
            "SHOW GLOBAL VARIABLES",
            Content::Variables(pairs(&[
                &["innodb_buffer_pool_size", "134217728"],
                &["version", "8.0.36"],
                &["version_comment", "MySQL Community Server - GPL"],
                &["secret_thing", "x"],
                &["innodb_flush_method", "NULL"],
            ])),
        ),
        document(0, "SHOW GLOBAL STATUS", status("90", "7")),
        document(
            0,
            "metrics",
            Content::Metrics(table(
                &["name", "count"],
                &[&["log_lsn_checkpoint_age", "4096"], &["other", "1"]],
            )),
        ),
        document(0, "persisted", Content::Persisted(pairs(&[&["innodb_io_capacity", "900"]]))),
        document(
            0,
            "sizes",
            Content::SchemaSizes(table(
                &["schema_name", "tablespaces", "file_bytes"],
                &[&["small", "1", "10"], &["big", "2", "20"], &["odd", "x", "1"]],
            )),
        ),
        document(
            0,
            "file_io",
            Content::FileIo(table(
                &[
                    "kind",
                    "reads",
                    "read_seconds",
                    "read_bytes",
                    "writes",
                    "write_seconds",
                    "syncs",
                    "sync_seconds",
                ],
                &[
                    &["data", "5", "0.5", "81920", "1", "0.1", "2", "0.2"],
                    &["redo_log", "5", "NULL", "81920", "1", "0.1", "2", "0.2"],
                ],
            )),
        ),
        document(
            0,
            "statements",
            Content::Statements(table(&["count", "seconds"], &[&["12", "3.5"]])),
        ),
        document(
            0,
            "digests",
            Content::Digests(table(&["digest", "count", "seconds"], &[&["ab12", "3", "1.25"]])),
        ),
        document(
            0,
            "memory",
            Content::Memory(table(&["total_bytes", "buffer_pool_bytes"], &[&["300", "200"]])),
        ),
        document(
            0,
            "trx",
            Content::Transactions(table(&["open", "oldest_seconds"], &[&["0", "NULL"]])),
        ),
        document(
            0,
            "latches",
            Content::Latches(table(&["name", "waits"], &[&["hash_table_locks", "6"]])),
        ),
        document(
            0,
            "host",
            Content::Host(table(
                &["name", "value", "source"],
                &[&["ram_bytes", "1000", "/proc/meminfo: MemTotal"], &["colour", "red", "x"]],
            )),
        ),
        document(
            0,
            "missed",
            Content::NotRead(table(&["what", "why"], &[&["the moon", "clouds"]])),
        ),
    ];
    let observation = look(documents);
    let evidence = observation.latest();
    let size = evidence.variables.count("innodb_buffer_pool_size").unwrap();
    assert_eq!(size.value, 134_217_728);
    assert_eq!(size.source.to_string(), "SHOW GLOBAL VARIABLES: innodb_buffer_pool_size");
    assert!(evidence.variables.get("secret_thing").is_none(), "not on the allow-list");
    assert!(evidence.variables.get("innodb_flush_method").is_none(), "NULL is unknown");
    assert_eq!(evidence.server.flavor, Flavor::Mysql);
    assert_eq!(evidence.server.version, Some(Version::new(8, 0, 36)));
    assert_eq!(evidence.status.count("innodb_buffer_pool_reads").unwrap().value, 7);
    assert_eq!(evidence.metrics.count("log_lsn_checkpoint_age").unwrap().value, 4096);
    assert!(evidence.metrics.text("other").is_none());
    let persisted = evidence.persisted.as_ref().unwrap();
    assert_eq!(persisted.count("innodb_io_capacity").unwrap().value, 900);
    let data = evidence.data.as_ref().unwrap();
    assert_eq!(data.schemas[0].schema, "big");
    assert_eq!(data.total_bytes(), 30);
    assert_eq!(evidence.file_io(FileKind::Data).unwrap().read_bytes, 81_920);
    assert!(evidence.file_io(FileKind::RedoLog).is_none());
    assert_eq!(evidence.statements.as_ref().unwrap().count, 12);
    assert_eq!(evidence.digests[0].digest, "ab12");
    assert_eq!(evidence.memory.as_ref().unwrap().buffer_pool_bytes, 200);
    assert_eq!(evidence.transactions.as_ref().unwrap().oldest_seconds, 0);
    assert_eq!(evidence.latches[0].waits, 6);
    let ram = evidence.host.as_ref().unwrap().ram_bytes.as_ref().unwrap();
    assert_eq!(ram.source.to_string(), "/proc/meminfo: MemTotal");
    let missed: Vec<&str> = observation.not_read.iter().map(|n| n.what.as_str()).collect();
    let expected = ["size of schema odd", "file I/O (RedoLog)", "colour of the host", "the moon"];
    assert_eq!(missed, expected);
}

#[test]
fn what_no_document_says_is_unknown() {
    let observation = look(vec![document(0, "s", status("90", "7"))]);
    let evidence = observation.latest();
    assert_eq!(evidence.server.flavor, Flavor::Unknown);
    assert_eq!(evidence.server.version, None);
    assert!(evidence.variables.is_empty());
    assert_eq!(evidence.persisted, None);
    assert_eq!(evidence.data, None);
    assert_eq!(evidence.host, None);
    assert_eq!(evidence.statements, None);
    assert!(observation.interval().is_none());
}

#[test]
fn origins_are_applied_whatever_the_order() {
    let origins = Content::VariableOrigins(table(
        &["variable_name", "origin", "path", "set_at", "set_by"],
        &[
            &["innodb_buffer_pool_size", "file", "/etc/my.cnf", "NULL", "NULL"],
            &["innodb_io_capacity", "dynamic", "", "2026-01-02 03:04:05", "another"],
            &["never_read", "compiled", "", "NULL", "NULL"],
        ],
    ));
    let variables = Content::Variables(pairs(&[
        &["innodb_buffer_pool_size", "1"],
        &["innodb_io_capacity", "2"],
    ]));
    let forward =
        look(vec![document(0, "a", variables.clone()), document(0, "b", origins.clone())]);
    let backward = look(vec![document(0, "b", origins), document(0, "a", variables)]);
    assert_eq!(forward, backward);
    let variables = &forward.latest().variables;
    assert_eq!(
        variables.get("innodb_buffer_pool_size").unwrap().origin,
        Origin::File("/etc/my.cnf".to_owned())
    );
    let capacity = variables.get("innodb_io_capacity").unwrap();
    assert_eq!(capacity.origin, Origin::Dynamic);
    assert_eq!(capacity.set_at.as_deref(), Some("2026-01-02 03:04:05"));
    assert!(variables.get("never_read").is_none());
}

#[test]
fn later_moments_inherit_what_is_static_and_nothing_goes_back() {
    let variables = Content::Variables(pairs(&[
        &["version", "10.11.6-MariaDB-1"],
        &["innodb_io_capacity", "200"],
        &["innodb_buffer_pool_size", "1"],
    ]));
    let origins = Content::VariableOrigins(table(
        &["variable_name", "origin", "path", "set_at", "set_by"],
        &[
            &["innodb_io_capacity", "compiled", "", "NULL", "NULL"],
            &["innodb_buffer_pool_size", "compiled", "", "NULL", "NULL"],
        ],
    ));
    let statements = Content::Statements(table(&["count", "seconds"], &[&["12", "3.5"]]));
    let host = Content::Host(table(
        &["name", "value", "source"],
        &[
            &["ram_bytes", "1000", "/proc/meminfo: MemTotal"],
            &["swapped_in_pages", "5", "/proc/vmstat: pswpin"],
        ],
    ));
    let changed = Content::Variables(pairs(&[
        &["innodb_io_capacity", "200"],
        &["innodb_buffer_pool_size", "2"],
    ]));
    let observation = look(vec![
        at(100.0, 0, variables),
        at(100.0, 0, origins),
        at(100.0, 0, status("50", "10")),
        at(100.0, 0, statements),
        at(100.0, 0, host),
        at(110.0, 1, status("60", "30")),
        at(110.0, 1, changed),
        at(110.0, 1, Content::Memory(table(&["total_bytes", "buffer_pool_bytes"], &[&["3", "2"]]))),
    ]);
    let [first, last] = observation.moments.as_slice() else {
        panic!("two moments, not {}", observation.moments.len());
    };
    assert_eq!(last.server.flavor, Flavor::Mariadb);
    assert_eq!(last.server.version, Some(Version::new(10, 11, 6)));
    let origin = |name| last.variables.get(name).unwrap().origin.clone();
    assert_eq!(origin("innodb_io_capacity"), Origin::Compiled);
    assert_eq!(origin("innodb_buffer_pool_size"), Origin::Unknown, "it has changed");
    assert_eq!(last.host.as_ref().unwrap().ram_bytes.as_ref().unwrap().value, 1000);
    assert_eq!(last.host.as_ref().unwrap().swapped_in_pages, None, "a counter");
    assert_eq!(last.statements, None, "a counter");
    assert_eq!(first.memory, None, "read later");
    let interval = observation.interval().unwrap();
    assert!((interval.seconds - 10.0).abs() < 1e-9);
    assert!((interval.disk_reads_per_second.unwrap().value - 2.0).abs() < 1e-9);
}

#[test]
fn pasted_listings_are_moments_in_order_of_uptime() {
    let observation = look(vec![
        document(0, "after.txt", status("4000", "900")),
        document(0, "vars.txt", Content::Variables(pairs(&[&["version", "5.7.44"]]))),
        document(0, "before.txt", status("3990", "800")),
    ]);
    let places: Vec<String> = observation
        .moments
        .iter()
        .map(|m| m.uptime_seconds().unwrap().source.place.to_string())
        .collect();
    assert_eq!(places, ["before.txt", "after.txt"]);
    assert_eq!(observation.moments[0].server.version, Some(Version::new(5, 7, 44)));
    let interval = observation.interval().unwrap();
    assert!((interval.disk_reads_per_second.unwrap().value - 10.0).abs() < 1e-9);
    assert_eq!(observation.not_read.len(), 1);
    let why = &observation.not_read[0].why;
    assert!(why.contains("in order of Uptime: before.txt before after.txt;"), "{why}");
}

#[test]
fn files_keep_their_order_where_no_order_lets_everything_grow() {
    // The server restarted in between: more was counted since than before.
    let observation = look(vec![
        document(0, "before.txt", status("4000", "900")),
        document(0, "after.txt", status("60", "1200")),
    ]);
    assert_eq!(observation.moments[0].uptime_seconds().unwrap().value, 4000);
    assert!(observation.interval().unwrap().restarted);
    // Not one server's life in either order: the counter that fell is named.
    let observation = look(vec![
        document(0, "a.txt", status("60", "1200")),
        document(0, "b.txt", status("4000", "900")),
    ]);
    assert_eq!(observation.latest().uptime_seconds().unwrap().value, 4000);
    assert!(!observation.interval().unwrap().went_backwards.is_empty());
    assert_eq!(observation.not_read, []);
}

#[test]
fn several_listings_in_several_files_are_ordered_together() {
    let observation = look(vec![
        document(0, "b.txt", status("300", "3")),
        document(1, "b.txt", status("400", "4")),
        document(0, "a.txt", status("100", "1")),
        document(1, "a.txt", status("200", "2")),
    ]);
    let uptimes: Vec<u64> =
        observation.moments.iter().map(|m| m.uptime_seconds().unwrap().value).collect();
    assert_eq!(uptimes, [100, 200, 300, 400]);
}

#[test]
fn documents_of_a_pasted_file_stay_with_its_listing() {
    let transactions =
        |open| Content::Transactions(table(&["open", "oldest_seconds"], &[&[open, "1"]]));
    let observation = look(vec![
        document(0, "b.txt", transactions("2")),
        document(0, "b.txt", status("200", "2")),
        document(0, "a.txt", transactions("1")),
        document(0, "a.txt", status("100", "1")),
    ]);
    let open: Vec<u64> =
        observation.moments.iter().map(|m| m.transactions.as_ref().unwrap().open).collect();
    assert_eq!(open, [1, 2]);
}

#[test]
fn contradicting_files_are_named_and_the_later_wins() {
    let observation = look(vec![
        document(0, "a.txt", status("100", "1")),
        document(0, "b.txt", status("100", "2")),
        document(0, "a.txt", Content::Variables(pairs(&[&["innodb_io_capacity", "1"]]))),
        document(0, "b.txt", Content::Variables(pairs(&[&["innodb-io-capacity", "2"]]))),
    ]);
    assert_eq!(observation.moments.len(), 1);
    let evidence = observation.latest();
    assert_eq!(evidence.status.count("innodb_buffer_pool_reads").unwrap().value, 2);
    assert_eq!(evidence.variables.count("innodb_io_capacity").unwrap().value, 2);
    let said: Vec<String> =
        observation.not_read.iter().map(|n| format!("{}: {}", n.what, n.why)).collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].starts_with("status values of a.txt: innodb_buffer_pool_"));
    assert!(said[0].contains("and 1 more differ in b.txt"));
    assert!(said[1].starts_with("variables of a.txt: innodb_io_capacity differ in b.txt"));
}

#[test]
fn numbered_moments_follow_their_clock_and_samples_theirs() {
    let gauges = Content::Gauges(table(
        &["taken_unix_seconds", "threads_running", "not_a_status"],
        &[&["105", "4", "x"], &["NULL", "9", "x"], &["103", "3", "x"]],
    ));
    let observation = look(vec![
        at(110.0, 0, status("60", "3")),
        at(100.0, 5, status("50", "1")),
        at(100.0, 9, gauges),
    ]);
    let uptimes: Vec<u64> =
        observation.moments.iter().map(|m| m.uptime_seconds().unwrap().value).collect();
    assert_eq!(uptimes, [50, 60], "the samples are no moment of their own");
    let taken: Vec<f64> = observation.gauges.iter().map(|g| g.taken_unix_seconds).collect();
    assert_eq!(taken, [100.0, 103.0, 105.0, 110.0]);
    let sample = &observation.gauges[2].status;
    assert_eq!(sample.count("threads_running").unwrap().value, 4);
    assert!(sample.text("not_a_status").is_none());
}

#[test]
fn a_persons_word_on_memory_stays_in_force() {
    let host = |value: &str, source: &str| {
        Content::Host(table(&["name", "value", "source"], &[&["ram_bytes", value, source]]))
    };
    let observation = look(vec![
        document(0, "--host-memory", host("32G", "--host-memory")),
        document(0, "/proc", host("1000", "/proc/meminfo: MemTotal")),
        document(1, "/proc", host("1000", "/proc/meminfo: MemTotal")),
    ]);
    for moment in &observation.moments {
        let ram = moment.host.as_ref().unwrap().ram_bytes.as_ref().unwrap();
        assert_eq!(ram.value, 32 << 30);
        assert_eq!(ram.source.to_string(), "--host-memory");
    }
    assert_eq!(observation.moments.len(), 2);
}

#[test]
fn mariadb_is_told_by_what_only_it_prints() {
    let observation = look(vec![document(
        0,
        "s",
        Content::Status(pairs(&[&["Innodb_buffer_pool_load_incomplete", "OFF"]])),
    )]);
    assert_eq!(observation.latest().server.flavor, Flavor::Mariadb);
    assert_eq!(observation.latest().server.version, None);
}

/// A pool section as InnoDB prints it, with numbers made up.
fn pool_section(writes: &str, extra: &str) -> Content {
    Content::InnodbStatus(format!(
        "=====================================\n\
         2026-05-06 07:08:09 0x7f INNODB MONITOR OUTPUT\n\
         =====================================\n\
         Per second averages calculated from the last 17 seconds\n\
         ----------------------\n\
         BUFFER POOL AND MEMORY\n\
         ----------------------\n\
         Total large memory allocated 137363456\n\
         Buffer pool size   8112\n\
         Free buffers       7000\n\
         Database pages     1100\n\
         Old database pages 400\n\
         Modified db pages  12\n\
         {extra}Pending reads 0\n\
         Pending writes: LRU 0, flush list 0{writes}\n\
         Pages made young 3, not young 4\n\
         0.00 youngs/s, 0.00 non-youngs/s\n\
         Pages read 155, created 138, written 9\n\
         0.00 reads/s, 0.00 creates/s, 0.00 writes/s\n\
         No buffer pool page gets since the last printout\n\
         ----------------------------\n\
         END OF INNODB MONITOR OUTPUT\n\
         ============================\n"
    ))
}

#[test]
fn a_status_text_is_mariadbs_by_its_own_lines_only() {
    let percent = "Percent of dirty pages(LRU & free pages): 0.148\nMax dirty pages percent: 90\n";
    let flavor = |writes: &str, extra: &str| {
        let observation = look(vec![document(0, "innodb.txt", pool_section(writes, extra))]);
        let text = observation.latest().innodb_status.clone().unwrap();
        assert_eq!(text.pool.unwrap().free_pages, Some(7000));
        observation.latest().server.flavor
    };
    assert_eq!(flavor("", percent), Flavor::Mariadb);
    assert_eq!(flavor("", ""), Flavor::Unknown);
    assert_eq!(flavor(", single page 0", percent), Flavor::Unknown);
}

#[test]
fn texts_and_pool_statistics_reach_their_place() {
    let stats = table(
        &["POOL_ID", "POOL_SIZE", "FREE_BUFFERS", "DATABASE_PAGES"],
        &[&["0", "4096", "100", "3900"], &["1", "4096", "200", "3800"]],
    );
    let log = "2026-05-06T07:08:09.123456Z 0 [Note] InnoDB: Buffer pool(s) load completed at 260506  7:08:09\n";
    let observation = look(vec![
        document(0, "pool.txt", Content::PoolStats(stats)),
        document(0, "err.log", Content::ErrorLog(log.to_owned())),
        document(
            0,
            "meminfo",
            Content::Meminfo("MemTotal:  2048 kB\nMemAvailable:  1024 kB\n".to_owned()),
        ),
        document(
            0,
            "host",
            Content::Host(table(
                &["name", "value", "source"],
                &[&["available_bytes", "5", "elsewhere"]],
            )),
        ),
    ]);
    let evidence = observation.latest();
    let stats = evidence.pool_stats.as_ref().unwrap();
    assert_eq!(stats.total(|block| block.free_pages), Some(300));
    assert_eq!(evidence.log_events.len(), 1);
    let host = evidence.host.as_ref().unwrap();
    let ram = host.ram_bytes.as_ref().unwrap();
    assert_eq!((ram.value, ram.source.line), (2 << 20, Some(1)));
    assert_eq!(host.available_bytes.as_ref().unwrap().value, 5);
}

#[test]
fn exporter_pages_are_moments_of_their_own() {
    let page = |uptime: &str, reads: &str| {
        Content::Exporter(format!(
            "# HELP mysql_up Whether the server is up.\n\
             mysql_global_status_uptime {uptime}\n\
             mysql_global_status_innodb_buffer_pool_reads {reads}\n\
             mysql_version_info{{innodb_version=\"8.4.3\",version=\"8.4.3\",\
             version_comment=\"MySQL Community Server - GPL\"}} 1\n"
        ))
    };
    let observation = look(vec![
        document(0, "after.prom", page("500", "90")),
        document(0, "before.prom", page("400", "40")),
    ]);
    assert_eq!(observation.moments.len(), 2);
    assert_eq!(observation.latest().server.flavor, Flavor::Mysql);
    assert_eq!(observation.latest().server.version, Some(Version::new(8, 4, 3)));
    let interval = observation.interval().unwrap();
    assert!((interval.disk_reads_per_second.unwrap().value - 0.5).abs() < 1e-9);
}

#[test]
fn the_error_log_names_the_server_when_nothing_else_does() {
    let log = "2026-01-01 [Note] x: ready for connections.\n\
               Version: '11.4.2-MariaDB-log'  socket: '/run/s.sock'  port: 3306  Debian 12\n";
    let observation = look(vec![document(0, "err.log", Content::ErrorLog(log.to_owned()))]);
    let server = &observation.latest().server;
    assert_eq!(server.flavor, Flavor::Mariadb);
    assert_eq!(server.version, Some(Version::new(11, 4, 2)));
}

#[test]
fn what_the_collector_missed_is_listed_once() {
    let missed = NotRead::new("processes", "not root");
    let observation = observe(
        "x",
        vec![document(
            0,
            "missed",
            Content::NotRead(table(&["what", "why"], &[&["processes", "not root"]])),
        )],
        vec![missed.clone()],
    );
    assert_eq!(observation.not_read, [missed]);
}

fn option_file(moment: usize, place: &str, text: &str) -> Document {
    document(moment, place, Content::OptionFile(text.to_owned()))
}

#[test]
fn included_option_files_are_read_where_they_are_included() {
    let main = "[mysqld]\ninnodb_io_capacity=1\n!includedir /etc/my.d/\ninnodb_flush_neighbors=2\n";
    let part = "[mysqld]\ninnodb_io_capacity=7\ninnodb_flush_neighbors=1\nwsrep_sst_auth=x:y\n";
    let observation =
        look(vec![option_file(0, "/etc/my.d/a.cnf", part), option_file(0, "/etc/my.cnf", main)]);
    let configuration = &observation.latest().configuration;
    assert_eq!(configuration.number("innodb_io_capacity").unwrap().value, 7);
    let neighbors = configuration.number("innodb_flush_neighbors").unwrap();
    assert_eq!(neighbors.source.to_string(), "/etc/my.cnf:4: innodb_flush_neighbors");
    assert_eq!(configuration.files, ["/etc/my.cnf", "/etc/my.d/a.cnf"]);
    assert_eq!(configuration.settings.len(), 4, "a secret is not kept");
    assert_eq!(configuration.problems, []);
}

#[test]
fn option_files_that_include_each_other_are_read_once() {
    let text = |other: &str, value: u8| {
        format!("[mysqld]\n!include {other}\ninnodb_flush_neighbors={value}\n")
    };
    let observation = look(vec![
        option_file(0, "/free.cnf", "[mysqld]\ninnodb_io_capacity=5\n"),
        option_file(0, "/a.cnf", &text("/b.cnf", 1)),
        option_file(0, "/b.cnf", &text("/a.cnf", 2)),
    ]);
    let configuration = &observation.latest().configuration;
    assert_eq!(configuration.number("innodb_io_capacity").unwrap().value, 5);
    assert_eq!(configuration.number("innodb_flush_neighbors").unwrap().value, 1);
}

#[test]
fn option_files_are_read_as_the_servers_flavour_reads_them() {
    let text = "[mysqld]\ninnodb_io_capacity=1\n[mariadb]\ninnodb_io_capacity=2\n";
    let capacity = |version: &str| {
        let observation = look(vec![
            option_file(0, "/etc/my.cnf", text),
            document(0, "v", Content::Variables(pairs(&[&["version", version]]))),
        ]);
        let configuration = &observation.latest().configuration;
        configuration.number("innodb_io_capacity").unwrap().value
    };
    assert_eq!(capacity("8.4.0"), 1);
    assert_eq!(capacity("11.4.2-MariaDB"), 2);
}

#[test]
fn the_servers_table_of_persisted_variables_wins_over_the_file() {
    let file = r#"{"Version": 2, "mysql_dynamic_variables": {
        "innodb_io_capacity": {"Value": "700", "Metadata": {"Host": "h", "User": "u", "Timestamp": 1}},
        "innodb_flush_neighbors": {"Value": "1", "Metadata": {"Host": "h", "User": "u", "Timestamp": 1}}}}"#;
    let observation = look(vec![
        document(0, "p", Content::Persisted(pairs(&[&["innodb_io_capacity", "900"]]))),
        document(0, "mysqld-auto.cnf", Content::MysqldAuto(file.to_owned())),
        document(1, "broken", Content::MysqldAuto("{".to_owned())),
        document(1, "s", status("5", "5")),
    ]);
    for moment in &observation.moments {
        let persisted = moment.persisted.as_ref().unwrap();
        assert_eq!(persisted.count("innodb_io_capacity").unwrap().value, 900);
        assert_eq!(persisted.count("innodb_flush_neighbors").unwrap().value, 1);
    }
    assert_eq!(observation.not_read[0].what, "persisted variables");
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Uptime".to_owned()),
        Just("Innodb_buffer_pool_reads".to_owned()),
        Just("name".to_owned()),
        Just("ram_bytes".to_owned()),
        "[0-9]{1,25}",
        "-?[0-9.e+]{1,9}",
        "\\PC{0,12}",
    ]
}

fn any_table() -> impl Strategy<Value = Table> {
    let cells = prop::collection::vec(prop::option::of(any_text()), 0..4);
    let rows = prop::collection::vec(cells, 0..5);
    (prop::collection::vec(any_text(), 0..4), rows).prop_map(|(columns, rows)| Table {
        columns,
        rows: rows.into_iter().map(|cells| crate::table::Row { cells, line: None }).collect(),
    })
}

fn any_content() -> impl Strategy<Value = Content> {
    let kinds: [fn(Table) -> Content; 9] = [
        Content::PoolStats,
        Content::Variables,
        Content::VariableOrigins,
        Content::Status,
        Content::Host,
        Content::Gauges,
        Content::FileIo,
        Content::SchemaSizes,
        Content::NotRead,
    ];
    (any_table(), prop::sample::select(kinds.to_vec())).prop_map(|(table, kind)| kind(table))
}

proptest! {
    #[test]
    fn any_documents_make_an_observation(
        contents in prop::collection::vec(
            (any_content(), 0..3_usize, prop::option::of(any::<f64>())), 0..6),
    ) {
        let documents = contents
            .into_iter()
            .map(|(content, moment, taken_unix_seconds)| Document {
                content,
                place: format!("file{moment}"),
                moment,
                taken_unix_seconds,
            })
            .collect();
        let observation = look(documents);
        prop_assert!(!observation.moments.is_empty());
        let ordered = observation
            .gauges
            .is_sorted_by(|a, b| a.taken_unix_seconds.total_cmp(&b.taken_unix_seconds).is_le());
        prop_assert!(ordered);
    }
}

#[test]
fn of_countless_moments_the_first_and_the_newest_stay() {
    let documents =
        (0..1500).map(|at| document(at, "innodb.txt", status(&(at + 1).to_string(), "7")));
    let observation = look(documents.collect());
    let uptime = |at: usize| observation.moments[at].uptime_seconds().unwrap().value;
    assert_eq!(observation.moments.len(), 1000);
    assert_eq!((uptime(0), uptime(1), uptime(999)), (1, 502, 1500));
    assert_eq!(observation.not_read.len(), 1, "{:?}", observation.not_read);
    assert!(observation.not_read[0].what.starts_with("500 moments"), "{:?}", observation.not_read);
}

#[test]
fn what_no_server_can_have_is_left_out_and_named() {
    let most = u64::MAX.to_string();
    let observation = look(vec![
        document(0, "s.txt", status(&most, "7")),
        document(0, "v.txt", Content::Variables(pairs(&[&["innodb_buffer_pool_size", &most]]))),
        document(
            0,
            "my.cnf",
            Content::OptionFile(format!(
                "[mysqld]\ninnodb_buffer_pool_size={most}\ninnodb_io_capacity=200\n"
            )),
        ),
    ]);
    let evidence = observation.latest();
    assert_eq!(evidence.uptime_seconds(), None);
    assert_eq!(evidence.setting_bytes("innodb_buffer_pool_size"), None);
    assert_eq!(evidence.setting_bytes("innodb_io_capacity").unwrap().value, 200);
    let whys: Vec<&str> = observation.not_read.iter().map(|entry| entry.why.as_str()).collect();
    assert_eq!(whys.len(), 3, "{whys:?}");
    assert_eq!(whys[0], "Uptime 18446744073709551615 is no possible value");
    assert_eq!(observation.not_read[2].what, "innodb_buffer_pool_size of my.cnf:2");
}
