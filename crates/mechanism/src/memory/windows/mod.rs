//! Access to another process's memory on Windows, and the Windows part of `channel`.

pub(crate) mod channel_end;
pub(crate) mod read_process_memory;
