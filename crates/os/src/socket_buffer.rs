//! The two buffers of a socket, by name.

/// Which of a socket's two buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// What was sent and not yet taken by the other end.
    Send,
    /// What has arrived and was not yet read.
    Receive,
}
