//! What an end has done until now, for programs that watch themselves.

/// The number of waits, sleeps and wake-ups of one end since it was made. They are counted where the end waits or makes a system call
/// anyway, so messages that need neither cost nothing.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{OneWayDescriptors, Options, Receiver, Sender, Waiting};
/// # use std::time::Duration;
/// let options = Options::new().waiting(Waiting::Park);
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
    /// Waits for a message or for room that outlasted the first 512 looks, which take some microseconds. An end that sleeps at once
    /// makes none of these looks. Calls that do not wait, and waits for a descriptor outside, are not counted.
    pub waits: u64,
    /// Times that this end went to sleep: one system call each. A sleep ends after 40 milliseconds at the latest.
    pub sleeps: u64,
    /// Times that this end woke the other end: one system call each.
    pub wake_ups: u64,
}
