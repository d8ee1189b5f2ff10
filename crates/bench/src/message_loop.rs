//! One role's side of an exchange: its buffers, its stamps, and what every pattern does with them.

use crate::control_page::{ControlPage, Progress};
use crate::role::RoleError;
use crate::stamp::{Discrepancy, Stamp};
use crate::waiting::Channel;
use furlong_mechanism::Message;
use furlong_model::{Fault, Pattern, Role};
use furlong_os::usage::{self, Usage};
use std::io;

/// One role's side of an exchange.
#[derive(Debug)]
pub(crate) struct MessageLoop<'a, C> {
    channel: C,
    role: Role,
    pattern: Pattern,
    pub(crate) control_page: &'a ControlPage,
    /// One buffer, or as many more as the other end may still read out of: a message stays untouched until it is known
    /// to be read. A power of two.
    outbox: Vec<Message>,
    inbox: Message,
    own: Stamp,
    other: Stamp,
    /// Messages received so far, each way; one way, those sent for who sends. The next has this number plus 1.
    pub(crate) done: u64,
    /// Length of a message that was received and not checked yet.
    pub(crate) unchecked: Option<usize>,
}

/// What the messages of an exchange are like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageFormat {
    /// How they go back and forth.
    pub(crate) pattern: Pattern,
    /// Bytes in those that each role sends, the initiator's first.
    pub(crate) sizes_bytes: [usize; 2],
    /// Makes them unlike those of any other trial.
    pub(crate) key: u64,
    /// There is no other process, and the messages that come are those that were sent.
    pub(crate) alone: bool,
}

/// What a leg of the loop took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    /// Round trips, or messages one way, between the two readings of the usage.
    pub(crate) round_trips: u64,
    /// Time that they took, in nanoseconds; 0 for who holds no clock.
    pub(crate) elapsed_ns: u64,
    /// What this role used in that time.
    pub(crate) usage: Usage,
    /// Processor time in it, in nanoseconds, that went into waiting for a message to be due.
    pub(crate) idle_ns: u64,
}

impl<'a, C: Channel> MessageLoop<'a, C> {
    /// Makes its buffers.
    pub(crate) fn new(
        channel: C,
        role: Role,
        control_page: &'a ControlPage,
        shape: &MessageFormat,
    ) -> io::Result<Self> {
        let [sent_bytes, received_bytes] = [role, role.peer()].map(|role| shape.sizes_bytes[role.index()]);
        let unread_buffers = channel.unread_buffers(sent_bytes);
        let buffers = match shape.pattern {
            // The answer says that the message before this one was read.
            Pattern::RoundTrip | Pattern::Request => 1 + unread_buffers.min(1),
            Pattern::OneWay => unread_buffers + 1,
        }
        .next_power_of_two();
        // Each direction has a key of its own, so that a message that comes back to its sender is caught.
        let direction = |from: Role| Stamp::new(if from == Role::Initiator { shape.key } else { !shape.key });
        let own = direction(role);
        let other = if shape.alone { own } else { direction(role.peer()) };
        let (outbox, inbox) = if sent_bytes == received_bytes {
            let mut outbox = Message::several(buffers + 1, sent_bytes)?;
            let inbox = outbox.split_off(buffers).remove(0);
            (outbox, inbox)
        } else {
            (Message::several(buffers, sent_bytes)?, Message::new(received_bytes)?)
        };
        let pattern = shape.pattern;
        Ok(MessageLoop {
            channel,
            role,
            pattern,
            control_page,
            outbox,
            inbox,
            own,
            other,
            done: 0,
            unchecked: None,
        })
    }

    /// Exchanges `bursts` of `burst` messages, each way that the pattern has, and checks every byte. Gives the number
    /// checked. What it sent last may still be unread when it returns; both roles must meet before either sends again.
    pub(crate) fn verify(&mut self, bursts: u64, burst: u64) -> Result<u64, RoleError> {
        let answers = self.pattern != Pattern::OneWay;
        for _ in 0..bursts {
            match self.role {
                Role::Initiator => {
                    self.send_burst(burst)?;
                    if answers {
                        self.receive_burst(burst)?;
                    }
                }
                Role::Responder => {
                    self.receive_burst(burst)?;
                    if answers {
                        self.send_burst(burst)?;
                    }
                }
            }
            self.done += burst;
        }
        Ok(if answers || self.role == Role::Responder { bursts * burst } else { 0 })
    }

    fn send_burst(&mut self, burst: u64) -> Result<(), RoleError> {
        for number in self.done + 1..=self.done + burst {
            let place = self.place(number);
            self.own.write_all(&mut self.outbox[place], number as u32);
            self.channel.send(&mut self.outbox[place]).map_err(|error| RoleError::of_call("send", &error))?;
            self.note(number, if self.role == Role::Initiator { self.done } else { self.done + burst });
        }
        Ok(())
    }

    fn receive_burst(&mut self, burst: u64) -> Result<(), RoleError> {
        // A message that came too early: lost is the one before it, unless that comes now.
        let mut early: Option<Discrepancy> = None;
        for number in self.done + 1..=self.done + burst {
            let length = self.receive()?;
            self.note(if self.role == Role::Initiator { self.done + burst } else { self.done }, number);
            let due = if early.is_some() { number - 1 } else { number };
            match (self.other.check_all(&self.inbox, length, due as u32), early.take()) {
                (Ok(()), None) => {}
                (Ok(()), Some(before)) => {
                    let detail = format!("message {due} came after {}", before.found.unwrap_or_default());
                    return Err(RoleError::new(Fault::Reordered, detail));
                }
                (Err(found), None) if found.fault == Fault::Lost && number < self.done + burst => {
                    early = Some(found);
                }
                (Err(_), Some(before)) => return Err(before.into()),
                (Err(found), None) => return Err(found.into()),
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn send(&mut self) -> Result<(), RoleError> {
        let place = self.place(self.done + 1);
        self.channel.send(&mut self.outbox[place]).map_err(|error| RoleError::of_call("send", &error))
    }

    #[inline(always)]
    pub(crate) fn receive(&mut self) -> Result<usize, RoleError> {
        self.channel.recv(&mut self.inbox).map_err(|error| RoleError::of_call("receive", &error))
    }

    /// Checks the message that came last, if that was not done yet.
    #[inline(always)]
    pub(crate) fn settle(&mut self) -> Result<(), RoleError> {
        if let Some(length) = self.unchecked.take() {
            self.other.check(&self.inbox, length, self.done as u32)?;
        }
        Ok(())
    }

    /// Stamps the message after the one that is under way.
    #[inline(always)]
    pub(crate) fn prepare_next(&mut self) {
        let number = self.done + 1;
        let place = self.place(number);
        self.own.write(&mut self.outbox[place], number as u32);
    }

    /// Which buffer a message is sent from.
    #[inline(always)]
    fn place(&self, number: u64) -> usize {
        number as usize & (self.outbox.len() - 1)
    }

    #[inline(always)]
    pub(crate) fn note(&self, sent: u64, received: u64) {
        self.control_page.note(self.role, Progress { sent, received });
    }
}

/// What this role has used so far.
pub(crate) fn used() -> Result<Usage, RoleError> {
    usage::now().map_err(|error| RoleError::of_call("getrusage", &error))
}
