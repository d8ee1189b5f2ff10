//! Access to another process's memory on Linux, and the Linux part of `channel`.

pub(crate) mod channel_end;
pub(crate) mod pidfd_getfd;
pub(crate) mod proc_mem;
pub(crate) mod process_vm;
