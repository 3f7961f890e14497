//! The messages on the buffer pool, told apart by how they begin.

use std::fmt::Write;

use super::entry::Entry;
use crate::log_events::LogEventKind;

/// What a message means, before messages that belong together are joined.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// An event of its own.
    Event(LogEventKind),
    /// Pages withdrawn and to withdraw by a shrink.
    Withdrawn(u64, u64),
    ResizeRetry,
    /// Bytes before and asked for.
    ResizeStarted(Option<u64>, Option<u64>),
    ResizeCompleted,
    ResizeFailed(String),
    /// Out of memory in a dump or a load; the message does not say which.
    CannotAllocate(String),
    /// A server process begins to write.
    ServerStarting,
    /// Lines of a backup tool, which runs an InnoDB of its own.
    BackupTool,
}

/// The meaning of an entry, if it concerns the pool.
pub(super) fn parse(entry: &Entry<'_>) -> Option<Message> {
    let text = entry.message.as_str();
    if entry.subsystem == Some("Xtrabackup") || text.starts_with("xtrabackup version") {
        return Some(Message::BackupTool);
    }
    if text.contains(") starting as process ") || text.starts_with("Starting MariaDB ") {
        return Some(Message::ServerStarting);
    }
    // The server's own "crash recovery" is that of its binary log.
    if !entry.innodb {
        return None;
    }
    let own = entry.own_line();
    start(text)
        .or_else(|| load(own))
        .or_else(|| dump(own))
        .or_else(|| old_percona(own))
        .or_else(|| page_cleaner(text))
        .map(Message::Event)
        .or_else(|| resize(text))
        .or_else(|| resize_failed(own))
        .or_else(|| cannot_allocate(own))
}

fn start(text: &str) -> Option<LogEventKind> {
    if let Some(rest) = text.strip_prefix("Initializing buffer pool,") {
        return Some(LogEventKind::PoolInitialised {
            size_bytes: field(rest, "size").and_then(size),
            instances: field(rest, "instances").and_then(size),
            chunk_bytes: field(rest, "chunk size").and_then(size),
        });
    }
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("cannot allocate memory for the buffer pool")
        || lower.starts_with("fatal error: cannot allocate memory for the buffer pool")
    {
        Some(LogEventKind::PoolAllocationFailed)
    } else if let Some(rest) = text.strip_prefix("Adjusting innodb_buffer_pool_instances from ") {
        let (from, rest) = rest.split_once(" to ")?;
        Some(LogEventKind::InstancesAdjusted { from: from.trim().parse().ok()?, to: number(rest)? })
    } else if lower.starts_with("starting crash recovery")
        || lower.starts_with("database was not shutdown normally")
        || lower.starts_with("database was not shut down normally")
    {
        Some(LogEventKind::CrashRecovery)
    } else if lower.starts_with("shutdown completed; log sequence number") {
        Some(LogEventKind::ShutdownCompleted)
    } else {
        None
    }
}

fn load(text: &str) -> Option<LogEventKind> {
    let failed = || LogEventKind::LoadFailed { message: text.to_owned() };
    if let Some(file) = text.strip_prefix("Loading buffer pool(s) from ") {
        return Some(LogEventKind::LoadStarted { file: file.trim().to_owned() });
    }
    if let Some(rest) = text.strip_prefix("Buffer pool(s) load ") {
        return if rest.starts_with("completed") {
            // MariaDB does not say which: the file was empty, or it had errors.
            Some(if rest.contains("had errors") { failed() } else { LogEventKind::LoadCompleted })
        } else if rest.starts_with("aborted") {
            Some(LogEventKind::LoadAborted)
        } else {
            None
        };
    }
    let cannot_read = text.starts_with("Cannot open '") && text.contains("' for reading");
    let cannot_use = (text.starts_with("Error reading '") || text.starts_with("Error parsing '"))
        && text.contains("unable to load buffer pool");
    (cannot_read || cannot_use).then(failed)
}

fn dump(text: &str) -> Option<LogEventKind> {
    if let Some(file) = text.strip_prefix("Dumping buffer pool(s) to ") {
        return Some(LogEventKind::DumpStarted { file: file.trim().to_owned() });
    }
    if text.starts_with("Buffer pool(s) dump completed at") {
        return Some(LogEventKind::DumpCompleted);
    }
    if text.starts_with("Dumping of buffer pool not started as load was incomplete") {
        return Some(LogEventKind::DumpSkipped);
    }
    let failed = (text.starts_with("Cannot open '") && text.contains("' for writing"))
        || ["Cannot write to '", "Cannot close '", "Cannot delete '"]
            .iter()
            .any(|begin| text.starts_with(begin))
        || (text.starts_with("Cannot rename '") && text.contains("' to '"));
    failed.then(|| LogEventKind::DumpFailed { message: text.to_owned() })
}

/// Percona Server 5.1 and 5.5 kept the pages in `ib_lru_dump`.
fn old_percona(text: &str) -> Option<LogEventKind> {
    let failed = || LogEventKind::LoadFailed { message: text.to_owned() };
    if text.starts_with("Restoring buffer pool pages from ") {
        let file = text.split_whitespace().next_back()?.to_owned();
        Some(LogEventKind::LoadStarted { file })
    } else if text.starts_with("Completed reading buffer pool pages") {
        Some(LogEventKind::LoadCompleted)
    } else if text.starts_with("stopped loading LRU pages") {
        Some(LogEventKind::LoadAborted)
    } else if text.starts_with("detected cycle in LRU, skipping dump") {
        Some(LogEventKind::DumpFailed { message: text.to_owned() })
    } else if text.starts_with("cannot open ib_lru_dump")
        || text.starts_with("broken LRU dump file")
        || text.starts_with("could not find the end-of-file marker")
    {
        Some(failed())
    } else {
        None
    }
}

fn resize(text: &str) -> Option<Message> {
    if let Some(rest) = text.strip_prefix("Requested to resize buffer pool") {
        let to = rest.split_once("new size: ").and_then(|(_, n)| number(n));
        return Some(Message::ResizeStarted(None, to));
    }
    if let Some(rest) = text.strip_prefix("Resizing buffer pool from ") {
        let (from, to) = rest.split_once(" to ")?;
        return Some(Message::ResizeStarted(number(from), number(to)));
    }
    if let Some(rest) = text.strip_prefix("Trying to shrink innodb_buffer_pool_size=") {
        // MariaDB says so every 15 seconds.
        let target = rest.split_once("to withdraw ").and_then(|(_, n)| number(n));
        return Some(target.map_or(Message::ResizeRetry, |target| Message::Withdrawn(0, target)));
    }
    if text.starts_with("Will retry to withdraw") {
        return Some(Message::ResizeRetry);
    }
    if let Some((_, rest)) = text
        .strip_prefix("buffer pool ")
        .and_then(|rest| rest.split_once(" : withdrawing blocks. ("))
    {
        let (done, of) = rest.split_once('/')?;
        return Some(Message::Withdrawn(number(done)?, number(of)?));
    }
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("completed resizing buffer pool")
        || lower.starts_with("completed to resize buffer pool")
        || (lower.starts_with("innodb_buffer_pool_size=") && lower.contains(") resized from "))
    {
        return Some(Message::ResizeCompleted);
    }
    None
}

fn resize_failed(text: &str) -> Option<Message> {
    let lower = text.to_ascii_lowercase();
    let failed = lower.starts_with("resizing buffer pool failed")
        || lower.starts_with("innodb_buffer_pool_size change aborted")
        || (lower.starts_with("buffer pool ")
            && (lower.contains("failed to allocate the chunk array")
                || lower.contains("failed to allocate new memory")));
    failed.then(|| Message::ResizeFailed(text.to_owned()))
}

/// `page_cleaner: 1000ms intended loop took 4138ms. ... (flushed=20 and evicted=3, ...)`, or from
/// MySQL 8.0.22 on `Page cleaner took 4138ms to flush 20 and evict 3 pages`.
fn page_cleaner(text: &str) -> Option<LogEventKind> {
    if let Some(rest) = text.strip_prefix("page_cleaner: ") {
        let (_, took) = rest.split_once(" took ")?;
        return Some(LogEventKind::PageCleanerSlow {
            took_ms: number(took)?,
            flushed_pages: number(took.split_once("flushed=")?.1)?,
            evicted_pages: took.split_once("evicted=").and_then(|(_, n)| number(n)),
        });
    }
    let rest = text.strip_prefix("Page cleaner took ")?;
    let (_, flushed) = rest.split_once(" to flush ")?;
    Some(LogEventKind::PageCleanerSlow {
        took_ms: number(rest)?,
        flushed_pages: number(flushed)?,
        evicted_pages: flushed.split_once(" evict ").and_then(|(_, n)| number(n)),
    })
}

fn cannot_allocate(text: &str) -> Option<Message> {
    let rest = text.strip_prefix("Cannot allocate ")?;
    number(rest)?;
    rest.contains(" bytes: ").then(|| Message::CannotAllocate(text.to_owned()))
}

impl Message {
    /// The message in words that are understood as this message again.
    pub(super) fn render(&self) -> String {
        let text = match self {
            Self::BackupTool => return "[Xtrabackup] backup tool".to_owned(),
            Self::ServerStarting => "mysqld () starting as process 0".to_owned(),
            Self::Withdrawn(done, of) => {
                format!("buffer pool 0 : withdrawing blocks. ({done}/{of})")
            }
            Self::ResizeRetry => "Will retry to withdraw later.".to_owned(),
            Self::ResizeStarted(None, to) => {
                let to = to.map_or_else(String::new, |to| format!(" (new size: {to} bytes)"));
                format!("Requested to resize buffer pool.{to}")
            }
            Self::ResizeStarted(Some(from), to) => {
                let to = to.map_or_else(String::new, |to| to.to_string());
                format!("Resizing buffer pool from {from} to {to}.")
            }
            Self::ResizeCompleted => "Completed resizing buffer pool.".to_owned(),
            Self::ResizeFailed(message) | Self::CannotAllocate(message) => message.clone(),
            Self::Event(kind) => render_event(kind),
        };
        format!("InnoDB: {text}")
    }
}

fn render_event(kind: &LogEventKind) -> String {
    match kind {
        LogEventKind::PoolInitialised { size_bytes, instances, chunk_bytes } => {
            let mut text = String::from("Initializing buffer pool,");
            for (name, value) in
                [("size", size_bytes), ("instances", instances), ("chunk size", chunk_bytes)]
            {
                if let Some(value) = value {
                    // Writing to a String cannot fail.
                    let _ = write!(text, " {name} = {value},");
                }
            }
            text.push(')');
            text
        }
        LogEventKind::PoolAllocationFailed => "Cannot allocate memory for the buffer pool".into(),
        LogEventKind::InstancesAdjusted { from, to } => {
            format!("Adjusting innodb_buffer_pool_instances from {from} to {to}.")
        }
        LogEventKind::LoadStarted { file } => format!("Loading buffer pool(s) from {file}"),
        LogEventKind::LoadCompleted => "Buffer pool(s) load completed".into(),
        LogEventKind::LoadAborted => "Buffer pool(s) load aborted".into(),
        LogEventKind::DumpStarted { file } => format!("Dumping buffer pool(s) to {file}"),
        LogEventKind::DumpCompleted => "Buffer pool(s) dump completed at".into(),
        LogEventKind::DumpSkipped => {
            "Dumping of buffer pool not started as load was incomplete".into()
        }
        LogEventKind::PageCleanerSlow { took_ms, flushed_pages, evicted_pages } => {
            let evicted =
                evicted_pages.map_or_else(String::new, |pages| format!(" and evict {pages} pages"));
            format!("Page cleaner took {took_ms}ms to flush {flushed_pages}{evicted}.")
        }
        LogEventKind::CrashRecovery => "Starting crash recovery.".into(),
        LogEventKind::ShutdownCompleted => "Shutdown completed; log sequence number".into(),
        LogEventKind::LoadFailed { message }
        | LogEventKind::DumpFailed { message }
        | LogEventKind::ResizeFailed { message } => message.clone(),
        // Told as messages of their own.
        LogEventKind::ResizeStarted { .. }
        | LogEventKind::ResizeRetry { .. }
        | LogEventKind::ResizeCompleted => String::new(),
    }
}

/// The whole number a text begins with, behind blanks and opening brackets.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', '(', '=']);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The value of `name = value` in a comma-separated list.
fn field<'t>(list: &'t str, name: &str) -> Option<&'t str> {
    list.split(',').find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        (key == name || (name == "size" && key == "total size")).then(|| value.trim())
    })
}

/// Bytes (or a count) from `120G`, `6.000000G`, `8.000GiB`, `256.0M` or a plain number.
fn size(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let shift = match unit.trim().chars().next() {
        None | Some('B') => 0,
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some(_) => return None,
    };
    let unit_bytes = 1_u64 << shift;
    match digits.split_once('.') {
        None => digits.parse::<u64>().ok()?.checked_mul(unit_bytes),
        Some((whole, fraction)) => {
            let whole = whole.parse::<u64>().ok()?.checked_mul(unit_bytes)?;
            let fraction: f64 = format!("0.{fraction}").parse().ok()?;
            // Below one unit, which fits by far.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let fraction = (fraction * unit_bytes as f64).round() as u64;
            whole.checked_add(fraction)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_every_spelling() {
        assert_eq!(size("120G"), Some(120 << 30));
        assert_eq!(size("6.500000G"), Some(13 << 29));
        assert_eq!(size("8.000GiB"), Some(8 << 30));
        assert_eq!(size("256.0M"), Some(256 << 20));
        assert_eq!(size("134217728"), Some(134_217_728));
        assert_eq!(size("99999999999999T"), None);
        assert_eq!(size("many"), None);
    }
}
