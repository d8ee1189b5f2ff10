//! Who a process is.

use std::fmt;

/// Who is at the other end, as the kernel knows it.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// # use furlong_channel::{Channel, Options};
/// # let options = Options::new();
/// let [first, _second] = Channel::pair(&options)?;
/// let peer = Channel::from_descriptors(first, &options)?.peer();
/// assert_eq!(peer.process, std::process::id() as i32);
/// println!("{peer} is at the other end");
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// The number of the process that connected, listened, or made the pair.
    pub process: i32,
    /// The number of its user; Windows has none.
    #[cfg(unix)]
    pub user: u32,
    /// The number of its group; Windows has none.
    #[cfg(unix)]
    pub group: u32,
}

impl fmt::Display for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(unix)]
        return write!(f, "process {} of user {}", self.process, self.user);
        #[cfg(not(unix))]
        write!(f, "process {}", self.process)
    }
}
