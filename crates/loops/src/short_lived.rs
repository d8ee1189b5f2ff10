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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::all_built_in;
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
            folder_fault: None,
        }
    }

    fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }

    /// Makes 20 links of a mechanism that carries data or 8 bytes.
    fn make_links(built_in: &BuiltIn, folder: &Path) {
        let promised = built_in.capabilities;
        let carries = promised.fixed_size_bytes.is_none_or(|size| size == 8);
        let wait = promised.waits[0];
        if promised.start == Start::Alone || !carries {
            return;
        }
        if let Err(lack) = (built_in.probe)() {
            let name = promised.name;
            let links = format_args!("short-lived links of {name}");
            return furlong_testing::skipped(links, format_args!("needs {name}: {}", lack.reason));
        }
        let specification = specification(folder, !wait.needs_non_blocking());
        let mut links = ShortLived::new(built_in, &specification, wait).unwrap();
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

    #[test]
    fn each_link_carries_its_message_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // In a process of its own: there is one thread, which takes all signals, and nobody else opens descriptors.
        let mut child = fork(&[], std::io::stderr().as_handle(), Bond::DiesWithParent, || {
            all_built_in().iter().for_each(|built_in| make_links(built_in, folder.path()));
            0
        })
        .unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(0)));
        // Fails if something is left in it.
        std::fs::remove_dir(folder.path()).unwrap();
    }
}
