//! Message devices: queues of furlong's own kernel module, as device files.
//!
//! `write` makes one message of its buffer and appends it to a bounded queue, and `read` removes the first message: two copies.
//! The message is allocated and filled before any lock is taken. The file system is not involved, and there are no priorities
//! and no sockets. Expect a POSIX queue's wake-ups, and a little less work around them. A queue normally outlives its users.
//! Here each queue is set to transient, so that the module empties and resets it after the last user.

use crate::handle_pair::HandlePair;
use crate::linux::driver_channel::{Kind, State, claim, queue_bytes, spare_bytes};
use crate::streams::byte_stream::{DESCRIPTOR_WAITS, STREAM_CALLS};
use crate::{Endpoint, EndpointSetup, Interest, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Depth, Family, Lifetime, Limits, PeerDeath, Reach, Sharing, Unavailable};
use furlong_os::handle::{read, write};
use furlong_os::linux::driver::{self, message};
use furlong_os::{AsHandle, BorrowedHandle};
use std::io;

/// A channel in each direction.
#[derive(Debug)]
pub struct DriverMessage;

/// Definition of a free queue: no other process has it open, it is empty, and its limits are unchanged.
const CHANNELS: Kind = Kind {
    path: message::path,
    look: |device| {
        let info = message::info(device)?;
        let untouched = |name: &str, value: u32| {
            driver::parameter(name).is_none_or(|at_first| at_first == value as usize)
        };
        let free = info.openers == 1
            && info.queued == 0
            && untouched("message_depth", info.depth)
            && untouched("message_size", info.size);
        Ok(State { abi: info.abi, free })
    },
};

/// Returns the bytes that each of two queues may hold.
fn allowed_bytes() -> usize {
    spare_bytes()
        .zip(queue_bytes())
        .map_or(usize::MAX, |(spare, at_first)| (spare / 2).saturating_add(at_first))
}

impl Mechanism for DriverMessage {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "driver-message",
        summary: "message devices of furlong's own kernel module, one each way",
        family: Family::Queue,
        waits: DESCRIPTOR_WAITS,
        calls: STREAM_CALLS,
        peer_death: PeerDeath::Unnoticed,
        reach: Reach::Device,
        lifetime: Lifetime::Removal,
        sharing: Sharing::Messages,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Channels;

    fn probe() -> Result<Limits, Unavailable> {
        claim::<2>(&CHANNELS)?;
        let most = message::SIZE_MAX as usize;
        let allowed = allowed_bytes();
        if allowed < most {
            return Ok(Limits::at(
                allowed,
                "the parameter memory_max of the kernel module furlong, for all channels together",
                "load it with more: modprobe furlong memory_max=BYTES",
            ));
        }
        Ok(Limits::at(most, "the largest message that the kernel module furlong accepts", "send it in parts"))
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let channels = claim::<2>(&CHANNELS).map_err(io::Error::other)?;
        let mut limits = Vec::new();
        for (channel, size_bytes) in channels.iter().zip(specification.sizes_bytes) {
            let device = channel.device.as_handle();
            // The flags are set first, because later changes persist until the last user has closed the queue.
            message::set_flags(device, message::TRANSIENT | message::STRICT)?;
            let size_bytes = size_bytes.max(1);
            let depth = specification.depth.min(allowed_bytes() / size_bytes).max(1);
            let [depth, size] = [depth, size_bytes].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            message::set_limits(device, depth.min(message::DEPTH_MAX), size)?;
            let info = message::info(device)?;
            limits.push((info.depth as usize, info.size as usize));
        }
        let [depth, depth_back] = [0, 1].map(|way| Depth::of(limits[way].0));
        let mut link = Link::new([depth, depth_back]);
        link.note("queue-depth", limits[0].0);
        link.note("queue-message-bytes", limits[0].1);
        for channel in channels {
            link.give_both(channel.device.into())?;
        }
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Channels> {
        Ok(Channels { ways: HandlePair::from_shared(specification, &mut setup)? })
    }
}

/// A channel to write to and one to read from.
#[derive(Debug)]
pub struct Channels {
    ways: HandlePair,
}

impl Endpoint for Channels {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        write(self.ways.send.as_handle(), message).map(drop)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        read(self.ways.receive.as_handle(), message)
    }

    fn readiness(&self, interest: Interest) -> Option<BorrowedHandle<'_>> {
        Some(self.ways.readiness(interest))
    }
}
