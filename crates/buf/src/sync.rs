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
    use std::sync::PoisonError;
    use std::time::Duration;

    pub(crate) type MutexGuard<'a, T> = checker::sync::MutexGuard<'a, T>;

    /// The checker's mutex, with the shape of the production one.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(checker::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(checker::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
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

    /// The checker's condition variable. A wait with a limit is a wait that may end at any time.
    #[derive(Debug)]
    pub(crate) struct Condvar(checker::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Condvar {
            Condvar(checker::sync::Condvar::new())
        }

        pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn wait_for<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            limit: Duration,
        ) -> MutexGuard<'a, T> {
            self.0.wait_timeout(guard, limit).unwrap_or_else(PoisonError::into_inner).0
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    pub(crate) fn spin(_round: &mut u32) {
        thread::yield_now();
    }
}

pub(crate) use imp::*;
