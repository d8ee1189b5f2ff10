//! Block devices that are memory, compressed: zram.

use crate::error::Context;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where devices are made and removed.
pub const CONTROL: &str = "/sys/class/zram-control";

/// Where programs find the device of this number.
pub fn path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/zram{number}"))
}

/// The numbers of all devices, ascending.
///
/// # Errors
/// Without /sys.
pub fn numbers() -> io::Result<Vec<u32>> {
    let entries = fs::read_dir("/sys/block").context(|| "list /sys/block")?;
    let number = |name: String| name.strip_prefix("zram")?.parse().ok();
    let mut numbers: Vec<u32> =
        entries.flatten().filter_map(|entry| number(entry.file_name().into_string().ok()?)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Makes a device and gives its number: the lowest that is free.
///
/// # Errors
/// `NotFound` without the module; `PermissionDenied` unless one is root.
pub fn add() -> io::Result<u32> {
    let path = Path::new(CONTROL).join("hot_add");
    let text = fs::read_to_string(&path).context(|| format!("read {}", path.display()))?;
    text.trim().parse().map_err(|_| io::Error::other(format!("{} says {text:?}", path.display())))
}

/// Removes the device of this number and what it holds.
///
/// # Errors
/// `ResourceBusy` while it is open or mounted; `NotFound` if there is none.
pub fn remove(number: u32) -> io::Result<()> {
    let result = fs::write(Path::new(CONTROL).join("hot_remove"), number.to_string());
    match result {
        // ENODEV has no kind of its own.
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no zram{number}")))
        }
        result => result.context(|| format!("remove zram{number}")),
    }
}

/// Gives a fresh device its size.
pub fn set_size(number: u32, bytes: u64) -> io::Result<()> {
    fs::write(attribute(number, "disksize"), bytes.to_string())
        .context(|| format!("give zram{number} {bytes} bytes"))
}

/// The size of a device in bytes: 0 as long as it was given none; `None` if there is no such device.
pub fn size(number: u32) -> Option<u64> {
    fs::read_to_string(attribute(number, "disksize")).ok()?.trim().parse().ok()
}

/// How the device compresses what it holds, as in `lzo-rle`.
pub fn algorithm(number: u32) -> Option<String> {
    let text = fs::read_to_string(attribute(number, "comp_algorithm")).ok()?;
    // All are listed, and the one in use stands in brackets.
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn attribute(number: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/sys/block/zram{number}/{name}"))
}
