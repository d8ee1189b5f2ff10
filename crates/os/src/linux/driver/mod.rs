//! The devices of furlong's own kernel module: the Rust side of `driver/include/uapi/linux/furlong.h`, which is the whole
//! contract. A test reads the header and compares.
//!
//! A message device carries messages through plain `read` and `write`, so [`handle`](crate::handle) sends them.

pub mod message;
pub mod shm;
#[cfg(test)]
mod tests;

use crate::error::{Context, check};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Version of the contract on this side.
pub const ABI: u32 = 1;

/// Number that distinguishes the module's requests from those of other drivers.
const MAGIC: u32 = 0xbc;

/// Opens a device for reading and writing.
///
/// # Errors
/// Returns `NotFound` without the module, also if a device node of it still exists; `ResourceBusy` if the device has the maximum
/// number of peers.
pub fn open(path: &Path) -> io::Result<File> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let kind = match opened.as_ref().map_err(io::Error::raw_os_error) {
        // The standard library has no kind for these errors.
        Err(Some(libc::ENXIO | libc::ENODEV)) => io::ErrorKind::NotFound,
        Err(Some(libc::EUSERS)) => io::ErrorKind::ResourceBusy,
        _ => return opened.context(|| format!("open {}", path.display())),
    };
    opened.map_err(|error| io::Error::new(kind, format!("open {}: {error}", path.display())))
}

/// Returns the value of a numeric parameter of the loaded module.
pub fn parameter(name: &str) -> Option<usize> {
    let text = fs::read_to_string(format!("/sys/module/furlong/parameters/{name}")).ok()?;
    text.trim().parse().ok()
}

/// Returns the path of a device of this kind and number.
fn path(kind: &str, channel: u32) -> PathBuf {
    PathBuf::from(format!("/dev/furlong-{kind}{channel}"))
}

/// Makes a request to a device.
///
/// # Safety
/// `argument` must point to the value that the request reads or writes.
unsafe fn ask<T>(device: BorrowedFd<'_>, request: libc::Ioctl, argument: *mut T) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::ioctl(device.as_raw_fd(), request, argument) }).map(drop)
}

/// Makes a request that reads one value.
fn tell<T: Copy>(device: BorrowedFd<'_>, request: libc::Ioctl, mut value: T) -> io::Result<()> {
    // SAFETY: each caller's request is defined with this type, and the kernel reads one of it.
    unsafe { ask(device, request, &raw mut value) }
}
