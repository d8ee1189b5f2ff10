//! Entry points of the fuzzer for shared memory: peers that write any word between two calls of an end.

use crate::control::End;
use crate::error::Error;
use crate::memory::Lane;
use crate::options::Options;
use crate::platform::link::Link;
use crate::platform::{shared_memory, wake};
use crate::ring::Kind;
use crate::shared_ring::SharedRing;
use crate::storage::{CONTROL_BYTES, shared_bytes};
use crate::waiting::Limit;
use crate::{
    Event, Inbox, OneWayDescriptors, OverwritingReceiver, Receiver, Sender, SenderId, Subscription,
    WaitStrategy,
};
use std::collections::{BTreeSet, VecDeque};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

const CAPACITY: usize = 4096;

/// The longest message: longer than a record of such a ring, so messages arrive in parts.
const LONGEST: usize = 3000;

/// Calls of an inbox within which a message of an honest sender arrives. The inbox queries epoll every 64 calls.
const MOST_CALLS: u32 = 200;

/// The bytes of an input, which are read as numbers. They are 0 after its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % end
    }

    /// Returns a number of which most bits are often 0.
    fn word(&mut self) -> u64 {
        let bytes = usize::from(self.byte() % 9);
        (0..bytes).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    fn options(&mut self) -> Options {
        let flags = self.byte();
        Options {
            capacity: CAPACITY,
            longest: LONGEST,
            waiting: if flags & 1 == 0 { WaitStrategy::Park } else { WaitStrategy::Adaptive },
            // Near the overflow of positions, or at their beginning.
            start: if flags & 2 == 0 { 0 } else { u64::MAX - 1023 },
            // A barrier would interrupt all processes of the machine.
            membarrier: false,
            ..Options::default()
        }
    }

    fn limit(&mut self) -> Duration {
        Duration::from_micros(u64::from(self.byte() % 32))
    }
}

/// A process that has the other end, and may write to all words that both ends can write.
struct Peer {
    /// The ring, and the control words in the same memory.
    ring: Lane,
    /// The ring with the control words of one receiver.
    own: Lane,
    link: Option<Link>,
    /// The offset of the next record.
    cursor: usize,
}

impl Peer {
    fn new(ring: Lane, own: Lane, link: Link, options: &Options) -> Peer {
        Peer { ring, own, link: Some(link), cursor: options.start as usize % CAPACITY }
    }

    /// Writes a header at the cursor, and moves the cursor by `bytes`.
    fn append(&mut self, header: u64, bytes: usize) {
        let next = (self.cursor + bytes) % CAPACITY & !7;
        self.ring.prepare_header(next, 0);
        self.ring.publish_header(self.cursor, header);
        self.cursor = next;
    }

    /// Writes one word of the ring, or one record.
    fn write(&mut self, input: &mut Input<'_>) {
        let skipped = CAPACITY - self.cursor;
        match input.byte() % 8 {
            0 => self.ring.prepare_header(input.below(CAPACITY), input.word()),
            1 => self.cursor = input.below(CAPACITY) & !7,
            2 | 3 => {
                let len = input.below(1200) as u64;
                self.append((Kind::Whole as u64) << 56 | len << 32 | len, (len as usize + 15) & !7);
            }
            4 => {
                let (kind, len) = (u64::from(input.byte() % 7), input.below(1200));
                let message = input.below(LONGEST + 100) as u64;
                self.append(kind << 56 | (len as u64) << 32 | message, (len + 15) & !7);
            }
            5 => {
                let len = input.below(1200);
                self.ring.prepare_header(self.cursor + 8, input.word());
                self.append(1 << 63 | len as u64, 16 + len.next_multiple_of(8));
            }
            6 => self.append((Kind::Skip as u64) << 56 | skipped as u64, skipped),
            _ => self.append(3 << 62, skipped),
        }
    }

    /// Writes one control word, or sends a signal.
    fn control(&self, input: &mut Input<'_>) {
        let lane = if input.byte() % 2 == 0 { &self.ring } else { &self.own };
        let number = input.word();
        let ends = lane.ends_of_sender();
        let of_one = |end: &End, which| match which {
            0 => end.state.store(number as u32, Ordering::Relaxed),
            1 => end.processor.store(number as u32, Ordering::Relaxed),
            _ => end.woken_at_ns.store(number, Ordering::Relaxed),
        };
        match input.byte() % 10 {
            which @ 0..3 => of_one(ends.own(), which),
            which @ 3..6 => of_one(ends.other(), which - 3),
            6 | 7 => lane.publish_read(number & !u64::from(input.byte() & 7)),
            8 => self.link.iter().for_each(wake::signal),
            _ => ends.own().closed.store(number as u32, Ordering::Relaxed),
        }
    }
}

/// Checks the length of a received message, and that an end that has found the memory to be corrupt stays broken.
fn check<T>(result: Result<T, Error>, len: impl Fn(&T) -> usize, room: usize, is_corrupt: &mut bool) {
    assert!(!*is_corrupt || matches!(result, Err(Error::Corrupt(_))), "a broken end goes on");
    match result {
        Ok(value) => assert!(len(&value) <= room.min(LONGEST)),
        Err(Error::BufferTooSmall { len }) => assert!(room < len && len <= LONGEST),
        Err(Error::Corrupt(_)) => *is_corrupt = true,
        Err(error) => assert!(
            matches!(error, Error::WouldBlock | Error::TimedOut | Error::Closed | Error::PeerDied),
            "{error}"
        ),
    }
}

/// Receives from the sender of a broadcast that writes any word of the shared memory, or sends to receivers that write
/// any of their control words.
pub fn broadcast(bytes: &[u8]) {
    let mut input = Input(bytes);
    let result =
        if input.byte() % 2 == 0 { hostile_sender(&mut input) } else { hostile_receivers(&mut input) };
    assert!(result.is_ok(), "{result:?}");
}

/// The receiving end of either kind of broadcast.
enum AnySubscriber {
    Waiting(Receiver),
    Overwriting(OverwritingReceiver),
}

impl AnySubscriber {
    fn new(subscription: Subscription, options: &Options) -> Result<AnySubscriber, Error> {
        Ok(if subscription.overwrites {
            AnySubscriber::Overwriting(OverwritingReceiver::from_subscription(subscription, options)?)
        } else {
            AnySubscriber::Waiting(Receiver::from_subscription(subscription, options)?)
        })
    }

    /// Returns the length of the next message, and the number of missed messages before it.
    fn try_recv(&mut self, buffer: &mut [u8]) -> Result<(usize, u64), Error> {
        match self {
            AnySubscriber::Waiting(receiver) => receiver.try_recv(buffer).map(|len| (len, 0)),
            AnySubscriber::Overwriting(receiver) => {
                receiver.try_recv(buffer).map(|taken| (taken.len, taken.missed))
            }
        }
    }
}

fn hostile_sender(input: &mut Input<'_>) -> Result<(), Error> {
    let (options, overwrites) = (input.options(), input.byte() % 2 == 0);
    let [OneWayDescriptors { memory, socket }, other] = OneWayDescriptors::pair(&options)?;
    let [ring] = Lane::map(memory.as_fd(), CAPACITY)?;
    let control = shared_memory::new(CONTROL_BYTES)?;
    let own = ring.with_control(control.as_fd())?;
    ring.publish_read(options.start);
    let mut peer = Peer::new(ring, own, other.socket.into(), &options);
    let subscription = Subscription { memory, control, socket, start: options.start, overwrites };
    let mut receiver = AnySubscriber::new(subscription, &options)?;
    let (mut buffer, mut is_corrupt) = ([0; LONGEST], false);
    let is_corrupt = &mut is_corrupt;
    while !input.0.is_empty() {
        let call = input.byte() % 8;
        match call {
            0..3 => peer.write(input),
            3 => peer.control(input),
            _ => {
                let room = [LONGEST, 100, 0][usize::from(input.byte() % 3)];
                let buffer = &mut buffer[..room];
                match &mut receiver {
                    AnySubscriber::Waiting(receiver) => receive(receiver, call, buffer, input, is_corrupt),
                    AnySubscriber::Overwriting(receiver) => match call {
                        4 | 5 => check(receiver.try_recv(buffer), |taken| taken.len, room, is_corrupt),
                        6 => check(
                            receiver.recv_timeout(buffer, input.limit()),
                            |taken| taken.len,
                            room,
                            is_corrupt,
                        ),
                        _ => check(receiver.watch(), |_| 0, 0, is_corrupt),
                    },
                }
            }
        }
        if input.byte() == 255 {
            peer.link = None;
        }
    }
    Ok(())
}

/// Makes one call of a receiver, and checks its result.
fn receive(
    receiver: &mut Receiver,
    call: u8,
    buffer: &mut [u8],
    input: &mut Input<'_>,
    is_corrupt: &mut bool,
) {
    let room = buffer.len();
    match (call, input.byte() % 4) {
        (4, 0) => check(receiver.try_recv_vec(), Vec::len, LONGEST, is_corrupt),
        (4, 1) => {
            let most = 1 + input.below(20);
            let received = receiver.try_recv_each(most, |message| assert!(message.len() <= LONGEST));
            assert!(received.as_ref().is_ok_and(|count| *count <= most) || received.is_err());
            check(received, |_| 0, LONGEST, is_corrupt);
        }
        (4, 2) => check(receiver.watch(), |_| 0, 0, is_corrupt),
        (4, _) => assert!(receiver.unread(9) <= 9),
        (5, _) => check(receiver.recv_timeout(buffer, input.limit()), |len| *len, room, is_corrupt),
        _ => check(receiver.try_recv(buffer), |len| *len, room, is_corrupt),
    }
}

/// A receiver of numbered messages, each filled with the lowest byte of its length.
struct HonestReceiver {
    receiver: AnySubscriber,
    /// The number of the next message.
    expected: u64,
    buffer: [u8; LONGEST],
}

impl HonestReceiver {
    /// Receives a message if one is available, of `sent` messages in all. Returns whether more are available.
    fn receive(&mut self, sent: u64) -> bool {
        match self.receiver.try_recv(&mut self.buffer) {
            Ok((len, missed)) => {
                assert_eq!(self.buffer[..8], (self.expected + missed).to_le_bytes());
                assert!(self.buffer[8..len].iter().all(|byte| *byte == len as u8));
                self.expected += missed + 1;
            }
            Err(error) => assert!(
                error == Error::WouldBlock && self.expected == sent,
                "{error}: {} of {sent}",
                self.expected
            ),
        }
        self.expected < sent
    }
}

/// Sends a message with this number, which an honest receiver checks. Returns whether it was sent.
fn send_numbered(sender: &mut SharedRing, number: u64, overwrites: bool, input: &mut Input<'_>) -> bool {
    let len = 8 + input.below(sender.longest_message() - 7);
    let mut message = vec![len as u8; len];
    message[..8].copy_from_slice(&number.to_le_bytes());
    let limit = if input.byte() % 4 == 0 { Limit::after(input.limit()) } else { Limit::Now };
    let sent = sender.send(&message, limit);
    if let Err(error) = &sent {
        assert!(!overwrites && matches!(error, Error::WouldBlock | Error::TimedOut), "{error}");
    }
    sent.is_ok()
}

/// Sends to an honest receiver and to hostile ones. Checks that the honest one gets every message, or the number of missed messages.
fn hostile_receivers(input: &mut Input<'_>) -> Result<(), Error> {
    let (options, overwrites) = (input.options(), input.byte() % 2 == 0);
    let memory = shared_memory::new(shared_bytes(CAPACITY, 1))?;
    let [ring] = Lane::map(memory.as_fd(), CAPACITY)?;
    let mut sender = match overwrites {
        true => crate::overwriting::sending_ring(ring.again(), &options),
        false => crate::broadcast::sending_ring(ring.again(), &options),
    };
    let subscribe = |sender: &mut SharedRing| -> Result<(Lane, Subscription), Error> {
        let control = shared_memory::new(CONTROL_BYTES)?;
        let lane = ring.with_control(control.as_fd())?;
        sender.prepare(&lane);
        let [one, other] = OneWayDescriptors::pair(&options)?;
        let (start, socket) = (sender.options_of_next().start, other.socket);
        sender.add(lane.again(), one.socket.into());
        Ok((lane, Subscription { memory: memory.try_clone()?, control, socket, start, overwrites }))
    };
    let (_, subscription) = subscribe(&mut sender)?;
    let receiver = AnySubscriber::new(subscription, &options)?;
    let mut honest = HonestReceiver { receiver, expected: 0, buffer: [0; LONGEST] };
    let mut sent = 0;
    let mut hostile: Vec<Peer> = Vec::new();
    while !input.0.is_empty() {
        match input.byte() % 8 {
            0..3 => sent += u64::from(send_numbered(&mut sender, sent, overwrites, input)),
            3 => drop(honest.receive(sent)),
            4 if hostile.len() < 3 => {
                let (lane, subscription) = subscribe(&mut sender)?;
                hostile.push(Peer::new(lane.again(), lane, subscription.socket.into(), &options));
            }
            4 => drop(hostile.remove(0)),
            5 => assert!(sender.receivers() > 0),
            _ => {
                let which = usize::from(input.byte()) % hostile.len().max(1);
                hostile.iter().skip(which).take(1).for_each(|peer| peer.control(input));
            }
        }
    }
    while honest.receive(sent) {}
    Ok(())
}

/// Receives from an honest sender and from senders that write any word of what they share with the inbox. Checks that
/// every message of the honest one arrives in order and soon.
pub fn inbox(bytes: &[u8]) {
    let result = Senders::new(Input(bytes)).and_then(Senders::run);
    assert!(result.is_ok(), "{result:?}");
}

/// An inbox with its senders.
struct Senders<'a> {
    input: Input<'a>,
    options: Options,
    inbox: Inbox,
    honest: Sender,
    id: SenderId,
    /// The lengths of messages that the honest sender has sent and that have not arrived.
    sent: VecDeque<usize>,
    hostile: Vec<(SenderId, Peer)>,
    /// The hostile senders that have not left.
    present: BTreeSet<SenderId>,
}

impl<'a> Senders<'a> {
    fn new(mut input: Input<'a>) -> Result<Senders<'a>, Error> {
        let options = input.options();
        let mut inbox = Inbox::new(&options)?;
        let [one, other] = OneWayDescriptors::pair(&options)?;
        let honest = Sender::from_descriptors(one, &options)?;
        let id = inbox.add(Receiver::from_descriptors(other, &options)?)?;
        let (hostile, present) = (Vec::new(), BTreeSet::new());
        Ok(Senders { input, options, inbox, honest, id, sent: VecDeque::new(), hostile, present })
    }

    fn run(mut self) -> Result<(), Error> {
        let mut buffer = [0; LONGEST];
        while !self.input.0.is_empty() {
            let input = &mut self.input;
            let which = usize::from(input.byte());
            match (input.byte() % 8, which.checked_rem(self.hostile.len())) {
                (0, _) => {
                    let len = input.below(1000);
                    match self.honest.try_send(&vec![len as u8; len]) {
                        Ok(()) => self.sent.push_back(len),
                        Err(error) => assert_eq!(error, Error::WouldBlock),
                    }
                }
                (1 | 2, Some(which)) => self.hostile[which].1.write(input),
                (3, Some(which)) => self.hostile[which].1.control(input),
                (4, Some(which)) if self.hostile.len() > 2 => drop(self.hostile.remove(which)),
                (1..5, _) => {
                    let [one, other] = OneWayDescriptors::pair(&self.options)?;
                    let id = self.inbox.add(Receiver::from_descriptors(other, &self.options)?)?;
                    let [ring] = Lane::map(one.memory.as_fd(), CAPACITY)?;
                    self.hostile.push((id, Peer::new(ring.again(), ring, one.socket.into(), &self.options)));
                    self.present.insert(id);
                }
                (5, Some(which)) if input.byte() == 255 => {
                    let id = self.hostile[which].0;
                    assert_eq!(self.inbox.remove(id).is_some(), self.present.remove(&id));
                }
                (5, _) => {
                    self.inbox.watch()?;
                }
                _ => {
                    let room = [LONGEST, 100, 0][which % 3];
                    // A wait that epoll ends takes a millisecond.
                    let waits = input.byte() == 255;
                    let calls = if waits { 1 } else { 1 + input.byte() % 64 };
                    for _ in 0..calls {
                        let event = match waits {
                            true => self.inbox.recv_timeout(&mut buffer[..room], self.input.limit()),
                            false => self.inbox.try_recv(&mut buffer[..room]),
                        };
                        self.check(event, &buffer[..room]);
                    }
                }
            }
        }
        let mut calls = 0;
        while let Some(next) = self.sent.front().copied() {
            let event = self.inbox.try_recv(&mut buffer);
            calls = if matches!(event, Ok(Event::Message { from, .. }) if from == self.id) {
                0
            } else {
                calls + 1
            };
            assert!(calls < MOST_CALLS, "a message of {next} bytes does not arrive");
            self.check(event, &buffer);
        }
        Ok(())
    }

    fn check(&mut self, event: Result<Event, Error>, buffer: &[u8]) {
        match event {
            Ok(Event::Message { from, len }) if from == self.id => {
                assert_eq!(Some(len), self.sent.pop_front());
                assert!(buffer[..len].iter().all(|byte| *byte == len as u8));
            }
            Ok(Event::Message { from, len }) => assert!(self.present.contains(&from) && len <= buffer.len()),
            Ok(Event::BufferTooSmall { from, len }) => {
                assert!(buffer.len() < len && len <= LONGEST);
                assert!(if from == self.id {
                    self.sent.front() == Some(&len)
                } else {
                    self.present.contains(&from)
                });
            }
            Ok(Event::Left { from, reason }) => assert!(self.present.remove(&from), "{reason}"),
            Err(Error::WouldBlock | Error::TimedOut) => {
                assert!(self.sent.is_empty(), "a message is not found")
            }
            event => panic!("{event:?}"),
        }
    }
}
