//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what an entry opens is an end together with its measured
//! loops, compiled for the type of its endpoint.

use crate::both_ends::BothEnds;
use crate::channel::Channel;
use crate::message_loop::MessageLoop;
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::Waiting;
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Limits, Unavailable, Wait};
use std::io;

/// Opens the ends that a process holds, with a way of waiting: its own, or the initiator's and the responder's where it
/// is the only process. Requests go by the channel, if there is one.
type Open =
    fn(&LinkSpecification, Vec<EndpointSetup>, Wait, Option<Box<dyn Channel>>) -> io::Result<MessageLoop>;

/// One mechanism, or one way of waiting of a mechanism that waits inside.
#[derive(Debug, Clone, Copy)]
pub struct MechanismEntry {
    /// What it promises.
    pub capabilities: &'static Capabilities,
    /// [`Mechanism::probe`].
    pub probe: fn() -> Result<Limits, Unavailable>,
    /// [`Mechanism::create`].
    pub create: fn(&LinkSpecification) -> io::Result<Link>,
    /// [`Mechanism::open`], and the loops over what was opened.
    pub(crate) open: Open,
}

impl MechanismEntry {
    /// The entry of one mechanism.
    pub fn of<M: Mechanism>() -> MechanismEntry {
        MechanismEntry {
            capabilities: const { &M::CAPABILITIES },
            probe: M::probe,
            create: M::create,
            open: |specification, setups, wait, request| {
                open_all(M::open, specification, setups, wait, request)
            },
        }
    }
}

/// Opens all ends and makes one channel of them. Compiled for a type of endpoint, which many mechanisms share.
fn open_all<E: Endpoint + 'static>(
    open: fn(&LinkSpecification, EndpointSetup) -> io::Result<E>,
    specification: &LinkSpecification,
    setups: Vec<EndpointSetup>,
    wait: Wait,
    request: Option<Box<dyn Channel>>,
) -> io::Result<MessageLoop> {
    let role = setups.first().map(|setup| setup.role);
    let mut ends = Vec::new();
    for setup in setups {
        ends.push(Waiting::new(open(specification, setup)?, wait)?);
    }
    match (role, ends.pop(), ends.pop(), request) {
        (_, Some(responder), Some(initiator), _) => {
            let both = BothEnds::new(initiator, responder, specification.largest_bytes())?;
            Ok(MessageLoop::RoundTrips(Box::new(both)))
        }
        (Some(role), Some(own), None, Some(request)) => {
            Ok(MessageLoop::RoundTrips(Box::new(TwoMechanisms::new(role, request, own))))
        }
        (_, Some(own), None, None) => Ok(MessageLoop::AnyPattern(Box::new(own))),
        _ => Err(io::Error::other("the supervisor handed over no end")),
    }
}

/// The entries of all mechanisms in the list.
pub fn registry() -> Vec<MechanismEntry> {
    struct Collect(Vec<MechanismEntry>);
    impl Visitor for Collect {
        fn visit<M: Mechanism>(&mut self) {
            self.0.push(MechanismEntry::of::<M>());
        }
    }
    let mut collect = Collect(Vec::new());
    visit_all(&mut collect);
    collect.0
}

/// The entry for a row, if there is one.
pub fn find<'a>(mechanisms: &'a [MechanismEntry], mechanism: &str, wait: Wait) -> Option<&'a MechanismEntry> {
    mechanisms
        .iter()
        .find(|entry| entry.capabilities.name == mechanism && entry.capabilities.waits.contains(&wait))
}
