//! What a run makes that outlives every process: block devices and a limit of the machine. The kernel takes none of it
//! back when the run is killed.
//!
//! Each is written into the run's journal before it is made, and again when it is gone. Whoever is left removes what the
//! journal has and has not struck off: the run itself, else its janitor, else `furlong doctor --clean`.

#[cfg(target_os = "linux")]
use furlong_os::linux::limits::{set_sysctl, sysctl_number};
#[cfg(target_os = "linux")]
use furlong_os::linux::{loop_device, zram};
#[cfg(target_os = "linux")]
use furlong_os::{Context, clock};
use serde::{Deserialize, Serialize};
#[cfg(target_os = "linux")]
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::thread;
#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
/// How many huge pages the kernel may make of ordinary memory, beside those of its pool.
pub(crate) const OVERCOMMIT: &str = "vm.nr_overcommit_hugepages";

#[cfg(target_os = "linux")]
/// How long something may be held by processes that are dying, and by file systems that the kernel takes apart.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// One of these things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PersistentResource {
    /// A zram device that is about to be made while there are these others: it gets the lowest number that is free.
    NextZram {
        /// The numbers of all others.
        others: Vec<u32>,
    },
    /// A zram device.
    Zram {
        /// Its number.
        number: u32,
        /// The size that it has, or is about to be given.
        size_bytes: u64,
    },
    /// A loop device that was not there before. What it is bound to, the kernel unbinds by itself.
    Loop {
        /// Its number.
        number: u32,
    },
    /// [`OVERCOMMIT`] was raised.
    Overcommit {
        /// What it was.
        from: usize,
        /// What it was raised to.
        to: usize,
    },
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// This is about to be made.
    Making(PersistentResource),
    /// This is gone.
    Gone(PersistentResource),
    /// There are so many links at the same time.
    Links(u32),
    /// Programs are started that may start others in their turn.
    Programs,
    /// A command is started that reaches another host.
    PeerCommand,
}

/// What the lines of a journal leave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// What was made, or about to be, and is not gone.
    pub(crate) resources: Vec<PersistentResource>,
    /// How many links there were.
    pub(crate) links: u32,
    /// Whether there may be processes that other programs have started.
    pub(crate) programs: bool,
    /// Whether there may be a command that reaches another host.
    pub(crate) peer_command: bool,
}

/// Reads what the lines of a journal leave. A line that was cut off was written by a run that was killed before it made anything of it.
pub(crate) fn left<'a>(lines: impl Iterator<Item = &'a str>) -> Left {
    let mut found = Left::default();
    let Left { resources, links, programs, peer_command } = &mut found;
    for entry in lines.filter_map(|line| serde_json::from_slice(line.as_bytes()).ok()) {
        match entry {
            Entry::Making(persistent) => resources.push(persistent),
            Entry::Gone(persistent) => resources.retain(|other| *other != persistent),
            Entry::Links(number) => *links = number.max(*links),
            Entry::Programs => *programs = true,
            Entry::PeerCommand => *peer_command = true,
        }
    }
    found
}

impl PersistentResource {
    /// Removes it. That it is gone already, or that somebody else's thing is in its place, is no error.
    #[cfg(target_os = "linux")]
    pub(crate) fn remove(&self) -> io::Result<()> {
        match self {
            PersistentResource::NextZram { others } => {
                let _lock = lock(zram::CONTROL)?;
                let next = (0..).find(|number| !others.contains(number)).unwrap_or_default();
                // One with a size has its own line in the journal, or is somebody else's.
                if zram::size(next) == Some(0) { when_free(|| remove_zram(next)) } else { Ok(()) }
            }
            PersistentResource::Zram { number, size_bytes } => when_free(|| {
                let _lock = lock(zram::CONTROL)?;
                match zram::size(*number) {
                    Some(size) if size == 0 || size == *size_bytes => remove_zram(*number),
                    _ => Ok(()),
                }
            }),
            PersistentResource::Loop { number } => {
                let free = || match loop_device::remove(*number) {
                    Err(_) if !loop_device::exists(*number) => Ok(()),
                    result => result,
                };
                when_free(free)
            }
            PersistentResource::Overcommit { from, to } => restore_overcommit(*from, *to),
        }
    }

    /// Nothing: only Linux has such things, and a journal that names them was written there.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
/// Under the lock of [`zram::CONTROL`]: a number that is freed while another run makes a device would be the one that it
/// gets, and not the one that its journal has.
fn remove_zram(number: u32) -> io::Result<()> {
    match zram::remove(number) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(target_os = "linux")]
/// Puts the limit back. Another run may have raised it further in the meantime, and will put back what it found: that is
/// waited for. If it never comes to that somebody else has set it, and it stays.
fn restore_overcommit(from: usize, to: usize) -> io::Result<()> {
    let deadline_ns = clock::now_ns() + TIMEOUT_NS;
    loop {
        let lock = lock_overcommit()?;
        match sysctl_number(OVERCOMMIT) {
            Some(current) if current == to => {
                return set_sysctl(OVERCOMMIT, &from.to_string()).context(|| format!("restore {OVERCOMMIT}"));
            }
            Some(current) if current != from && clock::now_ns() < deadline_ns => {}
            _ => return Ok(()),
        }
        drop(lock);
        pause();
    }
}

#[cfg(target_os = "linux")]
/// Keeps all other runs on this machine from changing the limit.
pub(crate) fn lock_overcommit() -> io::Result<File> {
    lock(&format!("/proc/sys/{}", OVERCOMMIT.replace('.', "/")))
}

#[cfg(target_os = "linux")]
/// Locks something that all runs on this machine see, until the file is closed.
pub(crate) fn lock(path: &str) -> io::Result<File> {
    let file = File::open(path).context(|| format!("open {path}"))?;
    let deadline_ns = clock::now_ns() + TIMEOUT_NS;
    loop {
        match file.try_lock().map_err(io::Error::from) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && clock::now_ns() < deadline_ns => {
                pause()
            }
            result => {
                return result.context(|| format!("lock {path}, which another run may hold")).map(|()| file);
            }
        }
    }
}

#[cfg(target_os = "linux")]
/// Tries until nobody holds it any more.
fn when_free(attempt: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let deadline_ns = clock::now_ns() + TIMEOUT_NS;
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && clock::now_ns() < deadline_ns => {
                pause();
            }
            result => return result,
        }
    }
}

#[cfg(target_os = "linux")]
fn pause() {
    thread::sleep(Duration::from_millis(5));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_struck_off_or_cut_off_is_not_left() {
        let (next, zram) = (
            PersistentResource::NextZram { others: vec![0] },
            PersistentResource::Zram { number: 1, size_bytes: 1 << 20 },
        );
        let lines = [Entry::Making(next.clone()), Entry::Making(zram.clone()), Entry::Gone(next)]
            .map(|entry| serde_json::to_string(&entry).unwrap());
        let read = |lines: &[&str]| left(lines.iter().copied());
        assert_eq!(
            read(&[&lines[0], &lines[1], &lines[2]]),
            Left { resources: vec![zram.clone()], ..Left::default() }
        );
        assert_eq!(
            read(&["{}", &lines[1], &lines[2][..9]]),
            Left { resources: vec![zram], ..Left::default() }
        );
        assert_eq!(read(&[]), Left::default());
    }

    #[test]
    fn links_are_never_fewer_than_there_were() {
        let lines = [2, 3, 1].map(|links| serde_json::to_string(&Entry::Links(links)).unwrap());
        assert_eq!(left(lines.iter().map(String::as_str)), Left { links: 3, ..Left::default() });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_of_another_size_is_not_ours() {
        // No machine has a device of this number.
        PersistentResource::Zram { number: 9_999, size_bytes: 12_345 }.remove().unwrap();
        // A device of this test alone: other processes add and remove theirs while it runs.
        let Ok(number) = zram::add() else {
            let is_root = furlong_os::identity::is_administrator();
            furlong_testing::skip!("needs {}", if is_root { "zram" } else { "root" });
        };
        zram::set_size(number, 1 << 20).unwrap();
        PersistentResource::Zram { number, size_bytes: 12_345 }.remove().unwrap();
        assert_eq!(zram::size(number), Some(1 << 20));
        PersistentResource::Zram { number, size_bytes: 1 << 20 }.remove().unwrap();
        assert_eq!(zram::size(number), None);
    }
}
