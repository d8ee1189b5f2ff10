//! A descriptor to send by and one to receive by: what all that has one for each direction shares.

use crate::{EndpointSetup, Interest, LinkSpecification};
use furlong_os::descriptor::set_non_blocking;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Both, from one role's side.
#[derive(Debug)]
pub(crate) struct TwoWays {
    /// To send by.
    pub send: OwnedFd,
    /// To receive by.
    pub receive: OwnedFd,
}

impl TwoWays {
    /// Has both wait inside their calls, or not. Where both roles share an open object they share that flag too, and
    /// want the same.
    pub fn new(send: OwnedFd, receive: OwnedFd, blocking: bool) -> io::Result<Self> {
        set_non_blocking(send.as_fd(), !blocking)?;
        set_non_blocking(receive.as_fd(), !blocking)?;
        Ok(TwoWays { send, receive })
    }

    /// Takes two objects from the seat that both roles have: the one for the way there, and the one for the way back.
    pub fn of_shared(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        TwoWays::new(send, receive, specification.blocking)
    }

    /// What to watch.
    pub fn readiness(&self, interest: Interest) -> BorrowedFd<'_> {
        match interest {
            Interest::Readable => self.receive.as_fd(),
            Interest::Writable => self.send.as_fd(),
        }
    }
}

/// Takes from the seat an object to send by and one to receive by, of two that both roles have.
pub(crate) fn shared(setup: &mut EndpointSetup) -> io::Result<(OwnedFd, OwnedFd)> {
    let (there, back) = (setup.descriptor()?, setup.descriptor()?);
    Ok(setup.send_and_receive(there, back))
}
