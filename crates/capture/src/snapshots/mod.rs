//! Looks at the whole list of a pool, one after the other: which pages are in it, in which order.
//!
//! A look says nothing of what happened since the one before, so these are the weakest sources: bounds,
//! not estimates. They need no probe and, but for the place of the file, no root. [`dump()`] has the server
//! dump its list to a file, which costs eight bytes a page copied under the list's latch; [`lru()`] asks
//! for `INNODB_BUFFER_PAGE_LRU`, which costs the server far more ([`LruPrice`]) and works from afar.
//! [`Looks`] writes them into a recording, a window from each look to the next.
//!
//! [`dump()`] changes two settings of the server for as long as the dump takes. What was there before is
//! plain data ([`DumpSettings`]), so that somebody else can put it back should we be killed:
//! [`DumpSettings::put_back`] and [`put_files_back`].

mod dump;
mod files;
mod lists;
mod looks;
mod lru;
mod settings;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use innopool_policy::page::PageId;
use innopool_target::live::QueryError;

pub use dump::{DUMP_LIMIT, dump};
pub use files::{KEPT_FILE_NAME, put_files_back};
pub use looks::Looks;
pub use lru::{LruPrice, lru, lru_price};
pub use settings::{DUMP_FILE_NAME, DumpSettings};

/// The pages of a pool at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The list of each instance, by its number from 0: hottest first.
    pub lists: Vec<(u32, Vec<PageId>)>,
    /// When it was asked for, in microseconds since 1970.
    pub asked_unix_us: u64,
    /// How long it took from then on: the lists are of some moment in between, each of its own.
    pub took: Duration,
    /// What is not as it should be, one sentence each.
    pub remarks: Vec<String>,
}

impl Look {
    /// Pages in all lists.
    pub fn pages(&self) -> usize {
        self.lists.iter().map(|(_, pages)| pages.len()).sum()
    }
}

/// Why there is no look at the list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A statement failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The answer is not what it should be.
    #[error("the server's answer to {asked} makes no sense: {what}")]
    Answer {
        /// What was asked.
        asked: &'static str,
        /// What is wrong with the answer.
        what: String,
    },
    /// The server's dump settings are those of a capture that was killed.
    #[error(
        "innodb_buffer_pool_filename is '{DUMP_FILE_NAME}': a capture was killed before it put the server's own \
         back; put it back first (innopool capture --cleanup)"
    )]
    LeftOver,
    /// A setting that could not be put back safely.
    #[error(
        "innodb_buffer_pool_filename is '{0}', a name that cannot be put back for certain; take another source, or \
         give the file a name of letters, digits and -_./"
    )]
    FileName(String),
    /// The server does not say where it writes its dumps.
    #[error("the server does not say where its data directory is, so its dumps cannot be found")]
    NoPlace,
    /// The file cannot be read from here.
    #[error("cannot read the server's dump {}: {source}; run as root or as the server's user, on its machine", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The server's own dump would be lost.
    #[error(
        "this server cannot be told another name for its dump, and its own, {}, cannot be kept: {source}; run as \
         root or as the server's user, on its machine",
        path.display()
    )]
    Keep {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the dump is no page.
    #[error("line {line} of the server's dump {} is no page", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
    },
    /// The server could not dump.
    #[error("the server could not dump its pool: {0}")]
    Failed(String),
    /// The dump took too long.
    #[error("the server did not dump its pool to {} within {} s", path.display(), limit.as_secs())]
    TooLong {
        /// The file that was waited for.
        path: PathBuf,
        /// How long.
        limit: Duration,
    },
    /// The look was taken, but what was set for it could not be put back.
    #[error(
        "{0}; innodb_buffer_pool_filename and innodb_buffer_pool_dump_pct are still set (innopool capture --cleanup)"
    )]
    NotPutBack(Box<SnapshotError>),
}

fn unix_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
