//! POSIX semaphores as a notification.
//!
//! A `sem_t` in shared memory is a counter and a futex: posting and waiting enter the kernel only if a process sleeps. Expect
//! the figures of `futex`. It carries no data, so the verified property is that no post is lost.

use crate::memory::{SEMAPHORE_OFFSETS, segment};
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Sharing, Unavailable, Wait,
};
use furlong_os::linux::posix_semaphore;
use furlong_os::memory::{Region, page_bytes};
use std::io;
use std::sync::Arc;

/// A semaphore in each direction, in a shared page.
#[derive(Debug)]
pub struct PosixSemaphore;

/// The C library enters the kernel only to wake a sleeping process, or to sleep when the counter is 0.
pub(crate) const POSIX_SEMAPHORE_CALLS: Calls =
    Calls { ring: &[Call::AtMostOnce("futex")], wait: &[Call::AtMostOnce("futex")], ..Calls::NONE };

impl Mechanism for PosixSemaphore {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "posix-semaphore",
        summary: "a sem_t in shared memory each way, without data",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        fixed_size_bytes: Some(0),
        calls: POSIX_SEMAPHORE_CALLS,
        peer_death: PeerDeath::Unnoticed,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Semaphores;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // Above the maximum a post fails instead of waiting, so both directions together stay within it.
        let mut link = Link::new([Depth::of(posix_semaphore::MOST / 2); 2]);
        let region = segment::share_nameless(specification, page_bytes(), &mut link)?;
        for offset in SEMAPHORE_OFFSETS {
            posix_semaphore::initialise(&region, offset)?;
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Semaphores> {
        let region = segment::attach_object(specification, &mut setup, page_bytes())?;
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| SEMAPHORE_OFFSETS[role.index()]);
        Ok(Semaphores { region, send, receive, blocking: specification.blocking })
    }
}

/// A semaphore to post and one to wait for.
#[derive(Debug)]
pub struct Semaphores {
    region: Arc<Region>,
    send: usize,
    receive: usize,
    blocking: bool,
}

impl Endpoint for Semaphores {
    #[inline]
    fn send(&mut self, _message: &mut Message) -> io::Result<()> {
        posix_semaphore::post(&self.region, self.send)
    }

    #[inline]
    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        if self.blocking {
            posix_semaphore::wait(&self.region, self.receive)?;
        } else {
            posix_semaphore::try_wait(&self.region, self.receive)?;
        }
        Ok(0)
    }
}
