//! CPUs that the kernel keeps free of other work, by its command line.

use crate::linux::affinity::parse_list;
use std::fs::read_to_string;
use std::path::Path;

/// CPUs that the kernel keeps free of other work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuIsolation {
    /// CPUs to which the scheduler moves no process (`isolcpus`).
    pub isolated: Vec<usize>,
    /// CPUs without a timer tick while they run one process (`nohz_full`).
    pub tickless: Vec<usize>,
    /// CPUs that run no RCU callbacks (`rcu_nocbs`, or `nohz_full`, which implies it).
    pub without_callbacks: Vec<usize>,
}

/// Returns the isolation of this machine's CPUs.
pub fn read() -> CpuIsolation {
    read_at(Path::new("/"))
}

/// Returns the isolation from the files below `root`, which is usually `/`.
fn read_at(root: &Path) -> CpuIsolation {
    let text = |path: &str| read_to_string(root.join(path)).unwrap_or_default();
    // Without the option, nohz_full has "(null)", which is not a list.
    let list = |name: &str| parse_list(text(&format!("sys/devices/system/cpu/{name}")).trim());
    let tickless = list("nohz_full");
    let command_line = text("proc/cmdline");
    let callbacks = command_line.split_whitespace().find_map(|word| word.strip_prefix("rcu_nocbs="));
    let mut without_callbacks = match callbacks {
        Some("all") => list("possible"),
        Some(cpus) => parse_list(cpus),
        None => Vec::new(),
    };
    without_callbacks.extend(&tickless);
    CpuIsolation { isolated: list("isolated"), tickless, without_callbacks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn isolation_is_read_from_sysfs_and_the_command_line() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_at(folder.path()), CpuIsolation::default());
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sys/devices/system/cpu/isolated", "2-3\n");
        write("sys/devices/system/cpu/nohz_full", "(null)\n");
        write("sys/devices/system/cpu/possible", "0-3\n");
        write("proc/cmdline", "quiet isolcpus=2-3 rcu_nocbs=3\n");
        let found = read_at(folder.path());
        assert_eq!((found.isolated, found.tickless, found.without_callbacks), (vec![2, 3], vec![], vec![3]));
        write("sys/devices/system/cpu/nohz_full", "2\n");
        write("proc/cmdline", "rcu_nocbs=all\n");
        let found = read_at(folder.path());
        assert_eq!((found.tickless, found.without_callbacks), (vec![2], vec![0, 1, 2, 3, 2]));
    }
}
