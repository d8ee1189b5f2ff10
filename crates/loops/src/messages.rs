//! The messages of one role: its buffers, their numbers and stamps, and how far it has come.

use crate::channel::Channel;
use crate::control_page::{ControlPage, Progress};
use crate::role_error::RoleError;
use crate::schedule::{Idle, LateSends};
use crate::stamp::Stamp;
use furlong_mechanism::Message;
use furlong_model::{Pattern, Role};
use furlong_os::clock;
use furlong_os::usage::{self, Usage};
use std::io;

/// What a role sends and receives, apart from the channel.
#[derive(Debug)]
pub struct Messages<'a> {
    /// Whose they are.
    pub role: Role,
    /// How they go back and forth.
    pub pattern: Pattern,
    /// Where it reads and writes which is the last.
    pub control_page: &'a ControlPage,
    /// Where on it this party notes how far it has come.
    pub line: usize,
    /// One buffer, or as many more as the other end may still read out of: a message stays untouched until it is known
    /// to be read. A power of two.
    outbox: Vec<Message>,
    /// The buffer that messages are received into.
    pub inbox: Message,
    /// What its own messages carry.
    pub own: Stamp,
    /// What the messages that come must carry.
    pub other: Stamp,
    /// Messages received so far, each way, and lost; one way, those sent for who sends. The next has this number plus 1.
    pub done: u64,
    /// Whether messages may be lost, and those that come are whole and in order.
    pub may_lose: bool,
    /// Whether the last one of a part may be lost too, and is sent again until all have it.
    pub last_may_be_lost: bool,
    /// Messages that are missing between those that came.
    pub lost: u64,
    /// Length of a message that was received and not checked yet.
    pub unchecked: Option<usize>,
}

/// What the messages of an exchange are like.
#[derive(Debug, Clone, Copy)]
pub struct MessageFormat {
    /// How they go back and forth.
    pub pattern: Pattern,
    /// Bytes in those that each role sends, the initiator's first.
    pub sizes_bytes: [usize; 2],
    /// Makes them unlike those of any other trial.
    pub key: u64,
    /// Messages of the initiator that are outstanding at any time.
    pub window: u32,
    /// There is no other process, and the messages that come are those that were sent.
    pub alone: bool,
    /// Messages may be lost, and those that come are whole and in order.
    pub may_lose: bool,
    /// Among them the last one of a part, which is sent again until all have it.
    pub last_may_be_lost: bool,
}

/// What one run of a loop took.
#[derive(Debug, Clone, Copy)]
pub struct LoopResult {
    /// Round trips, or messages one way, between the two readings of the usage.
    pub round_trips: u64,
    /// When they began, by the clock that all read, in nanoseconds.
    pub began_ns: u64,
    /// Time that they took, in nanoseconds; 0 for who holds no clock.
    pub elapsed_ns: u64,
    /// What this role used in that time.
    pub usage: Usage,
    /// Time between the two readings of the usage, in nanoseconds; `None` if it was not read.
    pub window_ns: Option<u64>,
    /// How much of that went into waiting for a message to be due.
    pub idle: Idle,
    /// Messages sent later than they were due, of the role that holds the clock; `None` where none is due at a set time, or where that is
    /// not known.
    pub late: Option<LateSends>,
    /// How long the messages of a window had been outstanding before and after that time.
    pub outstanding_ns: Option<[u64; 2]>,
    /// Messages that were lost meanwhile, which are not counted above; `None` where none can be.
    pub lost: Option<u64>,
}

impl LoopResult {
    /// That of a loop of which only this is known.
    pub(crate) fn seen_from_outside(round_trips: u64, elapsed_ns: u64) -> LoopResult {
        LoopResult {
            round_trips,
            began_ns: 0,
            elapsed_ns,
            usage: Usage::default(),
            window_ns: None,
            idle: Idle::default(),
            late: None,
            outstanding_ns: None,
            lost: None,
        }
    }
}

/// Where a role stood when the clock began.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    done: u64,
    lost: u64,
    usage: Usage,
    began_ns: u64,
}

impl<'a> Messages<'a> {
    /// Makes the buffers for a channel.
    pub fn new(
        channel: &dyn Channel,
        role: Role,
        (control_page, line): (&'a ControlPage, usize),
        format: &MessageFormat,
    ) -> io::Result<Self> {
        let [sent_bytes, received_bytes] = [role, role.peer()].map(|role| format.sizes_bytes[role.index()]);
        let unread_buffers = channel.unread_buffers(sent_bytes);
        // The answer says that the message of a window before was read.
        let is_one_way = format.pattern.is_one_way();
        let unread = if is_one_way { unread_buffers } else { unread_buffers.min(format.window as usize) };
        let buffers = (unread + 1).next_power_of_two();
        let own = Stamp::of_direction(format.key, role);
        let other = if format.alone { own } else { Stamp::of_direction(format.key, role.peer()) };
        let (outbox, inbox) = if sent_bytes == received_bytes {
            let mut outbox = Message::several(buffers + 1, sent_bytes)?;
            let inbox = outbox.split_off(buffers).remove(0);
            (outbox, inbox)
        } else {
            (Message::several(buffers, sent_bytes)?, Message::new(received_bytes)?)
        };
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
        })
    }

    /// Says whether every byte of the messages to come is checked, or their stamps alone.
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
        channel.send_more(message).map_err(|error| RoleError::of_call("send", error))
    }

    /// Sends the message with this number, which was prepared.
    #[inline(always)]
    pub fn send_number<C: Channel + ?Sized>(
        &mut self,
        channel: &mut C,
        number: u64,
    ) -> Result<(), RoleError> {
        let message = self.outgoing(number);
        channel.send(message).map_err(|error| RoleError::of_call("send", error))
    }

    /// Receives a message and gives its length.
    #[inline(always)]
    pub fn receive<C: Channel + ?Sized>(&mut self, channel: &mut C) -> Result<usize, RoleError> {
        channel.recv(&mut self.inbox).map_err(|error| RoleError::of_call("receive", error))
    }

    /// Counts and checks the next message, which has come with this length.
    #[inline(always)]
    pub fn took(&mut self, length: usize) -> Result<(), RoleError> {
        self.done += 1;
        self.unchecked = Some(length);
        self.settle()
    }

    /// Whether this is the message that came last, once more.
    pub fn is_last_again(&self, length: usize) -> bool {
        self.other.holds(&self.inbox, length, self.done as u32)
    }

    /// Checks the message that came last, if that was not done yet.
    #[inline(always)]
    pub fn settle(&mut self) -> Result<(), RoleError> {
        match self.unchecked.take() {
            Some(length) if !self.other.holds(&self.inbox, length, self.done as u32) => {
                self.take_another(length)
            }
            _ => Ok(()),
        }
    }

    /// Takes a message that is not the next one, if those before it may be lost.
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

    /// Stamps the message after the one that is under way.
    #[inline(always)]
    pub fn prepare_next(&mut self) {
        self.prepare(self.done + 1);
    }

    /// Stamps the message with this number.
    #[inline(always)]
    pub fn prepare(&mut self, number: u64) {
        let own = self.own;
        own.write(self.outgoing(number), number as u32);
    }

    /// The buffer that a message is sent from.
    #[inline(always)]
    pub fn outgoing(&mut self, number: u64) -> &mut Message {
        let place = number as usize & (self.outbox.len() - 1);
        &mut self.outbox[place]
    }

    /// Lets the supervisor know how far this role has come.
    #[inline(always)]
    pub fn note(&self, sent: u64, received: u64) {
        self.control_page.note(self.line, Progress { sent, received });
    }

    /// Messages that all receivers but this one have received, together.
    pub fn received_by_others(&self) -> u64 {
        let others = self.control_page.all_progress().enumerate().skip(1);
        others.filter(|(line, _)| *line != self.line).map(|(_, progress)| progress.sent).sum()
    }

    /// How far a receiver has come, and how many messages it got.
    #[inline(always)]
    fn taken(&self) -> Progress {
        Progress { sent: self.done - self.lost, received: self.done }
    }

    /// Lets all know that this one has the message that came last, and how many it got.
    #[inline(always)]
    pub fn note_taken(&self) {
        self.control_page.note(self.line, self.taken());
    }

    /// Lets whoever sends to several know when this one had the message that came last.
    #[inline(always)]
    pub fn note_arrival(&self, now_ns: u64) {
        self.control_page.note_arrival(self.line, self.taken(), now_ns);
    }

    /// Where this role stands before it is measured.
    pub fn baseline(&self) -> Result<Baseline, RoleError> {
        Ok(Baseline { done: self.done, lost: self.lost, began_ns: clock::now_ns(), usage: used()? })
    }

    /// What was done and used since then, in `elapsed_ns`.
    pub fn since(&self, before: Baseline, elapsed_ns: u64) -> Result<LoopResult, RoleError> {
        let usage = used()? - before.usage;
        let window_ns = Some(clock::now_ns().saturating_sub(before.began_ns));
        let lost = self.lost - before.lost;
        let round_trips = self.done - before.done - lost;
        let lost = self.may_lose.then_some(lost);
        let idle = Idle::default();
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
            lost,
        })
    }
}

/// What this role has used so far.
fn used() -> Result<Usage, RoleError> {
    usage::now().map_err(|error| RoleError::of_call("getrusage", error))
}
