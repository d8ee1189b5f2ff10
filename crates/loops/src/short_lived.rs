//! Links that live for one message: made, both ends opened, one message carried, both ends closed, and the link removed.
//!
//! One process does all of it, so that nobody waits and nobody is started: what is timed is what a design pays that makes a
//! link for each request, beside handing an end to the other process. A link has a name that the one before it has given
//! up. The loop makes two calls through pointers for each link, which are short next to its many system calls.

use crate::both_ends::carry;
use crate::channel::Channel;
use crate::message_loop::MessageLoop;
use crate::waiting::{OpenEndpoint, Waiting};
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Role, Wait};
use std::io;

/// [`Mechanism::create`].
pub type Create = fn(&LinkSpecification) -> io::Result<Link>;

/// Opens both ends of a link in the process with this PID, passes a message through it and returns the length of the message
/// that arrived.
pub type CarryOnce = fn(Link, &LinkSpecification, Wait, i32, &mut Message, &mut Message) -> io::Result<usize>;

/// The life of one link of a mechanism once it is created.
pub fn carry_once<M: Mechanism>(
    link: Link,
    specification: &LinkSpecification,
    wait: Wait,
    process: i32,
    message: &mut Message,
    received: &mut Message,
) -> io::Result<usize> {
    carry_between(M::open, link, specification, wait, process, message, received)
}

/// Compiled for a type of endpoint, which many mechanisms share.
fn carry_between<E: Endpoint>(
    open: OpenEndpoint<E>,
    mut link: Link,
    specification: &LinkSpecification,
    wait: Wait,
    process: i32,
    message: &mut Message,
    received: &mut Message,
) -> io::Result<usize> {
    let mut end = |role| {
        let setup = EndpointSetup { role, handles: link.take_end(role), peer: process };
        Waiting::open(open, specification, setup, wait)
    };
    let (mut initiator, mut responder) = (end(Role::Initiator)?, end(Role::Responder)?);
    carry((&mut initiator, message), (&mut responder, received))
}

/// What sends each message through a link of its own.
struct ShortLived {
    create: Create,
    carry_once: CarryOnce,
    specification: LinkSpecification,
    wait: Wait,
    process: i32,
    received: Message,
}

impl ShortLived {
    /// Links like this.
    fn new(
        (create, carry_once): (Create, CarryOnce),
        specification: &LinkSpecification,
        wait: Wait,
    ) -> io::Result<ShortLived> {
        Ok(ShortLived {
            create,
            carry_once,
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
    link: (Create, CarryOnce),
    specification: &LinkSpecification,
    wait: Wait,
) -> io::Result<MessageLoop> {
    Ok(MessageLoop::OneEnd(Box::new(ShortLived::new(link, specification, wait)?)))
}

impl Channel for ShortLived {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let ShortLived { specification, wait, process, received, .. } = self;
        let link = (self.create)(specification)?;
        let length = (self.carry_once)(link, specification, *wait, *process, message, received)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_mechanism::list::{Visitor, visit_all};
    use furlong_model::{Access, Start};
    use furlong_os::AsHandle;
    use furlong_os::process::{Bond, Exit, fork};
    use std::path::Path;

    fn specification(folder: &Path, blocking: bool) -> LinkSpecification {
        LinkSpecification {
            name: format!("furlong-{:016x}", u64::from(std::process::id())),
            key: (std::process::id() as i32) << 1 | 1 << 30,
            sizes_bytes: [8; 2],
            depth: 1,
            receivers: 1,
            buffer_bytes: None,
            access: Access::Copy,
            blocking,
            folder: folder.to_owned(),
            file_folder: folder.to_owned(),
        }
    }

    fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }

    /// Links of every mechanism that carries data or 8 bytes, again and again.
    struct Each(std::path::PathBuf);

    impl Visitor for Each {
        fn visit<M: Mechanism>(&mut self) {
            let promised = &M::CAPABILITIES;
            let carries = promised.fixed_size_bytes.is_none_or(|size| size == 8);
            let wait = promised.waits[0];
            if promised.start == Start::Alone || !carries {
                return;
            }
            if let Err(lack) = M::probe() {
                let name = promised.name;
                let links = format_args!("short-lived links of {name}");
                return furlong_testing::skipped(links, format_args!("needs {name}: {}", lack.reason));
            }
            let specification = specification(&self.0, !wait.needs_non_blocking());
            let mut links = ShortLived::new((M::create, carry_once::<M>), &specification, wait).unwrap();
            let mut message = Message::new(8).unwrap();
            let before = descriptors();
            for number in 1..=20u64 {
                message.copy_from_slice(&number.to_le_bytes());
                links.send(&mut message).unwrap_or_else(|error| panic!("{}/{wait}: {error}", promised.name));
                message.fill(0);
                links.recv(&mut message).unwrap();
                assert_eq!(&message[..], number.to_le_bytes(), "{}/{wait}", promised.name);
            }
            assert_eq!(descriptors(), before, "{}/{wait} leaves descriptors", promised.name);
        }
    }

    #[test]
    fn each_link_carries_its_message_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // In a process of its own: there is one thread, which takes all signals, and nobody else opens descriptors.
        let mut child = fork(&[], std::io::stderr().as_handle(), Bond::DiesWithParent, || {
            visit_all(&mut Each(folder.path().to_owned()));
            0
        })
        .unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(0)));
        // Fails if something is left in it.
        std::fs::remove_dir(folder.path()).unwrap();
    }
}
