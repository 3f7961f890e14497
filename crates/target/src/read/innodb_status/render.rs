//! A parsed status text written anew: known labels and numbers, nothing else.

use std::fmt::Write;

use super::sections::{Parsed, Waiter};
use crate::innodb_status::LogPositions;
use crate::pool::{HitRate, PoolBlock};

const RULE: &str = "----------------------";

/// Writes the parts innopool reads, in the server's wording; reading it gives `parsed` again.
pub(super) fn render(parsed: &Parsed) -> String {
    let status = &parsed.status;
    let mut out = Text(String::new());
    out.line("=====================================");
    out.line("INNODB MONITOR OUTPUT");
    out.line("=====================================");
    if let Some(seconds) = status.averages_seconds {
        out.line(&format!("Per second averages calculated from the last {seconds} seconds"));
    }
    if status.pool_latch_waiters.is_some() {
        out.heading("SEMAPHORES");
        for waiter in &parsed.waiters {
            out.waiter(waiter);
        }
    }
    if status.log != LogPositions::default() {
        out.heading("LOG");
        out.count("Log sequence number", status.log.current_lsn);
        out.count("Log flushed up to", status.log.flushed_lsn);
        out.count("Pages flushed up to", status.log.pages_flushed_lsn);
        out.count("Last checkpoint at", status.log.checkpoint_lsn);
    }
    if let Some(pool) = &status.pool {
        out.heading("BUFFER POOL AND MEMORY");
        out.count("Total large memory allocated", status.total_memory_bytes);
        out.count("Dictionary memory allocated", status.dictionary_memory_bytes);
        out.block(pool);
    }
    if !status.instances.is_empty() {
        out.heading("INDIVIDUAL BUFFER POOL INFO");
        for (number, block) in status.instances.iter().enumerate() {
            out.line(&format!("---BUFFER POOL {number}"));
            out.block(block);
        }
    }
    if let Some(length) = status.history_list_length {
        out.heading("TRANSACTIONS");
        out.count("History list length", Some(length));
    }
    if !status.truncated {
        out.line("----------------------------");
        out.line("END OF INNODB MONITOR OUTPUT");
        out.line("============================");
    }
    out.0
}

struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn heading(&mut self, title: &str) {
        self.line(RULE);
        self.line(title);
        self.line(RULE);
    }

    fn count(&mut self, label: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.line(&format!("{label} {value}"));
        }
    }

    /// A line of several labelled counts; what was not printed keeps no number.
    fn counts(&mut self, before: &str, parts: &[(&str, Option<u64>)]) {
        if parts.iter().all(|(_, value)| value.is_none()) {
            return;
        }
        let parts: Vec<String> = parts
            .iter()
            .enumerate()
            // The first label also names the line.
            .filter(|(position, (_, value))| *position == 0 || value.is_some())
            .map(|(_, (label, value))| match value {
                Some(value) => format!("{label} {value}"),
                None => (*label).to_owned(),
            })
            .collect();
        self.line(&format!("{before}{}", parts.join(", ")));
    }

    /// A line of rates, each before its unit.
    fn rates(&mut self, parts: &[(Option<f64>, &str)]) {
        let parts: Vec<String> = parts
            .iter()
            .filter_map(|(value, unit)| value.map(|value| format!("{} {unit}", rate(value))))
            .collect();
        if !parts.is_empty() {
            self.line(&parts.join(", "));
        }
    }

    fn block(&mut self, block: &PoolBlock) {
        self.count("Buffer pool size  ", block.size_pages);
        self.count("Buffer pool size, bytes", block.size_bytes);
        self.count("Free buffers      ", block.free_pages);
        self.count("Database pages    ", block.database_pages);
        self.count("Old database pages", block.old_pages);
        self.count("Modified db pages ", block.modified_pages);
        self.count("Pending reads     ", block.pending_reads);
        self.counts(
            "Pending writes: ",
            &[
                ("LRU", block.pending_lru_writes),
                ("flush list", block.pending_flush_list_writes),
                ("single page", block.pending_single_page_writes),
            ],
        );
        self.counts(
            "",
            &[("Pages made young", block.made_young), ("not young", block.not_made_young)],
        );
        self.rates(&[(block.youngs_per_second, "youngs/s")]);
        self.counts(
            "",
            &[
                ("Pages read", block.pages_read),
                ("created", block.pages_created),
                ("written", block.pages_written),
            ],
        );
        // The middle rate is not read, but tells this line from that of the rows.
        let creates =
            (block.reads_per_second.is_some() && block.writes_per_second.is_none()).then_some(0.0);
        self.rates(&[
            (block.reads_per_second, "reads/s"),
            (creates, "creates/s"),
            (block.writes_per_second, "writes/s"),
        ]);
        match block.hit_rate {
            HitRate::NotPrinted => {}
            HitRate::NoGets => self.line("No buffer pool page gets since the last printout"),
            HitRate::PerMille(hits) => self.line(&format!("Buffer pool hit rate {hits} / 1000")),
        }
        self.read_ahead(block);
        self.counts("", &[("LRU len:", block.lru_len), ("unzip_LRU len:", block.unzip_lru_len)]);
    }

    fn read_ahead(&mut self, block: &PoolBlock) {
        let mut line = String::from("Pages read ahead");
        if let Some(value) = block.read_ahead_per_second {
            // Writing to a String cannot fail.
            let _ = write!(line, " {}/s", rate(value));
        }
        if let Some(value) = block.evicted_without_access_per_second {
            let _ = write!(line, ", evicted without access {}/s", rate(value));
        }
        if line.ends_with("/s") {
            self.line(&line);
        }
    }

    fn waiter(&mut self, waiter: &Waiter) {
        self.line(&format!(
            "--Thread 0 has waited at {} line {} the semaphore:",
            waiter.file, waiter.line
        ));
    }
}

/// Two decimals as the server prints, more only where they matter.
fn rate(value: f64) -> String {
    let short = format!("{value:.2}");
    if short.parse() == Ok(value) { short } else { format!("{value}") }
}
