//! Memory of the other process, read through the file `/proc/PID/mem`.
//!
//! Like `process-vm`, but the right to read is checked once, when the file is opened, and the bytes are copied twice: the
//! kernel copies them a page at a time into a buffer page (`mem_rw` in fs/proc/base.c) and from there to the reader. Expect the
//! figures of `process-vm` for small messages and more for large ones.

use crate::memory::published_address::{PublishedAddress, Reader};
use furlong_model::Call;
use furlong_os::linux::remote_memory;
use std::fs::File;
use std::io;

/// A reader through a file that is opened for the first message, because the sender has permitted the access by then.
#[derive(Debug)]
pub struct MemoryFile {
    peer: i32,
    memory: Option<File>,
}

/// The mechanism with a doorbell.
pub type ProcMem<D> = PublishedAddress<MemoryFile, D>;

impl Reader for MemoryFile {
    const NAME: &'static str = "proc-mem";
    const SUMMARY: &'static str = "/proc/PID/mem: the peer's memory, read as a file";
    const IS_COMMON: bool = false;
    const CALLS: &'static [Call] = &[Call::Once("pread64")];
    const REFUSED: (&'static str, &'static str) =
        ("/proc/PID/mem", "mount /proc, and in a container add the capability SYS_PTRACE");

    fn allow_peers() {
        remote_memory::allow_peers();
    }

    fn new(peer: i32) -> Self {
        MemoryFile { peer, memory: None }
    }

    #[inline]
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let memory = match &mut self.memory {
            Some(memory) => memory,
            none => none.insert(remote_memory::open(self.peer)?),
        };
        remote_memory::read_file(memory, address, buffer)
    }
}
