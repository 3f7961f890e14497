//! The memory of the pool: address space for the largest size it may grow to, filled piece by piece.
//!
//! A [`Reservation`] takes address space only. Opening a part of it makes that part usable: [`Reservation::fill`]
//! has the kernel hand over every page at once, so that a machine without the memory says so then, as an
//! error, and not later by killing the process. Frames that a shrunk pool no longer needs are given back and read as
//! zeroes if they are ever opened again.

#![allow(unsafe_code, reason = "the frames are memory from mmap, handed out as slices")]

use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};

use crate::page_size::PageSize;

/// Address space that belongs to us.
#[derive(Debug)]
pub(crate) struct Reservation {
    base: NonNull<u8>,
    len_bytes: usize,
}

// SAFETY: the reservation is plain memory owned by this value; what threads may do with it is up to those who make
// references into it.
unsafe impl Send for Reservation {}
// SAFETY: as above; the methods that take `&self` only make system calls, which are safe from any thread.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Takes `len_bytes` of address space (at least one byte), none of it usable yet.
    pub(crate) fn new(len_bytes: usize) -> io::Result<Reservation> {
        let len_bytes = len_bytes.max(1);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), len_bytes, ProtFlags::empty(), flags)
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Reservation { base, len_bytes })
    }

    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    /// Makes all of it usable; the kernel gives memory at its first touch, in huge pages where it has them.
    pub(crate) fn open_all(&self) -> io::Result<()> {
        self.open(0, self.len_bytes)?;
        let _ = self.advise(self.base, self.len_bytes, Advice::LinuxHugepage);
        Ok(())
    }

    fn open(&self, from: usize, to: usize) -> io::Result<()> {
        let start = self.at(from, to)?;
        let flags = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the range lies inside this reservation (`at`), and gains rights only.
        unsafe { rustix::mm::mprotect(start.as_ptr().cast(), to - from, flags) }?;
        Ok(())
    }

    /// Makes the bytes from `from` to `to` usable and has the kernel hand them over now. On an error the range may be
    /// partly filled; giving it back by [`Reservation::release`] is right then.
    pub(crate) fn fill(&self, from: usize, to: usize) -> io::Result<()> {
        if from >= to {
            return Ok(());
        }
        self.open(from, to)?;
        let start = self.at(from, to)?;
        // Huge pages spare address translations on the hit path. A kernel without them refuses; no harm done.
        let _ = self.advise(start, to - from, Advice::LinuxHugepage);
        let _ = self.advise(start, to - from, Advice::LinuxDontFork);
        let _ = self.advise(start, to - from, Advice::LinuxDontDump);
        match self.advise(start, to - from, Advice::LinuxPopulateWrite) {
            // A kernel before 5.14: the pages come at first touch.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            other => other,
        }
    }

    /// Gives the memory from `from` to `to` back to the kernel. Nobody may have a reference into it.
    pub(crate) fn release(&self, from: usize, to: usize) -> io::Result<()> {
        if from >= to {
            return Ok(());
        }
        let start = self.at(from, to)?;
        self.advise(start, to - from, Advice::LinuxDontNeed)?;
        // SAFETY: the range lies inside this reservation, and by this method's contract nobody uses it.
        unsafe { rustix::mm::mprotect(start.as_ptr().cast(), to - from, MprotectFlags::empty()) }?;
        Ok(())
    }

    fn advise(&self, start: NonNull<u8>, len_bytes: usize, advice: Advice) -> io::Result<()> {
        // SAFETY: the range lies inside this reservation (callers got `start` from `at`); of the advice given here
        // only DontNeed changes bytes, and `release` forbids references to them.
        unsafe { rustix::mm::madvise(start.as_ptr().cast(), len_bytes, advice) }?;
        Ok(())
    }

    fn at(&self, from: usize, to: usize) -> io::Result<NonNull<u8>> {
        if from > to || to > self.len_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: `from` is at most the length of the allocation, as just checked.
        Ok(unsafe { self.base.add(from) })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every reference into it borrows from the owner of this value.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len_bytes) };
    }
}

/// The frames themselves: bytes of pages, by frame number.
#[derive(Debug)]
pub(crate) struct Arena {
    memory: Reservation,
    page_size: PageSize,
}

impl Arena {
    /// Reserves space for `frames_max` frames and fills the first `frames`.
    pub(crate) fn new(page_size: PageSize, frames: u32, frames_max: u32) -> io::Result<Arena> {
        let bytes = (frames_max as usize).checked_shl(page_size.log2()).unwrap_or(usize::MAX);
        let arena = Arena { memory: Reservation::new(bytes)?, page_size };
        arena.grow(0, frames)?;
        Ok(arena)
    }

    /// Fills the frames from number `from` to before `to`; all or, after an error, none.
    pub(crate) fn grow(&self, from: u32, to: u32) -> io::Result<()> {
        let (from, to) = (self.offset(from), self.offset(to));
        self.memory.fill(from, to).inspect_err(|_| {
            // The error that matters is the one that is returned.
            let _ = self.memory.release(from, to);
        })
    }

    /// Gives the frames from number `from` to before `to` back. They must be withdrawn: nobody can reach them.
    pub(crate) fn shrink(&self, from: u32, to: u32) -> io::Result<()> {
        self.memory.release(self.offset(from), self.offset(to))
    }

    #[inline]
    fn offset(&self, frame: u32) -> usize {
        (frame as usize) << self.page_size.log2()
    }

    /// The bytes of frame `frame`.
    ///
    /// Whoever makes a reference of it must hold the frame's latch: S or SX to read, X to write (rule 3).
    #[inline]
    pub(crate) fn frame(&self, frame: u32) -> NonNull<[u8]> {
        debug_assert!(self.offset(frame) + self.page_size.bytes() <= self.memory.len_bytes());
        // SAFETY: frame numbers are below `frames_max` (they come from the free lists and the page table, which only ever
        // hold frames that were filled), so the sum stays inside the reservation.
        let start = unsafe { self.memory.base().add(self.offset(frame)) };
        NonNull::slice_from_raw_parts(start, self.page_size.bytes())
    }
}
