//! Random numbers that are the same for a seed in every version of this crate.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one word of state, any seed is good.
#[derive(Clone, Debug)]
pub(super) struct Seeded(u64);

impl Seeded {
    /// The sequence of `seed`.
    pub(super) fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// The next 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. The bias, below `bound` / 2^64, matters to nobody here.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let scaled = (u128::from(self.bits()) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// True with probability `chance`.
    pub(super) fn happens(&mut self, chance: f64) -> bool {
        // 53 bits are what a float between 0 and 1 has.
        ((self.bits() >> 11) as f64) < chance * (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut seeded = Seeded::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| seeded.bits()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn chances_and_bounds_are_kept() {
        let mut seeded = Seeded::new(5);
        assert!((0..1000).all(|_| seeded.below(7) < 7));
        assert!((0..100).all(|_| !seeded.happens(0.0)));
        assert!((0..100).all(|_| seeded.happens(1.0)));
        let hits = (0..10_000).filter(|_| seeded.happens(0.3)).count();
        assert!((2_800..3_200).contains(&hits), "{hits}");
    }
}
