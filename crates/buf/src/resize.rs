//! Changing the size of the pool while it serves.
//!
//! **Growing** takes the memory first, in extents of 8 MiB, each checked against what the machine and the container have
//! left, and only then gives the frames to their instances. If any of it cannot be had, all of it is given back and the size
//! stays.
//!
//! **Shrinking** withdraws the frames from the new end on. Free ones go at once; a page in one is moved to a free frame that
//! stays, keeping its place in both lists, so the coldest pages of the pool are lost and not those that happened to be at the
//! end. A page that is held, read or written is tried again. When every frame is withdrawn its memory goes back to
//! the kernel. Until then gets, writes and the page cleaner go on; a resize that is cancelled or runs out of time
//! puts everything back.

#![allow(unsafe_code, reason = "a page's bytes move from one frame to another")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use innopool_policy::blocks::BlockNo;

use crate::error::PoolError;
use crate::frame::table::LruLinks;
use crate::frame::word::{DIRTY, Phase};
use crate::headroom::lack_of;
use crate::inner::Inner;
use crate::instance::Instance;
use crate::pool::Pool;
use crate::sync::{Ordering, sleep};

/// Memory that is taken at a time.
const EXTENT_BYTES: usize = 8 << 20;

const PAUSE_FIRST: Duration = Duration::from_millis(1);
const PAUSE_MOST: Duration = Duration::from_millis(100);

/// How far a resize is, and whether it shall go on. Shared between who resizes and who watches.
#[derive(Debug, Default)]
pub struct ResizeControl {
    cancelled: std::sync::atomic::AtomicBool,
    frames_total: std::sync::atomic::AtomicU32,
    frames_done: std::sync::atomic::AtomicU32,
}

impl ResizeControl {
    /// Asks the resize to stop. It puts the old size back and returns [`PoolError::Stopped`].
    pub fn cancel(&self) {
        self.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Pages that are added or withdrawn so far, of how many.
    pub fn progress_pages(&self) -> (u32, u32) {
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        (self.frames_done.load(relaxed), self.frames_total.load(relaxed))
    }

    fn begin(&self, total: u32) {
        self.frames_total.store(total, std::sync::atomic::Ordering::Relaxed);
        self.done(0);
    }

    fn done(&self, frames: u32) {
        self.frames_done.store(frames, std::sync::atomic::Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Pool {
    /// Changes the size of the pool to `size_bytes`, rounded down to whole pages, and returns the size it then has.
    /// Serves meanwhile; returns when done. `patience` bounds how long a shrink waits for pages that are held.
    ///
    /// # Errors
    ///
    /// The size is then what it was. [`PoolError::Setting`] below 16 pages per instance or above `size_max_bytes`;
    /// [`PoolError::Memory`]; [`PoolError::Busy`] when another resize runs; [`PoolError::Stopped`] when it was
    /// cancelled or ran out of patience.
    pub fn resize(
        &self,
        size_bytes: u64,
        patience: Duration,
        control: &ResizeControl,
    ) -> Result<u64, PoolError> {
        self.inner.resize(size_bytes, patience, control)
    }

    /// Size of the pool in bytes. While it shrinks, the old size.
    pub fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }
}

impl Inner {
    pub(crate) fn size_bytes(&self) -> u64 {
        u64::from(self.size_frames.load(Ordering::Acquire)) << self.options.page_size.log2()
    }

    fn resize(
        self: &Arc<Inner>,
        size_bytes: u64,
        patience: Duration,
        control: &ResizeControl,
    ) -> Result<u64, PoolError> {
        let Some(_only_one) = self.resizing.try_lock() else {
            return Err(PoolError::Busy("a resize"));
        };
        let most = u64::from(self.size_max_frames) << self.options.page_size.log2();
        let to =
            self.options.frames_of("size_bytes", size_bytes.min(most.saturating_add(1 << 16)))?;
        if to > self.size_max_frames {
            return Err(PoolError::Setting {
                name: "size_bytes",
                value: size_bytes.to_string(),
                why: format!("this pool was made to grow to at most {most}"),
            });
        }
        let from = self.size_frames.load(Ordering::Acquire);
        control.begin(from.abs_diff(to));
        if to > from {
            self.grow(from, to, control)?;
        } else if to < from {
            self.shrink(from, to, patience, control)?;
        }
        Ok(self.size_bytes())
    }

    fn grow(&self, from: u32, to: u32, control: &ResizeControl) -> Result<(), PoolError> {
        let extent = u32::try_from(EXTENT_BYTES >> self.options.page_size.log2()).unwrap_or(1);
        let mut at = from;
        while at < to {
            let next = to.min(at.saturating_add(extent));
            if let Err(why) = self.grow_extent(at, next, to, control) {
                // The frames were given to nobody yet. What the kernel says to taking them back changes nothing.
                let _ = self.arena.shrink(from, at);
                return Err(why);
            }
            at = next;
            control.done(at - from);
        }
        self.add_frames(from, to);
        Ok(())
    }

    fn grow_extent(
        &self,
        at: u32,
        next: u32,
        to: u32,
        control: &ResizeControl,
    ) -> Result<(), PoolError> {
        let shift = self.options.page_size.log2();
        let refuse = |why: String| PoolError::Memory {
            wanted_bytes: u64::from(to) << shift,
            size_bytes: self.size_bytes(),
            why,
        };
        if control.is_cancelled() {
            return Err(stopped("it was cancelled"));
        }
        // All that is still wanted, so that a growth that cannot succeed is refused before it presses anybody.
        let wanted = u64::from(to - at) << shift;
        if let Some(why) = lack_of(wanted) {
            return Err(refuse(why));
        }
        self.arena.grow(at, next).map_err(|error| refuse(error.to_string()))
    }

    fn shrink(
        self: &Arc<Inner>,
        from: u32,
        to: u32,
        patience: Duration,
        control: &ResizeControl,
    ) -> Result<(), PoolError> {
        if control.is_cancelled() {
            return Err(stopped("it was cancelled"));
        }
        self.begin_withdrawal(to);
        let started = Instant::now();
        let mut pause = PAUSE_FIRST;
        loop {
            self.withdraw(to, from);
            let done = self.withdrawn_frames();
            control.done(done);
            if done == from - to {
                break;
            }
            let why = if control.is_cancelled() {
                Some("it was cancelled".to_owned())
            } else if started.elapsed() >= patience {
                Some(self.who_holds(to, from))
            } else {
                None
            };
            if let Some(why) = why {
                self.cancel_withdrawal();
                return Err(stopped(&why));
            }
            sleep(pause);
            pause = (pause * 2).min(PAUSE_MOST);
        }
        self.end_withdrawal(to);
        // Nobody can reach the frames; if the kernel will not take the memory it stays ours, unused.
        let _ = self.arena.shrink(to, from);
        Ok(())
    }

    /// From here on no frame from number `to` on is given out.
    fn begin_withdrawal(&self, to: u32) {
        for instance in &self.instances {
            let mut lru = instance.lru.lock();
            lru.withdraw_from = to;
            let free = std::mem::take(&mut lru.free);
            for frame in free {
                instance.give_free(&mut lru, self.frames(), frame);
            }
            instance.show(&lru);
        }
    }

    /// Empties those of the frames from `to` to before `from` whose pages are not in use.
    fn withdraw(self: &Arc<Inner>, to: u32, from: u32) {
        let resident: Vec<u32> = (to..from)
            .filter(|&frame| self.frame(frame).word().phase() == Phase::Resident)
            .collect();
        for (number, instance) in self.instances.iter().enumerate() {
            let mine = |&frame: &u32| frame as usize % self.instances.len() == number;
            let moving: Vec<u32> = resident.iter().copied().filter(mine).collect();
            let missing = (moving.len() as u64).saturating_sub(instance.free_pages());
            if missing > 0 {
                // Its error comes back to whoever needs the writes; here the next round tries again.
                let _ = self.make_room(instance, missing);
            }
            for frame in moving {
                self.withdraw_one(instance, frame);
            }
        }
    }

    pub(crate) fn withdraw_one(&self, instance: &Instance, frame: u32) {
        let mut lru = instance.lru.lock();
        let to = lru.free.pop();
        instance.show(&lru);
        drop(lru);
        let Some(to) = to else { return };
        if !self.relocate(instance, frame, to) {
            let mut lru = instance.lru.lock();
            instance.give_free(&mut lru, self.frames(), to);
            instance.show(&lru);
        }
    }

    /// Moves the page in `from` to `to`, which is free and ours. `false`: it is in use.
    fn relocate(&self, instance: &Instance, from: u32, to: u32) -> bool {
        let (old, new) = (self.frame(from), self.frame(to));
        let seen = old.word();
        let dirty = seen.0 & DIRTY;
        let idle = crate::frame::word::Word(seen.0 & !DIRTY).is_replaceable();
        // As for an eviction: this succeeds only if nobody is near, and then nobody can come near: who finds the frame
        // in the page table sees it free and looks again, until the table says `to`.
        let ours = idle
            && old
                .state
                .compare_exchange(seen.0, Phase::Free.bits(), Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if !ours {
            return false;
        }
        // SAFETY: both frames are in our hands alone, as just said; they are different, so the slices do not overlap.
        let source = unsafe { self.bytes_to_read(from).as_ref() };
        // SAFETY: as above.
        unsafe { self.bytes_to_write(to).as_mut() }.copy_from_slice(source);
        new.inherit(old);
        if dirty != 0 {
            instance.flush.lock().replace(self.frames(), from, to);
        }
        let mut lru = instance.lru.lock();
        lru.list.replace(&mut LruLinks(self.frames()), BlockNo(from), BlockNo(to));
        old.set_listed(false);
        new.set_listed(true);
        self.pages.relocate(new.page(), from, to);
        new.state.fetch_add(Phase::Free.step(Phase::Resident) + dirty, Ordering::AcqRel);
        instance.give_free(&mut lru, self.frames(), from);
        instance.show(&lru);
        true
    }

    fn withdrawn_frames(&self) -> u32 {
        let count = |instance: &Instance| instance.lru.lock().withdrawn.len();
        let sum: usize = self.instances.iter().map(count).sum();
        // Frame numbers are 32 bits.
        u32::try_from(sum).unwrap_or(u32::MAX)
    }

    fn cancel_withdrawal(&self) {
        for instance in &self.instances {
            let mut lru = instance.lru.lock();
            lru.withdraw_from = u32::MAX;
            let withdrawn = std::mem::take(&mut lru.withdrawn);
            for frame in withdrawn {
                self.return_withdrawn(frame);
                lru.free.push(frame);
            }
            instance.show(&lru);
            instance.freed.notify_all();
        }
    }

    fn end_withdrawal(&self, to: u32) {
        for instance in &self.instances {
            let mut lru = instance.lru.lock();
            lru.withdraw_from = u32::MAX;
            let withdrawn = std::mem::take(&mut lru.withdrawn);
            lru.size_pages -= withdrawn.len() as u64;
            // If the pool grows again they are free frames as any other.
            withdrawn.iter().for_each(|&frame| self.return_withdrawn(frame));
            instance.show(&lru);
        }
        self.size_frames.store(to, Ordering::Release);
    }

    fn return_withdrawn(&self, frame: u32) {
        let step = Phase::Withdrawn.step(Phase::Free);
        self.frame(frame).state.fetch_add(step, Ordering::AcqRel);
    }

    /// Names a page that keeps a shrink from ending.
    fn who_holds(&self, to: u32, from: u32) -> String {
        let held = (to..from).filter(|&frame| {
            matches!(self.frame(frame).word().phase(), Phase::Resident | Phase::Loading)
        });
        let frames: Vec<u32> = held.collect();
        match frames.first() {
            Some(&first) => format!(
                "{} pages are still held or cannot be written, the first {}; the old size is back",
                frames.len(),
                self.frame(first).page()
            ),
            None => "frames were in use until the end; the old size is back".to_owned(),
        }
    }
}

fn stopped(why: &str) -> PoolError {
    PoolError::Stopped { what: "the resize", why: why.to_owned() }
}
