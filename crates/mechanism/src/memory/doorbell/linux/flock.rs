//! `flock` locks on files, which belong to an open file.
//!
//! Each call searches the locks of the file under the lock of its inode, and a release wakes the waiting processes. Expect four
//! calls per message instead of two, and one wake-up.

use crate::memory::doorbell::locks::Lock;
use crate::{DIRECTIONS, EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, Role, Wait};
use furlong_os::file_system::unnamed_file;
use furlong_os::linux::file_lock;
use furlong_os::{AsHandle, Handle};
use std::io;

/// Two files per sender. Each role has a separate open file description of each.
#[derive(Debug)]
pub struct Flock([[Handle; 2]; 2]);

impl Lock for Flock {
    const WAITS: &'static [Wait] = &[Wait::Flock];
    const CALLS: Calls = Calls {
        ring: &[Call::Once("flock"), Call::Once("flock")],
        wait: &[Call::Once("flock"), Call::Once("flock")],
        ..Calls::NONE
    };

    fn create(specification: &LinkSpecification, link: &mut Link) -> io::Result<()> {
        for direction in DIRECTIONS {
            for number in 0..2 {
                let name = format!("{}-{direction}-{number}", specification.name);
                let file = unnamed_file(specification.memory_folder()?, &name, 1)?;
                link.give_pair((file_lock::open_again(file.as_handle())?, file));
            }
        }
        Ok(())
    }

    fn open(setup: &mut EndpointSetup) -> io::Result<Self> {
        let mut two = || Ok::<_, io::Error>([setup.descriptor()?, setup.descriptor()?]);
        Ok(Flock([two()?, two()?]))
    }

    #[inline]
    fn acquire(&self, sender: Role, number: u32) -> io::Result<()> {
        file_lock::flock(self.0[sender.index()][number as usize].as_handle())
    }

    #[inline]
    fn release(&self, sender: Role, number: u32) -> io::Result<()> {
        file_lock::flock_release(self.0[sender.index()][number as usize].as_handle())
    }
}
