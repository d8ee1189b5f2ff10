//! Messages that stay in their sender's memory: the sender publishes the address, and the receiver reads it with a system call.
//!
//! The sender must not change the message until it is read, and the receiver needs the right to trace the sender.

use crate::memory::doorbell::Doorbell;
use crate::memory::layout::lending::ZeroCopyEnd;
use crate::memory::layout::slot_pair::{self, SlotPair, region_bytes};
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Copies, Family, Limits, Reach, Unavailable};
use furlong_os::BorrowedHandle;
use std::io;
use std::marker::PhantomData;

/// Bytes of the published value: the address of a message.
const ADDRESS_BYTES: usize = 8;

/// A way to read the memory of another process.
pub trait Reader: Sized + 'static {
    /// Name of the mechanism.
    const NAME: &'static str;
    /// Summary of the mechanism in one line.
    const SUMMARY: &'static str;
    /// Whether programs use it so often that a run without a selection includes it.
    const IS_COMMON: bool;
    /// System call per message.
    const CALLS: &'static [Call];
    /// Name of the call, and the remedy if it is refused.
    const REFUSED: (&'static str, &'static str);

    /// Permits the other role to read this process's memory, if that is not permitted already.
    fn allow_peers() {}

    /// Creates a reader of the peer's memory. The peer may not have permitted the access yet.
    fn new(peer: i32) -> Self;

    /// Copies bytes from this address of the peer's memory, at least one byte.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// The mechanism with a way to read the peer's memory, and a doorbell that reports published addresses.
#[derive(Debug)]
pub struct PublishedAddress<R, D>(PhantomData<(R, D)>);

impl<R: Reader, D: Doorbell> Mechanism for PublishedAddress<R, D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: R::NAME,
        summary: R::SUMMARY,
        family: Family::RemoteMemory,
        waits: D::WAITS,
        calls: Calls { receive: R::CALLS, ..D::CALLS },
        copies: Copies::One,
        peer_death: D::PEER_DEATH,
        reach: Reach::PidNamespace,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = R::IS_COMMON;
    type Endpoint = Window<R, D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe()?;
        let byte = [1u8];
        let mut copy = [0u8];
        let (call, remedy) = R::REFUSED;
        match R::new(std::process::id() as i32).read(byte.as_ptr() as u64, &mut copy) {
            Ok(_) => Ok(Limits::none()),
            Err(error) => Err(Unavailable::call(call, &error, "a kernel that has it", remedy)),
        }
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new(slot_pair::DEPTH);
        let region = segment::share_nameless(specification, region_bytes(ADDRESS_BYTES), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Window<R, D>> {
        R::allow_peers();
        let region = segment::attach_object(specification, &mut setup, region_bytes(ADDRESS_BYTES))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let slots = SlotPair::new(&region, setup.role, ADDRESS_BYTES, doorbell);
        Ok(Window { slots, reader: R::new(setup.peer) })
    }
}

/// An end that publishes addresses and reads from the peer's addresses.
#[derive(Debug)]
pub struct Window<R, D> {
    slots: SlotPair<D>,
    reader: R,
}

impl<R: Reader, D: Doorbell> Endpoint for Window<R, D> {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.slots.claim().write(&(message.as_ptr() as u64).to_le_bytes());
        self.slots.publish(message.len())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let (len, slot) = self.slots.peek()?;
        let mut address = [0; ADDRESS_BYTES];
        slot.read(&mut address);
        let mut from = u64::from_le_bytes(address);
        let room = len.min(message.len());
        let mut received = 0;
        while received < room {
            match self.reader.read(from, &mut message[received..room])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => {
                    received += count;
                    from += count as u64;
                }
            }
        }
        self.slots.release();
        Ok(len)
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(self.slots.has_message())
    }

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        1
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.slots.readiness(interest)
    }
}
