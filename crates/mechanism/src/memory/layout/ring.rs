//! Two reference rings for one sender and one receiver in each direction, with slots of a fixed size. They are a yardstick for
//! libraries, because each is a textbook algorithm in a few lines.
//!
//! `lamport-ring` is the ring of Lamport (1977, 1983) with cached indices, as in MCRingBuffer (Lee, Bu and Chandranmenon,
//! 2010), rigtorp's SPSCQueue and rtrb: each end publishes its index after each message, and reads the other end's index only
//! if the ring seems full or empty. `batching-ring` adds the batching of MCRingBuffer: an end publishes its index once per
//! batch of 32 messages, and a sender without another message publishes at once. Expect both to be near a mailbox in a round
//! trip and many times faster one way. Expect the batching ring to be faster for small messages one way, because the cache line
//! of an index travels only once per batch.
//!
//! The ends busy-wait and trust each other: a length that the other end writes is not validated.

use crate::memory::doorbell::{Doorbell, Spin};
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Depth, Family, KernelBuffer, Limits, Role, Unavailable};
use furlong_os::cpu;
use furlong_os::memory::Region;
use furlong_os::shared_place::{HalfLine, Stretch};
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Padding of two cache lines, because the adjacent-line prefetcher would otherwise cause false sharing.
const APART: usize = 128;

/// Bytes in front of a message: its length.
const HEAD_BYTES: usize = 8;

/// Default bytes of a ring, and the minimum number of messages that it then holds.
const RING_BYTES: usize = 2 << 20;
const LEAST_SLOTS: usize = 4;

/// Capacity in bytes above which a ring is not enlarged to hold all messages in flight.
const LARGE_BYTES: usize = 64 << 20;

/// How often an end publishes its index.
pub trait Publication: 'static {
    /// The mechanism's name.
    const NAME: &'static str;
    /// The mechanism in one line.
    const SUMMARY: &'static str;
    /// Messages per publication.
    const BATCH: u32;
}

/// Publication after each message.
#[derive(Debug)]
pub struct Lamport;

impl Publication for Lamport {
    const NAME: &'static str = "lamport-ring";
    const SUMMARY: &'static str = "a textbook ring of fixed slots in a memfd, with cached indices";
    const BATCH: u32 = 1;
}

/// Publication after 32 messages.
#[derive(Debug)]
pub struct BatchedPublication;

impl Publication for BatchedPublication {
    const NAME: &'static str = "batching-ring";
    const SUMMARY: &'static str =
        "the ring of lamport-ring, whose ends publish their indices in batches of up to 32 messages";
    const BATCH: u32 = 32;
}

/// A ring in a memfd in each direction, whose ends publish as `P` specifies.
#[derive(Debug)]
pub struct ReferenceRing<P>(PhantomData<P>);

impl<P: Publication> Mechanism for ReferenceRing<P> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: P::NAME,
        summary: P::SUMMARY,
        family: Family::Memory,
        waits: Spin::WAITS,
        calls: Spin::CALLS,
        buffer: KernelBuffer::Ring,
        peer_death: Spin::PEER_DEATH,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Rings;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let shapes = Shape::both(specification, P::BATCH);
        let mut link = Link::new(shapes.map(|shape| Depth::Messages(shape.depth())));
        link.note("ring-bytes", shapes[0].bytes);
        segment::share_nameless(specification, shapes[1].end(), &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Rings> {
        let [there, back] = Shape::both(specification, P::BATCH);
        let region = segment::attach_object(specification, &mut setup, back.end())?;
        let (own, other) = if setup.role == Role::Initiator { (there, back) } else { (back, there) };
        Ok(Rings { sender: Sender::new(&region, own), receiver: Receiver::new(&region, other) })
    }
}

/// Location of a ring in its region: the cache lines of the sender's and the receiver's index, then the slots.
#[derive(Debug, Clone, Copy)]
struct Shape {
    start: usize,
    bytes: usize,
    slots: usize,
    slot_bytes: usize,
    /// Messages per publication.
    batch: usize,
}

impl Shape {
    fn new(start: usize, size_bytes: usize, specification: &LinkSpecification, batch: u32) -> Shape {
        let slot_bytes = HEAD_BYTES + size_bytes.next_multiple_of(HEAD_BYTES);
        let asked = specification.buffer_bytes;
        let in_flight = specification.depth.min(LARGE_BYTES / slot_bytes).max(LEAST_SLOTS);
        let least = asked.map_or(in_flight, |_| 1);
        let bytes = asked.unwrap_or(RING_BYTES).next_power_of_two();
        let slots = (bytes / slot_bytes).max(least);
        // The receiver may have read all but one message of a batch when the sender needs room for the least number.
        let batch = (batch as usize).min(slots - least + 1).min(slots / 2).max(1);
        Shape { start, bytes: bytes.max(slots * slot_bytes), slots, slot_bytes, batch }
    }

    fn both(specification: &LinkSpecification, batch: u32) -> [Shape; 2] {
        let [there, back] = specification.sizes_bytes;
        let there = Shape::new(0, there, specification, batch);
        [there, Shape::new(there.end(), back, specification, batch)]
    }

    /// Returns the minimum number of messages that the ring holds while the other end does nothing.
    fn depth(self) -> u64 {
        (self.slots - self.batch + 1) as u64
    }

    fn end(self) -> usize {
        self.start + 2 * APART + self.bytes.next_multiple_of(APART)
    }
}

/// State that both ends of a ring have.
#[derive(Debug)]
struct End {
    sender: HalfLine,
    receiver: HalfLine,
    payload: Stretch,
    slot_bytes: usize,
    slots: u32,
    batch: u32,
    /// Messages that this end has sent or received, the number of them that it has published, and the offset of its next slot.
    done: u32,
    published: u32,
    at: usize,
    /// Number of messages up to which this end may go on, according to the other end's index when it was last read.
    known: u32,
}

impl End {
    fn new(region: &Arc<Region>, shape: Shape, known: u32) -> End {
        let line = |number| HalfLine::new(region, shape.start + number * APART);
        End {
            sender: line(0),
            receiver: line(1),
            payload: Stretch::new(region, shape.start + 2 * APART, shape.slots * shape.slot_bytes),
            slot_bytes: shape.slot_bytes,
            slots: shape.slots as u32,
            batch: shape.batch as u32,
            done: 0,
            published: 0,
            at: 0,
            known,
        }
    }

    /// Advances to the next slot. Returns whether a batch is full.
    #[inline(always)]
    fn pass(&mut self) -> bool {
        self.at += self.slot_bytes;
        if self.at == self.slots as usize * self.slot_bytes {
            self.at = 0;
        }
        self.done = self.done.wrapping_add(1);
        self.done.wrapping_sub(self.published) >= self.batch
    }
}

/// The sending end.
#[derive(Debug)]
struct Sender(End);

impl Sender {
    fn new(region: &Arc<Region>, shape: Shape) -> Sender {
        Sender(End::new(region, shape, shape.slots as u32))
    }

    /// Writes a message, after waiting until there is room. Returns whether a batch is full.
    #[inline(always)]
    fn write(&mut self, message: &[u8]) -> bool {
        if self.0.done == self.0.known {
            self.wait_for_room();
        }
        self.0.payload.write_at(self.0.at, &(message.len() as u64).to_le_bytes());
        self.0.payload.write_at(self.0.at + HEAD_BYTES, message);
        self.0.pass()
    }

    #[inline(always)]
    fn publish(&mut self) {
        self.0.published = self.0.done;
        self.0.sender.published.store(self.0.done, Ordering::Release);
    }

    #[inline(never)]
    fn wait_for_room(&mut self) {
        self.publish();
        while self.0.done == self.0.known {
            self.0.known = self.0.receiver.taken.load(Ordering::Acquire).wrapping_add(self.0.slots);
            cpu::pause();
        }
    }
}

/// The receiving end.
#[derive(Debug)]
struct Receiver(End);

impl Receiver {
    fn new(region: &Arc<Region>, shape: Shape) -> Receiver {
        Receiver(End::new(region, shape, 0))
    }

    /// Copies the next message out, as much as `buffer` has room for, and returns its length.
    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        if self.0.done == self.0.known {
            self.wait();
        }
        let len = u64::from_le_bytes(self.0.payload.bytes_at(self.0.at)) as usize;
        let count = len.min(buffer.len());
        self.0.payload.read_at(self.0.at + HEAD_BYTES, &mut buffer[..count]);
        if self.0.pass() {
            self.publish();
        }
        len
    }

    #[inline(always)]
    fn publish(&mut self) {
        self.0.published = self.0.done;
        self.0.receiver.taken.store(self.0.done, Ordering::Release);
    }

    /// Returns whether a message has arrived. Publishes first, because the sender may wait for room.
    #[inline(always)]
    fn has_message(&mut self) -> bool {
        if self.0.published != self.0.done {
            self.publish();
        }
        self.0.known = self.0.sender.published.load(Ordering::Acquire);
        self.0.done != self.0.known
    }

    #[inline(always)]
    fn wait(&mut self) {
        while !self.has_message() {
            cpu::pause();
        }
    }
}

/// The ring through which this role sends, and the ring from which it receives.
#[derive(Debug)]
pub struct Rings {
    sender: Sender,
    receiver: Receiver,
}

impl Endpoint for Rings {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.sender.write(message);
        self.sender.publish();
        Ok(())
    }

    #[inline(always)]
    fn send_more(&mut self, message: &mut Message) -> io::Result<()> {
        if self.sender.write(message) {
            self.sender.publish();
        }
        Ok(())
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        Ok(self.receiver.read(message))
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(self.receiver.has_message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ends(slots: usize, batch: usize) -> (Sender, Receiver) {
        let shape = Shape { start: 0, bytes: slots * 24, slots, slot_bytes: 24, batch };
        let region = Arc::new(Region::anonymous(shape.end()).unwrap());
        (Sender::new(&region, shape), Receiver::new(&region, shape))
    }

    #[test]
    fn batch_is_published_when_it_is_full() {
        let (mut sender, receiver) = both_ends(12, 4);
        let published = |receiver: &Receiver| receiver.0.sender.published.load(Ordering::Relaxed);
        assert!((1..4).all(|_| !sender.write(b"message")));
        assert_eq!(published(&receiver), 0);
        assert!(sender.write(b"message"));
        sender.publish();
        assert_eq!(published(&receiver), 4);
    }

    #[test]
    fn messages_arrive_in_order_and_whole() {
        const MESSAGES: u64 = if cfg!(miri) { 100 } else { 100_000 };
        for (slots, batch) in [(4, 1), (5, 2), (100, 1), (100, 32)] {
            let (mut sender, mut receiver) = both_ends(slots, batch);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for number in 0..MESSAGES {
                        if sender.write(&number.to_le_bytes().repeat(2)[..(number % 17) as usize]) {
                            sender.publish();
                        }
                    }
                    sender.publish();
                });
                for number in 0..MESSAGES {
                    let mut buffer = [0; 16];
                    let len = receiver.read(&mut buffer);
                    assert_eq!(buffer[..len], number.to_le_bytes().repeat(2)[..(number % 17) as usize]);
                }
            });
        }
    }
}
