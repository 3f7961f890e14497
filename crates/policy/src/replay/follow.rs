//! Following a recording of a real server, and counting where the policy would have done otherwise.
//!
//! A recording has the requests for pages, and some of what came of them: reads posted, pages moved to
//! the head, pages evicted. The requests drive the pool as ever. The rest are facts, which
//! [`Following`] says how to treat: as what happens ([`Source::Recording`]), or only as what the
//! policy's own doing is compared with ([`Source::Policy`]). Either way [`Agreement`] counts.
//!
//! A request that moves a page is judged when it is made; the recorded move follows it. So a move that
//! the policy expects stays open until the recording shows it, or until the page leaves or is judged
//! to move again, which closes it as one that never came.

use super::instance::{Instance, Leave, Moves};
use super::slots::mark;
use super::{BufferPool, GetOutcome, NoFreeFrame};
use crate::blocks::Blocks;
use crate::fetch::Fetch;
use crate::list::Enter;
use crate::page::PageId;
use crate::promotion::Verdict;
use crate::read_ahead::Links;
use crate::time::Time;

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The policy; the recording is compared with it.
    Policy,
    /// The recording; the policy is compared with it.
    Recording,
}

/// What a recording decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Following {
    /// Which pages move to the head.
    pub moves: Source,
    /// Which pages are evicted.
    pub evictions: Source,
}

/// Where policy and recording agree, in counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Moves that both made.
    pub moves_agreed: u64,
    /// Moves recorded that the policy did not judge right.
    pub moves_unforeseen: u64,
    /// Moves judged right that were not recorded.
    pub moves_missing: u64,
    /// Moves recorded of pages that the pool does not hold.
    pub moves_of_absent: u64,
    /// Demand reads that both made.
    pub reads_agreed: u64,
    /// Reads recorded of pages that the pool holds and nobody asked for: the server had evicted them.
    /// They are read again.
    pub reads_unforeseen: u64,
    /// Demand reads of the policy that were not recorded: the server still had the page.
    pub reads_missing: u64,
    /// Reads recorded that no request asked for: read-ahead or a load.
    pub reads_ahead: u64,
    /// Evictions recorded of the very page the policy would have evicted, or already had.
    pub evictions_agreed: u64,
    /// Evictions recorded of another page than the policy's.
    pub evictions_other: u64,
    /// Evictions of the policy's own while the recording decides, because a frame was wanted that the
    /// recording had not freed yet.
    pub evictions_unrecorded: u64,
}

/// A pool that follows a recording.
///
/// Make it of a pool with [`ReadAheadSettings::OFF`](crate::read_ahead::ReadAheadSettings::OFF) where
/// the recording shows reads, or read-ahead happens twice.
#[derive(Clone, Debug)]
pub struct Follower {
    pool: BufferPool,
    following: Following,
    agreement: Agreement,
    /// Evictions before the recording, and those of the recording.
    evicted: u64,
}

impl Follower {
    /// Returns a follower that goes on from where `pool` stands.
    pub fn new(mut pool: BufferPool, following: Following) -> Follower {
        let moves = match following.moves {
            Source::Policy => Moves::MadeAndExpected,
            Source::Recording => Moves::Expected,
        };
        for instance in &mut pool.instances {
            instance.moves = moves;
            instance.forget_expectations();
        }
        let evicted = pool.stats().evicted;
        Follower { pool, following, agreement: Agreement::default(), evicted }
    }

    /// The pool, to look at.
    pub fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// The pool, for events of which a recording has no other side: creations, drops, writes, passes
    /// of the page cleaner, a change of settings. Requests go through [`Follower::got`].
    pub fn pool_mut(&mut self) -> &mut BufferPool {
        &mut self.pool
    }

    /// A request for `page`.
    ///
    /// # Errors
    ///
    /// When the page has to be read and no frame can be had.
    pub fn got(
        &mut self,
        page: PageId,
        fetch: Fetch,
        now: Time,
    ) -> Result<GetOutcome, NoFreeFrame> {
        self.got_linked(page, fetch, Links::sequential(page), now)
    }

    /// As [`got`](Follower::got), of a page whose links to its siblings are known.
    ///
    /// # Errors
    ///
    /// When the page has to be read and no frame can be had.
    pub fn got_linked(
        &mut self,
        page: PageId,
        fetch: Fetch,
        links: Links,
        now: Time,
    ) -> Result<GetOutcome, NoFreeFrame> {
        let open = self.has(page, mark::MOVE_EXPECTED);
        let outcome = self.pool.get_linked(page, fetch, links, now)?;
        self.close_second(open, outcome.verdict);
        Ok(outcome)
    }

    /// A repeated request for a page whose block was remembered; `None` when the pool does not hold it.
    pub fn got_again(&mut self, page: PageId, now: Time) -> Option<GetOutcome> {
        let open = self.has(page, mark::MOVE_EXPECTED);
        let outcome = self.pool.optimistic_get(page, now)?;
        self.close_second(open, outcome.verdict);
        Some(outcome)
    }

    /// A move judged right while another is still open: the first never came.
    fn close_second(&mut self, open: bool, verdict: Option<Verdict>) {
        if open && verdict == Some(Verdict::MakeYoung) {
            self.agreement.moves_missing += 1;
        }
    }

    /// A read of `page` was posted.
    ///
    /// # Errors
    ///
    /// When no frame can be had.
    pub fn page_read(&mut self, page: PageId) -> Result<(), NoFreeFrame> {
        let instance = self.pool.instance_mut(page);
        match instance.table.get(page) {
            Some(block) if instance.slots.set(block, mark::READ_EXPECTED, false) => {
                self.agreement.reads_agreed += 1;
                return Ok(());
            }
            Some(block) => {
                self.agreement.reads_unforeseen += 1;
                self.evicted += 1;
                instance.leave(block, Leave::Evicted);
            }
            None => self.agreement.reads_ahead += 1,
        }
        self.pool.bring_in(page, Enter::Old)?;
        self.pool.instance_mut(page).stats.pages_read += 1;
        Ok(())
    }

    /// `page` was moved to the head.
    pub fn moved_young(&mut self, page: PageId) {
        let instance = self.pool.instance_mut(page);
        let Some(block) = instance.table.get(page) else {
            self.agreement.moves_of_absent += 1;
            return;
        };
        if instance.slots.set(block, mark::MOVE_EXPECTED, false) {
            self.agreement.moves_agreed += 1;
        } else {
            self.agreement.moves_unforeseen += 1;
        }
        if self.following.moves == Source::Recording {
            instance.make_young(block);
        }
    }

    /// `page` was evicted.
    pub fn evicted(&mut self, page: PageId) {
        let number = self.pool.instance_of(page);
        let instance = &mut self.pool.instances[number];
        let Some(block) = instance.table.get(page) else {
            self.agreement.evictions_agreed += 1;
            return;
        };
        if instance.coldest_replaceable() == Some(block) {
            self.agreement.evictions_agreed += 1;
        } else {
            self.agreement.evictions_other += 1;
        }
        if self.following.evictions == Source::Recording {
            self.evicted += 1;
            self.pool.evict_page(page);
        }
    }

    /// What has been counted so far. What is still open, because the recording has not shown it yet,
    /// is counted by [`Follower::finish`].
    pub fn agreement(&self) -> Agreement {
        let mut sum = self.agreement;
        for instance in &self.pool.instances {
            sum.moves_missing += instance.unseen_moves;
            sum.reads_missing += instance.unseen_reads;
        }
        if self.following.evictions == Source::Recording {
            sum.evictions_unrecorded = self.pool.stats().evicted.saturating_sub(self.evicted);
        }
        sum
    }

    /// Ends the recording: what is still open never came. Returns the pool, now on its own, and the
    /// counts.
    pub fn finish(mut self) -> (BufferPool, Agreement) {
        let mut sum = self.agreement();
        for instance in &mut self.pool.instances {
            let (moves, reads) = instance.forget_expectations();
            sum.moves_missing += moves;
            sum.reads_missing += reads;
            instance.moves = Moves::Made;
        }
        (self.pool, sum)
    }

    fn has(&self, page: PageId, mark: u8) -> bool {
        let instance = self.pool.instance(page);
        instance.table.get(page).is_some_and(|block| instance.slots.has(block, mark))
    }
}

impl Instance {
    /// Clears what a recording was expected to show; returns how many moves and reads that was.
    fn forget_expectations(&mut self) -> (u64, u64) {
        let (mut moves, mut reads) = (0, 0);
        let mut at = self.list.head();
        while let Some(block) = at {
            moves += u64::from(self.slots.set(block, mark::MOVE_EXPECTED, false));
            reads += u64::from(self.slots.set(block, mark::READ_EXPECTED, false));
            at = self.slots.next(block);
        }
        (self.unseen_moves, self.unseen_reads) = (0, 0);
        (moves, reads)
    }
}
