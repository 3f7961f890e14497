//! From the lines of a dump to the list of each instance: pure.

use innopool_policy::page::{Fold, PageId};

/// Reads the lines of a dump, `space,page` each. `Err` has the number of the first line, from 1, that is
/// not; a last line without its end is one, since its number may have lost digits.
pub(super) fn parse(text: &[u8]) -> Result<Vec<PageId>, u64> {
    let mut pages = Vec::new();
    let mut number = 0_u64;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        number += 1;
        let line = line.strip_suffix(b"\n").ok_or(number)?.trim_ascii();
        if !line.is_empty() {
            pages.push(page(line).ok_or(number)?);
        }
    }
    Ok(pages)
}

fn page(line: &[u8]) -> Option<PageId> {
    let comma = line.iter().position(|&byte| byte == b',')?;
    let number = |digits: &[u8]| {
        let is_number = digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
    };
    Some(PageId::new(number(&line[..comma])?, number(&line[comma + 1..])?))
}

/// Divides a dump into the lists of its instances, which a server writes one after the other with nothing
/// between. An instance follows from a page's number, in a way that differs between servers: the right one
/// is the one by which the instances never fall. `None` if there is no such.
pub(super) fn divide(pages: &[PageId], instances: u32) -> Option<Vec<(u32, Vec<PageId>)>> {
    if instances <= 1 {
        return Some(vec![(0, pages.to_vec())]);
    }
    let count = instances as usize;
    let folds = [Fold::Masked, Fold::Narrow, Fold::Wide];
    let fold = folds
        .into_iter()
        .find(|fold| pages.is_sorted_by_key(|&page| fold.instance_of(page, count)))?;
    let mut lists: Vec<(u32, Vec<PageId>)> =
        (0..instances).map(|instance| (instance, Vec::new())).collect();
    for &page in pages {
        // An instance's number is below their count.
        if let Some((_, list)) = lists.get_mut(fold.instance_of(page, count)) {
            list.push(page);
        }
    }
    Some(lists)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may end by panicking")]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pages_and_anything_else_is_named() {
        let expected = vec![PageId::new(0, 5), PageId::new(u32::MAX, 7)];
        assert_eq!(parse(b"0,5\n4294967295,7\n"), Ok(expected.clone()));
        assert_eq!(parse(b"0,5\r\n\n 4294967295,7\n"), Ok(expected));
        assert_eq!(parse(b""), Ok(vec![]));
        for (text, line) in [
            (&b"0,5\n0,6"[..], 2),
            (b"0,5\n0;6\n", 2),
            (b"4294967296,1\n", 1),
            (b"0,-1\n", 1),
            (b"0,+1\n", 1),
            (b",1\n", 1),
            (b"1,\n", 1),
            (b"1,1\n\n1,2,3\n", 3),
            (b"\0\0\0\n", 1),
        ] {
            assert_eq!(parse(text), Err(line), "{}", String::from_utf8_lossy(text));
        }
    }

    /// Lists as a server has them: pages of an instance in an order of heat.
    fn lists(fold: Fold, instances: u32) -> Vec<(u32, Vec<PageId>)> {
        let mut lists: Vec<(u32, Vec<PageId>)> =
            (0..instances).map(|number| (number, vec![])).collect();
        for number in 0..4000_u32 {
            let page = PageId::new(number * 7 % 13, number.wrapping_mul(2_654_435_761) >> 12);
            lists[fold.instance_of(page, instances as usize)].1.push(page);
        }
        lists
    }

    #[test]
    fn a_dump_of_several_instances_is_divided_as_it_was() {
        for fold in [Fold::Masked, Fold::Narrow, Fold::Wide] {
            for instances in [1, 2, 3, 8, 64] {
                let lists = lists(fold, instances);
                let dump: Vec<PageId> = lists.iter().flat_map(|(_, pages)| pages.clone()).collect();
                assert!(divide(&dump, instances) == Some(lists), "{fold:?} {instances}");
            }
        }
    }

    #[test]
    fn a_dump_in_another_order_is_not_divided() {
        let mut dump: Vec<PageId> =
            lists(Fold::Wide, 4).into_iter().flat_map(|(_, pages)| pages).collect();
        dump.rotate_left(1000);
        assert!(divide(&dump, 4).is_none());
    }
}
