//! Named pipes, which are bidirectional: as byte streams, and with message boundaries; with calls that return when they are
//! done, and with overlapped calls, whose end an event reports.
//!
//! The kernel does the same work as for an anonymous pipe. In message mode a read returns one message, and a sender waits until
//! there is room for the whole message. An overlapped call begins, and a second one waits for its event. Expect the figures of
//! `anonymous-pipe`, and more for each overlapped call.

use super::pipe_stream::{PIPE_CALLS, PIPE_WAITS, PipeStream, depth};
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Family, KernelBuffer, Limits, Reach, Unavailable, Wait};
use furlong_os::windows::overlapped::OverlappedPipe;
use furlong_os::windows::pipe::{
    self, Mode, named, read_message, readable_bytes, size_bytes, write_without_waiting,
};
use furlong_os::{AsHandle, Handle, handle};
use std::io;

/// Default size of a pipe in each direction, in bytes.
const USUAL_BYTES: usize = 64 << 10;

/// Returns the capabilities of named pipes.
const fn claims(name: &'static str, summary: &'static str, boundaries: bool) -> Capabilities {
    Capabilities {
        name,
        summary,
        family: Family::Pipe,
        waits: PIPE_WAITS,
        boundaries,
        calls: PIPE_CALLS,
        buffer: KernelBuffer::Pipe,
        reach: Reach::FileSystem,
        ..Capabilities::DEFAULT
    }
}

/// Returns the capabilities with overlapped calls.
const fn overlapped(claims: Capabilities) -> Capabilities {
    Capabilities { waits: &[Wait::Overlapped], calls: OVERLAPPED_CALLS, ..claims }
}

/// The second call waits for the end of the first, if the first has not ended at once.
const OVERLAPPED_CALLS: Calls = Calls::of(
    &[Call::Once("WriteFile"), Call::AtMostOnce("GetOverlappedResult")],
    &[Call::Once("ReadFile"), Call::AtMostOnce("GetOverlappedResult")],
);

const BYTES: Capabilities = claims("named-pipe", "a bidirectional named pipe", false);
const MESSAGES: Capabilities =
    claims("named-pipe-message", "a bidirectional named pipe in message mode", true);

/// Makes a pipe for both roles. A message must fit completely.
fn create(specification: &LinkSpecification, mode: Mode, calls: pipe::Calls) -> io::Result<Link> {
    let asked = specification.buffer_bytes.unwrap_or(USUAL_BYTES);
    let bytes = if mode == Mode::Message { asked.max(specification.largest_bytes()) } else { asked };
    let ends = named(&specification.name, mode, [calls; 2], bytes)?;
    let quota_bytes = size_bytes(ends.0.as_handle())?;
    let mut link = Link::new(specification.sizes_bytes.map(|size| depth(quota_bytes, size)));
    link.note("pipe-size-bytes", quota_bytes);
    link.give_pair(ends);
    Ok(link)
}

/// A named pipe as a byte stream.
#[derive(Debug)]
pub struct NamedPipe;

impl Mechanism for NamedPipe {
    const CAPABILITIES: Capabilities = BYTES;
    type Endpoint = PipeStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        create(specification, Mode::Byte, pipe::Calls::Synchronous)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<PipeStream> {
        let end = setup.descriptor()?;
        Ok(PipeStream::new(end.try_clone()?, end, specification.blocking)?.with_writes(specification))
    }
}

/// A named pipe as a byte stream, with overlapped calls.
#[derive(Debug)]
pub struct OverlappedNamedPipe;

impl Mechanism for OverlappedNamedPipe {
    const CAPABILITIES: Capabilities = overlapped(BYTES);
    type Endpoint = OverlappedStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        create(specification, Mode::Byte, pipe::Calls::Overlapped)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<OverlappedStream> {
        OverlappedPipe::new(setup.descriptor()?).map(OverlappedStream)
    }
}

/// A named pipe with message boundaries.
#[derive(Debug)]
pub struct MessagePipe;

impl Mechanism for MessagePipe {
    const CAPABILITIES: Capabilities = MESSAGES;
    type Endpoint = MessageEnd;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        create(specification, Mode::Message, pipe::Calls::Synchronous)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<MessageEnd> {
        let end = setup.descriptor()?;
        if !specification.blocking {
            write_without_waiting(&end, Mode::Message)?;
        }
        Ok(MessageEnd { end, blocking: specification.blocking })
    }
}

/// A named pipe with message boundaries, and with overlapped calls.
#[derive(Debug)]
pub struct OverlappedMessagePipe;

impl Mechanism for OverlappedMessagePipe {
    const CAPABILITIES: Capabilities = overlapped(MESSAGES);
    type Endpoint = OverlappedMessages;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        create(specification, Mode::Message, pipe::Calls::Overlapped)
    }

    fn open(_spec: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<OverlappedMessages> {
        OverlappedPipe::new(setup.descriptor()?).map(OverlappedMessages)
    }
}

/// An end that keeps message boundaries.
#[derive(Debug)]
pub struct MessageEnd {
    end: Handle,
    blocking: bool,
}

impl Endpoint for MessageEnd {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let sent = handle::write(self.end.as_handle(), message)?;
        // Without waiting, a message is written completely or not at all.
        if sent == message.len() { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        if !self.blocking && readable_bytes(self.end.as_handle()).map_err(end_of_stream)?.0 == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        received(read_message(self.end.as_handle(), message))
    }
}

/// Turns a length of 0 into the end of the stream: a message has at least one byte.
#[inline]
fn received(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        other => other,
    }
}

#[cold]
fn end_of_stream(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe { io::ErrorKind::UnexpectedEof.into() } else { error }
}

/// An end of a byte stream, with overlapped calls.
#[derive(Debug)]
pub struct OverlappedStream(OverlappedPipe);

impl Endpoint for OverlappedStream {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut sent = 0;
        while sent < message.len() {
            sent += self.0.write(&message[sent..])?;
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let mut length = 0;
        while length < message.len() {
            length += received(self.0.read(&mut message[length..]))?;
        }
        Ok(length)
    }
}

/// An end that keeps message boundaries, with overlapped calls.
#[derive(Debug)]
pub struct OverlappedMessages(OverlappedPipe);

impl Endpoint for OverlappedMessages {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.0.write(message).map(drop)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        received(self.0.read_message(message))
    }
}
