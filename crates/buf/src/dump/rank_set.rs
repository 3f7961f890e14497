//! A set of ranks that finds the nearest member on either side of any rank in a few steps.

const BITS: usize = 64;

/// A set of numbers below a capacity. All operations cost O(log64 of the capacity); it takes a little more than a bit a
/// number.
#[derive(Clone, Debug)]
pub(super) struct RankSet {
    /// Bit `i` of level 0 is member `i`; bit `i` of a higher level says whether word `i` of the one below has any bit.
    /// The last level is one word.
    levels: Vec<Vec<u64>>,
    len: usize,
}

impl RankSet {
    /// Returns the empty set of numbers below `capacity`.
    pub(super) fn new(capacity: usize) -> RankSet {
        let mut levels = Vec::new();
        let mut words = capacity;
        loop {
            words = words.div_ceil(BITS).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                return RankSet { levels, len: 0 };
            }
        }
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn contains(&self, rank: u32) -> bool {
        let rank = rank as usize;
        self.levels[0].get(rank / BITS).is_some_and(|word| word >> (rank % BITS) & 1 == 1)
    }

    /// Adds `rank`, which must be below the capacity.
    pub(super) fn insert(&mut self, rank: u32) {
        if self.contains(rank) {
            return;
        }
        self.len += 1;
        let mut at = rank as usize;
        for words in &mut self.levels {
            words[at / BITS] |= 1 << (at % BITS);
            at /= BITS;
        }
    }

    /// Takes `rank` out; returns whether it was a member.
    pub(super) fn remove(&mut self, rank: u32) -> bool {
        if !self.contains(rank) {
            return false;
        }
        self.len -= 1;
        let mut at = rank as usize;
        for words in &mut self.levels {
            let word = &mut words[at / BITS];
            *word &= !(1 << (at % BITS));
            if *word != 0 {
                break;
            }
            at /= BITS;
        }
        true
    }

    /// The largest member.
    pub(super) fn last(&self) -> Option<u32> {
        let top = self.levels.len() - 1;
        (self.levels[top][0] != 0).then(|| self.down(top + 1, 0, highest))
    }

    /// The largest member below `rank`.
    pub(super) fn before(&self, rank: u32) -> Option<u32> {
        self.nearest(rank, |word, bit| word & ((1 << bit) - 1), highest)
    }

    /// The smallest member above `rank`.
    pub(super) fn after(&self, rank: u32) -> Option<u32> {
        self.nearest(rank, |word, bit| word & (u64::MAX << bit << 1), lowest)
    }

    /// Climbs until a word has members on the side that `side` leaves, then goes down to the one that `pick` picks.
    fn nearest(
        &self,
        rank: u32,
        side: impl Fn(u64, usize) -> u64,
        pick: impl Fn(u64) -> usize,
    ) -> Option<u32> {
        let mut at = rank as usize;
        for (level, words) in self.levels.iter().enumerate() {
            let found = side(*words.get(at / BITS)?, at % BITS);
            if found != 0 {
                return Some(self.down(level, at / BITS * BITS + pick(found), pick));
            }
            at /= BITS;
        }
        None
    }

    /// The member under bit `at` of `level`: `pick` chooses in each word on the way down.
    fn down(&self, level: usize, at: usize, pick: impl Fn(u64) -> usize) -> u32 {
        let words = self.levels[..level].iter().rev();
        let member = words.fold(at, |at, words| at * BITS + pick(words[at]));
        // Members came in as 32-bit numbers.
        u32::try_from(member).unwrap_or(u32::MAX)
    }
}

fn highest(word: u64) -> usize {
    word.checked_ilog2().unwrap_or(0) as usize
}

fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            capacity in prop::sample::select(vec![1u32, 63, 64, 65, 4096, 4097, 300_000]),
            steps in prop::collection::vec((any::<u32>(), 0u32..4, any::<bool>()), 1..300),
        ) {
            let mut set = RankSet::new(capacity as usize);
            let mut model = BTreeSet::new();
            for (number, spread, insert) in steps {
                // Near the beginning, near the end, or anywhere.
                let rank = match spread {
                    0 => number % capacity.min(70),
                    1 => capacity - 1 - number % capacity.min(70),
                    _ => number % capacity,
                };
                if insert {
                    set.insert(rank);
                    model.insert(rank);
                } else {
                    prop_assert_eq!(set.remove(rank), model.remove(&rank));
                }
                prop_assert_eq!(set.len(), model.len());
                prop_assert_eq!(set.contains(rank), model.contains(&rank));
                prop_assert_eq!(set.before(rank), model.range(..rank).next_back().copied());
                prop_assert_eq!(set.after(rank), model.range(rank + 1..).next().copied());
                prop_assert_eq!(set.last(), model.last().copied());
            }
        }
    }
}
