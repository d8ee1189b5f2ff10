//! Mailslots, which carry messages in one direction: one for each direction.
//!
//! A write copies the message into kernel memory, and a read copies it out. Windows documents no capacity of a mailslot, so
//! furlong relies on room for one message. Expect the figures of `named-pipe-message`.

use crate::{DIRECTIONS, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Reach, Unavailable, Wait};
use furlong_os::identity::random;
use furlong_os::windows::mailslot::{mailslot, read_without_waiting, receive};
use furlong_os::{AsHandle, Handle, handle};
use std::io;

/// A mailslot in each direction.
#[derive(Debug)]
pub struct Mailslot;

impl Mechanism for Mailslot {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "mailslot",
        summary: "mailslots, one each way",
        family: Family::Queue,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        calls: Calls::of(&[Call::Once("WriteFile")], &[Call::Once("ReadFile")]),
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::FileSystem,
        ..Capabilities::DEFAULT
    };
    type Endpoint = MailslotPair;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(largest().map_or_else(Limits::none, |bytes| {
            Limits::at(bytes, "a mailslot of this system rejects messages four times as long", "")
        }))
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::of(1); 2]);
        let [there, back] = DIRECTIONS.map(|way| mailslot(&format!("{}-{way}", specification.name)));
        let (there, back) = (there?, back?);
        link.give_pair((back.0, there.0));
        link.give_pair((there.1, back.1));
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<MailslotPair> {
        let (reader, writer) = (setup.descriptor()?, setup.descriptor()?);
        if !specification.blocking {
            read_without_waiting(reader.as_handle())?;
        }
        Ok(MailslotPair { reader, writer })
    }
}

/// Returns the largest of a few sizes that a mailslot accepts, determined by trial. Returns `None` if it accepts the first
/// size, or none at all, which shows as soon as it is used. Windows reports no limit, and Wine has that of a socket beneath.
fn largest() -> Option<usize> {
    const MOST_BYTES: usize = 16 << 20;
    let takes = |bytes: &usize| -> io::Result<usize> {
        let name = format!("furlong-probe-{:016x}", random()?);
        let (_reader, writer) = mailslot(&name)?;
        handle::write(writer.as_handle(), &vec![0; *bytes])
    };
    let sizes = std::iter::successors(Some(MOST_BYTES), |bytes| Some(bytes / 4)).take(6);
    sizes
        .into_iter()
        .find(|bytes| takes(bytes).is_ok_and(|count| count == *bytes))
        .filter(|bytes| *bytes < MOST_BYTES)
}

/// A mailslot to read from, and the other role's mailslot to write to.
#[derive(Debug)]
pub struct MailslotPair {
    reader: Handle,
    writer: Handle,
}

impl Endpoint for MailslotPair {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match handle::write(self.writer.as_handle(), message)? {
            count if count == message.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        receive(self.reader.as_handle(), message)
    }
}
