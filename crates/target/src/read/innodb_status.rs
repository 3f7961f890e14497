//! `SHOW ENGINE INNODB STATUS` from any server and any paste.
//!
//! The text is read by line prefix inside the section it belongs to. Sections matter because two of
//! them, TRANSACTIONS and LATEST DETECTED DEADLOCK, quote statements: a statement may hold lines
//! that look like any other part of the text. So those two end only at the heading the server
//! prints next, and nothing that is kept is ever copied: [`keep_pool_sections`] writes the parsed
//! numbers anew.

mod block;
mod region;
mod render;
mod sections;

use crate::innodb_status::InnodbStatus;
use crate::read::source::Lines;

pub(crate) use region::regions;
use sections::Parsed;

/// Reads the first InnoDB status text found in `text`, which may hold other output before and
/// behind it; `None` when there is none.
///
/// What the text does not print is `None` in the result. A text without a pool section (the server
/// cuts the text at 64,000 bytes) has `pool: None`.
pub fn parse(text: &str, place: &str) -> Option<InnodbStatus> {
    let mut status = first(text)?.status;
    status.place = place.to_owned();
    Some(status)
}

/// The first InnoDB status text in `text` reduced to what innopool reads; empty when there is none.
///
/// Only known labels and numbers come out: statement texts, accounts, hosts and table names cannot.
/// Reading the result gives what reading `text` gives.
pub fn keep_pool_sections(text: &str) -> String {
    first(text).map_or_else(String::new, |parsed| render::render(&parsed))
}

/// The kept form of one region of a file.
pub(crate) fn keep_region(lines: &Lines<'_>, region: &region::Region) -> String {
    render::render(&region.parse(lines))
}

fn first(text: &str) -> Option<Parsed> {
    let lines = Lines::new(text);
    let region = region::first(&lines)?;
    Some(region.parse(&lines))
}

#[cfg(test)]
mod tests;
