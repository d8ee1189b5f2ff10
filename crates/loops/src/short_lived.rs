//! Links that live for one message: created, both ends opened, one message carried, both ends closed, and the link removed.
//!
//! One process does all of this, so that no process waits or is started. The timed steps are the cost of a design that creates
//! a link for each request, without the cost of passing an end to the other process. A link has the name of the previous one,
//! which was removed. The loop makes three calls through pointers per link, which are short compared with its many system
//! calls.

use crate::built_in::{BuiltIn, OpenBoth};
use crate::channel::Channel;
use crate::message_loop::MessageLoop;
use furlong_mechanism::{EndpointSetup, Link, LinkSpecification, Message};
use furlong_model::{Role, Wait};
use std::io;

/// Sends each message through a separate link.
struct ShortLived {
    create: fn(&LinkSpecification) -> io::Result<Link>,
    open_both: OpenBoth,
    specification: LinkSpecification,
    wait: Wait,
    process: i32,
    received: Message,
}

impl ShortLived {
    /// Creates a channel over links with this specification.
    fn new(built_in: &BuiltIn, specification: &LinkSpecification, wait: Wait) -> io::Result<ShortLived> {
        Ok(ShortLived {
            create: built_in.create,
            open_both: built_in.open_both,
            specification: specification.clone(),
            wait,
            process: std::process::id() as i32,
            received: Message::for_link(specification)?,
        })
    }
}

/// Opens the loops over links with this specification.
///
/// # Errors
/// Returns an error if there is not enough memory.
pub fn open_short_lived(
    built_in: &BuiltIn,
    specification: &LinkSpecification,
    wait: Wait,
) -> io::Result<MessageLoop> {
    Ok(MessageLoop::OneEnd(Box::new(ShortLived::new(built_in, specification, wait)?)))
}

impl Channel for ShortLived {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut link = (self.create)(&self.specification)?;
        let ends = [Role::Initiator, Role::Responder].map(|role| EndpointSetup {
            role,
            handles: link.take_end(role),
            peer: self.process,
        });
        let mut ends = (self.open_both)(&self.specification, ends, self.wait)?;
        let length = ends.forth(message, &mut self.received)?;
        if length == self.received.len() {
            return Ok(());
        }
        Err(io::Error::other(format!("received {length} bytes instead of {}", self.received.len())))
    }

    /// Returns the message that the link has carried.
    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        message.copy_from_slice(&self.received);
        Ok(message.len())
    }

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        0
    }
}
