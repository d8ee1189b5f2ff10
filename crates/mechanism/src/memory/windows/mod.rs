//! Ways into another process's memory that Windows has, and what `channel` is made of there.

pub(crate) mod channel_end;
pub(crate) mod read_process_memory;
