//! One entry of an error log: its time, its subsystem and its message.

/// An entry, perhaps wrapped over several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry<'t> {
    /// Line it begins at, from 1.
    pub(super) line: u32,
    /// The time at its head, as printed.
    pub(super) logged_at: Option<String>,
    /// The subsystem MySQL 8 names in brackets.
    pub(super) subsystem: Option<&'t str>,
    /// What it says, without level, code and the word `InnoDB:`.
    pub(super) message: String,
    /// Bytes of the message that stand on the entry's own line.
    own_bytes: usize,
    /// It is about InnoDB, or names no subsystem at all.
    pub(super) innodb: bool,
}

impl Entry<'_> {
    /// What stands before the message when the entry is written anew.
    pub(super) fn head(&self) -> String {
        let time = self.logged_at.as_deref().unwrap_or("");
        let gap = if time.is_empty() { "" } else { " " };
        format!("{time}{gap}[Note] ")
    }

    /// The message as far as it stands on the entry's own line.
    pub(super) fn own_line(&self) -> &str {
        self.message.get(..self.own_bytes).unwrap_or(&self.message)
    }
}

const LEVELS: &[&str] = &["[Note]", "[Warning]", "[ERROR]", "[System]", "[Entry]"];

/// Longest line and entry that are looked at; longer ones are no message of the pool.
const MAX_LINE_BYTES: usize = 8192;

/// True for a line with the level in brackets behind a time or in front of InnoDB's name.
pub(crate) fn is_log_line(raw: &str) -> bool {
    let raw = head(raw);
    let Some((at, level)) = level(raw) else {
        return false;
    };
    let (before, after) = (raw.get(..at), raw.get(at + level.len()..));
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    time(before).is_some()
        || (before.trim().is_empty() && (after.contains("InnoDB") || after.contains("[MY-")))
}

/// The part of a line that is looked at.
fn head(raw: &str) -> &str {
    if raw.len() <= MAX_LINE_BYTES {
        return raw;
    }
    let end = (0..=MAX_LINE_BYTES).rev().find(|end| raw.is_char_boundary(*end)).unwrap_or(0);
    raw.get(..end).unwrap_or("")
}

/// The first level in brackets and where it stands.
fn level(raw: &str) -> Option<(usize, &'static str)> {
    // Only the front of a line: a message may quote a level.
    let front = raw.char_indices().nth(200).map_or(raw, |(at, _)| raw.get(..at).unwrap_or(raw));
    // Most lines of most files end here.
    if !front.contains('[') {
        return None;
    }
    LEVELS.iter().filter_map(|level| front.find(level).map(|at| (at, *level))).min()
}

/// Takes lines apart into entries; lines that are not of a server's log are left out.
pub(super) fn entries<'t>(lines: &[&'t str]) -> Vec<Entry<'t>> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let Some(mut entry) = entry(head(line)) else {
            continue;
        };
        entry.line = u32::try_from(at + 1).unwrap_or(u32::MAX);
        // At most two more lines, as far as a mailer or a PDF wraps.
        for rest in lines.iter().skip(at + 1).take(2) {
            let rest = rest.trim();
            if rest.is_empty() || rest.len() > 200 || !wants_more(&entry.message) || is_entry(rest)
            {
                break;
            }
            entry.message.push(' ');
            entry.message.push_str(rest);
        }
        found.push(entry);
    }
    found
}

/// True for messages whose numbers may have been wrapped to the next line. Only the numbers are
/// read from there.
fn wants_more(message: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "Adjusting innodb_buffer_pool_instances",
        "Completed to resize",
        "completed to resize",
        "Initializing buffer pool",
        "Page cleaner took",
        "page_cleaner:",
        "Requested to resize",
        "Resizing buffer pool from",
    ];
    !message.ends_with(['.', ')']) && BEGINNINGS.iter().any(|begin| message.starts_with(begin))
}

fn is_entry(line: &str) -> bool {
    is_log_line(line) || line.starts_with("InnoDB:") || line.starts_with("[Note]")
}

/// Takes one line apart.
fn entry(raw: &str) -> Option<Entry<'_>> {
    let raw = unwrap_json(raw)?;
    let (before, mut rest) = match level(raw) {
        Some((at, level)) => (raw.get(..at)?, raw.get(at + level.len()..)?),
        None => {
            // Servers before 5.7 print InnoDB's messages without a level.
            let at = raw.find("InnoDB: ")?;
            (raw.get(..at)?, raw.get(at..)?)
        }
    };
    let logged_at = time(before);
    // A level or the word InnoDB in the middle of a line is a quotation.
    if logged_at.is_none() && !before.trim().is_empty() && !before.trim_end().ends_with('|') {
        return None;
    }
    let mut subsystem = None;
    let mut innodb = false;
    loop {
        rest = rest.trim_start();
        if let Some((name, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            if name.len() > 20 {
                break;
            }
            let name = name.trim();
            if !name.starts_with("MY-") {
                innodb |= name == "InnoDB";
                subsystem.get_or_insert(name);
            }
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("InnoDB:") {
            innodb = true;
            rest = behind;
        } else {
            break;
        }
    }
    let message = without_status_code(rest.trim());
    Some(Entry {
        line: 0,
        logged_at,
        subsystem,
        innodb: innodb || subsystem.is_none(),
        own_bytes: message.len(),
        message: message.to_owned(),
    })
}

/// Drops `Status code 3: ` (MySQL 8.0.31 and later).
fn without_status_code(message: &str) -> &str {
    message
        .strip_prefix("Status code ")
        .and_then(|rest| rest.split_once(": "))
        .filter(|(code, _)| code.trim().bytes().all(|b| b.is_ascii_digit()))
        .map_or(message, |(_, rest)| rest)
}

/// The line inside a container's JSON wrapping; `None` for what a backup tool wrote.
fn unwrap_json(raw: &str) -> Option<&str> {
    let Some(rest) = raw.trim_start().strip_prefix("{\"log\":\"") else {
        return Some(raw);
    };
    if rest.contains("innobackup") || rest.contains("xtrabackup") || rest.contains("mariabackup") {
        return None;
    }
    let end = rest.find("\",\"").unwrap_or(rest.len());
    let line = rest.get(..end)?;
    Some(line.strip_suffix("\\n").unwrap_or(line))
}

/// The first time printed in `text` that a server writes at the head of a line.
///
/// Understands `2024-05-06T07:08:09.123456Z`, `2024-05-06  7:08:09`, `240506  7:08:09`, blanks
/// between all parts (copied from a PDF), and journald's `May 06 07:08:09` where nothing else is.
fn time(text: &str) -> Option<String> {
    let starts = text
        .char_indices()
        .filter(|(_, c)| c.is_ascii_digit())
        .map(|(at, _)| at)
        .filter(|at| {
            text.get(..*at).is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_digit()))
        })
        .take(64);
    for start in starts {
        let rest = text.get(start..)?;
        if let Some(time) = full_time(rest).or_else(|| short_time(rest)) {
            return Some(time);
        }
    }
    syslog_time(text.trim_start())
}

/// Reads digits and separators, allowing blanks between them.
struct Cursor<'t> {
    rest: &'t str,
    read: usize,
}

impl Cursor<'_> {
    fn blanks(&mut self) -> usize {
        let trimmed = self.rest.trim_start_matches([' ', '\u{a0}']);
        let blanks = self.rest.len() - trimmed.len();
        self.rest = trimmed;
        self.read += blanks;
        blanks
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<()> {
        self.blanks();
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if !(least..=most).contains(&count) {
            return None;
        }
        self.rest = self.rest.get(count..)?;
        self.read += count;
        Some(())
    }

    fn sign(&mut self, signs: &[char]) -> Option<()> {
        self.blanks();
        let sign = self.rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = self.rest.get(sign.len_utf8()..)?;
        self.read += sign.len_utf8();
        Some(())
    }

    fn clock(&mut self) -> Option<()> {
        self.digits(1, 2)?;
        self.sign(&[':'])?;
        self.digits(2, 2)?;
        self.sign(&[':'])?;
        self.digits(2, 2)
    }
}

fn full_time(text: &str) -> Option<String> {
    let mut cursor = Cursor { rest: text, read: 0 };
    cursor.digits(4, 4)?;
    cursor.sign(&['-'])?;
    cursor.digits(2, 2)?;
    cursor.sign(&['-'])?;
    cursor.digits(2, 2)?;
    let date_end = cursor.read;
    // Copied from a PDF, with blanks between all parts.
    let spaced = text.get(..date_end)?.contains(' ');
    let t = cursor.sign(&['T']).is_some();
    let clock_start = cursor.read;
    cursor.clock()?;
    let mut end = cursor.read;
    if cursor.sign(&['.']).is_some() && cursor.digits(1, 9).is_some() {
        end = cursor.read;
    } else {
        cursor.rest = text.get(end..)?;
        cursor.read = end;
    }
    let zone = if cursor.blanks() > 0 && !spaced {
        None
    } else if cursor.sign(&['Z']).is_some() {
        Some(())
    } else {
        cursor
            .sign(&['+', '-'])
            .and_then(|()| cursor.digits(2, 2))
            .and_then(|()| cursor.sign(&[':']))
            .and_then(|()| cursor.digits(2, 2))
    };
    if zone.is_some() {
        end = cursor.read;
    }
    if !spaced {
        return text.get(..end).map(str::to_owned);
    }
    let close = |part: &str| part.replace([' ', '\u{a0}'], "");
    let date = close(text.get(..date_end)?);
    let clock = close(text.get(clock_start..end)?);
    Some(format!("{date}{}{clock}", if t { 'T' } else { ' ' }))
}

/// `240506  7:08:09`.
fn short_time(text: &str) -> Option<String> {
    let mut cursor = Cursor { rest: text, read: 0 };
    cursor.digits(6, 6)?;
    if cursor.blanks() == 0 {
        return None;
    }
    cursor.clock()?;
    text.get(..cursor.read).map(str::to_owned)
}

/// `May 06 07:08:09` at the front of a line.
fn syslog_time(text: &str) -> Option<String> {
    const MONTHS: &[&str] =
        &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let rest = MONTHS
        .iter()
        .find_map(|month| text.strip_prefix(month))
        .filter(|rest| rest.starts_with(' '))?;
    let mut cursor = Cursor { rest, read: 3 };
    cursor.digits(1, 2)?;
    cursor.clock()?;
    text.get(..cursor.read).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_kept_as_printed() {
        for (text, time_printed) in [
            ("2024-05-06T07:08:09.123456Z 0 ", "2024-05-06T07:08:09.123456Z"),
            ("db_1 | 2024-05-06  7:08:09 0 ", "2024-05-06  7:08:09"),
            ("x 2024-05-06T07:08:09.1+02:00 3", "2024-05-06T07:08:09.1+02:00"),
            ("240506  7:08:09 ", "240506  7:08:09"),
            ("2024 - 05 - 06 T 07 : 08 : 09. 123 Z 5", "2024-05-06T07:08:09.123Z"),
            ("2024 - 05 - 06 07 : 08 : 09 5", "2024-05-06 07:08:09"),
            ("2024-05-06 07:08:09 - 5", "2024-05-06 07:08:09"),
            ("May  6 07:08:09 db mysqld[7]: ", "May  6 07:08:09"),
            ("May  6 07:08:09 db mysqld[7]: 2024-05-06  7:08:10 0", "2024-05-06  7:08:10"),
        ] {
            assert_eq!(time(text).as_deref(), Some(time_printed), "{text}");
        }
        assert_eq!(time("17 20:1:1 5"), None);
    }

    #[test]
    fn a_level_needs_a_time_or_innodb() {
        assert!(is_log_line("2024-05-06 07:08:09 0 [Note] x"));
        assert!(is_log_line("[Note] [MY-012398] [InnoDB] x"));
        assert!(!is_log_line("[Note]"));
        assert!(!is_log_line("remember [Note] this"));
    }
}
