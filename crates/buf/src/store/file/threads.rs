//! Runs carried out by a pool of threads, one blocking call each: what works on every kernel.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::super::lock::lock;
use super::positioned::transfer;
use super::run::Run;

/// A fixed number of threads and the queue they serve in order. Dropping it waits until the queue is done.
#[derive(Debug)]
pub(super) struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    runs: VecDeque<Run>,
    closing: bool,
}

impl ThreadPool {
    /// Starts `threads` threads.
    pub(super) fn start(threads: u32) -> io::Result<ThreadPool> {
        let mut pool = ThreadPool { shared: Arc::default(), workers: Vec::new() };
        for number in 0..threads {
            let shared = Arc::clone(&pool.shared);
            let worker = thread::Builder::new()
                .name(format!("page-io-{number}"))
                .spawn(move || shared.serve())?;
            pool.workers.push(worker);
        }
        Ok(pool)
    }

    /// Queues `runs`.
    pub(super) fn submit(&self, runs: Vec<Run>) {
        let several = runs.len() > 1;
        lock(&self.shared.queue).runs.extend(runs);
        if several {
            self.shared.changed.notify_all();
        } else {
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        lock(&self.shared.queue).closing = true;
        self.shared.changed.notify_all();
        join(self.workers.drain(..));
    }
}

impl Shared {
    fn serve(&self) {
        let mut mine = VecDeque::new();
        while let Some(run) = self.next() {
            mine.push_back(run);
            while let Some(mut run) = mine.pop_front() {
                let answer = transfer(&mut run);
                run.answered(answer, &mut mine);
            }
        }
    }

    /// Waits for a run; `None` once the pool closes and its queue is empty.
    fn next(&self) -> Option<Run> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(run) = queue.runs.pop_front() {
                return Some(run);
            }
            if queue.closing {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits for threads that have been told to end, except for the one that calls this: a completion may drop the last
/// handle of the store, and then the thread it runs in ends after it.
pub(super) fn join(workers: impl Iterator<Item = JoinHandle<()>>) {
    for worker in workers {
        if worker.thread().id() != thread::current().id() {
            // A worker contains the panics of completions, so there is no other panic to pass on.
            let _ = worker.join();
        }
    }
}
