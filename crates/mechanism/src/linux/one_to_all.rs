//! Links over which one call, or one set of calls, hands a message to every receiver: what those share that have an end for each
//! receiver.
//!
//! All receivers inherit the ends of all. Each takes the next place as it opens its own, and closes the others.

use crate::streams::byte_stream::ByteStream;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Message};
use furlong_model::Role;
use furlong_os::handle::{read, write};
use furlong_os::linux::pipe;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// Bytes of a place in the pipe that hands places out.
const PLACE_BYTES: usize = 2;

/// Gives each receiver one of these ends.
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
    // Small enough that a reader takes a whole one.
    if read(places.as_handle(), &mut place)? != PLACE_BYTES {
        let receivers = specification.receivers;
        return Err(io::Error::other(format!(
            "the link was made for {receivers} receivers, and all have come"
        )));
    }
    let mut ends = setup.descriptors(specification.receivers)?;
    Ok(ends.swap_remove(u16::from_le_bytes(place) as usize))
}

/// What hands a message to every receiver.
pub trait ToAll {
    /// Sends the whole message to all.
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    fn send(&mut self, message: &mut Message) -> io::Result<()>;
}

/// Opens an end of a link with a stream to each receiver, and a pipe back: what hands messages to all is made of the ends of those
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
            Ok(OneToAll::Sender(to_all, ByteStream::of_reader(back)?))
        }
        Role::Responder => {
            let own = take_own(specification, &mut setup)?;
            Ok(OneToAll::Receiver(ByteStream::new(own, back, true)?))
        }
    }
}

/// An end of a link from one to all, and back from whoever answers.
#[derive(Debug)]
pub enum OneToAll<A, E> {
    /// Who sends to all, and the end by which answers come.
    Sender(A, E),
    /// One of those who receive.
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
