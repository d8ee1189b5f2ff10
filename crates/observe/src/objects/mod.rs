//! IPC objects of this machine, and `furlong ipc`, which lists them with their holders.

#[cfg(target_os = "linux")]
mod abandoned;
#[cfg(target_os = "linux")]
mod command;
#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod descriptor;
mod identity;
#[cfg(target_os = "linux")]
mod inventory;
#[cfg(target_os = "linux")]
mod mapping;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod object;
mod options;
#[cfg(target_os = "linux")]
mod pipes;
#[cfg(target_os = "linux")]
mod posix_queues;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod sysv;
#[cfg(target_os = "linux")]
mod table;

#[cfg(target_os = "linux")]
pub use command::ipc;
#[cfg(target_os = "linux")]
pub use descriptor::{ObjectUse, resolve, resolve_all};
pub use identity::{Access, Holder, ObjectId, ObjectKind};
#[cfg(target_os = "linux")]
pub use inventory::Inventory;
#[cfg(target_os = "linux")]
pub use mapping::shared_mappings;
#[cfg(target_os = "linux")]
pub use object::{Amount, AmountUnit, Object, ObjectState, SocketEnd};
pub use options::IpcOptions;
#[cfg(target_os = "linux")]
pub use processes::{Census, Process, Visibility};
#[cfg(target_os = "linux")]
pub use sockets::{Socket, Sockets};

#[cfg(not(target_os = "linux"))]
use furlong_console::exit::{CannotHere, Outcome};
#[cfg(not(target_os = "linux"))]
use furlong_render::Style;

/// Reports that the verb exists only for Linux.
///
/// # Errors
/// Always returns [`CannotHere`].
#[cfg(not(target_os = "linux"))]
pub fn ipc(_options: &IpcOptions, _style: Style) -> anyhow::Result<Outcome> {
    let reason = "furlong ipc reads /proc and netlink sockets, which only Linux has";
    Err(CannotHere::new(reason, "run this on Linux").into())
}
