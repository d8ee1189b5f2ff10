//! The measured loop: one message there, one back, one at a time.
//!
//! The initiator sends, and the responder answers with a message of its own. Whatever is not the mechanism's
//! work (writing the next stamp, checking the last message, counting) is done while a message is under way, so
//! that it does not lengthen the round trip. Between a receive and the next send there is the clock alone.

use crate::board::{Board, Progress};
use crate::role::Trouble;
use crate::stamp::{Discrepancy, Stamp};
use crate::waiting::Channel;
use furlong_mechanism::Message;
use furlong_model::{Copies, Fault, Pace, Role};
use furlong_os::clock;
use furlong_os::usage::{self, Usage};
use std::io;

/// One role's side of an exchange.
#[derive(Debug)]
pub(crate) struct Exchange<'a, C> {
    channel: C,
    role: Role,
    board: &'a Board,
    /// One buffer, or two where the other end reads out of it: then a message stays untouched until it is
    /// known to be read.
    outbox: Vec<Message>,
    inbox: Message,
    own: Stamp,
    other: Stamp,
    /// Messages received so far, each way: the next has this number plus 1.
    done: u64,
    /// Length of a message that was received and not checked yet.
    unchecked: Option<usize>,
}

/// A message that leaves no later than this after it was due is on time: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// What a leg of the loop took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    /// Round trips between the two readings of the usage.
    pub(crate) round_trips: u64,
    /// Time that they took, in nanoseconds; 0 for the responder.
    pub(crate) elapsed_ns: u64,
    /// What this role used in that time.
    pub(crate) usage: Usage,
}

impl<'a, C: Channel> Exchange<'a, C> {
    /// `alone`: there is no other process, and the messages that come are those that were sent.
    pub(crate) fn new(
        channel: C,
        role: Role,
        board: &'a Board,
        (size_bytes, key): (usize, u64),
        (copies, alone): (Copies, bool),
    ) -> io::Result<Self> {
        let buffers = match copies {
            Copies::Two => 1,
            Copies::One => 2,
        };
        // Each direction has a key of its own, so that a message that comes back to its sender is caught.
        let direction = |from: Role| Stamp::new(if from == Role::Initiator { key } else { !key });
        let own = direction(role);
        let other = if alone { own } else { direction(role.peer()) };
        let mut outbox = Message::several(buffers + 1, size_bytes)?;
        let inbox = outbox.split_off(buffers).remove(0);
        Ok(Exchange { channel, role, board, outbox, inbox, own, other, done: 0, unchecked: None })
    }

    /// Messages received so far.
    pub(crate) fn received(&self) -> u64 {
        self.done
    }

    /// Exchanges `bursts` of `burst` messages each way and checks every byte. Gives the number checked. What it
    /// sent last may still be unread when it returns; both roles must meet before either sends again.
    pub(crate) fn verify(&mut self, bursts: u64, burst: u64) -> Result<u64, Trouble> {
        for _ in 0..bursts {
            match self.role {
                Role::Initiator => {
                    self.send_burst(burst)?;
                    self.receive_burst(burst)?;
                }
                Role::Responder => {
                    self.receive_burst(burst)?;
                    self.send_burst(burst)?;
                }
            }
            self.done += burst;
        }
        Ok(bursts * burst)
    }

    fn send_burst(&mut self, burst: u64) -> Result<(), Trouble> {
        for number in self.done + 1..=self.done + burst {
            let place = self.place(number);
            self.own.write_all(&mut self.outbox[place], number as u32);
            self.channel.send(&mut self.outbox[place]).map_err(|error| Trouble::of_call("send", &error))?;
            self.note(number, if self.role == Role::Initiator { self.done } else { self.done + burst });
        }
        Ok(())
    }

    fn receive_burst(&mut self, burst: u64) -> Result<(), Trouble> {
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
                    return Err(Trouble::new(Fault::Reordered, detail));
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

    /// Runs round trips for at least `budget_ns`, `batch` to a reading of the clock, and gives `record` the time
    /// of each batch. `record` may end it early by answering `false`.
    #[inline(never)]
    pub(crate) fn lead(
        &mut self,
        budget_ns: u64,
        batch: u32,
        mut record: impl FnMut(u64) -> bool,
    ) -> Result<Leg, Trouble> {
        let before = self.begin()?;
        let start = clock::now_ns();
        let (mut last, mut sample, mut go_on) = (start, None, true);
        while go_on && last - start < budget_ns {
            for _ in 0..batch {
                self.trip(|| {
                    if let Some(sample) = sample.take() {
                        go_on = record(sample);
                    }
                })?;
            }
            let now = clock::now_ns();
            sample = Some(now - last);
            last = now;
        }
        let leg = self.end(before, last - start)?;
        if let Some(sample) = sample {
            record(sample);
        }
        Ok(leg)
    }

    /// Runs round trips for at least `budget_ns`, each begun when `pace` says, and gives `record` the time of each.
    /// Gives also how many were sent late.
    #[inline(never)]
    pub(crate) fn lead_at_pace(
        &mut self,
        budget_ns: u64,
        pace: Pace,
        idle_until: impl Fn(u64),
        mut record: impl FnMut(u64),
    ) -> Result<(Leg, u64), Trouble> {
        let before = self.begin()?;
        let start = clock::now_ns();
        let (mut last, mut due, mut late_sends) = (start, start, 0);
        while last - start < budget_ns {
            due = match pace {
                Pace::Closed => last,
                Pace::Every(interval_ns) => due + interval_ns,
                Pace::Gap(gap_ns) => last + gap_ns,
            };
            idle_until(due);
            let sent = clock::now_ns();
            late_sends += u64::from(sent > due + PUNCTUAL_NS);
            self.trip(|| {})?;
            last = clock::now_ns();
            record(last - if matches!(pace, Pace::Every(_)) { due } else { sent });
        }
        Ok((self.end(before, last - start)?, late_sends))
    }

    /// Begins a leg: the first round trip lines both roles up and is not timed. Gives what was done and used before.
    fn begin(&mut self) -> Result<(u64, Usage), Trouble> {
        self.prepare_next();
        self.trip(|| {})?;
        Ok((self.done, used()?))
    }

    /// Ends a leg that took `elapsed_ns`: the last round trip tells the responder and is not timed.
    fn end(&mut self, before: (u64, Usage), elapsed_ns: u64) -> Result<Leg, Trouble> {
        let usage = used()? - before.1;
        let round_trips = self.done - before.0;
        self.board.announce_last(self.done + 1);
        self.trip(|| {})?;
        self.settle()?;
        Ok(Leg { round_trips, elapsed_ns, usage })
    }

    /// One round trip; `meanwhile` runs while the message is under way.
    #[inline(always)]
    fn trip(&mut self, meanwhile: impl FnOnce()) -> Result<(), Trouble> {
        self.send()?;
        meanwhile();
        self.settle()?;
        self.done += 1;
        self.prepare_next();
        let length = self.receive()?;
        self.unchecked = Some(length);
        Ok(())
    }

    /// Answers until the initiator has announced the end.
    #[inline(never)]
    pub(crate) fn follow(&mut self) -> Result<Leg, Trouble> {
        self.prepare_next();
        let before = (self.done, used()?);
        loop {
            let length = self.receive()?;
            self.send()?;
            self.done += 1;
            self.note(self.done, self.done);
            self.prepare_next();
            self.unchecked = Some(length);
            self.settle()?;
            if self.board.is_last(self.done) {
                let usage = used()? - before.1;
                return Ok(Leg { round_trips: self.done - before.0, elapsed_ns: 0, usage });
            }
        }
    }

    #[inline(always)]
    fn send(&mut self) -> Result<(), Trouble> {
        let place = self.place(self.done + 1);
        self.channel.send(&mut self.outbox[place]).map_err(|error| Trouble::of_call("send", &error))
    }

    #[inline(always)]
    fn receive(&mut self) -> Result<usize, Trouble> {
        self.channel.recv(&mut self.inbox).map_err(|error| Trouble::of_call("receive", &error))
    }

    /// Checks the message that came last, if that was not done yet.
    #[inline(always)]
    fn settle(&mut self) -> Result<(), Trouble> {
        if let Some(length) = self.unchecked.take() {
            self.other.check(&self.inbox, length, self.done as u32)?;
        }
        Ok(())
    }

    /// Stamps the message after the one that is under way.
    #[inline(always)]
    fn prepare_next(&mut self) {
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
    fn note(&self, sent: u64, received: u64) {
        self.board.note(self.role, Progress { sent, received });
    }
}

/// What this role has used so far.
fn used() -> Result<Usage, Trouble> {
    usage::now().map_err(|error| Trouble::of_call("getrusage", &error))
}
