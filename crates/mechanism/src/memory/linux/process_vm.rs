//! Memory of the other process, read with `process_vm_readv`.
//!
//! One copy and no shared buffer, but a walk through the other process's page tables in each call. Expect more than a pipe for
//! small messages and less for large ones.

use crate::memory::published_address::{PublishedAddress, Reader};
use furlong_model::Call;
use furlong_os::linux::remote_memory;
use std::io;

/// A reader through a call that names the process.
#[derive(Debug)]
pub struct Readv(i32);

/// The mechanism with a doorbell.
pub type ProcessVm<D> = PublishedAddress<Readv, D>;

impl Reader for Readv {
    const NAME: &'static str = "process-vm";
    const SUMMARY: &'static str = "process_vm_readv from the peer's memory";
    const IS_COMMON: bool = true;
    const CALLS: &'static [Call] = &[Call::Once("process_vm_readv")];
    const REFUSED: (&'static str, &'static str) =
        ("process_vm_readv", "in a container, allow it in the seccomp profile (SYS_PTRACE)");

    fn allow_peers() {
        remote_memory::allow_peers();
    }

    fn new(peer: i32) -> Self {
        Readv(peer)
    }

    #[inline]
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        remote_memory::read(self.0, address, buffer)
    }
}
