//! Links of two connected sockets, with buffers of the requested size, and the number of messages that these hold.
//!
//! The kernel counts more against a buffer than the bytes of a message: the memory that it allocated for them, and for each
//! block of them a `struct sk_buff` and a `struct skb_shared_info`. The overhead differs between kernels, so the maximum is
//! assumed here. Linux 6.18 counts 768 to 1280 bytes in addition to a small message. Windows counts only the bytes of messages,
//! and holds more.

use crate::{Link, LinkSpecification};
#[cfg(windows)]
use furlong_model::Wait;
use furlong_model::{Depth, Role, Room, SocketOption};
use furlong_os::memory::page_bytes;
use furlong_os::socket::{Buffer, buffer_bytes, set_buffer, set_socket_option};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

#[cfg(target_os = "linux")]
pub(crate) use crate::streams::byte_stream::DESCRIPTOR_WAITS as SOCKET_WAITS;
/// Wait strategies of a socket.
#[cfg(windows)]
pub(crate) const SOCKET_WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Yield];

/// Bytes of a block in addition to its payload, if the payload is in separate pages.
const BLOCK_BYTES: usize = 1280;

/// Maximum bytes of one block of a UNIX stream (`unix_stream_sendmsg` allocates up to 32 KiB in pages at once).
const UNIX_BLOCK_BYTES: usize = 32 << 10;

/// Buffers that hold the messages of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "Windows has no UNIX datagrams"))]
pub(crate) enum MessageBuffers {
    /// The sender's buffer, with each message in blocks of up to 32 KiB: UNIX streams.
    Blocks,
    /// The sender's buffer, with each message in contiguous memory: UNIX datagrams.
    Datagrams,
    /// The sender's buffer until the receiver has acknowledged, and also the receiver's buffer: TCP.
    Segments,
    /// The receiver's buffer. Up to a quarter of it may count as full after it was read. Messages that do not fit are lost:
    /// UDP.
    Arrived,
}

impl MessageBuffers {
    /// Returns the minimum number of messages of `size_bytes` that are held when `sender` waits, or when `receiver` loses one.
    pub(crate) fn room(
        self,
        sender: BorrowedHandle<'_>,
        receiver: BorrowedHandle<'_>,
        size_bytes: usize,
        is_copied: bool,
    ) -> io::Result<Room> {
        let sent = buffer_bytes(sender, Buffer::Send)?;
        let (buffer, charged, least) = match self {
            MessageBuffers::Blocks => {
                let block_bytes = UNIX_BLOCK_BYTES.min((sent / 2).max(128) - 64);
                (sent, charged_in_blocks(size_bytes, block_bytes), 0)
            }
            MessageBuffers::Segments => {
                (sent, size_bytes + (1 + size_bytes / UNIX_BLOCK_BYTES) * 2 * BLOCK_BYTES, 0)
            }
            // The first message is accepted whatever its size.
            MessageBuffers::Datagrams => (sent, charged_in_one_piece(size_bytes), 1),
            MessageBuffers::Arrived => {
                let arrived = buffer_bytes(receiver, Buffer::Receive)?;
                (arrived - arrived / 4, charged_in_one_piece(size_bytes), 1)
            }
        };
        let charged = if is_copied { charged } else { charged.max(charged_in_its_pages(size_bytes)) };
        let held = |bytes: usize| Depth::of((bytes / charged).max(least));
        Ok(Room { depth: held(buffer), while_waiting: held(self.kept_while_waiting(buffer)) })
    }

    /// Returns the bytes of a buffer that may be full while its sender waits. The sender is woken, and `select` reports the
    /// socket as writable, when at most a quarter is full (`unix_writable`), or two thirds (`sk_stream_min_wspace`).
    fn kept_while_waiting(self, buffer_bytes: usize) -> usize {
        match self {
            MessageBuffers::Blocks | MessageBuffers::Datagrams => buffer_bytes / 4,
            MessageBuffers::Segments => buffer_bytes / 3 * 2,
            MessageBuffers::Arrived => buffer_bytes,
        }
    }
}

/// Returns the bytes counted for a message in contiguous memory, which the kernel rounds up to a power of two.
fn charged_in_one_piece(size_bytes: usize) -> usize {
    const HEAD_BYTES: usize = 512;
    const ROUNDED_UP_TO: usize = 16 << 10;
    let bytes = size_bytes.saturating_add(HEAD_BYTES);
    // Above that limit a part of it may be in pages, and the rest is rounded up.
    let rounded = if bytes <= ROUNDED_UP_TO {
        bytes.next_power_of_two()
    } else {
        bytes.saturating_mul(2) + page_bytes()
    };
    rounded.max(1024) + 256
}

/// Returns the bytes counted for a message in blocks of up to `block_bytes`, each in pages with at most one page of contiguous
/// memory.
fn charged_in_blocks(size_bytes: usize, block_bytes: usize) -> usize {
    if size_bytes <= block_bytes {
        return charged_in_one_piece(size_bytes).min(size_bytes.next_multiple_of(page_bytes()) + BLOCK_BYTES);
    }
    size_bytes.saturating_add(size_bytes.div_ceil(block_bytes).saturating_mul(page_bytes() + BLOCK_BYTES))
}

/// Returns the maximum bytes counted for a message that is not copied: all pages that it touches (`__zerocopy_sg_from_iter`).
fn charged_in_its_pages(size_bytes: usize) -> usize {
    (size_bytes.div_ceil(page_bytes()) + 1) * page_bytes() + BLOCK_BYTES
}

/// Makes a link of two sockets, the initiator's first, and records the buffers in force: those of the initiator's socket, as
/// the kernel counts them. The kernel doubles the requested size to have room for its bookkeeping.
pub(crate) fn link(
    pair: (Handle, Handle),
    holds: MessageBuffers,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let mut link = empty_link([pair.0.as_handle(), pair.1.as_handle()], holds, specification)?;
    link.give_pair(pair);
    Ok(link)
}

/// Makes a link of one role's socket, whose peer is on another host. The buffers of this socket substitute for the remote ones.
pub(crate) fn one_end(
    socket: Handle,
    role: Role,
    holds: MessageBuffers,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let mut link = empty_link([socket.as_handle(); 2], holds, specification)?;
    link.give(role, socket);
    Ok(link)
}

/// Makes a link without ends over these sockets, the initiator's first, after setting the requested buffer sizes and options.
fn empty_link(
    ends: [BorrowedHandle<'_>; 2],
    holds: MessageBuffers,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    for end in ends {
        set_buffers(end, specification)?;
    }
    let is_copied = !specification.conditions.socket_options().contains(&SocketOption::ZeroCopy);
    let room = |sender, receiver, size_bytes| holds.room(sender, receiver, size_bytes, is_copied);
    let [there, back] = specification.sizes_bytes;
    let mut link = Link::new([room(ends[0], ends[1], there)?, room(ends[1], ends[0], back)?]);
    note_buffers(&mut link, ends[0], ends[0])?;
    for end in ends {
        for option in specification.conditions.socket_options() {
            let (name, effective) = set_socket_option(end, *option)?;
            link.note(name, effective);
        }
    }
    Ok(link)
}

/// Sets both buffers of a socket to the requested size, if there is one.
pub(crate) fn set_buffers(end: BorrowedHandle<'_>, specification: &LinkSpecification) -> io::Result<()> {
    let Some(bytes) = specification.buffer_bytes else { return Ok(()) };
    set_buffer(end, Buffer::Send, bytes)?;
    set_buffer(end, Buffer::Receive, bytes)
}

/// Records the buffers in force of a sending and of a receiving socket.
pub(crate) fn note_buffers(
    link: &mut Link,
    sender: BorrowedHandle<'_>,
    receiver: BorrowedHandle<'_>,
) -> io::Result<()> {
    link.note("send-buffer-bytes", buffer_bytes(sender, Buffer::Send)?);
    link.note("receive-buffer-bytes", buffer_bytes(receiver, Buffer::Receive)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn no_datagram_is_lost_while_no_more_are_unread_than_there_is_room_for() {
        use furlong_os::linux::zero_copy::ZeroCopySends;
        for size_bytes in [1, 1000, 20_000] {
            for is_copied in [true, false] {
                let (sender, receiver) = furlong_os::socket::udp_pair().unwrap();
                // A receiver that waits would hang after a loss.
                let receiver = furlong_os::socket::settle(receiver, false).unwrap();
                let (sender, receiver) = (sender.as_handle(), receiver.as_handle());
                let room = MessageBuffers::Arrived.room(sender, receiver, size_bytes, is_copied).unwrap();
                let messages = room.depth.messages().unwrap();
                set_socket_option(sender, SocketOption::ZeroCopy).unwrap();
                let (sends, mut message) = (ZeroCopySends::new(1, true), vec![0; size_bytes]);
                for number in 0..1000 + messages {
                    if number >= messages {
                        let received = furlong_os::socket::receive_message(receiver, &mut message);
                        assert_eq!(received.ok(), Some(size_bytes), "{messages} messages of {size_bytes}B");
                    }
                    if is_copied {
                        furlong_os::socket::send(sender, &message).unwrap();
                    } else {
                        sends.send(sender, &message).unwrap();
                    }
                }
                let rest = (0..messages)
                    .filter(|_| furlong_os::socket::receive_message(receiver, &mut message).is_ok())
                    .count();
                assert_eq!(rest as u64, messages, "unread messages of {size_bytes}B");
            }
        }
    }

    /// Compares with the bytes that Linux 6.18 counts against the send buffer of a UNIX stream, for messages of these sizes.
    #[test]
    fn no_less_is_counted_than_the_kernel_counts() {
        for (size_bytes, counted) in [(1, 768), (128, 768), (1000, 2304), (4096, 4864), (8192, 8960)] {
            let charged = charged_in_blocks(size_bytes, UNIX_BLOCK_BYTES);
            assert!(charged >= counted && charged <= 2 * counted, "{size_bytes}: {charged}, and {counted}");
        }
    }
}
