//! The bells of a shared-memory device of furlong's own kernel module: one for each process that has the device open.
//!
//! A write names the peer to ring and wakes it. A read returns how often the bell was rung: an eventfd that is addressed with a
//! number, on the descriptor of the memory, so that `select` can watch it. Expect an eventfd's figures. If the other process
//! exits, its peer disappears, and a read returns the end of the file.

use crate::memory::doorbell::Doorbell;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, PeerDeath, Role, Wait};
use furlong_os::handle::set_non_blocking;
use furlong_os::linux::driver::shm;
use furlong_os::memory::Region;
use furlong_os::wait::Interest;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// This role's peer of the device, and the number of the other role's peer.
#[derive(Debug)]
pub struct DriverBell {
    device: Handle,
    other: u32,
}

impl Doorbell for DriverBell {
    const WAITS: &'static [Wait] = &[Wait::Block, Wait::Select, Wait::Poll, Wait::Epoll, Wait::SelectFirst];
    const CALLS: Calls = Calls { ring: &[Call::Once("write")], wait: &[Call::Once("read")], ..Calls::NONE };
    const PEER_DEATH: PeerDeath = PeerDeath::Noticed;
    const MAY_WAIT_OUTSIDE: bool = true;

    /// Uses the devices that the segment has just added to the ends.
    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        for role in Role::ALL {
            let Some(device) = link.end(role).descriptors.back() else {
                return Err(io::Error::other("there is no device with a doorbell"));
            };
            let (number, device) = (shm::info(device.as_handle())?.peer, device.try_clone()?);
            link.give(role, device);
            link.give_number_to(role.peer(), number as i32);
        }
        Ok(())
    }

    fn open(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        _region: &Arc<Region>,
    ) -> io::Result<Self> {
        let (device, other) = (setup.descriptor()?, setup.number()? as u32);
        set_non_blocking(device.as_handle(), !specification.blocking)?;
        shm::watch(device.as_handle(), other)?;
        Ok(DriverBell { device, other })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        shm::ring(self.device.as_handle(), self.other)
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        loop {
            if shm::take_rings(self.device.as_handle())? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // Any process with the device open may ring.
            if word.load(Ordering::Acquire) != seen {
                return Ok(());
            }
        }
    }

    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.device.as_handle())
    }
}
