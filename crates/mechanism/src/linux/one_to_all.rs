//! Links over which one call, or one set of calls, sends a message to every receiver: the parts shared by mechanisms with an
//! end for each receiver.
//!
//! All receivers inherit the ends of all receivers. Each takes the next index as it opens its own end, and closes the others.

use crate::streams::byte_stream::ByteStream;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Message};
use furlong_model::Role;
use furlong_os::handle::{read, write};
use furlong_os::linux::pipe;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// Bytes of an index in the pipe that distributes the indexes.
const PLACE_BYTES: usize = 2;

/// Distributes these ends among the receivers.
pub(crate) fn give_each(link: &mut Link, ends: Vec<Handle>) -> io::Result<()> {
    let (places, to_fill) = pipe::pipe()?;
    for place in 0..ends.len() as u16 {
        write(to_fill.as_handle(), &place.to_le_bytes())?;
    }
    link.give(Role::Responder, places);
    link.give_all(Role::Responder, ends);
    Ok(())
}

/// Takes the end of the next receiver.
pub(crate) fn take_own(specification: &LinkSpecification, setup: &mut EndpointSetup) -> io::Result<Handle> {
    let (places, mut place) = (setup.descriptor()?, [0; PLACE_BYTES]);
    // An index is small enough for an atomic read from the pipe.
    if read(places.as_handle(), &mut place)? != PLACE_BYTES {
        let receivers = specification.receivers;
        return Err(io::Error::other(format!(
            "the link is for {receivers} receivers, and all are connected"
        )));
    }
    let mut ends = setup.descriptors(specification.receivers)?;
    Ok(ends.swap_remove(u16::from_le_bytes(place) as usize))
}

/// The sending side of a link to every receiver.
pub trait ToAll {
    /// Sends the whole message to all receivers.
    ///
    /// # Errors
    /// Returns the errors of [`Endpoint::send`].
    fn send(&mut self, message: &mut Message) -> io::Result<()>;
}

/// Opens an end of a link with a stream to each receiver, and a pipe back. `to_all` makes the sending side from the ends of the
/// streams.
pub(crate) fn open_streams<A>(
    specification: &LinkSpecification,
    mut setup: EndpointSetup,
    to_all: impl FnOnce(Vec<Handle>) -> io::Result<A>,
) -> io::Result<OneToAll<A, ByteStream>> {
    let back = setup.descriptor()?;
    match setup.role {
        Role::Initiator => {
            let to_all = to_all(setup.descriptors(specification.receivers)?)?;
            Ok(OneToAll::Sender(to_all, ByteStream::from_reader(back)?))
        }
        Role::Responder => {
            let own = take_own(specification, &mut setup)?;
            Ok(OneToAll::Receiver(ByteStream::new(own, back, true)?))
        }
    }
}

/// An end of a link from one sender to all receivers, and back from the receiver that answers.
#[derive(Debug)]
pub enum OneToAll<A, E> {
    /// The sending side, and the end from which answers are read.
    Sender(A, E),
    /// The end of one receiver.
    Receiver(E),
}

impl<A: ToAll, E: Endpoint> Endpoint for OneToAll<A, E> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match self {
            OneToAll::Sender(to_all, _) => to_all.send(message),
            OneToAll::Receiver(end) => end.send(message),
        }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        match self {
            OneToAll::Sender(_, end) | OneToAll::Receiver(end) => end.recv(message),
        }
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        match self {
            OneToAll::Sender(_, end) | OneToAll::Receiver(end) => end.readiness(interest),
        }
    }
}
