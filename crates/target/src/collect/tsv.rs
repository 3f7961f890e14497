//! Tables as tab-separated text, as `mysql --batch` prints them: a line of column names, a line per
//! row, `\t`, `\n`, `\0` and `\\` for what cannot stand in a cell, and `\N` for NULL.

use crate::table::{Row, Table};

/// The text of a table. Empty for a table without columns.
pub(super) fn render(table: &Table) -> String {
    let mut text = String::new();
    if table.columns.is_empty() {
        return text;
    }
    push_line(&mut text, table.columns.iter().map(|name| Some(name.as_str())));
    for row in &table.rows {
        let cells = (0..table.columns.len()).map(|at| row.cells.get(at)?.as_deref());
        push_line(&mut text, cells);
    }
    text
}

/// The rows' lines in the file they came from; `None` when there are none to keep.
pub(super) fn line_numbers(table: &Table) -> Option<Vec<Option<u32>>> {
    let lines: Vec<Option<u32>> = table.rows.iter().map(|row| row.line).collect();
    lines.iter().any(Option::is_some).then_some(lines)
}

/// Reads a table's text. Short rows are filled with NULL, long ones cut.
pub(super) fn parse(text: &str, lines: Option<&[Option<u32>]>) -> Table {
    let Some(text) = text.strip_suffix('\n').or((!text.is_empty()).then_some(text)) else {
        return Table::default();
    };
    let mut rows = text.split('\n');
    let names = rows.next().unwrap_or_default().split('\t');
    let mut table = Table::new(names.map(|name| unescape(name).unwrap_or_default()));
    for (at, line) in rows.enumerate() {
        let mut cells: Vec<_> = line.split('\t').map(unescape).collect();
        cells.resize(table.columns.len(), None);
        let line = lines.and_then(|lines| *lines.get(at)?);
        table.rows.push(Row { cells, line });
    }
    table
}

fn push_line<'c>(text: &mut String, cells: impl Iterator<Item = Option<&'c str>>) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            text.push('\t');
        }
        match cell {
            None => text.push_str("\\N"),
            Some(cell) => cell.chars().for_each(|c| match c {
                '\t' => text.push_str("\\t"),
                '\n' => text.push_str("\\n"),
                '\0' => text.push_str("\\0"),
                '\\' => text.push_str("\\\\"),
                c => text.push(c),
            }),
        }
    }
    text.push('\n');
}

fn unescape(cell: &str) -> Option<String> {
    if cell == "\\N" {
        return None;
    }
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('0') => text.push('\0'),
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_the_mysql_client_writes() {
        let mut table = Table::new(["Variable_name", "Va\tlue"]);
        table.push([Some("a\nb".to_owned()), None]);
        table.push([Some("\\N".to_owned()), Some(String::new())]);
        let text = "Variable_name\tVa\\tlue\na\\nb\t\\N\n\\\\N\t\n";
        assert_eq!(render(&table), text);
        assert_eq!(parse(text, None), table);
    }

    #[test]
    fn a_table_without_columns_is_an_empty_file() {
        assert_eq!(render(&Table::default()), "");
        assert_eq!(parse("", None), Table::default());
        let mut nameless = Table::new([""]);
        assert_eq!(parse(&render(&nameless), None), nameless);
        nameless.push([Some(String::new())]);
        assert_eq!(parse(&render(&nameless), None), nameless);
    }

    #[test]
    fn an_edited_file_is_read_as_far_as_it_goes() {
        let table = parse("a\tb\n1\n1\t2\t3\nx\\", None);
        let cells: Vec<_> = table.rows.iter().map(|row| row.cells.clone()).collect();
        let some = |text: &str| Some(text.to_owned());
        let expected = [vec![some("1"), None], vec![some("1"), some("2")], vec![some("x\\"), None]];
        assert_eq!(cells, expected);
    }
}
