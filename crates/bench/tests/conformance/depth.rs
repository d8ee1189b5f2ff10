//! Tests of the number of messages that a link holds: that number can be sent without a receiver, and no send blocks.

use crate::claims::{ALONE, Finding, number_of};
use crate::pair::{Gate, Pair, Part, RunningTrial, ensure, step};
use crate::saboteur::{FULL, LATE, OVERSTATE, Saboteur};
use crate::workers::Trial;
use furlong_mechanism::{Endpoint, Mechanism, Message};
use furlong_model::Start;
use std::io::{self, ErrorKind};

/// Message sizes around the limits of cache lines, pages and buffers; fewer sizes under Wine, where processes start
/// slowly.
const SIZES: &[usize] =
    if cfg!(windows) { &[1, 128, 5000, 300_000] } else { &[1, 17, 128, 3000, 4096, 5000, 65_536, 300_000] };

/// The largest number of messages that are sent, because some links hold millions. Under Wine every call is a request
/// to the Wine server.
const MOST: u64 = if cfg!(windows) { 1_000 } else { 10_000 };

/// Returns the test that a mechanism that overstates its depth is detected.
pub fn tests() -> Vec<Trial> {
    vec![Trial::test("saboteur/overstate: does not hold as many as it claims", || {
        match fill::<Saboteur<OVERSTATE, LATE>>(128, false) {
            Err(found) if found.contains(&format!(" of {MOST}: ")) && found.contains(FULL) => Ok(()),
            other => Err(format!("{other:?}").into()),
        }
    })]
}

/// Checks that a mechanism holds as many messages as its links claim, for each size, and for blocking and other calls.
pub fn of<M: Mechanism>() -> Finding {
    let capabilities = &M::CAPABILITIES;
    if capabilities.start == Start::Alone {
        return Ok(Some(ALONE));
    }
    let limits = M::probe().map_err(|unavailable| unavailable.reason)?;
    let sizes = capabilities.fixed_size_bytes.map_or(SIZES.to_vec(), |size| vec![size]);
    let waits_inside =
        |blocking: &bool| capabilities.waits.iter().any(|wait| wait.needs_non_blocking() != *blocking);
    for blocking in [true, false].into_iter().filter(waits_inside) {
        for &size in sizes.iter().filter(|size| limits.max_size_bytes.is_none_or(|max| **size <= max)) {
            fill::<M>(size, blocking).map_err(|found| format!("{size} bytes: {found}"))?;
        }
    }
    Ok(None)
}

/// Fills a link, empties half of it, fills it again, and receives all messages.
fn fill<M: Mechanism>(size_bytes: usize, blocking: bool) -> Result<(), String> {
    let send: Part<M> = |end, stage| {
        let (many, half) = amounts(stage);
        // If messages are read from the sender's buffers, each message needs a separate buffer.
        let buffers = if end.unread_buffers(stage.size_bytes) == 0 { 1 } else { many + half };
        let mut messages = step("make messages", Message::several(buffers, stage.size_bytes, None))?;
        let mut send = |number: usize| {
            let message = &mut messages[number % buffers];
            write_number(message, number as u32);
            step(&format!("send message {number} of {many}"), end.send(message))
        };
        (1..=many).try_for_each(&mut send)?;
        stage.open(Gate::Sent);
        stage.pass(Gate::HalfReceived);
        (many + 1..=many + half).try_for_each(&mut send)?;
        stage.open(Gate::Refilled);
        stage.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<M> = |end, stage| {
        let (many, half) = amounts(stage);
        let mut message = step("make a message", Message::new(stage.size_bytes))?;
        let mut due = Message::new(stage.size_bytes).map_err(|error| error.to_string())?;
        let mut receive = |number: usize| {
            let length = step("receive", until_done(|| end.recv(&mut message)))?;
            write_number(&mut due, number as u32);
            let [came, due] = [&message, &due].map(|message| number_of(message));
            ensure(length == message.len() && came == due, || {
                format!("{length} bytes with number {came} came where number {due} was due")
            })
        };
        stage.pass(Gate::Sent);
        (1..=half).try_for_each(&mut receive)?;
        stage.open(Gate::HalfReceived);
        stage.pass(Gate::Refilled);
        (half + 1..=many + half).try_for_each(&mut receive)?;
        stage.open(Gate::Received);
        Ok(())
    };
    Pair::start::<M>(size_bytes, blocking, send, receive)?.finish()
}

/// Returns the number of messages that fill the link, and the number that are received before as many are sent again.
/// The second number is odd, because a partly free page may be useless. A single message is not sent again: a receiver
/// may report free space only with its next call.
fn amounts(stage: &RunningTrial) -> (usize, usize) {
    let many = stage.depth.messages().unwrap_or(MOST).min(MOST) as usize;
    (many, if many > 1 { (many / 2) | 1 } else { 0 })
}

/// Writes as many bytes of the number as fit.
fn write_number(message: &mut [u8], number: u32) {
    let len = message.len().min(4);
    message[..len].copy_from_slice(&number.to_le_bytes()[..len]);
}

/// Repeats a call while it returns `WouldBlock`.
fn until_done<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            other => return other,
        }
    }
}
