//! Numbers that look drawn, and are the same for the same seed (SplitMix64).

/// Where the sequence stands.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub fn of(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    /// One of these.
    pub fn of_these<'a, T: ?Sized>(&mut self, these: &[&'a T]) -> &'a T {
        these[self.below(these.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| -> Vec<usize> {
            let mut random = Random::of(seed);
            (0..100).map(|_| random.below(1000)).collect()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!(numbers(1).iter().all(|number| *number < 1000));
        assert_eq!(Random::of(1).below(0), 0);
    }
}
