//! A file in a file system on a block device that is memory: zram, which compresses what is written to it. Reading and
//! writing the mapping touches the page cache alone; the kernel writes to the device in the background.
//!
//! Not brd: its devices are there for all to use, so that none is known to be free, and what is written to them stays.

use super::{BackedRegion, because, device};
use crate::persistent::{PersistentResource, lock};
use crate::session::{CleanupGuard, Session};
use furlong_model::Unavailable;
use furlong_os::linux::zram;
use std::io;

pub(super) fn make(size_bytes: usize, session: &Session) -> Result<BackedRegion<'_>, Unavailable> {
    let size = device::size_for(size_bytes);
    let (number, made) = add(size, session).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Unavailable::new(
            "there is no zram to make a RAM disk of (/sys/class/zram-control)",
            "as root: modprobe zram (CONFIG_ZRAM)",
        ),
        io::ErrorKind::PermissionDenied => because("only root may make a RAM disk", &error),
        _ => because("no RAM disk", &error),
    })?;
    let algorithm = zram::algorithm(number).map_or_else(String::new, |algorithm| format!(" ({algorithm})"));
    let named = format!("zram{number}{algorithm}");
    device::furnish(&zram::path(number), Some(made), None, size_bytes, &named)
}

/// Makes a device of this size. Its number is known only then, so the journal first has the numbers that it does not get.
/// No other run makes or removes one in between, or sees this one without its size and takes it for its own.
fn add(size_bytes: u64, session: &Session) -> io::Result<(u32, CleanupGuard<'_>)> {
    let lock = lock(zram::CONTROL)?;
    let next = session.making(PersistentResource::NextZram { others: zram::numbers()? })?;
    let added = zram::add().and_then(|number| {
        let made = session.making(PersistentResource::Zram { number, size_bytes })?;
        Ok((number, made, zram::set_size(number, size_bytes)))
    });
    // What is removed again takes the lock itself.
    drop(lock);
    let (number, made, sized) = added?;
    next.strike_off();
    sized.map(|()| (number, made))
}
