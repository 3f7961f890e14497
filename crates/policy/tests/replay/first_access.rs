//! When a page was first accessed, as the server stamped it.
//!
//! A get is recorded when it begins; the server stamps the page a little later, or much later if it
//! was interrupted. The stamp decides to the nanosecond whether a later access is late enough, so it
//! is taken from what the server says of the page when it moves or leaves.

use std::collections::{HashMap, VecDeque};

use innopool_policy::{PageId, Time};
use innopool_testkit::page_events::{Kind, PageEvent, PageState};

/// For each stay of a page in the pool, in order, the time of its first access if it is ever told.
#[derive(Default)]
pub(crate) struct FirstAccesses(HashMap<PageId, VecDeque<Option<Time>>>);

impl FirstAccesses {
    /// Collects the times.
    pub(crate) fn of(events: &[PageEvent]) -> FirstAccesses {
        let mut stays: HashMap<PageId, VecDeque<Option<Time>>> = HashMap::new();
        for event in events {
            let stays = stays.entry(super::id(event.page)).or_default();
            match event.kind {
                Kind::Add { .. } => stays.push_back(None),
                Kind::MakeYoung { page, .. } | Kind::Remove { page, .. } => {
                    if let Some(stay) = stays.back_mut().filter(|_| page.access_time_ns != 0) {
                        *stay = Some(time(page));
                    }
                }
                _ => {}
            }
        }
        FirstAccesses(stays)
    }

    /// Returns the time for the page's next stay.
    pub(crate) fn next(&mut self, page: PageId) -> Option<Time> {
        self.0.get_mut(&page)?.pop_front()?
    }
}

/// Returns the server's stamp.
pub(crate) fn time(page: PageState) -> Time {
    Time::from_micros(page.access_time_ns / 1000)
}
