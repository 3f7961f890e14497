//! Evidence written and read back, and above all what is never written.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::directory::{self, Staging};
use super::reduce::reduce;
use super::{CollectError, MANIFEST, check_place, read, write};
use crate::observation::{Content, Document};
use crate::provenance::NotRead;
use crate::table::{Row, Table};

fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
    let mut table = Table::new(columns.iter().copied());
    for row in rows {
        table.push(row.iter().map(|cell| Some((*cell).to_owned())));
    }
    table
}

fn document(content: Content) -> Document {
    Document {
        content,
        place: "SHOW GLOBAL STATUS".to_owned(),
        moment: 1,
        taken_unix_seconds: Some(1_790_000_000.123_456),
    }
}

fn status() -> Document {
    document(Content::Status(table(
        &["Variable_name", "Value"],
        &[&["Uptime", "77"], &["Innodb_buffer_pool_reads", "5"]],
    )))
}

/// All that is written of some documents, in one text.
fn written(documents: &[Document]) -> String {
    let parent = tempfile::tempdir().unwrap();
    let files = write(&parent.path().join("out"), documents, &[], "shop-db").unwrap();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn a_person_can_read_what_is_written() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    let missed = NotRead::new("file I/O", "performance_schema is OFF");
    let files =
        write(&dir, &[status(), status()], std::slice::from_ref(&missed), "shop-db").unwrap();
    let names: Vec<_> = files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["manifest.json", "1-status.tsv", "1-status-2.tsv"]);
    assert_eq!(
        fs::read_to_string(&files[1]).unwrap(),
        "Variable_name\tValue\nUptime\t77\nInnodb_buffer_pool_reads\t5\n"
    );
    let manifest = fs::read_to_string(&files[0]).unwrap();
    assert!(manifest.contains(r#""schema": "innopool.evidence/1""#), "{manifest}");
    let (name, documents, not_read) = read(&dir).unwrap();
    assert_eq!(name, "shop-db");
    assert_eq!(documents, [status(), status()]);
    assert_eq!(not_read, [missed]);
}

#[test]
#[cfg(unix)]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    let files = write(&dir, &[status()], &[], "x").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    assert!(files.iter().all(|file| mode(file) == 0o600));
}

#[test]
fn evidence_is_replaced_and_nothing_else_is() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    fs::create_dir(&dir).unwrap();
    write(&dir, &[status(), status()], &[], "first").unwrap();
    write(&dir, &[status()], &[], "second").unwrap();
    assert_eq!(read(&dir).unwrap().0, "second");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2, "the old files are gone");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "and nothing is left beside");

    fs::write(dir.join("notes.txt"), "mine").unwrap();
    let error = write(&dir, &[], &[], "third").unwrap_err();
    assert!(matches!(error, CollectError::NotOurs { .. }), "{error}");
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(read(&dir).unwrap().0, "second");
    assert_eq!(fs::read_to_string(dir.join("notes.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

#[test]
fn other_directories_and_files_are_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("file"), "mine").unwrap();
    for place in [parent.path().to_owned(), parent.path().join("file")] {
        let error = write(&place, &[], &[], "x").unwrap_err();
        assert!(matches!(error, CollectError::NotOurs { .. }), "{error}");
    }
    assert_eq!(fs::read_to_string(parent.path().join("file")).unwrap(), "mine");
    let missing = parent.path().join("no/such/parent");
    let error = write(&missing, &[], &[], "x").unwrap_err();
    assert!(matches!(error, CollectError::NoParent(_)), "{error}");
}

#[test]
fn loose_files_newer_evidence_and_nonsense_are_told_apart() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path();
    fs::write(dir.join("status.txt"), "Uptime\t1\n").unwrap();
    assert!(matches!(read(dir), Err(CollectError::NoManifest(_))));
    let with = |text: &str| {
        fs::write(dir.join("manifest.json"), text).unwrap();
        read(dir).unwrap_err()
    };
    let newer = with(r#"{"schema": "innopool.evidence/2", "changed": []}"#);
    assert!(matches!(newer, CollectError::NewerSchema { .. }), "{newer}");
    assert!(newer.to_string().contains("innopool.evidence/2"), "{newer}");
    for text in ["", "{}", r#"{"schema": "lunch/1"}"#, r#"{"schema": "innopool.evidence/1"}"#] {
        let bad = with(text);
        assert!(matches!(bad, CollectError::BadManifest { .. }), "{text}: {bad}");
    }
}

#[test]
fn a_manifest_cannot_name_files_elsewhere() {
    let parent = tempfile::tempdir().unwrap();
    for file in ["../secret", "/etc/hostname", "..", "", "a/b", "./x"] {
        let manifest = format!(
            r#"{{"schema": "innopool.evidence/1", "name": "x", "documents": [{{"file": "{file}",
                "kind": "error_log", "moment": 0, "place": "p", "taken_unix_seconds": null}}]}}"#
        );
        fs::write(parent.path().join("manifest.json"), manifest).unwrap();
        let error = read(parent.path()).unwrap_err();
        assert!(matches!(error, CollectError::BadManifest { .. }), "{file}: {error}");
    }
}

#[test]
fn a_file_taken_out_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    let files = write(&dir, &[status()], &[], "x").unwrap();
    fs::remove_file(&files[1]).unwrap();
    let (_, documents, not_read) = read(&dir).unwrap();
    assert_eq!(documents, []);
    assert!(not_read[0].why.contains("1-status.tsv was taken out"), "{not_read:?}");
}

#[test]
fn nothing_outside_the_allow_list_is_written() {
    let secret = "hunter2";
    let pairs = |name: &str| {
        table(
            &["Variable_name", "Value", "Extra"],
            &[&["version", "8.4.0", secret], &[name, secret, "x"]],
        )
    };
    let documents = [
        document(Content::Variables(pairs("proxy_password"))),
        document(Content::Status(pairs("current_tls_key"))),
        document(Content::Persisted(pairs("proxy_password"))),
        document(Content::Metrics(table(
            &["name", "count", "comment"],
            &[&["log_lsn_current", "1", secret], &[secret, "1", "x"]],
        ))),
        document(Content::VariableOrigins(table(
            &["variable_name", "origin", "path", "set_user"],
            &[&["version", "compiled", "", secret], &[secret, "file", "", "x"]],
        ))),
        document(Content::Digests(table(
            &["digest", "digest_text", "count", "seconds"],
            &[&["ab", secret, "1", "2"]],
        ))),
        document(Content::Gauges(table(
            &["taken_unix_seconds", "uptime", "user"],
            &[&["1", "2", secret]],
        ))),
        document(Content::OptionFile(format!(
            "[client]\npassword={secret}\n[mysqld]\n# {secret}\ninnodb_io_capacity=5\n\
             wsrep_sst_auth=a:{secret}\n"
        ))),
        document(Content::MysqldAuto(format!(
            r#"{{"Version": 2, "mysql_dynamic_variables": {{
                "innodb_io_capacity": {{"Value": "700", "Metadata":
                    {{"Host": "{secret}", "User": "{secret}", "Timestamp": 1700000000000000}}}},
                "proxy_password": {{"Value": "{secret}", "Metadata": {{"Timestamp": 1}}}}}}}}"#
        ))),
        document(Content::Exporter(format!(
            "mysql_global_status_uptime 12345\n\
             mysql_info_schema_processlist_threads{{user=\"{secret}\",state=\"{secret}\"}} 1\n"
        ))),
        document(Content::ErrorLog(format!(
            "2026-05-06T07:08:09.123456Z 0 [Note] InnoDB: Buffer pool(s) load completed at \
             260506  7:08:09\n2026-05-06T07:08:10.123456Z 9 [Note] Access denied for '{secret}'\n"
        ))),
        document(Content::InnodbStatus(format!(
            "=====================================\n\
             2026-05-06 07:08:09 0x7f INNODB MONITOR OUTPUT\n\
             =====================================\n\
             ------------\nTRANSACTIONS\n------------\n\
             MySQL thread id 5, OS thread handle 1, query id 7 {secret} root\n\
             SELECT '{secret}'\n\
             ----------------------\nBUFFER POOL AND MEMORY\n----------------------\n\
             Buffer pool size   8191\n\
             ----------------------------\n\
             END OF INNODB MONITOR OUTPUT\n\
             ============================\n"
        ))),
        document(Content::Meminfo(format!("MemTotal: 4242 kB\n{secret}: 5 kB\n"))),
        document(Content::PoolStats(table(
            &["POOL_ID", "POOL_SIZE", "FREE_BUFFERS", "REMARK"],
            &[&["0", "6789", "1", secret]],
        ))),
    ];
    let text = written(&documents);
    assert!(!text.contains(secret), "{text}");
    for kept in ["8.4.0", "log_lsn_current", "compiled", "ab\t1\t2", "1\t2\n", "io_capacity=5"] {
        assert!(text.contains(kept), "{kept} is missing: {text}");
    }
    assert!(text.contains("700") && text.contains("1700000000000000"), "{text}");
}

fn cell() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop_oneof![
        Just("Uptime".to_owned()),
        Just("innodb_io_capacity".to_owned()),
        Just("\\N".to_owned()),
        "[\\\\\t\n\r\0a-cN]{0,6}",
        any::<String>(),
    ])
}

fn any_table() -> impl Strategy<Value = Table> {
    let name = prop_oneof![
        prop::sample::select(vec![
            "name",
            "Value",
            "count",
            "seconds",
            "what",
            "taken_unix_seconds"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    (prop::collection::vec(name, 1..4), prop::bool::ANY).prop_flat_map(|(columns, pasted)| {
        let cells = prop::collection::vec(cell(), columns.len());
        let row = (cells, any::<u32>())
            .prop_map(move |(cells, line)| Row { cells, line: pasted.then_some(line) });
        prop::collection::vec(row, 0..5)
            .prop_map(move |rows| Table { columns: columns.clone(), rows })
    })
}

fn any_content() -> impl Strategy<Value = Content> {
    let tables: Vec<fn(Table) -> Content> = vec![
        Content::Variables,
        Content::VariableOrigins,
        Content::Status,
        Content::PoolStats,
        Content::Metrics,
        Content::Persisted,
        Content::SchemaSizes,
        Content::FileIo,
        Content::Statements,
        Content::Digests,
        Content::Memory,
        Content::Transactions,
        Content::Latches,
        Content::Host,
        Content::Gauges,
        Content::NotRead,
    ];
    let texts: Vec<fn(String) -> Content> = vec![
        Content::InnodbStatus,
        Content::Exporter,
        Content::OptionFile,
        Content::MysqldAuto,
        Content::Meminfo,
        Content::ErrorLog,
    ];
    let line = prop_oneof![
        Just("[mysqld]".to_owned()),
        Just("innodb_io_capacity = 5 # x".to_owned()),
        Just("!include /x".to_owned()),
        Just("MemTotal:  5 kB".to_owned()),
        any::<String>(),
    ];
    let text = prop::collection::vec(line, 0..5).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        (any_table(), prop::sample::select(tables)).prop_map(|(table, kind)| kind(table)),
        (text, prop::sample::select(texts)).prop_map(|(text, kind)| kind(text)),
    ]
}

fn any_document() -> impl Strategy<Value = Document> {
    let seconds = prop::option::of(any::<f64>().prop_filter("a time", |s| s.is_finite()));
    (any_content(), any::<String>(), 0..4_usize, seconds).prop_map(
        |(content, place, moment, taken_unix_seconds)| Document {
            content,
            place,
            moment,
            taken_unix_seconds,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        documents in prop::collection::vec(any_document(), 0..6),
        name in any::<String>(),
        missed in prop::collection::vec((any::<String>(), any::<String>()), 0..3),
    ) {
        let missed: Vec<NotRead> =
            missed.into_iter().map(|(what, why)| NotRead::new(what, why)).collect();
        let reduced: Vec<Document> = documents.iter().flat_map(reduce).collect();
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("out");
        write(&dir, &documents, &missed, &name).unwrap();
        prop_assert_eq!(read(&dir).unwrap(), (name.clone(), reduced.clone(), missed.clone()));
        // Written again, it stays as it is.
        write(&dir, &reduced, &missed, &name).unwrap();
        prop_assert_eq!(read(&dir).unwrap(), (name, reduced, missed));
    }
}

#[test]
fn a_place_without_a_parent_is_named_before_anything_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let error = check_place(&scratch.path().join("a/b")).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{} does not exist: make it first", scratch.path().join("a").display())
    );
    check_place(&scratch.path().join("a")).unwrap();
}

#[test]
fn two_at_once_do_not_mix() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("db1");
    let target = directory::target(&dir).unwrap();
    let staging = Staging::begin(&target).unwrap();
    staging.write(MANIFEST, "{}").unwrap();
    write(&dir, &[], &[], "other").unwrap();
    let error = staging.finish().unwrap_err().to_string();
    assert!(error.contains("another collect wrote") && !error.contains(".new-"), "{error}");
    assert_eq!(read(&dir).unwrap().0, "other");
}
