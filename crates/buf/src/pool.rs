//! The pool, as its user sees it.

#![allow(unsafe_code, reason = "a new page is zeroed under its X latch")]

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use innopool_policy::list::Enter;
use innopool_policy::{Lsn, PageId};

use crate::adaptive::Adaptive;
use crate::arena::Arena;
use crate::counters::Counter;
use crate::dump::Warmth;
use crate::error::PoolError;
use crate::format::PageFormat;
use crate::frame::latch::{Latched, WaitRooms, Want};
use crate::frame::table::FrameTable;
use crate::frame::word::{
    DIRTY, EXCLUSIVE, PIN, Phase, QUEUED, WAITERS, WRITER_WAITING, WRITING, Word,
};
use crate::get::{Got, Hint};
use crate::guard::{ExclusiveGuard, Pinned, SharedGuard, UpdateGuard};
use crate::headroom;
use crate::inner::{Inner, Signal};
use crate::instance::Instance;
use crate::log::Log;
use crate::options::{Background, PoolOptions};
use crate::prefetch::Prefetched;
use crate::staging::Staging;
use crate::store::PageStore;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering};
use crate::sync::{Touched, sleep, spin, thread};
use crate::translation::PageTable;

/// A buffer pool over a page store and a log.
///
/// All methods may be called from any thread. Dropping the pool writes nothing: call [`Pool::flush_all`] first if the
/// pages shall be in the store.
pub struct Pool {
    pub(crate) inner: Arc<Inner>,
    cleaner: Option<thread::JoinHandle<()>>,
}

impl Pool {
    /// Makes a pool with no page in it. Takes its memory at once.
    ///
    /// # Errors
    ///
    /// [`PoolError::Setting`] when the options cannot be, or do not fit the store's page size; [`PoolError::Memory`] when
    /// the machine will not give the memory.
    pub fn new(
        options: PoolOptions,
        store: Arc<dyn PageStore>,
        log: Arc<dyn Log>,
        format: Arc<dyn PageFormat>,
    ) -> Result<Pool, PoolError> {
        options.check()?;
        if options.page_size != store.page_size() {
            return Err(PoolError::Setting {
                name: "page_size",
                value: options.page_size.to_string(),
                why: format!("the page store has pages of {}", store.page_size()),
            });
        }
        let inner = Arc::new(Inner::new(options, store, log, format)?);
        let cleaner = match inner.options.background {
            Background::Manual => None,
            Background::Threads => {
                let pool = inner.clone();
                Some(thread::spawn(move || pool.run_cleaner()))
            }
        };
        Ok(Pool { inner, cleaner })
    }

    /// Gets a page to read, from the store if it is not in the pool.
    ///
    /// A hit costs two atomic additions, one here and one when the guard is dropped, and no lock.
    ///
    /// # Errors
    ///
    /// The store's, if the page must be read and cannot be; [`PoolError::Damaged`]; [`PoolError::Exhausted`].
    #[inline]
    pub fn get_shared(&self, page: PageId, hint: Hint) -> Result<SharedGuard<'_>, PoolError> {
        match self.inner.get_shared_hit(page, hint) {
            Some(got) if !got.first_access => Ok(SharedGuard::new(&self.inner, got.frame)),
            other => self.get_shared_slowly(page, hint, other),
        }
    }

    /// The rest of [`Pool::get_shared`]: after a miss, and after a hit that is the page's first access.
    #[cold]
    fn get_shared_slowly(
        &self,
        page: PageId,
        hint: Hint,
        got: Option<Got>,
    ) -> Result<SharedGuard<'_>, PoolError> {
        let got = match got {
            Some(got) => got,
            None => self.inner.get(page, Want::Shared, hint)?,
        };
        let guard = SharedGuard::new(&self.inner, got.frame);
        self.after_first_access(page, got, &guard);
        Ok(guard)
    }

    /// Gets a page to read now and perhaps write later; no other `UpdateGuard` is given meanwhile.
    ///
    /// # Errors
    ///
    /// As for [`Pool::get_shared`], and [`PoolError::Poisoned`] after a failed sync.
    pub fn get_update(&self, page: PageId, hint: Hint) -> Result<UpdateGuard<'_>, PoolError> {
        self.inner.check_poison()?;
        let got = self.inner.get(page, Want::Update, hint)?;
        let guard = UpdateGuard::new(&self.inner, got.frame);
        self.after_first_access(page, got, &guard);
        Ok(guard)
    }

    /// Gets a page to write.
    ///
    /// # Errors
    ///
    /// As for [`Pool::get_update`].
    pub fn get_exclusive(&self, page: PageId, hint: Hint) -> Result<ExclusiveGuard<'_>, PoolError> {
        self.inner.check_poison()?;
        let got = self.inner.get(page, Want::Exclusive, hint)?;
        let guard = ExclusiveGuard::new(&self.inner, got.frame);
        self.after_first_access(page, got, &guard);
        Ok(guard)
    }

    /// Gets a page to read if it is in the pool; never reads it and never moves it (`PEEK_IF_IN_POOL`).
    ///
    /// # Errors
    ///
    /// If the page was being read and the read failed.
    pub fn peek(&self, page: PageId) -> Result<Option<SharedGuard<'_>>, PoolError> {
        let inner = &*self.inner;
        inner.instance_of_page(page).counters.count(Counter::Gets);
        let Some(frame) = inner.pages.find(page) else { return Ok(None) };
        if !inner.pin_if_held(page, frame)? {
            return Ok(None);
        }
        inner.frame(frame).stamp_access(inner.clock().now());
        match inner.rooms.latch(inner.frame(frame), Want::Shared) {
            Latched::Yes => Ok(Some(SharedGuard::new(inner, frame))),
            Latched::ReadFailed => Err(inner.take_failure(page, frame)),
        }
    }

    /// Pins a page, reading it if need be, and latches nothing.
    ///
    /// # Errors
    ///
    /// As for [`Pool::get_shared`].
    pub fn pin(&self, page: PageId, hint: Hint) -> Result<Pinned<'_>, PoolError> {
        Ok(self.get_shared(page, hint)?.unlatch())
    }

    /// Makes a page that need not have been written yet, but whose place in the store must be there when it is, or no flush
    /// will succeed: zeroed, X-latched, at the head of the list. If the page is in the
    /// pool its bytes are zeroed and it stays where it is.
    ///
    /// # Errors
    ///
    /// [`PoolError::Exhausted`], [`PoolError::Poisoned`].
    pub fn create(&self, page: PageId) -> Result<ExclusiveGuard<'_>, PoolError> {
        let inner = &self.inner;
        inner.check_poison()?;
        let instance = inner.instance_of_page(page);
        let mut round = 0;
        loop {
            match inner.pages.find(page) {
                Some(frame) if inner.pin_if_held(page, frame)? => {
                    if inner.rooms.latch(inner.frame(frame), Want::Exclusive) == Latched::Yes {
                        let mut guard = ExclusiveGuard::new(inner, frame);
                        guard.fill(0);
                        return Ok(guard);
                    }
                    // What could not be read is about to be overwritten: look again when it has gone.
                    inner.release(frame, PIN);
                }
                Some(_) => {}
                None => {
                    let frame = inner.take_free(instance)?;
                    if inner.claim(instance, page, frame) {
                        return Ok(self.created(instance, frame));
                    }
                }
            }
            spin(&mut round);
        }
    }

    fn created(&self, instance: &Instance, frame: u32) -> ExclusiveGuard<'_> {
        let inner = &*self.inner;
        instance.enter(inner.frames(), frame, Enter::Young);
        inner.frame(frame).stamp_access(inner.clock().now());
        instance.counters.count(Counter::PagesCreated);
        // SAFETY: the claim has X-latched the frame for us.
        unsafe { inner.bytes_to_write(frame).as_mut() }.fill(0);
        inner.rooms.end_load(inner.frame(frame), Phase::Resident, 0);
        ExclusiveGuard::new(inner, frame)
    }

    /// Starts reading pages without waiting for them, as far as frames are free.
    pub fn prefetch(&self, pages: impl IntoIterator<Item = PageId>, hint: Hint) -> Prefetched {
        self.inner.prefetch(pages, hint)
    }

    /// Throws a page out of the pool without writing it, dirty or not: its tablespace is being dropped. Nobody may get the
    /// page meanwhile.
    ///
    /// # Errors
    ///
    /// [`PoolError::InUse`] when somebody holds the page for longer than a second.
    pub fn discard(&self, page: PageId) -> Result<(), PoolError> {
        const PATIENCE: u32 = 1000;
        for _ in 0..PATIENCE {
            let Some(frame) = self.inner.pages.find(page) else { return Ok(()) };
            if self.inner.pin_if_held(page, frame)? {
                if self.inner.discard_pinned(page, frame) {
                    return Ok(());
                }
                sleep(Duration::from_millis(1));
            }
        }
        Err(PoolError::InUse(page))
    }

    /// Writes every change whose record starts at or before `lsn`, waits for it, and syncs. Returns how many pages were
    /// written.
    ///
    /// The caller must hold no X or SX latch on a page that is dirty: it would wait for itself.
    ///
    /// # Errors
    ///
    /// The store's or the log's first error: the pages concerned stay dirty. After a failed sync [`PoolError::Poisoned`].
    pub fn flush_to(&self, lsn: Lsn) -> Result<u64, PoolError> {
        let written = self.inner.flush_to(lsn)?;
        self.inner.sync_written()?;
        Ok(written)
    }

    /// Writes every dirty page and syncs.
    ///
    /// # Errors
    ///
    /// As for [`Pool::flush_to`].
    pub fn flush_all(&self) -> Result<u64, PoolError> {
        self.flush_to(Lsn(u64::MAX))
    }

    /// LSN of the oldest change that only the pool and the log have; `None` when every page is clean.
    pub fn oldest_lsn(&self) -> Option<Lsn> {
        self.inner.oldest_lsn()
    }

    /// Syncs what was written and returns an LSN from which recovery may start: all changes before it are durable in the
    /// store. Writes no page.
    ///
    /// # Errors
    ///
    /// [`PoolError::Poisoned`] when a sync failed, now or earlier.
    pub fn checkpoint_lsn(&self) -> Result<Lsn, PoolError> {
        self.inner.checkpoint_lsn()
    }

    /// Does what the page cleaner does in one pass: carries out promotions, restores the free reserve, writes what adaptive
    /// flushing asks for. Waits for its writes. For pools with [`Background::Manual`].
    ///
    /// # Errors
    ///
    /// The first error of the store or the log.
    pub fn clean(&self) -> Result<(), PoolError> {
        self.inner.clean(true, true)
    }

    /// Why the pool no longer writes, if it does not.
    pub fn poisoned(&self) -> Option<Arc<str>> {
        self.inner.poison.get().cloned()
    }

    /// Sets `innodb_old_blocks_time`.
    pub fn set_old_blocks_time(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.inner.old_blocks_time_ms.store(millis, Ordering::Relaxed);
        self.inner.apply_list_rules();
    }

    /// Sets `innodb_old_blocks_pct`, 5 to 95.
    pub fn set_old_blocks_pct(&self, percent: u32) {
        let ratio = self.inner.list_rules().with_old_blocks_pct(percent).old_ratio;
        self.inner.old_ratio.store(ratio, Ordering::Relaxed);
        self.inner.apply_list_rules();
    }

    fn after_first_access(&self, page: PageId, got: Got, bytes: &[u8]) {
        if got.first_access {
            self.inner.linear_read_ahead(page, bytes);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.inner.stopping.store(true, Ordering::Release);
        self.inner.cleaner.ring();
        if let Some(cleaner) = self.cleaner.take() {
            // A panic there has been reported by the runtime; there is nothing to add.
            let _ = cleaner.join();
        }
        // Operations lend our memory to the store, and the store's threads must not be the ones to drop it.
        let mut round = 0;
        while self.inner.in_flight.load(Ordering::Acquire) > 0 || Arc::strong_count(&self.inner) > 1
        {
            spin(&mut round);
        }
    }
}

impl Inner {
    fn new(
        options: PoolOptions,
        store: Arc<dyn PageStore>,
        log: Arc<dyn Log>,
        format: Arc<dyn PageFormat>,
    ) -> Result<Inner, PoolError> {
        let (frames, frames_max) = options.frames()?;
        let refused = |error: std::io::Error| PoolError::Memory {
            wanted_bytes: options.size_bytes,
            size_bytes: 0,
            why: error.to_string(),
        };
        if let Some(why) = headroom::lack_of(u64::from(frames) << options.page_size.log2()) {
            return Err(PoolError::Memory { wanted_bytes: options.size_bytes, size_bytes: 0, why });
        }
        let arena = Arena::new(options.page_size, frames, frames_max).map_err(refused)?;
        let table = FrameTable::new(frames_max as usize).map_err(refused)?;
        let staging =
            Staging::new(options.page_size, options.writes_in_flight_max).map_err(refused)?;
        let millis = u64::try_from(options.list.old_blocks_time.as_millis()).unwrap_or(u64::MAX);
        let adaptive = Adaptive::new(options.clock.now(), log.current_lsn());
        let inner = Inner {
            made_at: options.clock.now(),
            arena,
            touched: Touched::new(frames_max),
            table,
            staging,
            pages: PageTable::new(options.translation),
            rooms: WaitRooms::new(),
            instances: (0..options.instances).map(|_| Instance::new(options.list)).collect(),
            store,
            log,
            format,
            size_frames: AtomicU32::new(0),
            size_max_frames: frames_max,
            old_ratio: AtomicU64::new(options.list.old_ratio),
            old_blocks_time_ms: AtomicU64::new(millis),
            unsynced: Mutex::new(BTreeSet::new()),
            syncing: Mutex::new(()),
            in_flight: AtomicUsize::new(0),
            poison: OnceLock::new(),
            write_error: Mutex::new(None),
            adaptive: Mutex::new(adaptive),
            cleaner: Signal::new(),
            warmth: Warmth::new(),
            resizing: Mutex::new(()),
            stopping: AtomicBool::new(false),
            options,
        };
        inner.add_frames(0, frames);
        Ok(inner)
    }

    /// Gives the filled frames from `from` to before `to` to their instances.
    pub(crate) fn add_frames(&self, from: u32, to: u32) {
        let count = self.instances.len();
        for (number, instance) in self.instances.iter().enumerate() {
            let mut lru = instance.lru.lock();
            let mine = (from..to).filter(|&frame| frame as usize % count == number);
            // Taken from the end: the first frame is to be used first, after those that are free already.
            let mut fresh: Vec<u32> = mine.rev().collect();
            lru.size_pages += fresh.len() as u64;
            fresh.append(&mut lru.free);
            lru.free = fresh;
            instance.show(&lru);
            instance.freed.notify_all();
        }
        self.size_frames.store(to, Ordering::Release);
    }

    fn apply_list_rules(&self) {
        let rules = self.list_rules();
        for instance in &self.instances {
            let mut lru = instance.lru.lock();
            let mut links = crate::frame::table::LruLinks(self.frames());
            lru.list.set_rules(&mut links, rules);
            instance.show(&lru);
        }
    }

    /// Throws out a page the caller has pinned. On `false` the pin is given up and the page is there still.
    fn discard_pinned(&self, page: PageId, frame: u32) -> bool {
        let descriptor = self.frame(frame);
        // Without waiting: the holder of a latch may hold it for ever, and the caller's patience has an end.
        if !self.rooms.try_latch(descriptor, Want::Exclusive) {
            self.release(frame, PIN);
            return false;
        }
        let instance = self.instance_of_frame(frame);
        if !self.forget_changes(instance, frame) {
            self.release(frame, PIN + EXCLUSIVE);
            return false;
        }
        let mut lru = instance.lru.lock();
        let seen = descriptor.word();
        let ignored = QUEUED | WAITERS | WRITER_WAITING;
        let ours_alone = seen.0 & !ignored == Phase::Resident.bits() + PIN + EXCLUSIVE;
        let freed = ours_alone
            && descriptor
                .state
                .compare_exchange(seen.0, Phase::Free.bits(), Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if freed {
            self.pages.clear(page, frame);
            instance.leave(&mut lru, self.frames(), frame);
            instance.give_free(&mut lru, self.frames(), frame);
            instance.show(&lru);
            instance.freed.notify_all();
        } else {
            drop(lru);
            self.release(frame, PIN + EXCLUSIVE);
        }
        freed
    }

    /// Takes a page off the flush list. `false`: it is being written.
    fn forget_changes(&self, instance: &Instance, frame: u32) -> bool {
        let state = &self.frame(frame).state;
        let mut flush = instance.flush.lock();
        let mut word = self.frame(frame).word();
        // In one step with the look at WRITING: a page may be chosen for its neighbour's sake without the list's lock.
        while word.has(DIRTY) && !word.has(WRITING) {
            let clean = word.0 & !DIRTY;
            match state.compare_exchange_weak(word.0, clean, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    flush.remove(self.frames(), frame);
                    return true;
                }
                Err(now) => word = Word(now),
            }
        }
        !word.has(WRITING)
    }
}
