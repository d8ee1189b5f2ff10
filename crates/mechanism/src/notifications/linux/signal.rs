//! Real-time signals, sent with a value and received with `sigwaitinfo`.
//!
//! The signal stays blocked and is received like a message, so no handler runs. No signal is lost, because real-time signals
//! queue. Each queued signal is a separate kernel object. Expect a little more than a semaphore.

use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Reach, Unavailable, Wait};
use furlong_os::linux::limits::{Resource, raised};
use furlong_os::linux::signal::{self, MessageSignal};
use std::io;

/// A signal in each direction.
#[derive(Debug)]
pub struct Signal;

/// The C library adds the sender's PID and user ID, for which it makes two system calls each time.
pub(crate) const SIGNAL_CALLS: Calls = Calls {
    ring: &[Call::Once("getpid"), Call::Once("getuid"), Call::Once("rt_sigqueueinfo")],
    wait: &[Call::Once("rt_sigtimedwait")],
    ..Calls::NONE
};

impl Mechanism for Signal {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "signal",
        summary: "a queued real-time signal each way, with 4 bytes of data",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        fixed_size_bytes: Some(4),
        calls: SIGNAL_CALLS,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::PidNamespace,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Signals;

    fn probe() -> Result<Limits, Unavailable> {
        can_queue().map(|()| Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        Ok(Link::new([depth()?; 2]))
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Signals> {
        Ok(Signals { inbound: MessageSignal::new()?, peer: setup.peer, blocking: specification.blocking })
    }
}

/// Number of signals that the limit must allow in addition to the queued signals of other processes. Each direction needs one;
/// otherwise a sender waits for ever.
const NEEDED: u64 = 4;

/// Checks that this user may queue signals in both directions.
pub(crate) fn can_queue() -> Result<(), Unavailable> {
    let queued = signal::queued().unwrap_or(0);
    match raised(Resource::PendingSignals) {
        Ok(limit) if limit < queued.saturating_add(NEEDED) => Err(Unavailable::new(
            format!(
                "RLIMIT_SIGPENDING is {limit}, but {queued} signals of this user are queued and {NEEDED} more are \
                 needed"
            ),
            "raise it: ulimit -i 100",
        )),
        _ => Ok(()),
    }
}

/// Returns how many signals can be queued in each direction: a quarter of the user's remaining limit, because both directions
/// and all other processes of the user share it.
pub(crate) fn depth() -> io::Result<Depth> {
    Ok(match raised(Resource::PendingSignals)? {
        u64::MAX => Depth::UNBOUNDED,
        limit => Depth::Messages(limit.saturating_sub(signal::queued().unwrap_or(0)) / 4),
    })
}

/// Sends the 4 bytes of a message as a signal's value.
#[inline]
pub(crate) fn send(peer: i32, message: &Message) -> io::Result<()> {
    let mut value = [0; 4];
    value.copy_from_slice(message);
    signal::queue(peer, i32::from_le_bytes(value))
}

/// Signals to and from the other process.
#[derive(Debug)]
pub struct Signals {
    inbound: MessageSignal,
    peer: i32,
    blocking: bool,
}

impl Endpoint for Signals {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        send(self.peer, message)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let value = if self.blocking { self.inbound.wait()? } else { self.inbound.try_wait()? };
        message.copy_from_slice(&value.to_le_bytes());
        Ok(4)
    }
}
