//! Sets how many bytes of each message the driver records, and restores the number after the last recording.

use super::instance::{self, Name};
use anyhow::Context;
use furlong_console::output;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Returns the number of bytes recorded before the first recording started. If others already record, their names
/// hold it.
///
/// # Errors
/// Returns an error if the parameter cannot be read.
pub fn before(parameter: &Path, instances: &Path) -> anyhow::Result<u32> {
    if let Some(before) = instance::all(instances).into_iter().find_map(|name| name.before) {
        return Ok(before);
    }
    let text =
        fs::read_to_string(parameter).with_context(|| format!("cannot read {}", parameter.display()))?;
    text.trim()
        .parse()
        .with_context(|| format!("{} contains '{}' instead of a number", parameter.display(), text.trim()))
}

/// Restores the number in a trace's name, unless other recordings are active. The last one restores it.
pub fn put_back(parameter: &Path, instances: &Path, name: Name) {
    let others = instance::all(instances).into_iter().any(|other| other.before.is_some() && other != name);
    let (Some(before), false) = (name.before, others) else { return };
    match set(parameter, before) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            output::tell(format_args!("furlong: cannot restore {} to {before}: {error}", parameter.display()))
        }
        // The parameter disappears with an unloaded driver.
        _ => {}
    }
}

/// A recording, which restores the former number of bytes on drop.
#[derive(Debug)]
pub struct Recording {
    parameter: PathBuf,
    instances: PathBuf,
    name: Name,
}

impl Recording {
    /// Starts recording `bytes` bytes per message. The trace of this name must exist, because its name holds the
    /// former number.
    ///
    /// # Errors
    /// Returns an error if the parameter cannot be set.
    pub fn begin(parameter: &Path, instances: &Path, name: Name, bytes: u32) -> anyhow::Result<Recording> {
        set(parameter, bytes).with_context(|| format!("cannot set {} to {bytes}", parameter.display()))?;
        Ok(Recording { parameter: parameter.to_owned(), instances: instances.to_owned(), name })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        put_back(&self.parameter, &self.instances, self.name);
    }
}

fn set(parameter: &Path, bytes: u32) -> io::Result<()> {
    OpenOptions::new().write(true).open(parameter)?.write_all(format!("{bytes}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::instance::Instance;
    use tempfile::TempDir;

    /// Creates a parameter with the value 8, and a directory for traces.
    fn driver() -> (TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (parameter, instances) = (folder.path().join("log_bytes"), folder.path().join("instances"));
        fs::write(&parameter, "8\n").unwrap();
        fs::create_dir(&instances).unwrap();
        (folder, parameter, instances)
    }

    fn value(parameter: &Path) -> String {
        // Unlike a kernel parameter, a file keeps the rest of a longer former text.
        fs::read_to_string(parameter).unwrap().lines().next().unwrap().to_owned()
    }

    #[test]
    fn what_was_before_comes_back() {
        let (_folder, parameter, instances) = driver();
        let name = Name { pid: std::process::id(), before: Some(before(&parameter, &instances).unwrap()) };
        let instance = Instance::make(&instances, name).unwrap();
        let recording = Recording::begin(&parameter, &instances, instance.name(), 64).unwrap();
        assert_eq!(value(&parameter), "64");
        drop(recording);
        assert_eq!(value(&parameter), "8");
    }

    #[test]
    fn of_several_the_last_puts_back_what_the_first_found() {
        let (_folder, parameter, instances) = driver();
        let one = |pid, bytes| {
            let name = Name { pid, before: Some(before(&parameter, &instances).unwrap()) };
            let instance = Instance::make(&instances, name).unwrap();
            (Recording::begin(&parameter, &instances, name, bytes).unwrap(), instance)
        };
        let (first, second) = (one(1, 16), one(2, 64));
        drop(first);
        assert_eq!(value(&parameter), "64", "the second still wants its own");
        drop(second);
        assert_eq!(value(&parameter), "8");
    }

    #[test]
    fn what_a_killed_one_had_changed_is_put_back() {
        let (_folder, parameter, instances) = driver();
        fs::write(&parameter, "64\n").unwrap();
        // A PID that cannot exist, because the maximum PID of Linux is lower.
        fs::create_dir(instances.join("furlong-4194305-bytes-0")).unwrap();
        instance::remove_leftovers(&instances, |left| put_back(&parameter, &instances, left));
        assert_eq!(value(&parameter), "0");
        assert!(instance::all(&instances).is_empty());
    }
}
