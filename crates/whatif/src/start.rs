//! The list that a pool of another size begins with.
//!
//! Known is the list of the recorded pool, from the head. A **smaller** pool would hold its hottest part: the
//! top of its young sublist, and of its old sublist what entered it last. A **larger** one would hold all of
//! it, and more pages that nobody has seen yet. For each of those a **stranger** is put in: a page of a
//! tablespace that does not exist. Strangers are the coldest of the young sublist and the coldest of
//! the old one, as a larger pool differs from a smaller one by how long pages stay in each.
//!
//! A page's stamp, the eviction clock when it was last put at the head, is not in a dump. But the pages of a young
//! sublist lie in the order in which they were put at the head, and within the quarter that matters none
//! has moved twice. So the page at place k was put there k moves ago, and as evictions and moves
//! come at steady rates, that many evictions ago times their ratio.

use innopool_policy::replay::{BufferPool, LruRow};
use innopool_policy::rules::ListRules;
use innopool_policy::{PageId, Time};

use crate::hash::PageSet;

/// The tablespace of pages that nobody has seen. No server gives this number to one.
pub(crate) const STRANGERS: u32 = u32::MAX;

/// The replay's clock when a window begins: pages found in the pool were first accessed well before.
pub(crate) const BEGIN: Time = Time::from_millis(3_600_000);

/// The eviction clock when a window begins: large, so that no age goes below 0, and far from where
/// clocks of 31 bits wrap.
pub(crate) const CLOCK: u64 = 1 << 30;

/// A page of the recorded list.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: PageId,
    /// Where in its list, from 0 at the head to 1.
    depth: f64,
    young: bool,
}

/// The recorded list, all instances in one order.
#[derive(Clone, Debug)]
pub(crate) struct KnownList {
    places: Vec<Place>,
    /// Pages put at the head for each page evicted.
    heads_per_eviction: f64,
    full: bool,
}

/// What a pool was begun with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun {
    /// Strangers, by instance.
    pub(crate) strangers: Vec<Vec<PageId>>,
}

impl KnownList {
    /// `full` is whether the recorded pool had no frames left.
    pub(crate) fn new(
        residents: &[Vec<PageId>],
        rules: &ListRules,
        heads_per_read: f64,
        full: bool,
    ) -> KnownList {
        let mut places = Vec::new();
        for list in residents {
            let len = list.len() as u64;
            let old = if len >= rules.old_min_len_pages { rules.desired_old_pages(len) } else { 0 };
            for (place, &page) in list.iter().enumerate() {
                let depth = place as f64 / len as f64;
                places.push(Place { page, depth, young: (place as u64) < len - old });
            }
        }
        if residents.len() > 1 {
            places.sort_by(|one, other| one.depth.total_cmp(&other.depth));
        }
        KnownList { places, heads_per_eviction: heads_per_read, full }
    }

    /// Fills `pool`, which is empty. Old pages that are among `promoted` begin young: a larger pool would have found
    /// them again where the recorded one read them.
    pub(crate) fn begin(&self, pool: &mut BufferPool, promoted: &PageSet) -> Begun {
        let instances = pool.instances();
        let mut lists = vec![(Vec::new(), Vec::new()); instances];
        for place in &self.places {
            let (young, old) = &mut lists[pool.instance_of(place.page)];
            if place.young {
                young.push(place.page);
            } else {
                old.push(place.page);
            }
        }
        for (young, old) in &mut lists {
            self.promote(young, old, promoted);
        }
        let mut next_stranger = 0_u32;
        let mut begun = Begun::default();
        let mut rows = Vec::new();
        for (instance, (young, old)) in lists.into_iter().enumerate() {
            let occupancy = pool.instance_occupancy(instance).unwrap_or_default();
            let mut strangers = Vec::new();
            let known = (young.len() + old.len()) as u64;
            let missing = if self.places.is_empty() || !self.full {
                0
            } else {
                occupancy.free_pages.saturating_sub(known)
            };
            while (strangers.len() as u64) < missing && next_stranger < u32::MAX {
                let page = PageId::new(STRANGERS, next_stranger);
                if pool.instance_of(page) == instance {
                    strangers.push(page);
                }
                next_stranger += 1;
            }
            self.fill(&mut rows, pool, occupancy.free_pages, (&young, &old, &strangers));
            begun.strangers.push(strangers);
        }
        pool.import(&rows, innopool_policy::replay::RowOrder::HotFirst);
        for instance in 0..instances {
            pool.set_freed_page_clock(instance, CLOCK);
        }
        begun
    }

    /// Moves promoted pages from `old` to where they would be in `young`: there as many moves ago as
    /// they were read, in time.
    fn promote(&self, young: &mut Vec<PageId>, old: &mut Vec<PageId>, promoted: &PageSet) {
        if promoted.is_empty() {
            return;
        }
        let mut moved = Vec::new();
        let mut place = 0_u64;
        old.retain(|page| {
            let moves = promoted.contains(page);
            if moves {
                // The page is `place` reads from the head of the old part.
                moved.push((place as f64 * self.heads_per_eviction, *page));
            }
            place += 1;
            !moves
        });
        let mut all: Vec<(f64, PageId)> =
            young.iter().enumerate().map(|(place, &page)| (place as f64, page)).collect();
        all.append(&mut moved);
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        *young = all.into_iter().map(|(_, page)| page).collect();
    }

    fn fill(
        &self,
        rows: &mut Vec<LruRow>,
        pool: &BufferPool,
        frames: u64,
        (young, old, strangers): (&[PageId], &[PageId], &[PageId]),
    ) {
        let rules = &pool.config().rules.list;
        let filled = frames.min((young.len() + old.len() + strangers.len()) as u64);
        let old_len =
            if filled >= rules.old_min_len_pages { rules.desired_old_pages(filled) } else { 0 };
        let young_len = usize::try_from(filled - old_len).unwrap_or(usize::MAX);
        let evictions_per_head = 1.0 / self.heads_per_eviction.max(1e-6);
        let (kept, fallen) = young.split_at(young.len().min(young_len));
        let young_strangers = (young_len - kept.len()).min(strangers.len());
        let (warm, cold) = strangers.split_at(young_strangers);
        for (place, &page) in kept.iter().chain(warm).enumerate() {
            let age = crate::room::to_pages(place as f64 * evictions_per_head).min(CLOCK - 1);
            rows.push(row(page, false, CLOCK - age));
        }
        let share = self.heads_per_eviction / (1.0 + self.heads_per_eviction);
        let left = usize::try_from(filled).unwrap_or(usize::MAX) - kept.len() - warm.len();
        let merged = Merged { fallen, old, share, due: 0.0 }.chain(cold.iter().copied());
        rows.extend(merged.take(left).map(|page| row(page, true, 0)));
    }
}

fn row(page: PageId, is_old: bool, freed_page_clock: u64) -> LruRow {
    LruRow {
        page,
        is_old,
        first_access: Some(Time::from_micros(0)),
        freed_page_clock,
        is_dirty: false,
    }
}

/// Pages that fell out of the young sublist among pages that were read, in the ratio in which a steady
/// pool would have both.
struct Merged<'a> {
    fallen: &'a [PageId],
    old: &'a [PageId],
    share: f64,
    due: f64,
}

impl Iterator for Merged<'_> {
    type Item = PageId;

    fn next(&mut self) -> Option<PageId> {
        self.due += self.share;
        let from = if self.due >= 1.0 && !self.fallen.is_empty() || self.old.is_empty() {
            self.due -= 1.0;
            &mut self.fallen
        } else {
            &mut self.old
        };
        let (&page, rest) = from.split_first()?;
        *from = rest;
        Some(page)
    }
}
