//! Where status texts begin and end in a file that may hold other output as well.

use std::ops::Range;

use super::block::split_at_labels;
use super::sections::{Parsed, Reader, Title, title};
use crate::read::source::{Lines, has_rule_beside};
use crate::read::tidy::{is_rule, leading_count, tidy};

/// The lines of one status text.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    /// From its first line to behind its last.
    pub(crate) lines: Range<usize>,
    /// The text stands on one line, with line breaks written as `\n` (the client's batch mode).
    escaped: bool,
}

impl Region {
    /// Reads the region.
    pub(super) fn parse(&self, lines: &Lines<'_>) -> Parsed {
        if self.escaped {
            let text = unescape(lines.raw(self.lines.start));
            let text: Vec<String> = text.split('\n').map(tidy).collect();
            parse_tidy(&text)
        } else {
            parse_tidy(lines.tidy.get(self.lines.clone()).unwrap_or(&[]))
        }
    }
}

/// Reads tidy lines, the strict way first.
fn parse_tidy(lines: &[String]) -> Parsed {
    let split: Vec<&str> = lines.iter().flat_map(|line| split_at_labels(line)).collect();
    if split.len() == lines.len() {
        return read_both_ways(lines);
    }
    let split: Vec<String> = split.into_iter().map(str::to_owned).collect();
    read_both_ways(&split)
}

/// A complete text has a pool section. If none was found, the heading that ends TRANSACTIONS was
/// cut from the paste, and the last pool section is the server's.
fn read_both_ways(lines: &[String]) -> Parsed {
    let strict = Reader::strict().read(lines);
    if strict.status.pool.is_none() && !strict.status.truncated {
        Reader::lenient().read(lines)
    } else {
        strict
    }
}

/// The first status text.
pub(super) fn first(lines: &Lines<'_>) -> Option<Region> {
    next(lines, &Marks::new(lines), 0)
}

/// All status texts, in order; they do not overlap.
pub(crate) fn regions(lines: &Lines<'_>) -> Vec<Region> {
    let marks = Marks::new(lines);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(region) = next(lines, &marks, from) {
        // A region always holds the line it was recognised by, so this ends.
        from = region.lines.end.max(from + 1);
        found.push(region);
    }
    found
}

/// How a status text may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Banner,
    Escaped,
    Part,
}

/// Where banners and end marks stand; looked up, so that a file of countless banners is not searched
/// once for each.
struct Marks {
    banners: Vec<usize>,
    ends: Vec<usize>,
}

impl Marks {
    fn new(lines: &Lines<'_>) -> Self {
        let all = 0..lines.len();
        Self {
            banners: all
                .clone()
                .filter(|line| is_banner(lines.tidy(*line)) && is_rule_above(lines, *line))
                .collect(),
            ends: all.filter(|line| title(lines.tidy(*line)) == Some(Title::End)).collect(),
        }
    }

    fn next_banner(&self, behind: usize) -> Option<usize> {
        let at = self.banners.partition_point(|line| *line <= behind);
        self.banners.get(at).copied()
    }

    fn ends_between(&self, from: usize, to: usize) -> &[usize] {
        let start = self.ends.partition_point(|line| *line <= from);
        let end = self.ends.partition_point(|line| *line < to);
        self.ends.get(start..end).unwrap_or(&[])
    }
}

fn next(lines: &Lines<'_>, marks: &Marks, from: usize) -> Option<Region> {
    let (at, start) =
        (from..lines.len()).find_map(|at| starts_at(lines, at).map(|start| (at, start)))?;
    let end = match start {
        Start::Escaped => at + 1,
        Start::Banner => banner_end(lines, marks, at),
        Start::Part => part_end(lines, at),
    };
    Some(Region { lines: at..end, escaped: start == Start::Escaped })
}

fn starts_at(lines: &Lines<'_>, at: usize) -> Option<Start> {
    let (raw, line) = (lines.raw(at), lines.tidy(at));
    if line.is_empty() {
        return None;
    }
    let named = line.contains("innodb monitor output") || line.contains("buffer pool and memory");
    if named && raw.contains("\\n") {
        return Some(Start::Escaped);
    }
    if is_banner(line) {
        return Some(Start::Banner);
    }
    let part = match title(line) {
        Some(Title::End) | None => {
            (named && split_at_labels(line).len() > 1) || is_bare_pool_line(line)
        }
        Some(_) => has_rule_beside(&lines.tidy, at),
    };
    part.then_some(Start::Part)
}

/// `2024-05-06 07:08:09 0x7f.. INNODB MONITOR OUTPUT`.
fn is_banner(line: &str) -> bool {
    line.strip_suffix("innodb monitor output")
        .is_some_and(|before| !before.contains("end of") && before.len() < 64)
}

/// A line of the pool section that nothing else prints.
fn is_bare_pool_line(line: &str) -> bool {
    ["buffer pool size ", "total large memory allocated "]
        .iter()
        .any(|label| line.strip_prefix(label).and_then(leading_count).is_some())
}

/// A text with a banner ends at its end mark; without one at the next banner or other output.
///
/// An end mark before which there is no pool section stands in a quoted statement if another
/// follows, so the next one counts.
fn banner_end(lines: &Lines<'_>, marks: &Marks, at: usize) -> usize {
    // Few end marks are tried: each costs a reading.
    const TRIED: usize = 5;
    let next_banner = marks.next_banner(at).unwrap_or(lines.len());
    let next_output = |from: usize| {
        (from..next_banner).find(|line| lines.begins_output(*line)).unwrap_or(next_banner)
    };
    let ends = marks.ends_between(at, next_banner);
    let Some(last) = ends.last().map(|line| behind_end_mark(lines, *line)) else {
        return next_output(at + 1);
    };
    let has_pool = |end: &usize| {
        let text = lines.tidy.get(at..*end).unwrap_or(&[]);
        Reader::strict().read(text).status.pool.is_some()
    };
    let tried = ends.iter().take(TRIED);
    if let Some(end) = tried.map(|line| behind_end_mark(lines, *line)).find(has_pool) {
        end
    } else if goes_on(lines, last..next_banner) {
        next_output(last)
    } else {
        last
    }
}

/// True when more of a status text stands behind what looked like its end.
fn goes_on(lines: &Lines<'_>, rest: Range<usize>) -> bool {
    rest.take_while(|line| !lines.begins_output(*line) && !is_banner(lines.tidy(*line)))
        .any(|line| title(lines.tidy(line)).is_some() || is_bare_pool_line(lines.tidy(line)))
}

fn is_rule_above(lines: &Lines<'_>, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|above| is_rule(lines.tidy(above)))
}

fn behind_end_mark(lines: &Lines<'_>, mark: usize) -> usize {
    let next = mark + 1;
    if is_rule(lines.tidy(next)) { next + 1 } else { next }
}

/// A part of a text (no banner) ends at an end mark, at other output, or where a second part
/// begins.
fn part_end(lines: &Lines<'_>, at: usize) -> usize {
    let is_pool = |line: usize| title(lines.tidy(line)) == Some(Title::Pool);
    let mut pool_seen = is_pool(at);
    for line in at + 1..lines.len() {
        match title(lines.tidy(line)) {
            Some(Title::End) => return behind_end_mark(lines, line),
            Some(Title::Pool | Title::Log) if pool_seen && has_rule_beside(&lines.tidy, line) => {
                return if is_rule_above(lines, line) { line - 1 } else { line };
            }
            Some(Title::Pool) => pool_seen = true,
            _ => {}
        }
        let banner = is_banner(lines.tidy(line));
        if banner || lines.begins_output(line) {
            let above = banner && is_rule_above(lines, line) && line - 1 > at;
            return if above { line - 1 } else { line };
        }
    }
    lines.len()
}

/// Resolves the escapes of the client's batch mode.
fn unescape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('\\') | None => text.push('\\'),
            Some(other) => {
                text.push('\\');
                text.push(other);
            }
        }
    }
    text
}
