//! What can carry messages: the mechanisms that this program has, those of other programs, and two programs of a user.

use crate::adapter::{Adapter, create_link};
use crate::child_process::ChildProgram;
use crate::not_measured::not_of_the_kernel;
use crate::own_programs::OwnPrograms;
use crate::session::Session;
use crate::survived::{killed, survived};
use crate::two_networks;
use furlong_adapter_files::{Manifest, Row};
use furlong_loops::built_in::{BuiltIn, all_built_in};
use furlong_mechanism::{Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Case, Limits, Unavailable, Wait};
use std::io;

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

impl MechanismEntry {
    /// The entry of one mechanism.
    pub fn of<M: Mechanism>() -> MechanismEntry {
        MechanismEntry::of_built_in(BuiltIn::of::<M>())
    }

    fn of_built_in(built_in: BuiltIn) -> MechanismEntry {
        let BuiltIn { capabilities, is_common, .. } = built_in;
        MechanismEntry { capabilities, is_common, source: Source::BuiltIn(built_in) }
    }

    /// The entry of one row of an adapter, whose program is started and asked what it claims. It lives as long as this
    /// process, as built-in ones do.
    pub fn of_adapter(manifest: &Manifest, row: &Row, session: &Session) -> MechanismEntry {
        let (adapter, capabilities) = Adapter::ask(manifest, row, session);
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
            Source::BuiltIn(built_in) => {
                survived(built_in.probe).map_err(|error| killed(&error))?.map_err(not_of_the_kernel)
            }
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

    /// Whether its two ends can be on two hosts.
    pub fn reaches_other_hosts(&self) -> bool {
        matches!(self.source, Source::BuiltIn(BuiltIn { between_hosts: Some(_), .. }))
    }

    /// Whether its roles run furlong's own loop.
    pub fn runs_furlongs_loop(&self) -> bool {
        self.with_own_loop().is_none() && self.programs().is_none()
    }

    /// The adapter, for a row whose programs have a loop of their own.
    pub fn with_own_loop(&self) -> Option<&'static Adapter> {
        self.adapter().filter(|adapter| adapter.role_program.is_none())
    }

    /// Whether its programs compile while they run, so that each trial warms up for a second or more.
    pub fn compiles_while_running(&self) -> bool {
        self.with_own_loop().is_some_and(|adapter| adapter.manifest.compiles_while_running)
    }

    /// What roles are started from, where that is `usual` for built-in mechanisms.
    pub(crate) fn role_program<'a>(&self, usual: &'a ChildProgram) -> &'a ChildProgram {
        self.adapter().and_then(|adapter| adapter.role_program.as_ref()).unwrap_or(usual)
    }

    /// Why it cannot be measured between two network namespaces in this case, if it cannot.
    pub fn refuse_networks(&self, case: &Case) -> Option<Unavailable> {
        if self.reaches_other_hosts() || !case.crosses_networks(self.capabilities) {
            return None;
        }
        let name = self.capabilities.name;
        Some(Unavailable::new(
            format!("{name} is measured over the loopback of one network namespace alone"),
            "ask for tcp or udp, or leave the boundary out",
        ))
    }

    /// Makes the link of a case, in the program that has the mechanism.
    ///
    /// # Errors
    /// What could not be made.
    pub(crate) fn create(&self, specification: &LinkSpecification, case: &Case) -> io::Result<Link> {
        if case.crosses_networks(self.capabilities) {
            let ends = self.built_in()?.between_hosts.ok_or(io::ErrorKind::Unsupported)?;
            return two_networks::link(ends, specification);
        }
        let wait = case.wait;
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

/// The entries of all mechanisms in the list.
pub fn registry() -> Vec<MechanismEntry> {
    all_built_in().into_iter().map(MechanismEntry::of_built_in).collect()
}

/// The entry for a row, if there is one.
pub fn find<'a>(mechanisms: &'a [MechanismEntry], mechanism: &str, wait: Wait) -> Option<&'a MechanismEntry> {
    mechanisms
        .iter()
        .find(|entry| entry.capabilities.name == mechanism && entry.capabilities.waits.contains(&wait))
}
