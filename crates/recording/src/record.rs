//! What a recording is made of.

use innopool_policy::page::PageId;
use serde::{Deserialize, Serialize};

use crate::counters::{CounterSample, Counters};
use crate::event::Event;

/// One piece of a recording, in the order in which they come: a window's start, the pages that were
/// resident, events and samples by time, the window's end; then the next window.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A window begins.
    WindowStart(WindowStart),
    /// Pages of an instance's list when the window began, from the head on. A long list comes in
    /// several records, each going on where the one before ended.
    Resident {
        /// The instance, from 0.
        instance: u32,
        /// Hottest first.
        pages: Vec<PageId>,
    },
    /// Something happened to a page.
    Event(Event),
    /// The server's counters.
    Sample(CounterSample),
    /// The window ends.
    WindowEnd(WindowEnd),
}

/// The start of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowStart {
    /// Microseconds since 1970.
    pub unix_us: u64,
    /// The server's counters at that moment.
    pub counters: Counters,
    /// Whether `Resident` records follow: the pages in the pool at that moment.
    pub has_residents: bool,
}

/// The end of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowEnd {
    /// Microseconds since the window began.
    pub time_us: u64,
    /// The server's counters at that moment.
    pub counters: Counters,
    /// Events that are missing because nobody fetched them in time.
    pub lost_events: u64,
    /// Why it ended before its time, if it did.
    pub stopped_because: Option<String>,
}
