//! Names and values gathered into one table per moment.

use std::collections::{HashSet, VecDeque};

use super::to_absolute;
use crate::allow;
use crate::table::{Row, Table};

/// More moments of one listing are not kept: a file that is one line over and over must not become
/// a table for each. Enough for a status every ten seconds of nearly three hours.
pub(crate) const MOMENTS_MAX: usize = 1000;

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

/// The tables of one kind in a file, a moment each: the first, and of the others the newest.
#[derive(Debug)]
pub(crate) struct Listing {
    kind: ListingKind,
    moments: VecDeque<Moment>,
    left_out: usize,
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
    /// An empty listing.
    pub(crate) fn new(kind: ListingKind) -> Self {
        Self { kind, moments: VecDeque::new(), left_out: 0 }
    }

    /// Adds the pairs of one result set.
    ///
    /// They belong to the moment before unless one of them is known there already: several short
    /// listings make up one moment, a repeated listing makes another. A line that only says again
    /// what the line before it said is one line, doubled.
    pub(crate) fn add(&mut self, mut pairs: Vec<Pair>, taken_unix_seconds: Option<f64>) {
        pairs.dedup_by(|later, earlier| later.key == earlier.key && later.value == earlier.value);
        let doubled = |moment: &Moment| {
            moment.taken_unix_seconds == taken_unix_seconds
                && pairs.first().is_some_and(|pair| moment.ends_with(pair))
        };
        if self.moments.back().is_some_and(doubled) {
            pairs.remove(0);
        }
        let repeated = |moment: &Moment| pairs.iter().any(|pair| moment.seen.contains(&pair.key));
        if self.moments.back().is_none_or(repeated) && !pairs.is_empty() {
            self.begin(taken_unix_seconds);
        }
        for pair in pairs {
            if self.moments.back().is_none_or(|moment| moment.seen.contains(&pair.key)) {
                self.begin(taken_unix_seconds);
            }
            if let Some(moment) = self.moments.back_mut() {
                moment.push(pair);
            }
        }
    }

    fn begin(&mut self, taken_unix_seconds: Option<f64>) {
        if let Some(complete) = self.moments.back_mut() {
            complete.seen = HashSet::new();
        }
        if self.moments.len() >= MOMENTS_MAX {
            self.leave_out_oldest();
        }
        self.moments.push_back(Moment {
            table: Table::new(["Variable_name", "Value"]),
            taken_unix_seconds,
            seen: HashSet::new(),
        });
    }

    /// Drops the second moment. What follows it may be a difference to it, and is added up first.
    fn leave_out_oldest(&mut self) {
        if self.kind == ListingKind::Status {
            let mut tables: Vec<&mut Table> =
                self.moments.iter_mut().take(3).map(|moment| &mut moment.table).collect();
            to_absolute(&mut tables);
        }
        if self.moments.remove(1).is_some() {
            self.left_out += 1;
        }
    }

    /// How many moments between the first and the others were left out.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }

    /// The moments, in the order of the file; differences have become what they lead to.
    pub(crate) fn into_moments(mut self) -> Vec<Moment> {
        if self.kind == ListingKind::Status {
            let mut tables: Vec<&mut Table> =
                self.moments.iter_mut().map(|moment| &mut moment.table).collect();
            to_absolute(&mut tables);
        }
        self.moments.into()
    }
}

impl Moment {
    /// True when `pair` says on the next line what the last one added says.
    fn ends_with(&self, pair: &Pair) -> bool {
        self.seen.contains(&pair.key)
            && self.table.rows.last().is_some_and(|row| {
                row.line.is_some_and(|line| line as usize == pair.line)
                    && row.cells.first().is_some_and(|name| name.as_deref() == Some(&pair.name))
                    && row.cells.get(1).is_some_and(|value| value.as_deref() == Some(&pair.value))
            })
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn add_at(listing: &mut Listing, name: &str, value: &str, line: usize) {
        listing.add(Pair::new(name, value, line, None).into_iter().collect(), None);
    }

    fn add(listing: &mut Listing, name: &str, value: &str) {
        add_at(listing, name, value, 0);
    }

    #[test]
    fn a_doubled_line_is_one_line_and_a_repeated_listing_another_moment() {
        let mut listing = Listing::new(ListingKind::Status);
        for (line, uptime) in [(0, "10"), (3, "20")] {
            add_at(&mut listing, "Threads_running", "3", line);
            add_at(&mut listing, "Uptime", uptime, line + 1);
            add_at(&mut listing, "Uptime", uptime, line + 2);
        }
        let moments = listing.into_moments();
        assert_eq!(moments.len(), 2);
        assert!(moments.iter().all(|moment| moment.table.rows.len() == 2), "{moments:?}");
    }

    #[test]
    fn of_countless_moments_the_first_and_the_newest_stay() {
        let mut listing = Listing::new(ListingKind::Status);
        let count = MOMENTS_MAX + 500;
        for uptime in 1..=count {
            add(&mut listing, "Uptime", &uptime.to_string());
        }
        assert_eq!(listing.left_out(), 500);
        let moments = listing.into_moments();
        let uptime = |at: usize| moments[at].table.rows[0].cells[1].clone().unwrap_or_default();
        assert_eq!(moments.len(), MOMENTS_MAX);
        assert_eq!(
            (uptime(0), uptime(1), uptime(MOMENTS_MAX - 1)),
            ("1".to_owned(), "502".to_owned(), count.to_string())
        );
    }

    #[test]
    fn differences_add_up_over_moments_left_out() {
        let mut listing = Listing::new(ListingKind::Status);
        let count = MOMENTS_MAX + 500;
        for at in 0..count {
            add(&mut listing, "Innodb_page_size", if at == 0 { "16384" } else { "0" });
            add(&mut listing, "Innodb_pages_read", if at == 0 { "100" } else { "2" });
        }
        let moments = listing.into_moments();
        let last = &moments[MOMENTS_MAX - 1].table.rows;
        assert_eq!(last[0].cells[1].as_deref(), Some("16384"));
        let read = 100 + 2 * (count - 1);
        assert_eq!(last[1].cells[1].as_deref(), Some(read.to_string().as_str()));
    }
}
