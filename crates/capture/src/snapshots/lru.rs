//! Asking for `INNODB_BUFFER_PAGE_LRU`, at its price.

use std::fmt;
use std::time::{Duration, Instant};

use innopool_policy::page::PageId;
use innopool_target::live::Connection;

use super::{Look, SnapshotError, unix_us};

/// What a row costs in the answer: four numbers and what is between them.
const ANSWER_BYTES_PER_PAGE: u64 = 32;
/// What a row costs the server: a copy of the page's descriptor, and a row of a temporary table.
const SERVER_BYTES_PER_PAGE: u64 = 500;
/// How long a row takes.
const NANOSECONDS_PER_PAGE: u64 = 10_000;

/// What a look at `INNODB_BUFFER_PAGE_LRU` costs, about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LruPrice {
    /// Pages in the pool: rows of the answer.
    pub pages: u64,
    /// Bytes of the answer.
    pub answer_bytes: u64,
    /// Bytes of memory, or of a temporary file, that the server needs for it.
    pub server_bytes: u64,
    /// How long it takes; for a part of that the list's latch is held, and whoever misses a page waits.
    pub time: Duration,
}

impl LruPrice {
    fn of(pages: u64) -> LruPrice {
        LruPrice {
            pages,
            answer_bytes: pages.saturating_mul(ANSWER_BYTES_PER_PAGE),
            server_bytes: pages.saturating_mul(SERVER_BYTES_PER_PAGE),
            time: Duration::from_nanos(pages.saturating_mul(NANOSECONDS_PER_PAGE)),
        }
    }
}

impl fmt::Display for LruPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rows, about {:.1} s, {} MiB of the server's memory and {} MiB over the network",
            self.pages,
            self.time.as_secs_f64(),
            self.server_bytes.div_ceil(1 << 20),
            self.answer_bytes.div_ceil(1 << 20)
        )
    }
}

/// Tells what [`lru()`] would cost now. Costs nothing itself: the pages are those that the status counts.
///
/// # Errors
///
/// When the server does not answer or does not count its pages.
pub fn lru_price(connection: &mut Connection) -> Result<LruPrice, SnapshotError> {
    let table = connection
        .query("SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_buffer_pool_pages_data'")?;
    let pages = table.rows.first().and_then(|row| table.number(row, "Value"));
    pages.map(LruPrice::of).ok_or(SnapshotError::Answer {
        asked: "Innodb_buffer_pool_pages_data",
        what: "it has no value".to_owned(),
    })
}

/// Position 0 is the tail of a list. One column, so that a row takes little memory here.
const ASKED: &str = "SELECT CONCAT(POOL_ID, ' ', LRU_POSITION, ' ', SPACE, ' ', PAGE_NUMBER) AS page \
    FROM information_schema.INNODB_BUFFER_PAGE_LRU";

/// Asks for every page of every list. See [`lru_price`] for what that costs the server; it goes on even
/// when we give up after the connection's limit for a statement. Needs `PROCESS`.
///
/// # Errors
///
/// When the server refuses, does not answer in time, or answers with something else.
pub fn lru(connection: &mut Connection) -> Result<Look, SnapshotError> {
    let (asked_unix_us, asked) = (unix_us(), Instant::now());
    let table = connection.query(ASKED)?;
    let took = asked.elapsed();
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let text = table.cell(row, "page").unwrap_or_default();
        rows.push(ListRow::parse(text).ok_or_else(|| SnapshotError::Answer {
            asked: "INNODB_BUFFER_PAGE_LRU",
            what: format!("`{}` is no page", text.chars().take(80).collect::<String>()),
        })?);
    }
    Ok(Look { lists: lists(rows), asked_unix_us, took, remarks: Vec::new() })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListRow {
    instance: u32,
    /// From the tail.
    position: u64,
    page: PageId,
}

impl ListRow {
    fn parse(text: &str) -> Option<ListRow> {
        let mut fields = text.split(' ');
        let row = ListRow {
            instance: fields.next()?.parse().ok()?,
            position: fields.next()?.parse().ok()?,
            page: PageId::new(fields.next()?.parse().ok()?, fields.next()?.parse().ok()?),
        };
        fields.next().is_none().then_some(row)
    }
}

/// Puts rows into lists, head first.
fn lists(mut rows: Vec<ListRow>) -> Vec<(u32, Vec<PageId>)> {
    rows.sort_unstable_by_key(|row| (row.instance, std::cmp::Reverse(row.position)));
    rows.chunk_by(|one, other| one.instance == other.instance)
        .filter_map(|chunk| {
            Some((chunk.first()?.instance, chunk.iter().map(|row| row.page).collect()))
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may end by panicking")]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_into_lists_from_the_head_on() {
        let rows =
            ["1 0 5 9", "0 0 5 1", "0 1 5 2", "0 2 7 3"].map(|text| ListRow::parse(text).unwrap());
        let pages = |pairs: &[(u32, u32)]| pairs.iter().map(|&(s, p)| PageId::new(s, p)).collect();
        let expected = vec![(0, pages(&[(7, 3), (5, 2), (5, 1)])), (1, pages(&[(5, 9)]))];
        assert_eq!(lists(rows.to_vec()), expected);
    }

    #[test]
    fn what_is_no_row_is_none() {
        for text in ["", "1 2 3", "1 2 3 4 5", "1 2 3 4294967296", "a 1 1 1", "1  2 3 4"] {
            assert_eq!(ListRow::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_price_is_told_in_words() {
        let price = LruPrice::of(1 << 20).to_string();
        assert_eq!(
            price,
            "1048576 rows, about 10.5 s, 500 MiB of the server's memory and 32 MiB over the network"
        );
    }
}
