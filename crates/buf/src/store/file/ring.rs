//! An io_uring and the runs that the kernel has: all the `unsafe` of the file store.
//!
//! The kernel holds addresses of frames from the moment a request is pushed until its completion is reaped. Each
//! request keeps its [`Run`], and with it the operations that lend the frames, in a slot of the ring for just that
//! time, and a ring that goes away first waits until every slot is empty. Everything else follows from that.

#![allow(unsafe_code, reason = "the kernel is handed the addresses of frames")]

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::squeue::Entry;
use io_uring::{IoUring, Probe, cqueue, opcode, types};
use rustix::event::PollFlags;

use super::super::Kind;
use super::run::Run;

/// Tag of the request that watches the eventfd; the tags of others are slot numbers.
const WAKE: u64 = u64::MAX;

/// How long to leave the kernel alone when it is out of memory for requests.
const PAUSE: Duration = Duration::from_micros(100);

/// The kernel's `struct iovec`.
#[repr(C)]
struct IoVec {
    base: *mut c_void,
    bytes: usize,
}

/// A request that the kernel has.
struct InFlight {
    run: Run,
    /// Kept for as long as the run: old kernels read it after the request has been taken.
    _vectors: Vec<IoVec>,
}

/// A ring, used by the thread that made it and no other.
pub(super) struct Ring {
    ring: IoUring,
    slots: Vec<Option<InFlight>>,
    free: Vec<usize>,
    wake: Arc<OwnedFd>,
    watching: bool,
    deferred_completions: bool,
    reaped: Vec<(u64, i32, bool)>,
}

impl Ring {
    /// Makes a ring for at most `depth` requests at once, which also stops waiting when `wake`, an eventfd, is
    /// written to. The error is a reason in words why io_uring cannot be used here.
    pub(super) fn new(depth: u32, wake: Arc<OwnedFd>) -> Result<Ring, String> {
        let (ring, deferred_completions) = build(depth)?;
        let mut probe = Probe::new();
        ring.submitter()
            .register_probe(&mut probe)
            .map_err(|error| format!("the kernel does not tell what it supports ({error})"))?;
        let needed = [
            ("readv", opcode::Readv::CODE),
            ("writev", opcode::Writev::CODE),
            ("read", opcode::Read::CODE),
            ("write", opcode::Write::CODE),
            ("poll", opcode::PollAdd::CODE),
        ];
        for (name, code) in needed {
            if !probe.is_supported(code) {
                return Err(format!("the kernel lacks the request {name}"));
            }
        }
        let depth = depth as usize;
        Ok(Ring {
            ring,
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            wake,
            watching: false,
            deferred_completions,
            reaped: Vec::with_capacity(depth + 1),
        })
    }

    /// Whether completion work is left to this thread.
    pub(super) fn deferred_completions(&self) -> bool {
        self.deferred_completions
    }

    /// Requests that may still be pushed before one is reaped.
    pub(super) fn room(&self) -> usize {
        self.free.len()
    }

    /// Whether the kernel has no request.
    pub(super) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Pushes as many runs as there is room for.
    pub(super) fn fill(&mut self, backlog: &mut VecDeque<Run>) {
        if !self.watching {
            let wake = types::Fd(self.wake.as_raw_fd());
            // One request for every wake-up, where the kernel can (5.13): whoever defers completions (6.1) does.
            let poll = opcode::PollAdd::new(wake, u32::from(PollFlags::IN.bits()))
                .multi(self.deferred_completions);
            // SAFETY: the request refers to no memory, and the descriptor is open for as long as the ring.
            self.watching = unsafe { self.push(&poll.build().user_data(WAKE)) };
        }
        while let Some(slot) = self.free.pop() {
            let Some(mut run) = backlog.pop_front() else {
                self.free.push(slot);
                return;
            };
            let vectors = vectors(&mut run);
            let entry = request(&mut run, &vectors).user_data(slot as u64);
            self.slots[slot] = Some(InFlight { run, _vectors: vectors });
            // SAFETY: the slot keeps the operations whose frames the request names, their file and the vectors
            // until `reap` has seen the completion; neither the frames nor the vectors' heap memory move with it.
            let pushed = unsafe { self.push(&entry) };
            if !pushed {
                // Not reached: the queue has an entry for every slot and the poll.
                backlog.extend(self.slots[slot].take().map(|request| request.run));
                self.free.push(slot);
                return;
            }
        }
    }

    /// Puts a request in the submission queue; `false` when that is full.
    ///
    /// # Safety
    ///
    /// The memory and the file that `entry` names must stay until its completion is reaped.
    unsafe fn push(&mut self, entry: &Entry) -> bool {
        // SAFETY: the caller's promise is the one asked for.
        unsafe { self.ring.submission().push(entry) }.is_ok()
    }

    /// Submits what was pushed and waits until there is something to reap.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_short_of_memory(&error) => {
                    if !self.ring.completion().is_empty() {
                        return Ok(());
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Completes what the kernel has answered; what has to be asked again goes to the end of `backlog`.
    pub(super) fn reap(&mut self, backlog: &mut VecDeque<Run>) {
        let mut reaped = std::mem::take(&mut self.reaped);
        reaped.extend(self.ring.completion().map(|entry| {
            let more = cqueue::more(entry.flags());
            (entry.user_data(), entry.result(), more)
        }));
        for (tag, result, more) in reaped.drain(..) {
            if tag == WAKE {
                if !more {
                    self.watching = false;
                    let mut count = [0; 8];
                    // Nothing to read means that it has been read along with an earlier wake-up.
                    let _ = rustix::io::read(self.wake.as_fd(), &mut count);
                }
                continue;
            }
            let slot = usize::try_from(tag).unwrap_or(usize::MAX);
            if let Some(request) = self.slots.get_mut(slot).and_then(Option::take) {
                self.free.push(slot);
                let answer =
                    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
                request.run.answered(answer, backlog);
            }
        }
        self.reaped = reaped;
    }
}

impl Drop for Ring {
    /// Waits for what the kernel still has, since it may write to the frames until then.
    fn drop(&mut self) {
        while !self.is_idle() {
            if self.wait().is_err() {
                std::thread::sleep(PAUSE);
            }
            let mut unfinished = VecDeque::new();
            self.reap(&mut unfinished);
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("slots", &self.slots.len()).finish_non_exhaustive()
    }
}

/// Sets up a ring in the best of three ways that the kernel knows: completion work done only when this thread waits
/// (6.1), done without interrupting it (5.19), or as it was from the start.
///
/// The completion queue has at least twice the entries of the submission queue. At most `depth` transfers are with the
/// kernel, each with one completion, and the eventfd is written at most once each time this thread asks to be woken,
/// after it has reaped: the queue cannot overflow.
fn build(depth: u32) -> Result<(IoUring, bool), String> {
    let entries = depth + 1;
    let deferred = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    if let Ok(ring) = deferred {
        return Ok((ring, true));
    }
    let ring = IoUring::builder()
        .setup_coop_taskrun()
        .build(entries)
        .or_else(|_| IoUring::new(entries))
        .map_err(|error| match error.raw_os_error() {
            Some(code) if code == rustix::io::Errno::NOSYS.raw_os_error() => {
                "the kernel has none (Linux 5.6 or later is needed)".to_owned()
            }
            Some(code) if code == rustix::io::Errno::PERM.raw_os_error() => {
                "it is forbidden here, by seccomp or by kernel.io_uring_disabled".to_owned()
            }
            _ => format!("setting it up failed: {error}"),
        })?;
    Ok((ring, false))
}

/// Where the rest of `run` goes to or comes from, with frames that are neighbours in memory too as one piece.
fn vectors(run: &mut Run) -> Vec<IoVec> {
    let mut skip = run.done_bytes();
    let mut vectors: Vec<IoVec> = Vec::new();
    let (_, operations) = run.parts();
    for operation in operations {
        let frame_bytes = operation.buffer().len();
        if skip >= frame_bytes {
            skip -= frame_bytes;
            continue;
        }
        let start = match operation.buffer_mut() {
            Some(frame) => frame.as_mut_ptr(),
            // The kernel only reads what a write names.
            None => operation.buffer().as_ptr().cast_mut(),
        };
        let base = start.wrapping_add(skip).cast::<c_void>();
        let bytes = frame_bytes - skip;
        skip = 0;
        match vectors.last_mut() {
            Some(last) if last.base.wrapping_byte_add(last.bytes) == base => last.bytes += bytes,
            _ => vectors.push(IoVec { base, bytes }),
        }
    }
    vectors
}

/// The request for the rest of `run`.
fn request(run: &mut Run, vectors: &[IoVec]) -> Entry {
    let offset = run.offset_bytes();
    let kind = run.kind();
    let (space, _) = run.parts();
    let file = types::Fd(space.file().as_raw_fd());
    // A run has at most 256 frames and 1 MiB, so neither number is cut.
    match vectors {
        [one] => {
            let bytes = u32::try_from(one.bytes).unwrap_or(u32::MAX);
            let base = one.base.cast::<u8>();
            match kind {
                Kind::Read => opcode::Read::new(file, base, bytes).offset(offset).build(),
                Kind::Write => opcode::Write::new(file, base, bytes).offset(offset).build(),
            }
        }
        many => {
            let count = u32::try_from(many.len()).unwrap_or(u32::MAX);
            let first = many.as_ptr().cast();
            match kind {
                Kind::Read => opcode::Readv::new(file, first, count).offset(offset).build(),
                Kind::Write => opcode::Writev::new(file, first, count).offset(offset).build(),
            }
        }
    }
}

fn is_short_of_memory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy)
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::Setup;
    use super::*;

    #[test]
    fn what_is_left_of_a_run_starts_within_a_frame() {
        let mut setup = Setup::new();
        let run = setup.run(Kind::Read, 3);
        let mut again = VecDeque::new();
        run.answered(Ok(4096 + 512), &mut again);
        let left = vectors(&mut again[0]);
        // Every operation of this run has the same frame, so that none is the neighbour of another.
        let frame = setup.frame.cast::<u8>().as_ptr().addr();
        let shape: Vec<_> =
            left.iter().map(|piece| (piece.base.addr() - frame, piece.bytes)).collect();
        assert_eq!(shape, [(512, 3584), (0, 4096)]);
    }
}
