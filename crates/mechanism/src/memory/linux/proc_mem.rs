//! Memory of the other process, read as the file `/proc/PID/mem`.
//!
//! As `process-vm`, with the right to read checked once, when the file is opened, and the bytes copied twice: the kernel
//! fetches them a page at a time into a page of its own (`mem_rw` in fs/proc/base.c) and copies them from there. Expect the
//! figures of `process-vm` for small messages and more for large ones.

use crate::memory::published_address::{PublishedAddress, Reader};
use furlong_model::Call;
use furlong_os::linux::remote_memory;
use std::fs::File;
use std::io;

/// By a file, opened when the first message has come: who sends has allowed it by then.
#[derive(Debug)]
pub struct MemoryFile {
    peer: i32,
    memory: Option<File>,
}

/// The mechanism with a doorbell.
pub type ProcMem<D> = PublishedAddress<MemoryFile, D>;

impl Reader for MemoryFile {
    const NAME: &'static str = "proc-mem";
    const SUMMARY: &'static str = "/proc/PID/mem: the other process's memory, read as a file";
    const IS_COMMON: bool = false;
    const CALLS: &'static [Call] = &[Call::Once("pread64")];
    const REFUSED: (&'static str, &'static str) =
        ("/proc/PID/mem", "mount /proc, and in a container give the right to trace (SYS_PTRACE)");

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
