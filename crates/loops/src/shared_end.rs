//! Messages over one link with several processes at one end: from several senders to one receiver, or from one sender to
//! several workers, each message to one of them. The senders of a group write each message to the links of all its receivers.
//!
//! All processes begin together: each process at the shared end takes part in one message that is not timed, and then waits for
//! the start. Each sender numbers its messages separately, with its index in the low bits. So the receiver knows the sender of
//! each message, and detects a message of that sender that is lost, duplicated or out of order. The messages of a worker have
//! rising numbers. Sums of the numbers and of their squares show that the workers have taken exactly the messages that were
//! sent; they are cheap and need no memory. Senders stop by the clock, and each worker stops at a final message. Messages count
//! that arrive during the time in which messages are sent.

use crate::channel::Channel;
use crate::control_page::Progress;
use crate::counted::{PartyCounts, notify, take_as_worker, take_from_several};
use crate::in_batches::{Amount, Arrivals, send_for, worked};
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::stamp::Discrepancy;
use furlong_model::{Exchange, Fault, Party, Role};
use furlong_os::{clock, cpu};
use serde::{Deserialize, Serialize};

/// Part of a process in the exchange over a shared link, with its state.
#[derive(Debug)]
pub enum Place {
    /// One of several senders.
    Sender(Numbering),
    /// The receiver of several senders.
    Receiver(ReceivedMessages),
    /// The sender to this number of workers.
    ToWorkers(u32),
    /// One of several workers.
    Worker(TakenMessages),
    /// A sender of notifications.
    Notifier(PartyCounts),
    /// A receiver of notifications.
    Notified(PartyCounts),
}

impl Place {
    /// Returns the place of a party. The link carries messages, or only notifications.
    pub fn of(exchange: &Exchange, party: Party, notifies_only: bool) -> Place {
        let (pattern, several) = (exchange.pattern(), exchange.parties_per_group());
        if notifies_only {
            let counted = PartyCounts::of(pattern, several);
            return match party.role {
                Role::Initiator => Place::Notifier(counted),
                Role::Responder => Place::Notified(counted),
            };
        }
        let bits = bits_for(several);
        let (receivers, index) = (exchange.fan_in().receivers.get(), party.index() as u32);
        match (pattern.is_from_several(), party.role) {
            (true, Role::Initiator) => Place::Sender(Numbering { sender: index % several, bits }),
            (true, Role::Responder) => Place::Receiver(ReceivedMessages {
                numbers: vec![0; several as usize],
                early: None,
                bits,
                senders: Senders { first: index / receivers * several, all: exchange.parties().get() },
                receivers: exchange.fan_in().all_receivers().get() as usize,
                parts: 0,
                started_ns: 0,
            }),
            (false, Role::Initiator) => Place::ToWorkers(several),
            (false, Role::Responder) => Place::Worker(TakenMessages::default()),
        }
    }

    /// Returns the messages that a worker has taken, if this is a worker.
    pub fn taken(&self) -> Option<TakenMessages> {
        match self {
            Place::Worker(taken) => Some(*taken),
            _ => None,
        }
    }
}

/// Returns the number of bits that distinguish this number of senders.
fn bits_for(senders: u32) -> u32 {
    u32::BITS - senders.saturating_sub(1).leading_zeros()
}

/// Numbering of the messages of one of several senders.
#[derive(Debug, Clone, Copy)]
pub struct Numbering {
    sender: u32,
    bits: u32,
}

impl Numbering {
    /// Numbering of the messages of the single sender to workers.
    pub(crate) const ALONE: Numbering = Numbering { sender: 0, bits: 0 };

    /// Returns the sequence number that is written into the message with this number.
    #[inline(always)]
    fn sequence(self, number: u64) -> u32 {
        (number << self.bits) as u32 | self.sender
    }
}

/// Messages received from several senders.
#[derive(Debug)]
pub struct ReceivedMessages {
    /// Number of the last message of each sender.
    numbers: Vec<u64>,
    /// Sender of a message that arrived one too early in the verified pass. The message before it is lost unless it arrives
    /// next.
    early: Option<usize>,
    bits: u32,
    senders: Senders,
    /// Number of receivers of all groups.
    receivers: usize,
    /// Number of parts that have begun.
    parts: u64,
    /// Start of the last part, in nanoseconds.
    started_ns: u64,
}

impl ReceivedMessages {
    /// Begins a part when all receivers have a message of each of their senders. The first receiver announces the start.
    fn begin(&mut self, messages: &Messages<'_>) -> Result<Baseline, RoleError> {
        let page = messages.control_page;
        self.parts += 1;
        page.announce_last_of(messages.line, self.parts);
        let [all_senders, senders] = [self.senders.all as usize, self.numbers.len()];
        let is_first = messages.line == all_senders;
        if is_first {
            for line in (0..self.receivers).map(|receiver| all_senders + senders * receiver) {
                while page.last_of(line) < self.parts {
                    cpu::yield_now();
                }
            }
        } else {
            page.wait_for_start(self.started_ns);
        }
        let before = messages.baseline()?;
        if is_first {
            page.announce_start(clock::now_ns());
        }
        self.started_ns = page.start();
        Ok(before)
    }
}

/// Numbers of the senders of a link among all senders. A sender's number is also its line on the control page.
#[derive(Debug, Clone, Copy)]
struct Senders {
    first: u32,
    all: u32,
}

impl Senders {
    /// The sender to workers.
    const ONE: Senders = Senders { first: 0, all: 1 };

    /// Returns the party of a sender of the link.
    fn party(self, sender: u32) -> Party {
        Party::of(Role::Initiator, self.first + sender, self.all)
    }
}

/// Messages that one of several workers has taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenMessages {
    /// Number of messages.
    pub count: u64,
    /// Number of the last message; 0 if another program has taken the messages.
    #[serde(default)]
    pub last: u64,
    /// Sum of the message numbers, modulo 2^64.
    pub sum: u64,
    /// Sum of the squares of the message numbers, modulo 2^64.
    pub squares: u64,
}

impl TakenMessages {
    /// Adds the message whose number is larger by `ahead` than that of the last one.
    #[inline(always)]
    fn add(&mut self, ahead: u32) {
        self.last += u64::from(ahead);
        self.count += 1;
        self.sum = self.sum.wrapping_add(self.last);
        self.squares = self.squares.wrapping_add(self.last.wrapping_mul(self.last));
    }
}

/// An end of a link that several processes share, or the opposite end. All mechanisms with shared ends make system calls,
/// compared with which a call through a pointer is short.
pub struct SharedEnd {
    /// The channel of the end.
    pub channel: Box<dyn Channel>,
    /// Whether the link carries notifications alone.
    pub notifies_only: bool,
}

impl SharedEnd {
    /// Sends or receives for as long as `amount` says. The recorder receives the times, and may end a sender's loop early.
    pub fn run_shared(
        &mut self,
        messages: &mut Messages<'_>,
        place: &mut Place,
        amount: Amount,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        if self.notifies_only {
            run_notifications(&mut *self.channel, messages, place, amount, recorder)
        } else {
            run_messages::<false>(&mut *self.channel, messages, place, amount, recorder)
        }
    }
}

/// Runs the verified pass, which checks every byte of `of_each` messages of each sender.
pub fn verify_shared(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    place: &mut Place,
    of_each: u64,
) -> Result<LoopResult, RoleError> {
    let amount = Amount { budget_ns: u64::MAX, batch: 1 };
    let recorder = &mut Recorder::counting(0, Some(of_each));
    match place {
        Place::Notifier(_) | Place::Notified(_) => {
            run_notifications(channel, messages, place, amount, recorder)
        }
        _ => run_messages::<true>(channel, messages, place, amount, recorder),
    }
}

#[inline(always)]
fn run_messages<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    place: &mut Place,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    match place {
        Place::Sender(numbering) => {
            send_beside_others::<WHOLE>(channel, messages, *numbering, amount, recorder)
        }
        Place::Receiver(received) => {
            receive_from_several::<WHOLE>(channel, messages, received, amount, recorder)
        }
        Place::ToWorkers(workers) => send_to_workers::<WHOLE>(channel, messages, *workers, amount, recorder),
        Place::Worker(taken) => receive_as_worker::<WHOLE>(channel, messages, taken, recorder),
        Place::Notifier(_) | Place::Notified(_) => Err(other_place()),
    }
}

#[inline(always)]
fn run_notifications(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    place: &mut Place,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    match place {
        Place::Notifier(counted) => notify(channel, messages, *counted, amount, recorder),
        Place::Notified(counted) if messages.pattern.is_from_several() => {
            take_from_several(channel, messages, *counted, amount, recorder)
        }
        Place::Notified(_) => take_as_worker(channel, messages, recorder),
        _ => Err(other_place()),
    }
}

#[cold]
fn other_place() -> RoleError {
    RoleError::new(Fault::Error, "this end has no loop for messages of this kind")
}

/// Sends as one of several senders.
fn send_beside_others<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    numbering: Numbering,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let (page, line, start_before) = (messages.control_page, messages.line, messages.control_page.start());
    send_untimed::<WHOLE>(channel, messages, numbering, 1)?;
    page.wait_for_start(start_before);
    let before = messages.baseline()?;
    let start = page.start();
    let next = || send_next::<WHOLE>(channel, messages, numbering);
    let elapsed_ns = send_for(start, amount, recorder, next)?;
    page.announce_last_of(line, messages.done + 1);
    send_untimed::<WHOLE>(channel, messages, numbering, 1)?;
    messages.since(before, elapsed_ns)
}

/// Sends to several workers, and then one more message per worker, which ends its part.
fn send_to_workers<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    workers: u32,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let page = messages.control_page;
    let (before, start) = begin_work::<WHOLE>(channel, messages, workers)?;
    let next = || send_next::<WHOLE>(channel, messages, Numbering::ALONE);
    let elapsed_ns = send_for(start, amount, recorder, next)?;
    page.announce_last(messages.done);
    send_untimed::<WHOLE>(channel, messages, Numbering::ALONE, workers)?;
    messages.since(before, elapsed_ns)
}

/// Sends each worker a message that is not timed, waits until all have it, and announces the start.
pub(crate) fn begin_work<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    workers: u32,
) -> Result<(Baseline, u64), RoleError> {
    let page = messages.control_page;
    page.announce_last(u64::MAX);
    let sent_before = messages.done;
    send_untimed::<WHOLE>(channel, messages, Numbering::ALONE, workers)?;
    while page.received_by_all() <= sent_before {
        cpu::yield_now();
    }
    page.announce_last_of(messages.line, messages.done);
    let before = messages.baseline()?;
    let start = clock::now_ns();
    page.announce_start(start);
    Ok((before, start))
}

/// Sends `count` messages outside the measured time.
pub(crate) fn send_untimed<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    numbering: Numbering,
    count: u32,
) -> Result<(), RoleError> {
    for _ in 0..count {
        send_next::<WHOLE>(channel, messages, numbering)?;
    }
    messages.note(messages.done, 0);
    Ok(())
}

/// Receives until the last message of each sender has arrived.
fn receive_from_several<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    received: &mut ReceivedMessages,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let (page, senders) = (messages.control_page, received.numbers.len());
    receive_untimed::<WHOLE>(channel, messages, received)?;
    let before = received.begin(messages)?;
    let (first, start) = (received.senders.first as usize, received.started_ns);
    let (mut arrivals, mut ended) = (Arrivals::new(start, amount, recorder), 0);
    while ended < senders {
        let Some(sender) = receive_next::<WHOLE>(channel, messages, received)? else { continue };
        ended += usize::from(page.last_of(first + sender) == received.numbers[sender]);
        arrivals.add(ended == senders);
    }
    messages.since(before, arrivals.elapsed_ns())
}

/// Receives one message of each sender, which then waits for the start.
fn receive_untimed<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    received: &mut ReceivedMessages,
) -> Result<(), RoleError> {
    for _ in 0..received.numbers.len() {
        receive_next::<WHOLE>(channel, messages, received)?;
    }
    Ok(())
}

/// Receives as one of several workers until a message arrives that ends its part.
fn receive_as_worker<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    taken: &mut TakenMessages,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let page = messages.control_page;
    let before = take_untimed::<WHOLE>(channel, messages, taken)?;
    let (taken_before, mut in_time) = (taken.count, taken.count);
    loop {
        take_next::<WHOLE>(channel, messages, taken)?;
        match page.last() {
            u64::MAX => in_time = taken.count,
            last if taken.last > last => break,
            _ => {}
        }
    }
    worked(messages, before, in_time - taken_before, recorder)
}

/// Receives one message as a worker, and waits for the start.
pub(crate) fn take_untimed<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    taken: &mut TakenMessages,
) -> Result<Baseline, RoleError> {
    let (page, start_before) = (messages.control_page, messages.control_page.start());
    take_next::<WHOLE>(channel, messages, taken)?;
    page.wait_for_start(start_before);
    messages.baseline()
}

/// Stamps and sends the next message.
#[inline(always)]
pub(crate) fn send_next<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    numbering: Numbering,
) -> Result<(), RoleError> {
    let (own, number) = (messages.own, messages.done + 1);
    let (message, sequence) = (messages.outgoing(number), numbering.sequence(number));
    if WHOLE {
        own.write_all(message, sequence);
    } else {
        own.write(message, sequence);
    }
    messages.send_number(channel, number)?;
    messages.done = number;
    if WHOLE {
        messages.note(number, 0);
    }
    Ok(())
}

/// Receives and checks the next message of any sender, and returns its sender. Returns `None` while a missing message may still
/// arrive.
#[inline(always)]
fn receive_next<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    received: &mut ReceivedMessages,
) -> Result<Option<usize>, RoleError> {
    let length = messages.receive(channel)?;
    messages.done += 1;
    let sequence = check_bytes::<WHOLE>(messages, length, (received.senders, received.bits))?;
    let sender = (sequence & ((1 << received.bits) - 1)) as usize;
    let numbering = Numbering { sender: sender as u32, bits: received.bits };
    let due = received.numbers.get(sender).map(|number| number + 1);
    let Some(number) = due.filter(|due| numbering.sequence(*due) == sequence && received.early.is_none())
    else {
        return out_of_turn::<WHOLE>(received, sequence, sender).map(|()| None);
    };
    received.numbers[sender] = number;
    let line = messages.line + sender;
    messages.control_page.note(line, Progress { sent: 0, received: number });
    Ok(Some(sender))
}

/// Returns the fault of a message that is not the next one of its sender. In the verified pass, the message after the next one
/// is not a fault yet, because the next one may still arrive.
#[cold]
#[inline(never)]
fn out_of_turn<const WHOLE: bool>(
    received: &mut ReceivedMessages,
    sequence: u32,
    sender: usize,
) -> Result<(), RoleError> {
    let (bits, senders) = (received.bits, received.numbers.len());
    let Some(due) = received.numbers.get(sender).map(|number| number + 1) else {
        let detail = format!("a message of sender {} arrived, but there are only {senders}", sender + 1);
        return Err(RoleError::new(Fault::Flipped, detail));
    };
    let whose = received.senders.party(sender as u32);
    let numbering = Numbering { sender: sender as u32, bits };
    // The low bits are equal, so they are 0 in the difference.
    let ahead = i64::from(sequence.wrapping_sub(numbering.sequence(due)) as i32 >> bits);
    let found = due.saturating_add_signed(ahead);
    let (fault, detail) = match (received.early, ahead) {
        (None, 1) if WHOLE => {
            received.early = Some(sender);
            return Ok(());
        }
        // Other senders continue in between.
        (Some(early), 0) if early != sender => {
            received.numbers[sender] = due;
            return Ok(());
        }
        (Some(early), 0) if early == sender => {
            (Fault::Reordered, format!("message {due} of {whose} arrived after {}", due + 1))
        }
        (_, 1..) => {
            (Fault::Lost, format!("message {found} of {whose} arrived instead of {due}, which was lost"))
        }
        _ => (Fault::Repeated, format!("message {found} of {whose} arrived again instead of {due}")),
    };
    Err(RoleError::new(fault, detail))
}

/// Receives and checks the next message of this worker.
#[inline(always)]
pub(crate) fn take_next<const WHOLE: bool>(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    taken: &mut TakenMessages,
) -> Result<(), RoleError> {
    let length = messages.receive(channel)?;
    messages.done += 1;
    let sequence = check_bytes::<WHOLE>(messages, length, (Senders::ONE, 0))?;
    let ahead = sequence.wrapping_sub(taken.last as u32);
    if ahead as i32 <= 0 {
        return Err(taken_before(*taken, ahead as i32));
    }
    taken.add(ahead);
    messages.note(taken.count, taken.last);
    Ok(())
}

/// Returns the fault of a message whose number does not rise.
#[cold]
#[inline(never)]
fn taken_before(taken: TakenMessages, ahead: i32) -> RoleError {
    let found = taken.last.saturating_add_signed(ahead.into());
    if ahead == 0 {
        return RoleError::new(Fault::Repeated, format!("message {found} arrived twice"));
    }
    RoleError::new(Fault::Reordered, format!("message {found} arrived after {}", taken.last))
}

/// Checks the message that was received with this length, and returns its sequence number.
#[inline(always)]
fn check_bytes<const WHOLE: bool>(
    messages: &Messages<'_>,
    length: usize,
    senders: (Senders, u32),
) -> Result<u32, RoleError> {
    let (other, inbox) = (messages.other, &messages.inbox);
    match other.claimed(inbox) {
        Some(sequence)
            if other.holds(inbox, length, sequence)
                && (!WHOLE || other.check_all(inbox, length, sequence).is_ok()) =>
        {
            Ok(sequence)
        }
        claimed => Err(damaged(messages, length, claimed, senders)),
    }
}

/// Returns the fault of a damaged message.
#[cold]
#[inline(never)]
fn damaged(
    messages: &Messages<'_>,
    length: usize,
    claimed: Option<u32>,
    (senders, bits): (Senders, u32),
) -> RoleError {
    let inbox = &messages.inbox;
    let Some(sequence) = claimed else {
        return match length == inbox.len() {
            true => RoleError::new(Fault::Flipped, "a message arrived without the number of a sender"),
            false => RoleError::new(
                Fault::Truncated,
                format!("a message has {length} bytes instead of {}", inbox.len()),
            ),
        };
    };
    let Discrepancy { fault, detail, .. } = match messages.other.check_all(inbox, length, sequence) {
        Err(found) => found,
        Ok(()) => messages.other.explain(inbox, length, sequence),
    };
    let name = format!("message {} of {}", sequence >> bits, senders.party(sequence & ((1 << bits) - 1)));
    RoleError::new(fault, detail.replacen(&format!("message {sequence}"), &name, 1))
}
