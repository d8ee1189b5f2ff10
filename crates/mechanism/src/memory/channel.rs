//! furlong's own library for other programs, `furlong-channel`: a ring in each direction in memory that both processes map, a
//! sealed memfd or a section.
//!
//! The sender copies a message into the ring with its length in front of it, and the receiver copies it out. With zero-copy
//! access both work on the message in place. No index travels with a message. System calls are made only to sleep, to wake a
//! sleeping process, and to check whether the peer is alive. Expect busy-waiting to be as fast as a mailbox in a round trip and
//! many times faster one way, because a mailbox has room for one message. Expect the adaptive strategy to match busy-waiting
//! while messages arrive, and a sleeping end to take the time of a futex, or of an event on Windows. Each end treats the other
//! one as hostile and validates all that it reads from the memory.

use crate::memory::channel_end::{self, SLEEPERS_CALLS, SLEEPERS_WAIT, SPINNERS_CALLS};
use crate::memory::in_place::{self, STAMP_BYTES, Stamps, ToRead, ToWrite};
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message, MessageBatch};
use furlong_channel::{Channel, Error, Options, Side, TrustedPeer, WaitStrategy};
use furlong_model::{
    Access, Calls, Capabilities, Copies, Depth, Family, KernelBuffer, Limits, Role, Unavailable, Wait,
};
use furlong_os::shared_place::{fill, is_filled};
use furlong_os::trusted_channel::trust;
use std::io;
use std::marker::PhantomData;

/// Maximum size in bytes of a message for which rings are made that hold it at once.
const MOST_BYTES: usize = 1 << 30;

/// A wait strategy of the library.
pub trait Way: 'static {
    /// Wait strategy in the benchmark's name.
    const WAIT: &'static [Wait];
    /// Wait strategy of the library's options.
    const WAITING: WaitStrategy;
    /// System calls of the strategy.
    const CALLS: Calls;
}

/// Busy-waits.
#[derive(Debug)]
pub struct SpinWait;

/// Blocks at once.
#[derive(Debug)]
pub struct BlockingWait;

/// Busy-waits for the duration of a wake-up, then blocks.
#[derive(Debug)]
pub struct AdaptiveWait;

impl Way for SpinWait {
    const WAIT: &'static [Wait] = &[Wait::Spin];
    const WAITING: WaitStrategy = WaitStrategy::Spin;
    const CALLS: Calls = SPINNERS_CALLS;
}

impl Way for BlockingWait {
    const WAIT: &'static [Wait] = SLEEPERS_WAIT;
    const WAITING: WaitStrategy = WaitStrategy::Park;
    const CALLS: Calls = SLEEPERS_CALLS;
}

impl Way for AdaptiveWait {
    const WAIT: &'static [Wait] = &[Wait::Adaptive];
    const WAITING: WaitStrategy = WaitStrategy::Adaptive;
    const CALLS: Calls = SLEEPERS_CALLS;
}

/// The library with one of its wait strategies.
#[derive(Debug)]
pub struct LibraryChannel<W>(PhantomData<W>);

/// Capacity in bytes above which rings are only enlarged to hold a single message.
const LARGE_BYTES: usize = 64 << 20;

/// Maximum bytes of a message with zero-copy access, regardless of the size of the ring.
const MOST_IN_PLACE_BYTES: usize = (16 << 20) - 8;

/// Returns the options with which both roles make their ends. The rings have the requested size, or otherwise a size for the
/// requested number of messages. They always hold one message while no process receives, with zero-copy access if it is used.
fn options<W: Way>(specification: &LinkSpecification) -> Options {
    let largest = specification.largest_bytes();
    let asked = specification.buffer_bytes;
    let mut options = Options::new().longest_message(largest).waiting(W::WAITING);
    options = asked.map_or(options, |bytes| options.capacity(bytes));
    let mut capacity = options.capacity_bytes();
    let holds = |options: &Options, messages| options.depth(largest) >= messages;
    let lends = |options: &Options| specification.access.is_copy() || options.longest_loan() >= largest;
    let is_enough = |options: &Options, capacity| {
        asked.is_some() || holds(options, specification.depth) || capacity >= LARGE_BYTES
    };
    while !holds(&options, 1) || !lends(&options) || !is_enough(&options, capacity) {
        capacity *= 2;
        options = options.capacity(capacity);
    }
    options
}

impl<W: Way> Mechanism for LibraryChannel<W> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "channel",
        summary: channel_end::SUMMARY,
        family: Family::Library,
        waits: W::WAIT,
        calls: W::CALLS,
        buffer: KernelBuffer::Ring,
        copies: Copies::TwoOrNone,
        ..Capabilities::DEFAULT
    };
    type Endpoint = End;

    fn probe() -> Result<Limits, Unavailable> {
        match Channel::pair(&Options::new().capacity(0)) {
            Ok(_) => Ok(Limits::at(
                MOST_BYTES,
                "the largest message for which furlong makes the rings of furlong-channel",
                "send it in parts",
            )
            .in_place_up_to(MOST_IN_PLACE_BYTES)),
            Err(error) => {
                let reason = format!("furlong-channel cannot be used here: {error}");
                Err(Unavailable::new(reason, channel_end::NEEDS))
            }
        }
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let options = options::<W>(specification);
        let mut link = Link::new(specification.sizes_bytes.map(|size| Depth::of(options.depth(size))));
        link.note("ring-bytes", options.capacity_bytes());
        for (role, end) in Role::ALL.into_iter().zip(Channel::pair(&options)?) {
            link.give_all(role, channel_end::take_apart(end));
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<End> {
        let side = match setup.role {
            Role::Initiator => Side::First,
            Role::Responder => Side::Second,
        };
        let channel = channel_end::open(&mut setup, side, &options::<W>(specification))?;
        Ok(match specification.access {
            Access::Copy => End::Copies(channel),
            access => End::Lends(trust(channel), access),
        })
    }
}

/// One end of the channel, which waits inside its calls.
#[derive(Debug)]
pub enum End {
    /// An end that copies messages and does not trust the data of the other end.
    Copies(Channel),
    /// An end with zero-copy access, which writes and reads messages in place.
    Lends(Channel<TrustedPeer>, Access),
}

impl Endpoint for End {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        match self {
            End::Copies(channel) => Ok(channel.send(message)?),
            End::Lends(channel, access) => send_in_place(channel, message, *access),
        }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        match self {
            End::Copies(channel) => match channel.recv(message) {
                Err(Error::BufferTooSmall { .. }) => recv_too_long(channel, message),
                received => Ok(received?),
            },
            End::Lends(channel, access) => recv_in_place(channel, message, *access),
        }
    }

    #[inline]
    fn has_message(&mut self) -> Option<bool> {
        Some(
            match self {
                End::Copies(channel) => channel.both().1.unread(1),
                End::Lends(channel, _) => channel.both().1.unread(1),
            } > 0,
        )
    }

    fn send_batch(&mut self, batch: &MessageBatch, count: usize) -> io::Result<()> {
        let End::Copies(channel) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        Ok(channel.both().0.send_all(batch.first(count).chunks(batch.size_bytes()))?)
    }

    fn recv_batch(&mut self, batch: &mut MessageBatch) -> io::Result<usize> {
        let End::Copies(channel) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        let mut place = 0;
        Ok(channel.both().1.recv_each(batch.most(), |message| {
            let room = batch.message_mut(place);
            let copied = message.len().min(room.len());
            room[..copied].copy_from_slice(&message[..copied]);
            batch.lengths[place] = message.len();
            place += 1;
        })?)
    }

    fn access(&self) -> Access {
        match self {
            End::Copies(_) => Access::Copy,
            End::Lends(_, access) => *access,
        }
    }
}

/// Receives a message that is larger than the buffer: copies its beginning and returns its length.
#[cold]
fn recv_too_long(channel: &mut Channel, message: &mut Message) -> io::Result<usize> {
    let whole = channel.recv_vec()?;
    let room = message.len();
    message.copy_from_slice(&whole[..room]);
    Ok(whole.len())
}

#[inline(never)]
fn send_in_place(channel: &mut Channel<TrustedPeer>, message: &Message, access: Access) -> io::Result<()> {
    let mut loan = channel.loan(message.len())?;
    in_place::put(&mut loan[..], message, access);
    loan.commit();
    Ok(())
}

#[inline(never)]
fn recv_in_place(
    channel: &mut Channel<TrustedPeer>,
    message: &mut Message,
    access: Access,
) -> io::Result<usize> {
    let found = channel.peek()?;
    let taken = in_place::take(&found[..], found.len(), message, access);
    found.release();
    taken
}

impl ToWrite for &mut [u8] {
    fn write(self, message: &[u8]) {
        self.copy_from_slice(message);
    }

    #[inline(always)]
    fn make(self, len: usize, [first, last]: Stamps, and_between: bool) {
        let (bytes, last_bytes) = self[..len].split_at_mut(len - STAMP_BYTES);
        let made = if and_between { bytes.len() } else { STAMP_BYTES };
        fill(&mut bytes[..made], u64::from_le_bytes(first));
        last_bytes.copy_from_slice(&last);
    }
}

impl ToRead for &[u8] {
    fn read(self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self[..buffer.len()]);
    }

    #[inline(always)]
    fn look(self, len: usize, and_between: bool) -> (Stamps, bool) {
        let (mut stamps, bytes) = (Stamps::default(), &self[..len]);
        let (first, rest) = bytes.split_at(STAMP_BYTES);
        let (between, last) = rest.split_at(rest.len() - STAMP_BYTES);
        stamps[0].copy_from_slice(first);
        stamps[1].copy_from_slice(last);
        (stamps, !and_between || is_filled(between, u64::from_le_bytes(stamps[0])))
    }
}
