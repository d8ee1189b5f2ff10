//! Semaphores as a notification.
//!
//! Unlike an event, a semaphore counts, so that no post is lost. Expect the figures of `event`.

use super::taking::SignalAndWait;
use crate::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Unavailable, Wait};
use furlong_os::BorrowedHandle;
use furlong_os::windows::semaphore;
use std::io;

/// A semaphore in each direction.
#[derive(Debug)]
pub struct Semaphore;

/// Calls to post a semaphore and to wait for it.
pub(crate) const SEMAPHORE_CALLS: Calls = Calls {
    ring: &[Call::Once("ReleaseSemaphore")],
    wait: &[Call::Once("WaitForSingleObject")],
    ..Calls::NONE
};

impl Mechanism for Semaphore {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "semaphore",
        summary: "a semaphore each way, without data",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        fixed_size_bytes: Some(0),
        calls: SEMAPHORE_CALLS,
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    type Endpoint = SignalAndWait<fn(BorrowedHandle<'_>) -> io::Result<()>>;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::of(semaphore::MOST); 2]);
        link.give_both(semaphore::semaphore()?)?;
        link.give_both(semaphore::semaphore()?)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        SignalAndWait::from_shared(specification, &mut setup, semaphore::post)
    }
}
