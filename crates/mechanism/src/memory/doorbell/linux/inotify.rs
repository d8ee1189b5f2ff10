//! A file in each direction that the other end watches with inotify.
//!
//! A write to the file makes the kernel allocate an event, queue it and wake the reader of the queue. The event is freed when
//! it is read. Expect an eventfd's two calls and more work in both: the write goes through the file system, which also records
//! the time of the change.

use crate::memory::doorbell::Doorbell;
use crate::{DIRECTIONS, EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, PeerDeath, Role, Unavailable, Wait};
use furlong_os::file_system::unnamed_file;
use furlong_os::linux::{inotify, segment};
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One write and one event per message. With one slot, there are never two events at once, which the kernel would merge.
#[derive(Debug)]
pub struct Inotify {
    written: Handle,
    watch: Handle,
}

impl Doorbell for Inotify {
    const WAITS: &'static [Wait] = &[Wait::Inotify];
    const CALLS: Calls =
        Calls { ring: &[Call::Once("pwrite64")], wait: &[Call::Once("read")], ..Calls::NONE };
    /// The last event reports that no process has the unnamed file open any more.
    const PEER_DEATH: PeerDeath = PeerDeath::Noticed;

    fn probe() -> Result<(), Unavailable> {
        let watched = segment::memfd("probe", 1).and_then(|file| inotify::watch_writes(file.as_handle()));
        watched.map(drop).map_err(|error| {
            Unavailable::new(
                error.to_string(),
                "end processes that watch files, or raise the limit as administrator: sysctl \
                 fs.inotify.max_user_instances",
            )
        })
    }

    fn create(specification: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        for (writer, direction) in Role::ALL.into_iter().zip(DIRECTIONS) {
            let name = format!("{}-{direction}", specification.name);
            let file = unnamed_file(specification.memory_folder()?, &name, 1)?;
            let watch = inotify::watch_writes(file.as_handle())?;
            link.give(writer, file);
            link.give(writer.peer(), watch);
        }
        Ok(())
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let (there, back) = (setup.descriptor()?, setup.descriptor()?);
        let (written, watch) = setup.send_and_receive(there, back);
        Ok(Inotify { written, watch })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        inotify::touch(self.written.as_handle())
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        inotify::take(self.watch.as_handle())
    }
}
