//! The sizes of the messages of a mix, as a function of their numbers: both roles know them without a header.

use crate::random::uniform;
use crate::replay::ReplayedMessages;
use furlong_model::SizeMix;
use std::sync::Arc;

/// The sizes of a mix in the order of a trial.
#[derive(Debug, Clone)]
pub struct SizeSequence {
    key: u64,
    /// Bytes of each class, and the share of messages in it or a smaller class.
    classes: Vec<(usize, f64)>,
    /// Messages of the trace, if the sizes are those of a trace, and the number of the message that is its first.
    replay: Option<(Arc<ReplayedMessages>, u64)>,
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
        SizeSequence { key: key.rotate_left(32), classes: classes.collect(), replay: None }
    }

    /// Returns the sequence with the sizes of a trace, whose first message has the number `first`.
    #[must_use]
    pub fn replaying(self, replay: Option<&Arc<ReplayedMessages>>, first: u64) -> SizeSequence {
        SizeSequence { replay: replay.map(|replay| (Arc::clone(replay), first)), ..self }
    }

    /// Lets the trace, if there is one, begin with the message of this number.
    pub fn begin_at(&mut self, number: u64) {
        self.replay.iter_mut().for_each(|(_, first)| *first = number);
    }

    /// Returns the bytes of the message with this number.
    pub fn bytes(&self, number: u64) -> usize {
        match &self.replay {
            Some((replay, first)) => replay.bytes(number.wrapping_sub(*first)),
            None => self.classes[self.class(number)].0,
        }
    }

    /// Returns the bytes of the largest class.
    pub fn largest_bytes(&self) -> usize {
        self.classes.last().map_or(0, |class| class.0)
    }

    /// Returns the place of the class of the message with this number.
    pub fn class(&self, number: u64) -> usize {
        if self.replay.is_some() {
            let bytes = self.bytes(number);
            return self.classes.partition_point(|class| class.0 < bytes).min(self.classes.len() - 1);
        }
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
