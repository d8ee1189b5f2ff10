//! The channels of furlong's own kernel module: whether the devices exist, and which channels are free.
//!
//! A channel is claimed with a lock on its device, so that two runs never use the same channel. There is no journal: the module
//! itself resets a channel after its last user has exited, no matter how.

use furlong_model::Unavailable;
use furlong_os::cpu;
use furlong_os::linux::driver;
use furlong_os::{AsHandle, BorrowedHandle};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of sweeps over all channels. While another run examines a channel, it has the channel open.
const LOOKS: usize = 100;

/// One of the two kinds of devices.
pub(crate) struct Kind {
    /// Returns the path of a channel's device.
    pub path: fn(u32) -> PathBuf,
    /// Returns the state of an open device.
    pub look: fn(BorrowedHandle<'_>) -> io::Result<State>,
}

/// State of a channel.
pub(crate) struct State {
    /// Version of the module's interface.
    pub abi: u32,
    /// Whether no other process has the channel open, and it holds no data and no changed limits.
    pub free: bool,
}

/// A channel that this process owns until its device is closed.
#[derive(Debug)]
pub(crate) struct OwnedChannel {
    pub path: PathBuf,
    pub device: File,
}

/// Claims `WANTED` free channels.
pub(crate) fn claim<const WANTED: usize>(kind: &Kind) -> Result<[OwnedChannel; WANTED], Unavailable> {
    let mut seen = (0, 0);
    for _ in 0..LOOKS {
        let (claimed, channels) = sweep(kind, WANTED)?;
        match claimed.try_into() {
            Ok(all) => return Ok(all),
            Err(few) => seen = (Vec::len(&few), channels),
        }
        cpu::yield_now();
    }
    let (free, channels) = seen;
    Err(Unavailable::new(
        format!(
            "{WANTED} free channels are needed, but only {free} of the {channels} of the kernel module furlong (its \
             parameter channels) are free"
        ),
        "end the processes that use the others, or load the module with more: modprobe furlong channels=16",
    ))
}

/// Returns the first free channels, up to `wanted`, and the number of channels that were examined.
fn sweep(kind: &Kind, wanted: usize) -> Result<(Vec<OwnedChannel>, u32), Unavailable> {
    let mut claimed = Vec::new();
    let mut number = 0;
    while claimed.len() < wanted {
        let path = (kind.path)(number);
        match driver::open(&path) {
            Ok(device) => {
                let ours = device.try_lock().is_ok();
                let state = (kind.look)(device.as_handle()).map_err(|error| stranger(&path, &error))?;
                if state.abi != driver::ABI {
                    return Err(other_version(state.abi));
                }
                if ours && state.free {
                    claimed.push(OwnedChannel { path, device });
                }
            }
            Err(error) if number == 0 && error.kind() == io::ErrorKind::NotFound => return Err(absent()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            Err(error) => return Err(refused(&error)),
        }
        number += 1;
    }
    Ok((claimed, number))
}

fn absent() -> Unavailable {
    Unavailable::new(
        "the kernel module furlong is not loaded",
        "as root: furlong driver install; furlong driver status lists what it needs",
    )
}

fn refused(error: &io::Error) -> Unavailable {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "join the group furlong, to which its devices belong, or run as root"
        }
        _ => "run furlong driver status for details",
    };
    Unavailable::new(format!("the kernel module furlong cannot be used: {error}"), remedy)
}

/// Returns the error for a file that is not a device: a shell that writes to a missing device creates a plain file.
fn stranger(path: &Path, error: &io::Error) -> Unavailable {
    Unavailable::new(
        format!("{} is not a device of the kernel module furlong: {error}", path.display()),
        "remove it, then load the module, as root: furlong driver install",
    )
}

fn other_version(abi: u32) -> Unavailable {
    Unavailable::new(
        format!(
            "the loaded kernel module furlong has ABI version {abi}, but this program needs version {}",
            driver::ABI
        ),
        "load the matching module, as root: furlong driver install",
    )
}

/// Returns the bytes that the module's parameters leave for channels that are enlarged. The initial capacity of each channel
/// stays reserved for it.
pub(crate) fn spare_bytes() -> Option<usize> {
    let each = queue_bytes()?.saturating_add(driver::parameter("shm_size")?);
    Some(driver::parameter("memory_max")?.saturating_sub(each.saturating_mul(driver::parameter("channels")?)))
}

/// Returns the initial capacity of a queue in bytes of messages.
pub(crate) fn queue_bytes() -> Option<usize> {
    Some(driver::parameter("message_depth")?.saturating_mul(driver::parameter("message_size")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Kind =
        Kind { path: |_| "/dev/null/furlong".into(), look: |_| Err(io::ErrorKind::Unsupported.into()) };

    /// Paths of devices that open but answer no request.
    fn nulls(number: u32) -> PathBuf {
        PathBuf::from(if number < 3 { "/dev/null" } else { "/dev/furlong-nothing" })
    }

    fn reason(kind: &Kind) -> String {
        let Unavailable { reason, remedy } = claim::<2>(kind).unwrap_err();
        format!("{reason}: {remedy}")
    }

    #[test]
    fn who_cannot_have_a_channel_is_told_why_and_what_helps() {
        let absent = Kind { path: |_| "/dev/furlong-nothing".into(), ..NOWHERE };
        assert!(
            reason(&absent).contains("not loaded: as root: furlong driver install; furlong driver status")
        );
        let stranger = Kind { path: nulls, ..NOWHERE };
        assert!(reason(&stranger).contains("/dev/null is not a device"));
        assert!(reason(&NOWHERE).contains("cannot be used"));
        let older = Kind { path: nulls, look: |_| Ok(State { abi: driver::ABI + 1, free: true }) };
        assert!(reason(&older).contains("version 2"));
        let busy = Kind { path: nulls, look: |_| Ok(State { abi: driver::ABI, free: false }) };
        assert!(reason(&busy).contains("of the 3 of the kernel module furlong ("), "{}", reason(&busy));
    }

    #[test]
    fn a_channel_is_claimed_once() {
        let free = |_: BorrowedHandle<'_>| Ok(State { abi: driver::ABI, free: true });
        let one = Kind {
            path: |number| ["/dev/full", "/dev/furlong-nothing"][number.min(1) as usize].into(),
            look: free,
        };
        let claimed = claim::<1>(&one).unwrap();
        assert!(claim::<1>(&one).is_err());
        drop(claimed);
        assert!(claim::<1>(&one).is_ok());
    }
}
