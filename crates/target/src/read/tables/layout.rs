//! Grids of cells: boxed and markdown tables, `\G` listings, tab-separated lines.

use std::ops::Range;

use crate::read::source::{Lines, is_vertical_row_mark};
use crate::table::{Row, Table};

/// A result set as printed, before anyone knows what it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// Its cells. The columns have empty names when no heading was printed.
    pub(crate) table: Table,
    /// True when the first row may be the heading.
    pub(crate) heading_unsure: bool,
}

/// Most columns a result set of ours has by far.
const MAX_COLUMNS: usize = 256;

/// The grid that begins at line `at`, and the lines it takes; `until` bounds it.
pub(crate) fn grid_at(lines: &Lines<'_>, at: usize, until: usize) -> Option<(Grid, Range<usize>)> {
    let raw = lines.raw(at);
    let (grid, end) = if is_border(raw) || is_boxed_row(raw) {
        boxed(lines, at, until)
    } else if is_vertical_row_mark(raw) || is_first_statistic(lines.tidy(at)) {
        vertical(lines, at, until)
    } else if raw.contains('\t') {
        tabbed(lines, at, until)
    } else {
        return None;
    };
    Some((grid, at..end.max(at + 1)))
}

/// `+-----+----+`, or markdown's `|---|:--|`.
fn is_border(raw: &str) -> bool {
    let raw = raw.trim();
    raw.len() >= 3
        && raw.starts_with(['+', '|'])
        && raw.contains("--")
        && raw.bytes().all(|b| b"+-|: ".contains(&b))
}

fn is_boxed_row(raw: &str) -> bool {
    raw.trim_start().starts_with('|') && !is_border(raw)
}

/// The first line of a pool statistics listing whose row mark was not copied.
fn is_first_statistic(tidy: &str) -> bool {
    tidy.starts_with("pool_id:")
}

fn boxed(lines: &Lines<'_>, at: usize, until: usize) -> (Grid, usize) {
    let mut rows: Vec<(Vec<&str>, usize)> = Vec::new();
    let mut borders = 0;
    let mut heading = None;
    let mut end = at;
    while end < until {
        let raw = lines.raw(end);
        if is_border(raw) {
            borders += 1;
            if rows.len() == 1 && heading.is_none() {
                heading = rows.pop().map(|(cells, _)| cells);
            } else if !rows.is_empty() {
                end += 1;
                break;
            } else if borders > 2 {
                // An empty table; this border begins the next one.
                break;
            }
        } else if is_boxed_row(raw) {
            rows.push((boxed_cells(raw), end));
        } else {
            break;
        }
        end += 1;
    }
    let markdown = rows
        .iter()
        .map(|(cells, _)| cells)
        .chain(&heading)
        .any(|cells| cells.first().is_some_and(|cell| cell.contains("\\_")));
    let columns = heading
        .as_ref()
        .map_or_else(|| rows.iter().map(|(cells, _)| cells.len()).min().unwrap_or(0), Vec::len);
    let clean = |cell: &str| {
        if markdown { cell.replace("\\_", "_").replace("\\*", "*") } else { cell.to_owned() }
    };
    let rows = rows
        .into_iter()
        .map(|(cells, line)| {
            // A bar inside the last value does not end it.
            let cells = if cells.len() > columns && columns == 2 {
                two_cells(lines.raw(line))
            } else {
                cells
            };
            (cells.into_iter().map(clean).collect(), line)
        })
        .collect();
    let heading = heading.map(|cells| cells.into_iter().map(clean).collect());
    (grid(heading, columns, rows, false), end)
}

fn boxed_cells(raw: &str) -> Vec<&str> {
    inner(raw).split('|').take(MAX_COLUMNS).map(str::trim).collect()
}

fn two_cells(raw: &str) -> Vec<&str> {
    let (first, second) = inner(raw).split_once('|').unwrap_or((inner(raw), ""));
    vec![first.trim(), second.trim()]
}

/// A boxed row without its outer bars.
fn inner(raw: &str) -> &str {
    let raw = raw.trim();
    let raw = raw.strip_prefix('|').unwrap_or(raw);
    raw.strip_suffix('|').unwrap_or(raw)
}

fn vertical(lines: &Lines<'_>, at: usize, until: usize) -> (Grid, usize) {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows: Vec<(Vec<Option<&str>>, usize)> = Vec::new();
    let mut end = at;
    while end < until {
        let raw = lines.raw(end);
        let begins = is_vertical_row_mark(raw);
        if begins || is_first_statistic(lines.tidy(end)) {
            let marked = rows.last().is_some_and(|(cells, _)| cells.is_empty());
            if begins || !marked {
                rows.push((Vec::new(), end));
            }
        }
        if !begins {
            let Some((name, value)) = named_value(raw) else {
                break;
            };
            let position = columns.iter().position(|column| *column == name);
            let position = match position {
                Some(position) => position,
                None if columns.len() < MAX_COLUMNS => {
                    columns.push(name);
                    columns.len() - 1
                }
                None => break,
            };
            if let Some((cells, _)) = rows.last_mut() {
                if cells.len() <= position {
                    cells.resize(position + 1, None);
                }
                if let Some(cell) = cells.get_mut(position) {
                    *cell = Some(value);
                }
            }
        }
        end += 1;
    }
    let mut table = Table::new(columns.iter().map(|name| name.replace("\\_", "_")));
    for (cells, line) in rows.into_iter().filter(|(cells, _)| !cells.is_empty()) {
        let cells: Vec<Option<String>> =
            cells.into_iter().map(|cell| cell.and_then(not_null)).collect();
        push(&mut table, cells, line);
    }
    let grid = Grid { table, heading_unsure: false };
    (grid, end)
}

/// `   NAME: value` of a `\G` listing.
fn named_value(raw: &str) -> Option<(&str, &str)> {
    let (name, value) = raw.split_once(':')?;
    let name = name.trim();
    let plain = !name.is_empty() && name.len() <= 80 && !name.contains("  ");
    plain.then_some((name, value.trim()))
}

/// From so many rows on, a listing without headings that begins anew is read as another one, so that
/// memory stays small.
const ROWS_BEFORE_REPEAT: usize = 10_000;

fn tabbed(lines: &Lines<'_>, at: usize, until: usize) -> (Grid, usize) {
    let mut rows: Vec<(Vec<String>, usize)> = Vec::new();
    let mut columns = 0;
    let mut last = at;
    for line in at..until {
        if !lines.raw(line).contains('\t') {
            break;
        }
        let cells: Vec<String> = lines
            .raw(line)
            .split('\t')
            .take(MAX_COLUMNS)
            .map(|cell| cell.trim().to_owned())
            .collect();
        if line == at {
            columns = cells.len();
        } else if cells.len() != columns || is_heading(&cells) {
            // Another result set begins.
            break;
        } else if rows.len() >= ROWS_BEFORE_REPEAT
            && rows.first().is_some_and(|(first, _)| first.first() == cells.first())
        {
            // The same listing over and over: what was read so far is put away first.
            break;
        }
        rows.push((cells, line));
        last = line + 1;
    }
    (grid(None, columns, rows, true), last)
}

/// Headings after which a new listing begins even without a line between.
fn is_heading(cells: &[String]) -> bool {
    cells.first().is_some_and(|cell| {
        cell.eq_ignore_ascii_case("variable_name") || cell.eq_ignore_ascii_case("pool_id")
    })
}

fn grid(
    heading: Option<Vec<String>>,
    columns: usize,
    rows: Vec<(Vec<String>, usize)>,
    heading_unsure: bool,
) -> Grid {
    let mut table = Table {
        columns: heading.unwrap_or_else(|| vec![String::new(); columns]),
        rows: Vec::with_capacity(rows.len()),
    };
    for (cells, line) in rows {
        let cells = cells.iter().map(|cell| not_null(cell)).collect();
        push(&mut table, cells, line);
    }
    Grid { table, heading_unsure }
}

fn not_null(cell: &str) -> Option<String> {
    (cell != "NULL" && cell != "\\N").then(|| cell.to_owned())
}

fn push(table: &mut Table, mut cells: Vec<Option<String>>, line: usize) {
    cells.resize(table.columns.len(), None);
    table.rows.push(Row { cells, line: u32::try_from(line + 1).ok() });
}

impl Grid {
    /// The grid with its first row as heading, where that may be so.
    pub(crate) fn with_heading(&self) -> Option<Table> {
        let (first, rest) = self.table.rows.split_first()?;
        if !self.heading_unsure {
            return None;
        }
        Some(Table {
            columns: first.cells.iter().map(|cell| cell.clone().unwrap_or_default()).collect(),
            rows: rest.to_vec(),
        })
    }
}
