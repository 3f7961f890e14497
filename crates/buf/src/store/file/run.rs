//! Neighbours on disk, merged into one request, and what becomes of a request once the kernel has answered it.
//!
//! A *run* is operations of one batch, of one kind, on consecutive pages of one file. io_uring and the thread pool
//! both carry out runs and both hand the kernel's answer to [`Run::answered`], so that short transfers, interrupted
//! calls and errors mean the same whichever of them is at work.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::super::{Fault, Kind, Operation};
use super::positioned::aligned_down;
use super::space::SpaceFile;

/// Longest run: beyond this a device gains nothing, and other requests wait longer.
const MAX_RUN_BYTES: usize = 1 << 20;

/// Times that the kernel may say "try again" about a run without any progress before that counts as an error.
const MAX_ATTEMPTS: u32 = 1000;

/// One request to the kernel: at least one operation, all of one kind, on consecutive pages of one file.
#[derive(Debug)]
pub(super) struct Run {
    space: Arc<SpaceFile>,
    operations: Vec<Operation>,
    done_bytes: usize,
    attempts: u32,
}

impl Run {
    fn new(space: Arc<SpaceFile>, operation: Operation) -> Run {
        Run { space, operations: vec![operation], done_bytes: 0, attempts: 0 }
    }

    /// Appends `operation` if it continues this run, or hands it back.
    fn extend(&mut self, operation: Operation) -> Option<Operation> {
        let page_size = self.space.page_size();
        let room = self.operations.len() < MAX_RUN_BYTES >> page_size.log2();
        match self.operations.last() {
            Some(last)
                if room
                    && last.kind() == operation.kind()
                    && last.page().space == operation.page().space
                    && last.page().page_no.checked_add(1) == Some(operation.page().page_no) =>
            {
                self.operations.push(operation);
                None
            }
            _ => Some(operation),
        }
    }

    /// Reading or writing.
    #[cfg(feature = "uring")]
    pub(super) fn kind(&self) -> Kind {
        self.operations[0].kind()
    }

    /// The file, and the operations in the order of their pages.
    pub(super) fn parts(&mut self) -> (&SpaceFile, &mut [Operation]) {
        (&self.space, &mut self.operations)
    }

    /// Where the rest of the run begins in the file.
    pub(super) fn offset_bytes(&self) -> u64 {
        let first = self.operations[0].page().page_no;
        self.space.page_size().offset_bytes(first) + self.done_bytes as u64
    }

    /// Bytes already transferred.
    pub(super) fn done_bytes(&self) -> usize {
        self.done_bytes
    }

    /// Takes the kernel's answer to the request for the rest of the run: completes the operations, or puts what
    /// has to be asked again at the end of `again`.
    pub(super) fn answered(mut self, answer: io::Result<usize>, again: &mut VecDeque<Run>) {
        match answer {
            Ok(bytes) => self.transferred(bytes, again),
            Err(error) if is_transient(&error) && self.attempts < MAX_ATTEMPTS => {
                self.attempts += 1;
                again.push_back(self);
            }
            Err(error) if self.operations.len() == 1 => self.complete_rest(&error.into()),
            // One bad page must not fail its neighbours.
            Err(_) => {
                let whole = self.done_bytes >> self.space.page_size().log2();
                self.complete_first(whole);
                let Run { space, operations, .. } = self;
                again.extend(operations.into_iter().map(|one| Run::new(Arc::clone(&space), one)));
            }
        }
    }

    fn transferred(mut self, bytes: usize, again: &mut VecDeque<Run>) {
        let before = self.done_bytes;
        let page_size = self.space.page_size();
        let alignment = self.space.mode().offset_alignment_bytes;
        let done = before + bytes;
        if done >= self.operations.len() << page_size.log2() {
            let all = self.operations.len();
            return self.complete_first(all);
        }
        let fault = match self.operations[0].kind() {
            // No more bytes, or a direct read that stops within a sector: the file ends here.
            Kind::Read if bytes == 0 || !done.is_multiple_of(alignment) => {
                let page_bytes = page_size.bytes();
                Some(Fault::ShortRead { read_bytes: done % page_bytes, page_bytes })
            }
            Kind::Write if aligned_down(done, alignment) <= before => {
                Some(io::Error::from(io::ErrorKind::WriteZero).into())
            }
            Kind::Read | Kind::Write => None,
        };
        match fault {
            None => {
                self.done_bytes = aligned_down(done, alignment);
                self.attempts = 0;
                again.push_back(self);
            }
            Some(fault) => {
                self.complete_first(done >> page_size.log2());
                self.complete_ended(fault);
            }
        }
    }

    /// Completes the first `count` operations as done and forgets them.
    fn complete_first(&mut self, count: usize) {
        for operation in self.operations.drain(..count) {
            complete(operation, Ok(()));
        }
        self.done_bytes = 0;
    }

    /// Completes the operations of a run that ended early: the first with `fault`, and those behind it, if reads,
    /// with nothing read at all.
    fn complete_ended(self, fault: Fault) {
        let behind = match fault {
            Fault::ShortRead { page_bytes, .. } => Fault::ShortRead { read_bytes: 0, page_bytes },
            ref other => other.clone(),
        };
        let mut next = fault;
        for operation in self.operations {
            complete(operation, Err(std::mem::replace(&mut next, behind.clone())));
        }
    }

    /// Completes every operation left with `fault`.
    pub(super) fn complete_rest(self, fault: &Fault) {
        for operation in self.operations {
            complete(operation, Err(fault.clone()));
        }
    }
}

/// Takes the operations of `batch` and returns them as runs, in their order. `find` gives the file of a
/// tablespace; an operation that cannot be carried out is completed with the reason here and now.
pub(super) fn merge(
    batch: &mut Vec<Operation>,
    mut find: impl FnMut(u32) -> Result<Arc<SpaceFile>, Fault>,
) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut found: Option<(u32, Arc<SpaceFile>)> = None;
    for operation in batch.drain(..) {
        let page = operation.page();
        let space = match &found {
            Some((number, space)) if *number == page.space => Ok(Arc::clone(space)),
            _ => find(page.space),
        };
        let checked = space.and_then(|space| {
            space.check(page.page_no, operation.buffer())?;
            Ok(space)
        });
        let space = match checked {
            Ok(space) => space,
            Err(fault) => {
                complete(operation, Err(fault));
                continue;
            }
        };
        found = Some((page.space, Arc::clone(&space)));
        let rest = match runs.last_mut() {
            Some(run) => run.extend(operation),
            None => Some(operation),
        };
        if let Some(operation) = rest {
            runs.push(Run::new(space, operation));
        }
    }
    runs
}

/// Ends `operation`. A completion that panics has had its message printed by the panic hook; it must not take the
/// thread along that others wait for, nor unwind past requests that the kernel still has.
fn complete(operation: Operation, result: Result<(), Fault>) {
    let _ = catch_unwind(AssertUnwindSafe(|| operation.complete(result)));
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
#[path = "run_tests.rs"]
pub(super) mod tests;
