//! Auto-reset events as a notification: one process sets the event, and the wait that it ends resets it.
//!
//! Two sets before one wait count as one. Expect a system call to set, one to wait, and the wake-up.

use super::taking::SignalAndWait;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Unavailable, Wait, WhenFull,
};
use furlong_os::BorrowedHandle;
use furlong_os::windows::event;
use std::io;

/// An event in each direction.
#[derive(Debug)]
pub struct Event;

/// Calls to set an event and to wait for it.
pub(crate) const EVENT_CALLS: Calls =
    Calls { ring: &[Call::Once("SetEvent")], wait: &[Call::Once("WaitForSingleObject")], ..Calls::NONE };

impl Mechanism for Event {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "event",
        summary: "an auto-reset event each way, without data",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        boundaries: false,
        fixed_size_bytes: Some(0),
        calls: EVENT_CALLS,
        when_full: WhenFull::Merges,
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    type Endpoint = SignalAndWait<fn(BorrowedHandle<'_>) -> io::Result<()>>;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(1); 2]);
        link.give_both(event::event()?)?;
        link.give_both(event::event()?)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        SignalAndWait::from_shared(specification, &mut setup, event::ring)
    }
}
