//! Turns the list of mechanisms into functions that can be called without knowing the mechanisms' types.
//!
//! The type is erased at the loop and not at the call: the functions open an end together with its measured loops,
//! which are compiled for the type of its endpoint. They are compiled in this crate, at its optimisation level.

use crate::both_ends::{BothEnds, Ends, open_ends};
use crate::channel::Channel;
use crate::fan_out::FanOut;
use crate::message_loop::{MessageLoop, no_end};
use crate::one_way::{OneWayLoop, SendStream};
use crate::round_trip::Initiate;
use crate::shared_end::SharedEnd;
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::{OpenEndpoint, WaitingEndpoint};
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{
    BetweenHosts, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, NamedObject,
};
use furlong_model::{Capabilities, Limits, Role, Sharing, Start, Unavailable, Wait};
use std::io;

/// Opens one end of a link, with a wait strategy.
pub type OpenOne = fn(&LinkSpecification, EndpointSetup, Wait) -> io::Result<Box<dyn OneWayLoop>>;

/// Opens one end of a link, without a loop.
pub type OpenEnd = fn(&LinkSpecification, EndpointSetup) -> io::Result<Box<dyn Endpoint>>;

/// Opens both ends of a link, the initiator's first, for a process that runs alone.
pub type OpenBoth = fn(&LinkSpecification, [EndpointSetup; 2], Wait) -> io::Result<Box<dyn Ends>>;

/// Opens both ends of a link, with the loop over them.
pub type OpenAlone = fn(&LinkSpecification, [EndpointSetup; 2], Wait) -> io::Result<Box<dyn Initiate>>;

/// Opens the sender's ends of the links to several receivers.
pub type OpenToSeveral =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait) -> io::Result<Box<dyn SendStream>>;

/// Opens a shared end of one or several links, or the end opposite to a shared one.
pub type OpenShared = fn(&[LinkSpecification], Vec<EndpointSetup>, Wait) -> io::Result<MessageLoop>;

/// Opens a role's ends of several links. Each round trip uses one of the links, drawn from the key.
pub type OpenAmongSeveral =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait, u64) -> io::Result<MessageLoop>;

/// A mechanism that this program contains, or one wait strategy of a mechanism that waits inside its calls.
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
    /// [`Mechanism::open`] with the loops over the end.
    pub open_one: OpenOne,
    /// [`Mechanism::open`] for both ends.
    pub open_both: OpenBoth,
    /// [`Mechanism::open`] for both ends, with the loop for this type of endpoint; `None` if each message makes a
    /// system call.
    pub open_alone: Option<OpenAlone>,
    /// [`Mechanism::open`] for the ends of a sender with several receivers.
    pub open_to_several: OpenToSeveral,
    /// [`Mechanism::open`] for an end that several processes may share; `None` if each end belongs to one process.
    pub open_shared: Option<OpenShared>,
    /// [`Mechanism::open`] for the ends of several links among which a process can wait; `None` if it cannot.
    pub open_among_several: Option<OpenAmongSeveral>,
    /// [`Mechanism::BETWEEN_HOSTS`].
    pub between_hosts: Option<BetweenHosts>,
    /// [`Mechanism::open`] without a loop.
    pub open_end: OpenEnd,
    /// [`Mechanism::NAMED`].
    pub named: Option<NamedObject>,
}

impl BuiltIn {
    /// Returns the entry of a mechanism's type.
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
                        Ok(Box::new(BothEnds::new(ends, specification)?))
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
            open_end: |specification, setup| Ok(Box::new(M::open(specification, setup)?)),
            named: M::NAMED,
        }
    }

    /// Opens the ends of a process, each with the specification of its link. These are the process's own end, both ends
    /// if it is the only process, or the ends of a sender with several receivers. Requests use the channel `request`,
    /// if there is one.
    ///
    /// # Errors
    /// Returns an error if an end cannot be opened, or if these ends do not belong together.
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
                        Box::new(BothEnds::new(ends, link)?)
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

/// Returns all mechanisms of the list, in its order.
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
    Ok(Box::new(WaitingEndpoint::open(open, specification, setup, wait)?))
}

fn open_to_several<E: Endpoint + 'static, C: Channel + 'static>(
    open: OpenEndpoint<E>,
    kept: fn(WaitingEndpoint<E>) -> C,
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
) -> io::Result<Box<dyn SendStream>> {
    Ok(Box::new(FanOut(open_each(open, kept, specifications, setups, wait)?)))
}

fn open_each<E: Endpoint + 'static, C>(
    open: OpenEndpoint<E>,
    kept: fn(WaitingEndpoint<E>) -> C,
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
) -> io::Result<Vec<C>> {
    let mut ends = Vec::with_capacity(setups.len());
    for (specification, setup) in specifications.iter().zip(setups) {
        ends.push(kept(WaitingEndpoint::open(open, specification, setup, wait)?));
    }
    Ok(ends)
}

/// Erases the type of an end whose messages make system calls. A call through a pointer is short compared with a system
/// call, and the loop over such ends is compiled once.
fn without_type<E: Endpoint + 'static>(end: WaitingEndpoint<E>) -> Box<dyn Channel> {
    Box::new(end)
}

/// Returns whether messages of a mechanism go to several receivers over a separate link each. Notifications and a
/// process that runs alone have no receivers, and a link that broadcasts is the only one.
const fn sends_over_several_links(capabilities: &Capabilities) -> bool {
    let broadcasts = matches!(capabilities.sharing, Sharing::EveryReceiver);
    capabilities.fixed_size_bytes.is_none() && !matches!(capabilities.start, Start::Alone) && !broadcasts
}

/// Opens one end, or the ends of a sender with several receivers, for the loop over shared ends.
fn open_shared<M: Mechanism>(
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
) -> io::Result<MessageLoop> {
    let mut ends = open_each(M::open, without_type, specifications, setups, wait)?;
    let channel = if ends.len() == 1 { ends.remove(0) } else { Box::new(FanOut(ends)) };
    Ok(MessageLoop::Shared(SharedEnd { channel, notifies_only: M::CAPABILITIES.fixed_size_bytes.is_some() }))
}

/// Returns the function that opens several ends, if a process can wait among them.
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

/// Returns `None`: only Linux has such a wait.
#[cfg(not(target_os = "linux"))]
fn among_several<M: Mechanism>() -> Option<OpenAmongSeveral> {
    None
}
