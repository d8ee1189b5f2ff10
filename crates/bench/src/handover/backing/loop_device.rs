//! A file in a file system on a loop device. The file behind the device is in a tmpfs that is not mounted anywhere.

use super::{BackedRegion, because, device, tmpfs};
use crate::persistent::PersistentResource;
use crate::session::{CleanupGuard, Session};
use furlong_model::Unavailable;
use furlong_os::linux::loop_device;
use furlong_os::{AsHandle, BorrowedHandle};
use std::fs::File;
use std::io;

/// The number of devices to try: another process may bind a device between the check and the bind.
const ATTEMPTS: usize = 16;

pub(super) fn make(size_bytes: usize, session: &Session) -> Result<BackedRegion<'_>, Unavailable> {
    let size = usize::try_from(device::size_for(size_bytes)).unwrap_or(usize::MAX);
    // The device keeps its file open, and the file keeps its file system.
    let (_top, file) =
        tmpfs::own_file(size).map_err(|error| because("no tmpfs for a loop device's file", &error))?;
    let (number, device, made) = bind(file.as_handle(), session).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Unavailable::new(format!("there are no loop devices: {error}"), "as root: modprobe loop")
        }
        _ => because("no loop device", &error),
    })?;
    let named = format!("loop{number} in a tmpfs");
    device::furnish(&loop_device::path(number), made, Some(device), size_bytes, &named)
}

/// Binds the first free device to the file. A device that must be added goes into the journal.
fn bind<'a>(
    file: BorrowedHandle<'_>,
    session: &'a Session,
) -> io::Result<(u32, File, Option<CleanupGuard<'a>>)> {
    let mut number = 0;
    let mut attempts = 0;
    loop {
        while loop_device::is_bound(number) {
            number += 1;
        }
        let made = if loop_device::exists(number) { None } else { add(number, session)? };
        attempts += 1;
        match loop_device::bind(number, file) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && attempts < ATTEMPTS => number += 1,
            bound => return bound.map(|device| (number, device, made)),
        }
    }
}

/// Adds the device with this number. Returns `None` if another process has added it first.
fn add(number: u32, session: &Session) -> io::Result<Option<CleanupGuard<'_>>> {
    let made = session.making(PersistentResource::Loop { number })?;
    match loop_device::add(number) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            made.strike_off();
            Ok(None)
        }
        added => added.map(|()| Some(made)),
    }
}
