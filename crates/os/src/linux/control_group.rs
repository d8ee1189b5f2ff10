//! Control groups of this process, of version 1 or 2.

use std::fs;
use std::path::{Path, PathBuf};

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
}
