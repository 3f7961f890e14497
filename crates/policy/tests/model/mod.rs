//! The model: InnoDB's buffer pool replacement in its slowest and plainest form.
//!
//! Written from a description of the servers' behaviour alone, and never from this crate's source,
//! so that an error has to be made twice before it goes unseen. A list is a `Vec` whose index 0 is
//! the head (the hottest page), every search is a loop from one end to the other, and each rule
//! stands as one would say it. Nothing here is fast, shared, or clever.
//!
//! - [`lru`]: the list with its midpoint and its cursors,
//! - [`young`]: is a page worth moving to the head?
//! - [`pool`]: instances, gets, evictions, the page cleaner, counters, the dump,
//! - [`read_ahead`]: when to read pages nobody asked for yet,
//! - [`flushing`]: how many pages to write,
//! - [`mapping`]: which instance holds a page.

#![allow(dead_code, reason = "each test file uses the part of the model that it holds to")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "formulas stand as they are in words; a model that goes wrong should stop"
)]
#![allow(unreachable_pub, reason = "a module shared by test programs has no outside")]

pub mod flushing;
pub mod lru;
pub mod mapping;
pub mod pool;
pub mod read_ahead;
pub mod young;

/// Tablespace and page number.
pub type Id = (u32, u32);

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    MySql57,
    MySql80,
    MySql84,
    MariaDb,
}

impl Server {
    /// MySQL 8.4 keeps time points, all others whole milliseconds. Times here are microseconds.
    pub fn kept_time(self, micros: u64) -> u64 {
        match self {
            Server::MySql84 => micros,
            _ => micros / 1000 * 1000,
        }
    }

    /// Scans that move nothing came with MySQL 8.0; other servers take one for a normal get.
    pub fn knows_scans(self) -> bool {
        matches!(self, Server::MySql80 | Server::MySql84)
    }

    /// MariaDB counts every page made young; MySQL only those that were old.
    pub fn counts_every_make_young(self) -> bool {
        self == Server::MariaDb
    }
}

/// The fixed numbers of the rules. [`Constants::INNODB`] are the servers' own; a scaled simulation
/// uses smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Length from which the list has an old part.
    pub old_min_len: usize,
    /// How far the old part may be from its wanted length.
    pub tolerance: usize,
    /// Pages that are never old, beside the tolerance.
    pub non_old_min_len: usize,
    /// Pages a user thread looks at in its first search.
    pub user_scan: usize,
    /// The page cleaner leaves a list of this length alone.
    pub cleaner_min_len: usize,
}

impl Constants {
    pub const INNODB: Constants = Constants {
        old_min_len: 512,
        tolerance: 20,
        non_old_min_len: 5,
        user_scan: 100,
        cleaner_min_len: 256,
    };
}

/// `innodb_old_blocks_pct` as 1024ths.
pub fn ratio_of_pct(pct: usize) -> usize {
    (pct * 1024 / 100).clamp(51, 1024)
}

/// The percentage a server shows for a ratio.
pub fn pct_of_ratio(ratio: usize) -> usize {
    (ratio as f64 * 100.0 / 1024.0 + 0.5) as usize
}
