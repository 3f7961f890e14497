//! What the LRU list keeps for each block, and where it keeps it.
//!
//! The list is intrusive: links and marks live beside the block they belong to. A simulator keeps
//! them in a vector ([`BlockVec`]); a pool with threads keeps them in its frame descriptors, as
//! atomics, so that a hit can read a page's marks without the list's lock. The list itself does not
//! care: it sees [`Blocks`].

/// Number of a block: its place in the table of blocks, from 0. A block holds one page at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockNo(pub u32);

impl BlockNo {
    /// The block's place as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the list needs to keep for each block. The list is the only writer.
pub trait Blocks {
    /// The neighbour towards the head (hotter).
    fn prev(&self, block: BlockNo) -> Option<BlockNo>;
    /// The neighbour towards the tail (colder).
    fn next(&self, block: BlockNo) -> Option<BlockNo>;
    /// Sets the neighbour towards the head.
    fn set_prev(&mut self, block: BlockNo, prev: Option<BlockNo>);
    /// Sets the neighbour towards the tail.
    fn set_next(&mut self, block: BlockNo, next: Option<BlockNo>);
    /// Whether the block is in the old sublist.
    fn is_old(&self, block: BlockNo) -> bool;
    /// Marks the block old or young.
    fn set_old(&mut self, block: BlockNo, old: bool);
    /// Stamps the block with the eviction clock at which it was last put at the head.
    fn set_freed_page_clock(&mut self, block: BlockNo, clock: u64);
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    prev: Option<BlockNo>,
    next: Option<BlockNo>,
    old: bool,
    freed_page_clock: u64,
}

/// Blocks kept in a vector, for one thread.
#[derive(Clone, Debug, Default)]
pub struct BlockVec {
    nodes: Vec<Node>,
}

impl BlockVec {
    /// Returns a table of `blocks` blocks, in no list and never young.
    pub fn new(blocks: usize) -> BlockVec {
        BlockVec { nodes: vec![Node::default(); blocks] }
    }

    /// The eviction clock at which `block` was last put at the head; 0 when it never was.
    pub fn freed_page_clock(&self, block: BlockNo) -> u64 {
        self.nodes[block.index()].freed_page_clock
    }
}

impl Blocks for BlockVec {
    fn prev(&self, block: BlockNo) -> Option<BlockNo> {
        self.nodes[block.index()].prev
    }

    fn next(&self, block: BlockNo) -> Option<BlockNo> {
        self.nodes[block.index()].next
    }

    fn set_prev(&mut self, block: BlockNo, prev: Option<BlockNo>) {
        self.nodes[block.index()].prev = prev;
    }

    fn set_next(&mut self, block: BlockNo, next: Option<BlockNo>) {
        self.nodes[block.index()].next = next;
    }

    fn is_old(&self, block: BlockNo) -> bool {
        self.nodes[block.index()].old
    }

    fn set_old(&mut self, block: BlockNo, old: bool) {
        self.nodes[block.index()].old = old;
    }

    fn set_freed_page_clock(&mut self, block: BlockNo, clock: u64) {
        self.nodes[block.index()].freed_page_clock = clock;
    }
}
