//! NUMA nodes from which the kernel takes the memory of a thread and of the processes that it starts.

use crate::error::{Context, check};
use crate::linux::affinity::parse_list;
use crate::linux::proc_files::Status;
use furlong_model::CpuList;
use std::fs::read_to_string;
use std::io;

/// Size of a mask of nodes in words: 1024 nodes, the kernel's largest configuration.
const WORDS: usize = 16;
/// Length of the mask in bits, plus one: the kernel ignores the last bit.
const BITS: usize = WORDS * u64::BITS as usize + 1;

/// Memory policy of a thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MemoryPolicy {
    mode: libc::c_int,
    nodes: [u64; WORDS],
}

impl MemoryPolicy {
    /// Returns the policy of the calling thread.
    pub(super) fn read() -> io::Result<MemoryPolicy> {
        let MemoryPolicy { mut mode, mut nodes } = MemoryPolicy { mode: 0, nodes: [0; WORDS] };
        let (mode_at, nodes_at) = (&raw mut mode, nodes.as_mut_ptr());
        // SAFETY: the kernel writes one integer, and at most `BITS` bits of the mask.
        check(unsafe { libc::syscall(libc::SYS_get_mempolicy, mode_at, nodes_at, BITS, 0, 0) })
            .context(|| "get_mempolicy")?;
        Ok(MemoryPolicy { mode, nodes })
    }

    /// Sets the policy of the calling thread.
    pub(super) fn set(&self) -> io::Result<()> {
        // SAFETY: the kernel reads `BITS` bits of the mask.
        check(unsafe { libc::syscall(libc::SYS_set_mempolicy, self.mode, self.nodes.as_ptr(), BITS) })
            .context(|| "set_mempolicy")
            .map(drop)
    }
}

/// Binds the memory that the calling thread allocates from now on to one node.
///
/// # Errors
/// Returns `NotFound` with the valid nodes if the node cannot be used, and the error of the kernel if a filter forbids the call.
pub(super) fn bind(node: u16) -> io::Result<()> {
    let sysfs = |file: &str| read_to_string(format!("/sys/devices/system/node/{file}")).unwrap_or_default();
    let mut usable = parse_list(sysfs("has_memory").trim());
    let allowed = Status::read().field("Mems_allowed_list").map(parse_list);
    usable.retain(|node| allowed.as_ref().is_none_or(|allowed| allowed.contains(node)));
    let node = usize::from(node);
    if !usable.contains(&node) {
        let reason = if parse_list(sysfs("online").trim()).contains(&node) {
            "has no memory or is not allowed (Mems_allowed)"
        } else {
            "does not exist"
        };
        let what = format!("NUMA node {node} {reason}; the valid nodes are {}", CpuList(usable));
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let mut wanted = MemoryPolicy { mode: libc::MPOL_BIND, nodes: [0; WORDS] };
    wanted.nodes[node / 64] = 1 << (node % 64);
    wanted.set()?;
    if MemoryPolicy::read()? != wanted {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "set_mempolicy had no effect"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bound_to_nodes_that_exist() {
        std::thread::spawn(|| {
            let missing = bind(1023).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
            let Some(node) = parse_list(Status::read().field("Mems_allowed_list").unwrap()).pop() else {
                panic!("no allowed node")
            };
            assert!(
                missing.to_string().contains("NUMA node 1023 does not exist; the valid nodes are"),
                "{missing}"
            );
            let before = MemoryPolicy::read().unwrap();
            bind(node as u16).unwrap();
            let bound = MemoryPolicy::read().unwrap();
            assert_eq!((bound.mode, bound.nodes[node / 64]), (libc::MPOL_BIND, 1 << (node % 64)));
            before.set().unwrap();
            assert_eq!(MemoryPolicy::read().unwrap(), before);
        })
        .join()
        .unwrap();
    }
}
