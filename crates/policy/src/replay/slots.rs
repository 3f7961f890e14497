//! The blocks of one instance: what is known of each frame, close together in one vector.

use crate::blocks::{BlockNo, Blocks};
use crate::page::PageId;
use crate::promotion::PageRecency;
use crate::read_ahead::AreaPage;
use crate::time::Time;

const NO_BLOCK: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// Marks of a block, one bit each.
pub(crate) mod mark {
    pub(crate) const OLD: u8 = 1;
    pub(crate) const DIRTY: u8 = 2;
    /// Accessed since CLOCK's hand last passed.
    pub(crate) const REFERENCED: u8 = 4;
    /// The policy judged that the page moves, the recording has not said so yet.
    pub(crate) const MOVE_EXPECTED: u8 = 8;
    /// The policy read the page, the recording has not said so yet.
    pub(crate) const READ_EXPECTED: u8 = 16;
}

/// A frame without bytes: 40 bytes of what is known of its page.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: PageId,
    prev: u32,
    next: u32,
    freed_page_clock: u64,
    first_access: u64,
    pins: u32,
    marks: u8,
}

const BLANK: Slot = Slot {
    page: PageId::new(0, 0),
    prev: NO_BLOCK,
    next: NO_BLOCK,
    freed_page_clock: 0,
    first_access: NEVER,
    pins: 0,
    marks: 0,
};

/// The blocks of one instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
}

fn to_link(block: Option<BlockNo>) -> u32 {
    block.map_or(NO_BLOCK, |block| block.0)
}

fn from_link(link: u32) -> Option<BlockNo> {
    (link != NO_BLOCK).then_some(BlockNo(link))
}

impl Slots {
    pub(crate) fn new(blocks: usize) -> Slots {
        Slots { slots: vec![BLANK; blocks] }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn grow_to(&mut self, blocks: usize) {
        self.slots.resize(blocks.max(self.slots.len()), BLANK);
    }

    /// Makes the block hold `page`, as if just allocated.
    pub(crate) fn begin(&mut self, block: BlockNo, page: PageId) {
        self.slots[block.index()] = Slot { page, ..BLANK };
    }

    pub(crate) fn page(&self, block: BlockNo) -> PageId {
        self.slots[block.index()].page
    }

    pub(crate) fn has(&self, block: BlockNo, mark: u8) -> bool {
        self.slots[block.index()].marks & mark != 0
    }

    /// Sets or clears a mark; returns whether that changed it.
    pub(crate) fn set(&mut self, block: BlockNo, mark: u8, on: bool) -> bool {
        let marks = &mut self.slots[block.index()].marks;
        let before = *marks;
        *marks = if on { before | mark } else { before & !mark };
        *marks != before
    }

    pub(crate) fn pins(&self, block: BlockNo) -> u32 {
        self.slots[block.index()].pins
    }

    pub(crate) fn set_pins(&mut self, block: BlockNo, pins: u32) {
        self.slots[block.index()].pins = pins;
    }

    /// Whether the page can be evicted as it is: clean, and pinned by nobody.
    pub(crate) fn is_replaceable(&self, block: BlockNo) -> bool {
        let slot = &self.slots[block.index()];
        slot.pins == 0 && slot.marks & mark::DIRTY == 0
    }

    pub(crate) fn first_access(&self, block: BlockNo) -> Option<Time> {
        let micros = self.slots[block.index()].first_access;
        (micros != NEVER).then_some(Time::from_micros(micros))
    }

    pub(crate) fn set_first_access(&mut self, block: BlockNo, time: Option<Time>) {
        self.slots[block.index()].first_access = time.map_or(NEVER, Time::micros);
    }

    /// Stamps the first access; returns whether this was it.
    pub(crate) fn touch(&mut self, block: BlockNo, now: Time) -> bool {
        let slot = &mut self.slots[block.index()];
        slot.marks |= mark::REFERENCED;
        let first = slot.first_access == NEVER;
        if first {
            slot.first_access = now.micros();
        }
        first
    }

    pub(crate) fn freed_page_clock(&self, block: BlockNo) -> u64 {
        self.slots[block.index()].freed_page_clock
    }

    pub(crate) fn recency(&self, block: BlockNo) -> PageRecency {
        PageRecency {
            is_old: self.is_old(block),
            first_access: self.first_access(block),
            freed_page_clock: self.freed_page_clock(block),
        }
    }

    pub(crate) fn area_page(&self, block: BlockNo, young_enough: bool) -> AreaPage {
        AreaPage { first_access: self.first_access(block), young_enough }
    }
}

impl Blocks for Slots {
    fn prev(&self, block: BlockNo) -> Option<BlockNo> {
        from_link(self.slots[block.index()].prev)
    }

    fn next(&self, block: BlockNo) -> Option<BlockNo> {
        from_link(self.slots[block.index()].next)
    }

    fn set_prev(&mut self, block: BlockNo, prev: Option<BlockNo>) {
        self.slots[block.index()].prev = to_link(prev);
    }

    fn set_next(&mut self, block: BlockNo, next: Option<BlockNo>) {
        self.slots[block.index()].next = to_link(next);
    }

    fn is_old(&self, block: BlockNo) -> bool {
        self.has(block, mark::OLD)
    }

    fn set_old(&mut self, block: BlockNo, old: bool) {
        self.set(block, mark::OLD, old);
    }

    fn set_freed_page_clock(&mut self, block: BlockNo, clock: u64) {
        self.slots[block.index()].freed_page_clock = clock;
    }
}
