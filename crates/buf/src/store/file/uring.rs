//! Runs carried out by io_uring, from one thread that owns the ring.
//!
//! Whoever starts a batch puts its runs in a queue and, if the ring's thread may be asleep, writes to an eventfd that
//! the ring watches.
//!
//! The other way is that clients enter the kernel themselves, under a mutex, beside a thread that reaps. It saves the
//! wake-up: random reads of 16 KiB at depth 32, each started when one ended, on 2 cores, were 1.01 times a plain loop
//! of one thread that way and 0.92 to 0.96 times it this way (medians of 9 and 6 rounds of 2 s; single rounds differ by
//! 20 %). This way was chosen because the kernel finishes a request in the thread that entered it: there, a client
//! that computes without a system call delays its reads or is interrupted for them, and one that ends leaves them to a
//! slower path. A ring with a single issuer does all of that in its own thread, when it waits, and needs no `unsafe` to
//! be shared. What completions start needs no wake-up in either.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::EventfdFlags;

use super::super::Fault;
use super::super::lock::lock;
use super::ring::Ring;
use super::run::Run;
use super::threads::join;

/// The thread that owns the ring. Dropping it waits until everything queued is done.
#[derive(Debug)]
pub(super) struct UringThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    deferred_completions: bool,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// An eventfd.
    wake: Arc<OwnedFd>,
}

#[derive(Debug, Default)]
struct Queue {
    runs: Vec<Run>,
    /// The ring's thread must be woken when there is something here. Cleared by whoever does it, so that a burst of
    /// batches costs one system call.
    wants_waking: bool,
    closing: bool,
}

impl UringThread {
    /// Starts the thread with a ring of at most `depth` requests at once. The error is a reason in words.
    pub(super) fn start(depth: u32) -> Result<UringThread, String> {
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| format!("there is no eventfd: {error}"))?;
        let shared = Arc::new(Shared { queue: Mutex::default(), wake: Arc::new(wake) });
        let (tell, told) = sync_channel(1);
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("page-io-uring".to_owned())
            .spawn(move || theirs.run(depth, &tell))
            .map_err(|error| format!("no thread could be started: {error}"))?;
        match told.recv() {
            Ok(Ok(deferred_completions)) => {
                Ok(UringThread { shared, thread: Some(thread), deferred_completions })
            }
            Ok(Err(reason)) => {
                join(Some(thread).into_iter());
                Err(reason)
            }
            Err(_) => Err("its thread ended at once".to_owned()),
        }
    }

    /// Whether completion work is left to the ring's thread.
    pub(super) fn deferred_completions(&self) -> bool {
        self.deferred_completions
    }

    /// Queues `runs`.
    pub(super) fn submit(&self, runs: Vec<Run>) {
        self.shared.change(|queue| queue.runs.extend(runs));
    }
}

impl Drop for UringThread {
    fn drop(&mut self) {
        self.shared.change(|queue| queue.closing = true);
        join(self.thread.take().into_iter());
    }
}

impl Shared {
    /// Changes the queue and wakes the ring's thread if it asked for that.
    fn change(&self, change: impl FnOnce(&mut Queue)) {
        let wake = {
            let mut queue = lock(&self.queue);
            change(&mut queue);
            std::mem::take(&mut queue.wants_waking)
        };
        if wake {
            // The only error is a full counter, and then the ring is being woken already.
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// The thread: makes the ring, which must be used by the thread that made it, says how that went, and serves.
    fn run(&self, depth: u32, tell: &SyncSender<Result<bool, String>>) {
        match Ring::new(depth, Arc::clone(&self.wake)) {
            Ok(ring) => {
                let _ = tell.send(Ok(ring.deferred_completions()));
                self.serve(ring);
            }
            Err(reason) => {
                let _ = tell.send(Err(reason));
            }
        }
    }

    fn serve(&self, mut ring: Ring) {
        let mut backlog = VecDeque::new();
        loop {
            let closing = self.take(&mut backlog, ring.room());
            ring.fill(&mut backlog);
            if closing && ring.is_idle() && backlog.is_empty() {
                return;
            }
            if let Err(error) = ring.wait() {
                // Not known to happen with a ring that has worked. What the kernel has must be waited for all the
                // same, since it owns the frames; what it does not have yet need not.
                fail(&mut backlog, &error);
                thread::sleep(Duration::from_millis(1));
            }
            ring.reap(&mut backlog);
        }
    }

    /// Moves the queue to `backlog`, and returns whether it is the last of it. A thread that is about to wait with
    /// every slot in use need not be woken: only a completion gives it something to do.
    fn take(&self, backlog: &mut VecDeque<Run>, room: usize) -> bool {
        let mut queue = lock(&self.queue);
        backlog.extend(queue.runs.drain(..));
        queue.wants_waking = backlog.len() < room;
        queue.closing
    }
}

fn fail(backlog: &mut VecDeque<Run>, error: &io::Error) {
    let fault = Fault::Device { kind: error.kind(), what: format!("io_uring failed: {error}") };
    for run in backlog.drain(..) {
        run.complete_rest(&fault);
    }
}
