//! Links that live for one message: made, both ends opened, one message carried, both ends closed, and the link removed.
//!
//! One process does all of it, so that nobody waits and nobody is started: what is timed is what a design pays that makes a
//! link for each request, beside handing an end to the other process. A link has a name that the one before it has given
//! up. The loop makes three calls through pointers for each link, which are short next to its many system calls.

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
    /// Links like this.
    fn new(built_in: &BuiltIn, specification: &LinkSpecification, wait: Wait) -> io::Result<ShortLived> {
        Ok(ShortLived {
            create: built_in.create,
            open_both: built_in.open_both,
            specification: specification.clone(),
            wait,
            process: std::process::id() as i32,
            received: Message::new(specification.largest_bytes())?,
        })
    }
}

/// The loops over links like this.
///
/// # Errors
/// If there is no memory.
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
        Err(io::Error::other(format!("{length} bytes came instead of {}", self.received.len())))
    }

    /// What the link has carried.
    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        message.copy_from_slice(&self.received);
        Ok(message.len())
    }

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        0
    }
}
