//! `mysqld-auto.cnf`: where MySQL and Percona keep what `SET PERSIST` wrote. A JSON document in the
//! data directory that a server reads after all option files, so it wins over them. MariaDB has
//! none.
//!
//! Version 1 nests the variables that need a restart in the group of the others; version 2 has a
//! group for each kind. Both are read alike: whatever has a `Value` is a variable, wherever it is
//! nested. Who set it is never kept.

use serde_json::Value;

use crate::allow;
use crate::provenance::Source;
use crate::variables::{Origin, Variables};

/// Why a `mysqld-auto.cnf` could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MysqldAutoError {
    /// The text is not JSON.
    #[error(
        "{path}:{line}: not JSON at column {column}: {what}; a server does not start with such a \
         file: repair it, or start with --persisted-globals-load=OFF"
    )]
    NotJson {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What was met there.
        what: String,
    },
    /// JSON, but not a file of persisted variables.
    #[error("{path}: not a mysqld-auto.cnf: {what}")]
    NotPersisted {
        /// The file.
        path: String,
        /// What is missing or different.
        what: String,
    },
}

/// Reads the text of a `mysqld-auto.cnf`, named `path` in what is said of it, and keeps the
/// variables that evidence may hold (see [`crate::allow`]).
///
/// # Errors
/// When the text is not JSON, or of a version that is not 1 or 2.
pub fn parse(text: &str, path: &str) -> Result<Variables, MysqldAutoError> {
    let mut variables = Variables::default();
    for entry in entries(text, path)? {
        if !allow::is_variable(&entry.name) {
            continue;
        }
        let source = Source::new(path, entry.name.clone());
        variables.insert(&entry.name, entry.value, source);
        if let Some(variable) = variables.get_mut(&entry.name) {
            variable.origin = Origin::Persisted;
            variable.set_at = entry.set_at;
        }
    }
    Ok(variables)
}

/// One persisted variable.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    value: String,
    /// When it was set, in UTC, as servers print a moment.
    set_at: Option<String>,
}

/// All persisted variables of a file.
fn entries(text: &str, path: &str) -> Result<Vec<Entry>, MysqldAutoError> {
    let document: Value = serde_json::from_str(text).map_err(|error| MysqldAutoError::NotJson {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        // The message without its place; it names kinds of token, never a value.
        what: error.to_string().split(" at line").next().unwrap_or_default().to_owned(),
    })?;
    let not_persisted =
        |what: String| MysqldAutoError::NotPersisted { path: path.to_owned(), what };
    let version =
        document.get("Version").ok_or_else(|| not_persisted("it has no \"Version\"".to_owned()))?;
    match version.as_u64() {
        Some(1 | 2) => {}
        Some(other) => {
            let what = format!("its version is {other}; 1 and 2 are known");
            return Err(not_persisted(what));
        }
        None => return Err(not_persisted("its \"Version\" is not a number".to_owned())),
    }
    let mut entries = Vec::new();
    collect(&document, &mut entries);
    Ok(entries)
}

/// Adds the variables in a group and in the groups nested in it. The JSON reader bounds the depth.
fn collect(group: &Value, entries: &mut Vec<Entry>) {
    let Some(members) = group.as_object() else {
        return;
    };
    for (name, member) in members {
        match member.get("Value").and_then(value_text) {
            Some(value) => entries.push(Entry {
                name: name.clone(),
                value,
                set_at: member.get("Metadata").and_then(set_at),
            }),
            None => collect(member, entries),
        }
    }
}

fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(if *on { "ON" } else { "OFF" }.to_owned()),
        _ => None,
    }
}

/// The moment in `Timestamp`, microseconds since 1970, to the second.
fn set_at(metadata: &Value) -> Option<String> {
    let microseconds = metadata.get("Timestamp")?.as_i64()?;
    let moment = jiff::Timestamp::from_microsecond(microseconds).ok()?;
    Some(moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION_1: &str = r#"{ "Version" : 1 , "mysql_server" : {
        "innodb_buffer_pool_size" : { "Value" : "2147483648" , "Metadata" :
            { "Timestamp" : 1700000000123456 , "User" : "ada" , "Host" : "db7" } } ,
        "mandatory_roles" : { "Value" : "r1" , "Metadata" : { "Timestamp" : 1700000000000000 } } ,
        "mysql_server_static_options" : {
            "innodb_read_io_threads" : { "Value" : "8" , "Metadata" :
                { "Timestamp" : 1700000001000000 , "User" : "ada" , "Host" : "db7" } } } } }"#;

    const VERSION_2: &str = r#"{"Version": 2,
        "mysql_dynamic_variables": {"sync_binlog": {"Value": "100",
            "Metadata": {"Host": "db7", "User": "ada", "Timestamp": 1700000000123456}}},
        "mysql_static_variables": {"innodb_page_cleaners": {"Value": 2, "Metadata": {}}},
        "mysql_static_parse_early_variables": {"performance_schema": {"Value": false}},
        "mysql_sensitive_variables": {"mysql_sensitive_variables_blob": "00ff"}}"#;

    fn read(text: &str) -> Vec<(String, String, Option<String>)> {
        let variables = parse(text, "data/mysqld-auto.cnf").unwrap();
        let entry = |(name, variable): (&str, &crate::variables::Variable)| {
            assert_eq!(variable.origin, Origin::Persisted);
            assert_eq!(variable.set_by, None);
            (name.to_owned(), variable.value.clone(), variable.set_at.clone())
        };
        variables.iter().map(entry).collect()
    }

    fn row(name: &str, value: &str, at: Option<&str>) -> (String, String, Option<String>) {
        (name.to_owned(), value.to_owned(), at.map(str::to_owned))
    }

    #[test]
    fn reads_version_1_with_its_nested_static_options() {
        assert_eq!(
            read(VERSION_1),
            [
                row("innodb_buffer_pool_size", "2147483648", Some("2023-11-14 22:13:20")),
                row("innodb_read_io_threads", "8", Some("2023-11-14 22:13:21")),
            ]
        );
    }

    #[test]
    fn reads_version_2_with_its_groups() {
        assert_eq!(
            read(VERSION_2),
            [
                row("innodb_page_cleaners", "2", None),
                row("performance_schema", "OFF", None),
                row("sync_binlog", "100", Some("2023-11-14 22:13:20")),
            ]
        );
    }

    #[test]
    fn nobodys_name_survives() {
        for text in [VERSION_1, VERSION_2] {
            let kept = format!("{:?}", parse(text, "p").unwrap());
            assert!(!kept.contains("ada") && !kept.contains("db7"), "{kept}");
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let error = |text: &str| parse(text, "d/mysqld-auto.cnf").unwrap_err().to_string();
        let message = error("{\"Version\": 1,\n \"mysql_server\": {");
        assert!(message.starts_with("d/mysqld-auto.cnf:2: not JSON at column 18"), "{message}");
        assert!(error("[]").contains("no \"Version\""));
        assert!(error("{\"Version\": 3}").contains("its version is 3"));
        assert!(error("{\"Version\": {}}").contains("not a number"));
        assert!(parse(&"[".repeat(100_000), "p").is_err());
    }

    /// The cases' expected values.
    #[test]
    fn reads_files_from_the_wild() {
        let root = std::env::var("INNOPOOL_CASES").unwrap_or_else(|_| {
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases").to_owned()
        });
        let read = |name: &str| {
            let path = format!("{root}/cnf/{name}");
            let Ok(text) = std::fs::read_to_string(&path) else {
                eprintln!("SKIPPED: no {path}");
                return None;
            };
            Some(entries(&text, name).unwrap())
        };
        let entry = |name: &str, value: &str, at: &str| Entry {
            name: name.to_owned(),
            value: value.to_owned(),
            set_at: Some(at.to_owned()),
        };
        if let Some(entries) = read("c13_mysqld_auto_v1_pre8028.json") {
            assert_eq!(entries.len(), 5);
            let back_log = entry("back_log", "100", "2021-10-11 07:34:33");
            assert!(entries.contains(&back_log), "{entries:?}");
            assert!(entries.contains(&entry("partial_revokes", "ON", "2021-10-11 07:34:13")));
        }
        if let Some(entries) = read("c14_mysqld_auto_v2_pre8034.json") {
            assert_eq!(entries, [entry("ssl_fips_mode", "ON", "2023-03-30 11:32:36")]);
        }
    }
}
