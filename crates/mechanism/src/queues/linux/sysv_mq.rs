//! System V message queues.
//!
//! Older than POSIX queues and simpler inside: a list, a type to select messages by, and a sender that passes its message to a
//! sleeping receiver. Queues are not file descriptors, so a process cannot wait for a queue and a socket at once. Expect the
//! figures of `posix-mq`.

use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message, NamedEnd, NamedObject};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Lifetime, Limits, PeerDeath, Reach, Sharing, Unavailable, Wait,
};
use furlong_os::Context;
use furlong_os::linux::limits::{sysctl_number, sysctl_number_or};
use furlong_os::linux::sysv_queue::{self, PREFIX_BYTES};
use std::io;

/// A System V queue in each direction.
#[derive(Debug)]
pub struct SysvMq;

/// Default capacity of a queue: the kernel's MSGMNB. In a separate IPC namespace furlong raises the limit, but queues do not
/// become deeper because of that.
const USUAL_BYTES: usize = 16_384;

impl Mechanism for SysvMq {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "sysv-mq",
        summary: "System V message queues, one each way",
        family: Family::Queue,
        waits: &[Wait::Block, Wait::Spin, Wait::Yield],
        calls: Calls::of(&[Call::Once("msgsnd")], &[Call::Once("msgrcv")]),
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::IpcNamespace,
        lifetime: Lifetime::Removal,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    const NAMED: Option<NamedObject> = Some(NamedObject {
        create: |specification| Ok(Box::new(NamedQueue(sysv_queue::create(specification.key, USUAL_BYTES)?))),
        open: |specification| {
            let found = sysv_queue::find(specification.key).context(|| "msgget")?;
            Ok(Box::new(NamedQueue(found)))
        },
        file: None,
    });
    type Endpoint = Queues;

    fn probe() -> Result<Limits, Unavailable> {
        let names = [("kernel.msgmax", 8192), ("kernel.msgmnb", USUAL_BYTES)];
        let values = names.map(|(name, usual)| Some((sysctl_number_or(name, usual)?, name)));
        let Some((largest, name)) = values.into_iter().flatten().min() else {
            return Err(Unavailable::new("the kernel has no System V queues", "CONFIG_SYSVIPC=y"));
        };
        Ok(Limits::at(
            largest,
            name,
            format!(
                "raise it as administrator (sysctl {name}), or run furlong in a separate IPC namespace, in which it \
                 raises the limit itself"
            ),
        ))
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let most = sysctl_number("kernel.msgmnb").unwrap_or(USUAL_BYTES);
        let capacities = specification.sizes_bytes.map(|size_bytes| {
            let wanted = size_bytes.saturating_mul(specification.depth).max(USUAL_BYTES);
            (wanted.min(most).max(size_bytes), size_bytes.max(1))
        });
        let mut link = Link::new(capacities.map(|(capacity, size)| Depth::of(capacity / size)));
        for (key, (capacity_bytes, _)) in
            [specification.key, specification.key + 1].into_iter().zip(capacities)
        {
            let queue = sysv_queue::create(key, capacity_bytes)?;
            link.removes(move || sysv_queue::remove(queue));
            link.give_number(queue);
            link.note("queue-capacity-bytes", capacity_bytes);
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Queues> {
        let (there, back) = (setup.number()?, setup.number()?);
        let (send, receive) = setup.send_and_receive(there, back);
        Ok(Queues { send, receive, blocking: specification.blocking })
    }
}

/// A queue to send to and one to receive from.
#[derive(Debug)]
pub struct Queues {
    send: i32,
    receive: i32,
    blocking: bool,
}

impl Endpoint for Queues {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        sysv_queue::send(self.send, message.with_prefix(PREFIX_BYTES), self.blocking)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        sysv_queue::receive(self.receive, message.with_prefix(PREFIX_BYTES), self.blocking)
    }
}

/// A queue with a key.
struct NamedQueue(i32);

impl NamedEnd for NamedQueue {
    fn put(&mut self, number: u32) -> io::Result<()> {
        let mut framed = [[0; PREFIX_BYTES].as_slice(), &number.to_ne_bytes()].concat();
        sysv_queue::send(self.0, &mut framed, false)
    }

    fn take(&mut self) -> io::Result<u32> {
        let mut framed = [0; PREFIX_BYTES + size_of::<u32>()];
        sysv_queue::receive(self.0, &mut framed, false)?;
        let mut number = [0; size_of::<u32>()];
        number.copy_from_slice(&framed[PREFIX_BYTES..]);
        Ok(u32::from_ne_bytes(number))
    }
}
