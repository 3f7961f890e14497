//! The walk through the sections of one status text.

use super::block::{begins_anew, fill, may_be_wrapped};
use crate::innodb_status::{InnodbStatus, LogPositions};
use crate::pool::PoolBlock;
use crate::read::source::has_rule_beside;
use crate::read::tidy::{is_rule, leading_count};

/// A thread printed as waiting for a latch of the buffer pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiter {
    /// Source file of the server, without directory.
    pub(super) file: String,
    /// Line in it.
    pub(super) line: u64,
}

/// Everything that is read from, and kept of, one text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Parsed {
    pub(super) status: InnodbStatus,
    pub(super) waiters: Vec<Waiter>,
}

/// The headings that tell where we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Title {
    Semaphores,
    Errors,
    Transactions,
    FileIo,
    Log,
    Pool,
    Individual,
    Other,
    End,
}

/// The heading a tidy line holds, with or without dashes around it.
pub(super) fn title(line: &str) -> Option<Title> {
    // No heading is longer; this also keeps huge lines cheap.
    let text = line.trim_matches(['-', '=', ' ']);
    if text.len() > 40 {
        return None;
    }
    Some(match text {
        "semaphores" => Title::Semaphores,
        "latest foreign key error" | "latest detected deadlock" => Title::Errors,
        "transactions" => Title::Transactions,
        "file i/o" => Title::FileIo,
        "log" => Title::Log,
        "buffer pool and memory" => Title::Pool,
        "individual buffer pool info" => Title::Individual,
        "background thread" | "insert buffer and adaptive hash index" | "row operations" => {
            Title::Other
        }
        "end of innodb monitor output" => Title::End,
        _ => return None,
    })
}

/// Reads one status text.
#[derive(Debug)]
pub(super) struct Reader {
    parsed: Parsed,
    section: Title,
    /// TRANSACTIONS may end at a section other than the one the server prints next.
    lenient: bool,
    file_io_seen: bool,
    transactions_listed: bool,
    /// A block whose `---BUFFER POOL` line was seen.
    in_instance: bool,
}

impl Reader {
    /// A reader that trusts no heading a quoted statement could hold.
    pub(super) fn strict() -> Self {
        Self {
            parsed: Parsed::default(),
            section: Title::Other,
            lenient: false,
            file_io_seen: false,
            transactions_listed: false,
            in_instance: false,
        }
    }

    /// A reader for pastes in which sections are missing: the last pool section counts.
    pub(super) fn lenient() -> Self {
        Self { lenient: true, ..Self::strict() }
    }

    /// Reads tidy lines.
    pub(super) fn read(mut self, lines: &[String]) -> Parsed {
        self.parsed.status.truncated = true;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            if let Some(title) = title(line)
                && (title == Title::End
                    || has_rule_beside(lines, at - 1)
                    || line.starts_with("--")
                    || line.ends_with("--")
                    || (title == Title::Pool && !self.is_quoting()))
            {
                if title == Title::End {
                    let is_last = || {
                        let rest = lines.get(at..).unwrap_or(&[]);
                        rest.iter().all(|line| line.is_empty() || is_rule(line))
                    };
                    // A quoted statement may hold the end mark; the server's own is the last line.
                    if !self.is_quoting() || self.parsed.status.pool.is_some() || is_last() {
                        self.parsed.status.truncated = false;
                        break;
                    }
                    continue;
                }
                self.enter(title);
                continue;
            }
            let next = lines.get(at).map_or("", String::as_str);
            if may_be_wrapped(line) && !begins_anew(next) && next.len() < 200 {
                self.line(&format!("{line} {next}"));
            } else {
                self.line(line);
            }
        }
        self.finish()
    }

    fn is_quoting(&self) -> bool {
        matches!(self.section, Title::Transactions | Title::Errors)
    }

    /// Goes on to the section under a heading, unless a quoted statement may hold that heading.
    fn enter(&mut self, title: Title) {
        let status = &mut self.parsed.status;
        let believed = match (self.section, title) {
            (_, Title::End) => return,
            // XtraDB prints TRANSACTIONS last; everybody else FILE I/O behind it.
            (Title::Transactions, Title::FileIo) => status.pool.is_none(),
            (Title::Transactions, Title::Log | Title::Pool) => self.lenient,
            (Title::Transactions, _) => false,
            (Title::Errors, next) => {
                matches!(next, Title::Errors | Title::Transactions)
            }
            _ => true,
        };
        if !believed {
            return;
        }
        if title == Title::FileIo {
            if self.file_io_seen {
                // The earlier one was quoted, and with it what seemed to follow.
                status.pool = None;
                status.instances.clear();
                status.log = LogPositions::default();
            }
            self.file_io_seen = true;
        }
        if title == Title::Semaphores {
            status.pool_latch_waiters.get_or_insert(0);
        }
        if title == Title::Pool {
            if self.lenient {
                status.pool = None;
                status.instances.clear();
            }
            status.pool.get_or_insert_default();
        }
        self.section = title;
        self.in_instance = false;
    }

    fn line(&mut self, line: &str) {
        match self.section {
            Title::Transactions => {
                self.transactions_listed |=
                    line.starts_with("list of transactions") || line.starts_with("---transaction");
                if !self.transactions_listed {
                    self.history(line);
                }
            }
            Title::Errors => {}
            Title::Semaphores => self.semaphore(line),
            Title::Pool | Title::Individual => {
                self.log_position(line);
                self.pool_line(line);
            }
            _ => {
                self.averages(line);
                self.history(line);
                self.log_position(line);
                if self.section == Title::Other && is_pool_start(line) {
                    self.parsed.status.pool.get_or_insert_default();
                    self.section = Title::Pool;
                    self.pool_line(line);
                }
            }
        }
    }

    fn averages(&mut self, line: &str) {
        let status = &mut self.parsed.status;
        if status.averages_seconds.is_none()
            && let Some(rest) = line.strip_prefix("per second averages calculated from the last")
        {
            status.averages_seconds = leading_count(rest);
        }
    }

    fn history(&mut self, line: &str) {
        let status = &mut self.parsed.status;
        if status.history_list_length.is_none()
            && let Some(rest) = line.strip_prefix("history list length")
        {
            status.history_list_length = leading_count(rest);
        }
    }

    fn semaphore(&mut self, line: &str) {
        if let Some(waiter) = waiter(line) {
            self.parsed.waiters.push(waiter);
        }
    }

    fn log_position(&mut self, line: &str) {
        let log = &mut self.parsed.status.log;
        for (label, position) in [
            ("log sequence number", &mut log.current_lsn),
            ("log flushed up to", &mut log.flushed_lsn),
            ("pages flushed up to", &mut log.pages_flushed_lsn),
            ("last checkpoint at", &mut log.checkpoint_lsn),
        ] {
            if position.is_none()
                && let Some(rest) = line.strip_prefix(label)
            {
                *position = lsn(rest);
            }
        }
    }

    fn pool_line(&mut self, line: &str) {
        let status = &mut self.parsed.status;
        if let Some(number) =
            line.strip_prefix("---buffer pool ").or_else(|| line.strip_prefix("--buffer pool "))
            && leading_count(number).is_some()
        {
            status.instances.push(PoolBlock::default());
            self.in_instance = true;
            return;
        }
        if self.in_instance {
            if let Some(block) = status.instances.last_mut() {
                fill(block, line);
            }
            return;
        }
        // A second line begins alike: "Total memory allocated by read views".
        let total = line
            .strip_prefix("total large memory allocated")
            .or_else(|| line.strip_prefix("total memory allocated"));
        if let Some(rest) = total
            && status.total_memory_bytes.is_none()
        {
            status.total_memory_bytes = leading_count(rest);
        }
        if let Some(rest) = line.strip_prefix("dictionary memory allocated")
            && status.dictionary_memory_bytes.is_none()
        {
            status.dictionary_memory_bytes = leading_count(rest);
        }
        if let Some(pool) = &mut status.pool {
            fill(pool, line);
        }
    }

    fn finish(mut self) -> Parsed {
        let status = &mut self.parsed.status;
        if let Some(count) = &mut status.pool_latch_waiters {
            *count = self.parsed.waiters.len() as u64;
        }
        // A heading alone (the text was cut right behind it) is no pool section.
        if status.pool.as_ref() == Some(&PoolBlock::default()) {
            status.pool = None;
        }
        if status.pool.is_none() {
            status.total_memory_bytes = None;
            status.dictionary_memory_bytes = None;
        }
        status.rates_unusable = rates_unusable(status);
        self.parsed
    }
}

fn is_pool_start(line: &str) -> bool {
    ["buffer pool size ", "total large memory allocated "]
        .iter()
        .any(|label| line.strip_prefix(label).and_then(leading_count).is_some())
}

/// A position in the log: one number, or in servers before 5.1's plugin the upper and lower 32 bits
/// as two.
fn lsn(rest: &str) -> Option<u64> {
    let mut words = rest.trim_start_matches([' ', ':']).split(' ');
    let first: u64 = words.next()?.parse().ok()?;
    let low = words.next().and_then(|word| word.parse::<u32>().ok());
    match (u32::try_from(first), low) {
        (Ok(high), Some(low)) => Some(u64::from(high) << 32 | u64::from(low)),
        _ => Some(first),
    }
}

/// `--Thread 1 has waited at buf0buf.cc line 2 for 0 seconds the semaphore:`.
fn waiter(line: &str) -> Option<Waiter> {
    let rest = line.strip_prefix("--thread ")?.split_once(" has waited at ")?.1;
    let (path, rest) = rest.split_once(" line ")?;
    let file = path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = file.split_once('.')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let of_the_pool = stem.starts_with("buf0")
        && stem.len() <= 24
        && stem.chars().all(plain)
        && matches!(extension, "cc" | "c" | "ic" | "h");
    of_the_pool.then(|| Waiter { file: file.to_owned(), line: leading_count(rest).unwrap_or(0) })
}

/// Printed rates mean nothing when averaged over less than two seconds, or when every one is a
/// multiple of 1000: the server then divided by a thousandth of a second.
fn rates_unusable(status: &InnodbStatus) -> bool {
    if status.averages_seconds.is_some_and(|seconds| seconds < 2) {
        return true;
    }
    let Some(pool) = &status.pool else {
        return false;
    };
    let rates: Vec<f64> = [
        pool.reads_per_second,
        pool.writes_per_second,
        pool.youngs_per_second,
        pool.read_ahead_per_second,
        pool.evicted_without_access_per_second,
    ]
    .into_iter()
    .flatten()
    .filter(|rate| *rate > 0.0)
    .collect();
    rates.len() > 1 && rates.iter().all(|rate| rate % 1000.0 == 0.0)
}
