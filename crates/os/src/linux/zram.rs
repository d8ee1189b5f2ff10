//! Compressed block devices in memory: zram.

use crate::error::Context;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Directory of the files that create and remove devices.
pub const CONTROL: &str = "/sys/class/zram-control";

/// Returns the path of the device with this number.
pub fn path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/zram{number}"))
}

/// Returns the numbers of all devices, ascending.
///
/// # Errors
/// Returns an error without /sys.
pub fn numbers() -> io::Result<Vec<u32>> {
    let entries = fs::read_dir("/sys/block").context(|| "list /sys/block")?;
    let number = |name: String| name.strip_prefix("zram")?.parse().ok();
    let mut numbers: Vec<u32> =
        entries.flatten().filter_map(|entry| number(entry.file_name().into_string().ok()?)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Creates a device and returns its number: the lowest free one.
///
/// # Errors
/// Returns `NotFound` without the module; `PermissionDenied` unless the user is root.
pub fn add() -> io::Result<u32> {
    let path = Path::new(CONTROL).join("hot_add");
    let text = fs::read_to_string(&path).context(|| format!("read {}", path.display()))?;
    text.trim().parse().map_err(|_| io::Error::other(format!("{} says {text:?}", path.display())))
}

/// Removes the device with this number and its data.
///
/// # Errors
/// Returns `ResourceBusy` while it is open or mounted; `NotFound` if it does not exist.
pub fn remove(number: u32) -> io::Result<()> {
    let result = fs::write(Path::new(CONTROL).join("hot_remove"), number.to_string());
    match result {
        // The standard library has no kind for ENODEV.
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no zram{number}")))
        }
        result => result.context(|| format!("remove zram{number}")),
    }
}

/// Sets the size of a new device.
pub fn set_size(number: u32, bytes: u64) -> io::Result<()> {
    fs::write(attribute(number, "disksize"), bytes.to_string())
        .context(|| format!("give zram{number} {bytes} bytes"))
}

/// Returns the size of a device in bytes: 0 until it is set; `None` if there is no such device.
pub fn size(number: u32) -> Option<u64> {
    fs::read_to_string(attribute(number, "disksize")).ok()?.trim().parse().ok()
}

/// Returns the compression algorithm of the device, for example `lzo-rle`.
pub fn algorithm(number: u32) -> Option<String> {
    let text = fs::read_to_string(attribute(number, "comp_algorithm")).ok()?;
    // The file lists all algorithms, with the active one in brackets.
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn attribute(number: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/sys/block/zram{number}/{name}"))
}
