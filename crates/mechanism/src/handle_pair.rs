//! A descriptor to send through and one to receive from, shared by the mechanisms with one descriptor per direction.

use crate::EndpointSetup;
#[cfg(target_os = "linux")]
use crate::{Interest, LinkSpecification, NamedEnd};
use furlong_os::Handle;
#[cfg(target_os = "linux")]
use furlong_os::handle::{read, set_non_blocking, write};
#[cfg(target_os = "linux")]
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

#[cfg(target_os = "linux")]
/// Both descriptors of one role.
#[derive(Debug)]
pub struct HandlePair {
    /// Descriptor to send through.
    pub send: Handle,
    /// Descriptor to receive from.
    pub receive: Handle,
}

#[cfg(target_os = "linux")]
impl HandlePair {
    /// Makes both descriptors blocking or non-blocking. If the roles share an open object, they also share this flag, and both
    /// need the same value.
    pub fn new(send: Handle, receive: Handle, blocking: bool) -> io::Result<Self> {
        set_non_blocking(send.as_handle(), !blocking)?;
        set_non_blocking(receive.as_handle(), !blocking)?;
        Ok(HandlePair { send, receive })
    }

    /// Takes two shared objects from the set-up: the one for messages to the responder, and the one for messages back.
    pub fn from_shared(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        HandlePair::new(send, receive, specification.blocking)
    }

    /// Returns the descriptor to watch.
    pub fn readiness(&self, interest: Interest) -> BorrowedHandle<'_> {
        match interest {
            Interest::Readable => self.receive.as_handle(),
            Interest::Writable => self.send.as_handle(),
        }
    }
}

/// Takes an object to send through and one to receive from out of the set-up. Both roles have both objects.
pub(crate) fn shared(setup: &mut EndpointSetup) -> io::Result<(Handle, Handle)> {
    let (there, back) = (setup.descriptor()?, setup.descriptor()?);
    Ok(setup.send_and_receive(there, back))
}

/// Returns the end of a named object whose number is read from the first descriptor and written to the second.
#[cfg(target_os = "linux")]
pub(crate) fn named_bytes((reader, writer): (Handle, Handle)) -> io::Result<Box<dyn NamedEnd>> {
    Ok(Box::new(HandlePair::new(writer, reader, false)?))
}

#[cfg(target_os = "linux")]
impl NamedEnd for HandlePair {
    fn put(&mut self, number: u32) -> io::Result<()> {
        write(self.send.as_handle(), &number.to_ne_bytes()).map(drop)
    }

    fn take(&mut self) -> io::Result<u32> {
        let mut number = [0; size_of::<u32>()];
        match read(self.receive.as_handle(), &mut number)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(u32::from_ne_bytes(number)),
        }
    }
}
