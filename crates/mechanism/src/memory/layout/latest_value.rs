//! The latest value: a message can be read until a newer one replaces it, and the sender does not wait for the reader.
//!
//! Programs pass on a sensor's reading, a price or a picture like this: only the newest value counts. A sender never waits, and
//! a slow receiver misses intermediate values. So these benchmarks measure round trips, in which every message is read, and not
//! messages one way.

use crate::memory::HEAD_BYTES;
use crate::memory::doorbell::Doorbell;
use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Depth, Family, Limits, Role, Unavailable, WhenFull};
use furlong_os::memory::Region;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Memory layout of the latest value of one direction.
pub trait Layout: Sized + 'static {
    /// Name of the mechanism.
    const NAME: &'static str;
    /// Summary of the mechanism in one line.
    const SUMMARY: &'static str;
    /// Number of values for which there is room.
    const VALUES: usize;

    /// Creates the view of a value, with its words in the cache line at `line` and its room at `room`, both zeroed at first.
    fn new(region: &Arc<Region>, line: usize, room: usize, value_bytes: usize) -> Self;

    /// Replaces the value.
    fn write(&mut self, value: &[u8]);

    /// Returns the word that changes with each value.
    fn word(&self) -> &AtomicU32;

    /// Returns the value of the word when `read` last returned a value.
    fn seen(&self) -> u32;

    /// Copies the value out, as much as there is room for, and returns its length; `None` if no value was written since the
    /// last read.
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize>;
}

/// Returns the distance in bytes between the rooms of two values, which do not share a pair of cache lines.
fn value_bytes(size_bytes: usize) -> usize {
    size_bytes.next_multiple_of(128)
}

/// Returns the bytes of a region with the values of both directions.
fn region_bytes<L: Layout>(size_bytes: usize) -> usize {
    HEAD_BYTES + 2 * L::VALUES * value_bytes(size_bytes)
}

/// The latest value in each direction, in a memfd.
#[derive(Debug)]
pub struct LatestValue<L, D>(PhantomData<(L, D)>);

impl<L: Layout, D: Doorbell> Mechanism for LatestValue<L, D> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: L::NAME,
        summary: L::SUMMARY,
        family: Family::Memory,
        waits: D::WAITS,
        calls: D::CALLS,
        when_full: WhenFull::Overwrites,
        peer_death: D::PEER_DEATH,
        ..Capabilities::DEFAULT
    };
    const IS_COMMON: bool = false;
    type Endpoint = Values<L, D>;

    fn probe() -> Result<Limits, Unavailable> {
        D::probe().map(|()| Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(1); 2]);
        let len = region_bytes::<L>(specification.largest_bytes());
        let region = segment::share_nameless(specification, len, &mut link)?;
        D::create(specification, &region, &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let size_bytes = specification.largest_bytes();
        let region = segment::attach_object(specification, &mut setup, region_bytes::<L>(size_bytes))?;
        let doorbell = D::open(specification, &mut setup, &region)?;
        let bytes = value_bytes(size_bytes);
        let [own, other] = [setup.role, setup.role.peer()].map(|writer: Role| {
            let room = HEAD_BYTES + writer.index() * L::VALUES * bytes;
            L::new(&region, writer.index() * 128, room, bytes)
        });
        Ok(Values { own, other, doorbell })
    }
}

/// The value that this role writes, and the other role's value.
#[derive(Debug)]
pub struct Values<L, D> {
    own: L,
    other: L,
    doorbell: D,
}

impl<L: Layout, D: Doorbell> Endpoint for Values<L, D> {
    #[inline(always)]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.own.write(message);
        self.doorbell.ring(self.own.word())
    }

    #[inline(always)]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        loop {
            self.doorbell.wait(self.other.word(), self.other.seen())?;
            if let Some(length) = self.other.read(message) {
                return Ok(length);
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Writes many values of one repeated byte each, without a pause, while they are read. Checks that each is whole and no
    /// older than the one before it, and that the last one is read.
    pub fn is_read_whole<L: Layout + Send>() {
        const VALUES: u32 = 20_000;
        let size_bytes = value_bytes(1000);
        let region = Arc::new(Region::anonymous(region_bytes::<L>(size_bytes)).unwrap());
        let view = || L::new(&region, 0, HEAD_BYTES, size_bytes);
        let value = |number: u32| [&number.to_le_bytes()[..], &[number as u8; 996]].concat();
        let missed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let mut writer = view();
            scope.spawn(move || (1..=VALUES).for_each(|number| writer.write(&value(number))));
            let (mut reader, mut buffer, mut last) = (view(), [0; 1000], 0);
            while last < VALUES {
                let Some(length) = reader.read(&mut buffer) else {
                    std::thread::yield_now();
                    continue;
                };
                let number = u32::from_le_bytes(std::array::from_fn(|at| buffer[at]));
                assert!(number > last, "{number} arrived after {last}");
                assert_eq!((length, &buffer[..]), (1000, &value(number)[..]));
                missed.fetch_or(number > last + 1, Ordering::Relaxed);
                last = number;
            }
        });
        assert!(missed.into_inner(), "no value was replaced, so the test tried nothing");
    }
}
