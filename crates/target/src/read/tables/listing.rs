//! Names and values gathered into one table per moment.

use std::collections::HashSet;

use crate::allow;
use crate::table::{Row, Table};

/// The two kinds of name and value listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListingKind {
    /// `SHOW GLOBAL STATUS`.
    Status,
    /// `SHOW GLOBAL VARIABLES`.
    Variables,
}

/// One name with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    /// What the name is of.
    pub(crate) kind: ListingKind,
    /// The name as printed; on the allow-list.
    pub(crate) name: String,
    /// The value as printed.
    pub(crate) value: String,
    /// Index of its line, from 0.
    pub(crate) line: usize,
    /// What may come only once in a moment: the name, or a metric with its labels.
    pub(crate) key: String,
}

impl Pair {
    /// A pair if its name is on an allow-list. `hint` decides for a name that is on both.
    pub(crate) fn new(
        name: &str,
        value: &str,
        line: usize,
        hint: Option<ListingKind>,
    ) -> Option<Self> {
        let name = name.trim();
        let kind = printed_kind(name, hint)?;
        Some(Self {
            kind,
            name: name.to_owned(),
            value: value.to_owned(),
            line,
            key: name.to_ascii_lowercase(),
        })
    }
}

/// Whether a printed name is of a status value or a variable; `None` if on no allow-list.
///
/// The few names that are both are told apart by `hint`, else by their first letter, which the
/// server prints large in status names alone.
fn printed_kind(name: &str, hint: Option<ListingKind>) -> Option<ListingKind> {
    // Bounded before it is compared, as names come from outside.
    if name.len() > 80 || name.contains(char::is_whitespace) {
        return None;
    }
    match (allow::is_status(name), allow::is_variable(name)) {
        (true, false) => Some(ListingKind::Status),
        (false, true) => Some(ListingKind::Variables),
        (true, true) => Some(hint.unwrap_or(if name.starts_with(char::is_uppercase) {
            ListingKind::Status
        } else {
            ListingKind::Variables
        })),
        (false, false) => None,
    }
}

/// The tables of one kind in a file, a moment each.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    moments: Vec<Moment>,
}

/// One table and when it was taken.
#[derive(Debug)]
pub(crate) struct Moment {
    /// Columns `Variable_name` and `Value`.
    pub(crate) table: Table,
    /// Seconds since 1970, where printed.
    pub(crate) taken_unix_seconds: Option<f64>,
    seen: HashSet<String>,
}

impl Listing {
    /// Adds the pairs of one result set.
    ///
    /// They belong to the moment before unless one of them is known there already: several short
    /// listings make up one moment, a repeated listing makes another.
    pub(crate) fn add(&mut self, pairs: Vec<Pair>, taken_unix_seconds: Option<f64>) {
        let repeated = |moment: &Moment| pairs.iter().any(|pair| moment.seen.contains(&pair.key));
        if self.moments.last().is_none_or(repeated) && !pairs.is_empty() {
            self.begin(taken_unix_seconds);
        }
        for pair in pairs {
            if self.moments.last().is_none_or(|moment| moment.seen.contains(&pair.key)) {
                self.begin(taken_unix_seconds);
            }
            if let Some(moment) = self.moments.last_mut() {
                moment.push(pair);
            }
        }
    }

    fn begin(&mut self, taken_unix_seconds: Option<f64>) {
        self.moments.push(Moment {
            table: Table::new(["Variable_name", "Value"]),
            taken_unix_seconds,
            seen: HashSet::new(),
        });
    }

    /// The moments, in the order of the file.
    pub(crate) fn into_moments(self) -> Vec<Moment> {
        self.moments
    }
}

impl Moment {
    fn push(&mut self, pair: Pair) {
        // One figure under two metrics (an exporter's old and new name): the first stays.
        let known =
            self.table.rows.iter().any(|row| {
                row.cells.first().is_some_and(|cell| cell.as_deref() == Some(&pair.name))
            });
        self.seen.insert(pair.key);
        if !known {
            self.table.rows.push(Row {
                cells: vec![Some(pair.name), Some(pair.value)],
                line: u32::try_from(pair.line + 1).ok(),
            });
        }
    }
}
