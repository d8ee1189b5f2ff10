//! The region of a shared-memory device of furlong's own kernel module: pages that the kernel allocates and maps into every
//! process that has the device open. It does not belong to a file, is never written to a disk and cannot be swapped. Expect the
//! figures of any shared memory: after mapping, the kernel is not involved.

use crate::linux::driver_channel::{Kind, State, claim, spare_bytes};
use crate::memory::segment::Segment;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Limits, Reach, Role, Unavailable};
use furlong_os::AsHandle;
use furlong_os::linux::driver::{self, shm};
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;

/// Memory of a device.
#[derive(Debug)]
pub struct DriverShm;

/// Definition of a free region: no other process has it open. Its contents are removed with its last peer.
const CHANNELS: Kind = Kind {
    path: shm::path,
    look: |device| {
        let info = shm::info(device)?;
        Ok(State { abi: info.abi, free: info.peers == 1 << info.peer && info.mappings == 0 })
    },
};

impl Segment for DriverShm {
    const NAME: &'static str = "driver-shm";
    const SUMMARY: &'static str = "mailbox in a shared-memory device of furlong's own kernel module";
    const REACH: Reach = Reach::Device;

    fn probe() -> Result<Limits, Unavailable> {
        claim::<1>(&CHANNELS)?;
        let largest = spare_bytes().zip(driver::parameter("shm_size"));
        Ok(largest.map_or_else(Limits::none, |(spare, at_first)| {
            Limits::at(
                // The region holds two messages and a head.
                (spare.saturating_add(at_first) / 2).saturating_sub(4096),
                "the parameter memory_max of the kernel module furlong, for all channels together",
                "load it with more: modprobe furlong memory_max=BYTES",
            )
        }))
    }

    /// Opens the device once for each role, because each open file is a separate peer. The supervisor's own peer disappears
    /// with the returned region.
    fn create(_spec: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let [channel] = claim(&CHANNELS).map_err(io::Error::other)?;
        let device = channel.device.as_handle();
        shm::resize(device, len as u64)?;
        for role in Role::ALL {
            link.give(role, driver::open(&channel.path)?.into());
        }
        Region::from_device(device, len).map(Arc::new)
    }

    fn attach(_spec: &LinkSpecification, setup: &mut EndpointSetup, len: usize) -> io::Result<Arc<Region>> {
        Region::from_device(setup.descriptor()?.as_handle(), len).map(Arc::new)
    }
}
