//! Who a process is.

/// Who is at the other end, as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// The number of the process that connected, listened, or made the pair.
    pub process: i32,
    /// The number of its user.
    pub user: u32,
    /// The number of its group.
    pub group: u32,
}
