//! Operations that have been started and not carried out yet: held back by a test, or waiting for a thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use innopool_policy::PageId;

use super::super::lock::lock;
use super::super::{Kind, Operation};
use super::seed::Seeded;

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    operations: VecDeque<Operation>,
    /// Whether threads leave the queue alone.
    held: bool,
    closing: bool,
    seeded: Seeded,
}

impl Queue {
    /// An empty queue whose order of service is that of `seeded`.
    pub(super) fn new(seeded: Seeded) -> Queue {
        let state = State { operations: VecDeque::new(), held: false, closing: false, seeded };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Takes `batch` in if it is to wait here: always with threads, and without only while held.
    pub(super) fn offer(&self, batch: &mut Vec<Operation>, threads: bool) {
        let mut state = lock(&self.state);
        if threads || state.held {
            state.operations.extend(batch.drain(..));
            self.changed.notify_all();
        }
    }

    /// Holds operations back, or lets threads have them again.
    pub(super) fn hold(&self, held: bool) {
        lock(&self.state).held = held;
        self.changed.notify_all();
    }

    /// Takes the oldest operation.
    pub(super) fn first(&self) -> Option<Operation> {
        lock(&self.state).operations.pop_front()
    }

    /// Takes an operation by chance.
    pub(super) fn any(&self) -> Option<Operation> {
        lock(&self.state).any()
    }

    /// Takes the oldest operation on `page`.
    pub(super) fn on_page(&self, page: PageId) -> Option<Operation> {
        let mut state = lock(&self.state);
        let place = state.operations.iter().position(|operation| operation.page() == page)?;
        state.operations.remove(place)
    }

    /// Waits for an operation and takes one by chance; `None` when the queue closes.
    pub(super) fn wait(&self) -> Option<Operation> {
        let mut state = lock(&self.state);
        loop {
            if !state.held
                && let Some(operation) = state.any()
            {
                return Some(operation);
            }
            if state.closing {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets threads end once the queue is empty or held.
    pub(super) fn close(&self) {
        lock(&self.state).closing = true;
        self.changed.notify_all();
    }

    /// Kind and page of what waits here, oldest first.
    pub(super) fn list(&self) -> Vec<(Kind, PageId)> {
        let state = lock(&self.state);
        state.operations.iter().map(|operation| (operation.kind(), operation.page())).collect()
    }

    /// Calls `look` with every write that waits here, oldest first.
    pub(super) fn look_at_writes(&self, mut look: impl FnMut(PageId, &[u8])) {
        let state = lock(&self.state);
        for operation in state.operations.iter().filter(|one| one.kind() == Kind::Write) {
            look(operation.page(), operation.buffer());
        }
    }
}

impl State {
    fn any(&mut self) -> Option<Operation> {
        if self.operations.is_empty() {
            return None;
        }
        let place = self.seeded.below(self.operations.len());
        self.operations.remove(place)
    }
}
