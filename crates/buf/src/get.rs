//! Getting a page: the hit, which takes no lock, and the miss, which reads it.

#![allow(unsafe_code, reason = "a loader fills the frame it has X-latched")]

use std::sync::Arc;

use innopool_policy::list::Enter;
use innopool_policy::promotion::{Verdict, judge};
use innopool_policy::{PageId, Time};

use crate::counters::Counter;
use crate::error::PoolError;
use crate::frame::Frame;
use crate::frame::latch::{Latched, Want};
use crate::frame::word::{EXCLUSIVE, PIN, PIN_LIMIT, Phase, QUEUED, SHARED, UPDATE, Word};
use crate::inner::Inner;
use crate::instance::Instance;
use crate::options::Promotion;
use crate::store::StoreError;
use crate::sync::{Ordering, spin};

/// What the pool is told of the purpose of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hint {
    /// An ordinary access: the page may become young.
    #[default]
    Normal,
    /// Part of a large scan: the access moves nothing in the list.
    Scan,
    /// Read because it will probably be wanted soon: enters the old sublist, as not yet accessed.
    ReadAhead,
    /// Read back after a restart: as `ReadAhead`, counted as a load.
    Warm,
}

impl Hint {
    #[inline]
    fn counts_as_access(self) -> bool {
        matches!(self, Hint::Normal | Hint::Scan)
    }
}

/// A page that was got: its frame, and whether this was its first access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Got {
    pub(crate) frame: u32,
    pub(crate) first_access: bool,
}

impl Inner {
    /// Gets `page`, pinned and shared-latched, if it is in the pool and no writer is at it: one atomic addition.
    #[inline]
    pub(crate) fn get_shared_hit(&self, page: PageId, hint: Hint) -> Option<Got> {
        let frame = self.pages.find(page)?;
        let descriptor = self.frame(frame);
        match self.rooms.try_pin_shared(descriptor) {
            Ok(()) if descriptor.holds(page) => {
                let instance = self.instance_of_frame(frame);
                instance.counters.count(Counter::Gets);
                let first_access = self.accessed(instance, descriptor, frame, hint);
                Some(Got { frame, first_access })
            }
            Ok(()) => {
                // The frame was given to another page between the look-up and the pin.
                self.release(frame, PIN + SHARED);
                None
            }
            Err(after) => {
                self.recycle_if_failed(frame, after);
                None
            }
        }
    }

    /// Gets `page`, pinned and latched as `want`, whatever it takes.
    pub(crate) fn get(
        self: &Arc<Inner>,
        page: PageId,
        want: Want,
        hint: Hint,
    ) -> Result<Got, PoolError> {
        self.instance_of_page(page).counters.count(Counter::Gets);
        let mut round = 0;
        loop {
            let found = match self.pages.find(page) {
                Some(frame) => self.get_found(page, frame, want, hint)?,
                None => self.read_missing(page, want, hint)?,
            };
            if let Some(got) = found {
                return Ok(got);
            }
            spin(&mut round);
        }
    }

    /// Pins and latches the frame that probably holds the page. `None`: it does not (any more).
    fn get_found(
        &self,
        page: PageId,
        frame: u32,
        want: Want,
        hint: Hint,
    ) -> Result<Option<Got>, PoolError> {
        let descriptor = self.frame(frame);
        if !self.pin_if_held(page, frame)? {
            return Ok(None);
        }
        let first_access = self.accessed(self.instance_of_frame(frame), descriptor, frame, hint);
        match self.rooms.latch(descriptor, want) {
            Latched::Yes => Ok(Some(Got { frame, first_access })),
            Latched::ReadFailed => Err(self.take_failure(page, frame)),
        }
    }

    /// Pins `frame` if it holds `page`, now or as soon as it is read.
    pub(crate) fn pin_if_held(&self, page: PageId, frame: u32) -> Result<bool, PoolError> {
        let descriptor = self.frame(frame);
        match self.rooms.try_pin(descriptor) {
            Ok(()) if descriptor.holds(page) => Ok(true),
            Ok(()) => {
                self.release(frame, PIN);
                Ok(false)
            }
            Err(after) if after.has(PIN_LIMIT) => Err(PoolError::TooManyPins(page)),
            Err(after) => {
                self.recycle_if_failed(frame, after);
                Ok(false)
            }
        }
    }

    /// The error of the read that a pinned frame waited for; gives the pin up.
    pub(crate) fn take_failure(&self, page: PageId, frame: u32) -> PoolError {
        let error = self.instance_of_frame(frame).failed.lock().get(&frame).cloned();
        self.release(frame, PIN);
        // The error is stored before the phase is set, and removed only when nobody has a pin.
        error.unwrap_or_else(|| PoolError::Damaged {
            page,
            what: "its read failed and left no reason".to_owned(),
        })
    }

    /// Does what an access does to a pinned page: stamps the first, and promotes. Returns whether it was the first.
    #[inline]
    fn accessed(&self, instance: &Instance, descriptor: &Frame, frame: u32, hint: Hint) -> bool {
        if !hint.counts_as_access() {
            return false;
        }
        let first = !descriptor.was_accessed() && self.stamp_access(descriptor);
        if hint == Hint::Normal && !descriptor.is_settled(instance.settled_from()) {
            self.promote_if_due(instance, descriptor, frame);
        }
        first
    }

    #[cold]
    fn stamp_access(&self, descriptor: &Frame) -> bool {
        descriptor.stamp_access(self.clock().now())
    }

    /// Judges an access to a page that has been accessed, and does what the verdict says.
    #[inline(never)]
    fn promote_if_due(&self, instance: &Instance, descriptor: &Frame, frame: u32) {
        let recency = descriptor.recency();
        // Only an old page is judged by the time, and asking for it costs as much as all the rest.
        let now = if recency.is_old { self.clock().now() } else { Time::from_micros(0) };
        match judge(&self.list_rules(), recency, instance.clock(), now) {
            Verdict::Stay => {}
            Verdict::NotYoung => instance.counters.count(Counter::NotMadeYoung),
            Verdict::MakeYoung => self.promote(instance, frame),
        }
    }

    #[cold]
    fn promote(&self, instance: &Instance, frame: u32) {
        match self.options.promotion {
            Promotion::Exact => {
                let mut lru = instance.lru.lock();
                // We hold a pin, so the page cannot have been evicted; but a load may not have listed it yet, or, failed, no
                // longer.
                if self.frame(frame).is_listed() {
                    self.move_to_head(instance, &mut lru, frame);
                    instance.show(&lru);
                }
            }
            Promotion::Batched => self.note_promotion(instance, frame),
        }
    }

    fn note_promotion(&self, instance: &Instance, frame: u32) {
        let state = &self.frame(frame).state;
        if Word(state.load(Ordering::Relaxed)).has(QUEUED)
            || Word(state.fetch_or(QUEUED, Ordering::AcqRel)).has(QUEUED)
        {
            return;
        }
        if instance.promotions.push(frame).is_ok() {
            instance.counters.count(Counter::PromotionsQueued);
        } else {
            state.fetch_and(!QUEUED, Ordering::AcqRel);
            instance.counters.count(Counter::PromotionsDropped);
            if let Some(mut lru) = instance.lru.try_lock() {
                self.drain_promotions(instance, &mut lru);
                instance.show(&lru);
            }
        }
    }

    /// Reads `page` into a frame. `None`: another thread was faster and is reading it.
    fn read_missing(
        self: &Arc<Inner>,
        page: PageId,
        want: Want,
        hint: Hint,
    ) -> Result<Option<Got>, PoolError> {
        let instance = self.instance_of_page(page);
        let frame = self.take_free(instance)?;
        if !self.begin_load(instance, page, frame) {
            return Ok(None);
        }
        instance.counters.count(match hint {
            Hint::Normal | Hint::Scan => Counter::DemandReads,
            Hint::ReadAhead => Counter::ReadAhead,
            Hint::Warm => Counter::LoadReads,
        });
        // SAFETY: we hold the frame's X latch, so this is the only reference to its bytes.
        let bytes = unsafe { self.bytes_to_write(frame).as_mut() };
        let result = self.store.read(page, bytes);
        let mut first_access = false;
        if result.is_ok() {
            // In the server's order: the page counts as not yet accessed when its neighbours are looked at.
            if hint == Hint::Normal {
                self.random_read_ahead(page);
            }
            first_access = self.accessed(instance, self.frame(frame), frame, hint);
        }
        let kept = match want {
            Want::Shared => SHARED,
            Want::Update => UPDATE,
            Want::Exclusive | Want::Upgrade => EXCLUSIVE,
        };
        match self.end_load(instance, page, frame, result, EXCLUSIVE.wrapping_sub(kept)) {
            Ok(()) => Ok(Some(Got { frame, first_access })),
            Err(error) => {
                self.release(frame, PIN);
                Err(error)
            }
        }
    }

    /// Gives `frame`, free and in our hands, to `page`: in the page table, in the list, pinned and X-latched by us. `false`:
    /// the page has got a frame meanwhile; ours is back on the free list.
    pub(crate) fn begin_load(&self, instance: &Instance, page: PageId, frame: u32) -> bool {
        if !self.claim(instance, page, frame) {
            return false;
        }
        instance.pending_reads.fetch_add(1, Ordering::Relaxed);
        instance.enter(self.frames(), frame, Enter::Old);
        true
    }

    /// The part of [`Inner::begin_load`] that a creation shares.
    pub(crate) fn claim(&self, instance: &Instance, page: PageId, frame: u32) -> bool {
        if self.claim_frame(page, frame) {
            return true;
        }
        let mut lru = instance.lru.lock();
        instance.give_free(&mut lru, self.frames(), frame);
        instance.show(&lru);
        false
    }

    /// Gives `frame`, free and in our hands, to `page`: in the page table, pinned and X-latched by us. `false`: the page has
    /// got another frame meanwhile, and this one is still ours.
    pub(crate) fn claim_frame(&self, page: PageId, frame: u32) -> bool {
        let descriptor = self.frame(frame);
        descriptor.assign(page);
        if self.pages.claim(page, frame).is_err() {
            return false;
        }
        // From the claim until this addition, who finds the frame sees it free and looks again.
        let taken = Phase::Free.step(Phase::Loading) + EXCLUSIVE + PIN;
        descriptor.state.fetch_add(taken, Ordering::Release);
        true
    }

    /// Ends a load with its outcome, and gives up `bits` (the X latch, or X for another latch, perhaps the pin) if it went
    /// well. If it failed only the X latch goes: the caller still has the pin.
    pub(crate) fn end_load(
        &self,
        instance: &Instance,
        page: PageId,
        frame: u32,
        result: Result<(), StoreError>,
        bits: u64,
    ) -> Result<(), PoolError> {
        instance.pending_reads.fetch_sub(1, Ordering::Relaxed);
        let outcome = match result {
            Ok(()) => {
                instance.counters.count(Counter::PagesRead);
                // SAFETY: the frame is still X-latched by the load, which has ended; only we look at it.
                let bytes = unsafe { self.bytes_to_read(frame).as_ref() };
                self.verify(page, bytes).map_err(|what| PoolError::Damaged { page, what })
            }
            Err(error) => Err(PoolError::Store(error)),
        };
        match outcome {
            Ok(()) => {
                self.rooms.end_load(self.frame(frame), Phase::Resident, bits);
                Ok(())
            }
            Err(error) => {
                self.fail_load(instance, page, frame, &error);
                Err(error)
            }
        }
    }

    /// Asks the format whether a page that was read is what it should be. A format that panics must not leave the page
    /// latched for ever: its page counts as damaged.
    fn verify(&self, page: PageId, bytes: &[u8]) -> Result<(), String> {
        let verify = || self.format.verify(page, bytes);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(verify))
            .unwrap_or_else(|_| Err("its format panicked while checking it".to_owned()))
    }

    /// Takes a page that could not be read out of the pool, and lets everybody who waits for it know.
    fn fail_load(&self, instance: &Instance, page: PageId, frame: u32, error: &PoolError) {
        instance.failed.lock().insert(frame, error.clone());
        // First out of sight, so that the next get reads again.
        self.pages.clear(page, frame);
        let mut lru = instance.lru.lock();
        instance.leave(&mut lru, self.frames(), frame);
        instance.show(&lru);
        drop(lru);
        self.rooms.end_load(self.frame(frame), Phase::Failed, EXCLUSIVE);
    }
}
