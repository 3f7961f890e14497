//! Copies of pages on their way to the store.
//!
//! A page is copied under its S latch and written from the copy, so no thread waits for a write but the one that wants it
//! done, and no byte changes while the device reads it. There is a fixed number of places; who finds none waits for a
//! write to end.

use std::io;
use std::ptr::NonNull;

use innopool_policy::Lsn;

use crate::arena::Arena;
use crate::page_size::PageSize;
use crate::sync::{Condvar, Mutex};

/// A write under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// The frame whose page is written.
    pub(crate) frame: u32,
    /// The page's newest LSN when it was copied.
    pub(crate) newest: Lsn,
    /// Whether the page is to be evicted when it is written.
    pub(crate) then_evict: bool,
}

pub(crate) struct Staging {
    copies: Arena,
    places: Mutex<Places>,
    freed: Condvar,
}

struct Places {
    free: Vec<u32>,
    /// What each taken place is used for.
    writes: Vec<Write>,
}

impl Staging {
    pub(crate) fn new(page_size: PageSize, places: usize) -> io::Result<Staging> {
        let count = u32::try_from(places).map_err(|_| io::ErrorKind::InvalidInput)?;
        let empty = Write { frame: 0, newest: Lsn(0), then_evict: false };
        Ok(Staging {
            copies: Arena::new(page_size, count, count)?,
            places: Mutex::new(Places {
                free: (0..count).rev().collect(),
                writes: vec![empty; places],
            }),
            freed: Condvar::new(),
        })
    }

    /// Takes a place for `write`, if there is one.
    pub(crate) fn try_take(&self, write: Write) -> Option<u32> {
        let mut places = self.places.lock();
        let place = places.free.pop()?;
        places.writes[place as usize] = write;
        Some(place)
    }

    /// Waits until a place is free, or something else woke us.
    pub(crate) fn wait(&self) {
        let places = self.places.lock();
        if places.free.is_empty() {
            drop(self.freed.wait(places));
        }
    }

    /// Sets down the LSN of the copy in a taken place.
    pub(crate) fn set_newest(&self, place: u32, newest: Lsn) {
        self.places.lock().writes[place as usize].newest = newest;
    }

    /// What the write in `place` is.
    pub(crate) fn write(&self, place: u32) -> Write {
        self.places.lock().writes[place as usize]
    }

    pub(crate) fn give(&self, place: u32) {
        self.places.lock().free.push(place);
        self.freed.notify_all();
    }

    /// The bytes of a place; belongs to whoever took it.
    pub(crate) fn bytes(&self, place: u32) -> NonNull<[u8]> {
        self.copies.frame(place)
    }
}
