//! Content, limit and ends of sockets.

use super::object::{Amount, AmountUnit, Object, SocketEnd};
use super::sockets::{Socket, Sockets};
use crate::identity::ObjectKind;
use furlong_os::linux::file_status::file_status;
use std::path::Path;

/// Completes a listening socket, a connection, or a receiver of datagrams with its senders.
pub fn complete(object: &mut Object, sockets: &Sockets) {
    let (first, second) = sockets.ends(object.id);
    let inodes = [Some(first), second].into_iter().flatten().chain(sockets.senders(first).iter().copied());
    let ends: Vec<_> = inodes.filter_map(|inode| sockets.get(inode)).collect();
    let Some(socket) = ends.first() else { return };
    let sum = |part: fn(&Socket) -> u64| ends.iter().map(|socket| part(socket)).sum();
    object.name = sockets.name(object.id);
    if second.is_none() {
        object.created_unix_s = bound_unix_s(socket);
    }
    let (content, size) = if socket.is_listening() {
        let queued = |value| Amount::new(value, AmountUnit::Connections);
        (queued(socket.receive_queue()), queued(socket.send_queue()))
    } else {
        let content = match (object.id.kind, socket.is_datagram()) {
            // The kernel reports only the size of the next datagram to the receiver, but the memory of all to the senders.
            (ObjectKind::Unix, true) => Amount::new(sum(Socket::send_queue), AmountUnit::KernelBytes),
            (ObjectKind::Udp, _) => Amount::new(sum(Socket::receive_queue), AmountUnit::KernelBytes),
            _ => Amount::new(sum(Socket::receive_queue), AmountUnit::Bytes),
        };
        (content, Amount::new(sum(Socket::buffer_bytes), AmountUnit::KernelBytes))
    };
    (object.content, object.size) = (vec![content], vec![size]);
    if !socket.is_listening() {
        object.ends = ends.into_iter().map(end).collect();
    }
}

fn end(socket: &Socket) -> SocketEnd {
    SocketEnd {
        inode: socket.inode(),
        address: socket.name(),
        receive_queue_bytes: socket.receive_queue(),
        send_queue_bytes: socket.send_queue(),
    }
}

/// Returns the creation time of the file to which a UNIX socket is bound.
fn bound_unix_s(socket: &Socket) -> Option<i64> {
    let Socket::Unix(found) = socket else { return None };
    let (device, inode) = found.file?;
    let name = socket.name()?;
    let status = file_status(Path::new(&name)).ok().filter(|_| name.starts_with('/'))?;
    // The kernel reports the lower 32 bits of the inode.
    (status.device == device && status.inode as u32 == inode).then_some(status.created_unix_s)?
}
