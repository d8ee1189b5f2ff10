//! A separate trace instance: a directory in the kernel's trace file system with its own buffer, which does not
//! disturb other traces.
//!
//! Its name holds the PID of its owner and the former number of recorded bytes. If furlong was killed, a later
//! furlong restores that number.

use anyhow::Context;
use furlong_console::output;
use furlong_os::AsHandle;
use furlong_os::handle::set_non_blocking;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The driver's events in a trace.
pub const EVENTS: &str = "events/furlong";

/// Prefix of instance names.
const PREFIX: &str = "furlong-";

/// Separator between the PID in a name and the value to restore.
const BEFORE: &str = "-bytes-";

/// Settings that fix the format of lines, whatever the settings of the machine's own trace. Each kernel has a subset
/// of them.
const SETTINGS: [(&str, &str); 11] = [
    // A reader is woken by the first event, not when half of the buffer is full.
    ("buffer_percent", "0"),
    ("trace_clock", "mono"),
    ("options/context-info", "1"),
    ("options/irq-info", "1"),
    ("options/annotate", "1"),
    ("options/raw", "0"),
    ("options/hex", "0"),
    ("options/bin", "0"),
    ("options/fields", "0"),
    ("options/verbose", "0"),
    ("options/latency-format", "0"),
];

/// Name of a trace instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// PID of the process that created it.
    pub pid: u32,
    /// Number of bytes recorded before, if the instance changes it.
    pub before: Option<u32>,
}

impl Name {
    fn read(name: &str) -> Option<Name> {
        let rest = name.strip_prefix(PREFIX)?;
        let (pid, before) = match rest.split_once(BEFORE) {
            Some((pid, before)) => (pid, Some(before.parse().ok()?)),
            None => (rest, None),
        };
        Some(Name { pid: pid.parse().ok()?, before })
    }

    fn text(self) -> String {
        let before = self.before.map_or_else(String::new, |before| format!("{BEFORE}{before}"));
        format!("{PREFIX}{}{before}", self.pid)
    }
}

/// Returns the names of all furlong trace instances, of running and of dead processes.
pub fn all(instances: &Path) -> Vec<Name> {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    entries.filter_map(|entry| Name::read(entry.file_name().to_str()?)).collect()
}

/// Removes the instances of dead processes, and calls `undo` to restore what each had changed.
pub fn remove_leftovers(instances: &Path, mut undo: impl FnMut(Name)) {
    let is_dead = |name: &Name| !Path::new(&format!("/proc/{}", name.pid)).exists();
    for name in all(instances).into_iter().filter(is_dead) {
        // rmdir fails while a process reads the instance, which may run in another container.
        if fs::remove_dir(instances.join(name.text())).is_ok() {
            undo(name);
        }
    }
}

/// A trace that is removed when this is dropped.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
    name: Name,
}

impl Instance {
    /// Creates the instance.
    ///
    /// # Errors
    /// Returns the error of the kernel, for example if the user lacks the permission.
    pub fn make(instances: &Path, name: Name) -> anyhow::Result<Instance> {
        let folder = instances.join(name.text());
        fs::create_dir(&folder)
            .with_context(|| format!("cannot create a separate trace at {}", folder.display()))?;
        Ok(Instance { folder, name })
    }

    /// Returns the name of the instance.
    pub fn name(&self) -> Name {
        self.name
    }

    /// Enables the driver's events: those of one channel, or all.
    ///
    /// # Errors
    /// Returns an error that names the rejected setting.
    pub fn begin(&self, channel: Option<u32>) -> anyhow::Result<()> {
        for (name, value) in SETTINGS {
            match self.set(name, value) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                result => result.with_context(|| format!("cannot set {name} to {value} in the trace"))?,
            }
        }
        if let Some(channel) = channel {
            let filter = format!("channel == {channel}");
            self.set(&format!("{EVENTS}/filter"), &filter)
                .with_context(|| format!("cannot set the filter {filter} for the driver's events"))?;
        }
        self.set(&format!("{EVENTS}/enable"), "1").context("cannot enable the driver's events")
    }

    /// Disables the events.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn end(&self) -> anyhow::Result<()> {
        match self.set(&format!("{EVENTS}/enable"), "0") {
            // They went with the driver.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result.context("cannot disable the driver's events"),
        }
    }

    /// Opens the pipe of trace lines for non-blocking reads.
    ///
    /// # Errors
    /// Returns the error of the kernel.
    pub fn pipe(&self) -> anyhow::Result<File> {
        let path = self.folder.join("trace_pipe");
        let open = || {
            let pipe = File::open(&path)?;
            set_non_blocking(pipe.as_handle(), true)?;
            Ok(pipe)
        };
        open().map_err(|error: io::Error| anyhow::anyhow!("cannot read {}: {error}", path.display()))
    }

    /// Returns whether the driver is still loaded.
    pub fn is_there(&self) -> bool {
        self.folder.join(EVENTS).exists()
    }

    fn set(&self, name: &str, value: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.folder.join(name))?.write_all(value.as_bytes())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.folder) {
            let folder = self.folder.display();
            output::tell(format_args!(
                "furlong: cannot remove the trace: {error}\n    remedy: run sudo rmdir {folder}; the next furlong driver log also removes it"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an empty directory for instances. The kernel would fill each directory in it.
    fn instances() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        (folder, path)
    }

    #[test]
    fn a_trace_is_there_as_long_as_it_is_wanted() {
        let (_folder, instances) = instances();
        let name = Name { pid: std::process::id(), before: Some(0) };
        let instance = Instance::make(&instances, name).unwrap();
        assert_eq!((instance.name(), all(&instances)), (name, vec![name]));
        let again = Instance::make(&instances, name).unwrap_err();
        assert!(format!("{again:#}").contains("cannot create a separate trace"), "{again:#}");
        drop(instance);
        assert!(all(&instances).is_empty());
    }

    #[test]
    fn only_what_the_dead_have_left_is_removed() {
        let (_folder, instances) = instances();
        let alive = format!("furlong-{}", std::process::id());
        for name in [
            alive.as_str(),
            "furlong-4194305",
            "furlong-4194306-bytes-16",
            "furlong",
            "furlong-x",
            "other-4194305",
        ] {
            fs::create_dir(instances.join(name)).unwrap();
        }
        let mut undone = Vec::new();
        remove_leftovers(&instances, |name| undone.push(name.before));
        undone.sort();
        assert_eq!(undone, [None, Some(16)]);
        let mut left: Vec<_> =
            fs::read_dir(&instances).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["furlong", alive.as_str(), "furlong-x", "other-4194305"]);
    }

    #[test]
    fn events_are_switched_on_and_off_in_it() {
        let (_folder, instances) = instances();
        let instance = Instance::make(&instances, Name { pid: 1, before: None }).unwrap();
        // Without the driver, there are no events to enable.
        assert!(!instance.is_there());
        assert!(instance.begin(None).unwrap_err().to_string().contains("cannot enable the driver's events"));
        let at = |name: &str| instance.folder.join(name);
        fs::create_dir_all(at(EVENTS)).unwrap();
        fs::create_dir(at("options")).unwrap();
        for name in
            ["trace_clock", "options/hex", "events/furlong/enable", "events/furlong/filter", "trace_pipe"]
        {
            fs::write(at(name), "").unwrap();
        }
        instance.begin(Some(3)).unwrap();
        let text = |name: &str| fs::read_to_string(at(name)).unwrap();
        assert_eq!((text("trace_clock"), text("options/hex")), ("mono".to_owned(), "0".to_owned()));
        assert_eq!(text("events/furlong/filter"), "channel == 3");
        assert_eq!(text("events/furlong/enable"), "1");
        assert!(instance.is_there() && instance.pipe().is_ok());
        instance.end().unwrap();
        assert_eq!(text("events/furlong/enable"), "0");
        // The kernel would remove these files with the directory.
        fs::read_dir(&instance.folder).unwrap().flatten().for_each(|entry| {
            let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
        });
    }
}
