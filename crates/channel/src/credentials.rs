//! Who a process is.

use std::fmt;

/// Who is at the other end, as the kernel knows it.
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
