//! The maximum message size of a UNIX socket.

use crate::Message;
use crate::datagrams::datagram::BOOKKEEPING_BYTES;
use furlong_model::{Limits, Unavailable};
use furlong_os::AsHandle;
use furlong_os::handle::set_non_blocking;
use furlong_os::socket::{self, Buffer, Kind};
use std::io;

/// Returns the limits of a message on a UNIX socket of this kind.
pub(super) fn unix_limits(kind: Kind) -> Result<Limits, Unavailable> {
    match largest_unix_message(kind) {
        Ok(size) => Ok(Limits::at(
            size,
            "the kernel keeps a message in one buffer, within the socket's send buffer",
            "raise net.core.wmem_max (up to a few MiB; above that the kernel finds no memory in one piece)",
        )),
        Err(error) => Err(Unavailable::new(error.to_string(), "")),
    }
}

/// Returns the size of the largest message that a pair of UNIX sockets of this kind carries here, determined by sending some.
/// The limit depends on buffers, privileges and how much contiguous memory the kernel finds.
fn largest_unix_message(kind: Kind) -> io::Result<usize> {
    const CEILING: usize = 64 << 20;
    let (sender, receiver) = socket::socketpair(kind)?;
    socket::grow_buffer(sender.as_handle(), Buffer::Send, CEILING + BOOKKEEPING_BYTES)?;
    set_non_blocking(sender.as_handle(), true)?;
    let bytes = Message::new(CEILING)?;
    let mut sink = [0; 1];
    let mut carries = |size: usize| {
        let sent = socket::send(sender.as_handle(), &bytes[..size]).is_ok();
        sent && socket::receive_message(receiver.as_handle(), &mut sink).is_ok_and(|count| count == size)
    };
    let (mut carried, mut refused) = (0, CEILING + 1);
    while refused - carried > 1 {
        let middle = carried + (refused - carried) / 2;
        if carries(middle) {
            carried = middle;
        } else {
            refused = middle;
        }
    }
    Ok(carried)
}
