//! The registry of everything that can carry messages: built-in mechanisms, mechanisms of other programs, and own
//! programs of the user.

use crate::adapter::{Adapter, create_link};
use crate::child_process::ChildProgram;
use crate::link_conditions;
use crate::not_measured::not_of_the_kernel;
use crate::own_programs::OwnPrograms;
use crate::session::Session;
use crate::survived::{killed, survived};
#[cfg(target_os = "linux")]
use crate::{huge_pages, kernel_settings};
use crate::{role_boundary, two_networks};
use furlong_adapter_files::{Manifest, Row};
use furlong_loops::built_in::{BuiltIn, all_built_in};
use furlong_mechanism::{Link, LinkSpecification, Mechanism};
use furlong_model::{Boundary, Capabilities, Case, Limits, Scheduling, Unavailable, Wait};
use furlong_os::role_conditions;
use std::io;

/// One mechanism. A mechanism that implements its waits itself has one entry per wait strategy.
#[derive(Debug, Clone, Copy)]
pub struct MechanismEntry {
    /// The capabilities of the mechanism.
    pub capabilities: &'static Capabilities,
    /// Whether the mechanism is common enough for a run without further choices.
    pub is_common: bool,
    /// The origin of the mechanism.
    pub(crate) source: Source,
}

/// The origin of a mechanism.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// The mechanism is part of this program.
    BuiltIn(BuiltIn),
    /// The mechanism is in a separate program.
    Adapter(&'static Adapter),
    /// The programs of a user, which do not use furlong.
    Programs(&'static OwnPrograms),
}

impl MechanismEntry {
    /// Returns the entry of one mechanism.
    pub fn of<M: Mechanism>() -> MechanismEntry {
        MechanismEntry::from_built_in(BuiltIn::of::<M>())
    }

    fn from_built_in(built_in: BuiltIn) -> MechanismEntry {
        let BuiltIn { capabilities, is_common, .. } = built_in;
        MechanismEntry { capabilities, is_common, source: Source::BuiltIn(built_in) }
    }

    /// Starts the program of one row of an adapter, asks it for its claims, and returns its entry. The entry lives as
    /// long as this process, as built-in entries do.
    pub fn from_adapter(manifest: &Manifest, row: &Row, session: &Session) -> MechanismEntry {
        let (adapter, capabilities) = Adapter::ask(manifest, row, session);
        let source = Source::Adapter(Box::leak(Box::new(adapter)));
        MechanismEntry { capabilities: Box::leak(Box::new(capabilities)), is_common: true, source }
    }

    /// Returns the entry of own programs of the user, under this name. It lives as long as this process.
    pub fn from_programs(name: &str, programs: OwnPrograms) -> MechanismEntry {
        MechanismEntry {
            capabilities: Box::leak(Box::new(OwnPrograms::capabilities(name))),
            is_common: false,
            source: Source::Programs(Box::leak(Box::new(programs))),
        }
    }

    /// Returns the limits of the mechanism on this machine.
    ///
    /// # Errors
    /// Returns the reason and a remedy if the mechanism is unavailable.
    pub fn probe(&self) -> Result<Limits, Unavailable> {
        match self.source {
            Source::BuiltIn(built_in) => {
                survived(built_in.probe).map_err(|error| killed(&error))?.map_err(not_of_the_kernel)
            }
            Source::Adapter(adapter) => adapter.here.clone(),
            Source::Programs(_) => Ok(Limits::none()),
        }
    }

    /// Returns the adapter; `None` for any other mechanism.
    pub fn adapter(&self) -> Option<&'static Adapter> {
        match self.source {
            Source::Adapter(adapter) => Some(adapter),
            Source::BuiltIn(_) | Source::Programs(_) => None,
        }
    }

    /// Returns the own programs of the user; `None` for any other mechanism.
    pub(crate) fn programs(&self) -> Option<&'static OwnPrograms> {
        match self.source {
            Source::Programs(programs) => Some(programs),
            Source::BuiltIn(_) | Source::Adapter(_) => None,
        }
    }

    /// Returns why the program of the mechanism cannot run this case, or `None`.
    pub(crate) fn refusal(&self, case: &Case) -> Option<Unavailable> {
        match self.source {
            Source::BuiltIn(_) => None,
            Source::Adapter(adapter) => adapter.refusal(case),
            Source::Programs(_) => OwnPrograms::refusal(case),
        }
    }

    /// Returns whether the two ends can be on two hosts.
    pub fn reaches_other_hosts(&self) -> bool {
        matches!(self.source, Source::BuiltIn(BuiltIn { between_hosts: Some(_), .. }))
    }

    /// Returns whether the roles run furlong's own loop.
    pub fn runs_furlongs_loop(&self) -> bool {
        self.with_own_loop().is_none() && self.programs().is_none()
    }

    /// Returns the adapter if its programs have their own loop.
    pub fn with_own_loop(&self) -> Option<&'static Adapter> {
        self.adapter().filter(|adapter| adapter.role_program.is_none())
    }

    /// Returns whether the programs compile while they run. Then each trial needs a warm-up of at least a second.
    pub fn compiles_while_running(&self) -> bool {
        self.with_own_loop().is_some_and(|adapter| adapter.manifest.compiles_while_running)
    }

    /// Returns the program of the roles; `usual` for built-in mechanisms.
    pub(crate) fn role_program<'a>(&self, usual: &'a ChildProgram) -> &'a ChildProgram {
        self.adapter().and_then(|adapter| adapter.role_program.as_ref()).unwrap_or(usual)
    }

    /// Returns why the mechanism cannot be measured between two network namespaces in this case, or `None`.
    pub fn refuse_networks(&self, case: &Case) -> Option<Unavailable> {
        if !case.crosses_networks(self.capabilities) {
            return None;
        }
        if self.reaches_other_hosts() {
            return role_boundary::refusal(case, self.capabilities);
        }
        let name = self.capabilities.name;
        Some(Unavailable::new(
            format!("{name} can be measured only over the loopback of one network namespace"),
            "ask for tcp or udp, or leave the boundary out",
        ))
    }

    /// Returns why the roles cannot run under the requested conditions of this case, or `None`.
    pub(crate) fn refuse_conditions(&self, case: &Case) -> Option<Unavailable> {
        if !case.conditions.is_empty() && !self.runs_furlongs_loop() {
            let name = self.capabilities.name;
            let conditions = &case.conditions;
            let follows = self.with_own_loop().is_some_and(|adapter| adapter.follows_schedules(case));
            if follows && conditions.size_mix().is_some() && conditions.iter().count() == 1 {
                return None;
            }
            if conditions.size_mix().is_some() || conditions.service_time().is_some() {
                let reason =
                    format!("{name} has its own loop, which sends messages of one size and does no work");
                return Some(Unavailable::new(
                    reason,
                    "leave out --sizes and --service-time, or this benchmark",
                ));
            }
            let reason = format!("the programs of {name} set their conditions themselves");
            return Some(Unavailable::new(
                reason,
                "start furlong under these conditions, as in chrt, nice or numactl --membind",
            ));
        }
        let refusal = self
            .refuse_conditions_of_linux(case)
            .or_else(|| role_boundary::refusal(case, self.capabilities))
            .or_else(|| link_conditions::refusal(case.conditions.socket_options(), self.capabilities));
        if refusal.is_some() {
            return refusal;
        }
        if matches!(case.conditions.real_time_policy(), Some(Scheduling::Deadline { .. })) {
            // Whether it is possible depends on the CPUs of the roles.
            return None;
        }
        let error = role_conditions::probe(&case.conditions, None).err()?;
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "choose a valid node; cpuset.mems of the control group limits them",
            io::ErrorKind::PermissionDenied => {
                "run furlong as root (CAP_SYS_NICE), or allow it with ulimit -r (priority) or ulimit -e (nice); a container \
                 or a control group may forbid real-time policies, and a container set_mempolicy"
            }
            _ => {
                "leave this condition out; --slice needs Linux 6.12 or later, and real-time policies have no nice value"
            }
        };
        Some(Unavailable::new(format!("{} cannot be set here: {error}", case.conditions), remedy))
    }

    /// Returns why a condition that only Linux has is impossible here, or `None`.
    #[cfg(target_os = "linux")]
    fn refuse_conditions_of_linux(&self, case: &Case) -> Option<Unavailable> {
        kernel_settings::refuse(&case.conditions).or_else(|| huge_pages::refusal(case))
    }

    /// Returns `None`: the conditions of the roles are refused.
    #[cfg(not(target_os = "linux"))]
    fn refuse_conditions_of_linux(&self, _: &Case) -> Option<Unavailable> {
        None
    }

    /// Creates the link of a case, in the program that has the mechanism.
    ///
    /// # Errors
    /// Returns an error if the link cannot be created.
    pub(crate) fn create(&self, specification: &LinkSpecification, case: &Case) -> io::Result<Link> {
        let boundary = case.conditions.boundary().filter(|one| one.applies(self.capabilities));
        if case.crosses_networks(self.capabilities) {
            let ends = self.built_in()?.between_hosts.ok_or(io::ErrorKind::Unsupported)?;
            return two_networks::link(ends, specification, boundary.is_some_and(Boundary::has_bridge));
        }
        if boundary == Some(&Boundary::Proxy) {
            let create = self.built_in()?.create;
            return role_boundary::relayed(create(specification)?, create(specification)?);
        }
        let wait = case.wait;
        match self.adapter().and_then(|adapter| adapter.role_program.as_ref()) {
            Some(program) => create_link(program, self.capabilities.name, wait, specification),
            None => (self.built_in()?.create)(specification),
        }
    }

    /// Returns the functions that create and use links.
    ///
    /// # Errors
    /// Returns an error if a separate program has the mechanism, because it creates its links itself.
    pub(crate) fn built_in(&self) -> io::Result<&BuiltIn> {
        match &self.source {
            Source::BuiltIn(built_in) => Ok(built_in),
            Source::Adapter(_) | Source::Programs(_) => {
                let what = format!(
                    "{} belongs to another program and cannot be combined with another mechanism",
                    self.capabilities.name
                );
                Err(io::Error::other(what))
            }
        }
    }
}

/// Returns the entries of all built-in mechanisms.
pub fn registry() -> Vec<MechanismEntry> {
    all_built_in().into_iter().map(MechanismEntry::from_built_in).collect()
}

/// Returns the entry of a mechanism with this wait strategy.
pub fn find<'a>(mechanisms: &'a [MechanismEntry], mechanism: &str, wait: Wait) -> Option<&'a MechanismEntry> {
    mechanisms
        .iter()
        .find(|entry| entry.capabilities.name == mechanism && entry.capabilities.waits.contains(&wait))
}
