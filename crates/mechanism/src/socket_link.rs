//! Handing over a pair of connected sockets, with buffers of the size that was asked for, and how many messages those
//! hold.
//!
//! The kernel counts more against a buffer than the bytes of a message: the memory that it took for them, and for each
//! block of them a `struct sk_buff` and a `struct skb_shared_info`. How much that is differs between kernels, so what is
//! counted here is the most; Linux 6.18 counts 768 to 1280 bytes beside a small message. Windows
//! counts the bytes of messages alone, and holds more.

use crate::{Link, LinkSpecification};
#[cfg(windows)]
use furlong_model::Wait;
use furlong_model::{Depth, Role, Room};
use furlong_os::memory::page_bytes;
use furlong_os::socket::{Buffer, buffer_bytes, set_buffer};
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

#[cfg(target_os = "linux")]
pub(crate) use crate::streams::byte_stream::DESCRIPTOR_WAITS as SOCKET_WAITS;
/// The ways to wait for a socket.
#[cfg(windows)]
pub(crate) const SOCKET_WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Yield];

/// Bytes that a block takes beside its payload, where the payload is in pages of its own.
const BLOCK_BYTES: usize = 1280;

/// The most bytes of one block of a UNIX stream (`unix_stream_sendmsg` takes up to 32 KiB in pages at once).
const UNIX_BLOCK_BYTES: usize = 32 << 10;

/// What holds the messages of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "Windows has no UNIX datagrams"))]
pub(crate) enum Holds {
    /// The sender's buffer, message by message in blocks of up to 32 KiB: UNIX streams.
    Blocks,
    /// The sender's buffer, each message in memory of one piece: UNIX datagrams.
    Datagrams,
    /// The sender's buffer until the receiver has acknowledged, and the receiver's beside it: TCP.
    Segments,
    /// The receiver's buffer, of which up to a quarter may be counted as full after it was read; what does not fit is
    /// lost: UDP.
    Arrived,
}

impl Holds {
    /// Messages of `size_bytes` that are held at least when `sender` waits, or when `receiver` loses one.
    pub(crate) fn room(
        self,
        sender: BorrowedHandle<'_>,
        receiver: BorrowedHandle<'_>,
        size_bytes: usize,
    ) -> io::Result<Room> {
        let sent = buffer_bytes(sender, Buffer::Send)?;
        let (buffer, charged, least) = match self {
            Holds::Blocks => {
                let block_bytes = UNIX_BLOCK_BYTES.min((sent / 2).max(128) - 64);
                (sent, charged_in_blocks(size_bytes, block_bytes), 0)
            }
            Holds::Segments => (sent, size_bytes + (1 + size_bytes / UNIX_BLOCK_BYTES) * 2 * BLOCK_BYTES, 0),
            // The first is taken whatever its size.
            Holds::Datagrams => (sent, charged_in_one_piece(size_bytes), 1),
            Holds::Arrived => {
                let arrived = buffer_bytes(receiver, Buffer::Receive)?;
                (arrived - arrived / 4, charged_in_one_piece(size_bytes), 1)
            }
        };
        let held = |bytes: usize| Depth::of((bytes / charged).max(least));
        Ok(Room { depth: held(buffer), while_waiting: held(self.kept_while_waiting(buffer)) })
    }

    /// Bytes of a buffer that may be full while its sender waits: it is woken, and `select` calls the socket writable, when
    /// no more than a quarter is (`unix_writable`), or two thirds (`sk_stream_min_wspace`).
    fn kept_while_waiting(self, buffer_bytes: usize) -> usize {
        match self {
            Holds::Blocks | Holds::Datagrams => buffer_bytes / 4,
            Holds::Segments => buffer_bytes / 3 * 2,
            Holds::Arrived => buffer_bytes,
        }
    }
}

/// Bytes that are counted for a message in memory of one piece, which the kernel rounds up to a power of two.
fn charged_in_one_piece(size_bytes: usize) -> usize {
    const HEAD_BYTES: usize = 512;
    const ROUNDED_UP_TO: usize = 16 << 10;
    let bytes = size_bytes.saturating_add(HEAD_BYTES);
    // Above that a part of it may be in pages, and the rest is rounded up.
    let rounded = if bytes <= ROUNDED_UP_TO {
        bytes.next_power_of_two()
    } else {
        bytes.saturating_mul(2) + page_bytes()
    };
    rounded.max(1024) + 256
}

/// Bytes that are counted for a message in blocks of up to `block_bytes`, each in pages and at most one page in one
/// piece.
fn charged_in_blocks(size_bytes: usize, block_bytes: usize) -> usize {
    if size_bytes <= block_bytes {
        return charged_in_one_piece(size_bytes).min(size_bytes.next_multiple_of(page_bytes()) + BLOCK_BYTES);
    }
    size_bytes.saturating_add(size_bytes.div_ceil(block_bytes).saturating_mul(page_bytes() + BLOCK_BYTES))
}

/// Gives each role its socket, the initiator's first, and notes the buffers in force: of the initiator's socket, and
/// as the kernel counts, which doubles what it is asked for to have room for its bookkeeping.
pub(crate) fn link(
    pair: (Handle, Handle),
    holds: Holds,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let mut link = empty_link([pair.0.as_handle(), pair.1.as_handle()], holds, specification)?;
    link.give_pair(pair);
    Ok(link)
}

/// The same with the socket of one role, whose other end is on another host: its own buffers stand for those there.
pub(crate) fn one_end(
    socket: Handle,
    role: Role,
    holds: Holds,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let mut link = empty_link([socket.as_handle(); 2], holds, specification)?;
    link.give(role, socket);
    Ok(link)
}

/// What is known of a link over these sockets, the initiator's first, once their buffers are as they were asked for.
fn empty_link(
    ends: [BorrowedHandle<'_>; 2],
    holds: Holds,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    for end in ends {
        set_buffers(end, specification)?;
    }
    let [there, back] = specification.sizes_bytes;
    let mut link = Link::new([holds.room(ends[0], ends[1], there)?, holds.room(ends[1], ends[0], back)?]);
    note_buffers(&mut link, ends[0], ends[0])?;
    Ok(link)
}

/// Gives both buffers of a socket the size that was asked for, if one was.
pub(crate) fn set_buffers(end: BorrowedHandle<'_>, specification: &LinkSpecification) -> io::Result<()> {
    let Some(bytes) = specification.buffer_bytes else { return Ok(()) };
    set_buffer(end, Buffer::Send, bytes)?;
    set_buffer(end, Buffer::Receive, bytes)
}

/// Notes the buffers in force: of a socket that sends, and of one that receives.
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

    /// What Linux 6.18 counts against the send buffer of a UNIX stream, for messages of these sizes.
    #[test]
    fn no_less_is_counted_than_the_kernel_counts() {
        for (size_bytes, counted) in [(1, 768), (128, 768), (1000, 2304), (4096, 4864), (8192, 8960)] {
            let charged = charged_in_blocks(size_bytes, UNIX_BLOCK_BYTES);
            assert!(charged >= counted && charged <= 2 * counted, "{size_bytes}: {charged}, and {counted}");
        }
    }
}
