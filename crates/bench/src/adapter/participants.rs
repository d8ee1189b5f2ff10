//! The processes of a trial of an adapter: their PIDs, CPUs, resource usage and deaths.

use super::conversation::Conversation;
use super::protocol::NamedProcess;
use super::traces::RUN_VARIABLE;
use crate::tally::role_tally;
use furlong_loops::schedule::IdleResources;
use furlong_model::{Failure, Fault, OtherProcess, Party, Phase, Role, RoleTally};
use furlong_os::BorrowedHandle;
use furlong_os::other_process::{self, Death};
use furlong_os::usage::Usage;
use furlong_os::wait::is_readable;
use std::io;

/// A process of the trial.
#[derive(Debug)]
struct Participant {
    pid: i32,
    /// The role; `None` for a server of the mechanism.
    party: Option<Party>,
    name: String,
    /// The death notification of a process that furlong has not started; `None` for furlong's children.
    death: Option<Death>,
}

/// All processes of the trial.
#[derive(Debug, Default)]
pub(super) struct Participants(Vec<Participant>);

/// The resource usage of each process so far.
pub(super) struct ParticipantUsage(Vec<other_process::ProcessUsage>);

impl Participants {
    /// Adds a program that furlong has started, and the processes that it names.
    ///
    /// # Errors
    /// Returns a failure if a named process is dead, or was not started by this program in the run `run`.
    pub(super) fn add(
        &mut self,
        conversation: &Conversation,
        named: Vec<NamedProcess>,
        run: &str,
    ) -> Result<(), Failure> {
        let (pid, party) = (conversation.program.child.pid(), conversation.program.party);
        self.0.push(Participant { pid, party: Some(party), name: String::new(), death: None });
        for NamedProcess { pid, role, name } in named {
            if !other_process::has_variable(pid, &format!("{RUN_VARIABLE}={run}")) {
                let what = format!("it names process {pid}, which is not a live process that it has started");
                return Err(conversation.program.failure(Phase::Open, what));
            }
            // If the kernel has no pidfd, the death shows as silence.
            let death = Death::of(pid);
            let name = if name.is_empty() { other_process::name(pid) } else { name };
            let party = role.role().map(|role| if role == party.role { party } else { role.into() });
            self.0.push(Participant { pid, party, name, death });
        }
        Ok(())
    }

    /// Pins all threads of all processes. A role gets its own CPU: `processors` has one for each of `all`. Servers may
    /// use the CPUs of all roles.
    pub(super) fn pin(&self, all: &[Party], processors: Option<&[usize]>) -> io::Result<()> {
        let Some(processors) = processors else { return Ok(()) };
        self.0.iter().try_for_each(|Participant { pid, party, .. }| {
            let place = party.and_then(|party| all.iter().position(|one| *one == party));
            let own = place.map_or(processors, |place| &processors[place..=place]);
            other_process::pin_all_threads(*pid, own)
        })
    }

    /// Returns the processes that are roles.
    pub(super) fn roles(&self) -> Vec<(Party, i32)> {
        self.0.iter().filter_map(|one| Some((one.party?, one.pid))).collect()
    }

    /// Returns handles that become readable when a process dies that furlong has not started.
    pub(super) fn deaths(&self) -> impl Iterator<Item = BorrowedHandle<'_>> {
        self.0.iter().filter_map(|one| one.death.as_ref()).map(Death::as_handle)
    }

    /// Returns the failure of a dead process that furlong has not started; `None` if all live.
    pub(super) fn death(&self, phase: Phase) -> Option<Failure> {
        let dead =
            |one: &&Participant| one.death.as_ref().is_some_and(|death| is_readable(death.as_handle()));
        self.0.iter().find(dead).map(|Participant { pid, party, name, .. }| {
            let detail = format!("process {pid} ({name}), which it has started, has died");
            Failure { phase, party: *party, fault: Fault::Killed, detail }
        })
    }

    /// Returns the resource usage of each process so far.
    pub(super) fn used(&self) -> io::Result<ParticipantUsage> {
        self.0.iter().map(|one| other_process::used(one.pid)).collect::<io::Result<_>>().map(ParticipantUsage)
    }

    /// Returns the tally of each of `all`, and the usage of all other processes, between two readings. `round_trips` is
    /// the number of round trips in this time. `messages_received` is the number of messages that each role has
    /// received, or sent one way.
    pub(super) fn tallies(
        &self,
        all: &[Party],
        before: &ParticipantUsage,
        after: &ParticipantUsage,
        round_trips: u64,
        messages_received: u64,
        idle_initiator: IdleResources,
    ) -> io::Result<(Vec<RoleTally>, Vec<OtherProcess>)> {
        let used = before.0.iter().zip(&after.0).map(|(before, after)| *after - *before);
        let used: Vec<(&Participant, Usage)> = self.0.iter().zip(used).collect();
        let mut tallies = Vec::new();
        for party in all {
            let of_party = || used.iter().filter(|(one, _)| one.party == Some(*party));
            if let Some((first, _)) = of_party().next() {
                let processor = other_process::processor(first.pid)?;
                let used = of_party().fold(Usage::default(), |sum, (_, used)| sum + *used);
                let idle =
                    if party.role == Role::Initiator { idle_initiator } else { IdleResources::default() };
                tallies.push(role_tally(*party, processor, messages_received, round_trips, used, idle));
            }
        }
        let others = used.iter().filter(|(one, _)| one.party.is_none()).map(|(one, used)| OtherProcess {
            name: one.name.clone(),
            user_ns: used.user_ns,
            system_ns: used.system_ns,
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
        });
        Ok((tallies, others.collect()))
    }
}
