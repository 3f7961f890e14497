//! Looks at the lists of real servers.

#![allow(clippy::unwrap_used, reason = "a test may end by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use innopool_capture::snapshots::{
    DUMP_FILE_NAME, DUMP_LIMIT, DumpSettings, KEPT_FILE_NAME, Look, Looks, SnapshotError, dump,
    lru, lru_price, put_files_back,
};
use innopool_policy::page::PageId;
use innopool_recording::{Counters, Record};
use innopool_target::host::{self, LocalServer, Roots, ServerSays};
use innopool_target::live::{Connection, Limits};
use innopool_target::login::Login;
use innopool_testkit::{Kind, Own, Server};

const ROWS: &str = "CREATE DATABASE t; CREATE TABLE t.a (id INT PRIMARY KEY AUTO_INCREMENT, f CHAR(250)) \
    ENGINE=InnoDB; INSERT INTO t.a (f) VALUES ('x'); \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a; \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a; \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a; \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a; \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a; \
    INSERT INTO t.a (f) SELECT f FROM t.a; INSERT INTO t.a (f) SELECT f FROM t.a";

fn connect(server: &Server) -> Connection {
    let login = Login {
        socket: Some(server.socket().display().to_string()),
        user: Some("root".to_owned()),
        ..Login::default()
    };
    Connection::open(&login, Limits::default()).unwrap()
}

/// Finds the process as a capture does: by what the server says.
fn local(server: &Server) -> LocalServer {
    let text = |name: &str| Some(server.variable(name)).filter(|text| !text.is_empty());
    let says = ServerSays {
        pid_file: text("pid_file"),
        socket: text("socket"),
        datadir: text("datadir"),
        innodb_data_home_dir: None,
        innodb_buffer_pool_filename: text("innodb_buffer_pool_filename"),
        server_uuid: None,
        uptime_seconds: server.status("Uptime").parse().ok(),
    };
    let way = host::Login::Socket(server.socket().display().to_string());
    host::locate(&Roots::default(), &says, &way).unwrap()
}

fn settings_of(server: &Server) -> (String, String) {
    (server.variable("innodb_buffer_pool_dump_pct"), server.variable("innodb_buffer_pool_filename"))
}

/// The names of files in the data directory that have to do with dumps.
fn dumps(server: &Server) -> Vec<String> {
    let entries = std::fs::read_dir(server.datadir()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains("pool")).collect();
    names.sort();
    names
}

fn pages(look: &Look) -> BTreeSet<PageId> {
    look.lists.iter().flat_map(|(_, pages)| pages.iter().copied()).collect()
}

/// The share of `of` that is in `other` too.
fn share(of: &BTreeSet<PageId>, other: &BTreeSet<PageId>) -> f64 {
    of.intersection(other).count() as f64 / of.len() as f64
}

const MARIADB_TEMPORARY: u32 = 0xffff_fffe;

#[test]
fn a_dump_and_the_table_tell_of_the_same_list_and_nothing_stays_behind() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind)
            .option("innodb_buffer_pool_size=64M")
            .option("innodb_buffer_pool_dump_pct=17")
            .option("innodb_buffer_pool_filename=my_own_pool")
            .start()
        else {
            return;
        };
        server.sql(ROWS);
        let mut connection = connect(&server);
        let local = local(&server);
        let before = DumpSettings::ask(&mut connection).unwrap();
        assert_eq!(before, DumpSettings { pct: 17, filename: "my_own_pool".to_owned() });
        // The data directory comes with a dump of its making, which is not this server's.
        let its_own = server.datadir().join("my_own_pool");
        std::fs::write(&its_own, "0,1\n").unwrap();
        let dumped = dump(&mut connection, &local, 1, &before, DUMP_LIMIT).unwrap();
        assert_eq!(settings_of(&server), ("17".to_owned(), "my_own_pool".to_owned()));
        assert_eq!(std::fs::read_to_string(&its_own).unwrap(), "0,1\n", "{kind}");
        assert_eq!(dumps(&server), ["ib_buffer_pool", "my_own_pool"]);
        assert_eq!(dumped.remarks, Vec::<String>::new(), "{kind}");
        // A second one, at once: it is not the first that is read again.
        std::fs::remove_file(&its_own).unwrap();
        let again = dump(&mut connection, &local, 1, &before, DUMP_LIMIT).unwrap();
        assert_eq!(dumps(&server), ["ib_buffer_pool"], "what was not there is not there again");
        assert!(again.asked_unix_us > dumped.asked_unix_us);

        let price = lru_price(&mut connection).unwrap();
        let table = lru(&mut connection).unwrap();
        assert!(price.pages.abs_diff(table.pages() as u64) < 200, "{price}: {}", table.pages());
        assert!(table.pages() > 60, "{}", table.pages());
        // The server goes on by itself; and MariaDB leaves its temporary tablespace out of a dump.
        assert!(share(&pages(&dumped), &pages(&table)) > 0.97, "{kind}");
        let mut told = pages(&table);
        told.retain(|page| kind == Kind::Mysql || page.space != MARIADB_TEMPORARY);
        assert!(share(&told, &pages(&dumped)) > 0.97, "{kind}");
        assert_eq!(table.lists.len(), 1);
        // Both from the head on: pages that both have come in the same order, but for what moved since.
        let (one, other) = (&again.lists[0].1, &table.lists[0].1);
        let ranks: Vec<usize> =
            one.iter().filter_map(|page| other.iter().position(|found| found == page)).collect();
        let rising = ranks.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(rising * 10 > ranks.len() * 9, "{kind}: {rising} of {}", ranks.len());
    }
}

#[test]
fn a_dump_of_several_instances_is_divided_as_the_server_does() {
    let Some(server) = Own::new(Kind::Mysql)
        .option("innodb_buffer_pool_size=1G")
        .option("innodb_buffer_pool_instances=4")
        .start()
    else {
        return;
    };
    server.sql(ROWS);
    let mut connection = connect(&server);
    let before = DumpSettings::ask(&mut connection).unwrap();
    let dumped = dump(&mut connection, &local(&server), 4, &before, DUMP_LIMIT).unwrap();
    let table = lru(&mut connection).unwrap();
    assert_eq!(dumped.lists.len(), 4);
    assert_eq!(table.lists.len(), 4);
    for ((instance, dumped), (other, table)) in dumped.lists.iter().zip(&table.lists) {
        assert_eq!(instance, other);
        let table: BTreeSet<_> = table.iter().collect();
        let found = dumped.iter().filter(|page| table.contains(page)).count();
        assert!(dumped.len() > 20 && found * 10 > dumped.len() * 9, "{found} of {}", dumped.len());
    }
}

#[test]
fn what_a_killed_capture_left_is_found_and_put_back() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind).start() else { return };
        let (mut connection, local) = (connect(&server), local(&server));
        let before = DumpSettings::ask(&mut connection).unwrap();
        let was = settings_of(&server);
        // Nothing was changed: nothing is put back.
        DumpSettings { pct: 3, filename: "x".to_owned() }.put_back(&mut connection).unwrap();
        assert_eq!(settings_of(&server), was);
        let datadir = server.datadir();
        let name = match kind {
            Kind::Mysql => DUMP_FILE_NAME,
            // The name cannot be set; its own dump has two names then.
            Kind::Mariadb => "ib_buffer_pool",
        };
        let path = datadir.join(name);
        if kind == Kind::Mysql {
            server.sql(&format!("SET GLOBAL innodb_buffer_pool_filename = '{DUMP_FILE_NAME}'"));
        } else {
            std::fs::write(&path, "0,1\n").unwrap();
            std::fs::hard_link(&path, datadir.join(KEPT_FILE_NAME)).unwrap();
        }
        server.sql(
            "SET GLOBAL innodb_buffer_pool_dump_pct = 100, GLOBAL innodb_buffer_pool_dump_now = ON",
        );
        let is_dumped = || std::fs::read_to_string(&path).is_ok_and(|text| text.len() > 10);
        while !is_dumped() {
            std::thread::sleep(Duration::from_millis(10));
        }
        if kind == Kind::Mysql {
            let left = DumpSettings::ask(&mut connection).unwrap_err();
            assert!(matches!(left, SnapshotError::LeftOver), "{left}");
        }
        for _ in 0..2 {
            before.put_back(&mut connection).unwrap();
            put_files_back(&local, &before).unwrap();
            assert_eq!(settings_of(&server), was);
            assert_eq!(dumps(&server), ["ib_buffer_pool"]);
        }
        if kind == Kind::Mariadb {
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "0,1\n");
        }
    }
}

#[test]
fn a_server_that_cannot_dump_is_left_as_it_was() {
    for kind in Kind::ALL {
        let Some(server) = Own::new(kind).start() else { return };
        let (mut connection, local) = (connect(&server), local(&server));
        let before = DumpSettings::ask(&mut connection).unwrap();
        let was = settings_of(&server);
        // The server writes its dump under this name first, and a directory is no file.
        let name = if kind == Kind::Mysql { DUMP_FILE_NAME } else { "ib_buffer_pool" };
        let blocked = server.datadir().join(format!("{name}.incomplete"));
        std::fs::create_dir(&blocked).unwrap();
        let limit = Duration::from_secs(2);
        for _ in 0..2 {
            let error = dump(&mut connection, &local, 1, &before, limit).unwrap_err();
            assert!(matches!(error, SnapshotError::Failed(_)), "{kind}: {error}");
            assert_eq!(settings_of(&server), was);
        }
        std::fs::remove_dir(&blocked).unwrap();
        // And the failure of before is not taken for one of the next.
        dump(&mut connection, &local, 1, &before, limit).unwrap();
        assert_eq!(dumps(&server), ["ib_buffer_pool"], "{kind}");
    }
}

#[test]
fn looks_become_windows() {
    let look = |time: u64, page_no: u32| Look {
        lists: vec![(0, vec![PageId::new(1, page_no)]), (1, vec![])],
        asked_unix_us: time,
        took: Duration::ZERO,
        remarks: vec![],
    };
    let mut writer = innopool_recording::RecordWriter::new(Vec::new(), &provenance()).unwrap();
    let mut looks = Looks::new();
    let counters = |reads| Counters { reads: Some(reads), ..Counters::default() };
    looks.look(&mut writer, &look(1_000_000, 5), &counters(1)).unwrap();
    looks.look(&mut writer, &look(3_000_000, 6), &counters(2)).unwrap();
    looks.end(&mut writer, 7_000_000, &counters(3), Some("enough".to_owned())).unwrap();
    looks.end(&mut writer, 8_000_000, &counters(3), None).unwrap();
    let bytes = writer.finish().unwrap();
    let mut reader = innopool_recording::RecordReader::new(&bytes[..]).unwrap();
    let mut told = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        told.push(match record {
            Record::WindowStart(start) => {
                format!("start {} {:?}", start.unix_us, start.counters.reads)
            }
            Record::Resident { instance, pages } => {
                format!("{instance} {pages:?}").replace("PageId ", "")
            }
            Record::WindowEnd(end) => {
                format!("end {} {:?} {:?}", end.time_us, end.counters.reads, end.stopped_because)
            }
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(
        told,
        [
            "start 1000000 Some(1)",
            "0 [{ space: 1, page_no: 5 }]",
            "1 []",
            "end 2000000 Some(2) None",
            "start 3000000 Some(2)",
            "0 [{ space: 1, page_no: 6 }]",
            "1 []",
            "end 4000000 Some(3) Some(\"enough\")",
        ]
    );
}

fn provenance() -> innopool_recording::Provenance {
    use innopool_recording::{Flavor, PoolSettings, Provenance, Sampling, Source};
    Provenance {
        recorded_by: "a test".to_owned(),
        flavor: Flavor::Mysql,
        server_version: "9.7.0".to_owned(),
        server_uuid: None,
        source: Source::Dumps,
        pool: PoolSettings {
            size_bytes: 1 << 27,
            chunk_bytes: None,
            instances: 2,
            page_size_bytes: 16384,
            old_blocks_pct: 37.0,
            old_blocks_time_ms: 1000,
            lru_scan_depth: 1024,
            read_ahead_threshold: 56,
            random_read_ahead: false,
            adaptive_hash_index: false,
        },
        sampling: Sampling::ALL,
        tablespaces: vec![],
        started_unix_us: 0,
        remarks: vec![],
    }
}
