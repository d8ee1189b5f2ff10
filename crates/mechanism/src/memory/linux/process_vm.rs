//! Memory of the other process, read by system call.
//!
//! The sender publishes where its message lies, and the receiver fetches it with `process_vm_readv`: one copy,
//! no shared buffer, but a walk through the other's page tables in each call. Expect more than a pipe for small
//! messages and less for large ones. The sender must leave the message alone until it is fetched, and the
//! receiver needs the right to trace the sender.

use crate::memory::doorbell::Doorbell;
use crate::memory::layout::lending::Lending;
use crate::memory::layout::slot_pair::{self, SlotPair, region_bytes};
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Copies, Family, KernelBuffer, Lifetime, Limits, Reach, Start, Unavailable,
    WhenFull,
};
use furlong_os::BorrowedHandle;
use furlong_os::linux::remote_memory;
use std::io;
use std::marker::PhantomData;

/// What is published is where a message lies, not the message.
const ADDRESS_BYTES: usize = 8;

/// Reads straight from the peer's memory; a doorbell says when.
#[derive(Debug)]
pub struct ProcessVm<D>(PhantomData<D>);

impl<D: Doorbell> Mechanism for ProcessVm<D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "process-vm",
        summary: "process_vm_readv out of the other process's memory",
        family: Family::RemoteMemory,
        waits: D::WAITS,
        boundaries: true,
        fixed_size_bytes: None,
        calls: Calls { receive: &[Call::Once("process_vm_readv")], ..D::CALLS },
        buffer: KernelBuffer::None,
        copies: Copies::One,
        when_full: WhenFull::Waits,
        peer_death: D::PEER_DEATH,
        reach: Reach::PidNamespace,
        lifetime: Lifetime::Users,
        start: Start::Fresh,
    };
    type Endpoint = Window<D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe()?;
        let byte = [1u8];
        let mut copy = [0u8];
        match remote_memory::read(std::process::id() as i32, byte.as_ptr() as u64, &mut copy) {
            Ok(_) => Ok(Limits::none()),
            Err(error) => Err(Unavailable::new(
                format!("process_vm_readv is refused here: {error}"),
                "in a container, allow it in the seccomp profile (SYS_PTRACE)",
            )),
        }
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new(slot_pair::DEPTH);
        let region = segment::share_memfd(specification, region_bytes(ADDRESS_BYTES), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Window<D>> {
        remote_memory::allow_peers();
        let region = segment::attach_object(&mut setup, region_bytes(ADDRESS_BYTES))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let slots = SlotPair::new(&region, setup.role, ADDRESS_BYTES, doorbell);
        Ok(Window { slots, peer: setup.peer })
    }
}

/// Publishes addresses and reads from the peer's.
#[derive(Debug)]
pub struct Window<D> {
    slots: SlotPair<D>,
    peer: i32,
}

impl<D: Doorbell> Endpoint for Window<D> {
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
            match remote_memory::read(self.peer, from, &mut message[received..room])? {
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

    fn unread_buffers(&self, _size_bytes: usize) -> usize {
        1
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.slots.readiness(interest)
    }
}
