//! The flush list of one instance: its dirty pages, ordered by the LSN of their first unwritten change.
//!
//! The page at the tail is the oldest. Its LSN bounds the checkpoint: no log record before it is needed by a page of this
//! instance. A page enters near the head, since changes come in LSN order but for threads that
//! overtake each other on the way here; it keeps its place when it is changed again, and leaves when it is written.

use crate::frame::Frame;
use crate::sync::{AtomicU32, Ordering};
use innopool_policy::Lsn;

/// The list's ends; links are in the frames.
#[derive(Debug, Default)]
pub(crate) struct FlushList {
    head: Option<u32>,
    tail: Option<u32>,
    len: u64,
    latest_change: Lsn,
}

fn load(link: &AtomicU32) -> Option<u32> {
    link.load(Ordering::Relaxed).checked_sub(1)
}

fn store(link: &AtomicU32, to: Option<u32>) {
    link.store(to.map_or(0, |frame| frame + 1), Ordering::Relaxed);
}

fn oldest_of(frames: &[Frame], frame: u32) -> Lsn {
    Lsn(frames[frame as usize].oldest_lsn.load(Ordering::Relaxed))
}

impl FlushList {
    pub(crate) fn len_pages(&self) -> u64 {
        self.len
    }

    /// Notes that a page is changed by a log record that starts at `start`.
    pub(crate) fn note_change(&mut self, start: Lsn) {
        self.latest_change = self.latest_change.max(start);
    }

    /// Largest start of a log record that has changed a page of the instance, written or not.
    pub(crate) fn latest_change(&self) -> Lsn {
        self.latest_change
    }

    /// LSN of the oldest unwritten change.
    pub(crate) fn oldest(&self, frames: &[Frame]) -> Option<Lsn> {
        self.tail.map(|tail| oldest_of(frames, tail))
    }

    /// Lists the dirty pages, oldest first.
    pub(crate) fn oldest_first<'a>(&self, frames: &'a [Frame]) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(self.tail, |&at| load(&frames[at as usize].flush_prev))
    }

    /// Puts a frame, whose `oldest_lsn` is set, where it belongs. Costs a step for each page that overtook it.
    pub(crate) fn insert(&mut self, frames: &[Frame], frame: u32) {
        let lsn = oldest_of(frames, frame);
        let mut older = self.head;
        let mut newer = None;
        while let Some(at) = older.filter(|&at| oldest_of(frames, at) > lsn) {
            newer = Some(at);
            older = load(&frames[at as usize].flush_next);
        }
        self.link(frames, newer, frame, older);
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, frames: &[Frame], frame: u32) {
        let own = &frames[frame as usize];
        let (newer, older) = (load(&own.flush_prev), load(&own.flush_next));
        match newer {
            Some(newer) => store(&frames[newer as usize].flush_next, older),
            None => self.head = older,
        }
        match older {
            Some(older) => store(&frames[older as usize].flush_prev, newer),
            None => self.tail = newer,
        }
        store(&own.flush_prev, None);
        store(&own.flush_next, None);
        self.len -= 1;
    }

    /// Puts `to` in the place of `from`.
    pub(crate) fn replace(&mut self, frames: &[Frame], from: u32, to: u32) {
        let own = &frames[from as usize];
        let (newer, older) = (load(&own.flush_prev), load(&own.flush_next));
        self.link(frames, newer, to, older);
        store(&own.flush_prev, None);
        store(&own.flush_next, None);
    }

    fn link(&mut self, frames: &[Frame], newer: Option<u32>, frame: u32, older: Option<u32>) {
        let own = &frames[frame as usize];
        store(&own.flush_prev, newer);
        store(&own.flush_next, older);
        match newer {
            Some(newer) => store(&frames[newer as usize].flush_next, Some(frame)),
            None => self.head = Some(frame),
        }
        match older {
            Some(older) => store(&frames[older as usize].flush_prev, Some(frame)),
            None => self.tail = Some(frame),
        }
    }
}
