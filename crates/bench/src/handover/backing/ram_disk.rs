//! A file in a file system on a block device in memory: zram, which compresses the data. Reading and writing the
//! mapping accesses only the page cache; the kernel writes to the device in the background.
//!
//! brd is not used: its devices exist for all processes, so none is known to be free, and its data stays.

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
            "there is no zram device for a RAM disk (/sys/class/zram-control)",
            "as root: modprobe zram (CONFIG_ZRAM)",
        ),
        io::ErrorKind::PermissionDenied => because("only root may create a RAM disk", &error),
        _ => because("no RAM disk", &error),
    })?;
    let algorithm = zram::algorithm(number).map_or_else(String::new, |algorithm| format!(" ({algorithm})"));
    let named = format!("zram{number}{algorithm}");
    device::furnish(&zram::path(number), Some(made), None, size_bytes, &named)
}

/// Creates a device of this size. Its number is known only afterwards, so the journal first lists the existing numbers.
/// The lock keeps other runs from creating or removing a device in between, and from taking this device without a size
/// for theirs.
fn add(size_bytes: u64, session: &Session) -> io::Result<(u32, CleanupGuard<'_>)> {
    let lock = lock(zram::CONTROL)?;
    let next = session.making(PersistentResource::NextZram { others: zram::numbers()? })?;
    let added = zram::add().and_then(|number| {
        let made = session.making(PersistentResource::Zram { number, size_bytes })?;
        Ok((number, made, zram::set_size(number, size_bytes)))
    });
    // Dropping a guard below removes a device, which takes this lock.
    drop(lock);
    let (number, made, sized) = added?;
    next.strike_off();
    sized.map(|()| (number, made))
}
