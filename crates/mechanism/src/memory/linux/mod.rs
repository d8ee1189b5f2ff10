//! Ways into another process's memory that Linux has.

pub(crate) mod channel;
pub(crate) mod pidfd_getfd;
pub(crate) mod proc_mem;
pub(crate) mod process_vm;
