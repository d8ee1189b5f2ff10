//! The messages of a trace: intervals and sizes, in memory before the measured part begins.

/// The messages of a trace, repeated without end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedMessages {
    /// Nanoseconds since the message before; of the first message, since the beginning.
    intervals_ns: Box<[u64]>,
    /// Nanoseconds between the last message and the first one of the next repetition.
    repeat_ns: u64,
    sizes_bytes: Box<[u32]>,
}

impl ReplayedMessages {
    /// Returns the messages with these times and sizes, at thousandths of a speed. A repetition follows after the mean interval.
    ///
    /// # Panics
    /// Panics if there are fewer than two messages, or fewer sizes than times.
    pub fn new(times_ns: &[u64], sizes_bytes: &[u32], speed_thousandths: u32) -> ReplayedMessages {
        assert!(times_ns.len() >= 2 && times_ns.len() == sizes_bytes.len(), "a replay needs two messages");
        let scaled = |ns: u64| (u128::from(ns) * 1000 / u128::from(speed_thousandths)) as u64;
        let mut last = 0;
        let intervals = times_ns.iter().map(|ns| {
            let interval = scaled(*ns).saturating_sub(last);
            last = scaled(*ns);
            interval
        });
        let intervals_ns: Box<[u64]> = intervals.collect();
        let repeat_ns = (last - intervals_ns[0]) / (times_ns.len() as u64 - 1);
        ReplayedMessages { intervals_ns, repeat_ns: repeat_ns.max(1), sizes_bytes: sizes_bytes.into() }
    }

    /// Returns the nanoseconds between the message with this number, from 0, and the one before it.
    pub fn interval_ns(&self, number: u64) -> u64 {
        match number % self.intervals_ns.len() as u64 {
            0 if number > 0 => self.repeat_ns,
            place => self.intervals_ns[place as usize],
        }
    }

    /// Returns the bytes of the message with this number, from 0.
    pub fn bytes(&self, number: u64) -> usize {
        self.sizes_bytes[(number % self.sizes_bytes.len() as u64) as usize] as usize
    }

    /// Returns the nanoseconds from the beginning to the last message.
    pub fn duration_ns(&self) -> u64 {
        self.intervals_ns.iter().sum()
    }

    /// Returns the longest interval in nanoseconds.
    pub fn longest_ns(&self) -> u64 {
        self.intervals_ns.iter().fold(self.repeat_ns, |longest, interval| longest.max(*interval))
    }

    /// Returns the number of messages up to the first one that is due at `budget_ns` or later, which ends a trial, the time of that
    /// message in nanoseconds, and the mean bytes of a message.
    pub fn until(&self, budget_ns: u64) -> (u64, u64, usize) {
        let (mut number, mut due_ns, mut bytes) = (0, 0, 0);
        loop {
            due_ns += self.interval_ns(number);
            bytes += self.bytes(number);
            number += 1;
            if due_ns >= budget_ns {
                return (number, due_ns, bytes / number as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Schedule;
    use crate::size_sequence::SizeSequence;
    use furlong_model::{Arrival, Replay, RequestedConditions, Wait};
    use std::sync::Arc;

    #[test]
    fn messages_keep_their_times_and_sizes_and_are_repeated() {
        let replay = ReplayedMessages::new(&[10, 30, 30, 110], &[64, 100, 65, 4096], 500);
        let replay = Arc::new(replay);
        let arrival = Arrival::Trace { interval_ns: 1, longest_ns: 1 };
        let mut schedule = Schedule::new(arrival, Wait::Block, 3).replaying(Some(Arc::clone(&replay)));
        let mut due = 1000;
        let times: Vec<u64> = (0..6)
            .map(|_| {
                due = schedule.next_ns(due, 0);
                due
            })
            .collect();
        // The mean interval at half speed is 66 ns.
        assert_eq!(times, [1020, 1060, 1060, 1220, 1286, 1326]);
        assert_eq!((replay.duration_ns(), replay.longest_ns()), (220, 160));
        assert_eq!((replay.until(60), replay.until(287)), ((2, 60, 82), (6, 326, 748)));
        let trace = Replay {
            file: "f".to_owned(),
            digest: 1,
            link: String::new(),
            speed_thousandths: 500,
            sizes_bytes: [64, 4096],
            mean_bytes: 1,
            largest_line: 1,
        };
        let conditions = RequestedConditions::from(trace.condition());
        let mut sizes = SizeSequence::new(conditions.size_mix().unwrap(), 7).replaying(Some(&replay), 0);
        sizes.begin_at(5);
        assert_eq!((5..10).map(|number| sizes.bytes(number)).collect::<Vec<_>>(), [64, 100, 65, 4096, 64]);
        // The classes are 64, 128 and so on, up to 4096 bytes.
        assert_eq!((5..9).map(|number| sizes.class(number)).collect::<Vec<_>>(), [0, 1, 1, 6]);
    }
}
