//! What is recorded: the events, and a recording's check of itself.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use anyhow::{Result, bail};

/// How far the clock of the trace may be behind that of the server: both are the monotonic one, but
/// the kernel reads it for a trace without waiting for an update of it.
const CLOCK_DIFFERENCE_US_MAX: u64 = 1000;

/// A page: its tablespace and its number in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The tablespace's number; temporary ones count down from 2^32 - 1.
    pub space: u32,
    /// The page's number in the tablespace.
    pub page_no: u32,
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space, self.page_no)
    }
}

/// How a get wants its page: MySQL's `Page_fetch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchMode {
    /// Reads what is not there, and may move the page to the head of the list.
    Normal,
    /// As normal, but never moves the page: parallel scans.
    Scan,
    /// Gives up on a page that is not there.
    IfInPool,
    /// Gives up on a page that is not there, and leaves no trace on one that is.
    PeekIfInPool,
    /// As normal, without a latch.
    NoLatch,
    /// As `IfInPool`, but has the page watched for.
    IfInPoolOrWatch,
    /// As normal, for a page that may be free in its tablespace.
    PossiblyFreed,
    /// As `PossiblyFreed`, without read-ahead.
    PossiblyFreedNoReadAhead,
    /// A mode that is not known here, by its number.
    Other(u32),
}

impl FetchMode {
    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            0 => FetchMode::Normal,
            1 => FetchMode::Scan,
            2 => FetchMode::IfInPool,
            3 => FetchMode::PeekIfInPool,
            4 => FetchMode::NoLatch,
            5 => FetchMode::IfInPoolOrWatch,
            6 => FetchMode::PossiblyFreed,
            7 => FetchMode::PossiblyFreedNoReadAhead,
            other => FetchMode::Other(other),
        }
    }
}

/// What the pool's descriptor of a page said, before the event changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageState {
    /// Whether the page was in the old part of the list.
    pub is_old: bool,
    /// The pool's eviction clock when the page was last put at the head; 0 if it never was.
    pub freed_page_clock: u32,
    /// The time of the first access on the clock of [`PageEvent::time_us`]; 0 before it.
    pub access_time_ns: u64,
}

/// What an instance of the pool said of its LRU list, before the event changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListState {
    /// The instance, counted from 0.
    pub instance: u8,
    /// The length of the list.
    pub pages: u64,
    /// The length of its old part; 0 while the list is too short to have one.
    pub old_pages: u64,
    /// The eviction clock: how many pages have left the list since the start.
    pub freed_page_clock: u64,
}

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `buf_page_get_gen`: one logical get, with a read or without.
    Get {
        /// How the page was wanted.
        mode: FetchMode,
    },
    /// `buf_page_get_zip`: a get of a compressed page.
    GetZip,
    /// `buf_page_try_get`: a get that waits for nothing. Counted as a get if the page was had.
    TryGet {
        /// Whether the page was had.
        succeeded: bool,
    },
    /// `buf_page_optimistic_get`: a get of a remembered frame. Counted as a get if it was had.
    OptimisticGet {
        /// How the page was wanted.
        mode: FetchMode,
        /// Whether the frame still held what was remembered.
        succeeded: bool,
    },
    /// `buf_page_get_known_nowait`: the adaptive hash index. Counted as a get if it was had.
    KnownGet {
        /// Whether the get may move the page to the head of the list.
        may_make_young: bool,
        /// Whether the page was had.
        succeeded: bool,
    },
    /// `buf_read_page_low`: a page is to be read.
    Read {
        /// Whether somebody waits for it: false for read-ahead.
        is_sync: bool,
        /// Whether it was read: false if it was there already, or must not be read.
        was_posted: bool,
    },
    /// `buf_page_create`: a page begins without a read.
    Create,
    /// `buf_read_ahead_linear`: whether to read ahead is looked at.
    LinearCheck,
    /// `buf_read_ahead_random`: whether to read ahead is looked at.
    RandomCheck,
    /// `buf_LRU_add_block`: the page enters the list.
    Add {
        /// Whether it enters at the midpoint, not at the head; a list of fewer than 512 pages has
        /// no midpoint, and takes it at the head all the same.
        is_old: bool,
        /// The instance, counted from 0.
        instance: u8,
    },
    /// The page moves to the head of the list.
    MakeYoung {
        /// The page before the move.
        page: PageState,
        /// The list before the move.
        list: ListState,
    },
    /// The page moves to the tail of the list.
    MakeOld {
        /// The page before the move.
        page: PageState,
        /// The list before the move.
        list: ListState,
    },
    /// The page leaves the list: evicted, or dropped with its table.
    Remove {
        /// The page when it left.
        page: PageState,
        /// The list with the page still in it.
        list: ListState,
    },
    /// `buf_flush_ready_for_replace`: somebody in need of a frame looks at the page.
    Candidate {
        /// Whether the page may leave: clean, and used by nobody.
        is_replaceable: bool,
    },
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEvent {
    /// Microseconds of the machine's monotonic clock, which the server takes its times from too.
    pub time_us: u64,
    /// The number of the thread, among all threads of the machine.
    pub thread: u32,
    /// What happened.
    pub kind: Kind,
    /// To which page.
    pub page: PageId,
}

/// A change of `innodb_old_blocks_pct`. A server starts with 37, and takes its own setting a little
/// later, when its pool has pages already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldBlocksPct {
    /// When, as [`PageEvent::time_us`].
    pub time_us: u64,
    /// The share of the old part, in percent.
    pub percent: u32,
}

/// What a recorder saw, in the order in which it happened.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The events by time.
    pub events: Vec<PageEvent>,
    /// The changes of the share of the old part, by time.
    pub old_blocks_pct: Vec<OldBlocksPct>,
    /// How many hits of probes were not recorded, for want of room.
    pub lost: u64,
    /// The names of the threads in the events, by number.
    pub threads: BTreeMap<u32, String>,
}

impl Recording {
    /// Returns how many events are so.
    pub fn count(&self, is_so: impl Fn(&Kind) -> bool) -> u64 {
        self.events.iter().map(|event| u64::from(is_so(&event.kind))).sum()
    }

    /// Returns how many gets the server counts: those that cannot fail, and the successful others.
    pub fn counted_gets(&self) -> u64 {
        self.count(|kind| match *kind {
            Kind::Get { .. } | Kind::GetZip => true,
            Kind::TryGet { succeeded }
            | Kind::OptimisticGet { succeeded, .. }
            | Kind::KnownGet { succeeded, .. } => succeeded,
            _ => false,
        })
    }

    /// Returns the events since the LRU list was last empty; all of them if it never was.
    ///
    /// A server empties its pool once while it starts, and sets its eviction clock and most of its
    /// counters to 0 with it.
    pub fn since_empty(&self) -> &[PageEvent] {
        let emptied =
            |event: &PageEvent| matches!(event.kind, Kind::Remove { list, .. } if list.pages == 1);
        let after = self.events.iter().rposition(emptied).map_or(0, |index| index + 1);
        &self.events[after..]
    }

    /// Checks that each change of an LRU list starts from where the one before it ended.
    ///
    /// That holds only if no change was missed, and if everything was read from where it is: the
    /// descriptors of pages and pools have no public layout. Compressed tables and a resize change
    /// the list in ways that are not recorded, and fail here.
    ///
    /// # Errors
    ///
    /// When two changes do not fit together; the first such pair is described.
    pub fn check(&self) -> Result<()> {
        let mut lists: HashMap<u8, Expected> = HashMap::new();
        for event in &self.events {
            let (list, page, leaving) = match event.kind {
                Kind::Add { instance, .. } => {
                    if let Some(expected) = lists.get_mut(&instance) {
                        expected.pages += 1;
                    }
                    continue;
                }
                Kind::MakeYoung { list, page } | Kind::MakeOld { list, page } => (list, page, 0),
                Kind::Remove { list, page } => (list, page, 1),
                _ => continue,
            };
            let accessed_later =
                page.access_time_ns / 1000 > event.time_us + CLOCK_DIFFERENCE_US_MAX;
            let impossible = list.pages == 0 || list.old_pages > list.pages || accessed_later;
            let expected = lists.get(&list.instance);
            if impossible || expected.is_some_and(|expected| !expected.fits(list)) {
                bail!(
                    "at {} us, {:?} of page {} does not follow from {expected:?}; either a change \
                     was missed, or the layout of this server's descriptors is not the known one",
                    event.time_us,
                    event.kind,
                    event.page,
                );
            }
            lists.insert(list.instance, Expected::after(list, leaving));
        }
        Ok(())
    }
}

/// What an LRU list must be like at its next change.
#[derive(Debug)]
struct Expected {
    pages: u64,
    /// `None` if the clock may have begun anew.
    freed_page_clock: Option<u64>,
}

impl Expected {
    fn after(list: ListState, leaving: u64) -> Self {
        let pages = list.pages - leaving;
        let clock = (pages > 0).then_some(list.freed_page_clock + leaving);
        Expected { pages, freed_page_clock: clock }
    }

    fn fits(&self, list: ListState) -> bool {
        self.pages == list.pages
            && self.freed_page_clock.is_none_or(|clock| clock == list.freed_page_clock)
    }
}
