//! A whole look: what it asks, what it gives, what it costs.

use std::time::Duration;

use innopool_target::build::observe;
use innopool_target::evidence::FileKind;
use innopool_target::live::{Connection, Limits, Progress, WatchOptions, watch};
use innopool_target::read::{innodb_status, pool_stats};
use innopool_target::variables::Origin;
use innopool_target::{Content, Document, Flavor};
use innopool_testkit::recorder::Recorder;
use innopool_testkit::{Kind, Own, Server, own};

use crate::{by_socket, login};

fn look(connection: &mut Connection, seconds: u64) -> Vec<Document> {
    let options = WatchOptions::new(Duration::from_secs(seconds));
    watch(connection, &options, &mut |_| {})
}

/// The name of a document's kind, and its moment.
fn kind_of(document: &Document) -> (String, usize) {
    let text = format!("{:?}", document.content);
    let name = text.split('(').next().unwrap_or_default().to_owned();
    (name, document.moment)
}

fn kinds(documents: &[Document]) -> Vec<(String, usize)> {
    documents.iter().map(kind_of).collect()
}

#[test]
fn a_look_asks_little_and_changes_nothing() {
    for kind in Kind::ALL {
        let Some(server) = innopool_testkit::shared(kind) else {
            continue;
        };
        let recorder = Recorder::start(server).unwrap();
        let login = login(recorder.port());
        let mut connection = Connection::open(&login, Limits::default()).unwrap();
        assert!(recorder.queries().is_empty(), "{:?}", recorder.queries());
        look(&mut connection, 2);
        drop(connection);
        let queries = recorder.queries();
        // With an interval of 2 s there is one gauge.
        assert!(queries.len() <= 20 + 1, "{} statements", queries.len());
        for query in &queries {
            let limit = "SET STATEMENT max_statement_time = 4 FOR ";
            let query = query.strip_prefix(limit).unwrap_or(query);
            assert!(query.starts_with("SELECT ") || query.starts_with("SHOW "), "{query}");
            let words: Vec<_> = query.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            for word in ["INTO", "SET", "FLUSH", "UPDATE", "SLEEP", "GET_LOCK", "LOCK"] {
                assert!(!words.contains(&word), "{word} in {query}");
            }
            assert!(!query.contains(';'), "{query}");
        }
        for once in ["ENGINE INNODB STATUS", "INNODB_BUFFER_POOL_STATS"] {
            assert_eq!(queries.iter().filter(|q| q.contains(once)).count(), 1, "{once}");
        }
        recorder.clear();
        let mut connection = Connection::open(&login, Limits::default()).unwrap();
        let mut options = WatchOptions::new(Duration::ZERO);
        options.skip_status_text = true;
        watch(&mut connection, &options, &mut |_| {});
        let queries = recorder.queries().join("\n");
        assert!(!queries.contains("INNODB STATUS"), "{queries}");
        assert!(!queries.contains("INNODB_BUFFER_POOL_STATS"), "{queries}");
    }
}

#[test]
fn mysql_gives_every_document() {
    let Some(server) = innopool_testkit::shared(Kind::Mysql) else {
        return;
    };
    let login = by_socket(login(server.port()), server);
    let mut connection = Connection::open(&login, Limits::default()).unwrap();
    let documents = look(&mut connection, 2);
    let found = kinds(&documents);
    let every = ["Status", "FileIo", "Statements", "Digests", "Transactions", "Latches"];
    let first = ["Variables", "VariableOrigins", "Persisted", "SchemaSizes", "Memory", "Gauges"];
    let last = ["Metrics", "PoolStats", "InnodbStatus"];
    let expected = (every.iter().map(|n| (n, 0)))
        .chain(every.iter().map(|n| (n, 1)))
        .chain(first.iter().map(|n| (n, 0)))
        .chain(last.iter().map(|n| (n, 1)));
    for (name, moment) in expected {
        assert!(found.contains(&((*name).to_owned(), moment)), "{name} {moment}: {found:?}");
    }
    assert!(!found.iter().any(|(name, _)| name == "NotRead"), "{documents:?}");
    for document in documents.iter().filter(|d| !matches!(d.content, Content::Gauges(_))) {
        assert!(document.taken_unix_seconds.is_some_and(|seconds| seconds > 1.7e9));
    }
}

#[test]
fn mariadb_names_what_its_performance_schema_would_give() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let login = login(server.port());
    let mut connection = Connection::open(&login, Limits::default()).unwrap();
    let documents = look(&mut connection, 0);
    let found = kinds(&documents);
    for name in ["Variables", "VariableOrigins", "Status", "SchemaSizes", "PoolStats"] {
        assert!(found.contains(&(name.to_owned(), 0)), "{name}: {found:?}");
    }
    let Some(Content::NotRead(table)) = documents.last().map(|d| &d.content) else {
        panic!("nothing missing?");
    };
    let off = table.rows.iter().filter(|row| {
        table.cell(row, "why").is_some_and(|why| why.contains("performance_schema is OFF"))
    });
    assert_eq!(off.count(), 3, "{table:?}");
}

#[test]
fn mariadb_with_its_performance_schema() {
    let Some(server) = own(Kind::Mariadb, &["performance_schema=ON"]) else {
        return;
    };
    let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
    let found = kinds(&look(&mut connection, 0));
    for name in ["FileIo", "Statements", "Digests"] {
        assert!(found.contains(&(name.to_owned(), 0)), "{name}: {found:?}");
    }
}

#[test]
fn where_a_variable_was_set() {
    for kind in Kind::ALL {
        let started = Own::new(kind)
            .option("innodb_io_capacity=300")
            .argument("--innodb-lru-scan-depth=777")
            .start();
        let Some(server) = started else { continue };
        server.sql("SET GLOBAL innodb_old_blocks_time = 900");
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        let documents = look(&mut connection, 0);
        let origins = documents.iter().find_map(|document| match &document.content {
            Content::VariableOrigins(table) => Some(table),
            _ => None,
        });
        let origins = origins.unwrap();
        let cell = |name: &str, column: &str| {
            let row =
                origins.rows.iter().find(|row| origins.cell(row, "variable_name") == Some(name));
            origins.cell(row.unwrap(), column).map(str::to_owned)
        };
        assert_eq!(cell("innodb_io_capacity", "origin").as_deref(), Some("file"));
        let path = server.option_file().display().to_string();
        assert_eq!(cell("innodb_io_capacity", "path"), Some(path));
        assert_eq!(cell("innodb_lru_scan_depth", "origin").as_deref(), Some("command_line"));
        assert_eq!(cell("innodb_old_blocks_time", "origin").as_deref(), Some("dynamic"));
        assert_eq!(cell("innodb_old_blocks_pct", "origin").as_deref(), Some("compiled"));
        if kind == Kind::Mysql {
            assert_eq!(cell("innodb_old_blocks_time", "set_by").as_deref(), Some("this"));
            assert!(cell("innodb_old_blocks_time", "set_at").is_some());
        }
    }
}

/// Whoever set a variable is told as `another`, and never by name.
#[test]
fn another_account_stays_nameless() {
    let Some(server) = own(Kind::Mysql, &[]) else {
        return;
    };
    server.sql("CREATE USER ada@'%' IDENTIFIED BY 'tulip'");
    server.sql("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO ada@'%'");
    let mut ada = Connection::open(&crate::as_user(&server, "ada", "tulip"), Limits::default());
    let ada = ada.as_mut().unwrap();
    ada.query("SET PERSIST innodb_old_blocks_pct = 41").unwrap();
    let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
    let documents = look(&mut connection, 0);
    let text = format!("{documents:?}");
    assert!(text.contains("\"another\""));
    assert!(!text.contains("ada@") && !text.contains("\"ada\""), "an account leaked");
    let persisted = documents.iter().find_map(|document| match &document.content {
        Content::Persisted(table) => Some(table),
        _ => None,
    });
    let table = persisted.unwrap();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0].cells[0].as_deref(), Some("innodb_old_blocks_pct"));
}

#[test]
fn gauges_and_progress_come_during_the_interval() {
    let Some(server) = innopool_testkit::shared(Kind::Mariadb) else {
        return;
    };
    let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
    let mut options = WatchOptions::new(Duration::from_secs(1));
    options.gauge_period = Some(Duration::from_millis(200));
    let mut waits = Vec::new();
    let documents = watch(&mut connection, &options, &mut |progress| {
        if let Progress::Waiting { elapsed, .. } = progress {
            waits.push(elapsed);
        }
    });
    assert!(waits.is_sorted() && waits.len() >= 2, "{waits:?}");
    let gauges = documents.iter().find_map(|document| match &document.content {
        Content::Gauges(table) => Some(table),
        _ => None,
    });
    let table = gauges.unwrap();
    // Four would be expected of an idle machine.
    assert!((1..=4).contains(&table.rows.len()), "{table:?}");
    for row in &table.rows {
        assert!(table.decimal(row, "taken_unix_seconds") > Some(1.7e9));
        assert!(table.number(row, "innodb_buffer_pool_pages_total") > Some(0));
    }
    let taken: Vec<_> = documents
        .iter()
        .filter(|document| matches!(document.content, Content::Status(_)))
        .map(|document| document.taken_unix_seconds.unwrap())
        .collect();
    // The server's counters cover the interval that was asked for, give or take.
    assert!(taken[1] - taken[0] > 0.9, "{taken:?}");
}

/// A statement text must not survive, wherever the server prints it.
#[test]
fn no_statement_text_is_kept() {
    for kind in Kind::ALL {
        let Some(server) = own(kind, &[]) else {
            continue;
        };
        server.sql(
            "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1)",
        );
        let mut holder = Connection::open(&login(server.port()), Limits::default()).unwrap();
        holder.query("BEGIN").unwrap();
        holder.query("SELECT 'secret-text' FROM d.t FOR UPDATE").unwrap();
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        let documents = look(&mut connection, 0);
        let text = format!("{documents:?}");
        assert!(!text.contains("secret-text") && !text.contains("root"), "{kind}");
        let transactions = documents.iter().find_map(|document| match &document.content {
            Content::Transactions(table) => Some(table),
            _ => None,
        });
        let table = transactions.unwrap();
        assert_eq!(table.number(&table.rows[0], "open"), Some(1), "{table:?}");
    }
}

fn pool_figures_are_understood(documents: &[Document]) {
    let read = |document: &Document| match &document.content {
        Content::PoolStats(table) => {
            let stats = pool_stats::parse(table, &document.place).unwrap();
            assert!(stats.instances[0].size_pages > Some(0), "{stats:?}");
            true
        }
        Content::InnodbStatus(text) => {
            let status = innodb_status::parse(text, &document.place).unwrap();
            assert!(status.pool.as_ref().unwrap().database_pages > Some(0));
            assert!(status.log.current_lsn.is_some() && !status.truncated);
            true
        }
        _ => false,
    };
    assert_eq!(documents.iter().filter(|document| read(document)).count(), 2);
}

/// What is printed is what the readers understand: every table arrives in the evidence.
#[test]
fn a_look_reads_into_evidence() {
    for kind in Kind::ALL {
        let Some(server) = own(kind, &["innodb_buffer_pool_size=64M"]) else {
            continue;
        };
        server.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)");
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        let documents = look(&mut connection, 2);
        pool_figures_are_understood(&documents);
        let observation = observe("db", documents, Vec::new());
        let latest = observation.latest();
        let flavor = match kind {
            Kind::Mysql => Flavor::Mysql,
            Kind::Mariadb => Flavor::Mariadb,
        };
        assert_eq!(latest.server.flavor, flavor);
        assert_eq!(observation.moments.len(), 2);
        let size = latest.variables.get("innodb_buffer_pool_size").unwrap();
        assert_eq!(size.value, "67108864");
        assert!(matches!(&size.origin, Origin::File(path) if path.ends_with("my.cnf")));
        assert!(latest.metrics.count("trx_rseg_history_len").is_some());
        let data = latest.data.as_ref().unwrap();
        assert!(data.schemas.iter().any(|schema| schema.schema == "d"));
        assert!(latest.transactions.is_some());
        let interval = observation.interval().unwrap();
        assert!(interval.read_requests_per_second.is_some());
        assert!((1.9..10.0).contains(&interval.seconds), "{}", interval.seconds);
        // One between the moments, and perhaps those of the moments themselves.
        assert!(!observation.gauges.is_empty());
        if kind == Kind::Mysql {
            assert!(latest.persisted.is_some());
            let data = latest.file_io(FileKind::Data).unwrap();
            assert!(data.reads > 0 && data.read_seconds > 0.0);
            assert!(latest.statements.as_ref().unwrap().seconds > 0.0);
            assert!(latest.memory.as_ref().unwrap().buffer_pool_bytes >= 64 << 20);
            assert!(!latest.digests.is_empty());
            assert_eq!(latest.latches.len(), 2);
            assert!(interval.statements_per_second.is_some());
            assert!(interval.latch_waits_per_second.is_some());
            assert!(observation.not_read.is_empty(), "{:?}", observation.not_read);
        }
    }
}

fn tables(server: &Server, count: usize) {
    let mut session = Connection::open(&login(server.port()), Limits::default()).unwrap();
    session.query("CREATE DATABASE `many-tables`").unwrap();
    for number in 0..count {
        let sql = format!("CREATE TABLE `many-tables`.t{number} (a INT PRIMARY KEY)");
        session.query(&sql).unwrap();
    }
}

/// The sizes come from the tablespaces themselves, so that many tables cost little. With
/// `INNOPOOL_LONG=1` there are 100,000 of them.
#[test]
fn many_tables_are_sized_in_time() {
    let long = std::env::var_os("INNOPOOL_LONG").is_some_and(|value| value == "1");
    let count = if long { 100_000 } else { 200 };
    for kind in Kind::ALL {
        let options = ["innodb_flush_log_at_trx_commit=0", "innodb_doublewrite=OFF"];
        let Some(server) = own(kind, &[&options[..], &["skip_log_bin"]].concat()) else {
            continue;
        };
        tables(&server, count);
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        let documents = look(&mut connection, 0);
        let sizes = documents.iter().find_map(|document| match &document.content {
            Content::SchemaSizes(table) => Some(table),
            _ => None,
        });
        let sizes = sizes.unwrap();
        let find = |schema: &str| {
            let found = |row: &&_| sizes.cell(row, "schema_name") == Some(schema);
            sizes.rows.iter().find(found).unwrap_or_else(|| panic!("{schema}: {sizes:?}"))
        };
        let many = find("many-tables");
        assert_eq!(sizes.number(many, "tablespaces"), Some(count as u64));
        assert!(sizes.number(many, "file_bytes") >= Some(count as u64 * 4 * 16384));
        assert!(sizes.number(find("innodb_system"), "file_bytes") >= Some(12 << 20));
        find("innodb_temporary");
    }
}

/// Processor time of this thread, seconds.
fn thread_cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1e9
}

/// The aim is 100 ms for a look in a release build; here only that it is no more than that by an
/// order of magnitude.
#[test]
fn a_look_costs_us_little() {
    for kind in Kind::ALL {
        let Some(server) = innopool_testkit::shared(kind) else {
            continue;
        };
        let before = thread_cpu_seconds();
        let mut connection = Connection::open(&login(server.port()), Limits::default()).unwrap();
        look(&mut connection, 1);
        let spent = thread_cpu_seconds() - before;
        eprintln!("a look at {kind} took {:.1} ms of our own time", spent * 1000.0);
        assert!(spent < 1.0, "{spent} s");
    }
}
