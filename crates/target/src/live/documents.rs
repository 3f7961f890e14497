//! From the rows of a statement to a [`Content`]: names made equal between servers, values left as
//! they were printed.

use std::collections::BTreeMap;

use crate::live::statements::Kind;
use crate::observation::Content;
use crate::read::innodb_status::keep_pool_sections;
use crate::table::Table;

/// The document of a statement; `None` when its rows hold nothing to keep.
pub(crate) fn content(kind: Kind, table: Table) -> Option<Content> {
    if table.rows.is_empty() && !may_be_empty(kind) {
        return None;
    }
    Some(match kind {
        Kind::Variables => Content::Variables(table),
        Kind::MysqlOrigins => Content::VariableOrigins(origins(&table, mysql_origin)),
        Kind::MariadbOrigins => Content::VariableOrigins(origins(&table, mariadb_origin)),
        Kind::Status => Content::Status(table),
        Kind::PoolStats => Content::PoolStats(table),
        Kind::Metrics => Content::Metrics(table),
        Kind::InnodbStatus => {
            let text = table.cell(table.rows.first()?, "Status")?;
            Content::InnodbStatus(keep_pool_sections(text))
        }
        Kind::Persisted => Content::Persisted(table),
        Kind::SchemaSizes => Content::SchemaSizes(with_plain_names(table)),
        Kind::FileIo => Content::FileIo(table),
        Kind::Statements => Content::Statements(table),
        Kind::Digests => Content::Digests(table),
        Kind::Memory => {
            // MySQL 5.7 counts next to nothing by default, and a part is no account.
            table.number(table.rows.first()?, "buffer_pool_bytes").filter(|bytes| *bytes > 0)?;
            Content::Memory(table)
        }
        Kind::Transactions => Content::Transactions(table),
        Kind::Latches => Content::Latches(latches(&table)),
    })
}

/// Kinds of which no rows is an answer too.
fn may_be_empty(kind: Kind) -> bool {
    matches!(kind, Kind::Persisted | Kind::Digests | Kind::Metrics | Kind::Latches)
}

/// Why a statement gave nothing to keep.
pub(crate) fn why_nothing(kind: Kind) -> &'static str {
    match kind {
        Kind::Memory => "the server counts its memory only with the instruments memory/% on",
        _ => "the server gave no rows",
    }
}

fn origins(table: &Table, origin: impl Fn(&str) -> Option<&'static str>) -> Table {
    let mut result = Table::new(["variable_name", "origin", "path", "set_at", "set_by"]);
    for row in &table.rows {
        let cell = |name| table.cell(row, name).filter(|text| !text.is_empty());
        let name = cell("variable_name").map(str::to_ascii_lowercase);
        let origin = cell("origin").and_then(&origin);
        let others = ["path", "set_at", "set_by"].map(|name| cell(name).map(str::to_owned));
        result.push([name, origin.map(str::to_owned)].into_iter().chain(others));
    }
    result
}

/// `variables_info.VARIABLE_SOURCE`. After `SET PERSIST` it is `DYNAMIC` until the next start.
fn mysql_origin(source: &str) -> Option<&'static str> {
    Some(match source {
        "COMPILED" => "compiled",
        "GLOBAL" | "SERVER" | "EXPLICIT" | "EXTRA" | "USER" | "LOGIN" => "file",
        "COMMAND_LINE" => "command_line",
        "PERSISTED" => "persisted",
        "DYNAMIC" => "dynamic",
        _ => return None,
    })
}

/// `SYSTEM_VARIABLES.GLOBAL_VALUE_ORIGIN`.
fn mariadb_origin(origin: &str) -> Option<&'static str> {
    Some(match origin {
        "COMPILE-TIME" => "compiled",
        "CONFIG" => "file",
        "COMMAND-LINE" => "command_line",
        "AUTO" => "auto",
        "SQL" => "dynamic",
        _ => return None,
    })
}

/// Schemas under the names that people gave them.
fn with_plain_names(mut table: Table) -> Table {
    let Some(column) = table.column("schema_name") else {
        return table;
    };
    for row in &mut table.rows {
        if let Some(Some(name)) = row.cells.get_mut(column) {
            *name = plain_name(name);
        }
    }
    table
}

/// A name as a file has it, back as it is typed: `my@002dshop` is `my-shop`.
fn plain_name(file_name: &str) -> String {
    let mut name = String::with_capacity(file_name.len());
    let mut rest = file_name;
    while let Some((before, after)) = rest.split_once('@') {
        name.push_str(before);
        let decoded = after.get(..4).filter(|digits| digits.bytes().all(is_lower_hex));
        let decoded = decoded
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32);
        match decoded {
            Some(character) => {
                name.push(character);
                rest = &after[4..];
            }
            None => {
                name.push('@');
                rest = after;
            }
        }
    }
    name.push_str(rest);
    name
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// The pool's latches of `SHOW ENGINE INNODB MUTEX`: lines such as `rwlock: hash0hash.cc:117` and
/// `sum rwlock: buf0buf.cc:853` with `waits=77`, several of one kind added up. A line number is
/// another in each version, so it goes.
fn latches(table: &Table) -> Table {
    let mut waits: BTreeMap<&'static str, u64> = BTreeMap::new();
    for row in &table.rows {
        let name = table.cell(row, "Name").and_then(pool_latch);
        let count = table.cell(row, "Status").and_then(waits_of);
        if let (Some(name), Some(count)) = (name, count) {
            let sum = waits.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    let mut result = Table::new(["name", "waits"]);
    // No line is a latch that nobody waited for.
    for name in [PAGE_LATCHES, PAGE_HASH] {
        waits.entry(name).or_default();
    }
    for (name, count) in waits {
        result.push([Some(name.to_owned()), Some(count.to_string())]);
    }
    result
}

const PAGE_LATCHES: &str = "page latches (buf0buf.cc)";
const PAGE_HASH: &str = "page hash (hash0hash.cc)";
const POOL_MUTEXES: &str = "pool mutexes (BUF_POOL)";

fn pool_latch(name: &str) -> Option<&'static str> {
    if name.contains("hash0hash") {
        Some(PAGE_HASH)
    } else if name.contains("buf0buf") {
        Some(PAGE_LATCHES)
    } else if name.contains("BUF_POOL") || name.contains("BUF_BLOCK") || name.contains("buf_pool") {
        Some(POOL_MUTEXES)
    } else {
        None
    }
}

/// `waits=77`, also among other such words: `spins=1,waits=2,calls=3`.
fn waits_of(status: &str) -> Option<u64> {
    status.split(',').find_map(|word| word.trim().strip_prefix("waits="))?.parse().ok()
}

/// One row of gauges from `SHOW GLOBAL STATUS`: the time, then the values under the names of
/// [`crate::allow::GAUGES`].
pub(crate) fn gauge_columns() -> Vec<&'static str> {
    [&["taken_unix_seconds"], crate::allow::GAUGES].concat()
}

/// The cells of [`gauge_columns`] at a time.
pub(crate) fn gauge_row(status: &Table, taken_unix_seconds: f64) -> Vec<Option<String>> {
    let value = |wanted: &&str| {
        let row = status.rows.iter().find(|row| {
            let name = row.cells.first().and_then(Option::as_deref);
            name.is_some_and(|name| name.eq_ignore_ascii_case(wanted))
        })?;
        row.cells.get(1)?.clone()
    };
    let time = Some(format!("{taken_unix_seconds:.3}"));
    [time].into_iter().chain(crate::allow::GAUGES.iter().map(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
        let mut table = Table::new(columns.iter().copied());
        for row in rows {
            table.push(row.iter().map(|cell| Some((*cell).to_owned())));
        }
        table
    }

    #[test]
    fn origins_of_both_servers_are_one_vocabulary() {
        let mysql = table(
            &["variable_name", "origin", "path", "set_at", "set_by"],
            &[
                &["innodb_io_capacity", "DYNAMIC", "", "2026-11-30 23:28:29.062961", "this"],
                &["port", "EXPLICIT", "/etc/my.cnf", "", ""],
            ],
        );
        let Some(Content::VariableOrigins(result)) = content(Kind::MysqlOrigins, mysql) else {
            panic!("no origins");
        };
        let row = &result.rows[0];
        assert_eq!(result.cell(row, "origin"), Some("dynamic"));
        assert_eq!(result.cell(row, "path"), None);
        assert_eq!(result.cell(row, "set_by"), Some("this"));
        assert_eq!(result.cell(&result.rows[1], "origin"), Some("file"));
        assert_eq!(result.cell(&result.rows[1], "path"), Some("/etc/my.cnf"));

        let mariadb = table(&["variable_name", "origin", "path"], &[&["PORT", "SQL", ""]]);
        let Some(Content::VariableOrigins(result)) = content(Kind::MariadbOrigins, mariadb) else {
            panic!("no origins");
        };
        assert_eq!(result.cell(&result.rows[0], "variable_name"), Some("port"));
        assert_eq!(result.cell(&result.rows[0], "origin"), Some("dynamic"));
    }

    #[test]
    fn keeps_the_pools_latches_alone() {
        let rows = table(
            &["Type", "Name", "Status"],
            &[
                &["InnoDB", "rwlock: fil0fil.cc:3250", "waits=2"],
                &["InnoDB", "rwlock: hash0hash.cc:117", "waits=77"],
                &["InnoDB", "rwlock: hash0hash.cc:117", "waits=22"],
                &["InnoDB", "sum rwlock: buf0buf.cc:853", "waits=166"],
            ],
        );
        let result = latches(&rows);
        let lines: Vec<_> = result.rows.iter().map(|row| row.cells.clone()).collect();
        let line = |name: &str, waits: &str| vec![Some(name.to_owned()), Some(waits.to_owned())];
        assert_eq!(lines, [line(PAGE_HASH, "99"), line(PAGE_LATCHES, "166")]);
    }

    #[test]
    fn file_names_become_schema_names() {
        assert_eq!(plain_name("my@002dshop"), "my-shop");
        assert_eq!(plain_name("a@b"), "a@b");
        assert_eq!(plain_name("@"), "@");
        assert_eq!(plain_name("x@d83dé"), "x@d83dé");
    }

    #[test]
    fn a_row_of_gauges_has_a_cell_for_each() {
        let status = table(&["Variable_name", "Value"], &[&["Threads_running", "3"]]);
        let row = gauge_row(&status, 12.5);
        assert_eq!(row.len(), gauge_columns().len());
        assert_eq!(row[0].as_deref(), Some("12.500"));
        assert_eq!(row.iter().flatten().count(), 2);
    }

    #[test]
    fn memory_that_is_not_counted_is_not_told() {
        let rows = table(&["total_bytes", "buffer_pool_bytes"], &[&["1000", "0"]]);
        assert_eq!(content(Kind::Memory, rows), None);
    }
}
