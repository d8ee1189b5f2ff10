//! Objects of a user that logind removes at logout.

use super::identity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Highest UID of the system users, whose objects logind keeps.
const LAST_SYSTEM_USER: u32 = 999;
/// Directories of its configuration; a file in a later directory replaces one with the same name in an earlier one.
const FOLDERS: [&str; 4] = ["usr/lib/systemd", "usr/local/lib/systemd", "run/systemd", "etc/systemd"];

/// Returns whether logind will remove this user's System V and POSIX objects when the user's last session ends.
pub fn removes_objects_at_logout() -> bool {
    removes_objects(Path::new("/"), identity::user())
}

fn removes_objects(root: &Path, user: u32) -> bool {
    if user <= LAST_SYSTEM_USER {
        return false;
    }
    // The file exists as long as logind knows the user.
    let Ok(state) = fs::read_to_string(root.join(format!("run/systemd/users/{user}"))) else {
        return false;
    };
    let name = state.lines().find_map(|line| line.strip_prefix("NAME="));
    let lingers = name.is_some_and(|name| root.join("var/lib/systemd/linger").join(name).exists());
    !lingers && configured_to_remove(root)
}

/// Returns the last value of `RemoveIPC` in logind.conf and its drop-in files, which are applied in the order of their names;
/// `true` without a value.
fn configured_to_remove(root: &Path) -> bool {
    let mut main = FOLDERS.iter().rev().map(|folder| root.join(folder).join("logind.conf"));
    let main = main.find(|path| path.exists());
    let mut added: BTreeMap<_, PathBuf> = BTreeMap::new();
    for folder in FOLDERS {
        let files = fs::read_dir(root.join(folder).join("logind.conf.d")).into_iter().flatten().flatten();
        let files =
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "conf"));
        added.extend(files.filter_map(|path| Some((path.file_name()?.to_owned(), path))));
    }
    let texts = main.into_iter().chain(added.into_values()).filter_map(|path| fs::read_to_string(path).ok());
    texts.filter_map(|text| text.lines().filter_map(said).next_back()).next_back().unwrap_or(true)
}

/// Returns the value of `RemoveIPC` in a line.
fn said(line: &str) -> Option<bool> {
    let (key, value) = line.split_once('=')?;
    match (key.trim(), value.trim().to_ascii_lowercase().as_str()) {
        ("RemoveIPC", "yes" | "y" | "true" | "t" | "on" | "1") => Some(true),
        ("RemoveIPC", "no" | "n" | "false" | "f" | "off" | "0") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_an_ordinary_user_who_is_logged_in_are_removed_unless_told_otherwise() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let removes = |user| removes_objects(root.path(), user);
        assert!(!removes(1000), "no user is known to logind");
        write("run/systemd/users/1000", "# state\nNAME=someone\nSTATE=active\n");
        write("run/systemd/users/999", "NAME=daemon\n");
        assert!(removes(1000) && !removes(999) && !removes(1001));

        write("usr/lib/systemd/logind.conf", "[Login]\nRemoveIPC=no\n");
        assert!(!removes(1000));
        write("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
        assert!(removes(1000), "the administrator's file stands for the distribution's");
        write("usr/lib/systemd/logind.conf.d/50.conf", "[Login]\nRemoveIPC = off\n");
        write("etc/systemd/logind.conf.d/40.conf", "[Login]\nRemoveIPC=yes\n");
        assert!(!removes(1000), "the last name counts");
        write("run/systemd/logind.conf.d/50.conf", "[Login]\n");
        assert!(removes(1000), "one of the same name was replaced");

        write("var/lib/systemd/linger/someone", "");
        assert!(!removes(1000), "a user who lingers never logs out");
    }
}
