//! Where a system keeps what there is to know of a kernel module. All of it lies below one folder, so that tests can
//! play other systems.

use crate::source;
use furlong_console::data_folder;
use std::fs;
use std::path::{Path, PathBuf};

/// Where headers are looked for, with the kernel's release in the place of `*`; packages make the first a link.
const HEADERS: [&str; 2] = ["lib/modules/*/build", "usr/src/linux-headers-*"];

/// Folders of a kernel in which modules lie that did not come with it.
const ADDED: [&str; 3] = ["updates/dkms", "updates", "extra"];

/// What may stand behind `.ko`: modules can be packed.
const ENDINGS: [&str; 4] = ["", ".xz", ".zst", ".gz"];

/// A system.
#[derive(Debug, Clone)]
pub struct SystemFiles {
    root: PathBuf,
    /// Where this user's furlong builds the driver, unless another folder is named.
    pub build_folder: Option<PathBuf>,
}

impl SystemFiles {
    /// The one that furlong runs on.
    pub fn of_this_machine() -> SystemFiles {
        let build_folder = data_folder().map(|data| data.join("driver").join(source::version()));
        SystemFiles { root: PathBuf::from("/"), build_folder }
    }

    /// One whose files lie below a folder.
    #[cfg(test)]
    pub fn below(root: &Path) -> SystemFiles {
        SystemFiles { root: root.to_owned(), build_folder: Some(root.join("built")) }
    }

    /// A path of that system.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// What a small file says, without the end of its line.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok().map(|text| text.trim_end().to_owned())
    }

    /// The names in a folder, in order; none if it is not there.
    pub fn names(&self, path: &str) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.at(path))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        // Of two numbers, the longer is the greater.
        names.sort_by_key(|name| {
            (name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(), name.len(), name.clone())
        });
        names
    }

    /// The release of the running kernel, as `uname -r` says it.
    pub fn kernel(&self) -> String {
        self.text("proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned())
    }

    /// Where headers of this kernel would be.
    pub fn usual_headers(&self, kernel: &str) -> Vec<PathBuf> {
        HEADERS.iter().map(|pattern| self.at(&pattern.replace('*', kernel))).collect()
    }

    /// The headers of this kernel, if they are there.
    pub fn headers(&self, kernel: &str) -> Option<PathBuf> {
        self.usual_headers(kernel).into_iter().find(|folder| are_headers(folder))
    }

    /// The driver as it is installed for this kernel: every file there is.
    pub fn installed(&self, kernel: &str) -> Vec<PathBuf> {
        let file = |folder: &str, ending: &str| {
            self.at(&format!("lib/modules/{kernel}/{folder}/furlong.ko{ending}"))
        };
        let all = ADDED.iter().flat_map(|folder| ENDINGS.iter().map(|ending| file(folder, ending)));
        all.filter(|file| file.exists()).collect()
    }

    /// Whether `modprobe` finds the driver in the list that `depmod` made.
    pub fn is_listed(&self, kernel: &str) -> bool {
        let list = self.text(&format!("lib/modules/{kernel}/modules.dep")).unwrap_or_default();
        let files = list.lines().filter_map(|line| line.split(':').next());
        files
            .into_iter()
            .any(|file| file.rsplit('/').next().is_some_and(|name| name.starts_with("furlong.ko")))
    }
}

/// Whether a folder has what a module is built with.
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
