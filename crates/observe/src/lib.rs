//! Running programs seen from outside: their IPC objects, and the processes that these link. Nothing here measures furlong's own
//! trials, and nothing changes an observed program.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
pub mod flow;
mod identity;
#[cfg(target_os = "linux")]
pub mod objects;
mod options;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::ipc;
pub use identity::{Access, Holder, ObjectId, ObjectKind};
#[cfg(target_os = "linux")]
pub use objects::ipc;
pub use options::IpcOptions;
