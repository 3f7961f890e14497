//! `INFORMATION_SCHEMA.INNODB_BUFFER_POOL_STATS`: a row per instance, 32 columns in every server.

use crate::pool::{HitRate, PoolBlock, PoolStats};
use crate::provenance::Source;
use crate::table::{Row, Table};

/// The columns in the order `SELECT *` prints them.
const COLUMNS: [&str; COLUMN_COUNT] = [
    "POOL_ID",
    "POOL_SIZE",
    "FREE_BUFFERS",
    "DATABASE_PAGES",
    "OLD_DATABASE_PAGES",
    "MODIFIED_DATABASE_PAGES",
    "PENDING_DECOMPRESS",
    "PENDING_READS",
    "PENDING_FLUSH_LRU",
    "PENDING_FLUSH_LIST",
    "PAGES_MADE_YOUNG",
    "PAGES_NOT_MADE_YOUNG",
    "PAGES_MADE_YOUNG_RATE",
    "PAGES_MADE_NOT_YOUNG_RATE",
    "NUMBER_PAGES_READ",
    "NUMBER_PAGES_CREATED",
    "NUMBER_PAGES_WRITTEN",
    "PAGES_READ_RATE",
    "PAGES_CREATE_RATE",
    "PAGES_WRITTEN_RATE",
    "NUMBER_PAGES_GET",
    "HIT_RATE",
    "YOUNG_MAKE_PER_THOUSAND_GETS",
    "NOT_YOUNG_MAKE_PER_THOUSAND_GETS",
    "NUMBER_PAGES_READ_AHEAD",
    "NUMBER_READ_AHEAD_EVICTED",
    "READ_AHEAD_RATE",
    "READ_AHEAD_EVICTED_RATE",
    "LRU_IO_TOTAL",
    "LRU_IO_CURRENT",
    "UNCOMPRESS_TOTAL",
    "UNCOMPRESS_CURRENT",
];

/// Columns of the view.
pub(crate) const COLUMN_COUNT: usize = 32;

/// The columns that are 0 when nothing happened since somebody last looked.
const RATES: &[&str] = &[
    "PAGES_MADE_YOUNG_RATE",
    "PAGES_MADE_NOT_YOUNG_RATE",
    "PAGES_READ_RATE",
    "PAGES_CREATE_RATE",
    "PAGES_WRITTEN_RATE",
    "YOUNG_MAKE_PER_THOUSAND_GETS",
    "NOT_YOUNG_MAKE_PER_THOUSAND_GETS",
    "READ_AHEAD_RATE",
    "READ_AHEAD_EVICTED_RATE",
];

/// Reads the rows; `None` when no row has a pool size.
///
/// Columns may come in any order and be fewer than all: what is not there is `None`. The instances
/// come out in the order of `POOL_ID`.
pub fn parse(table: &Table, place: &str) -> Option<PoolStats> {
    let mut instances: Vec<(u64, PoolBlock)> = table
        .rows
        .iter()
        .filter_map(|row| {
            let block = block(table, row);
            block.size_pages?;
            Some((table.number(row, "POOL_ID").unwrap_or(0), block))
        })
        .collect();
    if instances.is_empty() {
        return None;
    }
    instances.sort_by_key(|(id, _)| *id);
    let name = "INNODB_BUFFER_POOL_STATS";
    let source = match table.rows.first().and_then(|row| row.line) {
        Some(line) => Source::at_line(place, line, name),
        None => Source::new(place, name),
    };
    Some(PoolStats { instances: instances.into_iter().map(|(_, block)| block).collect(), source })
}

fn block(table: &Table, row: &Row) -> PoolBlock {
    let count = |name: &str| table.number(row, name);
    let rate = |name: &str| table.decimal(row, name);
    PoolBlock {
        size_pages: count("POOL_SIZE"),
        size_bytes: None,
        free_pages: count("FREE_BUFFERS"),
        database_pages: count("DATABASE_PAGES"),
        old_pages: count("OLD_DATABASE_PAGES"),
        modified_pages: count("MODIFIED_DATABASE_PAGES"),
        pending_reads: count("PENDING_READS"),
        pending_lru_writes: count("PENDING_FLUSH_LRU"),
        pending_flush_list_writes: count("PENDING_FLUSH_LIST"),
        pending_single_page_writes: None,
        made_young: count("PAGES_MADE_YOUNG"),
        not_made_young: count("PAGES_NOT_MADE_YOUNG"),
        pages_read: count("NUMBER_PAGES_READ"),
        pages_created: count("NUMBER_PAGES_CREATED"),
        pages_written: count("NUMBER_PAGES_WRITTEN"),
        page_gets: count("NUMBER_PAGES_GET"),
        read_ahead_pages: count("NUMBER_PAGES_READ_AHEAD"),
        read_ahead_evicted_pages: count("NUMBER_READ_AHEAD_EVICTED"),
        hit_rate: hit_rate(table, row),
        reads_per_second: rate("PAGES_READ_RATE"),
        writes_per_second: rate("PAGES_WRITTEN_RATE"),
        youngs_per_second: rate("PAGES_MADE_YOUNG_RATE"),
        read_ahead_per_second: rate("READ_AHEAD_RATE"),
        evicted_without_access_per_second: rate("READ_AHEAD_EVICTED_RATE"),
        lru_len: None,
        // The server fills this column with the length of that list.
        unzip_lru_len: count("PENDING_DECOMPRESS"),
    }
}

/// A hit rate of 0 in a pool where nothing else moved means that nothing was asked.
fn hit_rate(table: &Table, row: &Row) -> HitRate {
    match table.number(row, "HIT_RATE") {
        None => HitRate::NotPrinted,
        Some(0)
            if RATES.iter().all(|rate| table.decimal(row, rate).is_none_or(|rate| rate == 0.0)) =>
        {
            HitRate::NoGets
        }
        Some(hits) => HitRate::PerMille(hits),
    }
}

/// The view's columns out of any result set that holds its core; `None` if it does not.
pub(crate) fn keep(table: &Table) -> Option<Table> {
    ["POOL_SIZE", "FREE_BUFFERS"].iter().try_for_each(|column| table.column(column).map(|_| ()))?;
    let kept: Vec<(usize, &str)> =
        COLUMNS.iter().filter_map(|column| Some((table.column(column)?, *column))).collect();
    let mut stats = Table::new(kept.iter().map(|(_, name)| *name));
    for row in &table.rows {
        // Figures only: a text in one of these columns is not the server's.
        stats.push(kept.iter().map(|(at, _)| {
            let cell = row.cells.get(*at)?.as_ref()?;
            cell.trim().parse::<f64>().ok()?;
            Some(cell.trim().to_owned())
        }));
        if let Some(last) = stats.rows.last_mut() {
            last.line = row.line;
        }
    }
    Some(stats)
}

/// A result set of 32 numbers a row, printed without its heading.
pub(crate) fn without_heading(mut table: Table) -> Option<Table> {
    let numbers = |row: &Row| {
        row.cells.iter().all(|cell| cell.as_ref().is_some_and(|c| c.parse::<f64>().is_ok()))
    };
    if table.rows.is_empty() || !table.rows.iter().all(numbers) {
        return None;
    }
    table.columns = COLUMNS.iter().map(|&column| column.to_owned()).collect();
    keep(&table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: &[(&str, &str)]) -> Table {
        let mut table = Table::new(cells.iter().map(|(name, _)| *name));
        table.push(cells.iter().map(|(_, value)| Some((*value).to_owned())));
        table
    }

    #[test]
    fn a_hit_rate_of_nothing_is_no_hit_rate() {
        let idle = [("POOL_SIZE", "640"), ("FREE_BUFFERS", "3"), ("HIT_RATE", "0")];
        let stats = parse(&table(&idle), "t").expect("stats");
        assert_eq!(stats.instances[0].hit_rate, HitRate::NoGets);
        let busy = [("POOL_SIZE", "640"), ("HIT_RATE", "0"), ("PAGES_READ_RATE", "7.5")];
        let stats = parse(&table(&busy), "t").expect("stats");
        assert_eq!(stats.instances[0].hit_rate, HitRate::PerMille(0));
        assert_eq!(stats.instances[0].reads_per_second, Some(7.5));
        assert_eq!(stats.instances[0].free_pages, None);
        assert_eq!(parse(&table(&[("POOL_ID", "0")]), "t"), None);
    }

    #[test]
    fn instances_come_in_their_order() {
        let mut rows = table(&[("pool_id", "1"), ("pool_size", "20"), ("free_buffers", "2")]);
        rows.push(["0", "10", "1"].map(|cell| Some(cell.to_owned())));
        let stats = parse(&rows, "t").expect("stats");
        assert_eq!(stats.total(|block| block.size_pages), Some(30));
        assert_eq!(stats.instances[0].size_pages, Some(10));
    }

    #[test]
    fn texts_are_not_kept() {
        let kept = keep(&table(&[("POOL_SIZE", "5"), ("FREE_BUFFERS", "secret"), ("OTHER", "7")]));
        let kept = kept.expect("a table");
        assert_eq!(kept.columns, ["POOL_SIZE", "FREE_BUFFERS"]);
        assert_eq!(kept.rows[0].cells[1], None);
    }
}
