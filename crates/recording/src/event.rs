//! What happened to a page, and when.

use innopool_policy::fetch::Fetch;
use innopool_policy::page::PageId;
use innopool_policy::time::Time;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Since the window began; never less than that of the event before.
    pub time: Time,
    /// The page.
    pub page: PageId,
    /// What happened to it.
    pub kind: EventKind,
}

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It is read from disk, and somebody waits for it. It enters the old part of the list.
    DemandRead,
    /// It is read from disk and nobody waits: read-ahead, or the load of a dump. It enters the old part.
    AheadRead,
    /// It is made, without a read, and enters the list at the head.
    Created,
    /// It is in the pool, was asked for, and moves to the head.
    MadeYoung,
    /// It was asked for, in this way. Only recordings of every get have these; reads, creations and
    /// moves that come of the request follow as events of their own.
    Get(Fetch),
}
