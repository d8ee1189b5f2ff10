//! The sizes of the messages of a mix, as a function of their numbers: both roles know them without a header.

use crate::random::uniform;
use furlong_model::SizeMix;

/// The sizes of a mix in the order of a trial.
#[derive(Debug, Clone)]
pub struct SizeSequence {
    key: u64,
    /// Bytes of each class, and the share of messages in it or a smaller class.
    classes: Vec<(usize, f64)>,
}

impl SizeSequence {
    /// Creates the sequence of a trial with this key.
    pub fn new(mix: &SizeMix, key: u64) -> SizeSequence {
        let sum: f64 = mix.classes().iter().map(|class| f64::from(class.1)).sum();
        let mut below = 0.0;
        let classes = mix.classes().iter().map(|(bytes, weight)| {
            below += f64::from(*weight) / sum;
            (*bytes, below)
        });
        SizeSequence { key: key.rotate_left(32), classes: classes.collect() }
    }

    /// Returns the bytes of the message with this number.
    pub fn bytes(&self, number: u64) -> usize {
        self.classes[self.class(number)].0
    }

    /// Returns the bytes of the largest class.
    pub fn largest_bytes(&self) -> usize {
        self.classes.last().map_or(0, |class| class.0)
    }

    /// Returns the place of the class of the message with this number.
    pub fn class(&self, number: u64) -> usize {
        let place = uniform(self.key, number);
        self.classes.iter().position(|class| place <= class.1).unwrap_or(self.classes.len() - 1)
    }

    /// Returns the bytes of each class.
    pub fn classes(&self) -> impl Iterator<Item = usize> {
        self.classes.iter().map(|class| class.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{ConditionKind, RequestedConditions};

    #[test]
    fn classes_have_their_weights() {
        let condition = ConditionKind::find("sizes").unwrap().read("64:70,4KiB:25,1MiB:5").unwrap();
        let conditions = RequestedConditions::from(condition);
        let sequence = SizeSequence::new(conditions.size_mix().unwrap(), 11);
        let mut numbers = [0u32; 3];
        (0..100_000).for_each(|number| numbers[sequence.class(number)] += 1);
        for (number, expected) in numbers.into_iter().zip([70_000, 25_000, 5_000]) {
            assert!(number.abs_diff(expected) < 700, "{numbers:?}");
        }
        assert_eq!(sequence.classes().collect::<Vec<_>>(), [64, 4096, 1 << 20]);
    }
}
