//! An end whose role works on each message that it receives, for a requested time.

use crate::channel::Channel;
use crate::random::{exponential, normal};
use crate::schedule::spin_until;
use furlong_mechanism::Message;
use furlong_model::{Access, ServiceTime};
use furlong_os::clock;
use std::io;

/// A channel with a service time. It busy-waits after each message that it receives, because work occupies a CPU.
pub struct ServedChannel {
    channel: Box<dyn Channel>,
    time: ServiceTime,
    key: u64,
    number: u64,
}

impl ServedChannel {
    /// Creates a channel whose receiver works. `key` selects the random times.
    pub fn new(channel: Box<dyn Channel>, time: ServiceTime, key: u64) -> ServedChannel {
        ServedChannel { channel, time, key: key.rotate_left(16), number: 0 }
    }

    /// Returns the service time of the next message in nanoseconds.
    fn next_ns(&mut self) -> u64 {
        self.number += 1;
        let factor = match self.time {
            ServiceTime::Fixed(_) => 1.0,
            ServiceTime::Exponential(_) => exponential(self.key, self.number),
            ServiceTime::LogNormal { sigma_thousandths, .. } => {
                // The mean of a log-normal distribution is exp(mu + sigma^2 / 2).
                let sigma = f64::from(sigma_thousandths) / 1000.0;
                (sigma * normal(self.key, self.number) - sigma * sigma / 2.0).exp()
            }
        };
        (self.time.mean_ns() as f64 * factor).round() as u64
    }
}

impl Channel for ServedChannel {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.channel.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let length = self.channel.recv(message)?;
        let begin_ns = clock::now_ns();
        spin_until(begin_ns + self.next_ns());
        Ok(length)
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.channel.unread_buffers(size_bytes)
    }

    fn access(&self) -> Access {
        self.channel.access()
    }

    fn lost(&self) -> Option<u64> {
        self.channel.lost()
    }

    fn sent_again(&self) -> Option<u64> {
        self.channel.sent_again()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::ConditionKind;
    use furlong_model::RequestedConditions;

    /// An end that receives without waiting.
    struct Immediate;

    impl Channel for Immediate {
        fn send(&mut self, _message: &mut Message) -> io::Result<()> {
            Ok(())
        }

        fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
            Ok(message.len())
        }

        fn unread_buffers(&self, _size_bytes: usize) -> usize {
            0
        }
    }

    #[test]
    fn service_times_have_the_requested_mean_and_spread() {
        for (text, deviation) in [("fixed:5us", 0.0), ("exp:5us", 1.0), ("lognormal:5us,0.5", 0.533)] {
            let condition = ConditionKind::find("service-time").unwrap().read(text).unwrap();
            let time = RequestedConditions::from(condition).service_time().unwrap();
            let mut served = ServedChannel::new(Box::new(Immediate), time, 5);
            let times: Vec<f64> = (0..100_000).map(|_| served.next_ns() as f64 / 5_000.0).collect();
            let mean = times.iter().sum::<f64>() / 1e5;
            let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 1e5;
            assert!((mean - 1.0).abs() < 0.02, "{text}: {mean}");
            assert!((variance.sqrt() - deviation).abs() < 0.02, "{text}: {variance}");
        }
    }

    #[test]
    fn a_receiver_works_after_each_message() {
        let mut served = ServedChannel::new(Box::new(Immediate), ServiceTime::Fixed(200_000), 5);
        let mut message = Message::new(1).unwrap();
        let begin = clock::now_ns();
        for _ in 0..5 {
            served.recv(&mut message).unwrap();
        }
        assert!(clock::now_ns() - begin >= 1_000_000);
    }
}
