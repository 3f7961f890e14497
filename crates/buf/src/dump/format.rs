//! The text of a dump file: read, with every bad line named, and written.
//!
//! Reading takes what the servers' own reading takes, and never stops at a bad line: whether one spoils the file is for
//! the caller to say ([`Parsed::check`]). Memory is bounded by the pages found, however long a line is.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use innopool_policy::PageId;
use thiserror::Error;

/// Two numbers of ten digits, the comma, blanks around them, the line's end: a longer line is no page.
const LINE_BYTES_MAX: usize = 64;

/// Bad lines that are kept one by one; the rest are counted.
const BAD_LINES_KEPT: usize = 100;

/// What a dump file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The pages, in the order of their lines.
    pub pages: Vec<PageId>,
    /// The first hundred lines that are no page.
    pub bad_lines: Vec<BadLine>,
    /// How many lines are no page.
    pub bad_lines_total: u64,
    /// Number of lines, from 1 for a file of one line; 0 for an empty file.
    pub lines: u64,
    /// Whether the file ends within a line. That line is a bad one even if it looks like a page, since its number may have
    /// lost digits.
    pub truncated: bool,
}

/// A line that is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: BadLineReason,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadLineReason {
    /// It is not two numbers with a comma between; its first bytes.
    NotAPair(String),
    /// The tablespace's number has more than 32 bits.
    SpaceTooLarge(String),
    /// The page's number has more than 32 bits.
    PageTooLarge(String),
    /// It is longer than a page's line can be.
    TooLong,
    /// It has zero bytes: the file is no text, perhaps another program's dump.
    Binary,
    /// The file ends within it.
    CutOff,
}

impl fmt::Display for BadLineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadLineReason::NotAPair(text) => {
                write!(f, "`{text}` is not a tablespace and a page as in `5,17`")
            }
            BadLineReason::SpaceTooLarge(text) => {
                write!(f, "tablespace number {text} has more than 32 bits")
            }
            BadLineReason::PageTooLarge(text) => {
                write!(f, "page number {text} has more than 32 bits")
            }
            BadLineReason::TooLong => {
                write!(f, "it is longer than {LINE_BYTES_MAX} bytes, so it is no line of a dump")
            }
            BadLineReason::Binary => write!(f, "it has zero bytes, so this is no dump in text"),
            BadLineReason::CutOff => write!(f, "the file ends within it: it was cut off"),
        }
    }
}

/// A dump file with lines that are no page.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}:{}: {}", first.line, self.what())]
pub struct BadDump {
    /// The file, as the caller calls it.
    pub name: String,
    /// The first bad line.
    pub first: BadLine,
    /// How many there are.
    pub bad_lines_total: u64,
    /// Pages in the good lines.
    pub pages: usize,
}

impl BadDump {
    /// What is wrong and what can be saved, without the place.
    pub fn what(&self) -> String {
        format!(
            "{}; {} pages can be salvaged, all but the bad lines' ({} of those)",
            self.first.why, self.pages, self.bad_lines_total
        )
    }
}

impl Parsed {
    /// Checks that every line was a page. `name` is the file's, for the message.
    ///
    /// # Errors
    ///
    /// [`BadDump`], naming the first bad line.
    pub fn check(&self, name: &str) -> Result<(), BadDump> {
        match self.bad_lines.first() {
            None => Ok(()),
            Some(first) => Err(BadDump {
                name: name.to_owned(),
                first: first.clone(),
                bad_lines_total: self.bad_lines_total,
                pages: self.pages.len(),
            }),
        }
    }
}

/// Reads a dump file. Blank lines, and blanks around the numbers, are passed over as the servers do; so is a carriage
/// return at the end.
///
/// # Errors
///
/// Of `input` only.
pub fn parse(mut input: impl BufRead) -> io::Result<Parsed> {
    let mut parsed = Parsed::default();
    let mut line = Vec::with_capacity(LINE_BYTES_MAX);
    loop {
        line.clear();
        let ended = read_line(&mut input, &mut line)?;
        if line.is_empty() && ended.is_none() {
            return Ok(parsed);
        }
        parsed.lines += 1;
        let read = match ended {
            Some(true) => parse_line(&line),
            Some(false) => Err(BadLineReason::TooLong),
            None => Err(BadLineReason::CutOff),
        };
        parsed.truncated = ended.is_none();
        match read {
            Ok(page) => parsed.pages.extend(page),
            Err(why) => {
                parsed.bad_lines_total += 1;
                if parsed.bad_lines.len() < BAD_LINES_KEPT {
                    parsed.bad_lines.push(BadLine { line: parsed.lines, why });
                }
            }
        }
    }
}

/// Reads a line without its end into `line`, or passes over it if it is too long. `Some(true)`: the line is there;
/// `Some(false)`: it was too long; `None`: the file ended first.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let mut too_long = false;
    loop {
        let most = (LINE_BYTES_MAX + 1) as u64;
        input.by_ref().take(most).read_until(b'\n', line)?;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(!too_long));
        }
        if line.len() <= LINE_BYTES_MAX {
            // The file has ended. Of a long line keep a byte, so that it does not look like the end of the one before.
            line.extend(too_long.then_some(b'x'));
            return Ok(None);
        }
        too_long = true;
        line.clear();
    }
}

/// `None` for a blank line.
fn parse_line(line: &[u8]) -> Result<Option<PageId>, BadLineReason> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    if text.contains(&0) {
        return Err(BadLineReason::Binary);
    }
    let shown = || String::from_utf8_lossy(text).chars().take(32).collect::<String>();
    let comma = text.iter().position(|&byte| byte == b',');
    let pair = comma.map(|at| (text[..at].trim_ascii(), text[at + 1..].trim_ascii()));
    let numbers = pair.and_then(|(space, page)| Some((digits(space)?, digits(page)?)));
    let (space, page) = numbers.ok_or_else(|| BadLineReason::NotAPair(shown()))?;
    match (space.parse(), page.parse()) {
        (Ok(space), Ok(page_no)) => Ok(Some(PageId::new(space, page_no))),
        // Digits alone fail to parse only when there are too many.
        (Err(_), _) => Err(BadLineReason::SpaceTooLarge(space.to_owned())),
        (_, Err(_)) => Err(BadLineReason::PageTooLarge(page.to_owned())),
    }
}

/// `text` as a string if it is digits only; a sign is none.
fn digits(text: &[u8]) -> Option<&str> {
    let number = std::str::from_utf8(text).ok()?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Writes `pages`, a line each, byte for byte as the servers do.
///
/// # Errors
///
/// Of `output`.
pub fn write(mut output: impl Write, pages: impl IntoIterator<Item = PageId>) -> io::Result<()> {
    for page in pages {
        writeln!(output, "{},{}", page.space, page.page_no)?;
    }
    output.flush()
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
