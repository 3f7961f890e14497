//! Holds the midpoint list against the model, over random histories.
//!
//! After every step the two lists are equal: order, old flags, boundary, stamps, cursors, clock.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod model;

use std::time::Duration;

use innopool_policy::blocks::{BlockNo, BlockVec, Blocks};
use innopool_policy::list::{Cursor, Enter, LruList};
use innopool_policy::rules::ListRules;
use model::lru::{CURSORS, Lru, Page};
use model::{Constants, Id, ratio_of_pct};
use proptest::prelude::*;

/// Blocks there are; a list may hold nearly all of them.
const BLOCKS: u32 = 1200;

#[derive(Clone, Debug)]
enum Step {
    /// Inserts one page; the number picks a free block.
    Insert {
        pick: u32,
        old: bool,
    },
    /// Inserts many, to get across the border.
    InsertMany {
        count: u32,
        old: bool,
    },
    /// Takes a page out without a tick, as a move between lists would.
    Remove {
        at: u32,
    },
    /// Evicts a page: out, and a tick.
    Evict {
        at: u32,
    },
    EvictTail {
        count: u32,
    },
    MakeYoung {
        at: u32,
    },
    /// Makes the page beside the boundary young, or evicts it: where errors like to be.
    AtBoundary {
        offset: i32,
        evict: bool,
    },
    SetPct {
        pct: u32,
    },
    /// Puts a cursor on the page at a place.
    Place {
        cursor: usize,
        at: u32,
    },
    /// Puts a cursor on the boundary's neighbourhood.
    PlaceAtBoundary {
        cursor: usize,
        offset: i32,
    },
    /// Starts a walk and takes some steps towards the head.
    Walk {
        cursor: usize,
        steps: u32,
    },
    /// Evicts the page that a cursor stands on.
    EvictCursor {
        cursor: usize,
    },
}

fn steps() -> impl Strategy<Value = Step> {
    let any_at = 0..10_000u32;
    // Places near either end matter as much as all between.
    let at = prop_oneof![3 => any_at, 1 => 0..3u32, 1 => 9_997..10_000u32];
    let offset = -2..3i32;
    let cursor = 0..3usize;
    prop_oneof![
        6 => (0..BLOCKS, prop::bool::weighted(0.7)).prop_map(|(pick, old)| Step::Insert { pick, old }),
        1 => (1..80u32, any::<bool>()).prop_map(|(count, old)| Step::InsertMany { count, old }),
        2 => at.clone().prop_map(|at| Step::Remove { at }),
        3 => at.clone().prop_map(|at| Step::Evict { at }),
        1 => (1..80u32).prop_map(|count| Step::EvictTail { count }),
        4 => at.clone().prop_map(|at| Step::MakeYoung { at }),
        3 => (offset.clone(), any::<bool>())
            .prop_map(|(offset, evict)| Step::AtBoundary { offset, evict }),
        1 => (5..=95u32).prop_map(|pct| Step::SetPct { pct }),
        2 => (cursor.clone(), at).prop_map(|(cursor, at)| Step::Place { cursor, at }),
        2 => (cursor.clone(), offset)
            .prop_map(|(cursor, offset)| Step::PlaceAtBoundary { cursor, offset }),
        2 => (cursor.clone(), 0..150u32).prop_map(|(cursor, steps)| Step::Walk { cursor, steps }),
        2 => cursor.prop_map(|cursor| Step::EvictCursor { cursor }),
    ]
}

/// The list and the model, taking every step together.
struct Pair {
    blocks: BlockVec,
    list: LruList,
    model: Lru,
}

fn id(block: BlockNo) -> Id {
    (0, block.0)
}

fn block(id: Id) -> BlockNo {
    BlockNo(id.1)
}

fn rules(constants: Constants, pct: u32) -> ListRules {
    ListRules {
        old_min_len_pages: constants.old_min_len as u64,
        old_tolerance_pages: constants.tolerance as u64,
        non_old_min_len_pages: constants.non_old_min_len as u64,
        old_blocks_time: Duration::from_secs(1),
        ..ListRules::default()
    }
    .with_old_blocks_pct(pct)
}

fn cursor(i: usize) -> (Cursor, model::lru::Cursor) {
    let ours = [Cursor::Cleaner, Cursor::Eviction, Cursor::SinglePage];
    (ours[i], CURSORS[i])
}

impl Pair {
    fn new(constants: Constants, pct: u32, clock: u64) -> Pair {
        let mut list = LruList::new(rules(constants, pct));
        let mut model = Lru::new(constants, ratio_of_pct(pct as usize));
        list.set_freed_page_clock(clock);
        model.clock = clock;
        Pair { blocks: BlockVec::new(BLOCKS as usize), list, model }
    }

    fn insert(&mut self, pick: u32, old: bool) {
        let free = |no: &u32| self.model.position((0, *no)).is_none();
        let Some(no) = (0..BLOCKS).map(|i| (pick + i) % BLOCKS).find(free) else {
            return;
        };
        let enter = if old { Enter::Old } else { Enter::Young };
        self.list.insert(&mut self.blocks, BlockNo(no), enter);
        self.model.insert(Page::new((0, no)), old);
    }

    /// The page at `at` ten-thousandths of the list.
    fn at(&self, at: u32) -> Option<Id> {
        let len = self.model.pages.len();
        self.model.pages.get(at as usize * len / 10_000).map(|page| page.id)
    }

    /// The page `offset` colder than the boundary, which a list without one has in its middle.
    fn near_boundary(&self, offset: i32) -> Option<Id> {
        let len = self.model.pages.len() as i32;
        let boundary = len - self.model.old_len as i32;
        let boundary = if self.model.old_len == 0 { len / 2 } else { boundary };
        self.model.pages.get((boundary + offset).max(0) as usize).map(|page| page.id)
    }

    fn remove(&mut self, id: Id) {
        self.list.remove(&mut self.blocks, block(id));
        self.model.remove(id);
    }

    fn evict(&mut self, id: Id) {
        self.list.remove(&mut self.blocks, block(id));
        self.list.tick();
        self.model.evict(id);
    }

    fn make_young(&mut self, id: Id) -> Result<(), TestCaseError> {
        let was_old = self.list.make_young(&mut self.blocks, block(id));
        prop_assert_eq!(was_old, self.model.make_young(id), "make_young says whether it was old");
        Ok(())
    }

    fn place(&mut self, i: usize, id: Option<Id>) {
        let (ours, models) = cursor(i);
        self.list.set_cursor(ours, id.map(block));
        self.model.set_cursor(models, id);
    }

    fn walk(&mut self, i: usize, steps: u32) -> Result<(), TestCaseError> {
        let (ours, models) = cursor(i);
        let start = self.list.resume_cursor(&self.blocks, ours);
        prop_assert_eq!(start.map(id), self.model.start(models), "where a walk begins");
        let mut here = start;
        for _ in 0..steps {
            here = here.and_then(|block| self.blocks.prev(block));
        }
        self.place(i, here.map(id));
        Ok(())
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Insert { pick, old } => self.insert(pick, old),
            Step::InsertMany { count, old } => {
                for i in 0..count {
                    self.insert(i * 7, old);
                }
            }
            Step::Remove { at } => {
                if let Some(id) = self.at(at) {
                    self.remove(id);
                }
            }
            Step::Evict { at } => {
                if let Some(id) = self.at(at) {
                    self.evict(id);
                }
            }
            Step::EvictTail { count } => {
                for _ in 0..count {
                    if let Some(id) = self.model.tail() {
                        self.evict(id);
                    }
                }
            }
            Step::MakeYoung { at } => {
                if let Some(id) = self.at(at) {
                    self.make_young(id)?;
                }
            }
            Step::AtBoundary { offset, evict } => match self.near_boundary(offset) {
                Some(id) if evict => self.evict(id),
                Some(id) => self.make_young(id)?,
                None => {}
            },
            Step::SetPct { pct } => {
                let rules = self.list.rules().with_old_blocks_pct(pct);
                self.list.set_rules(&mut self.blocks, rules);
                self.model.set_ratio(ratio_of_pct(pct as usize));
            }
            Step::Place { cursor, at } => self.place(cursor, self.at(at)),
            Step::PlaceAtBoundary { cursor, offset } => {
                self.place(cursor, self.near_boundary(offset));
            }
            Step::Walk { cursor, steps } => self.walk(cursor, steps)?,
            Step::EvictCursor { cursor } => {
                if let Some(id) = self.model.cursors[cursor] {
                    self.evict(id);
                }
            }
        }
        Ok(())
    }

    /// Holds everything the list shows against the model.
    fn compare(&self) -> Result<(), TestCaseError> {
        let (list, model) = (&self.list, &self.model);
        let head_on: Vec<Id> = list.from_head(&self.blocks).map(id).collect();
        let expected: Vec<Id> = model.pages.iter().map(|page| page.id).collect();
        prop_assert_eq!(&head_on, &expected, "order from the head");
        let mut tail_on: Vec<Id> = list.from_tail(&self.blocks).map(id).collect();
        tail_on.reverse();
        prop_assert_eq!(&tail_on, &expected, "order from the tail");
        prop_assert_eq!(list.head().map(id), expected.first().copied());
        prop_assert_eq!(list.tail().map(id), expected.last().copied());
        prop_assert_eq!(list.len_pages(), expected.len() as u64);
        prop_assert_eq!(list.old_len_pages(), model.old_len as u64, "length of the old part");
        prop_assert_eq!(list.old_head().map(id), model.lru_old, "boundary");
        prop_assert_eq!(list.freed_page_clock(), model.clock, "clock");
        for page in &model.pages {
            let block = block(page.id);
            prop_assert_eq!(self.blocks.is_old(block), page.old, "old flag of {:?}", page.id);
            // A server keeps 31 bits of the clock with a page.
            let stamp = self.blocks.freed_page_clock(block) % (1 << 31);
            prop_assert_eq!(stamp, page.clock, "stamp of {:?}", page.id);
        }
        for (i, at) in model.cursors.iter().enumerate() {
            prop_assert_eq!(list.cursor(cursor(i).0).map(id), *at, "cursor {}", i);
        }
        Ok(())
    }
}

fn run(
    constants: Constants,
    pct: u32,
    clock: u64,
    fill: u32,
    old: bool,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(constants, pct, clock);
    for i in 0..fill {
        pair.insert(i, old);
    }
    pair.compare()?;
    for step in steps {
        pair.take(step)?;
        pair.model.check();
        pair.compare()?;
    }
    Ok(())
}

/// Lengths to begin with: mostly near the border of 512, some anywhere.
fn fills() -> impl Strategy<Value = u32> {
    prop_oneof![2 => 500..525u32, 1 => 0..1100u32, 1 => 440..600u32]
}

/// Numbers a scaled rule may have. There is always a young page.
fn small_constants() -> impl Strategy<Value = Constants> {
    (0..5usize, 1..4usize, 2..30usize).prop_map(|(tolerance, non_old_min_len, more)| Constants {
        old_min_len: tolerance + non_old_min_len + more,
        tolerance,
        non_old_min_len,
        ..Constants::INNODB
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_list_is_the_models_with_the_servers_numbers(
        pct in 5..=95u32,
        clock in prop_oneof![Just(0u64), Just((1 << 31) - 20), 0..1_000_000u64],
        fill in fills(),
        old: bool,
        steps in prop::collection::vec(steps(), 0..150),
    ) {
        run(Constants::INNODB, pct, clock, fill, old, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_list_is_the_models_with_small_numbers(
        constants in small_constants(),
        pct in 5..=95u32,
        fill in 0..60u32,
        old: bool,
        steps in prop::collection::vec(steps(), 0..150),
    ) {
        run(constants, pct, 0, fill, old, &steps)?;
    }
}

/// A list that grows across the border and shrinks back, one page at a time, at every percentage.
#[test]
fn the_border_is_crossed_both_ways() {
    for pct in [5, 37, 50, 95] {
        let mut pair = Pair::new(Constants::INNODB, pct, 0);
        for i in 0..560 {
            pair.insert(i, i % 3 != 0);
        }
        pair.compare().unwrap();
        for _ in 0..60 {
            pair.evict(pair.model.tail().unwrap());
            pair.compare().unwrap();
        }
        assert_eq!((pair.list.len_pages(), pair.list.old_head()), (500, None));
        for i in 0..20 {
            pair.insert(700 + i, true);
            pair.model.check();
            pair.compare().unwrap();
        }
    }
}
