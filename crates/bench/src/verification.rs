//! The verified pass: every byte of some messages is checked before anything is timed.
//!
//! It is the same code for all channels, called through a trait object.

use furlong_loops::channel::Channel;
use furlong_loops::messages::Messages;
use furlong_loops::role_error::RoleError;
use furlong_loops::stamp::{Discrepancy, Stamp};
use furlong_mechanism::MessageBatch;
use furlong_model::{Fault, Role};
use furlong_os::cpu;

/// Exchanges `bursts` of `burst` messages in each direction of the pattern, and checks every byte. Returns the number
/// of checked messages. The last messages may still be unread when it returns, so both roles must meet before either
/// sends again.
pub(crate) fn verify(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    bursts: u64,
    burst: u64,
) -> Result<u64, RoleError> {
    let answers = !messages.pattern.is_one_way();
    if let Some(mut batch) = messages.batch.take() {
        let verified = verify_batches(channel, messages, bursts, &mut batch);
        messages.batch = Some(batch);
        return verified;
    }
    messages.every_byte_counts(true);
    for _ in 0..bursts {
        match messages.role {
            Role::Initiator => {
                send_burst(channel, messages, burst)?;
                if messages.may_lose {
                    // In this pass no message may be lost.
                    while messages.control_page.received_by_all() < messages.done + burst {
                        cpu::yield_now();
                    }
                }
                if answers {
                    receive_burst(channel, messages, burst)?;
                }
            }
            Role::Responder => {
                receive_burst(channel, messages, burst)?;
                if answers {
                    send_burst(channel, messages, burst)?;
                }
            }
        }
        messages.done += burst;
    }
    messages.every_byte_counts(false);
    Ok(if answers || messages.role == Role::Responder { bursts * burst } else { 0 })
}

/// Sends `bursts` full batches, or receives their messages in batches of any size, and checks every byte.
fn verify_batches(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    bursts: u64,
    batch: &mut MessageBatch,
) -> Result<u64, RoleError> {
    let (most, begin) = (batch.most() as u64, messages.done);
    let last = begin + bursts * most;
    if messages.role == Role::Initiator {
        while messages.done < last {
            for place in 0..batch.most() {
                let number = messages.done + 1 + place as u64;
                messages.own.write_all(batch.message_mut(place), number as u32);
            }
            messages.note(messages.done + most, begin);
            channel.send_batch(batch, batch.most()).map_err(|error| RoleError::from_call("send", error))?;
            messages.done += most;
        }
        return Ok(0);
    }
    let mut order = Order::new(messages.other, last);
    while messages.done < last {
        let count = channel.recv_batch(batch).map_err(|error| RoleError::from_call("receive", error))?;
        for place in 0..count {
            messages.done += 1;
            messages.note(begin, messages.done);
            order.check(messages.done, batch.message(place), batch.lengths[place])?;
        }
    }
    Ok(bursts * most)
}

/// The order of the messages of a burst.
struct Order {
    stamp: Stamp,
    last: u64,
    /// A message that came too early. The one before it is lost, unless it comes now.
    early: Option<Discrepancy>,
}

impl Order {
    fn new(stamp: Stamp, last: u64) -> Order {
        Order { stamp, last, early: None }
    }

    /// Checks every byte of the message that arrived at this place of the burst.
    fn check(&mut self, number: u64, message: &[u8], length: usize) -> Result<(), RoleError> {
        let due = if self.early.is_some() { number - 1 } else { number };
        match (self.stamp.check_all(message, length, due as u32), self.early.take()) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(before)) => {
                let detail = format!("message {due} arrived after {}", before.found.unwrap_or_default());
                Err(RoleError::new(Fault::Reordered, detail))
            }
            (Err(found), None) if found.fault == Fault::Lost && number < self.last => {
                self.early = Some(found);
                Ok(())
            }
            (Err(_), Some(before)) => Err(before.into()),
            (Err(found), None) => Err(found.into()),
        }
    }
}

/// Returns the number of bursts, which take a few milliseconds. A burst has two messages if both can be in flight, so
/// that their order is verified too.
pub fn verified_bursts(size_bytes: usize) -> u64 {
    const BYTES: usize = 16 << 20;
    (BYTES / size_bytes.max(1)).clamp(1, 8) as u64
}

/// Returns the number of verified messages of each sender if several share an end: as many as with one sender.
pub(crate) fn verified_of_each(size_bytes: usize) -> u64 {
    2 * verified_bursts(size_bytes)
}

fn send_burst(channel: &mut dyn Channel, messages: &mut Messages<'_>, burst: u64) -> Result<(), RoleError> {
    let (own, done) = (messages.own, messages.done);
    for number in done + 1..=done + burst {
        messages.size_outgoing(number);
        let message = messages.outgoing(number);
        own.write_all(message, number as u32);
        channel.send(message).map_err(|error| RoleError::from_call("send", error))?;
        messages.note(number, if messages.role == Role::Initiator { done } else { done + burst });
    }
    Ok(())
}

fn receive_burst(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    burst: u64,
) -> Result<(), RoleError> {
    let done = messages.done;
    let mut order = Order::new(messages.other, done + burst);
    for number in done + 1..=done + burst {
        let length = messages.receive(channel)?;
        messages.note(if messages.role == Role::Initiator { done + burst } else { done }, number);
        order.check(number, &messages.inbox, length)?;
    }
    Ok(())
}
