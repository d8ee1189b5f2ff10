//! A trace of our own: a folder in the kernel's trace file system with its own buffer, which disturbs nobody else's.
//!
//! Its name says whose it is, and which number of bytes was recorded before, so that whoever comes after a furlong that
//! was killed can put everything back.

use anyhow::Context;
use furlong_console::output;
use furlong_os::AsHandle;
use furlong_os::handle::set_non_blocking;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The driver's events in a trace.
pub const EVENTS: &str = "events/furlong";

/// What names of ours begin with.
const PREFIX: &str = "furlong-";

/// What lies between a name's process and what it has to put back.
const BEFORE: &str = "-bytes-";

/// Lines have the form that is read here, whatever somebody has set for the machine's own trace; each kernel has a part
/// of these.
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

/// The name of a trace of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The process that made it.
    pub pid: u32,
    /// How many bytes were recorded before, if it records another number.
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

/// All traces of ours, of the living and of the dead.
pub fn all(instances: &Path) -> Vec<Name> {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    entries.filter_map(|entry| Name::read(entry.file_name().to_str()?)).collect()
}

/// Removes what dead processes have left, and lets `undo` put back what each had changed.
pub fn remove_leftovers(instances: &Path, mut undo: impl FnMut(Name)) {
    let is_dead = |name: &Name| !Path::new(&format!("/proc/{}", name.pid)).exists();
    for name in all(instances).into_iter().filter(is_dead) {
        // The kernel refuses as long as somebody reads it, as one in another container may.
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
    /// Makes it.
    ///
    /// # Errors
    /// What the kernel says, as that this user may not.
    pub fn make(instances: &Path, name: Name) -> anyhow::Result<Instance> {
        let folder = instances.join(name.text());
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make a trace of our own at {}", folder.display()))?;
        Ok(Instance { folder, name })
    }

    /// Its name.
    pub fn name(&self) -> Name {
        self.name
    }

    /// Switches the driver's events on in it: those of one channel, or all.
    ///
    /// # Errors
    /// Which setting was refused, and why.
    pub fn begin(&self, channel: Option<u32>) -> anyhow::Result<()> {
        for (name, value) in SETTINGS {
            match self.set(name, value) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                result => result.with_context(|| format!("cannot set {name} to {value} in our trace"))?,
            }
        }
        if let Some(channel) = channel {
            let filter = format!("channel == {channel}");
            self.set(&format!("{EVENTS}/filter"), &filter)
                .with_context(|| format!("cannot filter the driver's events by {filter}"))?;
        }
        self.set(&format!("{EVENTS}/enable"), "1").context("cannot switch the driver's events on")
    }

    /// Switches them off.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn end(&self) -> anyhow::Result<()> {
        match self.set(&format!("{EVENTS}/enable"), "0") {
            // They went with the driver.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result.context("cannot switch the driver's events off"),
        }
    }

    /// Its lines, as they come; a read does not wait.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn pipe(&self) -> anyhow::Result<File> {
        let path = self.folder.join("trace_pipe");
        let open = || {
            let pipe = File::open(&path)?;
            set_non_blocking(pipe.as_handle(), true)?;
            Ok(pipe)
        };
        open().map_err(|error: io::Error| anyhow::anyhow!("cannot read {}: {error}", path.display()))
    }

    /// Whether the driver is still there.
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
                "furlong: cannot remove our trace: {error}\n    remedy: sudo rmdir {folder}, or the next furlong driver log"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for traces. The kernel would fill each folder in it.
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
        assert!(format!("{again:#}").contains("cannot make a trace of our own"), "{again:#}");
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
        // Without the driver there is nothing to switch on.
        assert!(!instance.is_there());
        assert!(
            instance.begin(None).unwrap_err().to_string().contains("cannot switch the driver's events on")
        );
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
        // What the kernel would take with the folder.
        fs::read_dir(&instance.folder).unwrap().flatten().for_each(|entry| {
            let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
        });
    }
}
