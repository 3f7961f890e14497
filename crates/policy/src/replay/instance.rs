//! One instance: its list, its table, its frames, and the moves from one to the other.

use super::config::{PoolConfig, share};
use super::page_table::PageTable;
use super::slots::{Slots, mark};
use crate::blocks::{BlockNo, Blocks};
use crate::counters::{Occupancy, PoolStats};
use crate::list::{Enter, LruList};
use crate::page::PageId;
use crate::promotion::{self, PoolClock, Verdict};
use crate::rules::Replacement;
use crate::time::Time;
use crate::variant::{MadeYoungCount, ReserveRules};

/// Who makes the moves that the policy judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The policy, at once.
    Made,
    /// The policy, and a recording is going to be compared with it.
    MadeAndExpected,
    /// A recording; the policy only notes what it expects.
    Expected,
}

/// One instance of the pool.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) number: usize,
    pub(crate) list: LruList,
    pub(crate) slots: Slots,
    pub(crate) table: PageTable,
    /// Frames that hold nothing; the last one is taken first.
    pub(crate) free: Vec<BlockNo>,
    /// Frames withdrawn by a shrink.
    pub(crate) retired: Vec<BlockNo>,
    /// Frames yet to be withdrawn.
    pub(crate) withdraw_pages: u64,
    /// `curr_size`: frames, those used otherwise included.
    pub(crate) size_pages: u64,
    pub(crate) misc_pages: u64,
    pub(crate) dirty_pages: u64,
    /// Whether a thread's first search for a frame looks at the tail at all.
    pub(crate) try_lru_scan: bool,
    pub(crate) reserve: ReserveRules,
    pub(crate) made_young: MadeYoungCount,
    pub(crate) moves: Moves,
    /// Moves and reads that a recording did not show before their pages left.
    pub(crate) unseen_moves: u64,
    pub(crate) unseen_reads: u64,
    pub(crate) stats: PoolStats,
}

/// How a page leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Evicted,
    Dropped,
}

/// Who writes a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A batch of the page cleaner.
    Batch,
    /// A thread in want of a frame.
    Thread,
}

impl Instance {
    pub(crate) fn new(config: &PoolConfig, number: usize) -> Instance {
        let size_pages = share(config.size_pages, config.instances, number);
        let misc_pages = share(config.misc_pages, config.instances, number);
        // Checked to be below 2^32 - 1.
        let frames = u32::try_from(size_pages.saturating_sub(misc_pages)).unwrap_or(u32::MAX - 1);
        Instance {
            number,
            list: LruList::new(config.rules.list),
            slots: Slots::new(frames as usize),
            table: PageTable::with_room_for(frames as usize),
            free: (0..frames).rev().map(BlockNo).collect(),
            retired: Vec::new(),
            withdraw_pages: 0,
            size_pages,
            misc_pages,
            dirty_pages: 0,
            try_lru_scan: true,
            reserve: config.rules.reserve,
            made_young: config.rules.made_young,
            moves: Moves::Made,
            unseen_moves: 0,
            unseen_reads: 0,
            stats: PoolStats::default(),
        }
    }

    pub(crate) fn clock(&self) -> PoolClock {
        PoolClock { freed_page_clock: self.list.freed_page_clock(), size_pages: self.size_pages }
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            total_pages: self.size_pages,
            data_pages: self.list.len_pages(),
            old_pages: self.list.old_len_pages(),
            dirty_pages: self.dirty_pages,
            free_pages: self.free.len() as u64,
            misc_pages: self.misc_pages,
        }
    }

    /// Puts `page`, which must not be in the pool, into the frame `block`.
    pub(crate) fn place(&mut self, block: BlockNo, page: PageId, enter: Enter) {
        self.slots.begin(block, page);
        self.table.insert(page, block);
        self.list.insert(&mut self.slots, block, enter);
    }

    /// Takes the page in `block` out of the pool; the eviction clock ticks.
    pub(crate) fn leave(&mut self, block: BlockNo, how: Leave) {
        self.table.remove(self.slots.page(block));
        self.list.remove(&mut self.slots, block);
        self.list.tick();
        if self.slots.has(block, mark::DIRTY) {
            self.dirty_pages -= 1;
        }
        if self.moves != Moves::Made {
            self.unseen_moves += u64::from(self.slots.has(block, mark::MOVE_EXPECTED));
            self.unseen_reads += u64::from(self.slots.has(block, mark::READ_EXPECTED));
        }
        match how {
            Leave::Evicted => self.stats.evicted += 1,
            Leave::Dropped => self.stats.dropped += 1,
        }
        if self.withdraw_pages > 0 {
            self.withdraw_pages -= 1;
            self.retired.push(block);
        } else {
            self.free.push(block);
        }
    }

    /// Writes the page in `block`, if it is dirty.
    pub(crate) fn write(&mut self, block: BlockNo, writer: Writer) {
        if self.slots.set(block, mark::DIRTY, false) {
            self.dirty_pages -= 1;
            self.stats.pages_written += 1;
            self.stats.pages_flushed += u64::from(writer == Writer::Batch);
        }
    }

    /// Moves the page in `block` to the head, and counts it as the variant does.
    pub(crate) fn make_young(&mut self, block: BlockNo) {
        let was_old = self.list.make_young(&mut self.slots, block);
        if was_old || self.made_young == MadeYoungCount::EveryMove {
            self.stats.made_young += 1;
        }
    }

    /// Judges an access to the page in `block`, and moves it if it is to be moved.
    pub(crate) fn judge(&mut self, block: BlockNo, now: Time) -> Verdict {
        let recency = self.slots.recency(block);
        let verdict = promotion::judge(self.list.rules(), recency, self.clock(), now);
        match verdict {
            Verdict::Stay => {}
            Verdict::NotYoung => self.stats.not_made_young += 1,
            Verdict::MakeYoung => {
                if self.moves != Moves::Made {
                    self.slots.set(block, mark::MOVE_EXPECTED, true);
                }
                if self.moves != Moves::Expected {
                    self.make_young(block);
                }
            }
        }
        verdict
    }

    /// The page that the policy would evict next: the coldest that can be.
    pub(crate) fn coldest_replaceable(&self) -> Option<BlockNo> {
        self.list.from_tail(&self.slots).find(|&block| self.slots.is_replaceable(block))
    }

    /// Whether evicting gives accessed pages a second round.
    pub(crate) fn is_clock(&self) -> bool {
        self.list.rules().replacement == Replacement::Clock
    }

    /// Moves CLOCK's hand on: the page at the tail goes to the head, its mark cleared.
    pub(crate) fn pass_over(&mut self, block: BlockNo) {
        self.slots.set(block, mark::REFERENCED, false);
        self.list.remove(&mut self.slots, block);
        self.list.insert(&mut self.slots, block, Enter::Young);
    }

    /// The neighbour of `block` towards the head.
    pub(crate) fn hotter(&self, block: BlockNo) -> Option<BlockNo> {
        self.slots.prev(block)
    }
}
