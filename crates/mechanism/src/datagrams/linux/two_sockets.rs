//! Links with separate sockets for each direction: one that sends to several receivers, and one that receives their answers.

use crate::datagrams::datagram::{make_room, receive_one, send_one};
use crate::handle_pair::HandlePair;
use crate::linux::one_to_all::give_each;
use crate::socket_link::{MessageBuffers, note_buffers};
use crate::{Endpoint, Interest, Link, LinkSpecification, Message};
use furlong_model::{Role, Room};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// The sockets of a link from one sender to several receivers.
pub(super) struct ToMembers {
    /// Socket of the initiator.
    pub sender: Handle,
    /// One socket per receiver.
    pub members: Vec<Handle>,
    /// A pair for answers: the receiving socket and the sending one.
    pub answers: (Handle, Handle),
}

impl ToMembers {
    /// Makes room in all sockets and makes a link of them. `room_of_each` returns one receiver's share of the room.
    pub(super) fn link(
        self,
        specification: &LinkSpecification,
        holds: MessageBuffers,
        room_of_each: impl FnOnce(Room) -> Room,
    ) -> io::Result<Link> {
        let ToMembers { sender, members, answers: (answered, answers) } = self;
        for socket in members.iter().chain([&sender, &answered, &answers]) {
            make_room(socket, specification)?;
        }
        let [there, back] = specification.sizes_bytes;
        let first = members[0].as_handle();
        let mut link = Link::new([
            room_of_each(holds.room(sender.as_handle(), first, there, true)?),
            holds.room(answers.as_handle(), answered.as_handle(), back, true)?,
        ]);
        note_buffers(&mut link, sender.as_handle(), first)?;
        link.give_pair((sender, answers));
        link.give(Role::Initiator, answered);
        give_each(&mut link, members)?;
        Ok(link)
    }
}

/// A socket to send through and one to receive from, each with one call per message.
#[derive(Debug)]
pub struct TwoSockets {
    ways: HandlePair,
}

impl TwoSockets {
    pub(super) fn new(send: Handle, receive: Handle, blocking: bool) -> io::Result<TwoSockets> {
        Ok(TwoSockets { ways: HandlePair::new(send, receive, blocking)? })
    }
}

impl Endpoint for TwoSockets {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        send_one(self.ways.send.as_handle(), message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        receive_one(self.ways.receive.as_handle(), message)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}
