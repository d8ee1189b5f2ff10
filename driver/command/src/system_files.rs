//! Paths of a system's information about a kernel module. All paths are below one directory, so that tests can
//! simulate other systems.

use crate::source;
use furlong_console::data_folder;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories of headers, with the kernel's release in place of `*`; packages make the first a link.
const HEADERS: [&str; 2] = ["lib/modules/*/build", "usr/src/linux-headers-*"];

/// Directories of a kernel for modules that did not come with it.
const ADDED: [&str; 3] = ["updates/dkms", "updates", "extra"];

/// Suffixes after `.ko`, because modules can be compressed.
const ENDINGS: [&str; 4] = ["", ".xz", ".zst", ".gz"];

/// Files of a system.
#[derive(Debug, Clone)]
pub struct SystemFiles {
    root: PathBuf,
    /// Directory in which this user's furlong builds the driver by default.
    pub build_folder: Option<PathBuf>,
}

impl SystemFiles {
    /// Returns the system that furlong runs on.
    pub fn of_this_machine() -> SystemFiles {
        let build_folder = data_folder().map(|data| data.join("driver").join(source::version()));
        SystemFiles { root: PathBuf::from("/"), build_folder }
    }

    /// Returns a system whose files are below a directory.
    #[cfg(test)]
    pub fn below(root: &Path) -> SystemFiles {
        SystemFiles { root: root.to_owned(), build_folder: Some(root.join("built")) }
    }

    /// Returns the full path of a file of the system.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the text of a small file, without its final line break.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok().map(|text| text.trim_end().to_owned())
    }

    /// Returns the sorted names in a directory; none if it does not exist.
    pub fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.at(path))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        // Sort by length after the prefix, because a longer number is greater.
        names.sort_by_key(|name| {
            (name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(), name.len(), name.clone())
        });
        names
    }

    /// Returns the release of the running kernel as `uname -r` prints it.
    pub fn kernel(&self) -> String {
        self.text("proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned())
    }

    /// Returns the default directories for headers of this kernel.
    pub fn usual_headers(&self, kernel: &str) -> Vec<PathBuf> {
        HEADERS.iter().map(|pattern| self.at(&pattern.replace('*', kernel))).collect()
    }

    /// Returns the headers of this kernel, if they exist.
    pub fn headers(&self, kernel: &str) -> Option<PathBuf> {
        self.usual_headers(kernel).into_iter().find(|folder| are_headers(folder))
    }

    /// Returns every installed file of the driver for this kernel.
    pub fn installed(&self, kernel: &str) -> Vec<PathBuf> {
        let file = |folder: &str, ending: &str| {
            self.at(&format!("lib/modules/{kernel}/{folder}/furlong.ko{ending}"))
        };
        let all = ADDED.iter().flat_map(|folder| ENDINGS.iter().map(|ending| file(folder, ending)));
        all.filter(|file| file.exists()).collect()
    }

    /// Returns whether `modprobe` finds the driver in the list that `depmod` made.
    pub fn is_listed(&self, kernel: &str) -> bool {
        let list = self.text(&format!("lib/modules/{kernel}/modules.dep")).unwrap_or_default();
        let files = list.lines().filter_map(|line| line.split(':').next());
        files
            .into_iter()
            .any(|file| file.rsplit('/').next().is_some_and(|name| name.starts_with("furlong.ko")))
    }
}

/// Returns whether a directory contains kernel headers to build a module with.
pub fn are_headers(folder: &Path) -> bool {
    folder.join("Makefile").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["shm0", "message10", "message2", "message0"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let files = SystemFiles::below(folder.path());
        assert_eq!(files.names(""), ["message0", "message2", "message10", "shm0"]);
        assert!(files.names("nowhere").is_empty());
    }

    #[test]
    fn an_installed_module_is_found_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = SystemFiles::below(folder.path());
        assert!(files.installed("6.1").is_empty() && !files.is_listed("6.1"));
        let updates = folder.path().join("lib/modules/6.1/updates/dkms");
        fs::create_dir_all(&updates).unwrap();
        fs::write(updates.join("furlong.ko.xz"), "").unwrap();
        assert_eq!(files.installed("6.1"), [updates.join("furlong.ko.xz")]);
        fs::write(folder.path().join("lib/modules/6.1/modules.dep"), "kernel/a.ko: kernel/furlong.ko\n")
            .unwrap();
        assert!(!files.is_listed("6.1"), "another module that needs it is not it");
        fs::write(folder.path().join("lib/modules/6.1/modules.dep"), "updates/dkms/furlong.ko.xz:\n")
            .unwrap();
        assert!(files.is_listed("6.1"));
        assert!(files.installed("6.12").is_empty());
    }
}
