//! A descriptor to send by and one to receive by: what all that has one for each direction shares.

use crate::EndpointSetup;
#[cfg(target_os = "linux")]
use crate::{Interest, LinkSpecification};
use furlong_os::Handle;
#[cfg(target_os = "linux")]
use furlong_os::handle::set_non_blocking;
#[cfg(target_os = "linux")]
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

#[cfg(target_os = "linux")]
/// Both, from one role's side.
#[derive(Debug)]
pub struct HandlePair {
    /// To send by.
    pub send: Handle,
    /// To receive by.
    pub receive: Handle,
}

#[cfg(target_os = "linux")]
impl HandlePair {
    /// Has both wait inside their calls, or not. Where both roles share an open object they share that flag too, and
    /// want the same.
    pub fn new(send: Handle, receive: Handle, blocking: bool) -> io::Result<Self> {
        set_non_blocking(send.as_handle(), !blocking)?;
        set_non_blocking(receive.as_handle(), !blocking)?;
        Ok(HandlePair { send, receive })
    }

    /// Takes two objects that both roles have from the set-up: the one for the way there, and the one for the way back.
    pub fn of_shared(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        HandlePair::new(send, receive, specification.blocking)
    }

    /// What to watch.
    pub fn readiness(&self, interest: Interest) -> BorrowedHandle<'_> {
        match interest {
            Interest::Readable => self.receive.as_handle(),
            Interest::Writable => self.send.as_handle(),
        }
    }
}

/// Takes from the set-up an object to send by and one to receive by, of two that both roles have.
pub(crate) fn shared(setup: &mut EndpointSetup) -> io::Result<(Handle, Handle)> {
    let (there, back) = (setup.descriptor()?, setup.descriptor()?);
    Ok(setup.send_and_receive(there, back))
}
