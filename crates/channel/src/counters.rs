//! Counters of one end, for programs that monitor themselves.

/// The number of waits, sleeps and wake-ups of one end since its creation. The end counts only when it waits or makes a
/// system call, so other messages have no overhead.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{OneWayDescriptors, Options, Receiver, Sender, WaitStrategy};
/// # use std::time::Duration;
/// let options = Options::new().waiting(WaitStrategy::Park);
/// let [one, other] = OneWayDescriptors::pair(&options)?;
/// let mut sender = Sender::from_descriptors(one, &options)?;
/// let mut receiver = Receiver::from_descriptors(other, &options)?;
/// sender.send(b"hello")?;
/// receiver.recv_vec()?;
/// assert_eq!(receiver.counters().waits, 0);
/// let _ = receiver.recv_timeout(&mut [0; 8], Duration::from_millis(1));
/// assert_eq!((receiver.counters().waits, receiver.counters().sleeps), (1, 1));
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Waits for a message or for room that outlasted the first 512 checks, which take some microseconds. An end that
    /// sleeps at once makes no such checks. Calls that do not wait, and waits for the descriptor with poll or epoll,
    /// are not counted.
    pub waits: u64,
    /// Number of times this end went to sleep: one system call each. A sleep lasts at most 40 milliseconds.
    pub sleeps: u64,
    /// Number of times this end woke the other end: one system call each.
    pub wake_ups: u64,
}
