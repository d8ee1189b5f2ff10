//! Whether the process at the other end is trusted to follow the protocol, as a type.

use crate::memory::Promise;

/// Whether the process at the other end is trusted to follow the protocol: [`UntrustedPeer`] or [`TrustedPeer`].
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Receiver, Trust};
///
/// /// Counts the messages of either kind of channel until it is closed.
/// fn count<T: Trust>(receiver: &mut Receiver<T>) -> usize {
///     let mut count = 0;
///     while receiver.recv_vec().is_ok() {
///         count += 1;
///     }
///     count
/// }
/// # use furlong_channel::{Channel, Options};
/// # let options = Options::new();
/// # let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// # let (mut first, mut second) = (first?, second?);
/// first.send(b"one")?;
/// drop(first);
/// assert_eq!(count(second.both().1), 1);
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
pub trait Trust: sealed::Seal + Copy + Send + 'static {}

/// The other process may write any value at any time into the shared memory. Messages are copied before they are used.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Options, UntrustedPeer};
///
/// let options = Options::new();
/// let [end, _other] = Channel::pair(&options)?;
/// let channel: Channel<UntrustedPeer> = Channel::from_descriptors(end, &options)?;
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy)]
pub struct UntrustedPeer(pub(crate) ());

/// The other process writes only to the memory that the protocol assigns to it. Messages can be written and read in
/// place.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Channel, Options, TrustedPeer};
///
/// let options = Options::new();
/// let [end, _other] = Channel::pair(&options)?;
/// // SAFETY: no process has the other end.
/// let mut channel: Channel<TrustedPeer> = unsafe { Channel::from_descriptors(end, &options)?.trust() };
/// let mut loan = channel.loan(5)?;
/// loan.copy_from_slice(b"hello");
/// loan.commit();
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TrustedPeer(pub(crate) Promise);

impl Trust for UntrustedPeer {}
impl Trust for TrustedPeer {}

mod sealed {
    pub trait Seal {}
    impl Seal for super::UntrustedPeer {}
    impl Seal for super::TrustedPeer {}
}
