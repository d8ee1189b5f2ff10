//! Ways into another process's memory that Linux has, and what `channel` is made of there.

pub(crate) mod channel_end;
pub(crate) mod pidfd_getfd;
pub(crate) mod proc_mem;
pub(crate) mod process_vm;
