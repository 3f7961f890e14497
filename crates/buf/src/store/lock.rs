//! Mutexes of the stores, none of which guards anything that a panic leaves half done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, whether or not a holder has panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
