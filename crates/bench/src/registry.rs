//! From the list of mechanisms to functions that can be called without knowing their types.
//!
//! The type is erased here, at the loop, and not at the call: what an entry opens is an end together with its measured
//! loops, compiled for the type of its endpoint.

use crate::adapter::{Adapter, create_link};
use crate::both_ends::BothEnds;
use crate::channel::Channel;
use crate::child_process::ChildProgram;
use crate::fan_out::FanOut;
use crate::message_loop::MessageLoop;
use crate::own_programs::OwnPrograms;
use crate::short_lived::{OneLink, one_link};
use crate::two_mechanisms::TwoMechanisms;
use crate::waiting::Waiting;
use furlong_adapter_files::{Manifest, Row};
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Case, Limits, Role, Unavailable, Wait};
use std::io;

/// Opens the ends that a process holds, each of the link of its specification, with a way of waiting: its own, the
/// initiator's and the responder's where it is the only process, or those of one who sends to several. Requests go by the channel, if there is one.
type Open =
    fn(&[LinkSpecification], Vec<EndpointSetup>, Wait, Option<Box<dyn Channel>>) -> io::Result<MessageLoop>;

/// One mechanism, or one way of waiting of a mechanism that waits inside.
#[derive(Debug, Clone, Copy)]
pub struct MechanismEntry {
    /// What it promises.
    pub capabilities: &'static Capabilities,
    /// Whether programs use it so often that whoever measures nothing in particular looks for it.
    pub is_common: bool,
    /// Where it comes from.
    pub(crate) source: Source,
}

/// Where a mechanism comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// This program has it.
    BuiltIn(BuiltIn),
    /// Another program carries it.
    Adapter(&'static Adapter),
    /// Two programs that know nothing of furlong.
    Programs(&'static OwnPrograms),
}

/// What makes and uses the links of a mechanism that this program has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuiltIn {
    /// [`Mechanism::probe`].
    probe: fn() -> Result<Limits, Unavailable>,
    /// [`Mechanism::create`].
    pub(crate) create: fn(&LinkSpecification) -> io::Result<Link>,
    /// [`Mechanism::open`], and the loops over what was opened.
    pub(crate) open: Open,
    /// The life of one link, with both ends in one process.
    pub(crate) one_link: OneLink,
}

impl MechanismEntry {
    /// The entry of one mechanism.
    pub fn of<M: Mechanism>() -> MechanismEntry {
        let built_in = BuiltIn {
            probe: M::probe,
            create: M::create,
            open: |specifications, setups, wait, request| {
                open_all(M::open, specifications, setups, wait, request)
            },
            one_link: one_link::<M>,
        };
        MechanismEntry {
            capabilities: const { &M::CAPABILITIES },
            is_common: M::IS_COMMON,
            source: Source::BuiltIn(built_in),
        }
    }

    /// The entry of one row of an adapter, whose program is started and asked what it claims. It lives as long as this
    /// process, as built-in ones do.
    pub fn of_adapter(manifest: &Manifest, row: &Row) -> MechanismEntry {
        let (adapter, capabilities) = Adapter::ask(manifest, row);
        let source = Source::Adapter(Box::leak(Box::new(adapter)));
        MechanismEntry { capabilities: Box::leak(Box::new(capabilities)), is_common: true, source }
    }

    /// The entry of two programs that know nothing of furlong, under this name. It lives as long as this process.
    pub fn of_programs(name: &str, programs: OwnPrograms) -> MechanismEntry {
        MechanismEntry {
            capabilities: Box::leak(Box::new(OwnPrograms::capabilities(name))),
            is_common: false,
            source: Source::Programs(Box::leak(Box::new(programs))),
        }
    }

    /// Whether this machine has it, and within which limits.
    ///
    /// # Errors
    /// Why not, and what would help.
    pub fn probe(&self) -> Result<Limits, Unavailable> {
        match self.source {
            Source::BuiltIn(BuiltIn { probe, .. }) => probe(),
            Source::Adapter(adapter) => adapter.here.clone(),
            Source::Programs(_) => Ok(Limits::none()),
        }
    }

    /// The adapter, for a row that one carries.
    pub fn adapter(&self) -> Option<&'static Adapter> {
        match self.source {
            Source::Adapter(adapter) => Some(adapter),
            Source::BuiltIn(_) | Source::Programs(_) => None,
        }
    }

    /// The programs, for a row of two that know nothing of furlong.
    pub(crate) fn programs(&self) -> Option<&'static OwnPrograms> {
        match self.source {
            Source::Programs(programs) => Some(programs),
            Source::BuiltIn(_) | Source::Adapter(_) => None,
        }
    }

    /// Why whoever carries its messages cannot be asked for this, if they cannot.
    pub(crate) fn refusal(&self, case: &Case) -> Option<Unavailable> {
        match self.source {
            Source::BuiltIn(_) => None,
            Source::Adapter(adapter) => adapter.refusal(case),
            Source::Programs(_) => OwnPrograms::refusal(case),
        }
    }

    /// Whether its roles run furlong's own loop.
    pub fn runs_furlongs_loop(&self) -> bool {
        self.with_own_loop().is_none() && self.programs().is_none()
    }

    /// The adapter, for a row whose programs have a loop of their own.
    pub fn with_own_loop(&self) -> Option<&'static Adapter> {
        self.adapter().filter(|adapter| adapter.role_program.is_none())
    }

    /// What roles are started from, where that is `usual` for built-in mechanisms.
    pub(crate) fn role_program<'a>(&self, usual: &'a ChildProgram) -> &'a ChildProgram {
        self.adapter().and_then(|adapter| adapter.role_program.as_ref()).unwrap_or(usual)
    }

    /// Makes a link, in the program that has the mechanism.
    ///
    /// # Errors
    /// What could not be made.
    pub(crate) fn create(&self, specification: &LinkSpecification, wait: Wait) -> io::Result<Link> {
        match self.adapter().and_then(|adapter| adapter.role_program.as_ref()) {
            Some(program) => create_link(program, self.capabilities.name, wait, specification),
            None => (self.built_in()?.create)(specification),
        }
    }

    /// How its links are made and used.
    ///
    /// # Errors
    /// That another program carries it, which makes them by itself.
    pub(crate) fn built_in(&self) -> io::Result<&BuiltIn> {
        match &self.source {
            Source::BuiltIn(built_in) => Ok(built_in),
            Source::Adapter(_) | Source::Programs(_) => {
                let what = format!(
                    "{} is another program's, and goes with no other mechanism",
                    self.capabilities.name
                );
                Err(io::Error::other(what))
            }
        }
    }
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

fn no_end() -> io::Error {
    io::Error::other("the supervisor handed over no ends that go together")
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
