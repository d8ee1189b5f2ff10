//! Running programs seen from outside: their IPC objects, and the processes that these link. Nothing here measures furlong's own
//! trials, and nothing changes an observed program.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod flow;
pub mod objects;
