//! From the lines of a dump to one order of its pages, hottest first.
//!
//! A dump of several instances is their lists, one after the other, with nothing between. The first page of the second list
//! is as hot as the first of the file, not colder than the last of the first list. Which instance a page was in
//! follows from its number, so where the lists begin can be found: with the right way of hashing and the right number of
//! instances the instances come in order.

use std::ops::Range;

use innopool_policy::PageId;
use innopool_policy::page::Fold;

/// Most instances that a server has.
const INSTANCES_MAX: usize = 64;

/// Changes from one area of 64 pages to another that a file must have, for each instance and in all, before an order
/// of instances counts as found: a short or sorted file is in order by chance.
const AREA_CHANGES_PER_INSTANCE: usize = 4;
const AREA_CHANGES_MIN: usize = 32;

/// Finds the lists that `pages` consists of, as ranges; one if there is no sign of more. Lists that are empty are left
/// out.
pub fn instance_lists(pages: &[PageId]) -> Vec<Range<usize>> {
    let area = |page: &PageId| (page.space, page.page_no >> 6);
    let changes = pages.windows(2).filter(|pair| area(&pair[0]) != area(&pair[1])).count();
    let most = INSTANCES_MAX.min(changes / AREA_CHANGES_PER_INSTANCE);
    if changes >= AREA_CHANGES_MIN {
        for instances in (2..=most).rev() {
            for fold in [Fold::Wide, Fold::Narrow, Fold::Masked] {
                if let Some(lists) = lists_in_order(pages, |page| fold.instance_of(page, instances))
                {
                    return lists;
                }
            }
        }
    }
    (!pages.is_empty()).then_some(0..pages.len()).into_iter().collect()
}

/// The runs of equal instances, if their numbers never fall and there are at least two.
fn lists_in_order(
    pages: &[PageId],
    instance_of: impl Fn(PageId) -> usize,
) -> Option<Vec<Range<usize>>> {
    let mut lists = Vec::new();
    let (mut begin, mut last) = (0, instance_of(*pages.first()?));
    for (at, &page) in pages.iter().enumerate() {
        let instance = instance_of(page);
        if instance < last {
            return None;
        }
        if instance > last {
            lists.push(begin..at);
            (begin, last) = (at, instance);
        }
    }
    lists.push(begin..pages.len());
    (lists.len() > 1).then_some(lists)
}

/// Orders the pages of a dump by heat: lists of instances are merged by how deep in its own list each page stands, so
/// the middle of a short list is as hot as the middle of a long one. A page that is listed twice keeps its hottest
/// place.
pub fn hottest_first(pages: &[PageId]) -> Vec<PageId> {
    let lists = instance_lists(pages);
    let mut ranked = if lists.len() < 2 { pages.to_vec() } else { merge(pages, &lists) };
    keep_first(&mut ranked);
    ranked
}

fn merge(pages: &[PageId], lists: &[Range<usize>]) -> Vec<PageId> {
    let mut by_depth: Vec<(u64, PageId)> = Vec::with_capacity(pages.len());
    for list in lists {
        let len = list.len() as u64;
        let depths = (0..len).map(|at| ((2 * at + 1) << 30) / len);
        by_depth.extend(depths.zip(pages[list.clone()].iter().copied()));
    }
    // Stable, so that a list longer than the depths are fine keeps its order.
    by_depth.sort_by_key(|&(depth, _)| depth);
    by_depth.into_iter().map(|(_, page)| page).collect()
}

/// Drops every page that stands further ahead already.
pub fn keep_first(pages: &mut Vec<PageId>) {
    let mut numbered: Vec<(PageId, usize)> =
        pages.iter().enumerate().map(|(at, &page)| (page, at)).collect();
    numbered.sort_unstable();
    let mut again = vec![false; pages.len()];
    for pair in numbered.windows(2) {
        again[pair[1].1] = pair[0].0 == pair[1].0;
    }
    let mut again = again.into_iter();
    pages.retain(|_| again.next() != Some(true));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOLDS: [Fold; 3] = [Fold::Wide, Fold::Narrow, Fold::Masked];

    /// A dump, by a server of so many instances, of a pool in which the order of heat is that of `heat`.
    fn dumped(heat: &[PageId], fold: Fold, instances: usize) -> Vec<PageId> {
        let of =
            |wanted| heat.iter().filter(move |&&page| fold.instance_of(page, instances) == wanted);
        (0..instances).flat_map(of).copied().collect()
    }

    /// Pages of some tables in no order; no page twice.
    fn heat(seed: u64, len: u32) -> Vec<PageId> {
        let mut pages: Vec<PageId> = (0..len).map(|n| PageId::new(3 + n % 5, n / 5)).collect();
        let mixed = |page: PageId| {
            let number = (u64::from(page.space) << 32 | u64::from(page.page_no)) ^ seed;
            number
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(31)
                .wrapping_mul(0xD134_2543_DE82_EF95)
        };
        pages.sort_by_key(|&page| mixed(page));
        pages
    }

    #[test]
    fn the_lists_of_every_server_are_found() {
        for fold in FOLDS {
            for instances in [1, 2, 3, 4, 7, 8, 16, 64] {
                let heat = heat(7, 20_000);
                let file = dumped(&heat, fold, instances);
                let lists = instance_lists(&file);
                assert_eq!(lists.len(), instances, "{fold:?}");
                let depth_of = |page: PageId| heat.iter().position(|&at| at == page).unwrap();
                for (at, page) in hottest_first(&file).into_iter().enumerate().step_by(997) {
                    let off = at.abs_diff(depth_of(page));
                    assert!(off < 1500, "{fold:?} {instances}: {page} is {off} places off");
                }
            }
        }
    }

    #[test]
    fn a_sorted_file_is_one_list() {
        for space in [0, 5, 4_294_967_294] {
            let upwards: Vec<PageId> =
                (0..20_000).map(|number| PageId::new(space, number)).collect();
            let downwards: Vec<PageId> = upwards.iter().rev().copied().collect();
            for pages in [&upwards, &downwards] {
                assert_eq!(instance_lists(pages).len(), 1);
                assert_eq!(&hottest_first(pages), pages);
                let part = &pages[..64 * 40];
                assert_eq!(hottest_first(part), part);
            }
        }
    }

    #[test]
    fn nothing_has_no_list() {
        assert_eq!(instance_lists(&[]), []);
        assert_eq!(hottest_first(&[]), []);
    }

    proptest! {
        /// Whatever the file: every page once, and those of one instance in the order of the file.
        #[test]
        fn no_page_is_lost_and_no_list_reordered(
            seed: u64, len in 0u32..3000, instances in 1usize..10, copies in 0usize..5,
        ) {
            let heat = heat(seed, len);
            let fold = FOLDS[(seed % 3) as usize];
            let mut file = dumped(&heat, fold, instances);
            let again: Vec<PageId> = file.iter().take(copies).copied().collect();
            file.extend(again);
            let ranked = hottest_first(&file);
            prop_assert_eq!(ranked.len(), heat.len());
            if copies == 0 {
                for wanted in 0..instances {
                    let of = |&page: &PageId| fold.instance_of(page, instances) == wanted;
                    let before: Vec<PageId> = heat.iter().copied().filter(of).collect();
                    let after: Vec<PageId> = ranked.iter().copied().filter(of).collect();
                    prop_assert_eq!(before, after);
                }
            }
        }

        #[test]
        fn the_first_of_equals_is_kept(numbers in prop::collection::vec(0u32..50, 0..200)) {
            let mut pages: Vec<PageId> = numbers.iter().map(|&n| PageId::new(1, n)).collect();
            let mut model: Vec<PageId> = Vec::new();
            for &page in &pages {
                if !model.contains(&page) {
                    model.push(page);
                }
            }
            keep_first(&mut pages);
            prop_assert_eq!(pages, model);
        }
    }
}
