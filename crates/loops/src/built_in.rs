//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what is opened is an end together with its measured
//! loops, compiled for the type of its endpoint. They are compiled in this crate, and with its optimisation.

use crate::both_ends::{BothEnds, Ends, open_ends};
use crate::channel::Channel;
use crate::fan_out::FanOut;
use crate::message_loop::{MessageLoop, no_end};
use crate::one_way::{OneWayLoop, SendStream};
use crate::round_trip::Initiate;
use crate::shared_end::SharedEnd;
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::{OpenEndpoint, Waiting};
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{BetweenHosts, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Limits, Role, Sharing, Start, Unavailable, Wait};
use std::io;

/// Opens one end of a link, with its own way of waiting.
pub type OpenOne = fn(&LinkSpecification, EndpointSetup, Wait) -> io::Result<Box<dyn OneWayLoop>>;

/// Opens both ends of a link, the initiator's first, for a process that is alone.
pub type OpenBoth = fn(&LinkSpecification, [EndpointSetup; 2], Wait) -> io::Result<Box<dyn Ends>>;

/// The same, and the loop over them.
pub type OpenAlone = fn(&LinkSpecification, [EndpointSetup; 2], Wait) -> io::Result<Box<dyn Initiate>>;

/// Opens the sender's ends of the links to several receivers.
pub type OpenToSeveral =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait) -> io::Result<Box<dyn SendStream>>;

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
    /// [`Mechanism::open`], and the loops over the end.
    pub open_one: OpenOne,
    /// The same for both ends.
    pub open_both: OpenBoth,
    /// The same, and the loop for this type of endpoint; `None` where each message makes a system call.
    pub open_alone: Option<OpenAlone>,
    /// The same for the ends of one who sends to several.
    pub open_to_several: OpenToSeveral,
    /// The same for an end that several processes may have; `None` where each end is for one.
    pub open_shared: Option<OpenShared>,
    /// The same for the ends of several links, for one of which a process can wait; `None` where it cannot.
    pub open_among_several: Option<OpenAmongSeveral>,
    /// [`Mechanism::BETWEEN_HOSTS`].
    pub between_hosts: Option<BetweenHosts>,
}

impl BuiltIn {
    /// The mechanism of a type.
    pub fn of<M: Mechanism>() -> BuiltIn {
        BuiltIn {
            capabilities: const { &M::CAPABILITIES },
            is_common: M::IS_COMMON,
            probe: M::probe,
            create: M::create,
            open_one: |specification, setup, wait| open_one(M::open, specification, setup, wait),
            open_both: |specification, setups, wait| {
                Ok(Box::new(open_ends(M::open, specification, setups, wait)?))
            },
            open_alone: const {
                if M::CAPABILITIES.calls.are_for_waiting() {
                    Some(|specification, setups, wait| {
                        let ends = open_ends(M::open, specification, setups, wait)?;
                        Ok(Box::new(BothEnds::new(ends, specification.largest_bytes())?))
                    })
                } else {
                    None
                }
            },
            open_to_several: const {
                if !sends_over_several_links(&M::CAPABILITIES) {
                    |_, _, _| Err(no_end())
                } else if M::CAPABILITIES.calls.are_for_waiting() {
                    |links, setups, wait| open_to_several(M::open, |end| end, links, setups, wait)
                } else {
                    |links, setups, wait| open_to_several(M::open, without_type, links, setups, wait)
                }
            },
            open_shared: const {
                if M::CAPABILITIES.sharing.goes_to_one() { Some(open_shared::<M>) } else { None }
            },
            open_among_several: among_several::<M>(),
            between_hosts: M::BETWEEN_HOSTS,
        }
    }

    /// Opens the ends that a process holds, each of the link of its specification: its own, the initiator's and the
    /// responder's where it is the only process, or those of one who sends to several. Requests go by the channel, if there
    /// is one.
    ///
    /// # Errors
    /// What could not be opened, or that these ends do not go together.
    pub fn open(
        &self,
        specifications: &[LinkSpecification],
        mut setups: Vec<EndpointSetup>,
        wait: Wait,
        request: Option<Box<dyn Channel>>,
    ) -> io::Result<MessageLoop> {
        let roles: Vec<Role> = setups.iter().map(|setup| setup.role).collect();
        let link = specifications.first().ok_or_else(no_end)?;
        match (&roles[..], request) {
            ([Role::Initiator, Role::Responder], None) => {
                let both = setups.try_into().map_err(|_| no_end())?;
                Ok(MessageLoop::Initiator(match self.open_alone {
                    Some(open) => open(link, both, wait)?,
                    None => {
                        let ends = (self.open_both)(link, both, wait)?;
                        Box::new(BothEnds::new(ends, link.largest_bytes())?)
                    }
                }))
            }
            ([role], request) => {
                let own = (self.open_one)(link, setups.remove(0), wait)?;
                Ok(MessageLoop::OneEnd(match request {
                    Some(request) => Box::new(TwoMechanisms::new(*role, request, own)),
                    None => own,
                }))
            }
            ([Role::Initiator, ..], None) => {
                (self.open_to_several)(specifications, setups, wait).map(MessageLoop::ToSeveral)
            }
            _ => Err(no_end()),
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

fn open_one<E: Endpoint + 'static>(
    open: OpenEndpoint<E>,
    specification: &LinkSpecification,
    setup: EndpointSetup,
    wait: Wait,
) -> io::Result<Box<dyn OneWayLoop>> {
    Ok(Box::new(Waiting::open(open, specification, setup, wait)?))
}

fn open_to_several<E: Endpoint + 'static, C: Channel + 'static>(
    open: OpenEndpoint<E>,
    kept: fn(Waiting<E>) -> C,
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
) -> io::Result<Box<dyn SendStream>> {
    let mut ends = Vec::with_capacity(setups.len());
    for (specification, setup) in specifications.iter().zip(setups) {
        ends.push(kept(Waiting::open(open, specification, setup, wait)?));
    }
    Ok(Box::new(FanOut(ends)))
}

/// Takes the type off an end whose messages make system calls: next to one, a call through a pointer is short, and the loop
/// over such ends is compiled once.
fn without_type<E: Endpoint + 'static>(end: Waiting<E>) -> Box<dyn Channel> {
    Box::new(end)
}

/// Whether messages of a mechanism go to several receivers over a link each. Notifications and a process alone have no
/// receivers, and a link that broadcasts is the only one.
const fn sends_over_several_links(capabilities: &Capabilities) -> bool {
    let broadcasts = matches!(capabilities.sharing, Sharing::EveryReceiver);
    capabilities.fixed_size_bytes.is_none() && !matches!(capabilities.start, Start::Alone) && !broadcasts
}

/// Opens one end for the loop over ends that are shared.
fn open_shared<M: Mechanism>(
    specification: &LinkSpecification,
    setup: EndpointSetup,
    wait: Wait,
) -> io::Result<MessageLoop> {
    let channel = without_type(Waiting::open(M::open, specification, setup, wait)?);
    Ok(MessageLoop::Shared(SharedEnd { channel, notifies_only: M::CAPABILITIES.fixed_size_bytes.is_some() }))
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
