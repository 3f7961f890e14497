//! What an event did to the pool.

use std::fmt;

use crate::promotion::Verdict;
use crate::read_ahead::Area;

/// Whether the page was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// It was in the pool.
    Hit,
    /// It was not, and was read.
    Read,
    /// It was not, and this way of asking reads nothing.
    Absent,
}

/// A read-ahead that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedReadAhead {
    /// The area that was read.
    pub area: Area,
    /// Pages of it that were not in the pool and were read.
    pub pages: u32,
}

/// What a request for a page did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetOutcome {
    /// Whether the page was there.
    pub found: Found,
    /// Whether this was the first access since the page was read or created.
    pub first_access: bool,
    /// How the access was judged; `None` when there was no page or this way of asking is not judged.
    pub verdict: Option<Verdict>,
    /// The linear read-ahead that the access started.
    pub linear: Option<StartedReadAhead>,
    /// The random read-ahead that the miss started.
    pub random: Option<StartedReadAhead>,
}

impl GetOutcome {
    pub(crate) const ABSENT: GetOutcome = GetOutcome {
        found: Found::Absent,
        first_access: false,
        verdict: None,
        linear: None,
        random: None,
    };
}

/// What a page cleaner's pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanerWork {
    /// Clean pages evicted.
    pub evicted_pages: u64,
    /// Dirty pages written and then evicted.
    pub written_pages: u64,
}

impl CleanerWork {
    pub(crate) fn total(self) -> u64 {
        self.evicted_pages + self.written_pages
    }
}

/// No frame could be had: every page of the instance is pinned, or there is no page to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFreeFrame {
    /// The instance, from 0.
    pub instance: usize,
    /// Pages in its list.
    pub data_pages: u64,
    /// Frames it has.
    pub total_pages: u64,
}

impl fmt::Display for NoFreeFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "instance {} has no free frame, and none of its {} pages (of {} frames) can be evicted: \
             unpin some, or take a larger pool",
            self.instance, self.data_pages, self.total_pages
        )
    }
}

impl std::error::Error for NoFreeFrame {}

/// A page that is not in the pool was named as if it were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotResident;

impl fmt::Display for NotResident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the page is not in the pool")
    }
}

impl std::error::Error for NotResident {}
