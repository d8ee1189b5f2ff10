//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what a driver points to is the whole of a role,
//! compiled for one endpoint, so that the measured loop has no virtual call in it.

use crate::control::{Control, ControlPage, RoleConfiguration};
use crate::role::{self, RoleError};
use crate::waiting::{Channel, Waiting};
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Limits, Unavailable, Wait};
use std::io;

/// Plays a role by its order, with its ends, and what carries requests where that is another mechanism.
type RunRole = fn(
    &RoleConfiguration,
    Vec<EndpointSetup>,
    Option<Box<dyn Channel>>,
    &mut Control,
    &ControlPage,
) -> Result<(), RoleError>;

/// One mechanism, or one way of waiting of a mechanism that waits inside.
#[derive(Debug, Clone, Copy)]
pub struct MechanismEntry {
    /// What it promises.
    pub capabilities: &'static Capabilities,
    /// [`Mechanism::probe`].
    pub probe: fn() -> Result<Limits, Unavailable>,
    /// [`Mechanism::create`].
    pub create: fn(&LinkSpecification) -> io::Result<Link>,
    /// Opens one end whose type nobody needs to know: what carries requests beside another mechanism's answers.
    pub(crate) open: fn(&LinkSpecification, EndpointSetup, Wait) -> io::Result<Box<dyn Channel>>,
    /// Plays one role to its end.
    pub(crate) run_role: RunRole,
}

impl MechanismEntry {
    /// The driver of one mechanism.
    pub fn of<M: Mechanism>() -> MechanismEntry {
        MechanismEntry {
            capabilities: const { &M::CAPABILITIES },
            probe: M::probe,
            create: M::create,
            open: |specification, setup, wait| {
                Ok(Box::new(Waiting::new(M::open(specification, setup)?, wait)?))
            },
            run_role: role::run_role::<M>,
        }
    }
}

/// The drivers of all mechanisms in the list.
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

/// The driver for a row, if there is one.
pub fn find<'a>(mechanisms: &'a [MechanismEntry], mechanism: &str, wait: Wait) -> Option<&'a MechanismEntry> {
    mechanisms
        .iter()
        .find(|entry| entry.capabilities.name == mechanism && entry.capabilities.waits.contains(&wait))
}
