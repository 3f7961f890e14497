//! What goes wrong in a simulation, and when: plain data, and the small state machine that decides.

use std::io::ErrorKind;
use std::time::Duration;

use innopool_policy::PageId;

use super::super::Fault;
use super::seed::Seeded;

/// What goes wrong. The default is nothing, and at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// A read that fails.
    pub read_error: Rule,
    /// A read that ends within the page, at a sector.
    pub short_read: Rule,
    /// A write that fails and changes nothing.
    pub write_error: Rule,
    /// A write that fails and leaves the page a mixture of old and new sectors.
    pub torn_write: Rule,
    /// A sync that fails. What it should have made durable counts as lost from then on; the next sync may succeed
    /// and says nothing of it, as on Linux. The filter is asked about page 0 of the tablespace.
    pub sync_error: Rule,
    /// How long every read, write and sync takes.
    pub delay: Option<Delay>,
}

/// When something goes wrong, and on which pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// When.
    pub when: When,
    /// On which pages.
    pub pages: Pages,
}

impl Rule {
    /// On any page, with probability `chance` from 0 to 1.
    pub fn chance(chance: f64) -> Rule {
        Rule { when: When::Chance(chance), pages: Pages::All }
    }

    /// On any page, the `n`-th time, from 1.
    pub fn nth(n: u64) -> Rule {
        Rule { when: When::Nth(n), pages: Pages::All }
    }

    /// Every time on these pages.
    pub fn always(pages: Pages) -> Rule {
        Rule { when: When::Always, pages }
    }
}

/// When something goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum When {
    /// Never.
    #[default]
    Never,
    /// Each time.
    Always,
    /// Only the n-th time, from 1, counted on the rule's pages from when the faults were set.
    Nth(u64),
    /// With this probability, from 0 to 1.
    Chance(f64),
}

/// Some pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// All.
    #[default]
    All,
    /// Those of a tablespace.
    Space(u32),
    /// One.
    One(PageId),
    /// Neighbours, both ends included; of the tablespace of the first.
    Range(PageId, PageId),
}

impl Pages {
    /// Whether `page` is one of them.
    pub fn contain(self, page: PageId) -> bool {
        match self {
            Pages::All => true,
            Pages::Space(space) => page.space == space,
            Pages::One(one) => page == one,
            Pages::Range(first, last) => {
                page.space == first.space && (first.page_no..=last.page_no).contains(&page.page_no)
            }
        }
    }
}

/// How long an operation takes: anything between the two, evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Shortest.
    pub min: Duration,
    /// Longest.
    pub max: Duration,
}

/// One kind of thing that can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// See [`Faults::read_error`].
    ReadError,
    /// See [`Faults::short_read`].
    ShortRead,
    /// See [`Faults::write_error`].
    WriteError,
    /// See [`Faults::torn_write`].
    TornWrite,
    /// See [`Faults::sync_error`].
    SyncError,
}

/// The faults and how far their counts are.
#[derive(Debug, Default)]
pub(super) struct Decider {
    faults: Faults,
    /// How often each rule, by the order of [`Failure`], has been asked about one of its pages.
    asked: [u64; 5],
    /// Failures ordered one by one.
    next: Vec<(Failure, Pages)>,
}

impl Decider {
    /// Starts anew with `faults`; those ordered one by one stay.
    pub(super) fn set(&mut self, faults: Faults) {
        self.faults = faults;
        self.asked = [0; 5];
    }

    /// Orders one failure of the next operation on one of `pages`.
    pub(super) fn order(&mut self, failure: Failure, pages: Pages) {
        self.next.push((failure, pages));
    }

    /// Whether `failure` befalls this operation on `page`.
    pub(super) fn befalls(&mut self, failure: Failure, page: PageId, seeded: &mut Seeded) -> bool {
        let ordered = |&(what, pages): &(Failure, Pages)| what == failure && pages.contain(page);
        if let Some(first) = self.next.iter().position(ordered) {
            self.next.remove(first);
            return true;
        }
        let rule = match failure {
            Failure::ReadError => self.faults.read_error,
            Failure::ShortRead => self.faults.short_read,
            Failure::WriteError => self.faults.write_error,
            Failure::TornWrite => self.faults.torn_write,
            Failure::SyncError => self.faults.sync_error,
        };
        if !rule.pages.contain(page) {
            return false;
        }
        let asked = &mut self.asked[failure as usize];
        *asked += 1;
        match rule.when {
            When::Never => false,
            When::Always => true,
            When::Nth(n) => *asked == n,
            When::Chance(chance) => seeded.happens(chance),
        }
    }

    /// How long the next operation takes.
    pub(super) fn delay(&self, seeded: &mut Seeded) -> Duration {
        let Some(Delay { min, max }) = self.faults.delay else { return Duration::ZERO };
        let spread = max.saturating_sub(min).as_nanos();
        let spread = usize::try_from(spread).unwrap_or(usize::MAX - 1);
        min + Duration::from_nanos(seeded.below(spread + 1) as u64)
    }
}

/// What the simulated device says.
pub(super) fn device_error(what: &str) -> Fault {
    Fault::Device { kind: ErrorKind::Other, what: format!("the simulation fails this {what}") }
}
