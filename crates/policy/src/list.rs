//! The midpoint LRU list of one instance.
//!
//! From the head (hottest) to the tail (coldest) runs one list. From 512 pages on, its tail part, about
//! 3/8, is the **old** sublist; the rest is **young**. A page read from disk enters at the head of the
//! old sublist, so a scan that touches every page once flows through the old part and leaves the young
//! part alone. A page becomes young, and moves to the head, when [`crate::promotion`] says so.
//!
//! The boundary is a pointer to the hottest old page. It may lag behind its proper place by 20 pages
//! either way, and moves one page at a time. This drift is visible in a server's list, so it is kept.
//!
//! The list owns no pages: links and marks are with the [`Blocks`] that every call is given. All
//! operations cost O(1), moving the boundary O(pages it moves).

use crate::blocks::{BlockNo, Blocks};
use crate::rules::{ListRules, Replacement};

/// Where a page enters the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Enter {
    /// At the head: a page just created.
    Young,
    /// At the head of the old sublist: a page read from disk, on demand, ahead or by a load.
    Old,
}

/// A position in the list that survives changes to it. Each walker that lets go of the list's lock
/// while it works keeps one: before a page leaves the list, a cursor on it steps to the hotter neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor {
    /// The page cleaner's batch.
    Cleaner,
    /// A user thread that looks for a page to evict.
    Eviction,
    /// A user thread that looks for a single page to write and evict.
    SinglePage,
    /// A dump that copies page numbers, walking towards the head.
    Dump,
}

const CURSORS: usize = 4;

/// One instance's LRU list and its eviction clock.
#[derive(Clone, Debug)]
pub struct LruList {
    rules: ListRules,
    head: Option<BlockNo>,
    tail: Option<BlockNo>,
    /// The hottest old page; exists exactly while the list is long enough to have an old sublist.
    old_head: Option<BlockNo>,
    len: u64,
    old_len: u64,
    freed_page_clock: u64,
    cursors: [Option<BlockNo>; CURSORS],
}

impl LruList {
    /// Returns an empty list whose clock stands at 0.
    pub fn new(rules: ListRules) -> LruList {
        LruList {
            rules,
            head: None,
            tail: None,
            old_head: None,
            len: 0,
            old_len: 0,
            freed_page_clock: 0,
            cursors: [None; CURSORS],
        }
    }

    /// The numbers the list goes by.
    pub fn rules(&self) -> &ListRules {
        &self.rules
    }

    /// Changes the numbers. The boundary follows with the next change of the list, except that a
    /// changed `old_blocks_pct` moves it at once, as `SET GLOBAL innodb_old_blocks_pct` does.
    pub fn set_rules(&mut self, blocks: &mut impl Blocks, rules: ListRules) {
        let ratio_changed = rules.old_ratio != self.rules.old_ratio;
        self.rules = rules;
        if ratio_changed && self.old_head.is_some() {
            self.adjust(blocks);
        }
    }

    /// Pages in the list.
    pub fn len_pages(&self) -> u64 {
        self.len
    }

    /// Pages in the old sublist.
    pub fn old_len_pages(&self) -> u64 {
        self.old_len
    }

    /// The hottest page.
    pub fn head(&self) -> Option<BlockNo> {
        self.head
    }

    /// The coldest page.
    pub fn tail(&self) -> Option<BlockNo> {
        self.tail
    }

    /// The hottest page of the old sublist, when there is one.
    pub fn old_head(&self) -> Option<BlockNo> {
        self.old_head
    }

    /// Pages that have left the pool since it was made: the clock that recency is measured by.
    pub fn freed_page_clock(&self) -> u64 {
        self.freed_page_clock
    }

    /// Counts a page that left the pool (`buf_LRU_block_remove_hashed`).
    pub fn tick(&mut self) {
        self.freed_page_clock += 1;
    }

    /// Sets the clock, to go on from where a server's pool stands.
    pub fn set_freed_page_clock(&mut self, clock: u64) {
        self.freed_page_clock = clock;
    }

    /// Puts `block`, which must be in no list, into this one (`buf_LRU_add_block`).
    pub fn insert(&mut self, blocks: &mut impl Blocks, block: BlockNo, enter: Enter) {
        let old_head = match enter {
            Enter::Old if self.rules.replacement == Replacement::Midpoint => self.old_head,
            Enter::Old | Enter::Young => None,
        };
        match old_head {
            Some(old_head) => {
                // The second page of the old sublist: the boundary itself does not move.
                self.link_after(blocks, old_head, block);
                blocks.set_old(block, true);
                // Whatever page the block held before, this one was never at the head.
                blocks.set_freed_page_clock(block, 0);
                self.old_len += 1;
            }
            None => {
                self.link_head(blocks, block);
                blocks.set_old(block, false);
                blocks.set_freed_page_clock(block, self.freed_page_clock);
            }
        }
        self.follow_length(blocks);
    }

    /// Puts `block`, which must be in no list, next to `hotter` on its cold side, and in its sublist; before all others when
    /// that is `None`. For a load that gives pages back the places they had: such a page was never at the
    /// head, so its clock is 0. The servers have no such operation.
    pub fn insert_behind(
        &mut self,
        blocks: &mut impl Blocks,
        block: BlockNo,
        hotter: Option<BlockNo>,
    ) {
        // Nothing is hotter than the young sublist's head, and without an old sublist no page is marked old.
        let old = hotter.is_some_and(|hotter| blocks.is_old(hotter));
        match hotter {
            Some(hotter) => self.link_after(blocks, hotter, block),
            None => self.link_head(blocks, block),
        }
        blocks.set_old(block, old);
        blocks.set_freed_page_clock(block, 0);
        self.old_len += u64::from(old);
        self.follow_length(blocks);
    }

    /// Takes `block`, which must be in the list, out of it (`buf_LRU_remove_block`).
    pub fn remove(&mut self, blocks: &mut impl Blocks, block: BlockNo) {
        self.step_cursors(blocks, block);
        if self.old_head == Some(block) {
            // The boundary moves to the hotter neighbour, which becomes old. There is one: at least
            // `old_tolerance_pages + non_old_min_len_pages` pages are young, or the list ends here.
            self.old_head = blocks.prev(block);
            if let Some(hotter) = self.old_head {
                blocks.set_old(hotter, true);
                self.old_len += 1;
            }
        }
        let was_old = blocks.is_old(block);
        self.unlink(blocks, block);
        if !self.has_old_sublist() {
            self.end_old(blocks);
            return;
        }
        if was_old {
            self.old_len = self.old_len.saturating_sub(1);
        }
        self.adjust(blocks);
    }

    /// Moves `block` to the head and stamps it with the clock (`buf_LRU_make_block_young`). Returns
    /// whether it was old.
    pub fn make_young(&mut self, blocks: &mut impl Blocks, block: BlockNo) -> bool {
        let was_old = blocks.is_old(block);
        self.remove(blocks, block);
        self.insert(blocks, block, Enter::Young);
        was_old
    }

    /// Adds `block`, colder than all others, as it stood in a server's list: its marks are taken as
    /// given. For filling an empty list from a snapshot, hottest page first; [`LruList::settle`] ends
    /// that, and nothing else may happen to the list before.
    pub fn append(&mut self, blocks: &mut impl Blocks, block: BlockNo, is_old: bool, clock: u64) {
        match self.tail {
            Some(tail) => self.link_after(blocks, tail, block),
            None => self.link_head(blocks, block),
        }
        blocks.set_old(block, is_old);
        blocks.set_freed_page_clock(block, clock);
    }

    /// Ends a filling by [`LruList::append`]: the boundary is at the hottest page marked old, and
    /// everything colder is old. A long list without such a page gets the boundary of a list that has
    /// just grown long enough; a short one has none. Returns how many marks had to be changed, which
    /// is 0 for a snapshot that a server took at one moment.
    pub fn settle(&mut self, blocks: &mut impl Blocks) -> u64 {
        let has_old = self.has_old_sublist();
        let (mut changed, mut at) = (0, self.head);
        self.old_head = None;
        self.old_len = 0;
        while let Some(block) = at {
            let marked = blocks.is_old(block);
            let old = has_old && (marked || self.old_head.is_some());
            if old {
                self.old_head = self.old_head.or(Some(block));
                self.old_len += 1;
            }
            if old != marked {
                blocks.set_old(block, old);
                changed += 1;
            }
            at = blocks.next(block);
        }
        if has_old && self.old_head.is_none() {
            self.begin_old(blocks);
            changed += self.old_len;
        }
        changed
    }

    /// Puts `to`, which must be in no list, into the place of `from`: same neighbours, same sublist. For
    /// a page that moves to another block. The caller carries the page's clock over.
    pub fn replace(&mut self, blocks: &mut impl Blocks, from: BlockNo, to: BlockNo) {
        let (prev, next) = (blocks.prev(from), blocks.next(from));
        blocks.set_prev(to, prev);
        blocks.set_next(to, next);
        blocks.set_old(to, blocks.is_old(from));
        match prev {
            Some(prev) => blocks.set_next(prev, Some(to)),
            None => self.head = Some(to),
        }
        match next {
            Some(next) => blocks.set_prev(next, Some(to)),
            None => self.tail = Some(to),
        }
        if self.old_head == Some(from) {
            self.old_head = Some(to);
        }
        for cursor in &mut self.cursors {
            if *cursor == Some(from) {
                *cursor = Some(to);
            }
        }
        blocks.set_prev(from, None);
        blocks.set_next(from, None);
    }

    /// Where `cursor` stands.
    pub fn cursor(&self, cursor: Cursor) -> Option<BlockNo> {
        self.cursors[cursor as usize]
    }

    /// Puts `cursor` on `block`, or takes it off the list.
    pub fn set_cursor(&mut self, cursor: Cursor, block: Option<BlockNo>) {
        self.cursors[cursor as usize] = block;
    }

    /// Where a walk for an evictable page begins: at the tail, unless an earlier walk stopped at a page
    /// that has since left the old sublist's reach, in which case it goes on from there.
    pub fn resume_cursor(&mut self, blocks: &impl Blocks, cursor: Cursor) -> Option<BlockNo> {
        let at = match self.cursor(cursor) {
            Some(block) if !blocks.is_old(block) => Some(block),
            Some(_) | None => self.tail,
        };
        self.set_cursor(cursor, at);
        at
    }

    /// Lists the blocks from the head to the tail.
    pub fn from_head<'a, B: Blocks>(&self, blocks: &'a B) -> impl Iterator<Item = BlockNo> + 'a {
        std::iter::successors(self.head, |&block| blocks.next(block))
    }

    /// Lists the blocks from the tail to the head.
    pub fn from_tail<'a, B: Blocks>(&self, blocks: &'a B) -> impl Iterator<Item = BlockNo> + 'a {
        std::iter::successors(self.tail, |&block| blocks.prev(block))
    }

    fn has_old_sublist(&self) -> bool {
        self.rules.replacement == Replacement::Midpoint && self.len >= self.rules.old_min_len_pages
    }

    /// After a page has come in: moves the boundary, or draws it when the list has become long enough for one.
    fn follow_length(&mut self, blocks: &mut impl Blocks) {
        if self.old_head.is_some() {
            self.adjust(blocks);
        } else if self.has_old_sublist() {
            self.begin_old(blocks);
        }
    }

    /// The list has just become long enough: all of it is old at first, then the boundary moves down
    /// until the old sublist is within its tolerance (`buf_LRU_old_init`).
    fn begin_old(&mut self, blocks: &mut impl Blocks) {
        self.mark_all(blocks, true);
        self.old_head = self.head;
        self.old_len = self.len;
        self.adjust(blocks);
    }

    fn end_old(&mut self, blocks: &mut impl Blocks) {
        if self.old_head.take().is_some() {
            self.mark_all(blocks, false);
        }
        self.old_len = 0;
    }

    fn mark_all(&self, blocks: &mut impl Blocks, old: bool) {
        let mut at = self.head;
        while let Some(block) = at {
            blocks.set_old(block, old);
            at = blocks.next(block);
        }
    }

    /// Moves the boundary, a page at a time, until the old sublist is within its tolerance
    /// (`buf_LRU_old_adjust_len`). Each step brings it one page nearer, so this ends.
    fn adjust(&mut self, blocks: &mut impl Blocks) {
        let desired = self.rules.desired_old_pages(self.len);
        while let Some(boundary) = self.old_head {
            if self.old_len + self.rules.old_tolerance_pages < desired {
                let Some(hotter) = blocks.prev(boundary) else { return };
                blocks.set_old(hotter, true);
                self.old_head = Some(hotter);
                self.old_len += 1;
            } else if self.old_len > desired + self.rules.old_tolerance_pages {
                let Some(colder) = blocks.next(boundary) else { return };
                blocks.set_old(boundary, false);
                self.old_head = Some(colder);
                self.old_len -= 1;
            } else {
                return;
            }
        }
    }

    fn step_cursors(&mut self, blocks: &impl Blocks, leaving: BlockNo) {
        for cursor in &mut self.cursors {
            if *cursor == Some(leaving) {
                *cursor = blocks.prev(leaving);
            }
        }
    }

    fn link_head(&mut self, blocks: &mut impl Blocks, block: BlockNo) {
        blocks.set_prev(block, None);
        blocks.set_next(block, self.head);
        match self.head {
            Some(head) => blocks.set_prev(head, Some(block)),
            None => self.tail = Some(block),
        }
        self.head = Some(block);
        self.len += 1;
    }

    fn link_after(&mut self, blocks: &mut impl Blocks, before: BlockNo, block: BlockNo) {
        let after = blocks.next(before);
        blocks.set_prev(block, Some(before));
        blocks.set_next(block, after);
        blocks.set_next(before, Some(block));
        match after {
            Some(after) => blocks.set_prev(after, Some(block)),
            None => self.tail = Some(block),
        }
        self.len += 1;
    }

    fn unlink(&mut self, blocks: &mut impl Blocks, block: BlockNo) {
        let (prev, next) = (blocks.prev(block), blocks.next(block));
        match prev {
            Some(prev) => blocks.set_next(prev, next),
            None => self.head = next,
        }
        match next {
            Some(next) => blocks.set_prev(next, prev),
            None => self.tail = prev,
        }
        blocks.set_prev(block, None);
        blocks.set_next(block, None);
        self.len -= 1;
    }
}
