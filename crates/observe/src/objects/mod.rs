//! IPC objects of this machine, and `furlong ipc`, which lists them with their holders.

mod abandoned;
mod command;
mod connections;
mod descriptor;
mod inventory;
mod mapping;
mod maps;
mod memory;
mod mounts;
mod object;
mod pipes;
mod posix_queues;
mod processes;
mod sockets;
mod sysv;
mod table;

pub use command::ipc;
pub use descriptor::{ObjectUse, resolve, resolve_all};
pub use inventory::Inventory;
pub use mapping::shared_mappings;
pub(crate) use maps::SharedLine;
pub use object::{Amount, AmountUnit, Object, ObjectState, SocketEnd};
pub use processes::{Census, Process, Visibility};
pub use sockets::{Socket, Sockets};
