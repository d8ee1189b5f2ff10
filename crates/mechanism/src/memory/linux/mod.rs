//! Ways into another process's memory that Linux has.

pub(crate) mod channel;
pub(crate) mod process_vm;
