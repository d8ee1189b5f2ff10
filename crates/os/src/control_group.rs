//! Control groups of this process, of version 1 or 2, and groups with a CPU quota inside its own group.

use crate::error::Context;
use furlong_model::QuotaUse;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Period of a quota in microseconds: the default of Linux.
const PERIOD_US: u64 = 100_000;

/// Group of this process in which groups with a quota can be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuGroup {
    folder: PathBuf,
    /// Whether it belongs to version 2.
    is_unified: bool,
}

impl CpuGroup {
    /// Returns the innermost group of this process in the hierarchy that has the CPU controller.
    ///
    /// # Errors
    /// Returns `Unsupported` if no hierarchy has this controller, or in version 2 if the group has not.
    pub fn find() -> io::Result<CpuGroup> {
        let own: Vec<PathBuf> = around("cpu").into_iter().filter(|group| group.is_dir()).collect();
        if let Some(folder) = own.iter().find(|group| group.join("cpu.cfs_quota_us").exists()) {
            return Ok(CpuGroup { folder: folder.clone(), is_unified: false });
        }
        // In the groups around the innermost one of version 2, roles would escape from the limits of furlong.
        let controllers = own.iter().map(|group| group.join("cgroup.controllers")).find(|file| file.exists());
        let folder = controllers.as_ref().and_then(|file| file.parent().filter(|_| has_word(file, "cpu")));
        folder.map(|folder| CpuGroup { folder: folder.to_owned(), is_unified: true }).ok_or_else(|| {
            let file = controllers.as_deref().unwrap_or("/proc/self/cgroup".as_ref()).display();
            let words = format!("{file} does not list the cpu controller (CONFIG_CFS_BANDWIDTH)");
            io::Error::new(io::ErrorKind::Unsupported, words)
        })
    }

    /// Checks that this process may create groups here and move processes into them. Creates nothing.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if not.
    pub fn check(&self) -> io::Result<()> {
        let path = self.folder.join("cgroup.procs");
        OpenOptions::new()
            .write(true)
            .open(&path)
            .context(|| format!("write to {}", path.display()))
            .map(drop)
    }

    /// Returns the directory of a group with this name.
    pub fn child(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns whether creating a group enables the CPU controller for all groups inside this one.
    pub fn enables_controller(&self) -> bool {
        self.is_unified && !has_word(&self.folder.join(SUBTREE), "cpu")
    }

    /// Creates a group that may use this percentage of one CPU. In version 2, the group is threaded, because only then processes
    /// may stay in the group around it.
    ///
    /// # Errors
    /// Returns the error of the kernel, with the file. The caller removes the group.
    pub fn create(&self, folder: &Path, percent: u8) -> io::Result<()> {
        let quota_us = PERIOD_US * u64::from(percent) / 100;
        fs::create_dir(folder).context(|| format!("create {}", folder.display()))?;
        if self.is_unified {
            write(&folder.join("cgroup.type"), "threaded")?;
            if self.enables_controller() {
                write(&self.folder.join(SUBTREE), "+cpu")?;
            }
            write(&folder.join("cpu.max"), &format!("{quota_us} {PERIOD_US}"))?;
        } else {
            write(&folder.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
            write(&folder.join("cpu.cfs_quota_us"), &quota_us.to_string())?;
        }
        if counters(folder)?.quota_us != quota_us {
            return Err(io::Error::other(format!("the kernel ignores the quota of {}", folder.display())));
        }
        Ok(())
    }
}

/// Returns the directory of a group. A relative path, or the path that /proc/PID/cgroup has, is searched in the hierarchies that can
/// count events.
pub fn folder(path: &Path) -> Option<PathBuf> {
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event"];
    let inside = roots.map(|root| Path::new(root).join(path.strip_prefix("/").unwrap_or(path)));
    [path.to_owned()].into_iter().chain(inside).find(|folder| folder.join("cgroup.procs").exists())
}

/// Returns the processes of a group and of the groups inside it. Groups that cannot be read count as empty.
pub fn processes(folder: &Path) -> Vec<i32> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let own = text.lines().filter_map(|pid| pid.parse().ok());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    own.chain(inner.flat_map(|entry| processes(&entry.path()))).collect()
}

/// Switches of the controllers for the groups inside a group of version 2.
const SUBTREE: &str = "cgroup.subtree_control";

/// Moves a process with all its threads into the group.
///
/// # Errors
/// Returns an error if this process may not, or the process has exited.
pub fn enter(folder: &Path, pid: i32) -> io::Result<()> {
    write(&folder.join("cgroup.procs"), &pid.to_string())
}

/// Reads the quota of a group, and its counters since it was created.
///
/// # Errors
/// Returns an error if the group does not exist, or has no quota.
pub fn counters(folder: &Path) -> io::Result<QuotaUse> {
    let read = |name: &str| {
        fs::read_to_string(folder.join(name)).context(|| format!("read {name} of {}", folder.display()))
    };
    let quota = read("cpu.max")
        .or_else(|_| Ok::<_, io::Error>(read("cpu.cfs_quota_us")? + &read("cpu.cfs_period_us")?))?;
    let quota: Vec<u64> = quota.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [quota_us, period_us] = quota[..] else {
        return Err(io::Error::other(format!("{} has no quota", folder.display())));
    };
    let statistics = read("cpu.stat")?;
    let number =
        |name| statistics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    // Version 1 counts nanoseconds, and version 2 microseconds.
    let throttled_ns = number("throttled_time ").or_else(|| number("throttled_usec ")?.checked_mul(1_000));
    Ok(QuotaUse {
        quota_us,
        period_us,
        periods: number("nr_periods ").unwrap_or_default(),
        throttled_periods: number("nr_throttled ").unwrap_or_default(),
        throttled_ns: throttled_ns.unwrap_or_default(),
    })
}

/// Removes a group that [`CpuGroup::create`] has created. If creating it has enabled the CPU controller, disables the
/// controller with the last of the groups whose names begin with `prefix`.
///
/// # Errors
/// Returns `ResourceBusy` while processes are in the group.
pub fn remove(folder: &Path, disables_controller: bool, prefix: &str) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).context(|| format!("remove {}", folder.display()));
        }
        _ => {}
    }
    let Some(parent) = folder.parent().filter(|_| disables_controller) else { return Ok(()) };
    let mut others = fs::read_dir(parent).into_iter().flatten().flatten();
    if others.any(|other| other.file_name().to_string_lossy().starts_with(prefix)) {
        return Ok(());
    }
    write(&parent.join(SUBTREE), "-cpu")
}

fn has_word(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|other| other == word))
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    let written =
        OpenOptions::new().write(true).open(file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.context(|| format!("write {text} to {}", file.display()))
}

/// Returns the directories of the groups of a controller that this process is in, the innermost first.
pub(crate) fn around(controller: &str) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    text.lines().filter_map(|line| group_of(line, controller)).flatten().collect()
}

/// Returns the group of a line of /proc/self/cgroup and the groups around it, if its hierarchy has the controller: that of
/// version 2, or a hierarchy of version 1 with this controller.
fn group_of(line: &str, controller: &str) -> Option<Vec<PathBuf>> {
    let (_, named) = line.split_once(':')?;
    let (controllers, path) = named.split_once(":/")?;
    let root = match controllers {
        "" => PathBuf::from("/sys/fs/cgroup"),
        names if names.split(',').any(|name| name == controller) => {
            Path::new("/sys/fs/cgroup").join(controller)
        }
        _ => return None,
    };
    let around = root.join(path);
    Some(around.ancestors().take_while(|folder| folder.starts_with(&root)).map(Path::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_controller() {
        let folders = |line| group_of(line, "memory").map(|all| all.len());
        assert_eq!(folders("0::/user.slice/session"), Some(3));
        assert_eq!(folders("0::/"), Some(1));
        assert_eq!(folders("4:memory:/box"), Some(2));
        assert_eq!(folders("3:cpu,memory:/box/inner"), Some(3));
        assert_eq!([folders("6:freezer:/"), folders("1:name=systemd:/x"), folders("")], [None; 3]);
        assert_eq!(group_of("4:memory:/box", "memory").unwrap()[0], Path::new("/sys/fs/cgroup/memory/box"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn group_limits_its_processes_until_it_is_removed() {
        use crate::process::{Bond, fork};
        if !crate::identity::is_administrator() {
            furlong_testing::skip!("needs root");
        }
        let own = CpuGroup::find().unwrap();
        own.check().unwrap();
        let prefix = format!("furlong-test-{}", std::process::id());
        let folder = own.child(&prefix);
        let disables = own.enables_controller();
        own.create(&folder, 20).unwrap();
        let mut child = fork(&[], crate::AsHandle::as_handle(&io::stderr()), Bond::DiesWithParent, || {
            loop {
                std::hint::spin_loop();
            }
        })
        .unwrap();
        enter(&folder, child.pid()).unwrap();
        assert_eq!(remove(&folder, disables, &prefix).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        let start = std::time::Instant::now();
        while counters(&folder).unwrap().throttled_ns == 0 && start.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let found = counters(&folder).unwrap();
        assert_eq!((found.quota_us, found.period_us), (20_000, 100_000));
        assert!(found.periods > 0 && found.throttled_periods > 0 && found.throttled_ns > 0, "{found:?}");
        child.end();
        while remove(&folder, disables, &prefix).is_err() && start.elapsed().as_secs() < 30 {}
        assert!(!folder.exists() && own.enables_controller() == disables);
    }
}
