//! System V semaphores as a notification.
//!
//! Every operation is a system call, even if no process sleeps, on a set that can do much more than count. Expect more than a
//! POSIX semaphore if no process sleeps, and about the same if a process must be woken.

use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Lifetime, Limits, PeerDeath, Reach, Sharing, Unavailable, Wait,
};
use furlong_os::linux::limits::has_sysctl;
use furlong_os::linux::sysv_semaphore;
use std::io;

/// A semaphore in each direction, in one set.
#[derive(Debug)]
pub struct SysvSemaphore;

/// One operation per call.
pub(crate) const SYSV_SEMAPHORE_CALLS: Calls =
    Calls { ring: &[Call::Once("semop")], wait: &[Call::Once("semop")], ..Calls::NONE };

impl Mechanism for SysvSemaphore {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "sysv-semaphore",
        summary: "a System V semaphore each way, without data",
        family: Family::Notification,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        fixed_size_bytes: Some(0),
        calls: SYSV_SEMAPHORE_CALLS,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::IpcNamespace,
        lifetime: Lifetime::Removal,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Semaphores;

    fn probe() -> Result<Limits, Unavailable> {
        present().map(|()| Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        // Above the maximum an operation fails instead of waiting, so both directions together stay within it.
        let mut link = Link::new([Depth::of(sysv_semaphore::MOST / 2); 2]);
        give_set(specification, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Semaphores> {
        let set = setup.number()?;
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| role.index() as u16);
        Ok(Semaphores { set, send, receive, blocking: specification.blocking })
    }
}

/// Returns an error if the kernel has no System V semaphores.
pub(crate) fn present() -> Result<(), Unavailable> {
    if has_sysctl("kernel.sem") {
        return Ok(());
    }
    Err(Unavailable::new("the kernel has no System V semaphores", "CONFIG_SYSVIPC=y"))
}

/// Creates a set with a semaphore for each role, and adds its identifier to both ends.
pub(crate) fn give_set(specification: &LinkSpecification, link: &mut Link) -> io::Result<()> {
    let set = sysv_semaphore::create(specification.key, 2)?;
    link.removes(move || sysv_semaphore::remove(set));
    link.give_number(set);
    Ok(())
}

/// A semaphore to post and one to wait for.
#[derive(Debug)]
pub struct Semaphores {
    set: i32,
    send: u16,
    receive: u16,
    blocking: bool,
}

impl Endpoint for Semaphores {
    #[inline]
    fn send(&mut self, _message: &mut Message) -> io::Result<()> {
        sysv_semaphore::post(self.set, self.send)
    }

    #[inline]
    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        sysv_semaphore::wait(self.set, self.receive, self.blocking)?;
        Ok(0)
    }
}
