//! The messages of one role: buffers, numbers, stamps and progress.

use crate::channel::Channel;
use crate::control_page::{ControlPage, Progress};
use crate::role_error::RoleError;
use crate::schedule::{IdleResources, LateSends};
use crate::size_sequence::SizeSequence;
use crate::stamp::Stamp;
use furlong_mechanism::{Message, MessageBatch};
use furlong_model::{OpenLoop, PageKind, Pattern, Role};
use furlong_os::clock;
use furlong_os::usage::{self, Usage};
use std::io;

/// State of the messages that a role sends and receives, apart from the channel.
#[derive(Debug)]
pub struct Messages<'a> {
    /// Role that sends and receives the messages.
    pub role: Role,
    /// Exchange pattern.
    pub pattern: Pattern,
    /// Page with the number of the last message.
    pub control_page: &'a ControlPage,
    /// Line of the page to which this party writes its progress.
    pub line: usize,
    /// One buffer, plus one for each message that the other end may still read: a message stays unchanged until it is
    /// known to be read. The number of buffers is a power of two.
    outbox: Vec<Message>,
    /// Buffer into which messages are received.
    pub inbox: Message,
    /// Stamp of the role's own messages.
    pub own: Stamp,
    /// Stamp that received messages must carry.
    pub other: Stamp,
    /// Number of the last message: in round trips and at a receiver, the messages received or lost so far; at a one-way
    /// sender, the messages sent. The next message has this number plus 1.
    pub done: u64,
    /// Whether messages may be lost. Those that arrive are whole and in order.
    pub may_lose: bool,
    /// Whether the last message of a part may be lost too. It is retransmitted until all receivers have it.
    pub last_may_be_lost: bool,
    /// Number of messages that are missing between received ones.
    pub lost: u64,
    /// Length of a message that was received and is not checked yet.
    pub unchecked: Option<usize>,
    /// Sizes of sent and of received messages; `None` for messages of one size.
    sizes: [Option<SizeSequence>; 2],
    /// Number of messages that were received, or are being received, if their sizes differ.
    arrived: u64,
    /// Whether the mechanism keeps the boundaries of messages.
    has_boundaries: bool,
    /// Messages of one call; `None` if each message has its own.
    pub batch: Option<MessageBatch>,
}

/// Format of the messages of an exchange.
#[derive(Debug, Clone, Copy)]
pub struct MessageFormat {
    /// Exchange pattern.
    pub pattern: Pattern,
    /// Bytes in the messages of each role, the initiator's first.
    pub sizes_bytes: [usize; 2],
    /// Key that distinguishes the messages from those of any other trial.
    pub key: u64,
    /// Kind of pages of the buffers, if one is requested.
    pub pages: Option<PageKind>,
    /// Messages of the initiator in flight at any time.
    pub window: u32,
    /// Whether the process runs alone, so that it receives the messages that it sent.
    pub alone: bool,
    /// Whether messages have several sizes, up to `sizes_bytes`.
    pub have_several_sizes: bool,
    /// Whether the mechanism keeps the boundaries of messages.
    pub has_boundaries: bool,
    /// Whether messages may be lost. Those that arrive are whole and in order.
    pub may_lose: bool,
    /// Whether the last message of a part may be lost too. It is retransmitted until all receivers have it.
    pub last_may_be_lost: bool,
    /// Most messages per call; `None` if each has its own.
    pub batch: Option<usize>,
}

/// Result of one run of a loop.
#[derive(Debug, Clone, Copy)]
pub struct LoopResult {
    /// Round trips, or messages one way, between the two readings of the usage.
    pub round_trips: u64,
    /// Time at which they began, in nanoseconds of the clock that all processes read.
    pub began_ns: u64,
    /// Duration in nanoseconds; 0 for a role that does not hold the clock.
    pub elapsed_ns: u64,
    /// Resources that this role used in that time.
    pub usage: Usage,
    /// Time between the two readings of the usage, in nanoseconds; `None` if it was not read.
    pub window_ns: Option<u64>,
    /// Part of the usage that went into waiting for a message to be due.
    pub idle: IdleResources,
    /// Messages sent later than they were due, by the role that holds the clock; `None` if no message is due at a set
    /// time, or if the number is not known.
    pub late: Option<LateSends>,
    /// Age of the messages in flight at the beginning and the end of that time, all of them together, in nanoseconds;
    /// `None` if one message is in flight.
    pub outstanding_ns: Option<[u64; 2]>,
    /// Messages in flight in an open loop; `None` in any other loop.
    pub open_loop: Option<OpenLoop>,
    /// Messages lost in that time, which `round_trips` does not include; `None` if none can be lost.
    pub lost: Option<u64>,
    /// Number of batches in which the role sent or received the messages; `None` if each had its own call.
    pub batches: Option<u64>,
}

impl LoopResult {
    /// Creates the result of a loop of which only the duration is known.
    pub(crate) fn seen_from_outside(round_trips: u64, elapsed_ns: u64) -> LoopResult {
        LoopResult {
            round_trips,
            began_ns: 0,
            elapsed_ns,
            usage: Usage::default(),
            window_ns: None,
            idle: IdleResources::default(),
            late: None,
            outstanding_ns: None,
            open_loop: None,
            lost: None,
            batches: None,
        }
    }
}

/// State of a role when the clock started.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    done: u64,
    lost: u64,
    usage: Usage,
    began_ns: u64,
}

impl<'a> Messages<'a> {
    /// Allocates the buffers for a channel.
    pub fn new(
        channel: &dyn Channel,
        role: Role,
        (control_page, line): (&'a ControlPage, usize),
        format: &MessageFormat,
    ) -> io::Result<Self> {
        let [sent_bytes, received_bytes] = [role, role.peer()].map(|role| format.sizes_bytes[role.index()]);
        // The most messages are unread if all are as small as possible.
        let unread_buffers = channel.unread_buffers(if format.have_several_sizes { 1 } else { sent_bytes });
        // An answer implies that the message one window before it was read.
        let is_one_way = format.pattern.is_one_way();
        let unread = if is_one_way { unread_buffers } else { unread_buffers.min(format.window as usize) };
        let buffers = (unread + 1).next_power_of_two();
        let own = Stamp::for_direction(format.key, role);
        let other = if format.alone { own } else { Stamp::for_direction(format.key, role.peer()) };
        let (outbox, inbox) = if sent_bytes == received_bytes {
            let mut outbox = Message::several(buffers + 1, sent_bytes, format.pages)?;
            let inbox = outbox.split_off(buffers).remove(0);
            (outbox, inbox)
        } else {
            let inbox = Message::several(1, received_bytes, format.pages)?.remove(0);
            (Message::several(buffers, sent_bytes, format.pages)?, inbox)
        };
        let batch_bytes = if role == Role::Initiator { sent_bytes } else { received_bytes };
        let batch =
            format.batch.map(|most| MessageBatch::new(most, batch_bytes, format.pages)).transpose()?;
        let pattern = format.pattern;
        Ok(Messages {
            role,
            pattern,
            control_page,
            line,
            outbox,
            inbox,
            own,
            other,
            done: 0,
            may_lose: format.may_lose,
            last_may_be_lost: format.last_may_be_lost,
            lost: 0,
            unchecked: None,
            sizes: [None, None],
            arrived: 0,
            has_boundaries: format.has_boundaries,
            batch,
        })
    }

    /// Lets the messages that this role sends, or those that it receives, have the sizes of a sequence.
    pub fn mix_sizes(&mut self, sent: Option<SizeSequence>, received: Option<SizeSequence>) {
        self.sizes = [sent, received];
    }

    /// Lets a replayed trace begin with the message after the next one, which synchronises both roles.
    pub fn begin_trace(&mut self) {
        let first = self.done + 2;
        self.sizes.iter_mut().flatten().for_each(|sizes| sizes.begin_at(first));
    }

    /// Sets whether every byte of the following messages is checked, or their stamps alone.
    pub fn every_byte_counts(&mut self, counts: bool) {
        for message in self.outbox.iter_mut().chain([&mut self.inbox]) {
            message.every_byte_counts = counts;
        }
    }

    /// Sends the next message.
    #[inline(always)]
    pub fn send<C: Channel + ?Sized>(&mut self, channel: &mut C) -> Result<(), RoleError> {
        self.send_number(channel, self.done + 1)
    }

    /// Sends the next message of a stream, which another one follows at once.
    #[inline(always)]
    pub fn send_more<C: Channel>(&mut self, channel: &mut C) -> Result<(), RoleError> {
        let message = self.outgoing(self.done + 1);
        channel.send_more(message).map_err(|error| RoleError::from_call("send", error))
    }

    /// Sends the message with this number, which was prepared.
    #[inline(always)]
    pub fn send_number<C: Channel + ?Sized>(
        &mut self,
        channel: &mut C,
        number: u64,
    ) -> Result<(), RoleError> {
        let message = self.outgoing(number);
        channel.send(message).map_err(|error| RoleError::from_call("send", error))
    }

    /// Receives a message and returns its length.
    #[inline(always)]
    pub fn receive<C: Channel + ?Sized>(&mut self, channel: &mut C) -> Result<usize, RoleError> {
        if self.sizes[1].is_some() {
            let received = self.receive_of_sizes(|inbox| channel.recv(inbox));
            return received.map_err(|error| RoleError::from_call("receive", error));
        }
        channel.recv(&mut self.inbox).map_err(|error| RoleError::from_call("receive", error))
    }

    /// Receives a message if one has arrived, and returns its length.
    pub fn try_receive(&mut self, channel: &mut dyn Channel) -> Result<Option<usize>, RoleError> {
        let received = match self.sizes[1] {
            Some(_) => self.receive_of_sizes(|inbox| channel.recv_if_arrived(inbox)),
            None => channel.recv_if_arrived(&mut self.inbox),
        };
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            received => received.map(Some).map_err(|error| RoleError::from_call("receive", error)),
        }
    }

    /// Receives the next message of a sequence of sizes. A stream has no boundaries, so its receiver asks for the bytes of one
    /// message. Other receivers have room for the largest one, which `mq_receive` requires.
    #[inline(never)]
    fn receive_of_sizes(
        &mut self,
        receive: impl FnOnce(&mut Message) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let Some(sizes) = &self.sizes[1] else { return Ok(0) };
        let bytes = sizes.bytes(self.arrived + 1);
        self.inbox.resize(if self.has_boundaries { sizes.largest_bytes() } else { bytes });
        let length = receive(&mut self.inbox)?;
        self.arrived += 1;
        self.inbox.resize(bytes);
        Ok(length)
    }

    /// Counts and checks the next message, which was received with this length.
    #[inline(always)]
    pub fn took(&mut self, length: usize) -> Result<(), RoleError> {
        self.done += 1;
        self.unchecked = Some(length);
        self.settle()
    }

    /// Returns whether this message is a duplicate of the last one.
    pub fn is_last_again(&self, length: usize) -> bool {
        self.other.holds(&self.inbox, length, self.done as u32)
    }

    /// Checks the last message that was received, unless it is checked already.
    #[inline(always)]
    pub fn settle(&mut self) -> Result<(), RoleError> {
        match self.unchecked.take() {
            Some(length) if !self.other.holds(&self.inbox, length, self.done as u32) => {
                self.take_another(length)
            }
            _ => Ok(()),
        }
    }

    /// Accepts a message that is not the next one, if the messages before it may be lost.
    #[cold]
    #[inline(never)]
    fn take_another(&mut self, length: usize) -> Result<(), RoleError> {
        let number = self.other.claimed(&self.inbox).filter(|_| self.may_lose);
        match number.map(|number| (number, number.wrapping_sub(self.done as u32))) {
            Some((number, ahead)) if ahead as i32 > 0 && self.other.holds(&self.inbox, length, number) => {
                self.done += u64::from(ahead);
                self.lost += u64::from(ahead);
                Ok(())
            }
            _ => Err(self.discrepancy(length)),
        }
    }

    fn discrepancy(&self, length: usize) -> RoleError {
        self.other.explain(&self.inbox, length, self.done as u32).into()
    }

    /// Stamps the message after the one in flight.
    #[inline(always)]
    pub fn prepare_next(&mut self) {
        self.prepare(self.done + 1);
    }

    /// Stamps the message with this number.
    #[inline(always)]
    pub fn prepare(&mut self, number: u64) {
        if self.sizes[0].is_some() {
            self.size_outgoing(number);
        }
        let own = self.own;
        own.write(self.outgoing(number), number as u32);
    }

    /// Gives the buffer of the message with this number its size.
    #[inline(never)]
    pub fn size_outgoing(&mut self, number: u64) {
        if let Some(sizes) = &self.sizes[0] {
            let bytes = sizes.bytes(number);
            self.outgoing(number).resize(bytes);
        }
    }

    /// Returns the buffer from which the message with this number is sent.
    #[inline(always)]
    pub fn outgoing(&mut self, number: u64) -> &mut Message {
        let place = number as usize & (self.outbox.len() - 1);
        &mut self.outbox[place]
    }

    /// Reports the progress of this role to the supervisor.
    #[inline(always)]
    pub fn note(&self, sent: u64, received: u64) {
        self.control_page.note(self.line, Progress { sent, received });
    }

    /// Returns how many messages all other receivers have received, in total.
    pub fn received_by_others(&self) -> u64 {
        let others = self.control_page.all_progress().enumerate().skip(1);
        others.filter(|(line, _)| *line != self.line).map(|(_, progress)| progress.sent).sum()
    }

    /// Returns the progress of a receiver, with the number of messages that it got.
    #[inline(always)]
    fn taken(&self) -> Progress {
        Progress { sent: self.done - self.lost, received: self.done }
    }

    /// Reports that this receiver has the last message, and how many messages it got.
    #[inline(always)]
    pub fn note_taken(&self) {
        self.control_page.note(self.line, self.taken());
    }

    /// Reports when this receiver got the last message, for a sender with several receivers.
    #[inline(always)]
    pub fn note_arrival(&self, now_ns: u64) {
        self.control_page.note_arrival(self.line, self.taken(), now_ns);
    }

    /// Returns the state of this role before the measurement.
    pub fn baseline(&self) -> Result<Baseline, RoleError> {
        Ok(Baseline { done: self.done, lost: self.lost, began_ns: clock::now_ns(), usage: used()? })
    }

    /// Returns the messages and the usage since `before`, with the duration `elapsed_ns`.
    pub fn since(&self, before: Baseline, elapsed_ns: u64) -> Result<LoopResult, RoleError> {
        let usage = used()? - before.usage;
        let window_ns = Some(clock::now_ns().saturating_sub(before.began_ns));
        let lost = self.lost - before.lost;
        let round_trips = self.done - before.done - lost;
        let lost = self.may_lose.then_some(lost);
        let idle = IdleResources::default();
        let began_ns = before.began_ns;
        Ok(LoopResult {
            round_trips,
            began_ns,
            elapsed_ns,
            usage,
            window_ns,
            idle,
            late: None,
            outstanding_ns: None,
            open_loop: None,
            lost,
            batches: None,
        })
    }
}

/// Returns the resources that this role has used so far.
fn used() -> Result<Usage, RoleError> {
    usage::now().map_err(|error| RoleError::from_call("getrusage", error))
}
