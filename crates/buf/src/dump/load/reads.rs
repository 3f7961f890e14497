//! The reads of a load that the store has, and what came of those it has had.

use std::sync::Arc;
use std::time::Duration;

use super::control::LoadControl;
use crate::dump::warmth::is_dead;
use crate::error::PoolError;
use crate::frame::word::{EXCLUSIVE, PIN};
use crate::inner::Inner;
use crate::store::{Completion, StoreError};
use crate::sync::{Condvar, Mutex, Ordering};

/// Completes the reads of one load.
pub(super) struct Reads {
    pool: Arc<Inner>,
    control: LoadControl,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    in_flight: usize,
    /// The loader sleeps until so few are in flight.
    wake_at: Option<usize>,
    outcome: Outcome,
}

/// What the reads came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) loaded: u64,
    /// Of pages that ceased to exist while the load ran.
    pub(super) dead: u64,
    pub(super) failed: u64,
    pub(super) first_error: Option<PoolError>,
}

impl Reads {
    pub(super) fn new(pool: &Arc<Inner>, control: &LoadControl) -> Arc<Reads> {
        Arc::new(Reads {
            pool: pool.clone(),
            control: control.clone(),
            state: Mutex::new(State::default()),
            ended: Condvar::new(),
        })
    }

    /// Counts `reads` that are about to be started.
    pub(super) fn start(&self, reads: usize) {
        self.state.lock().in_flight += reads;
        self.pool.in_flight.fetch_add(reads, Ordering::AcqRel);
    }

    /// Waits until at most `most` are in flight.
    pub(super) fn wait_for(&self, most: usize) {
        let mut state = self.state.lock();
        while state.in_flight > most {
            state.wake_at = Some(most);
            state = self.ended.wait(state);
        }
        state.wake_at = None;
    }

    /// Lets `time` pass, or less.
    pub(super) fn pause(&self, time: Duration) {
        let state = self.state.lock();
        drop(self.ended.wait_for(state, time));
    }

    /// What has ended so far.
    pub(super) fn outcome(&self) -> Outcome {
        self.state.lock().outcome.clone()
    }
}

impl Completion for Reads {
    fn completed(&self, token: u64, result: Result<(), StoreError>) {
        // Tokens are frame numbers, which are 32 bits.
        let frame = u32::try_from(token).unwrap_or(u32::MAX);
        let pool = &*self.pool;
        let page = pool.frame(frame).page();
        let instance = pool.instance_of_frame(frame);
        let ended = pool.end_load(instance, page, frame, result, EXCLUSIVE + PIN);
        if ended.is_err() {
            pool.release(frame, PIN);
        }
        self.control.count_ended();
        let mut state = self.state.lock();
        match ended {
            Ok(()) => state.outcome.loaded += 1,
            Err(PoolError::Store(error)) if is_dead(&error) => state.outcome.dead += 1,
            Err(error) => {
                state.outcome.failed += 1;
                state.outcome.first_error.get_or_insert(error);
            }
        }
        state.in_flight -= 1;
        let wake = state.wake_at.is_some_and(|most| state.in_flight <= most);
        drop(state);
        if wake {
            self.ended.notify_all();
        }
        pool.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}
