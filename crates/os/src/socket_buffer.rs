//! The two buffers of a socket, by name.

/// One of the two buffers of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// Data that was sent, and that the other end has not received yet.
    Send,
    /// Data that has arrived and was not read yet.
    Receive,
}
