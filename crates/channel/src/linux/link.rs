//! The connection of one end of a direction with the other end, in addition to the memory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A socket that is connected only with the other end of a direction. It hangs up when no process has that end any
/// more.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
    /// The process at the other end, because its forks may keep the socket open.
    process: Option<Arc<OwnedFd>>,
}

impl Link {
    /// Returns the links of all directions to one process.
    pub(crate) fn all<const N: usize>(sockets: [OwnedFd; N], process: Option<OwnedFd>) -> [Link; N] {
        let process = process.map(Arc::new);
        sockets.map(|socket| Link { socket, process: process.clone() })
    }

    /// Returns the pidfd of the process at the other end, if it is known.
    pub(crate) fn process(&self) -> Option<BorrowedFd<'_>> {
        self.process.as_ref().map(|process| process.as_fd())
    }
}

impl From<OwnedFd> for Link {
    fn from(socket: OwnedFd) -> Link {
        Link { socket, process: None }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
