//! A descriptor to send by and one to receive by: what all that has one for each direction shares.

use crate::{EndpointSetup, Interest, LinkSpecification};
use furlong_os::descriptor::set_non_blocking;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Both, from one role's side.
#[derive(Debug)]
pub(crate) struct HandlePair {
    /// To send by.
    pub send: OwnedFd,
    /// To receive by.
    pub receive: OwnedFd,
}

impl HandlePair {
    /// Has both wait inside their calls, or not. Where both roles share an open object they share that flag too, and
    /// want the same.
    pub fn new(send: OwnedFd, receive: OwnedFd, blocking: bool) -> io::Result<Self> {
        set_non_blocking(send.as_fd(), !blocking)?;
        set_non_blocking(receive.as_fd(), !blocking)?;
        Ok(HandlePair { send, receive })
    }

    /// Takes two objects that both roles have from the set-up: the one for the way there, and the one for the way back.
    pub fn of_shared(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        HandlePair::new(send, receive, specification.blocking)
    }

    /// What to watch.
    pub fn readiness(&self, interest: Interest) -> BorrowedFd<'_> {
        match interest {
            Interest::Readable => self.receive.as_fd(),
            Interest::Writable => self.send.as_fd(),
        }
    }
}

/// Takes from the set-up an object to send by and one to receive by, of two that both roles have.
pub(crate) fn shared(setup: &mut EndpointSetup) -> io::Result<(OwnedFd, OwnedFd)> {
    let (there, back) = (setup.descriptor()?, setup.descriptor()?);
    Ok(setup.send_and_receive(there, back))
}
