//! Loop devices: block devices backed by a file.

use crate::error::{Context, check};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Requests and flags of the kernel that the libc crate does not have.
const ADD: u32 = 0x4c80;
const REMOVE: u32 = 0x4c81;
const CONFIGURE: u32 = 0x4c0a;
const AUTOCLEAR: u32 = 4;

/// `struct loop_info64`.
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    real_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: u32,
    key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    cipher_name: [u8; 64],
    key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Config {
    file: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// Returns the path of the device with this number.
pub fn path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

/// Returns whether the device with this number exists.
pub fn exists(number: u32) -> bool {
    Path::new(&format!("/sys/block/loop{number}")).exists()
}

/// Returns whether the device with this number is bound to a file.
pub fn is_bound(number: u32) -> bool {
    Path::new(&format!("/sys/block/loop{number}/loop/backing_file")).exists()
}

/// Binds the device to `file`. The kernel unbinds it once no process has it open and it is no longer mounted.
///
/// # Errors
/// Returns `ResourceBusy` if it is already bound.
pub fn bind(number: u32, file: BorrowedFd<'_>) -> io::Result<File> {
    let path = path(number);
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .context(|| format!("open {}", path.display()))?;
    // SAFETY: zeroes are a valid value of these integers.
    let mut config: Config = unsafe { std::mem::zeroed() };
    config.file = file.as_raw_fd() as u32;
    config.info.flags = AUTOCLEAR;
    // SAFETY: the kernel reads one loop_config.
    check(unsafe { libc::ioctl(device.as_raw_fd(), CONFIGURE as libc::Ioctl, &raw const config) })
        .context(|| format!("LOOP_CONFIGURE {} (Linux 5.8)", path.display()))?;
    Ok(device)
}

/// Creates the device with this number.
///
/// # Errors
/// Returns `AlreadyExists` if it exists.
pub fn add(number: u32) -> io::Result<()> {
    control(ADD, number).context(|| format!("LOOP_CTL_ADD {number}"))
}

/// Removes the device with this number.
///
/// # Errors
/// Returns `ResourceBusy` if it is in use.
pub fn remove(number: u32) -> io::Result<()> {
    control(REMOVE, number).context(|| format!("LOOP_CTL_REMOVE {number}"))
}

fn control(request: u32, number: u32) -> io::Result<()> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control");
    let control = control.context(|| "open /dev/loop-control")?;
    // SAFETY: the request takes a plain integer.
    check(unsafe { libc::ioctl(control.as_raw_fd(), request as libc::Ioctl, libc::c_ulong::from(number)) })
        .map(drop)
}
