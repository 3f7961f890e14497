//! Result tables folded into the evidence of their moment. A row that lacks a number it must have
//! is left out and named; it never becomes a zero.

use std::sync::Arc;

use crate::evidence::{
    DataSize, Evidence, FileIo, FileKind, LatchWaits, SchemaSize, ServerMemory, StatementDigest,
    StatementTotals, Transactions,
};
use crate::observation::GaugeSample;
use crate::provenance::{NotRead, Source};
use crate::status::GlobalStatus;
use crate::table::{Row, Table};
use crate::variables::{Origin, SetBy, Variables};

/// The first two cells: a name, and a value that is not NULL.
fn name_and_value(row: &Row) -> Option<(&str, &str)> {
    let name = row.cells.first()?.as_deref()?.trim();
    let value = row.cells.get(1)?.as_deref()?;
    (!name.is_empty()).then_some((name, value))
}

/// Where a value of `row` stands.
fn source_of(place: &Arc<str>, row: &Row, name: &str) -> Source {
    Source { place: Arc::clone(place), line: row.line, name: name.to_owned() }
}

/// Adds the allowed variables of a name and value table.
pub(super) fn variables(variables: &mut Variables, table: &Table, place: &Arc<str>) {
    for row in &table.rows {
        if let Some((name, value)) = name_and_value(row)
            && crate::allow::is_variable(name)
        {
            variables.insert(name, value, source_of(place, row, name));
        }
    }
}

/// Adds the `kept` values of a name and value table.
pub(super) fn status(
    status: &mut GlobalStatus,
    table: &Table,
    place: &Arc<str>,
    kept: impl Fn(&str) -> bool,
) {
    for row in &table.rows {
        if let Some((name, value)) = name_and_value(row)
            && kept(name)
        {
            status.insert(name, value, source_of(place, row, name));
        }
    }
}

/// Tells where the variables got their values, once all variables are known.
pub(super) fn apply_origins(variables: &mut Variables, origins: &[(Table, Arc<str>)]) {
    for (table, _) in origins {
        for row in &table.rows {
            let cell = |name| table.cell(row, name).filter(|text| !text.is_empty());
            let Some(variable) =
                cell("variable_name").and_then(|name| variables.get_mut(name.trim()))
            else {
                continue;
            };
            variable.origin = origin(cell("origin"), cell("path"));
            variable.set_at = cell("set_at").map(str::to_owned);
            variable.set_by = match cell("set_by") {
                Some("this") => Some(SetBy::ThisAccount),
                Some("another") => Some(SetBy::AnotherAccount(None)),
                _ => None,
            };
        }
    }
}

fn origin(word: Option<&str>, path: Option<&str>) -> Origin {
    match (word.unwrap_or_default(), path) {
        ("compiled", _) => Origin::Compiled,
        ("auto", _) => Origin::Auto,
        ("file", Some(path)) => Origin::File(path.to_owned()),
        ("command_line", _) => Origin::CommandLine,
        ("persisted", _) => Origin::Persisted,
        ("dynamic", _) => Origin::Dynamic,
        _ => Origin::Unknown,
    }
}

/// Names a row that lacks a number.
fn incomplete(evidence: &mut Evidence, what: String, place: &Arc<str>) {
    let why = format!("a number is missing or not readable in {place}");
    evidence.not_read.push(NotRead::new(what, why));
}

/// `schema_name, tablespaces, file_bytes`.
pub(super) fn schema_sizes(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    let mut schemas = Vec::new();
    for row in &table.rows {
        let Some(schema) = table.cell(row, "schema_name") else {
            continue;
        };
        let numbers = (table.number(row, "tablespaces"), table.number(row, "file_bytes"));
        match numbers {
            (Some(tablespaces), Some(file_bytes)) => {
                schemas.push(SchemaSize { schema: schema.to_owned(), tablespaces, file_bytes })
            }
            _ => incomplete(evidence, format!("size of schema {schema}"), place),
        }
    }
    schemas
        .sort_by(|a, b| (b.file_bytes, a.schema.as_str()).cmp(&(a.file_bytes, b.schema.as_str())));
    evidence.data =
        Some(DataSize { schemas, source: Source::new(Arc::clone(place), "file_bytes") });
}

/// A row per kind of file.
pub(super) fn file_io(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    for row in &table.rows {
        let kind = match table.cell(row, "kind") {
            Some("data") => FileKind::Data,
            Some("redo_log") => FileKind::RedoLog,
            Some("binary_log") => FileKind::BinaryLog,
            Some("doublewrite") => FileKind::Doublewrite,
            _ => continue,
        };
        match file_io_row(table, row, kind, place) {
            Some(io) => {
                evidence.file_io.retain(|known| known.kind != kind);
                evidence.file_io.push(io);
            }
            None => incomplete(evidence, format!("file I/O ({kind:?})"), place),
        }
    }
}

fn file_io_row(table: &Table, row: &Row, kind: FileKind, place: &Arc<str>) -> Option<FileIo> {
    Some(FileIo {
        kind,
        reads: table.number(row, "reads")?,
        read_seconds: seconds(table, row, "read_seconds")?,
        read_bytes: table.number(row, "read_bytes")?,
        writes: table.number(row, "writes")?,
        write_seconds: seconds(table, row, "write_seconds")?,
        syncs: table.number(row, "syncs")?,
        sync_seconds: seconds(table, row, "sync_seconds")?,
        source: source_of(place, row, table.cell(row, "kind").unwrap_or_default()),
    })
}

/// A time that passed: not negative.
fn seconds(table: &Table, row: &Row, name: &str) -> Option<f64> {
    table.decimal(row, name).filter(|seconds| *seconds >= 0.0)
}

/// `count, seconds`, one row.
pub(super) fn statements(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    let Some(row) = table.rows.first() else {
        return;
    };
    match (table.number(row, "count"), seconds(table, row, "seconds")) {
        (Some(count), Some(seconds)) => {
            evidence.statements =
                Some(StatementTotals { count, seconds, source: source_of(place, row, "count") });
        }
        _ => incomplete(evidence, "statement time".to_owned(), place),
    }
}

/// `digest, count, seconds`.
pub(super) fn digests(evidence: &mut Evidence, table: &Table) {
    evidence.digests = table
        .rows
        .iter()
        .filter_map(|row| {
            Some(StatementDigest {
                digest: table.cell(row, "digest")?.to_owned(),
                count: table.number(row, "count")?,
                seconds: seconds(table, row, "seconds")?,
            })
        })
        .collect();
}

/// `total_bytes, buffer_pool_bytes`, one row.
pub(super) fn memory(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    let Some(row) = table.rows.first() else {
        return;
    };
    let numbers = (table.number(row, "total_bytes"), table.number(row, "buffer_pool_bytes"));
    match numbers {
        (Some(total_bytes), Some(buffer_pool_bytes)) => {
            evidence.memory = Some(ServerMemory {
                total_bytes,
                buffer_pool_bytes,
                source: source_of(place, row, "total_bytes"),
            });
        }
        _ => incomplete(evidence, "the server's account of its memory".to_owned(), place),
    }
}

/// `open, oldest_seconds`, one row. Without an open transaction the age of the oldest is NULL.
pub(super) fn transactions(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    let Some(row) = table.rows.first() else {
        return;
    };
    match (table.number(row, "open"), table.number(row, "oldest_seconds")) {
        (Some(open), oldest) if oldest.is_some() || open == 0 => {
            evidence.transactions = Some(Transactions {
                open,
                oldest_seconds: oldest.unwrap_or(0),
                source: source_of(place, row, "open"),
            });
        }
        _ => incomplete(evidence, "open transactions".to_owned(), place),
    }
}

/// `name, waits`.
pub(super) fn latches(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    evidence.latches = table
        .rows
        .iter()
        .filter_map(|row| {
            let name = table.cell(row, "name")?;
            Some(LatchWaits {
                name: name.to_owned(),
                waits: table.number(row, "waits")?,
                source: source_of(place, row, name),
            })
        })
        .collect();
}

/// `name, value, source`, the names being fields of [`crate::host::Host`].
pub(super) fn host(evidence: &mut Evidence, table: &Table, place: &Arc<str>) {
    let mut host = evidence.host.take().unwrap_or_default();
    for row in &table.rows {
        let (Some(name), Some(value)) = (table.cell(row, "name"), table.cell(row, "value")) else {
            continue;
        };
        let source = crate::host::parse_source(table.cell(row, "source"), place, name);
        if let Err(why) = crate::host::set(&mut host, name.trim(), value, source) {
            let what = format!("{name} of the host");
            evidence.not_read.push(NotRead::new(what, format!("{place}: {why}")));
        }
    }
    evidence.host = Some(host);
}

/// Light samples; rows without a time are of no use and left out.
pub(super) fn gauges(table: &Table, place: &Arc<str>) -> Vec<GaugeSample> {
    const TIME: &str = "taken_unix_seconds";
    let sample = |row: &Row| {
        let taken_unix_seconds = table.decimal(row, TIME)?;
        let mut status = GlobalStatus::default();
        for name in &table.columns {
            if crate::allow::is_status(name)
                && let Some(value) = table.cell(row, name)
            {
                status.insert(name, value, source_of(place, row, name));
            }
        }
        Some(GaugeSample { taken_unix_seconds, status })
    };
    table.rows.iter().filter_map(sample).collect()
}

/// `what, why`.
pub(super) fn not_read(entries: &mut Vec<NotRead>, table: &Table) {
    for row in &table.rows {
        if let Some(what) = table.cell(row, "what") {
            let why = table.cell(row, "why").unwrap_or("no reason given");
            entries.push(NotRead::new(what, why));
        }
    }
}
