//! Memory of the other process, read with `ReadProcessMemory`.
//!
//! The kernel attaches to the other process and copies, a small message through a separate buffer and a large one through pages
//! that it locks. No memory is mapped twice, and the bytes are copied once or twice. Expect more than `section` for small
//! messages.

use crate::memory::published_address::{PublishedAddress, Reader};
use furlong_model::Call;
use furlong_os::Handle;
use furlong_os::windows::remote_memory;
use std::io;

/// A reader through a handle of the process, which is opened when the first message has arrived.
#[derive(Debug)]
pub struct ProcessReader {
    peer: i32,
    process: Option<Handle>,
}

/// The mechanism with a doorbell.
pub type ReadProcessMemory<D> = PublishedAddress<ProcessReader, D>;

impl Reader for ProcessReader {
    const NAME: &'static str = "read-process-memory";
    const SUMMARY: &'static str = "ReadProcessMemory from the peer's memory";
    const IS_COMMON: bool = true;
    const CALLS: &'static [Call] = &[Call::Once("ReadProcessMemory")];
    const REFUSED: (&'static str, &'static str) =
        ("ReadProcessMemory", "run both processes as one user, neither of them elevated");

    fn new(peer: i32) -> Self {
        ProcessReader { peer, process: None }
    }

    #[inline]
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(remote_memory::open(self.peer)?),
        };
        remote_memory::read(process, address, buffer)
    }
}
