//! Processes that hold an end of an object, from /proc.

use furlong_os::linux::file_status::link_status;
use std::collections::HashMap;
use std::fs;

/// Most holders of an end that are named.
const MOST: usize = 8;

/// Holders of all pipes, sockets and files.
#[derive(Debug)]
pub struct Holders(HashMap<String, Vec<OpenEnd>>);

#[derive(Debug)]
struct OpenEnd {
    pid: i32,
    /// Whether the descriptor can send and receive.
    directions: [bool; 2],
}

impl Holders {
    /// Reads the descriptors of all processes that this user may inspect.
    pub fn read() -> Holders {
        let mut holders: HashMap<String, Vec<OpenEnd>> = HashMap::new();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for pid in processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            for descriptor in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
                let path = descriptor.path();
                let (Ok(link), Ok(status)) = (fs::read_link(&path), link_status(&path)) else { continue };
                let directions = [status.mode & 0o200 != 0, status.mode & 0o400 != 0];
                let open = OpenEnd { pid, directions };
                holders.entry(link.to_string_lossy().into_owned()).or_default().push(open);
            }
        }
        Holders(holders)
    }

    /// Returns the first processes that can send (0) to or receive (1) from the object with this link in /proc/PID/fd.
    pub fn find(&self, link: &str, direction: usize) -> Vec<i32> {
        let open = self.0.get(link).into_iter().flatten().filter(|open| open.directions[direction]);
        let mut pids: Vec<i32> = open.map(|open| open.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids.truncate(MOST);
        pids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::pipe::pipe;

    #[test]
    fn ends_of_a_pipe_have_this_process_as_holder() {
        let pipe = pipe().unwrap();
        let pid = std::process::id() as i32;
        let inode = format!("{pipe:?}");
        let holders = Holders::read();
        let own: Vec<_> = holders
            .0
            .iter()
            .filter(|(link, open)| link.starts_with("pipe:[") && open.iter().any(|open| open.pid == pid))
            .collect();
        assert!(!own.is_empty(), "{inode}");
        assert!(own.iter().any(|(link, _)| holders.find(link, 0) == [pid] && holders.find(link, 1) == [pid]));
        assert!(holders.find("pipe:[0]", 0).is_empty());
    }
}
