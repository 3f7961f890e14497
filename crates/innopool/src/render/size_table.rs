//! The curve as a table: a row per size, the recommended one marked, sizes above the budget with the
//! reason in place of numbers.

use innopool_advice::size::{CurveRow, PricePoint, SizeReport};
use innopool_advice::words;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// It is the size recommended.
    pub(super) recommended: bool,
    /// Pool size.
    pub(super) size: String,
    /// What is known of it.
    pub(super) cells: Cells,
}

/// What is known of a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cells {
    /// Reads per second, low to high, share of time, reads saved for each GB more.
    Known([String; 4]),
    /// Why there are no numbers.
    Words(String),
}

/// Headings of the cells.
pub(super) const HEADINGS: [&str; 4] =
    ["disk reads/s", "low-high", "reading", "saved per extra GB"];

/// The rows, smallest size first.
pub(super) fn rows(report: &SizeReport) -> Vec<Row> {
    let recommended = report.recommendation.as_ref().map(|answer| answer.pool_size_bytes);
    let mut rows: Vec<(u64, Row)> = report
        .curve
        .iter()
        .map(|row| {
            let bytes = row.point.pool_size_bytes;
            let cells = cells(report, row);
            let size = words::bytes(bytes);
            (bytes, Row { recommended: recommended == Some(bytes), size, cells })
        })
        .collect();
    // A size the server rounds is none of the curve's: it has a row of its own.
    if let Some(price) = &report.price
        && !rows.iter().any(|(_, row)| row.recommended)
        && !rows.is_empty()
    {
        rows.push((price.recommended.pool_size_bytes, rounded(&price.recommended)));
    }
    rows.sort_by_key(|(bytes, _)| *bytes);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn cells(report: &SizeReport, row: &CurveRow) -> Cells {
    if row.within_budget == Some(false) {
        let ceiling = report.memory_budget.ceiling_bytes.map_or_else(String::new, words::bytes);
        return Cells::Words(format!("over the memory budget: {ceiling}"));
    }
    let point = &row.point;
    let recorded = report.curve_from.as_ref().map(|from| from.recorded_size_bytes);
    let band = match (point.disk_reads_low_per_second, point.disk_reads_high_per_second) {
        _ if recorded == Some(point.pool_size_bytes) && !point.bound_only => "measured".to_owned(),
        (Some(low), Some(high)) => format!("{}-{}", words::rate(low), words::rate(high)),
        (Some(low), None) => format!("at least {}", words::rate(low)),
        (None, Some(high)) => format!("at most {}", words::rate(high)),
        (None, None) => String::new(),
    };
    let estimate = point.disk_reads_per_second.filter(|_| !point.bound_only);
    if estimate.is_none() && band.is_empty() {
        return Cells::Words("the evidence does not tell".to_owned());
    }
    Cells::Known([
        estimate.map_or_else(String::new, words::rate),
        band,
        point.read_time_ratio.map_or_else(String::new, words::percent),
        point.reads_saved_per_second_per_gb.map_or_else(String::new, words::rate),
    ])
}

fn rounded(point: &PricePoint) -> Row {
    let cells = Cells::Known([
        format!("up to {}", words::rate(point.disk_reads_per_second)),
        String::new(),
        String::new(),
        String::new(),
    ]);
    Row { recommended: true, size: words::bytes(point.pool_size_bytes), cells }
}
