//! What a result set is, by the names of its columns.

use super::layout::Grid;
use super::listing::{ListingKind, Pair};
use crate::allow;
use crate::columns;
use crate::observation::Content;
use crate::read::pool_stats;
use crate::table::Table;

/// What a grid turned out to be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Names and values, status and variables perhaps mixed.
    Pairs(Vec<Pair>),
    /// A table of another kind.
    Content(Content),
}

/// The columns of innopool's own tables, and what they make.
type Maker = fn(Table) -> Content;
const OWN: &[(&[&str], Maker)] = &[
    (columns::ORIGINS, |table| Content::VariableOrigins(only_variables(table))),
    (columns::SCHEMA_SIZES, Content::SchemaSizes),
    (columns::FILE_IO, Content::FileIo),
    (columns::STATEMENTS, Content::Statements),
    (columns::DIGESTS, Content::Digests),
    (columns::MEMORY, Content::Memory),
    (columns::TRANSACTIONS, Content::Transactions),
    (columns::LATCHES, Content::Latches),
    (columns::HOST, Content::Host),
    (columns::NOT_READ, Content::NotRead),
];

/// Tells what a grid is; `None` for anything innopool does not read.
pub(crate) fn kind_of(grid: Grid) -> Option<Kind> {
    if let Some(table) = grid.with_heading()
        && let Some(kind) = by_heading(table)
    {
        return Some(kind);
    }
    let headless = grid.table.columns.iter().all(String::is_empty);
    if !headless {
        return by_heading(grid.table);
    }
    match grid.table.columns.len() {
        2 => Some(Kind::Pairs(pairs(&grid.table, 0, 1))).filter(is_some),
        pool_stats::COLUMN_COUNT => pool_stats::without_heading(grid.table)
            .map(|table| Kind::Content(Content::PoolStats(table))),
        _ => None,
    }
}

fn is_some(kind: &Kind) -> bool {
    !matches!(kind, Kind::Pairs(pairs) if pairs.is_empty())
}

fn by_heading(mut table: Table) -> Option<Kind> {
    for column in &mut table.columns {
        *column = column.trim_matches(['`', '*', ' ']).to_owned();
    }
    if let Some(maker) = own(&table) {
        return Some(Kind::Content(maker(table)));
    }
    let value = table.column("value").or_else(|| table.column("variable_value"));
    if let (Some(name), Some(value)) = (table.column("variable_name"), value) {
        return Some(Kind::Pairs(pairs(&table, name, value)));
    }
    if let Some(stats) = pool_stats::keep(&table) {
        return Some(Kind::Content(Content::PoolStats(stats)));
    }
    if let (Some(name), Some(count)) = (table.column("name"), table.column("count")) {
        return metrics(&table, name, count).map(|table| Kind::Content(Content::Metrics(table)));
    }
    selected_variables(&table)
}

/// The rows whose first cell is an allow-listed variable.
fn only_variables(mut table: Table) -> Table {
    table.rows.retain(|row| {
        let name = row.cells.first().and_then(Option::as_deref);
        name.is_some_and(allow::is_variable)
    });
    table
}

fn own(table: &Table) -> Option<Maker> {
    OWN.iter()
        .find(|(columns, _)| {
            columns.len() == table.columns.len()
                && columns
                    .iter()
                    .zip(&table.columns)
                    .all(|(own, printed)| own.eq_ignore_ascii_case(printed))
        })
        .map(|(_, maker)| *maker)
}

fn pairs(table: &Table, name: usize, value: usize) -> Vec<Pair> {
    let cell = |row: &crate::table::Row, at: usize| row.cells.get(at).cloned().flatten();
    let rows: Vec<(String, String, usize)> = table
        .rows
        .iter()
        .filter_map(|row| {
            let line = row.line.unwrap_or(0).saturating_sub(1) as usize;
            Some((cell(row, name)?, cell(row, value).unwrap_or_default(), line))
        })
        // An assignment with tabs around its sign is a line of an option file.
        .filter(|(_, value, _)| !value.starts_with('='))
        .collect();
    let hint = hint(&rows);
    rows.iter().filter_map(|(name, value, line)| Pair::new(name, value, *line, hint)).collect()
}

/// What the names that are of one kind only say of the whole listing.
fn hint(rows: &[(String, String, usize)]) -> Option<ListingKind> {
    let plain = |name: &str, kind: ListingKind| match kind {
        ListingKind::Status => allow::is_status(name) && !allow::is_variable(name),
        ListingKind::Variables => allow::is_variable(name) && !allow::is_status(name),
    };
    let any = |kind| rows.iter().any(|(name, _, _)| plain(name, kind));
    match (any(ListingKind::Status), any(ListingKind::Variables)) {
        (true, false) => Some(ListingKind::Status),
        (false, true) => Some(ListingKind::Variables),
        _ => None,
    }
}

/// `INFORMATION_SCHEMA.INNODB_METRICS`, whatever other columns were selected.
fn metrics(table: &Table, name: usize, count: usize) -> Option<Table> {
    let mut kept = Table::new(["name", "count"]);
    for row in &table.rows {
        let (Some(Some(name)), Some(count)) = (row.cells.get(name), row.cells.get(count)) else {
            continue;
        };
        let lower = name.to_ascii_lowercase();
        if allow::METRICS.contains(&lower.as_str()) {
            kept.push([Some(lower), count.clone()]);
            if let Some(last) = kept.rows.last_mut() {
                last.line = row.line;
            }
        }
    }
    (!kept.rows.is_empty()).then_some(kept)
}

/// `SELECT @@innodb_buffer_pool_size, @@version`.
fn selected_variables(table: &Table) -> Option<Kind> {
    let row = table.rows.first()?;
    let line = row.line.unwrap_or(0).saturating_sub(1) as usize;
    let pairs: Vec<Pair> = table
        .columns
        .iter()
        .zip(&row.cells)
        .filter_map(|(column, cell)| {
            let name = column.strip_prefix("@@")?;
            let name = ["global.", "GLOBAL."]
                .iter()
                .find_map(|scope| name.strip_prefix(scope))
                .unwrap_or(name);
            let hint = Some(ListingKind::Variables);
            Pair::new(name, cell.as_deref()?, line, hint)
                .filter(|pair| pair.kind == ListingKind::Variables)
        })
        .collect();
    Some(Kind::Pairs(pairs)).filter(is_some)
}
