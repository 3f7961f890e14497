//! One line of a buffer pool block into a [`PoolBlock`].

use crate::pool::{HitRate, PoolBlock};
use crate::read::tidy::{count_after, decimal_before, leading_count, leading_decimal};

/// Labels of the pool and log sections, longer ones before their own prefixes. Used to take a text
/// apart that lost its line breaks.
const LABELS: &[&str] = &[
    "end of innodb monitor output",
    "per second averages calculated",
    "individual buffer pool info",
    "buffer pool and memory",
    "row operations",
    "log sequence number",
    "log flushed up to",
    "pages flushed up to",
    "last checkpoint at",
    "total large memory allocated",
    "total memory allocated",
    "dictionary memory allocated",
    "---buffer pool",
    "buffer pool size",
    "buffer pool hit rate",
    "no buffer pool page gets",
    "free buffers",
    "old database pages",
    "database pages",
    "modified db pages",
    "percent of dirty pages",
    "max dirty pages percent",
    "pending reads",
    "pending writes:",
    "pages made young",
    "pages read ahead",
    "random read ahead",
    "pages read",
    "lru len:",
    "i/o sum[",
];

/// Splits a tidy line before every label, when it holds so many that it must be several lines.
pub(super) fn split_at_labels(line: &str) -> Vec<&str> {
    const SEVERAL: usize = 4;
    // The server cuts its text at 64,000 bytes; a longer line is none of it.
    const MAX_BYTES: usize = 256 * 1024;
    if line.len() > MAX_BYTES {
        return vec![line];
    }
    let mut starts = Vec::new();
    let mut at = 0;
    let mut after_word = false;
    while let Some(rest) = line.get(at..) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        let label = LABELS.iter().find(|label| !after_word && rest.starts_with(**label));
        match label {
            Some(label) => {
                starts.push(at);
                at += label.len();
                after_word = true;
            }
            None => {
                at += first.len_utf8();
                after_word = first.is_alphanumeric() || first == '_';
            }
        }
    }
    if starts.len() < SEVERAL {
        return vec![line];
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    std::iter::once(0..starts.first().copied().unwrap_or(0))
        .chain(starts.iter().copied().zip(ends).map(|(from, to)| from..to))
        .filter_map(|range| line.get(range))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// True when a wrapped remainder of this line may stand on the next one.
pub(super) fn may_be_wrapped(line: &str) -> bool {
    [
        "buffer pool hit rate",
        "pages read ahead",
        "pages made young",
        "pending writes:",
        "pages read ",
        "lru len:",
    ]
    .iter()
    .any(|label| line.starts_with(label))
}

/// True when a line begins something of its own and so cannot be the rest of a wrapped one.
pub(super) fn begins_anew(line: &str) -> bool {
    line.is_empty()
        || line.starts_with(['-', '=', '#'])
        || line.contains("s/s")
        || LABELS.iter().any(|label| line.starts_with(label))
}

/// Puts what a tidy line says into the block; the first of several values for a figure stays.
pub(super) fn fill(block: &mut PoolBlock, line: &str) {
    if let Some(rest) = line.strip_prefix("buffer pool size") {
        match rest.strip_prefix(", bytes") {
            Some(rest) => set(&mut block.size_bytes, leading_count(rest)),
            None => set(&mut block.size_pages, leading_count(rest)),
        }
    } else if let Some(rest) = line.strip_prefix("free buffers") {
        set(&mut block.free_pages, leading_count(rest));
    } else if let Some(rest) = line.strip_prefix("database pages") {
        set(&mut block.database_pages, leading_count(rest));
    } else if let Some(rest) = line.strip_prefix("old database pages") {
        set(&mut block.old_pages, leading_count(rest));
    } else if let Some(rest) = line.strip_prefix("modified db pages") {
        set(&mut block.modified_pages, leading_count(rest));
    } else if let Some(rest) = line.strip_prefix("pending reads") {
        set(&mut block.pending_reads, leading_count(rest));
    } else if let Some(rest) = line.strip_prefix("pending writes:") {
        set(&mut block.pending_lru_writes, count_after(rest, "lru"));
        let flush_list = count_after(rest, "flush list");
        set(&mut block.pending_flush_list_writes, flush_list);
        let single = count_after(rest, "single page");
        set(&mut block.pending_single_page_writes, single);
    } else if let Some(rest) = line.strip_prefix("pages made young") {
        set(&mut block.made_young, leading_count(rest));
        set(&mut block.not_made_young, count_after(rest, "not young"));
    } else if let Some(rest) = line.strip_prefix("pages read ahead") {
        set(&mut block.read_ahead_per_second, leading_decimal(rest));
        let evicted =
            rest.split_once("evicted without access").and_then(|(_, rest)| leading_decimal(rest));
        set(&mut block.evicted_without_access_per_second, evicted);
    } else if let Some(rest) = line.strip_prefix("pages read") {
        set(&mut block.pages_read, leading_count(rest));
        set(&mut block.pages_created, count_after(rest, "created"));
        set(&mut block.pages_written, count_after(rest, "written"));
    } else if let Some(rest) = line.strip_prefix("lru len:") {
        set(&mut block.lru_len, leading_count(rest));
        set(&mut block.unzip_lru_len, count_after(rest, "unzip_lru len:"));
    } else {
        fill_hit_rate(block, line);
    }
    fill_rates(block, line);
}

fn fill_hit_rate(block: &mut PoolBlock, line: &str) {
    if block.hit_rate != HitRate::NotPrinted {
        return;
    }
    if line.starts_with("no buffer pool page gets since") {
        block.hit_rate = HitRate::NoGets;
    } else if let Some(rest) = line.strip_prefix("buffer pool hit rate")
        && let Some(hits) = leading_count(rest)
        && rest
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start()
            .starts_with('/')
    {
        block.hit_rate = HitRate::PerMille(hits);
    }
}

/// The rates have a line of their own (`0.10 youngs/s, ...`), unless line breaks were lost.
fn fill_rates(block: &mut PoolBlock, line: &str) {
    set(&mut block.youngs_per_second, decimal_before(line, " youngs/s"));
    if line.contains(" creates/s") || line.contains(" writes/s") {
        set(&mut block.reads_per_second, decimal_before(line, " reads/s"));
        set(&mut block.writes_per_second, decimal_before(line, " writes/s"));
    }
}

fn set<T>(figure: &mut Option<T>, value: Option<T>) {
    if figure.is_none() {
        *figure = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_line_breaks_is_taken_apart() {
        let line = "-- buffer pool and memory -- buffer pool size 640 free buffers 12 - if free \
                    buffers is 0 ... old database pages 200 database pages 600 pages read 5, \
                    created 6, written 7 1.50 reads/s, 0.25 creates/s, 2.00 writes/s";
        let mut block = PoolBlock::default();
        for part in split_at_labels(line) {
            fill(&mut block, part);
        }
        assert_eq!(block.size_pages, Some(640));
        assert_eq!(block.free_pages, Some(12));
        assert_eq!(block.old_pages, Some(200));
        assert_eq!(block.database_pages, Some(600));
        assert_eq!(block.pages_written, Some(7));
        assert_eq!(block.reads_per_second, Some(1.5));
    }

    #[test]
    fn a_line_with_a_remark_stays_whole() {
        let line = "database pages 7162 # like buffer pool size, the lru len: and so on";
        assert_eq!(split_at_labels(line), vec![line]);
    }
}
