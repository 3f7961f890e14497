//! Sizes at the same time, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::WhatifError;

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Sizes of the present window that are done.
    pub sizes_done: usize,
    /// Sizes asked for.
    pub sizes: usize,
}

/// Applies `work` to each size; the results in the order of `sizes`.
pub(crate) fn in_parallel<T: Send>(
    sizes: &[u64],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    work: impl Fn(u64) -> Result<T, WhatifError> + Sync,
) -> Result<Vec<T>, WhatifError> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        some => some,
    };
    // The largest take longest and come first.
    let next = AtomicUsize::new(sizes.len());
    let done = Mutex::new(Vec::with_capacity(sizes.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(sizes.len()) {
            scope.spawn(|| {
                loop {
                    let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(1)
                    });
                    let Ok(left) = taken else { break };
                    let result = work(sizes[left - 1]);
                    if let Ok(mut done) = done.lock() {
                        done.push((left, result));
                        progress(Progress { sizes_done: done.len(), sizes: sizes.len() });
                    }
                }
            });
        }
    });
    // A thread that panics takes the scope down with it, so the lock is never poisoned here.
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|&(place, _)| place);
    done.into_iter().map(|(_, result)| result).collect()
}
