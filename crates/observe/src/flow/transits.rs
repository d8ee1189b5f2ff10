//! Times from send calls to the receive calls that return the bytes.

use super::amounts::Amounts;
use std::collections::VecDeque;

/// Most sends or receives that wait for their counterparts.
const MOST: usize = 1 << 16;

/// Sends and receives of one flow, matched by their position in the sequence of bytes.
#[derive(Debug, Default)]
pub struct Transits {
    sends: Ends,
    receives: Ends,
    times: Amounts,
}

/// Transfers in their order.
#[derive(Debug, Default)]
struct Ends {
    position: u64,
    waiting: VecDeque<Transfer>,
}

/// Positions of the first byte and after the last byte, and time.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    first: u64,
    end: u64,
    time_ns: u64,
}

impl Ends {
    fn add(&mut self, amount: u64, time_ns: u64) {
        let first = self.position;
        self.position += amount;
        self.waiting.push_back(Transfer { first, end: self.position, time_ns });
    }

    /// Removes the first transfer, and moves the positions of all others back.
    fn realign(&mut self, by: u64) {
        self.waiting.pop_front();
        self.position = self.position.saturating_sub(by);
        for transfer in &mut self.waiting {
            transfer.first = transfer.first.saturating_sub(by);
            transfer.end = transfer.end.saturating_sub(by);
        }
    }
}

impl Transits {
    /// Adds a send of `amount` bytes, or messages without bytes, that began at this time.
    pub fn send(&mut self, amount: u64, time_ns: u64) {
        self.sends.add(amount, time_ns);
        self.match_ends();
    }

    /// Adds a receive that returned at this time.
    pub fn receive(&mut self, amount: u64, time_ns: u64) {
        self.receives.add(amount, time_ns);
        self.match_ends();
    }

    /// Forgets transfers without counterparts, because some were not seen.
    pub fn forget(&mut self) {
        (self.sends, self.receives) = Default::default();
    }

    /// Forgets the times. Returns whether a transfer may still find its counterpart.
    pub fn begin_interval(&mut self) -> bool {
        self.times = Amounts::default();
        !(self.sends.waiting.is_empty() && self.receives.waiting.is_empty())
    }

    /// Returns the times in nanoseconds.
    pub fn times(&self) -> &Amounts {
        &self.times
    }

    fn match_ends(&mut self) {
        while let (Some(&sent), Some(&received)) = (self.sends.waiting.front(), self.receives.waiting.front())
        {
            if received.time_ns < sent.time_ns {
                // The bytes were sent before the observation began, so the positions do not correspond.
                self.receives.realign(received.end.saturating_sub(sent.first));
                continue;
            }
            if sent.end <= received.end {
                self.times.add(received.time_ns - sent.time_ns);
                self.sends.waiting.pop_front();
            }
            if received.end <= sent.end {
                self.receives.waiting.pop_front();
            }
        }
        if self.sends.waiting.len().max(self.receives.waiting.len()) > MOST {
            self.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_are_matched_with_the_receive_of_their_last_byte() {
        let mut transits = Transits::default();
        transits.send(100, 10);
        transits.receive(60, 30);
        transits.receive(40, 50);
        // The receiver may return first, and one receive may return several messages.
        transits.receive(20, 90);
        transits.send(10, 60);
        transits.send(10, 70);
        let mut expected = Amounts::default();
        [40, 30, 20].into_iter().for_each(|time_ns| expected.add(time_ns));
        assert_eq!(transits.times().percentiles(), expected.percentiles());
        assert_eq!(transits.times().count(), 3);
    }

    #[test]
    fn bytes_in_flight_at_the_beginning_do_not_shift_times() {
        let mut transits = Transits::default();
        transits.receive(500, 5);
        for round in 1..=10 {
            transits.send(100, round * 100);
            transits.receive(100, round * 100 + 7);
        }
        assert_eq!(transits.times().percentiles().map(|found| (found.p50, found.max)), Some((7, 7)));
        assert_eq!(transits.times().count(), 10);
    }
}
