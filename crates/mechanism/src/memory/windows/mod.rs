//! Ways into another process's memory that Windows has.

pub(crate) mod read_process_memory;
