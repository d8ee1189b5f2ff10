//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what is opened is an end together with its measured
//! loops, compiled for the type of its endpoint. They are compiled in this crate, and with its optimisation.

use crate::both_ends::BothEnds;
use crate::channel::Channel;
use crate::fan_out::FanOut;
use crate::message_loop::{MessageLoop, no_end};
use crate::short_lived::{OneLink, one_link};
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::Waiting;
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Limits, Role, Sharing, Unavailable, Wait};
use std::io;

/// Opens the ends that a process holds, each of the link of its specification, with a way of waiting: its own, the
/// initiator's and the responder's where it is the only process, or those of one who sends to several. Requests go by the channel, if there is one.
pub type Open =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait, Option<Box<dyn Channel>>) -> io::Result<MessageLoop>;

/// Opens an end that several processes have, or the one opposite.
pub type OpenShared = fn(&LinkSpecification, EndpointSetup, Wait) -> io::Result<MessageLoop>;

/// Opens a role's ends of several links, by one of which each round trip goes; by which tells the key.
pub type OpenAmongSeveral =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait, u64) -> io::Result<MessageLoop>;

/// A mechanism that this program has, or one way of waiting of a mechanism that waits inside.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// [`Mechanism::CAPABILITIES`].
    pub capabilities: &'static Capabilities,
    /// [`Mechanism::IS_COMMON`].
    pub is_common: bool,
    /// [`Mechanism::probe`].
    pub probe: fn() -> Result<Limits, Unavailable>,
    /// [`Mechanism::create`].
    pub create: fn(&LinkSpecification) -> io::Result<Link>,
    /// [`Mechanism::open`], and the loops over what was opened.
    pub open: Open,
    /// The same for an end that several processes may have; `None` where each end is for one.
    pub open_shared: Option<OpenShared>,
    /// The same for the ends of several links, for one of which a process can wait; `None` where it cannot.
    pub open_among_several: Option<OpenAmongSeveral>,
    /// The life of one link, with both ends in one process.
    pub one_link: OneLink,
}

impl BuiltIn {
    /// The mechanism of a type.
    pub fn of<M: Mechanism>() -> BuiltIn {
        BuiltIn {
            capabilities: const { &M::CAPABILITIES },
            is_common: M::IS_COMMON,
            probe: M::probe,
            create: M::create,
            open: |specifications, setups, wait, request| {
                open_all(M::open, specifications, setups, wait, request)
            },
            open_shared: const {
                match M::CAPABILITIES.sharing {
                    Sharing::OneEach => None,
                    Sharing::Messages | Sharing::AtomicWrites => Some(open_shared::<M>),
                }
            },
            open_among_several: among_several::<M>(),
            one_link: one_link::<M>,
        }
    }
}

/// All mechanisms of the list, in its order.
pub fn all_built_in() -> Vec<BuiltIn> {
    struct Collect(Vec<BuiltIn>);
    impl Visitor for Collect {
        fn visit<M: Mechanism>(&mut self) {
            self.0.push(BuiltIn::of::<M>());
        }
    }
    let mut collect = Collect(Vec::new());
    visit_all(&mut collect);
    collect.0
}

/// Opens all ends and makes one channel of them. Compiled for a type of endpoint, which many mechanisms share.
fn open_all<E: Endpoint + 'static>(
    open: fn(&LinkSpecification, EndpointSetup) -> io::Result<E>,
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
    request: Option<Box<dyn Channel>>,
) -> io::Result<MessageLoop> {
    let roles: Vec<Role> = setups.iter().map(|setup| setup.role).collect();
    let mut ends = Vec::new();
    for (specification, setup) in specifications.iter().zip(setups) {
        ends.push(Waiting::new(open(specification, setup)?, wait)?);
    }
    match (&roles[..], ends.pop(), request) {
        ([Role::Initiator, Role::Responder], Some(responder), None) => {
            let initiator = ends.pop().ok_or_else(no_end)?;
            let both = BothEnds::new(initiator, responder, specifications[0].largest_bytes())?;
            Ok(MessageLoop::BothEnds(Box::new(both)))
        }
        ([role], Some(own), Some(request)) => {
            Ok(MessageLoop::OneEnd(Box::new(TwoMechanisms::new(*role, request, Box::new(own)))))
        }
        ([_], Some(own), None) => Ok(MessageLoop::OneEnd(Box::new(own))),
        ([Role::Initiator, ..], Some(last), None) => {
            ends.push(last);
            Ok(MessageLoop::ToSeveral(Box::new(FanOut(ends))))
        }
        _ => Err(no_end()),
    }
}

/// Opens one end for the loops over ends that are shared, which are compiled for such mechanisms alone.
fn open_shared<M: Mechanism>(
    specification: &LinkSpecification,
    setup: EndpointSetup,
    wait: Wait,
) -> io::Result<MessageLoop> {
    Ok(MessageLoop::Shared(Box::new(Waiting::new(M::open(specification, setup)?, wait)?)))
}

/// How several ends are opened, where a process can wait for one of them.
#[cfg(target_os = "linux")]
fn among_several<M: Mechanism>() -> Option<OpenAmongSeveral> {
    const {
        if M::CAPABILITIES.can_be_watched() && M::CAPABILITIES.fixed_size_bytes.is_none() {
            Some(crate::ready::open::<M>)
        } else {
            None
        }
    }
}

/// The same where there is no such wait.
#[cfg(not(target_os = "linux"))]
fn among_several<M: Mechanism>() -> Option<OpenAmongSeveral> {
    None
}
