//! Round trips over one of several links, with a receiver that waits among all of them.
//!
//! The next link is drawn at random, and both roles draw the same one, so the receiver knows on which link a message is due. It
//! waits for any link, finds the ready one, reads from it, and answers over it. The sender waits for that link alone, with
//! `poll` in every benchmark, so that benchmarks differ only in the receiver's wait strategy.

use crate::channel::Channel;
use crate::message_loop::{MessageLoop, no_end};
use crate::role_error::OtherLink;
use crate::stamp::mix;
use crate::waiting::{WaitingEndpoint, would_wait};
use furlong_mechanism::{Endpoint, EndpointSetup, Interest, LinkSpecification, Mechanism, Message};
use furlong_model::{Role, Wait};
use furlong_os::BorrowedHandle;
use furlong_os::linux::readiness::Epoll;
use furlong_os::linux::ready_set::{PollSet, RingSet, SelectSet, out_of_the_way};
use std::io;

/// Random sequence of the links that are used.
#[derive(Debug)]
struct Order {
    key: u64,
    links: u64,
    drawn: u64,
}

impl Order {
    /// Returns the next link. Each link is equally likely.
    #[inline]
    fn next(&mut self) -> usize {
        self.drawn += 1;
        (((mix(self.key ^ self.drawn) >> 32) * self.links) >> 32) as usize
    }
}

/// An end that a process can wait for among others. The loops call it through a pointer, which is short compared with the
/// system calls of a message and of the wait.
trait Watchable: Channel {
    /// Receives a message like [`WaitingEndpoint::try_recv`].
    fn try_recv(&mut self, message: &mut Message) -> io::Result<usize>;

    /// Returns the descriptor to watch, like [`WaitingEndpoint::readiness`].
    fn readable(&self) -> Option<BorrowedHandle<'_>>;
}

impl<E: Endpoint> Watchable for WaitingEndpoint<E> {
    fn try_recv(&mut self, message: &mut Message) -> io::Result<usize> {
        WaitingEndpoint::try_recv(self, message)
    }

    fn readable(&self) -> Option<BorrowedHandle<'_>> {
        self.readiness(Interest::Readable)
    }
}

/// The ends of all links, and the index of the last one used.
struct Ends {
    all: Vec<Box<dyn Watchable>>,
    order: Order,
    last: usize,
}

/// The sender, which sends each message over the next link.
struct Sender(Ends);

/// The receiver, which waits for all links.
struct Receiver {
    ends: Ends,
    watched: ReceiverWait,
}

/// Wait strategy of the receiver, with its kernel object.
enum ReceiverWait {
    Select(SelectSet),
    Poll(PollSet),
    Epoll(Epoll),
    Ring(RingSet),
}

impl ReceiverWait {
    fn new(descriptors: &[BorrowedHandle<'_>], wait: Wait) -> io::Result<ReceiverWait> {
        Ok(match wait {
            Wait::Select => ReceiverWait::Select(SelectSet::new(descriptors)?),
            Wait::Epoll => ReceiverWait::Epoll(Epoll::new(descriptors, Interest::Readable)?),
            Wait::IoUring => ReceiverWait::Ring(RingSet::new(descriptors)?),
            _ => ReceiverWait::Poll(PollSet::new(descriptors)),
        })
    }

    /// Blocks until a message or a part of one is available, and returns its link.
    #[inline]
    fn wait(&mut self) -> io::Result<usize> {
        match self {
            ReceiverWait::Select(set) => set.wait(),
            ReceiverWait::Poll(set) => set.wait(),
            ReceiverWait::Epoll(set) => set.wait(),
            ReceiverWait::Ring(set) => set.wait(),
        }
    }
}

/// Opens a role's ends of all links, and returns its loops.
///
/// # Errors
/// Returns an error if an end cannot be opened or watched.
pub fn open<M: Mechanism>(
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
    key: u64,
) -> io::Result<MessageLoop> {
    among_several(specifications, setups, wait, key, |specification, setup| {
        Ok(Box::new(WaitingEndpoint::open(M::open, specification, setup, Wait::Poll)?))
    })
}

fn among_several(
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
    key: u64,
    open: fn(&LinkSpecification, EndpointSetup) -> io::Result<Box<dyn Watchable>>,
) -> io::Result<MessageLoop> {
    let role = setups.first().ok_or_else(no_end)?.role;
    let is_selected = role == Role::Responder && wait == Wait::Select;
    let mut all = Vec::new();
    for (specification, mut setup) in specifications.iter().zip(setups) {
        if is_selected {
            let handles = setup.handles.descriptors.into_iter();
            setup.handles.descriptors = handles.map(out_of_the_way).collect::<io::Result<_>>()?;
        }
        all.push(open(specification, setup)?);
    }
    let order = Order { key, links: all.len() as u64, drawn: 0 };
    let ends = Ends { all, order, last: 0 };
    Ok(match role {
        Role::Initiator => MessageLoop::Initiator(Box::new(Sender(ends))),
        Role::Responder => {
            let descriptors: Option<Vec<_>> = ends.all.iter().map(|end| end.readable()).collect();
            let watched = ReceiverWait::new(&descriptors.ok_or_else(no_end)?, wait)?;
            MessageLoop::Responder(Box::new(Receiver { ends, watched }))
        }
    })
}

impl Ends {
    #[inline(always)]
    fn last(&mut self) -> &mut dyn Watchable {
        &mut *self.all[self.last]
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.all.iter().map(|end| end.unread_buffers(size_bytes)).max().unwrap_or_default()
    }
}

impl Channel for Sender {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.0.last = self.0.order.next();
        self.0.last().send(message)
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.0.last().recv(message)
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.0.unread_buffers(size_bytes)
    }
}

impl Channel for Receiver {
    /// Sends over the link of the last received message.
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.ends.last().send(message)
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let due = self.ends.order.next();
        loop {
            self.ends.last = self.watched.wait()?;
            match self.ends.last().try_recv(message) {
                Ok(length) if self.ends.last == due => return Ok(length),
                Ok(_) => return Err(self.other_link(due)),
                // A large message arrives in parts.
                Err(error) => would_wait(error)?,
            }
        }
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.ends.unread_buffers(size_bytes)
    }
}

impl Receiver {
    #[cold]
    #[inline(never)]
    fn other_link(&self, due: usize) -> io::Error {
        let Ends { order, last, .. } = &self.ends;
        io::Error::other(OtherLink { message: order.drawn, due: due + 1, came: last + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_roles_draw_the_same_and_every_link_is_drawn_about_as_often() {
        const LINKS: usize = 7;
        let order = |key| Order { key, links: LINKS as u64, drawn: 0 };
        let (mut one, mut other, mut unlike) = (order(5), order(5), order(6));
        let mut often = [0; LINKS];
        let mut alike = 0;
        for _ in 0..7_000 {
            let link = one.next();
            assert_eq!(link, other.next());
            alike += usize::from(link == unlike.next());
            often[link] += 1;
        }
        assert!(often.iter().all(|times| (800..1_200).contains(times)), "{often:?}");
        assert!((800..1_200).contains(&alike), "{alike}");
    }
}
