//! Accesses that the recorded pool did not show, for replays at smaller sizes.
//!
//! A page put at the head is left there for a quarter of the young sublist's worth of evictions, whatever
//! is asked of it; no event tells of accesses meanwhile. A smaller pool's quarter is shorter, so it would
//! have moved such a page again. Left out, the replay would let pages sink that are in use, and read
//! them again. So accesses are put in: a few per hidden stretch, each drawn with the chance that the
//! page's own rate of visible accesses gives it.

use std::collections::VecDeque;

use innopool_policy::PageId;

use crate::hash::draw;
use crate::replay::Guess;
use crate::survey::Survey;

/// Looks into a hidden stretch.
const LOOKS: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Due {
    at: u64,
    page: PageId,
    looks: u64,
}

/// Accesses to come, by the server's count of arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    queue: VecDeque<Due>,
    step: u64,
    guess: Guess,
    turn: u64,
}

impl Hidden {
    pub(crate) fn new(survey: &Survey, guess: Guess) -> Hidden {
        let step = (survey.hidden_evictions / LOOKS).max(1);
        Hidden { queue: VecDeque::new(), step, guess, turn: 0 }
    }

    /// The server put `page` at the head when `arrivals` pages had come in.
    pub(crate) fn put_at_head(&mut self, page: PageId, arrivals: u64) {
        self.queue.push_back(Due { at: arrivals + self.step, page, looks: LOOKS - 1 });
    }

    /// The next page that is accessed unseen, if there is one by now.
    pub(crate) fn next(&mut self, survey: &Survey, arrivals: u64) -> Option<PageId> {
        while let Some(&due) = self.queue.front() {
            if due.at > arrivals {
                return None;
            }
            self.queue.pop_front();
            if due.looks > 0 {
                // In order as long as every look is one step after the one before.
                let again = Due { at: due.at + self.step, looks: due.looks - 1, ..due };
                self.queue.push_back(again);
            }
            self.turn += 1;
            if self.is_accessed(survey, due.page) {
                return Some(due.page);
            }
        }
        None
    }

    fn is_accessed(&self, survey: &Survey, page: PageId) -> bool {
        match self.guess {
            Guess::Fewest => true,
            Guess::Most => false,
            Guess::Likely => {
                let expected = survey.access_rate(page) * self.step as f64;
                draw(page, self.turn) < 1.0 - (-expected).exp()
            }
        }
    }
}
