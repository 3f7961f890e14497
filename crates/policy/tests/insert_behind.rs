//! Putting a page next to another: the order is the one asked for, and the sublists stay what the rules say.

use innopool_policy::blocks::{BlockNo, BlockVec, Blocks};
use innopool_policy::list::{Cursor, Enter, LruList};
use innopool_policy::rules::ListRules;
use proptest::prelude::*;

const BLOCKS: u32 = 900;

#[derive(Clone, Debug)]
enum Step {
    /// Behind the n-th page of the list, or at its head.
    Behind(Option<u16>),
    Enter(bool),
    Remove(u16),
    MakeYoung(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => any::<u16>().prop_map(|at| Step::Behind(Some(at))),
        1 => Just(Step::Behind(None)),
        2 => any::<bool>().prop_map(Step::Enter),
        1 => any::<u16>().prop_map(Step::Remove),
        1 => any::<u16>().prop_map(Step::MakeYoung),
    ];
    prop::collection::vec(step, 1..1200)
}

struct Rig {
    list: LruList,
    blocks: BlockVec,
    /// The list as it should be, from the head.
    model: Vec<BlockNo>,
    free: Vec<BlockNo>,
}

impl Rig {
    fn new(rules: ListRules) -> Rig {
        Rig {
            list: LruList::new(rules),
            blocks: BlockVec::new(BLOCKS as usize),
            model: Vec::new(),
            free: (0..BLOCKS).map(BlockNo).collect(),
        }
    }

    fn nth(&self, at: u16) -> Option<usize> {
        (!self.model.is_empty()).then(|| usize::from(at) % self.model.len())
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Behind(at) => {
                let Some(block) = self.free.pop() else { return };
                let at = at.and_then(|at| self.nth(at));
                let hotter = at.map(|at| self.model[at]);
                self.list.insert_behind(&mut self.blocks, block, hotter);
                self.model.insert(at.map_or(0, |at| at + 1), block);
                assert_eq!(self.blocks.freed_page_clock(block), 0, "never at the head");
            }
            Step::Enter(young) => {
                let Some(block) = self.free.pop() else { return };
                let enter = if young { Enter::Young } else { Enter::Old };
                let boundary = self.list.old_head().filter(|_| !young);
                let place = boundary.and_then(|at| self.model.iter().position(|&b| b == at));
                self.list.insert(&mut self.blocks, block, enter);
                self.model.insert(place.map_or(0, |at| at + 1), block);
            }
            Step::Remove(at) => {
                let Some(at) = self.nth(at) else { return };
                let block = self.model.remove(at);
                self.list.tick();
                self.list.remove(&mut self.blocks, block);
                self.free.push(block);
            }
            Step::MakeYoung(at) => {
                let Some(at) = self.nth(at) else { return };
                let block = self.model.remove(at);
                self.list.make_young(&mut self.blocks, block);
                self.model.insert(0, block);
            }
        }
    }

    fn check(&self) {
        let order: Vec<BlockNo> = self.list.from_head(&self.blocks).collect();
        assert_eq!(order, self.model);
        let back: Vec<BlockNo> = self.list.from_tail(&self.blocks).collect();
        assert!(back.iter().rev().eq(&self.model));
        let young = self.model.iter().take_while(|&&block| !self.blocks.is_old(block)).count();
        let (_, old) = self.model.split_at(young);
        assert!(old.iter().all(|&block| self.blocks.is_old(block)), "old pages are the tail");
        assert_eq!(self.list.old_len_pages(), old.len() as u64);
        assert_eq!(self.list.old_head(), old.first().copied());
        let len = self.list.len_pages();
        if len >= self.list.rules().old_min_len_pages {
            let off = self.list.old_len_pages().abs_diff(self.list.rules().desired_old_pages(len));
            assert!(off <= self.list.rules().old_tolerance_pages, "{off} pages off");
        } else {
            assert!(old.is_empty());
        }
    }
}

proptest! {
    #[test]
    fn the_order_is_the_one_asked_for(steps in steps(), small: bool) {
        // With small numbers, so that the list is cut and joined again and again; and with the server's.
        let small_rules = ListRules {
            old_min_len_pages: 40,
            old_tolerance_pages: 3,
            ..ListRules::default()
        };
        let mut rig = Rig::new(if small { small_rules } else { ListRules::default() });
        for (number, step) in steps.iter().enumerate() {
            rig.step(step);
            if number % 16 == 0 {
                rig.check();
            }
        }
        rig.check();
    }
}

#[test]
fn a_dump_walks_on_from_the_neighbour_of_a_page_that_left() {
    let mut rig = Rig::new(ListRules::default());
    (0..5).for_each(|_| rig.step(&Step::Behind(None)));
    let middle = rig.model[2];
    rig.list.set_cursor(Cursor::Dump, Some(middle));
    rig.step(&Step::MakeYoung(2));
    assert_eq!(rig.list.cursor(Cursor::Dump), Some(rig.model[2]), "once the hotter neighbour");
    assert_ne!(rig.model[2], middle);
}
