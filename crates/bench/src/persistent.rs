//! Resources that outlive every process of a run: block devices, control groups and settings of the kernel. The kernel does not release
//! them when the run is killed.
//!
//! The run writes each resource into its journal before it creates the resource, and again after it has removed it. The
//! run itself removes the resources that are in the journal and not struck off. If the run was killed, its cleanup
//! process removes them, and otherwise `furlong doctor --clean`.

#[cfg(target_os = "linux")]
use furlong_os::control_group;
#[cfg(target_os = "linux")]
use furlong_os::linux::{kernel_settings, loop_device, zram};
#[cfg(target_os = "linux")]
use furlong_os::{Context, clock};
use serde::{Deserialize, Serialize};
#[cfg(target_os = "linux")]
use std::fs::File;
use std::io;
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::thread;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// The prefix of all names of furlong.
pub const PREFIX: &str = "furlong-";

#[cfg(target_os = "linux")]
/// The longest time, in nanoseconds, that dying processes or file systems being unmounted may hold a resource.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// A resource that outlives the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PersistentResource {
    /// A zram device that is about to be created. It gets the lowest number that is free.
    NextZram {
        /// The numbers of all devices that exist already.
        others: Vec<u32>,
    },
    /// A zram device.
    Zram {
        /// The number of the device.
        number: u32,
        /// The size in bytes that the device has, or is about to get.
        size_bytes: u64,
    },
    /// A loop device that the run adds. The kernel unbinds it from its file automatically.
    Loop {
        /// The number of the device.
        number: u32,
    },
    /// A changed setting of the kernel.
    KernelSetting {
        /// The path of its file.
        path: String,
        /// The value before.
        from: String,
        /// The value of the run.
        to: String,
    },
    /// A control group with a CPU quota.
    QuotaGroup {
        /// The directory of the group.
        folder: PathBuf,
        /// Whether the last such group disables the CPU controller that the first one has enabled.
        disables_controller: bool,
    },
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// The resource is about to be created.
    Making(PersistentResource),
    /// The resource no longer exists.
    Gone(PersistentResource),
    /// The number of links that exist at the same time.
    Links(u32),
    /// Programs are started, which may start other programs.
    Programs,
    /// A command is started that connects to another host.
    PeerCommand,
}

/// The remainder of a run according to the lines of its journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RemainingRun {
    /// The resources that were created, or about to be, and not removed.
    pub(crate) resources: Vec<PersistentResource>,
    /// The largest number of links.
    pub(crate) links: u32,
    /// Whether processes may exist that other programs have started.
    pub(crate) programs: bool,
    /// Whether a command may be running that connects to another host.
    pub(crate) peer_command: bool,
}

/// Reads the remainder of a run from the lines of its journal. A truncated line is skipped: the run was killed while it
/// wrote the line, and so before it created the resource.
pub(crate) fn left<'a>(lines: impl Iterator<Item = &'a str>) -> RemainingRun {
    let mut found = RemainingRun::default();
    let RemainingRun { resources, links, programs, peer_command } = &mut found;
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
    /// Removes the resource. Succeeds if the resource no longer exists, or if its place is taken by one that is not
    /// ours.
    #[cfg(target_os = "linux")]
    pub(crate) fn remove(&self) -> io::Result<()> {
        match self {
            PersistentResource::NextZram { others } => {
                let _lock = lock(zram::CONTROL)?;
                let next = (0..).find(|number| !others.contains(number)).unwrap_or_default();
                // A device with a size has its own line in the journal, or belongs to another process.
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
            PersistentResource::KernelSetting { path, from, to } => restore(path, from, to),
            PersistentResource::QuotaGroup { folder, disables_controller } => {
                let is_ours =
                    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
                let is_group = folder.join("cgroup.procs").exists() || !folder.exists();
                if is_ours && is_group {
                    when_free(|| control_group::remove(folder, *disables_controller, PREFIX))
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Does nothing: only Linux has such resources, and a journal that names them was written there.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
/// Removes a device. The caller holds the lock of [`zram::CONTROL`]. Without it, another run that creates a device
/// could get the freed number instead of the number in its journal.
fn remove_zram(number: u32) -> io::Result<()> {
    match zram::remove(number) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(target_os = "linux")]
/// Restores a setting. If another run has changed it further, waits until that run has restored what it found. If that
/// does not happen before the timeout, another program has changed the setting, and it stays.
fn restore(path: &str, from: &str, to: &str) -> io::Result<()> {
    let deadline_ns = clock::now_ns() + TIMEOUT_NS;
    loop {
        let lock = lock(path)?;
        match kernel_settings::read(path) {
            Ok(current) if current == to => {
                return kernel_settings::write(path, from).context(|| format!("restore {path}"));
            }
            Ok(current) if current != from && clock::now_ns() < deadline_ns => {}
            _ => return Ok(()),
        }
        drop(lock);
        pause();
    }
}

#[cfg(target_os = "linux")]
/// Locks a file that all runs on this machine see, until the returned file is closed.
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
/// Repeats the attempt until no process holds the resource, or until the timeout.
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
            RemainingRun { resources: vec![zram.clone()], ..RemainingRun::default() }
        );
        assert_eq!(
            read(&["{}", &lines[1], &lines[2][..9]]),
            RemainingRun { resources: vec![zram], ..RemainingRun::default() }
        );
        assert_eq!(read(&[]), RemainingRun::default());
    }

    #[test]
    fn links_are_never_fewer_than_there_were() {
        let lines = [2, 3, 1].map(|links| serde_json::to_string(&Entry::Links(links)).unwrap());
        assert_eq!(
            left(lines.iter().map(String::as_str)),
            RemainingRun { links: 3, ..RemainingRun::default() }
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_groups_of_furlong_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let removed = |name: &str, is_group: bool| {
            let folder = base.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            if is_group {
                std::fs::write(folder.join("cgroup.procs"), "").unwrap();
            }
            let group = PersistentResource::QuotaGroup { folder: folder.clone(), disables_controller: true };
            // A directory with files is not removed, so only the attempt shows.
            (group.remove().is_err(), folder.exists())
        };
        assert_eq!(removed("precious", true), (false, true));
        assert_eq!(removed("furlong-precious", false), (false, true));
        assert_eq!(removed("furlong-0-0", true), (true, true));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_of_another_size_is_not_ours() {
        // No machine has a device of this number.
        PersistentResource::Zram { number: 9_999, size_bytes: 12_345 }.remove().unwrap();
        // The test needs its own device because other processes add and remove theirs while it runs.
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
