//! The one place from which this crate takes locks, atomics and threads.
//!
//! In production they are those of `parking_lot` and the standard library. With the feature `shuttle` (random
//! schedules over the whole pool) or `loom` (every schedule and every allowed memory order over small
//! parts) they are the model checker's, so that what is checked is the source that ships. Nothing else in the
//! crate names a lock or an atomic by another path; statistics ([`crate::counters`]) are the exception,
//! since no decision hangs on them.

#[cfg(all(feature = "loom", feature = "shuttle"))]
compile_error!("the features `loom` and `shuttle` exclude each other");

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod imp {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::thread;
    use std::time::Duration;

    pub(crate) use parking_lot::{Mutex, MutexGuard, RwLock};
    pub(crate) use std::thread::sleep;

    /// A condition variable whose waits hand the guard back.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Condvar {
            Condvar::default()
        }

        pub(crate) fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        pub(crate) fn wait_for<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            limit: Duration,
        ) -> MutexGuard<'a, T> {
            self.0.wait_for(&mut guard, limit);
            guard
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Lets another thread run for a moment while a state that is about to change is waited for.
    /// `round` counts the calls for the same state, from 0.
    pub(crate) fn spin(round: &mut u32) {
        const SPINS: u32 = 6;
        if *round < SPINS {
            for _ in 0..1 << *round {
                std::hint::spin_loop();
            }
            *round += 1;
        } else {
            thread::yield_now();
        }
    }
}

#[cfg(any(feature = "loom", feature = "shuttle"))]
mod imp {
    #[cfg(feature = "loom")]
    use loom as checker;
    #[cfg(feature = "shuttle")]
    use shuttle as checker;

    pub(crate) use checker::sync::atomic::{
        AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
    pub(crate) use checker::thread;
    use std::ops::{Deref, DerefMut};
    use std::sync::PoisonError;
    use std::time::Duration;

    /// The checker's mutex, with the shape of the production one.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(checker::sync::Mutex<T>);

    /// A guard that knows its mutex, so that a wait with a limit can take it again.
    pub(crate) struct MutexGuard<'a, T> {
        mutex: &'a Mutex<T>,
        guard: checker::sync::MutexGuard<'a, T>,
    }

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(checker::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            MutexGuard { mutex: self, guard }
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            let guard = self.0.try_lock().ok()?;
            Some(MutexGuard { mutex: self, guard })
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// The checker's reader-writer lock, with the shape of the production one.
    #[derive(Debug)]
    pub(crate) struct RwLock<T>(checker::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) fn new(value: T) -> RwLock<T> {
            RwLock(checker::sync::RwLock::new(value))
        }

        pub(crate) fn read(&self) -> checker::sync::RwLockReadGuard<'_, T> {
            self.0.read().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn write(&self) -> checker::sync::RwLockWriteGuard<'_, T> {
            self.0.write().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// The checker's condition variable.
    #[derive(Debug)]
    pub(crate) struct Condvar(checker::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Condvar {
            Condvar(checker::sync::Condvar::new())
        }

        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            let MutexGuard { mutex, guard } = guard;
            let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
            MutexGuard { mutex, guard }
        }

        /// Time does not pass for a checker: the limit may be over at any moment, so whoever gets the lock next is who
        /// the schedule says. The checkers' own waits with a limit never end by it.
        pub(crate) fn wait_for<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _limit: Duration,
        ) -> MutexGuard<'a, T> {
            let mutex = guard.mutex;
            drop(guard);
            thread::yield_now();
            mutex.lock()
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    pub(crate) fn spin(_round: &mut u32) {
        thread::yield_now();
    }

    pub(crate) fn sleep(_time: Duration) {
        thread::yield_now();
    }
}

/// Notes who touches the bytes of a frame, for `loom`: it then finds two accesses, one of them a write, that no
/// latch orders. Nothing in production.
#[cfg(not(feature = "loom"))]
#[derive(Debug)]
pub(crate) struct Touched;

#[cfg(not(feature = "loom"))]
impl Touched {
    #[inline(always)]
    pub(crate) fn new(_frames: u32) -> Touched {
        Touched
    }

    #[inline(always)]
    pub(crate) fn read(&self, _frame: u32) {}

    #[inline(always)]
    pub(crate) fn written(&self, _frame: u32) {}
}

#[cfg(feature = "loom")]
pub(crate) use touched::Touched;

#[cfg(feature = "loom")]
mod touched {
    #![allow(unsafe_code, reason = "a cell of the model checker is shared between its threads")]

    use loom::cell::UnsafeCell;

    #[derive(Debug)]
    pub(crate) struct Touched(Box<[UnsafeCell<()>]>);

    // SAFETY: the cells hold nothing; loom's bookkeeping runs on one thread of the system.
    unsafe impl Send for Touched {}
    // SAFETY: as above.
    unsafe impl Sync for Touched {}

    impl Touched {
        pub(crate) fn new(frames: u32) -> Touched {
            Touched((0..frames).map(|_| UnsafeCell::new(())).collect())
        }

        pub(crate) fn read(&self, frame: u32) {
            self.0[frame as usize].with(|_| ());
        }

        pub(crate) fn written(&self, frame: u32) {
            self.0[frame as usize].with_mut(|_| ());
        }
    }
}

pub(crate) use imp::*;
