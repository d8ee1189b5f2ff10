//! Processes that hold an end of an object.

use super::ends::OpenEnd;
use crate::identity::Access;
use crate::objects::{Census, ObjectUse, Sockets};

/// Most holders of an end that are named.
const MOST: usize = 8;

/// Holders of all objects.
#[derive(Debug)]
pub struct Holders(Census);

impl Holders {
    /// Reads the objects of all processes that this user may inspect.
    pub fn read() -> Holders {
        Holders(Census::read(&Sockets::read()).unwrap_or_default())
    }

    /// Returns the first processes that can send (0) to or receive (1) from an object.
    pub fn find(&self, end: OpenEnd, direction: usize) -> Vec<i32> {
        let holds = |found: &ObjectUse| match end {
            OpenEnd::Socket(inode) => found.end == Some(inode),
            OpenEnd::Object(id) => {
                let only = [Access::Writes, Access::Reads][direction];
                found.id == id && (found.access == only || found.access == Access::ReadsAndWrites)
            }
        };
        let processes = self.0.processes.iter().filter(|process| process.uses.iter().any(holds));
        let mut pids: Vec<i32> = processes.map(|process| process.pid).collect();
        pids.sort_unstable();
        pids.truncate(MOST);
        pids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::ObjectKind;
    use crate::objects::resolve;
    use furlong_os::AsHandle;
    use furlong_os::pipe::pipe;

    #[test]
    fn ends_of_a_pipe_have_this_process_as_holder() {
        let (reader, _writer) = pipe().unwrap();
        let pid = std::process::id() as i32;
        let own = resolve(pid, AsHandle::raw_handle(&reader), &Sockets::default()).unwrap();
        assert_eq!(own.id.kind, ObjectKind::Pipe);
        let holders = Holders::read();
        assert!([0, 1].map(|direction| holders.find(OpenEnd::Object(own.id), direction)) == [[pid], [pid]]);
        let other = crate::identity::ObjectId { number: 0, ..own.id };
        assert!(holders.find(OpenEnd::Object(other), 0).is_empty());
    }
}
