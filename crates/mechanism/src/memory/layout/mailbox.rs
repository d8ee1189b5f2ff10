//! A mailbox: one message each way in shared memory.
//!
//! The sender copies a message in and the receiver copies it out. No system call moves data, so what a row
//! costs is its doorbell, two copies, and the cache lines that travel between the cores. Expect a spinning row
//! across cores to take two to three times the bare transfer of a cache line, and a sleeping one to take what
//! any sleeping mechanism takes: the wake-up. Writable by both ends, so only for processes that trust each
//! other.

use super::post::{INLINE_BYTES, Post};
use crate::memory::HEAD_BYTES;
use crate::memory::doorbell::Doorbell;
use crate::memory::segment::Segment;
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Copies, Family, KernelBuffer, Limits, Unavailable, WhenFull};
use furlong_os::BorrowedHandle;
use furlong_os::shared_place::Stretch;
use std::io;
use std::marker::PhantomData;

/// A mailbox in a segment `S` with a doorbell `D`.
#[derive(Debug)]
pub struct Mailbox<S, D>(PhantomData<(S, D)>);

/// Bytes of the part of a message that does not fit in the post, padded so that no two parts share a line (or
/// a pair of lines: processors fetch those together).
fn tail_bytes(size_bytes: usize) -> usize {
    size_bytes.saturating_sub(INLINE_BYTES).next_multiple_of(128)
}

/// Bytes of a region for messages of up to `size_bytes`.
fn region_bytes(size_bytes: usize) -> usize {
    HEAD_BYTES + 2 * tail_bytes(size_bytes)
}

impl<S: Segment, D: Doorbell> Mechanism for Mailbox<S, D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: S::NAME,
        summary: S::SUMMARY,
        family: Family::Memory,
        waits: D::WAITS,
        boundaries: true,
        fixed_size_bytes: None,
        calls: D::CALLS,
        buffer: KernelBuffer::None,
        copies: Copies::Two,
        when_full: WhenFull::Waits,
        peer_death: D::PEER_DEATH,
        reach: S::REACH,
        lifetime: S::LIFETIME,
        start: S::START,
    };
    type Endpoint = Mailboxes<D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe()?;
        S::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new();
        let region = S::create(specification, region_bytes(specification.largest_bytes()), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Mailboxes<D>> {
        let region = S::attach(&mut setup, region_bytes(specification.largest_bytes()))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let tail = tail_bytes(specification.largest_bytes());
        let [own_tail, other_tail] = [setup.role, setup.role.peer()]
            .map(|role| Stretch::new(&region, HEAD_BYTES + role.index() * tail, tail));
        Ok(Mailboxes { post: Post::new(&region, setup.role, doorbell), own_tail, other_tail })
    }
}

/// A mailbox to fill and one to empty.
#[derive(Debug)]
pub struct Mailboxes<D> {
    post: Post<D>,
    own_tail: Stretch,
    other_tail: Stretch,
}

impl<D: Doorbell> Endpoint for Mailboxes<D> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.post.await_room();
        let message = &message[..];
        let (inline, tail) = message.split_at(message.len().min(INLINE_BYTES));
        if !tail.is_empty() {
            self.own_tail.write(tail);
        }
        self.post.publish(message.len(), inline)
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let len = self.post.await_message()?;
        let message = &mut message[..];
        let room = if len < message.len() { shorter(len) } else { message.len() };
        let (inline, tail) = message[..room].split_at_mut(room.min(INLINE_BYTES));
        self.post.read_inline(inline);
        if !tail.is_empty() {
            self.other_tail.read(tail);
        }
        self.post.take();
        Ok(len)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        self.post.readiness(interest)
    }
}

/// A message shorter than its room. Kept out of the way, so that the processor foresees the usual length and
/// copies without waiting to be told it.
#[cold]
fn shorter(len: usize) -> usize {
    len
}
