//! The midpoint list against figures worked out by hand from the server's constants.

use innopool_policy::blocks::{BlockNo, BlockVec, Blocks};
use innopool_policy::list::{Cursor, Enter, LruList};
use innopool_policy::page::Fold;
use innopool_policy::promotion::{PoolClock, is_young_enough, young_window_pages};
use innopool_policy::rules::{ClockComparison, ListRules};
use innopool_policy::{PageId, Variant};

struct Fixture {
    list: LruList,
    blocks: BlockVec,
}

impl Fixture {
    fn new(blocks: usize) -> Fixture {
        Fixture { list: LruList::new(ListRules::default()), blocks: BlockVec::new(blocks) }
    }

    fn filled(blocks: u32) -> Fixture {
        let mut fixture = Fixture::new(blocks as usize + 64);
        for block in 0..blocks {
            fixture.insert(block, Enter::Old);
        }
        fixture
    }

    fn insert(&mut self, block: u32, enter: Enter) {
        self.list.insert(&mut self.blocks, BlockNo(block), enter);
    }

    fn remove(&mut self, block: BlockNo) {
        self.list.remove(&mut self.blocks, block);
    }

    fn order(&self) -> Vec<u32> {
        self.list.from_head(&self.blocks).map(|block| block.0).collect()
    }

    fn old(&self) -> Vec<u32> {
        let is_old = |block: &u32| self.blocks.is_old(BlockNo(*block));
        self.order().into_iter().filter(is_old).collect()
    }
}

#[test]
fn list_of_511_has_no_old_sublist() {
    let fixture = Fixture::filled(511);
    assert_eq!(fixture.list.old_len_pages(), 0);
    assert_eq!(fixture.list.old_head(), None);
    assert_eq!(fixture.old(), []);
}

/// 512 * 378 / 1024 = 189 desired, and the boundary stops at the edge of its tolerance of 20.
#[test]
fn page_512_makes_an_old_sublist_of_209() {
    let fixture = Fixture::filled(512);
    assert_eq!(fixture.list.old_len_pages(), 209);
    // Every page went to the head, so the coldest 209 are the first 209.
    assert_eq!(fixture.old(), (0..209).rev().collect::<Vec<_>>());
    assert_eq!(fixture.list.old_head(), Some(BlockNo(208)));
}

#[test]
fn falling_below_512_makes_every_page_young() {
    let mut fixture = Fixture::filled(512);
    let tail = fixture.list.tail().unwrap();
    fixture.remove(tail);
    assert_eq!(fixture.list.len_pages(), 511);
    assert_eq!(fixture.list.old_len_pages(), 0);
    assert_eq!(fixture.list.old_head(), None);
    assert_eq!(fixture.old(), []);
    fixture.insert(600 - 64, Enter::Old);
    assert_eq!(fixture.list.old_len_pages(), 209, "and back");
    assert_eq!(fixture.list.head(), Some(BlockNo(536)), "entered at the head, being the 512th");
}

#[test]
fn page_read_enters_second_in_the_old_sublist() {
    let mut fixture = Fixture::filled(512);
    fixture.insert(512, Enter::Old);
    let order = fixture.order();
    let at = order.iter().position(|&block| block == 512).unwrap();
    assert_eq!(order[at - 1..=at + 1], [208, 512, 207], "right behind the boundary");
    // 513 * 378 / 1024 is still 189: 210 old pages are one too many, so 208 became young.
    assert_eq!(fixture.list.old_len_pages(), 209);
    assert_eq!(fixture.list.old_head(), Some(BlockNo(512)));
}

#[test]
fn page_created_enters_at_the_head() {
    let mut fixture = Fixture::filled(512);
    fixture.list.set_freed_page_clock(77);
    fixture.insert(512, Enter::Young);
    assert_eq!(fixture.list.head(), Some(BlockNo(512)));
    assert!(!fixture.blocks.is_old(BlockNo(512)));
    assert_eq!(fixture.blocks.freed_page_clock(BlockNo(512)), 77);
}

#[test]
fn removing_the_boundary_makes_its_hotter_neighbour_old() {
    let mut fixture = Fixture::filled(512);
    fixture.insert(512, Enter::Young);
    let before = fixture.list.old_len_pages();
    let boundary = fixture.list.old_head().unwrap();
    let hotter = fixture.blocks.prev(boundary).unwrap();
    fixture.remove(boundary);
    assert_eq!(fixture.list.old_head(), Some(hotter));
    assert!(fixture.blocks.is_old(hotter));
    assert_eq!(fixture.list.old_len_pages(), before);
}

/// A frame that held a hot page is given to a page read from disk.
#[test]
fn page_read_into_a_used_frame_was_never_young() {
    let mut fixture = Fixture::filled(520);
    fixture.list.set_freed_page_clock(1000);
    let tail = fixture.list.tail().unwrap();
    fixture.list.make_young(&mut fixture.blocks, tail);
    assert_eq!(fixture.blocks.freed_page_clock(tail), 1000);
    fixture.remove(tail);
    fixture.list.insert(&mut fixture.blocks, tail, Enter::Old);
    assert_eq!(fixture.blocks.freed_page_clock(tail), 0);
}

#[test]
fn making_young_tells_whether_the_page_was_old() {
    let mut fixture = Fixture::filled(600);
    let tail = fixture.list.tail().unwrap();
    assert!(fixture.list.make_young(&mut fixture.blocks, tail));
    assert_eq!(fixture.list.head(), Some(tail));
    assert!(!fixture.list.make_young(&mut fixture.blocks, tail));
}

/// The old sublist may be 20 pages from its share either way, never more, whatever happens.
#[test]
fn old_sublist_stays_within_its_tolerance() {
    let mut fixture = Fixture::new(2000);
    let mut out: Vec<u32> = (0..2000).collect();
    let mut inside: Vec<u32> = Vec::new();
    let mut state = 1_u64;
    let mut most = 0;
    for turn in 0..40_000_u64 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = usize::try_from(state >> 33).unwrap();
        // Long stretches of growth and of decline, with moves in between.
        let grows = (turn / 3000) % 2 == 0;
        match draw % 4 {
            0 if !inside.is_empty() => {
                let block = BlockNo(inside[draw / 4 % inside.len()]);
                fixture.list.make_young(&mut fixture.blocks, block);
            }
            1 | 2 if grows && !out.is_empty() => {
                let block = out.swap_remove(draw / 4 % out.len());
                let enter = if draw % 3 == 0 { Enter::Young } else { Enter::Old };
                fixture.insert(block, enter);
                inside.push(block);
            }
            1 | 2 if !grows && !inside.is_empty() => {
                let block = inside.swap_remove(draw / 4 % inside.len());
                fixture.remove(BlockNo(block));
                out.push(block);
            }
            _ => {}
        }
        let (len, old) = (fixture.list.len_pages(), fixture.list.old_len_pages());
        if len >= 512 {
            // The share as the server computes it, in its own numbers.
            let desired = (len * 378 / 1024).min(len - 25);
            assert!(old.abs_diff(desired) <= 20, "{old} old of {len}, {desired} desired");
            most = most.max(old.abs_diff(desired));
        } else {
            assert_eq!(old, 0);
        }
    }
    assert_eq!(most, 20, "the drift is kept, not mended away");
}

/// 8192 pages, 378 of 1024 old: a quarter of the young 646/1024 is 1292.
#[test]
fn young_window_of_8192_pages_is_1292() {
    assert_eq!(young_window_pages(&ListRules::default(), 8192), 1292);
}

#[test]
fn percentage_is_turned_into_1024ths() {
    let ratio = |percent| ListRules::default().with_old_blocks_pct(percent).old_ratio;
    assert_eq!([ratio(37), ratio(5), ratio(95)], [378, 51, 972]);
    assert_eq!([ratio(0), ratio(100)], [51, 972], "clamped to the variable's range");
}

#[test]
fn cursor_on_a_leaving_page_steps_to_its_hotter_neighbour() {
    let mut fixture = Fixture::filled(3);
    assert_eq!(fixture.order(), [2, 1, 0]);
    fixture.list.set_cursor(Cursor::Cleaner, Some(BlockNo(0)));
    fixture.list.set_cursor(Cursor::Eviction, Some(BlockNo(1)));
    fixture.remove(BlockNo(0));
    assert_eq!(fixture.list.cursor(Cursor::Cleaner), Some(BlockNo(1)));
    fixture.list.make_young(&mut fixture.blocks, BlockNo(1));
    assert_eq!(fixture.list.cursor(Cursor::Cleaner), Some(BlockNo(2)));
    assert_eq!(fixture.list.cursor(Cursor::Eviction), Some(BlockNo(2)));
    fixture.remove(BlockNo(1));
    fixture.remove(BlockNo(2));
    assert_eq!(fixture.list.cursor(Cursor::Eviction), None);
}

#[test]
fn search_goes_on_only_from_a_page_that_is_young() {
    let mut fixture = Fixture::filled(600);
    let (head, tail) = (fixture.list.head(), fixture.list.tail());
    fixture.list.set_cursor(Cursor::Eviction, head);
    assert_eq!(fixture.list.resume_cursor(&fixture.blocks, Cursor::Eviction), head);
    let old = fixture.list.old_head();
    fixture.list.set_cursor(Cursor::Eviction, old);
    assert_eq!(fixture.list.resume_cursor(&fixture.blocks, Cursor::Eviction), tail);
}

#[test]
fn list_filled_from_a_snapshot_has_the_boundary_of_the_snapshot() {
    let mut fixture = Fixture::new(600);
    for block in 0..600_u32 {
        // 600 * 378 / 1024 = 221; a server may stand at 230.
        let old = block >= 370;
        fixture.list.append(&mut fixture.blocks, BlockNo(block), old, u64::from(block) + 5);
    }
    assert_eq!(fixture.list.settle(&mut fixture.blocks), 0, "marks fit");
    assert_eq!(fixture.order(), (0..600).collect::<Vec<_>>());
    assert_eq!(fixture.list.old_head(), Some(BlockNo(370)));
    assert_eq!(fixture.list.old_len_pages(), 230);
    assert_eq!(fixture.blocks.freed_page_clock(BlockNo(7)), 12);
}

#[test]
fn snapshot_whose_marks_contradict_its_order_is_mended_and_counted() {
    let mut fixture = Fixture::new(600);
    for block in 0..600_u32 {
        let old = block >= 370 && block != 400;
        fixture.list.append(&mut fixture.blocks, BlockNo(block), old, 0);
    }
    assert_eq!(fixture.list.settle(&mut fixture.blocks), 1);
    assert_eq!(fixture.list.old_len_pages(), 230);
}

/// 2^31 evictions after a pool was made, MySQL's 31 bits start again: a page stamped just before then
/// looks young to it for almost another 2^31 evictions.
#[test]
fn servers_differ_once_the_clock_has_gone_round() {
    const ROUND: u64 = 1 << 31;
    let young = |variant: Variant, stamp, now| {
        let pool = PoolClock { freed_page_clock: now, size_pages: 8192 };
        is_young_enough(&variant.rules().list, stamp, pool)
    };
    for variant in [Variant::Mysql57, Variant::Mysql80, Variant::Mysql84, Variant::Mariadb] {
        assert!(young(variant, 5000, 5000 + 1291), "{variant:?}");
        assert!(!young(variant, 5000, 5000 + 1292), "{variant:?}");
    }
    let (stamp, now) = (ROUND - 10, ROUND + 100_000);
    assert!(young(Variant::Mysql84, stamp, now));
    assert!(!young(Variant::Mariadb, stamp, now));
    assert!(young(Variant::Mariadb, stamp, ROUND + 1281), "1291 evictions ago");
    assert!(!young(Variant::Mariadb, stamp, ROUND + 1282));
    assert_eq!(ListRules::default().clock_comparison, ClockComparison::Wide, "a clock without end");
}

/// (5000 << 20) + 5000 + 2 is 5242885002; in 32 bits 947917706; masked 5806258629.
#[test]
fn servers_differ_in_the_instance_of_a_page() {
    let page = PageId::new(5000, 2 * 64 + 17);
    let of = |fold: Fold, instances| fold.instance_of(page, instances);
    assert_eq!([of(Fold::Wide, 7), of(Fold::Narrow, 7), of(Fold::Masked, 7)], [5, 1, 3]);
    assert_eq!([of(Fold::Wide, 1), of(Fold::Wide, 0)], [0, 0]);
}
