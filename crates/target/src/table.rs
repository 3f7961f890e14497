//! A result set as plain text cells, however it reached us: from a live connection, a tab-separated
//! file, a boxed table or a `\G` listing. Everything innopool knows of a server passes through this
//! type or through a text document, so that live and saved evidence cannot be read differently.

/// Column names and rows of optional text cells (`None` is SQL NULL).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Column names as printed.
    pub columns: Vec<String>,
    /// Rows; each has as many cells as there are columns.
    pub rows: Vec<Row>,
}

/// One row, with the line of the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// The cells, in column order.
    pub cells: Vec<Option<String>>,
    /// Line (from 1) of the file; absent for a live result.
    pub line: Option<u32>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Appends a row without a line number; short rows are filled with NULL, long ones cut.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Option<String>>) {
        let mut cells: Vec<_> = cells.into_iter().collect();
        cells.resize(self.columns.len(), None);
        self.rows.push(Row { cells, line: None });
    }

    /// Position of a column, compared without regard to case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
    }

    /// The text in `row` under the column `name`; `None` for NULL or no such column.
    pub fn cell<'t>(&self, row: &'t Row, name: &str) -> Option<&'t str> {
        row.cells.get(self.column(name)?)?.as_deref()
    }

    /// The unsigned number in `row` under `name`; also accepts `1.5e+07` and `12.0`.
    pub fn number(&self, row: &Row, name: &str) -> Option<u64> {
        parse_count(self.cell(row, name)?)
    }

    /// The decimal number in `row` under `name`; `None` if absent or not finite.
    pub fn decimal(&self, row: &Row, name: &str) -> Option<f64> {
        self.cell(row, name)?.trim().parse().ok().filter(|v: &f64| v.is_finite())
    }
}

/// Reads a non-negative count printed as an integer or in floating notation.
///
/// Returns `None` for anything negative, fractional beyond rounding, or above `u64`.
pub fn parse_count(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(count) = text.parse::<u64>() {
        return Some(count);
    }
    let value: f64 = text.parse().ok()?;
    if !(0.0..1.8e19).contains(&value) {
        return None;
    }
    // In range by the check above; exporters print integers as floats.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some(value.round() as u64)
}
