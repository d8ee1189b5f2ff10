//! A memfd for each message, which the receiver duplicates out of the sender's descriptor table.
//!
//! The sender writes the message into a new memfd and publishes its descriptor number. The receiver duplicates the descriptor
//! with `pidfd_getfd`, maps the object, reads and unmaps it. The cost of a message is that of creating, mapping and freeing the
//! object, as with `scm-rights`, so expect its times. For short messages they are three times those of a mailbox if both
//! processes block, and fifty times and more if both busy-wait. For large messages they are two times and more in both cases.
//! The sender need not trust the receiver with its memory, but the receiver needs the right to trace the sender.

use crate::memory::doorbell::Doorbell;
use crate::memory::layout::lending::ZeroCopyEnd;
use crate::memory::layout::slot_pair::{self, SlotPair, region_bytes};
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Family, Limits, Reach, Unavailable};
use furlong_os::handle::close;
use furlong_os::linux::segment::{length, object_with};
use furlong_os::linux::{pidfd, remote_memory};
use furlong_os::memory::copy_out;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;
use std::marker::PhantomData;

/// Bytes of the published value: a descriptor number.
const NUMBER_BYTES: usize = 4;

/// The mechanism with a doorbell that reports published descriptors.
#[derive(Debug)]
pub struct PidfdGetfd<D>(PhantomData<D>);

impl<D: Doorbell> Mechanism for PidfdGetfd<D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "pidfd-getfd",
        summary: "a memfd for each message, fetched from the peer by pidfd_getfd",
        family: Family::RemoteMemory,
        waits: D::WAITS,
        calls: Calls {
            // The object of the previous message is closed after room for this one was claimed.
            send: &[Call::Once("memfd_create"), Call::Once("write"), Call::AtMostOnce("close")],
            receive: &[
                Call::Once("pidfd_getfd"),
                Call::Once("lseek"),
                Call::Once("mmap"),
                Call::Once("munmap"),
                Call::Once("close"),
            ],
            ..D::CALLS
        },
        peer_death: D::PEER_DEATH,
        reach: Reach::PidNamespace,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Numbers<D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe()?;
        let take = || {
            let object = object_with(&[1])?;
            pidfd::take_descriptor(pidfd::open(std::process::id() as i32)?.as_handle(), object.raw_handle())
        };
        take().map(|_| Limits::none()).map_err(|error| {
            Unavailable::new(
                format!("pidfd_getfd is refused here: {error}"),
                "needs Linux 5.6 or later; in a container, allow it in the seccomp profile (SYS_PTRACE)",
            )
        })
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new(slot_pair::DEPTH);
        let region = segment::share_nameless(specification, region_bytes(NUMBER_BYTES), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Numbers<D>> {
        remote_memory::allow_peers();
        let region = segment::attach_object(specification, &mut setup, region_bytes(NUMBER_BYTES))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let slots = SlotPair::new(&region, setup.role, NUMBER_BYTES, doorbell);
        Ok(Numbers { slots, peer: pidfd::open(setup.peer)?, published: None })
    }
}

/// An end that publishes descriptor numbers and duplicates the peer's descriptors.
#[derive(Debug)]
pub struct Numbers<D> {
    slots: SlotPair<D>,
    peer: Handle,
    /// The object of the latest message, which the peer may not have duplicated yet.
    published: Option<Handle>,
}

impl<D: Doorbell> Endpoint for Numbers<D> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let object = object_with(message)?;
        self.slots.claim().write(&object.raw_handle().to_le_bytes());
        if let Some(taken) = self.published.replace(object) {
            close(taken);
        }
        self.slots.publish(NUMBER_BYTES)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let (_, slot) = self.slots.peek()?;
        let mut number = [0; NUMBER_BYTES];
        slot.read(&mut number);
        let object = pidfd::take_descriptor(self.peer.as_handle(), i32::from_le_bytes(number))?;
        self.slots.release();
        let length = length(object.as_handle())?;
        copy_out(object.as_handle(), length, message)?;
        close(object);
        Ok(length)
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(self.slots.has_message())
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.slots.readiness(interest)
    }
}
