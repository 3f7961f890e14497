//! Files as people paste them, in any mix, into [`Document`]s.
//!
//! Nothing is known of a file but its text. Each kind of output is recognised by content, wherever
//! it stands: status texts first, because they may quote anything; then persisted variables, option
//! files, exporter pages, `/proc/meminfo` and result sets, line by line; what looks like a server's
//! log and belongs to nothing else is its error log. Only what is on the allow-list is kept, and
//! texts are kept as what was understood of them, so that no statement, account or host passes.

mod configuration;
mod decode;
pub mod error_log;
mod exporter;
pub mod innodb_status;
pub mod meminfo;
pub mod mysqld_auto;
pub mod option_file;
pub mod pool_stats;
mod source;
mod tables;
mod tidy;

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::ops::Range;

use crate::observation::{Content, Document};
use crate::table::{Row, Table};
use configuration::{AutoFinder, option_file_at};
use source::Lines;
use tables::{Kind, Listing, ListingKind, MOMENTS_MAX, Pair, grid_at, kind_of, pairs_in};

/// A file in which nothing was recognised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: nothing in it is output that innopool reads")]
pub struct Unrecognised {
    /// The file.
    pub place: String,
}

/// What a file may hold, in several lines for people.
pub const READABLE: &str = "\
innopool reads, alone or mixed in one file:
  SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS    mysql -e 'SHOW GLOBAL STATUS' > status.txt
  SHOW ENGINE INNODB STATUS                       mysql -e 'SHOW ENGINE INNODB STATUS\\G' > innodb.txt
  INFORMATION_SCHEMA.INNODB_BUFFER_POOL_STATS     mysql -e 'SELECT * FROM ...\\G' > pool.txt
  the page of mysqld_exporter                     curl -s http://HOST:9104/metrics > metrics.txt
  option files (with their [groups]), mysqld-auto.cnf, the error log, /proc/meminfo
or let `innopool collect -o DIR` save all of it at once";

/// Reads a file's bytes: UTF-8 with or without mark, or UTF-16 as Windows PowerShell writes it.
///
/// # Errors
/// [`Unrecognised`] when the file holds nothing innopool reads.
pub fn read_file(bytes: &[u8], place: &str) -> Result<Vec<Document>, Unrecognised> {
    let documents = read_bytes(bytes, place);
    if documents.is_empty() { Err(Unrecognised { place: place.to_owned() }) } else { Ok(documents) }
}

/// The documents in a file's bytes, whatever their encoding; empty when nothing is recognised.
pub fn read_bytes(bytes: &[u8], place: &str) -> Vec<Document> {
    read_text(&decode::text(bytes), place)
}

/// The documents in a text, in its order; empty when nothing is recognised.
///
/// Repeated outputs of one kind are moments, counted from 0 (of more than 1000 listings the first
/// and the newest, which a [`Content::NotRead`] tells); the later blocks of
/// `mysqladmin extended-status -r`, which are differences, come out as the status they lead to.
pub fn read_text(text: &str, place: &str) -> Vec<Document> {
    let lines = Lines::new(text);
    let mut reader = Reader::new(&lines);
    reader.read_status_texts();
    reader.read_lines();
    reader.collect_option_files();
    reader.read_error_log();
    reader.finish(place)
}

/// One output found in the file.
struct Found {
    line: usize,
    content: Content,
    taken_unix_seconds: Option<f64>,
}

struct Reader<'l, 't> {
    lines: &'l Lines<'t>,
    /// Lines that belong to a document.
    claimed: Vec<bool>,
    found: Vec<Found>,
    option_files: Vec<Range<usize>>,
    padding_left: usize,
    status: Listing,
    variables: Listing,
    /// Counters of `INNODB_METRICS` an exporter printed.
    metrics: Table,
}

impl<'l, 't> Reader<'l, 't> {
    fn new(lines: &'l Lines<'t>) -> Self {
        Self {
            lines,
            claimed: vec![false; lines.len()],
            found: Vec::new(),
            option_files: Vec::new(),
            padding_left: lines.len().saturating_mul(4),
            status: Listing::new(ListingKind::Status),
            variables: Listing::new(ListingKind::Variables),
            metrics: Table::new(["name", "count"]),
        }
    }

    fn claim(&mut self, range: Range<usize>) {
        if let Some(claimed) = self.claimed.get_mut(range) {
            claimed.fill(true);
        }
    }

    fn push(&mut self, line: usize, content: Content) {
        self.found.push(Found { line, content, taken_unix_seconds: None });
    }

    fn read_status_texts(&mut self) {
        for region in innodb_status::regions(self.lines) {
            let kept = innodb_status::keep_region(self.lines, &region);
            self.push(region.lines.start, Content::InnodbStatus(kept));
            self.claim(region.lines);
        }
    }

    fn read_lines(&mut self) {
        let mut auto = AutoFinder::default();
        let mut at = 0;
        // The next claimed line bounds whatever begins here.
        let mut until = 0;
        while at < self.lines.len() {
            if self.claimed.get(at) == Some(&true) || self.lines.tidy(at).is_empty() {
                at += 1;
                continue;
            }
            if until <= at {
                until = (at..self.lines.len())
                    .find(|line| self.claimed.get(*line) == Some(&true))
                    .unwrap_or(self.lines.len());
            }
            let end = self
                .read_whole(at, until, &mut auto)
                .or_else(|| self.read_exporter_line(at))
                .or_else(|| self.read_grid(at, until))
                .or_else(|| self.read_pairs(at))
                .unwrap_or(at + 1);
            at = end.max(at + 1);
        }
    }

    /// Documents that are kept as texts; the line behind the one read.
    fn read_whole(&mut self, at: usize, until: usize, auto: &mut AutoFinder) -> Option<usize> {
        if let Some(range) = option_file_at(self.lines, at, until) {
            let end = range.end;
            self.claim(range.clone());
            self.option_files.push(range);
            return Some(end);
        }
        let (range, content) = if let Some(range) = auto.find(self.lines, at) {
            let body = self.lines.raw.get(range.clone()).unwrap_or(&[]).join("\n");
            let text = self.padding(at) + &body + "\n";
            (range, Content::MysqldAuto(text))
        } else if meminfo::is_first_line(self.lines.raw(at)) {
            let end =
                (at..until).find(|line| !meminfo::is_line(self.lines.raw(*line))).unwrap_or(until);
            let kept: Vec<String> =
                (at..end).map(|line| meminfo::keep_line(self.lines.raw(line))).collect();
            let text = self.padding(at) + &kept.join("\n") + "\n";
            (at..end, Content::Meminfo(text))
        } else {
            return None;
        };
        let end = range.end;
        self.push(at, content);
        self.claim(range);
        Some(end)
    }

    /// Empty lines that put a kept text on its own line numbers. A file of countless small texts
    /// runs out of them, so that memory stays in proportion to the file.
    fn padding(&mut self, line: usize) -> String {
        match self.padding_left.checked_sub(line) {
            Some(left) => {
                self.padding_left = left;
                "\n".repeat(line)
            }
            None => String::new(),
        }
    }

    /// The option files of this paste as one, each line on its own number: a server, too, reads
    /// them as one, in order.
    fn collect_option_files(&mut self) {
        let Some(start) = self.option_files.first().map(|range| range.start) else {
            return;
        };
        let mut text = String::new();
        let mut line = 0;
        for range in std::mem::take(&mut self.option_files) {
            text.extend(std::iter::repeat_n('\n', range.start.saturating_sub(line)));
            for raw in self.lines.raw.get(range.clone()).unwrap_or(&[]) {
                text.push_str(raw);
                text.push('\n');
            }
            line = range.end;
        }
        self.push(start, Content::OptionFile(text));
    }

    fn read_exporter_line(&mut self, at: usize) -> Option<usize> {
        let raw = self.lines.raw(at);
        if exporter::is_comment(raw) {
            self.claim(at..at + 1);
            return Some(at + 1);
        }
        let sample = exporter::sample(raw, at)?;
        self.add_pairs(sample.pairs, sample.taken_unix_seconds);
        if let Some((name, count)) = sample.metric {
            self.metrics.rows.push(Row {
                cells: vec![Some(name), Some(count)],
                line: u32::try_from(at + 1).ok(),
            });
        }
        self.claim(at..at + 1);
        Some(at + 1)
    }

    fn read_grid(&mut self, at: usize, until: usize) -> Option<usize> {
        let (grid, range) = grid_at(self.lines, at, until)?;
        let end = range.end;
        match kind_of(grid) {
            Some(Kind::Pairs(pairs)) => self.add_pairs(pairs, None),
            Some(Kind::Content(content)) => self.push(at, content),
            None => return Some(end),
        }
        self.claim(range);
        Some(end)
    }

    fn read_pairs(&mut self, at: usize) -> Option<usize> {
        let raw = self.lines.raw(at);
        if error_log::is_log_line(raw) {
            return None;
        }
        let (pairs, taken) = pairs_in(raw, at)?;
        self.add_pairs(pairs, taken);
        self.claim(at..at + 1);
        Some(at + 1)
    }

    fn add_pairs(&mut self, pairs: Vec<Pair>, taken: Option<f64>) {
        let (status, variables) =
            pairs.into_iter().partition(|pair: &Pair| pair.kind == ListingKind::Status);
        self.status.add(status, taken);
        self.variables.add(variables, taken);
    }

    /// What looks like a log among the lines that belong to nothing else.
    fn read_error_log(&mut self) {
        let rest: Vec<&str> = (0..self.lines.len())
            .map(|at| match self.claimed.get(at) {
                Some(true) => "",
                _ => self.lines.raw(at),
            })
            .collect();
        let kept = error_log::keep(&rest);
        let first = rest.iter().position(|line| error_log::is_log_line(line));
        if first.is_some() || !kept.is_empty() {
            self.push(first.unwrap_or(0), Content::ErrorLog(kept));
        }
    }

    /// Names the listings of which there were too many.
    fn tell_left_out(&mut self, place: &str) {
        let mut table = Table::new(["what", "why"]);
        for (listing, what) in [(&self.status, "status"), (&self.variables, "variables")] {
            match listing.left_out() {
                0 => {}
                left_out => table.push([
                    Some(format!("{left_out} of the {what} listings of {place}")),
                    Some(format!(
                        "it holds more than {MOMENTS_MAX}; the first and the newest were read"
                    )),
                ]),
            }
        }
        if !table.rows.is_empty() {
            self.push(0, Content::NotRead(table));
        }
    }

    fn finish(mut self, place: &str) -> Vec<Document> {
        self.tell_left_out(place);
        let listings = self
            .status
            .into_moments()
            .into_iter()
            .map(|moment| (moment, Content::Status as fn(Table) -> Content))
            .chain(
                self.variables
                    .into_moments()
                    .into_iter()
                    .map(|moment| (moment, Content::Variables as fn(Table) -> Content)),
            );
        for (moment, content) in listings {
            let first = moment.table.rows.first().and_then(|row| row.line);
            self.found.push(Found {
                line: first.unwrap_or(0).saturating_sub(1) as usize,
                taken_unix_seconds: moment.taken_unix_seconds,
                content: content(moment.table),
            });
        }
        if let Some(row) = self.metrics.rows.first() {
            self.found.push(Found {
                line: row.line.unwrap_or(1) as usize - 1,
                content: Content::Metrics(self.metrics),
                taken_unix_seconds: None,
            });
        }
        self.found.sort_by_key(|found| found.line);
        let mut counts: HashMap<Discriminant<Content>, usize> = HashMap::new();
        self.found
            .into_iter()
            .map(|found| {
                let count = counts.entry(discriminant(&found.content)).or_default();
                let moment = *count;
                *count += 1;
                Document {
                    content: found.content,
                    place: place.to_owned(),
                    moment,
                    taken_unix_seconds: found.taken_unix_seconds,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
