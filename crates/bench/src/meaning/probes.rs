//! Probes with two processes that use a link as in a benchmark.

use super::Subject;
use super::pair::{Pair, PairResult, Part};
use super::process::{Gate, Page, QUIET, numbered, receive_number, retried, set_number};
use crate::role_boundary;
use furlong_mechanism::{Endpoint, Interest, Message};
use furlong_model::{Boundary, Evidence};
use furlong_os::passing::{receive_handle, send_handles};
use furlong_os::{AsHandle, handle, pipe};
use std::io;
use std::time::Duration;

/// Bytes of a message with a number.
const SMALL_BYTES: usize = 64;

/// Number of messages of a fast sender, and their size: 8 MiB are more than any buffer of a link.
const MANY: u32 = 2048;
const MANY_BYTES: usize = 4096;

/// Time for which a receiver lets a fast sender send.
const HEAD_START: Duration = Duration::from_millis(100);

/// Size of a message that a mechanism without a limit must carry.
const LARGE_BYTES: usize = 16 << 20;

/// The largest message that is sent: larger ones take gigabytes of memory.
const MOST_BYTES: usize = 64 << 20;

/// The number in a message.
const NUMBER: u32 = 7;

/// Checks whether two messages arrive as two.
pub(super) fn keeps_boundaries(subject: &Subject<'_>) -> io::Result<Evidence> {
    const LENGTH: usize = 5;
    let send: Part<'_> = &|end, page| {
        let mut messages = Message::several(2, LENGTH, None)?;
        messages.iter_mut().try_for_each(|message| retried(|| end.send(message)))?;
        page.pass(Gate::Received);
        Ok(())
    };
    // A stream fills the buffer, and a message leaves room.
    let receive: Part<'_> = &|end, page| {
        let (mut message, mut bytes) = (Message::new(2 * LENGTH)?, 0);
        while bytes < 2 * LENGTH {
            let received = retried(|| end.recv(&mut message))?;
            page.note(received as u32);
            bytes += received.max(1);
        }
        page.open(Gate::Received);
        Ok(())
    };
    let received = Pair::start(subject, 2 * LENGTH, send, receive)?.finish().page()?.notes();
    match received.iter().sum::<u32>() as usize {
        bytes if bytes == 2 * LENGTH => Ok(Evidence::Lengths { sent: vec![LENGTH as u32; 2], received }),
        bytes => Err(io::Error::other(format!("{bytes} of {} bytes arrived", 2 * LENGTH))),
    }
}

/// Checks the order of messages.
pub(super) fn keeps_order(subject: &Subject<'_>) -> io::Result<Evidence> {
    let expected: Vec<u32> = (1..=8).collect();
    let send: Part<'_> = &|end, page| {
        let mut messages =
            expected.iter().map(|number| numbered(SMALL_BYTES, *number)).collect::<io::Result<Vec<_>>>()?;
        messages.iter_mut().try_for_each(|message| retried(|| end.send(message)))?;
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| receive_several(end, page, expected.len());
    let received = Pair::start(subject, SMALL_BYTES, send, receive)?.finish().page()?.notes();
    if received.len() < expected.len() {
        let (arrived, sent) = (received.len(), expected.len());
        return Err(io::Error::other(format!("{arrived} of {sent} messages arrived, which shows no order")));
    }
    Ok(Evidence::Order { received, expected })
}

/// Checks whether the later of two messages arrives first because of its priority.
pub(super) fn keeps_priority(subject: &Subject<'_>) -> io::Result<Evidence> {
    let send: Part<'_> = &|end, page| {
        for (number, priority) in [(2, 0), (1, 1)] {
            let mut message = numbered(SMALL_BYTES, number)?;
            retried(|| end.send_with_priority(&mut message, priority))?;
        }
        page.open(Gate::Sent);
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| {
        page.pass(Gate::Sent);
        receive_several(end, page, 2)
    };
    let finished = Pair::start(subject, SMALL_BYTES, send, receive)?.finish();
    if finished.failed.as_ref().is_some_and(|failed| failed.is_unsupported) {
        return Ok(Evidence::Absent);
    }
    Ok(Evidence::Order { expected: vec![1, 2], received: finished.page()?.notes() })
}

fn receive_several(end: &mut dyn Endpoint, page: &Page, count: usize) -> io::Result<()> {
    (0..count).try_for_each(|_| receive_number(end, SMALL_BYTES, page))?;
    page.open(Gate::Received);
    Ok(())
}

/// Sends more than a link holds to a receiver that begins late.
pub(super) fn never_loses(subject: &Subject<'_>) -> io::Result<Evidence> {
    let size_bytes = subject.built_in.capabilities.fixed_size_bytes.unwrap_or(MANY_BYTES);
    let send: Part<'_> = &|end, page| {
        let mut message = numbered(size_bytes, 1)?;
        for _ in 0..MANY {
            retried(|| end.send(&mut message))?;
            page.count_sent();
        }
        page.open(Gate::Sent);
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| {
        if !page.pass_within(Gate::Sent, HEAD_START) {
            page.open(Gate::Waited);
        }
        let mut message = Message::new(size_bytes)?;
        for _ in 0..MANY {
            retried(|| end.recv(&mut message))?;
            page.note(0);
        }
        page.open(Gate::Received);
        Ok(())
    };
    let page = Pair::start(subject, size_bytes, send, receive)?.finish().page()?;
    // The last message can arrive before its sender counts it.
    let (received, waited) = (page.received(), page.is_open(Gate::Waited));
    Ok(Evidence::Counts { sent: page.sent().max(received), received, waited })
}

/// Lets the sender die while the receiver waits.
pub(super) fn reports_death(subject: &Subject<'_>) -> io::Result<Evidence> {
    let size_bytes = subject.built_in.capabilities.fixed_size_bytes.unwrap_or(SMALL_BYTES);
    let receive: Part<'_> = &|end, page| {
        let mut message = Message::new(size_bytes)?;
        retried(|| end.recv(&mut message))?;
        page.note(0);
        Ok(())
    };
    let finished = Pair::start(subject, size_bytes, &|_, _| Ok(()), receive)?.finish();
    if !finished.page.have_met() {
        finished.page()?;
        return Err(io::ErrorKind::TimedOut.into());
    }
    if finished.page.received() > 0 {
        return Err(io::Error::other("a message arrived that was not sent"));
    }
    let error = finished.failed.map(|failed| failed.text);
    Ok(Evidence::Death { error, within_ms: QUIET.as_millis() as u64 })
}

/// Lets the sender die before the receiver receives its message.
pub(super) fn outlives_sender(subject: &Subject<'_>) -> io::Result<Evidence> {
    let send: Part<'_> = &|end, _| {
        let mut message = numbered(SMALL_BYTES, NUMBER)?;
        retried(|| end.send(&mut message))
    };
    let receive: Part<'_> = &|end, page| {
        page.pass(Gate::Released);
        receive_number(end, SMALL_BYTES, page)
    };
    let mut pair = Pair::start(subject, SMALL_BYTES, send, receive)?;
    pair.end_sender();
    Ok(number(pair.finish()))
}

/// Changes the buffer of a message before it is received.
pub(super) fn copies_message(subject: &Subject<'_>) -> io::Result<Evidence> {
    let send: Part<'_> = &|end, page| {
        let mut message = numbered(MANY_BYTES, NUMBER)?;
        retried(|| end.send(&mut message))?;
        set_number(&mut message, NUMBER + 1);
        page.open(Gate::Sent);
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| {
        // A sender that waits for its receiver changes nothing before.
        page.pass_within(Gate::Sent, HEAD_START);
        receive_number(end, MANY_BYTES, page)
    };
    Ok(number(Pair::start(subject, MANY_BYTES, send, receive)?.finish()))
}

/// Sends the reading end of a pipe that contains a number.
pub(super) fn carries_descriptors(subject: &Subject<'_>) -> io::Result<Evidence> {
    let no_socket = || io::Error::other("it has no descriptor over which furlong could send another one");
    if !subject.built_in.capabilities.can_be_watched() {
        return Err(no_socket());
    }
    let no_descriptor = || io::Error::from(io::ErrorKind::Unsupported);
    let send: Part<'_> = &|end, page| {
        let (reader, writer) = pipe::pipe()?;
        handle::write(writer.as_handle(), &NUMBER.to_ne_bytes())?;
        let socket = end.readiness(Interest::Writable).ok_or_else(no_descriptor)?;
        retried(|| send_handles(socket, &[reader.as_handle()]))?;
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| {
        let socket = end.readiness(Interest::Readable).ok_or_else(no_descriptor)?;
        let reader = retried(|| receive_handle(socket))?;
        let mut number = [0; size_of::<u32>()];
        handle::read(reader.as_handle(), &mut number)?;
        page.note(u32::from_ne_bytes(number));
        Ok(())
    };
    let result = Pair::start(subject, SMALL_BYTES, send, receive)?.finish();
    if result.failed.as_ref().is_some_and(|failed| failed.is_unsupported) {
        return Err(no_socket());
    }
    Ok(number(result))
}

/// Lets a process of another user receive.
pub(super) fn crosses_users(subject: &Subject<'_>) -> io::Result<Evidence> {
    if let Some(unavailable) = role_boundary::impossible(&Boundary::User) {
        return Err(io::Error::other(unavailable.reason));
    }
    let send: Part<'_> = &|end, page| {
        let mut message = numbered(SMALL_BYTES, NUMBER)?;
        retried(|| end.send(&mut message))?;
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| receive_number(end, SMALL_BYTES, page);
    Ok(number(Pair::start(subject, SMALL_BYTES, send, receive)?.finish()))
}

/// Returns the evidence of a message with [`NUMBER`].
fn number(result: PairResult) -> Evidence {
    Evidence::Number {
        sent: NUMBER,
        received: result.page.notes().first().copied(),
        error: result.failed.map(|failed| failed.text),
    }
}

/// Sends the largest message, and one with a byte more.
pub(super) fn limits_size(subject: &Subject<'_>) -> io::Result<Evidence> {
    let Some(largest) = subject.limits.max_size_bytes else {
        carry(subject, LARGE_BYTES, LARGE_BYTES)?;
        return Ok(Evidence::Sizes { arrived: LARGE_BYTES, rejected: None });
    };
    if largest > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(io::Error::other(format!("its limit of {largest} bytes is above {most} MiB")));
    }
    carry(subject, largest, largest)?;
    match carry(subject, largest, largest + 1) {
        Ok(()) => Ok(Evidence::Sizes { arrived: largest + 1, rejected: None }),
        Err(error) => Ok(Evidence::Sizes { arrived: largest, rejected: Some(error.to_string()) }),
    }
}

/// Sends a message over a link for messages of `link_bytes`.
fn carry(subject: &Subject<'_>, link_bytes: usize, size_bytes: usize) -> io::Result<()> {
    let send: Part<'_> = &|end, page| {
        let mut message = Message::new(size_bytes)?;
        retried(|| end.send(&mut message))?;
        page.pass(Gate::Received);
        Ok(())
    };
    let receive: Part<'_> = &|end, page| {
        let mut message = Message::new(size_bytes)?;
        let received = retried(|| end.recv(&mut message))?;
        page.note(received as u32);
        page.open(Gate::Received);
        Ok(())
    };
    let page = Pair::start(subject, link_bytes, send, receive)?.finish().page()?;
    match page.notes().first() {
        Some(received) if *received as usize == size_bytes => Ok(()),
        Some(received) => Err(io::Error::other(format!("{received} of {size_bytes} bytes arrived"))),
        None => Err(io::Error::other(format!("a message of {size_bytes} bytes did not arrive"))),
    }
}
