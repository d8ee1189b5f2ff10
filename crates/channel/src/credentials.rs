//! The identity of a process.

use std::fmt;

/// The process at the other end, as reported by the kernel.
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
    /// PID of the process that connected, listened or created the pair.
    pub process: i32,
    /// Its user ID. Not available on Windows.
    #[cfg(unix)]
    pub user: u32,
    /// Its group ID. Not available on Windows.
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
