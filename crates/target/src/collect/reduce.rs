//! The second line of defence: whatever a document holds, only what innopool reads of its kind is
//! written. Reducing twice is the same as reducing once.

use serde_json::{Map, Value};

use crate::allow;
use crate::columns;
use crate::keep;
use crate::observation::{Content, Document};
use crate::read;
use crate::table::Table;

/// What may be written of a document.
pub(super) fn reduce(document: &Document) -> Vec<Document> {
    let kept = |content| vec![Document { content, ..document.clone() }];
    kept(match &document.content {
        Content::Variables(table) => Content::Variables(pairs(table, allow::is_variable)),
        Content::Persisted(table) => Content::Persisted(pairs(table, allow::is_variable)),
        Content::Status(table) => Content::Status(pairs(table, allow::is_status)),
        Content::Metrics(table) => {
            let shaped = shaped(table, columns::METRICS);
            Content::Metrics(pairs(&shaped, allow::is_metric))
        }
        Content::VariableOrigins(table) => Content::VariableOrigins(origins(table)),
        Content::SchemaSizes(table) => Content::SchemaSizes(shaped(table, columns::SCHEMA_SIZES)),
        Content::FileIo(table) => Content::FileIo(shaped(table, columns::FILE_IO)),
        Content::Statements(table) => Content::Statements(shaped(table, columns::STATEMENTS)),
        Content::Digests(table) => Content::Digests(shaped(table, columns::DIGESTS)),
        Content::Memory(table) => Content::Memory(shaped(table, columns::MEMORY)),
        Content::Transactions(table) => Content::Transactions(shaped(table, columns::TRANSACTIONS)),
        Content::Latches(table) => Content::Latches(shaped(table, columns::LATCHES)),
        Content::Host(table) => Content::Host(shaped(table, columns::HOST)),
        Content::NotRead(table) => Content::NotRead(shaped(table, columns::NOT_READ)),
        Content::Gauges(table) => Content::Gauges(with_columns(table, |name| {
            name == columns::TAKEN || allow::is_status(name)
        })),
        Content::OptionFile(text) => Content::OptionFile(keep::option_file(text)),
        Content::MysqldAuto(text) => Content::MysqldAuto(mysqld_auto(text)),
        Content::PoolStats(table) => {
            Content::PoolStats(read::pool_stats::keep(table).unwrap_or_default())
        }
        Content::InnodbStatus(text) => {
            Content::InnodbStatus(read::innodb_status::keep_pool_sections(text))
        }
        Content::Meminfo(text) => Content::Meminfo(meminfo(text)),
        Content::ErrorLog(text) => Content::ErrorLog(read::error_log::keep_events(text)),
        // What was understood of it, as the server itself would have said it.
        Content::Exporter(_) => {
            return crate::build::expand_exporter(document.clone())
                .iter()
                .flat_map(reduce)
                .collect();
        }
    })
}

/// The first two columns, of rows whose name is `allowed`.
fn pairs(table: &Table, allowed: impl Fn(&str) -> bool) -> Table {
    let mut kept = Table::new(table.columns.iter().take(2).cloned());
    for row in &table.rows {
        let name = row.cells.first().and_then(Option::as_deref);
        if name.is_some_and(|name| allowed(name.trim())) {
            let mut row = row.clone();
            row.cells.resize(kept.columns.len(), None);
            kept.rows.push(row);
        }
    }
    kept
}

/// The columns of these names, in this order.
fn shaped(table: &Table, names: &[&str]) -> Table {
    let at: Vec<(usize, &str)> =
        names.iter().filter_map(|name| Some((table.column(name)?, *name))).collect();
    let mut kept = Table::new(at.iter().map(|(_, name)| *name));
    if !kept.columns.is_empty() {
        for row in &table.rows {
            kept.push(at.iter().map(|(at, _)| row.cells.get(*at).cloned()?));
            if let Some(last) = kept.rows.last_mut() {
                last.line = row.line;
            }
        }
    }
    kept
}

/// The columns whose name is `allowed`, as they stand.
fn with_columns(table: &Table, allowed: impl Fn(&str) -> bool) -> Table {
    let names: Vec<&str> =
        table.columns.iter().map(String::as_str).filter(|name| allowed(name)).collect();
    shaped(table, &names)
}

/// The lines innopool reads, on their numbers.
fn meminfo(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        kept.push_str(&read::meminfo::keep_line(line));
        kept.push('\n');
    }
    kept
}

fn origins(table: &Table) -> Table {
    let mut kept = shaped(table, columns::ORIGINS);
    let rows = std::mem::take(&mut kept.rows);
    kept.rows = rows
        .into_iter()
        .filter(|row| {
            let name = kept.cell(row, "variable_name");
            name.is_some_and(allow::is_variable)
        })
        .collect();
    kept
}

/// Allowed variables with their value and time, in the groups they stand in. Who set them is not
/// kept. A text that is not JSON becomes an empty one, which is not JSON either.
fn mysqld_auto(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(root)) => {
            let mut kept = persisted_group(&root);
            if let Some(version @ Value::Number(_)) = root.get("Version") {
                kept.insert("Version".to_owned(), version.clone());
            }
            let mut text = serde_json::to_string_pretty(&kept).unwrap_or_default();
            text.push('\n');
            text
        }
        _ => String::new(),
    }
}

/// Groups may be nested; serde_json bounds how deep.
fn persisted_group(group: &Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in group {
        let Value::Object(entry) = value else {
            continue;
        };
        match entry.get("Value") {
            Some(value @ Value::String(_)) if allow::is_variable(name) => {
                let mut variable = Map::new();
                variable.insert("Value".to_owned(), value.clone());
                if let Some(time @ Value::Number(_)) =
                    entry.get("Metadata").and_then(|metadata| metadata.get("Timestamp"))
                {
                    let metadata = Map::from_iter([("Timestamp".to_owned(), time.clone())]);
                    variable.insert("Metadata".to_owned(), Value::Object(metadata));
                }
                kept.insert(name.clone(), Value::Object(variable));
            }
            Some(Value::String(_)) => {}
            _ => {
                let inner = persisted_group(entry);
                if name.starts_with("mysql_") || !inner.is_empty() {
                    kept.insert(name.clone(), Value::Object(inner));
                }
            }
        }
    }
    kept
}
