//! A futex as a notification: a word of shared memory. The kernel is only needed to sleep and to wake.
//!
//! Expect the minimum cost of a blocking mechanism: one wake and one wait per message. The word carries 4 bytes, and a message
//! that is not taken in time is overwritten.

use crate::memory::segment;
use crate::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{
    Call, Calls, Capabilities, Depth, Family, Limits, PeerDeath, Unavailable, Wait, WhenFull,
};
use furlong_os::linux::futex;
use furlong_os::memory::{Region, page_bytes};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A word in each direction, on separate cache lines.
#[derive(Debug)]
pub struct Futex;

/// Offset of the word that each role writes, two cache lines apart because CPUs fetch lines in pairs.
const WORD_OFFSETS: [usize; 2] = [0, 128];

/// One wake for each message, and a sleep unless the word has changed already.
pub(crate) const FUTEX_CALLS: Calls =
    Calls { ring: &[Call::Once("futex")], wait: &[Call::AtMostOnce("futex")], ..Calls::NONE };

impl Mechanism for Futex {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "futex",
        summary: "a word of shared memory each way, with 4 bytes of data",
        family: Family::Notification,
        waits: &[Wait::Futex],
        fixed_size_bytes: Some(4),
        calls: FUTEX_CALLS,
        when_full: WhenFull::Overwrites,
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    type Endpoint = Words;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        let mut link = Link::new([Depth::Messages(1); 2]);
        segment::share_nameless(specification, page_bytes(), &mut link)?;
        Ok(link)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<Words> {
        let region = segment::attach_object(specification, &mut setup, page_bytes())?;
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| WORD_OFFSETS[role.index()]);
        Ok(Words { region, send, receive, seen: 0 })
    }
}

/// A word to write and one to watch.
#[derive(Debug)]
pub struct Words {
    region: Arc<Region>,
    send: usize,
    receive: usize,
    seen: u32,
}

impl Endpoint for Words {
    #[inline]
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        let mut value = [0; 4];
        value.copy_from_slice(message);
        let word = self.region.word(self.send);
        word.store(u32::from_le_bytes(value), Ordering::Release);
        futex::wake(word)
    }

    #[inline]
    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        let word = self.region.word(self.receive);
        let value = loop {
            match word.load(Ordering::Acquire) {
                value if value == self.seen => futex::wait(word, value)?,
                value => break value,
            }
        };
        self.seen = value;
        message.copy_from_slice(&value.to_le_bytes());
        Ok(4)
    }
}
