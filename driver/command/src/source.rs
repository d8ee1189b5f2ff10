//! The driver's source, embedded in this program so that every copy of furlong can build its driver.

use furlong_console::writing;
use std::path::Path;

/// Embeds files of `driver/` unchanged.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../", $name)))),*]
    };
}

/// Every file of the driver, with its text.
pub const FILES: &[(&str, &str)] = &files![
    "COPYING",
    "Kbuild",
    "Makefile",
    "README.md",
    "dkms.conf",
    "furlong.h",
    "furlong_trace.h",
    "include/uapi/linux/furlong.h",
    "main.c",
    "message.c",
    "shm.c",
    "trace.c",
    "udev/60-furlong.rules",
];

/// The udev rule among them.
pub const RULE: &str = "udev/60-furlong.rules";

/// Returns the version of the driver, which DKMS uses in its directory names.
pub fn version() -> &'static str {
    let line = FILES.iter().flat_map(|(_, text)| text.lines());
    line.filter_map(|line| line.strip_prefix("PACKAGE_VERSION=")).next().unwrap_or_default().trim_matches('"')
}

/// Writes all source files into a directory, which is created if it is missing. Other files in it stay.
///
/// # Errors
/// Returns an error that names the file that could not be written.
pub fn write_into(folder: &Path) -> anyhow::Result<()> {
    FILES
        .iter()
        .try_for_each(|(name, text)| writing::replace_with_folder(&folder.join(name), text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    /// Returns whether a file of `driver/` is not needed to build the module: tests and files that git ignores.
    fn is_apart(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let made = [".ko", ".mod", ".mod.c", ".o", ".cmd", ".d"].iter().any(|ending| name.ends_with(ending));
        made || ["Module.symvers", "modules.order", ".gitignore", "Cargo.toml", "tests", "command", "harness"]
            .contains(&name.as_str())
    }

    fn repository() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn no_file_of_the_driver_is_forgotten() {
        let mut found = BTreeSet::new();
        let mut folders = vec![repository()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
                match (is_apart(&entry), entry.is_dir()) {
                    (true, _) => {}
                    (false, true) => folders.push(entry),
                    (false, false) => {
                        let name = entry.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
                        assert!(found.insert(name));
                    }
                }
            }
        }
        let listed: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, found, "the list in {} and the directory driver/ differ", file!());
        assert_eq!(listed.len(), FILES.len());
        assert!(listed.contains(RULE));
    }

    #[test]
    fn the_version_is_the_same_wherever_it_is_said() {
        assert!(version().starts_with(|c: char| c.is_ascii_digit()), "{}", version());
        let main = FILES.iter().find(|(name, _)| *name == "main.c").unwrap().1;
        assert!(main.contains(&format!("MODULE_VERSION(\"{}\")", version())));
    }
}
