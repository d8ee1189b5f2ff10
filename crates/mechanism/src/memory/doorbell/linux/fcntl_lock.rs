//! `fcntl` locks on bytes of a file, which belong to a process.
//!
//! In addition to the work of `flock`, the kernel checks for deadlocks before a process waits. Expect the figures of `flock`
//! and a little more.

use crate::memory::doorbell::locks::Lock;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, Role, Wait};
use furlong_os::file_system::unnamed_file;
use furlong_os::linux::file_lock;
use furlong_os::{AsHandle, Handle};
use std::io;

/// One file with two lock bytes per sender.
#[derive(Debug)]
pub struct FcntlLock(Handle);

/// Returns the byte of a lock.
fn byte(sender: Role, number: u32) -> i64 {
    2 * sender.index() as i64 + i64::from(number)
}

impl Lock for FcntlLock {
    const WAITS: &'static [Wait] = &[Wait::FcntlLock];
    const CALLS: Calls = Calls {
        ring: &[Call::Once("fcntl"), Call::Once("fcntl")],
        wait: &[Call::Once("fcntl"), Call::Once("fcntl")],
        ..Calls::NONE
    };

    fn create(specification: &LinkSpecification, link: &mut Link) -> io::Result<()> {
        let name = format!("{}-locks", specification.name);
        link.give_both(unnamed_file(specification.memory_folder()?, &name, 4)?)
    }

    fn open(setup: &mut EndpointSetup) -> io::Result<Self> {
        Ok(FcntlLock(setup.descriptor()?))
    }

    #[inline]
    fn acquire(&self, sender: Role, number: u32) -> io::Result<()> {
        file_lock::lock_byte(self.0.as_handle(), byte(sender, number))
    }

    #[inline]
    fn release(&self, sender: Role, number: u32) -> io::Result<()> {
        file_lock::unlock_byte(self.0.as_handle(), byte(sender, number))
    }
}
