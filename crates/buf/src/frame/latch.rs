//! Pins and latches: how a thread gets hold of a page's bytes, and waits for them.
//!
//! A **pin** keeps a page in its frame. A **latch** keeps its bytes: shared (S) to read, exclusive (X) to
//! write, and update (SX) to read now and perhaps write later, which lets readers in but no second updater.
//! Both are counts and bits of the frame's state word ([`super::word`]), so the common case is one atomic
//! addition to get them and one to give them back.
//!
//! A thread that must wait sleeps in a **wait room**. There are a fixed number of them, shared by all frames; a
//! sleeper leaves the mark `WAITERS` in the frame's word, and whoever releases a latch of a marked frame wakes
//! the room. The mark is set under the room's lock by a compare-and-swap that proves the latch is still
//! taken, and taken away under the same lock before waking: so no wake-up is lost.

use super::Frame;
use super::word::{EXCLUSIVE, PIN, Phase, SHARED, UPDATE, WAITERS, WRITER_WAITING, Word};
use crate::sync::{Condvar, Mutex, Ordering};

/// Rooms for sleepers; a power of two. Frames that share one wake each other in vain, which costs time only.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
const ROOMS: usize = 256;
#[cfg(any(feature = "loom", feature = "shuttle"))]
const ROOMS: usize = 2;

struct Room {
    lock: Mutex<()>,
    changed: Condvar,
}

/// Where threads sleep that wait for a latch.
pub(crate) struct WaitRooms {
    rooms: Box<[Room]>,
}

/// A kind of latch to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Shared,
    Update,
    Exclusive,
    /// X, by the holder of SX.
    Upgrade,
}

impl Want {
    fn is_allowed(self, word: Word) -> bool {
        match self {
            Want::Shared => word.allows_shared(),
            Want::Update => word.allows_update(),
            Want::Exclusive => word.allows_exclusive(),
            Want::Upgrade => word.allows_upgrade(),
        }
    }

    /// What taking it adds to the word, and what it clears there.
    fn taken(self, word: u64) -> u64 {
        match self {
            Want::Shared => word + SHARED,
            Want::Update => word + UPDATE,
            Want::Exclusive => (word + EXCLUSIVE) & !WRITER_WAITING,
            Want::Upgrade => (word + EXCLUSIVE - UPDATE) & !WRITER_WAITING,
        }
    }

    fn mark(self) -> u64 {
        match self {
            Want::Shared | Want::Update => WAITERS,
            Want::Exclusive | Want::Upgrade => WAITERS | WRITER_WAITING,
        }
    }
}

/// How a wait for a latch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latched {
    /// The latch is held.
    Yes,
    /// The page could not be read; no latch is held, the pin still is.
    ReadFailed,
}

impl WaitRooms {
    pub(crate) fn new() -> WaitRooms {
        let rooms =
            (0..ROOMS).map(|_| Room { lock: Mutex::new(()), changed: Condvar::new() }).collect();
        WaitRooms { rooms }
    }

    fn of(&self, frame: &Frame) -> &Room {
        // Descriptors are 128 bytes apart, so neighbours use different rooms.
        let number = (std::ptr::from_ref(frame).addr() / size_of::<Frame>()) % ROOMS;
        &self.rooms[number]
    }

    /// Takes the latch `want` on a frame the caller has pinned, waiting as long as it takes: for other latches, and
    /// for a read under way.
    pub(crate) fn latch(&self, frame: &Frame, want: Want) -> Latched {
        loop {
            let word = frame.word();
            if word.phase() == Phase::Failed {
                return Latched::ReadFailed;
            }
            if want.is_allowed(word) {
                if swap(frame, word, want.taken(word.0)) {
                    return Latched::Yes;
                }
            } else {
                self.sleep(frame, want);
            }
        }
    }

    /// Takes the latch if that needs no waiting.
    pub(crate) fn try_latch(&self, frame: &Frame, want: Want) -> bool {
        loop {
            let word = frame.word();
            if word.phase() != Phase::Resident || !want.is_allowed(word) {
                return false;
            }
            if swap(frame, word, want.taken(word.0)) {
                return true;
            }
        }
    }

    fn sleep(&self, frame: &Frame, want: Want) {
        let room = self.of(frame);
        let guard = room.lock.lock();
        loop {
            let word = frame.word();
            if want.is_allowed(word) || word.phase() == Phase::Failed {
                return;
            }
            if swap(frame, word, word.0 | want.mark()) {
                break;
            }
        }
        drop(room.changed.wait(guard));
    }

    /// Subtracts `bits` (latches, pins) from the word and wakes who may go on now. Returns the word as it is after.
    #[inline]
    pub(crate) fn release(&self, frame: &Frame, bits: u64) -> Word {
        let before = frame.state.fetch_sub(bits, Ordering::Release);
        let after = Word(before - bits);
        if after.has(WAITERS) {
            self.wake_if_freed(frame, bits, after);
        }
        after
    }

    #[cold]
    fn wake_if_freed(&self, frame: &Frame, bits: u64, after: Word) {
        let writer_left = bits & (EXCLUSIVE | UPDATE) != 0;
        if writer_left || after.shared() == 0 {
            self.wake(frame);
        }
    }

    /// Wakes every sleeper of the frame.
    pub(crate) fn wake(&self, frame: &Frame) {
        let room = self.of(frame);
        let guard = room.lock.lock();
        frame.state.fetch_and(!(WAITERS | WRITER_WAITING), Ordering::Relaxed);
        room.changed.notify_all();
        drop(guard);
    }

    /// Gives up X for SX: readers may come in again.
    pub(crate) fn downgrade(&self, frame: &Frame) {
        let after = Word(frame.state.fetch_sub(EXCLUSIVE - UPDATE, Ordering::Release));
        if after.has(WAITERS) {
            self.wake(frame);
        }
    }

    /// The fast way in: pin and shared latch by one addition.
    ///
    /// # Errors
    ///
    /// Nothing is held; the word as it is after the addition was taken back (see [`Word::is_abandoned`]).
    #[inline]
    pub(crate) fn try_pin_shared(&self, frame: &Frame) -> Result<(), Word> {
        let before = Word(frame.state.fetch_add(PIN + SHARED, Ordering::Acquire));
        if before.gives_shared_hit() { Ok(()) } else { Err(self.release(frame, PIN + SHARED)) }
    }

    /// Pins a frame that has a page, now or soon.
    ///
    /// # Errors
    ///
    /// As for [`WaitRooms::try_pin_shared`].
    pub(crate) fn try_pin(&self, frame: &Frame) -> Result<(), Word> {
        let before = Word(frame.state.fetch_add(PIN, Ordering::Acquire));
        if before.gives_pin() { Ok(()) } else { Err(self.release(frame, PIN)) }
    }

    /// Adds a pin to a frame the caller has pinned already, by one of its own or by a mark that forbids eviction.
    pub(crate) fn add_pin(&self, frame: &Frame) {
        frame.state.fetch_add(PIN, Ordering::Acquire);
    }

    /// Ends a load: brings the frame from `Loading` to `to` and gives up `bits` (the loader's X, perhaps its pin) in one
    /// step, then wakes who waited for the page. Returns the word as it is after.
    pub(crate) fn end_load(&self, frame: &Frame, to: Phase, bits: u64) -> Word {
        let delta = Phase::Loading.step(to).wrapping_sub(bits);
        let before = frame.state.fetch_add(delta, Ordering::AcqRel);
        let after = Word(before.wrapping_add(delta));
        if after.has(WAITERS) {
            self.wake(frame);
        }
        after
    }
}

fn swap(frame: &Frame, from: Word, to: u64) -> bool {
    frame.state.compare_exchange_weak(from.0, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}
