//! A ring with one writer and several readers, each with a separate position: each message is written once, and every reader
//! copies it out.
//!
//! No reader consumes the messages of another, so the writer's work does not grow with the number of readers, except for one
//! check of all positions per round of the ring. Expect the figures of the mailbox with the same doorbell with one reader, and
//! a little more for short messages, because their bytes and the word that announces them are on different cache lines. With
//! several readers expect one copy by the writer instead of one per link. If readers sleep, one system call wakes all of them,
//! and the kernel's work for it grows with their number. All processes can write the memory, so they must trust each other.
//!
//! Either the writer waits for the slowest reader, or it never waits. A reader that was overtaken continues with the oldest
//! message that is still whole, and counts the lost messages. The number in front of a message identifies it, so a reader
//! detects that it was overtaken while it copied.

use crate::memory::doorbell::ManyWaiters;
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Depth, Family, Limits, Sharing, Unavailable, WhenFull};
use furlong_os::cpu;
use furlong_os::memory::Region;
use furlong_os::shared_place::Stretch;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Padding of two cache lines, because the adjacent-line prefetcher would otherwise cause false sharing.
const APART: usize = 128;

/// Offset of the number of the last message: the word to sleep on.
const PUBLISHED: usize = 0;

/// Offset of the number of readers that have attached.
const COME: usize = APART;

/// Offset of the position of the first reader; the others follow.
const POSITIONS: usize = 2 * APART;

/// Bytes in front of a message: its number and its length.
const HEAD_BYTES: usize = 8;

/// Layout of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Offset in the region.
    start: usize,
    readers: usize,
    /// Maximum number of messages in the ring: a power of two.
    slots: usize,
    slot_bytes: usize,
}

impl Shape {
    /// Returns the layout of a ring for messages of up to `size_bytes`: a mebibyte, or the size of a few messages.
    fn new(start: usize, readers: usize, size_bytes: usize) -> Shape {
        const BYTES: usize = 1 << 20;
        let slot_bytes = (HEAD_BYTES + size_bytes).next_multiple_of(APART);
        let slots = 1 << (BYTES / slot_bytes).clamp(4, 64).ilog2();
        Shape { start, readers, slots, slot_bytes }
    }

    /// Returns the layouts of the two rings, one behind the other. An answer goes to one reader.
    fn both(specification: &LinkSpecification) -> [Shape; 2] {
        let [there, back] = specification.sizes_bytes;
        let there = Shape::new(0, specification.receivers, there);
        [there, Shape::new(there.end(), 1, back)]
    }

    fn first_slot(self) -> usize {
        self.start + POSITIONS + self.readers * APART
    }

    fn end(self) -> usize {
        self.first_slot() + self.slots * self.slot_bytes
    }
}

/// Behaviour of a writer that finds no room.
pub trait Pace: 'static {
    /// Name of the mechanism.
    const NAME: &'static str;
    /// Summary of the mechanism in one line.
    const SUMMARY: &'static str;
    /// [`Capabilities::when_full`].
    const WHEN_FULL: WhenFull;
}

/// The writer waits for the slowest reader.
#[derive(Debug)]
pub struct HeldBack;

impl Pace for HeldBack {
    const NAME: &'static str = "broadcast-ring";
    const SUMMARY: &'static str =
        "a ring in a memfd with several readers; the slowest reader limits the writer";
    const WHEN_FULL: WhenFull = WhenFull::Waits;
}

/// The writer overtakes the slowest reader.
#[derive(Debug)]
pub struct OvertakingPace;

impl Pace for OvertakingPace {
    const NAME: &'static str = "overtaking-ring";
    const SUMMARY: &'static str =
        "a ring in a memfd with several readers; an overtaken reader gets the number of lost messages";
    const WHEN_FULL: WhenFull = WhenFull::DropsOldest;
}

/// A ring in a memfd in each direction, with a writer of the pace `P` and a doorbell `D`.
#[derive(Debug)]
pub struct Broadcast<P, D>(PhantomData<(P, D)>);

impl<P: Pace, D: ManyWaiters> Mechanism for Broadcast<P, D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: P::NAME,
        summary: P::SUMMARY,
        family: Family::Memory,
        waits: D::WAITS,
        calls: D::CALLS,
        when_full: P::WHEN_FULL,
        peer_death: D::PEER_DEATH,
        sharing: Sharing::EveryReceiver,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Rings<D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe().map(|()| Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let shapes = Shape::both(specification);
        let mut link = Link::new(shapes.map(|shape| Depth::Messages(shape.slots as u64)));
        let region = segment::share_nameless(specification, shapes[1].end(), &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let [there, back] = Shape::both(specification);
        let region = segment::attach_object(specification, &mut setup, back.end())?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let (own, other) = setup.send_and_receive(there, back);
        let waits = P::WHEN_FULL == WhenFull::Waits;
        Ok(Rings { own: Writer::new(&region, own, waits), other: Reader::new(&region, other)?, doorbell })
    }
}

/// The state of a ring that the writer and the readers share.
#[derive(Debug)]
struct Ring {
    region: Arc<Region>,
    shape: Shape,
    slots: Vec<Stretch>,
}

impl Ring {
    fn new(region: &Arc<Region>, shape: Shape) -> Ring {
        let room = |slot: usize| {
            let at = shape.first_slot() + slot * shape.slot_bytes;
            Stretch::new(region, at + HEAD_BYTES, shape.slot_bytes - HEAD_BYTES)
        };
        Ring { region: Arc::clone(region), shape, slots: (0..shape.slots).map(room).collect() }
    }

    #[inline(always)]
    fn published(&self) -> &AtomicU32 {
        self.region.word(self.shape.start + PUBLISHED)
    }

    fn position(&self, reader: usize) -> &AtomicU32 {
        self.region.word(self.shape.start + POSITIONS + reader * APART)
    }

    /// Returns the slot of the message with this number.
    #[inline(always)]
    fn slot_of(&self, number: u32) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// Returns the word with the number of the message in a slot. While a message is written, it holds a number that this slot
    /// never has.
    #[inline(always)]
    fn number_in(&self, slot: usize) -> &AtomicU32 {
        self.region.word(self.shape.first_slot() + slot * self.shape.slot_bytes)
    }

    #[inline(always)]
    fn length_in(&self, slot: usize) -> &AtomicU32 {
        self.region.word(self.shape.first_slot() + slot * self.shape.slot_bytes + 4)
    }
}

/// The writer.
#[derive(Debug)]
struct Writer {
    ring: Ring,
    /// Whether it waits for the slowest reader.
    waits: bool,
    published: u32,
    /// Number of messages that all readers have copied, as far as the writer knows.
    copied_by_all: u32,
}

impl Writer {
    fn new(region: &Arc<Region>, shape: Shape, waits: bool) -> Writer {
        Writer { ring: Ring::new(region, shape), waits, published: 0, copied_by_all: 0 }
    }

    /// Writes the next message. If the writer waits, it first waits until the slowest reader has made room.
    #[inline(always)]
    fn write(&mut self, message: &[u8]) {
        if self.waits && self.is_full() {
            self.wait_for_room();
        }
        let number = self.published.wrapping_add(1);
        let slot = self.ring.slot_of(number);
        // The next number belongs to another slot. A reader that sees it also sees the writer's progress.
        self.ring.number_in(slot).store(number.wrapping_add(1), Ordering::Release);
        fence(Ordering::Release);
        self.ring.length_in(slot).store(message.len() as u32, Ordering::Relaxed);
        self.ring.slots[slot].write(message);
        self.ring.number_in(slot).store(number, Ordering::Release);
        self.published = number;
        self.ring.published().store(number, Ordering::Release);
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.published.wrapping_sub(self.copied_by_all) as usize >= self.ring.shape.slots
    }

    /// A doorbell reports messages and not room, so this waits by yielding, as in a mailbox.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&mut self) {
        loop {
            let positions = (0..self.ring.shape.readers).map(|reader| self.ring.position(reader));
            let behind = positions.map(|at| self.published.wrapping_sub(at.load(Ordering::Acquire)));
            self.copied_by_all = self.published.wrapping_sub(behind.max().unwrap_or_default());
            if !self.is_full() {
                return;
            }
            cpu::yield_now();
        }
    }
}

/// A reader.
#[derive(Debug)]
struct Reader {
    ring: Ring,
    /// Index of the reader: readers get indexes in the order in which they attach.
    place: usize,
    /// Number of the last message that it copied.
    copied: u32,
    lost: u64,
}

impl Reader {
    fn new(region: &Arc<Region>, shape: Shape) -> io::Result<Reader> {
        let ring = Ring::new(region, shape);
        let place = ring.region.word(shape.start + COME).fetch_add(1, Ordering::Relaxed) as usize;
        if place >= shape.readers {
            let what = format!("the ring is for {} readers, and all are connected", shape.readers);
            return Err(io::Error::other(what));
        }
        Ok(Reader { ring, place, copied: 0, lost: 0 })
    }

    /// Copies the next message out, as much as there is room for, and returns its length. The message must have been published.
    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        loop {
            let next = self.copied.wrapping_add(1);
            let slot = self.ring.slot_of(next);
            if self.ring.number_in(slot).load(Ordering::Acquire) == next {
                let length = self.ring.length_in(slot).load(Ordering::Relaxed) as usize;
                let count = length.min(buffer.len());
                self.ring.slots[slot].read(&mut buffer[..count]);
                fence(Ordering::Acquire);
                if self.ring.number_in(slot).load(Ordering::Relaxed) == next {
                    self.copied = next;
                    self.ring.position(self.place).store(next, Ordering::Release);
                    return length;
                }
            }
            self.was_overtaken(next);
        }
    }

    /// Continues with the oldest message that is whole, after `next` was overwritten.
    #[cold]
    #[inline(never)]
    fn was_overtaken(&mut self, next: u32) {
        let published = self.ring.published().load(Ordering::Acquire);
        // The writer overwrites the slot of the oldest message with the next one, or is about to, so the second oldest is used.
        let oldest = published.wrapping_sub(self.ring.shape.slots as u32).wrapping_add(2);
        let lost = oldest.wrapping_sub(next);
        // The writer's progress may become visible later than its messages.
        if lost as i32 > 0 {
            self.copied = self.copied.wrapping_add(lost);
            self.lost += u64::from(lost);
        }
    }
}

/// The ring that this role writes, and the ring that it reads.
#[derive(Debug)]
pub struct Rings<D> {
    own: Writer,
    other: Reader,
    doorbell: D,
}

impl<D: ManyWaiters> Endpoint for Rings<D> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.own.write(message);
        self.doorbell.ring_all(self.own.ring.published())
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.doorbell.wait(self.other.ring.published(), self.other.copied)?;
        Ok(self.other.read(message))
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(self.other.ring.published().load(Ordering::Acquire) != self.other.copied)
    }

    fn lost(&self) -> Option<u64> {
        Some(self.other.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READERS: usize = 3;

    /// Returns the writer, the maximum number of readers, and a function that attaches another reader.
    fn all(size_bytes: usize) -> (Writer, Vec<Reader>, impl Fn() -> io::Result<Reader>) {
        let shape = Shape::new(0, READERS, size_bytes);
        let region = Arc::new(Region::anonymous(shape.end()).unwrap());
        let reader = move |region: &Arc<Region>| Reader::new(region, shape);
        let readers = (0..READERS).map(|_| reader(&region).unwrap()).collect();
        (Writer::new(&region, shape, true), readers, move || reader(&region))
    }

    #[test]
    fn every_reader_copies_every_message_at_its_own_pace() {
        let (mut writer, mut readers, _) = all(100);
        let slots = writer.ring.shape.slots as u32;
        let message =
            |number: u32| [&number.to_le_bytes()[..], &vec![number as u8; number as usize % 90]].concat();
        (1..=slots).for_each(|number| writer.write(&message(number)));
        assert!(writer.is_full());
        for (place, reader) in readers.iter_mut().enumerate() {
            assert_eq!(reader.place, place);
            for number in 1..=slots {
                let mut buffer = [0; 100];
                let length = reader.read(&mut buffer);
                assert_eq!(buffer[..length], message(number));
            }
        }
        writer.wait_for_room();
        assert_eq!(writer.copied_by_all, slots);
    }

    #[test]
    fn the_slowest_reader_makes_room() {
        let (mut writer, mut readers, _) = all(8);
        (0..writer.ring.shape.slots).for_each(|_| writer.write(b"message"));
        let mut buffer = [0; 8];
        readers[0].read(&mut buffer);
        readers[2].read(&mut buffer);
        readers[2].read(&mut buffer);
        readers[1].read(&mut buffer);
        writer.wait_for_room();
        assert_eq!(writer.copied_by_all, 1);
    }

    #[test]
    fn who_is_overtaken_reads_whole_messages_in_order_and_knows_what_it_lost() {
        const MESSAGES: u32 = 100_000;
        let shape = Shape::new(0, 1, 1000);
        let region = Arc::new(Region::anonymous(shape.end()).unwrap());
        let mut writer = Writer::new(&region, shape, false);
        let mut reader = Reader::new(&region, shape).unwrap();
        let message = |number: u32| [&number.to_le_bytes()[..], &[number as u8; 996]].concat();
        // The reader is overtaken before it has begun, and again while both run at once.
        let before = 2 * shape.slots as u32;
        (1..=before).for_each(|number| writer.write(&message(number)));
        std::thread::scope(|scope| {
            scope.spawn(move || (before + 1..=MESSAGES).for_each(|number| writer.write(&message(number))));
            let (mut buffer, mut last, mut missed) = ([0; 1000], 0, 0);
            while last < MESSAGES {
                if reader.ring.published().load(Ordering::Acquire) == reader.copied {
                    std::thread::yield_now();
                    continue;
                }
                assert_eq!(reader.read(&mut buffer), 1000);
                let number = u32::from_le_bytes(std::array::from_fn(|at| buffer[at]));
                assert!(number > last, "{number} arrived after {last}");
                assert_eq!(buffer[..], message(number)[..], "message {number} is torn");
                missed += u64::from(number - last - 1);
                assert_eq!(reader.lost, missed);
                last = number;
            }
            assert!(missed >= u64::from(before / 2), "it was overtaken, and {missed} are missing");
        });
    }

    #[test]
    fn no_more_readers_come_than_it_was_made_for() {
        let (_, _, another) = all(8);
        let error = another().unwrap_err().to_string();
        assert_eq!(error, "the ring is for 3 readers, and all are connected");
    }

    #[test]
    fn a_ring_has_room_for_several_messages_of_any_size() {
        for (size_bytes, slots) in [(1, 64), (120, 64), (121, 64), (65_536, 8), (300_000, 4), (16 << 20, 4)] {
            assert_eq!(Shape::new(0, 2, size_bytes).slots, slots, "{size_bytes}");
        }
    }
}
