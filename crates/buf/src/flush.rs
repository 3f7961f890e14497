//! Writing dirty pages: from the flush list and from the tail of the LRU list to the store.
//!
//! A page is **chosen** (marked `WRITING` in its state word, so nobody else writes or evicts it), **copied** under its
//! S latch, held back until the log is durable up to its newest LSN, written, and then either **clean**, if nothing has changed
//! it since the copy, or dirty from the first change after the copy on. All steps but the copy happen without its
//! latch, so readers and writers of the page go on meanwhile.

#![allow(unsafe_code, reason = "copies of pages are lent to the store while it writes them")]

use std::sync::Arc;

use innopool_policy::flushing::neighbours::{self, FlushNeighbours};
use innopool_policy::{Lsn, PageId};

use crate::counters::Counter;
use crate::error::PoolError;
use crate::frame::latch::{Latched, Want};
use crate::frame::word::{DIRTY, PIN, SHARED, WRITING, Word};
use crate::inner::Inner;
use crate::instance::Instance;
use crate::staging::Write;
use crate::store::{Completion, Kind, Operation, StoreError};
use crate::sync::{AtomicU64, Condvar, Mutex, Ordering};

/// Pages that are chosen under one hold of a list's lock.
pub(crate) const CHOOSE_MAX: usize = 64;

/// What to do about a page whose latch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// Leave it dirty; there will be another pass.
    Skip,
    /// Wait for it: the caller promised that the page will be written.
    Wait,
}

/// The writes of one call, and who waits for them.
pub(crate) struct Batch {
    pool: Arc<Inner>,
    state: Mutex<BatchState>,
    done: Condvar,
}

#[derive(Default)]
struct BatchState {
    under_way: usize,
    written: u64,
    first_error: Option<StoreError>,
}

impl Batch {
    pub(crate) fn new(pool: &Arc<Inner>) -> Arc<Batch> {
        Arc::new(Batch {
            pool: pool.clone(),
            state: Mutex::new(BatchState::default()),
            done: Condvar::new(),
        })
    }

    /// Waits for every write. Returns how many pages were written.
    pub(crate) fn wait(&self) -> Result<u64, PoolError> {
        let mut state = self.state.lock();
        while state.under_way > 0 {
            state = self.done.wait(state);
        }
        match state.first_error.clone() {
            Some(error) => Err(error.into()),
            None => Ok(state.written),
        }
    }
}

impl Completion for Batch {
    fn completed(&self, token: u64, result: Result<(), StoreError>) {
        // Tokens are the numbers of staging places, which are 32 bits.
        let place = u32::try_from(token).unwrap_or(u32::MAX);
        self.pool.write_ended(place, result.is_ok());
        *self.pool.write_error.lock() = result.as_ref().err().map(ToString::to_string);
        let mut state = self.state.lock();
        state.under_way -= 1;
        match result {
            Ok(()) => state.written += 1,
            Err(error) => {
                state.first_error.get_or_insert(error);
            }
        }
        self.done.notify_all();
        drop(state);
        self.pool.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Inner {
    /// Marks a dirty page as about to be written. `false`: it is clean, already being written, or (when it must be evicted
    /// afterwards) in use.
    pub(crate) fn choose_for_write(&self, frame: u32, unpinned_only: bool) -> bool {
        let state = &self.frame(frame).state;
        let mut word = Word(state.load(Ordering::Acquire));
        loop {
            if !word.has(DIRTY) || word.has(WRITING) || (unpinned_only && word.pins() > 0) {
                return false;
            }
            match state.compare_exchange_weak(
                word.0,
                word.0 | WRITING,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(now) => word = Word(now),
            }
        }
    }

    /// Chooses up to `most` pages from the tail of the flush list whose first change is at or before `limit`. Also returns
    /// whether there are others that are being written already.
    pub(crate) fn choose_oldest(
        &self,
        instance: &Instance,
        limit: Lsn,
        most: usize,
    ) -> (Vec<u32>, bool) {
        let list = instance.flush.lock();
        let mut chosen = Vec::new();
        let mut others = false;
        for frame in list.oldest_first(self.frames()) {
            let oldest = Lsn(self.frame(frame).oldest_lsn.load(Ordering::Relaxed));
            if oldest > limit || chosen.len() == most {
                break;
            }
            if self.choose_for_write(frame, false) {
                chosen.push(frame);
            } else {
                others = true;
            }
        }
        (chosen, others)
    }

    /// Writes chosen pages; their completions go to `batch`. Returns when all are handed to the store, or left dirty
    /// because their latch is taken: all of those with [`Busy::Skip`], all but one with [`Busy::Wait`].
    ///
    /// # Errors
    ///
    /// The log's. Pages not yet handed over then stay dirty and are no longer chosen.
    pub(crate) fn write_chosen(
        &self,
        batch: &Arc<Batch>,
        chosen: &[u32],
        busy: Busy,
        then_evict: bool,
    ) -> Result<(), PoolError> {
        let mut ready: Vec<(u32, u32)> = Vec::with_capacity(chosen.len());
        let mut awaited = None;
        let mut result = Ok(());
        for &frame in chosen {
            if result.is_ok() && self.try_latch_for_copy(frame) {
                result = self.copy_latched(batch, &mut ready, frame, then_evict);
                continue;
            }
            if result.is_ok() && busy == Busy::Wait && awaited.is_none() {
                // While it is chosen it cannot be evicted: the pin holds whatever the word says.
                self.rooms.add_pin(self.frame(frame));
                awaited = Some(frame);
            }
            self.unchoose(frame);
        }
        result = result.and_then(|()| self.hand_over(batch, &mut ready));
        match awaited {
            None => result,
            Some(frame) if result.is_ok() => self.write_pinned(batch, frame),
            Some(frame) => {
                self.release(frame, PIN);
                result
            }
        }
    }

    /// Waits for the latch of a pinned page and writes it, if it is dirty then. While it waits, no page is chosen and no
    /// staging place taken: the latch's holder may need a frame, and so one of those written and evicted.
    fn write_pinned(&self, batch: &Arc<Batch>, frame: u32) -> Result<(), PoolError> {
        if self.rooms.latch(self.frame(frame), Want::Shared) != Latched::Yes {
            self.release(frame, PIN);
            return Ok(());
        }
        if !self.choose_for_write(frame, false) {
            self.release(frame, PIN + SHARED);
            return Ok(());
        }
        let mut ready = Vec::new();
        self.copy_latched(batch, &mut ready, frame, false)?;
        self.hand_over(batch, &mut ready)
    }

    /// Pins and S-latches a chosen page, if nobody has it X-latched.
    fn try_latch_for_copy(&self, frame: u32) -> bool {
        let descriptor = self.frame(frame);
        // A chosen page is dirty, so it cannot be evicted: the pin holds whatever the word says.
        self.rooms.add_pin(descriptor);
        let latched = self.rooms.try_latch(descriptor, Want::Shared);
        if !latched {
            self.release(frame, PIN);
        }
        latched
    }

    /// Copies a chosen page, pinned and S-latched, to a staging place, adds it to `ready` and lets go of it. After an
    /// error it is no longer chosen.
    fn copy_latched(
        &self,
        batch: &Arc<Batch>,
        ready: &mut Vec<(u32, u32)>,
        frame: u32,
        then_evict: bool,
    ) -> Result<(), PoolError> {
        let place = self.take_place(batch, ready, frame, then_evict).inspect_err(|_| {
            self.release(frame, PIN + SHARED);
            self.unchoose(frame);
        })?;
        self.copy_out(frame, place);
        ready.push((frame, place));
        Ok(())
    }

    /// Takes a staging place. When there is none, first hands over what is ready, since only that can free any.
    fn take_place(
        &self,
        batch: &Arc<Batch>,
        ready: &mut Vec<(u32, u32)>,
        frame: u32,
        then_evict: bool,
    ) -> Result<u32, PoolError> {
        loop {
            if let Some(place) = self.staging.try_take(Write { frame, newest: Lsn(0), then_evict })
            {
                return Ok(place);
            }
            self.hand_over(batch, ready)?;
            self.staging.wait();
        }
    }

    /// Copies a latched page to its place and lets go of it.
    fn copy_out(&self, frame: u32, place: u32) {
        let descriptor = self.frame(frame);
        // Changes are made under X, so under our S these belong to the bytes.
        let newest = Lsn(descriptor.newest_lsn.load(Ordering::Acquire));
        // What was changed between the choice and the copy is in the copy.
        descriptor.redirtied_lsn.store(0, Ordering::Release);
        let page = descriptor.page();
        // SAFETY: we hold the frame's S latch: nobody writes its bytes.
        let bytes = unsafe { self.bytes_to_read(frame).as_ref() };
        // SAFETY: we have taken the place and have not lent it to the store yet.
        let copy = unsafe { self.staging.bytes(place).as_mut() };
        copy.copy_from_slice(bytes);
        self.release(frame, PIN + SHARED);
        self.format.seal(page, newest, copy);
        self.staging.set_newest(place, newest);
    }

    /// Gives copied pages to the store, the log first.
    fn hand_over(&self, batch: &Arc<Batch>, ready: &mut Vec<(u32, u32)>) -> Result<(), PoolError> {
        if ready.is_empty() {
            return Ok(());
        }
        let newest = ready.iter().map(|&(_, place)| self.staging.write(place).newest).max();
        if let Err(error) = self.wait_for_log(newest.unwrap_or_default()) {
            for (frame, place) in ready.drain(..) {
                self.staging.give(place);
                self.unchoose(frame);
            }
            return Err(error);
        }
        batch.state.lock().under_way += ready.len();
        self.in_flight.fetch_add(ready.len(), Ordering::AcqRel);
        let mut operations: Vec<Operation> = ready
            .drain(..)
            .map(|(frame, place)| {
                self.pending_writes_of(self.staging.write(place)).fetch_add(1, Ordering::Relaxed);
                // SAFETY: the place is ours until its completion gives it back, and nobody writes it meanwhile.
                unsafe {
                    Operation::new(
                        Kind::Write,
                        self.frame(frame).page(),
                        self.staging.bytes(place),
                        u64::from(place),
                        batch.clone(),
                    )
                }
            })
            .collect();
        operations.sort_unstable_by_key(Operation::page);
        self.store.start(&mut operations);
        Ok(())
    }

    fn pending_writes_of(&self, write: Write) -> &AtomicU64 {
        self.instance_of_frame(write.frame).pending_writes(write.then_evict)
    }

    /// Rule 6: the log goes first.
    fn wait_for_log(&self, newest: Lsn) -> Result<(), PoolError> {
        self.check_poison()?;
        if self.log.durable_lsn() >= newest {
            return Ok(());
        }
        self.log.make_durable(newest).map_err(|what| {
            let error = PoolError::Log { lsn: newest, what };
            *self.write_error.lock() = Some(error.to_string());
            error
        })
    }

    fn unchoose(&self, frame: u32) {
        self.frame(frame).state.fetch_and(!WRITING, Ordering::AcqRel);
    }

    /// Takes in the end of a write: the page is clean now, or dirty with what came after the copy.
    fn write_ended(&self, place: u32, written: bool) {
        let write = self.staging.write(place);
        self.pending_writes_of(write).fetch_sub(1, Ordering::Relaxed);
        self.staging.give(place);
        let frame = self.frame(write.frame);
        let page = frame.page();
        let instance = self.instance_of_frame(write.frame);
        if written {
            // Before it leaves the flush list: a checkpoint that no longer sees it there must sync it.
            self.unsynced.lock().insert(page.space);
            instance.counters.count(Counter::PagesWritten);
            self.settle(instance, write);
        } else {
            frame.state.fetch_and(!WRITING, Ordering::AcqRel);
        }
        let mut lru = instance.lru.lock();
        if written && write.then_evict {
            self.try_evict(instance, &mut lru, write.frame);
        }
        lru.try_scan = true;
        instance.show(&lru);
        instance.freed.notify_all();
    }

    fn settle(&self, instance: &Instance, write: Write) {
        let frame = self.frame(write.frame);
        let mut list = instance.flush.lock();
        list.remove(self.frames(), write.frame);
        let first_after_copy = frame.redirtied_lsn.swap(0, Ordering::AcqRel);
        if first_after_copy == 0 {
            frame.state.fetch_and(!(DIRTY | WRITING), Ordering::AcqRel);
            return;
        }
        frame.oldest_lsn.store(first_after_copy, Ordering::Relaxed);
        list.insert(self.frames(), write.frame);
        frame.state.fetch_and(!WRITING, Ordering::AcqRel);
    }

    /// Notes a change of a page, made under its X latch, by the log records from `start` to `end`.
    pub(crate) fn mark_dirty(&self, frame: u32, start: Lsn, end: Lsn) {
        let instance = self.instance_of_frame(frame);
        let descriptor = self.frame(frame);
        instance.counters.count(Counter::WriteRequests);
        let mut list = instance.flush.lock();
        list.note_change(start);
        let newest = descriptor.newest_lsn.load(Ordering::Relaxed).max(end.0);
        descriptor.newest_lsn.store(newest, Ordering::Release);
        let word = descriptor.word();
        if !word.has(DIRTY) {
            descriptor.oldest_lsn.store(start.0, Ordering::Relaxed);
            list.insert(self.frames(), frame);
            descriptor.state.fetch_or(DIRTY, Ordering::AcqRel);
        } else if word.has(WRITING) && descriptor.redirtied_lsn.load(Ordering::Relaxed) == 0 {
            descriptor.redirtied_lsn.store(start.0, Ordering::Relaxed);
        }
    }

    /// LSN of the oldest change that is in no page of the store.
    pub(crate) fn oldest_lsn(&self) -> Option<Lsn> {
        let oldest = |instance: &Instance| instance.flush.lock().oldest(self.frames());
        self.instances.iter().filter_map(oldest).min()
    }

    /// Syncs every tablespace that was written since it was last synced.
    pub(crate) fn sync_written(&self) -> Result<(), PoolError> {
        // Whoever finds nothing left to sync must still wait for those who are at it: until their syncs have returned,
        // what was written is not durable.
        let _turn = self.syncing.lock();
        let spaces = std::mem::take(&mut *self.unsynced.lock());
        for space in spaces {
            if let Err(error) = self.store.sync(space) {
                return Err(self.poison(&format!("a sync failed: {error}")));
            }
        }
        self.check_poison()
    }

    /// Writes every change made before this call by a record that starts at or before `limit`, and waits for it.
    pub(crate) fn flush_to(self: &Arc<Inner>, limit: Lsn) -> Result<u64, PoolError> {
        // No further than what has been changed by now, or a busy pool would keep us here for ever.
        let latest = self.instances.iter().map(|instance| instance.flush.lock().latest_change());
        let limit = latest.max().unwrap_or_default().min(limit);
        let mut written = 0;
        loop {
            let batch = Batch::new(self);
            let mut others = false;
            let mut chosen_pages = 0;
            for instance in &self.instances {
                let (chosen, writing) = self.choose_oldest(instance, limit, CHOOSE_MAX);
                others |= writing;
                chosen_pages += chosen.len();
                self.write_chosen(&batch, &chosen, Busy::Wait, false)?;
            }
            written += batch.wait()?;
            if chosen_pages == 0 && !others {
                return Ok(written);
            }
            if chosen_pages == 0 {
                // The rest is being written by others; its completion moves it on.
                crate::sync::thread::yield_now();
            }
        }
    }

    /// Flushes to the end of the log and syncs. Returns the LSN a checkpoint may be written with.
    pub(crate) fn checkpoint_lsn(&self) -> Result<Lsn, PoolError> {
        // In this order: what leaves the flush lists after the look was still counted as dirty.
        let end = self.log.current_lsn();
        let lsn = self.oldest_lsn().map_or(end, |oldest| oldest.min(end));
        self.sync_written()?;
        Ok(lsn)
    }

    /// Chooses the dirty pages that are to be written along with `page` (`innodb_flush_neighbors`).
    pub(crate) fn choose_neighbours(&self, instance: &Instance, page: PageId) -> Vec<u32> {
        let mode = self.options.flush_neighbors;
        if mode == FlushNeighbours::Off {
            return Vec::new();
        }
        let dirty = |page: PageId| {
            let frame = self.pages.find(page)?;
            let descriptor = self.frame(frame);
            (descriptor.word().has(DIRTY) && descriptor.holds(page)).then_some(frame)
        };
        let (size, lru) = (instance.size_pages(), instance.lru_pages());
        let area = neighbours::area(mode, page, size, lru, |page| dirty(page).is_some());
        let pages = area.into_iter().flat_map(|area| area.pages());
        pages.filter_map(dirty).filter(|&frame| self.choose_for_write(frame, false)).collect()
    }
}
