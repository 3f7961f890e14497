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

/// Stretches of one length, in the order in which they began.
#[derive(Clone, Debug)]
struct Stretches {
    queue: VecDeque<Due>,
    step: u64,
}

impl Stretches {
    fn new(arrivals: u64) -> Stretches {
        Stretches { queue: VecDeque::new(), step: (arrivals / LOOKS).max(1) }
    }

    fn begin(&mut self, page: PageId, arrivals: u64) {
        self.queue.push_back(Due { at: arrivals + self.step, page, looks: LOOKS - 1 });
    }

    /// The next look that is due.
    fn next(&mut self, arrivals: u64) -> Option<PageId> {
        let due = *self.queue.front().filter(|due| due.at <= arrivals)?;
        self.queue.pop_front();
        if due.looks > 0 {
            // In order, as every look is one step after the one before.
            self.queue.push_back(Due { at: due.at + self.step, looks: due.looks - 1, ..due });
        }
        Some(due.page)
    }
}

/// Accesses to come, by the server's count of arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    after_head: Stretches,
    /// Only where this pool would evict a page within the wait.
    after_read: Option<Stretches>,
    guess: Guess,
    turn: u64,
}

impl Hidden {
    /// `old_pages` is the length of the old sublist at the size that is replayed.
    pub(crate) fn new(survey: &Survey, guess: Guess, old_pages: u64) -> Hidden {
        let wait = survey.hidden_after_read;
        Hidden {
            after_head: Stretches::new(survey.hidden_evictions),
            after_read: (old_pages < wait * 2).then(|| Stretches::new(wait)),
            guess,
            turn: 0,
        }
    }

    /// The server put `page` at the head when `arrivals` pages had come in.
    pub(crate) fn put_at_head(&mut self, page: PageId, arrivals: u64) {
        self.after_head.begin(page, arrivals);
    }

    /// The server read `page` when `arrivals` pages had come in.
    pub(crate) fn read(&mut self, page: PageId, arrivals: u64) {
        if let Some(after_read) = &mut self.after_read {
            after_read.begin(page, arrivals);
        }
    }

    /// The next page that is accessed unseen, if there is one by now.
    pub(crate) fn next(&mut self, survey: &Survey, arrivals: u64) -> Option<PageId> {
        loop {
            let (page, step) = match self.after_head.next(arrivals) {
                Some(page) => (page, self.after_head.step),
                None => {
                    let after_read = self.after_read.as_mut()?;
                    (after_read.next(arrivals)?, after_read.step)
                }
            };
            self.turn += 1;
            if self.is_accessed(survey, page, step) {
                return Some(page);
            }
        }
    }

    fn is_accessed(&self, survey: &Survey, page: PageId, step: u64) -> bool {
        match self.guess {
            Guess::Fewest => true,
            Guess::Most => false,
            Guess::Likely => {
                let expected = survey.access_rate(page) * step as f64;
                draw(page, self.turn) < 1.0 - (-expected).exp()
            }
        }
    }
}
