//! Random numbers that are the same in every run, and cheap enough for the inside of a measured loop.

/// A generator of 64-bit numbers (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts a sequence; equal seeds give equal sequences.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Makes what comes depend on `number`.
    #[inline]
    pub(crate) fn stir(&mut self, number: u64) {
        self.0 ^= number;
    }

    /// A number below `limit`, from the upper half of the next one.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the result is below `limit`")]
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits, which is what the fraction of an `f64` holds.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `items` in a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(u32::try_from(last + 1).unwrap_or(u32::MAX)) as usize;
            items.swap(last, other);
        }
    }
}

/// Ranks by Zipf's law: rank `k`, from 0, is drawn in proportion to `1 / (k + 1)^skew`.
#[derive(Debug)]
pub(crate) struct Zipf {
    /// The probability of a rank up to and including this one.
    cumulative: Vec<f64>,
}

impl Zipf {
    /// Prepares for `ranks` ranks.
    pub(crate) fn new(ranks: u32, skew: f64) -> Zipf {
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += f64::from(rank).powf(-skew);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|part| *part /= sum);
        Zipf { cumulative }
    }

    /// Draws a rank.
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let at = random.unit();
        self.cumulative.partition_point(|&part| part <= at).min(self.cumulative.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_ranks_is_drawn_twice_as_often() {
        let zipf = Zipf::new(2, 1.0);
        let mut random = Random::new(1);
        let first = (0..30_000).filter(|_| zipf.draw(&mut random) == 0).count();
        assert!((19_500..20_500).contains(&first), "{first} of 30,000");
    }

    #[test]
    fn numbers_below_a_limit_reach_it_and_no_further() {
        let mut random = Random::new(1);
        let mut seen = [0_u32; 3];
        (0..3000).for_each(|_| seen[random.below(3) as usize] += 1);
        assert!(seen.iter().all(|&times| times > 800), "{seen:?}");
    }
}
