//! POSIX message queues.
//!
//! The kernel keeps messages in a tree by priority. If a receiver sleeps, the sender passes its message on directly, without
//! queueing it. Expect a pipe's wake-ups and a little less work around them. Queues count against a limit in bytes that all
//! processes of a user share.

use crate::handle_pair::HandlePair;
use crate::streams::byte_stream::DESCRIPTOR_WAITS;
use crate::{
    DIRECTIONS, Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message, NamedEnd,
    NamedObject,
};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Lifetime, Limits, PeerDeath, Reach, Sharing, Unavailable,
};
use furlong_os::handle::set_non_blocking;
use furlong_os::linux::limits::{Resource, raised, sysctl_number, sysctl_number_or};
use furlong_os::linux::posix_queue;
use furlong_os::{AsHandle, BorrowedHandle, Handle};
use std::io;

/// A POSIX queue in each direction.
#[derive(Debug)]
pub struct PosixMq;

/// Bytes that the kernel counts for a queue in addition to each message itself, rounded up.
const BOOKKEEPING_BYTES: u64 = 256;

impl Mechanism for PosixMq {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "posix-mq",
        summary: "POSIX message queues, one each way",
        family: Family::Queue,
        waits: DESCRIPTOR_WAITS,
        calls: Calls::of(&[Call::Once("mq_timedsend")], &[Call::Once("mq_timedreceive")]),
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::IpcNamespace,
        lifetime: Lifetime::Removal,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| {
            NamedQueue::over(posix_queue::create_named(&named(specification), 1, size_of::<u32>())?)
        },
        open: |specification| NamedQueue::over(posix_queue::open(&named(specification))?),
        file: None,
    });
    type Endpoint = Queues;

    fn probe() -> Result<Limits, Unavailable> {
        let Some(largest) = sysctl_number_or("fs.mqueue.msgsize_max", 8192) else {
            return Err(Unavailable::new("the kernel has no POSIX message queues", "CONFIG_POSIX_MQUEUE=y"));
        };
        let bytes = raised(Resource::MessageQueueBytes).unwrap_or(u64::MAX);
        let each =
            usize::try_from(bytes / 2).unwrap_or(usize::MAX).saturating_sub(BOOKKEEPING_BYTES as usize);
        if each < largest {
            return Ok(Limits::at(
                each,
                format!(
                    "RLIMIT_MSGQUEUE allows this user {bytes} bytes in queues, shared by one queue each way"
                ),
                "raise it as administrator: ulimit -q unlimited (needs CAP_SYS_RESOURCE)",
            ));
        }
        Ok(Limits::at(
            largest,
            "fs.mqueue.msgsize_max",
            "raise it as administrator (sysctl fs.mqueue.msgsize_max, at most 16 MiB), or run furlong in a separate \
             IPC namespace, in which it raises the limit itself",
        ))
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let allowed = raised(Resource::MessageQueueBytes).unwrap_or(u64::MAX) / 2;
        let deepest = sysctl_number("fs.mqueue.msg_max").unwrap_or(1);
        let queue = |way: &str, size_bytes: usize| {
            let name = format!("{}-{way}", specification.name);
            let size_bytes = size_bytes.max(1);
            let fit = allowed / (size_bytes as u64 + BOOKKEEPING_BYTES);
            let depth =
                specification.depth.min(deepest).min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1);
            posix_queue::create(&name, depth, size_bytes)
        };
        let ([first, second], sizes_bytes) = (DIRECTIONS, specification.sizes_bytes);
        let (there, back) = (queue(first, sizes_bytes[0])?, queue(second, sizes_bytes[1])?);
        let (depth, size_bytes) = posix_queue::shape(there.as_handle())?;
        let (depth_back, _) = posix_queue::shape(back.as_handle())?;
        let mut link = Link::new([depth, depth_back].map(Depth::of));
        link.note("queue-depth", depth);
        link.note("queue-message-bytes", size_bytes);
        link.give_both(there)?;
        link.give_both(back)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Queues> {
        Ok(Queues { ways: HandlePair::from_shared(specification, &mut setup)? })
    }
}

/// A queue to send to and one to receive from.
#[derive(Debug)]
pub struct Queues {
    ways: HandlePair,
}

impl Endpoint for Queues {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        posix_queue::send(self.ways.send.as_handle(), message, 0)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        posix_queue::receive(self.ways.receive.as_handle(), message)
    }

    fn send_with_priority(&mut self, message: &mut Message, priority: u32) -> io::Result<()> {
        posix_queue::send(self.ways.send.as_handle(), message, priority)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}

/// Returns the name of a queue that the journal contains.
fn named(specification: &LinkSpecification) -> String {
    format!("{}-{}", specification.name, DIRECTIONS[0])
}

/// A queue with a name.
struct NamedQueue(Handle);

impl NamedQueue {
    fn over(queue: Handle) -> io::Result<Box<dyn NamedEnd>> {
        set_non_blocking(queue.as_handle(), true)?;
        Ok(Box::new(NamedQueue(queue)))
    }
}

impl NamedEnd for NamedQueue {
    fn put(&mut self, number: u32) -> io::Result<()> {
        posix_queue::send(self.0.as_handle(), &number.to_ne_bytes(), 0)
    }

    fn take(&mut self) -> io::Result<u32> {
        let mut number = [0; size_of::<u32>()];
        posix_queue::receive(self.0.as_handle(), &mut number)?;
        Ok(u32::from_ne_bytes(number))
    }
}
