//! The supervisor's watch over the roles of a trial under way, whatever they do.
//!
//! It sleeps while the roles work. It wakes when a role reports something, when one dies, when the run is requested to
//! end, or when nothing has happened for too long.

mod carrier;
mod quiet;
mod role_process;

pub(crate) use carrier::{Carrier, Noticed, supervise};
use quiet::Quiet;
pub(crate) use quiet::{ObservedProcesses, Silence};
pub(crate) use role_process::RoleProcess;
pub(crate) use role_process::early_end;

use crate::not_measured::NotMeasured;
use crate::session::Session;
use furlong_loops::control_page::{ControlPage, Progress};
use furlong_model::{Failure, Fault, Party, Phase, Unavailable, format_ns};
use furlong_os::activity::Activity;
use furlong_os::{AsHandle, BorrowedHandle};
use furlong_stats::sort_by_key;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long to wait for the other role's side of a story: a role whose peer was killed often reports first that its call failed.
pub(crate) const OTHER_REPORT: Duration = Duration::from_millis(100);

/// How often a death is polled for where there is no pidfd.
const POLL: Duration = Duration::from_millis(1);

/// Returns whole milliseconds, of which none is too early.
pub(crate) fn in_ms(time: Duration) -> u64 {
    time.as_nanos().div_ceil(1_000_000) as u64
}

/// Observes a trial while it takes place.
pub trait Observer {
    /// All roles, here with their process numbers, wait to be let into `phase`.
    fn before(&mut self, _phase: Phase, _roles: &[(Party, i32)]) {}

    /// Whether programs that do not wait for furlong must be stopped while [`before`](Observer::before) is called.
    fn observes_stopped_programs(&self) -> bool {
        false
    }

    /// Readable when there is something to attend to.
    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        Vec::new()
    }

    /// Does what is to be done, without waiting.
    fn attend(&mut self) {}

    /// Whether it knows of a role's process that a signal has stopped it.
    fn sees_stopped(&self, _pid: i32) -> bool {
        false
    }
}

/// Observes nothing.
pub(crate) struct NoObserver;

impl Observer for NoObserver {}

/// When a trial is ended, whatever its roles do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LatestEnd {
    /// By the clock of the watch, in nanoseconds.
    pub(crate) at_ns: u64,
    /// How long after the start that is.
    pub(crate) limit: Duration,
}

impl LatestEnd {
    /// Returns the end of a trial that began at this time and may take this long.
    pub(crate) fn after(began_ns: u64, limit: Duration) -> LatestEnd {
        LatestEnd { at_ns: began_ns + limit.as_nanos() as u64, limit }
    }

    pub(crate) fn refusal(self) -> NotMeasured {
        let reason = format!("one trial takes longer than {}", format_ns(self.limit.as_nanos() as f64));
        NotMeasured::Refused(Unavailable::new(reason, "give a longer --within"))
    }
}

/// How a silence is explained.
pub(crate) type Explain<D> = Box<dyn Fn(&Watch<D>) -> Option<Failure>>;

/// The roles of a trial, each of which reports a `D` when it is done.
pub(crate) struct Watch<D> {
    pub(crate) processes: Vec<RoleProcess<D>>,
    /// On which they note how far they have come.
    pub(crate) control_pages: Vec<ControlPage>,
    /// How long nothing may happen.
    pub(crate) timeout: Duration,
    /// The longest time that a phase takes by itself.
    pub(crate) budget: Duration,
    /// When the trial is ended; `None` for one that may take as long as it makes progress.
    pub(crate) end: Option<LatestEnd>,
    /// How the work that the roles do explains a silence; `None` leaves it at who is alive.
    pub(crate) explain: Explain<D>,
}

impl<D: DeserializeOwned> Watch<D> {
    /// Waits for all roles to finish, whatever happens, and returns the report of each.
    pub(crate) fn until_done(
        &mut self,
        session: &Session,
        observer: &mut dyn Observer,
    ) -> Result<Vec<D>, NotMeasured> {
        supervise(self, session, observer)
    }

    /// Whether a role is about to die: without a pidfd that can only be polled for.
    fn polls(&self) -> bool {
        let unseen = |process: &RoleProcess<D>| {
            process.silent && process.exit.is_none() && process.child.death().is_none()
        };
        self.processes.iter().any(unseen)
    }

    /// Lets the roles begin the next phase once all are ready for it.
    ///
    /// # Errors
    /// That a role was stopped for a moment in the measured part, which has just ended.
    fn let_go_on(&mut self, observer: &mut dyn Observer) -> Result<(), NotMeasured> {
        if self.processes.iter().all(|process| process.ready) {
            // Asked in every phase, since the answer is about the time since the last question.
            let paused = self.processes.iter().filter(|process| process.child.take_continued());
            let paused = paused.map(|process| process.party).collect::<Vec<_>>();
            if let (Phase::Finish, Some(party)) = (self.phase(), paused.first()) {
                return Err(NotMeasured::Paused(paused_failure(*party)));
            }
            let roles: Vec<_> =
                self.processes.iter().map(|process| (process.party, process.child.pid())).collect();
            observer.before(self.processes[0].phase, &roles);
            for process in &mut self.processes {
                process.ready = false;
                // One that died in between is noticed by the watch.
                let _ = process.control.send(&process.phase);
            }
        }
        Ok(())
    }

    /// What each role has reported, once all are done and gone.
    fn finished(&mut self) -> Option<Vec<D>> {
        if !self.processes.iter().all(|process| process.done.is_some() && process.exit.is_some()) {
            return None;
        }
        self.processes.iter_mut().map(|process| process.done.take()).collect()
    }

    /// The failure of a role that lives and from which nothing comes.
    pub(crate) fn silence_failure(&self, party: Party) -> Failure {
        let process = self.processes.iter().find(|process| process.party == party);
        let detail = if process.is_some_and(|process| process.done.is_some()) {
            format!("it has reported what it did, but has not ended for {:?}", self.timeout)
        } else {
            format!("alive, but nothing came from it for {:?}", self.timeout)
        };
        let phase = process.map_or_else(|| self.phase(), |process| process.phase);
        Failure { phase, party: Some(party), fault: Fault::Silent, detail }
    }

    pub(crate) fn failure(&self, party: Option<Party>, fault: Fault, detail: String) -> Failure {
        Failure { phase: self.phase(), party, fault, detail }
    }
}

impl<D: DeserializeOwned> Carrier for Watch<D> {
    type Answer = Vec<D>;

    fn phase(&self) -> Phase {
        self.processes.iter().map(|process| process.phase).min().unwrap_or(Phase::Open)
    }

    fn latest_end(&self) -> Option<LatestEnd> {
        self.end
    }

    fn longest_silence(&self) -> Duration {
        let measuring = self.processes.iter().any(|process| process.phase >= Phase::WarmUp);
        self.timeout + if measuring { self.budget } else { Duration::ZERO }
    }

    fn next_look(&self, _now_ns: u64) -> Duration {
        if self.polls() { POLL } else { Duration::MAX }
    }

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        let mut handles = Vec::new();
        for process in self.processes.iter().filter(|process| process.exit.is_none()) {
            if !process.silent {
                handles.push(process.control.as_handle());
            }
            handles.extend(process.child.death());
        }
        handles
    }

    fn attend(
        &mut self,
        _now_ns: u64,
        was_woken: bool,
        observer: &mut dyn Observer,
        incidents: &mut Vec<Failure>,
    ) -> Result<Noticed<Vec<D>>, NotMeasured> {
        incidents.extend(self.processes.iter_mut().filter_map(RoleProcess::attend));
        if incidents.is_empty() {
            if let Some(reported) = self.finished() {
                return Ok(Noticed::Answer(reported));
            }
            self.let_go_on(observer)?;
        }
        Ok(if was_woken { Noticed::Report } else { Noticed::Nothing })
    }

    fn is_settled(&self, incidents: &[Failure]) -> bool {
        incidents.len() >= self.processes.len()
    }

    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure> {
        let timeout = self.timeout;
        let stopped: Vec<Failure> = self
            .processes
            .iter()
            .filter(|process| process.child.is_stopped() || observer.sees_stopped(process.child.pid()))
            .map(|process| {
                let detail = format!("stopped by a signal (state T), nothing came from it for {timeout:?}");
                Failure { phase: process.phase, party: Some(process.party), fault: Fault::Stopped, detail }
            })
            .collect();
        if !stopped.is_empty() {
            return stopped;
        }
        let lacks = silence.lacked().and_then(|(pid, detail)| {
            let process = self.processes.iter().find(|process| process.child.pid() == pid)?;
            let (phase, party) = (process.phase, Some(process.party));
            Some(Failure { phase, party, fault: Fault::Silent, detail })
        });
        if let Some(failure) = lacks.or_else(|| (self.explain)(self)) {
            return vec![failure];
        }
        self.processes
            .iter()
            .filter(|process| !process.ready && process.exit.is_none())
            .map(|process| self.silence_failure(process.party))
            .collect()
    }

    fn give_up(&mut self, _incidents: &mut Vec<Failure>) -> String {
        for process in &self.processes {
            process.child.kill();
        }
        let alive = self.processes.iter_mut().filter_map(|process| {
            let exit = process.child.end();
            exit.is_none()
                .then(|| format!("; process {} was killed and has not ended yet", process.child.pid()))
        });
        alive.collect()
    }
}

impl<D> ObservedProcesses for Watch<D> {
    fn activities(&self) -> Vec<(i32, Activity)> {
        let activity = |process: &RoleProcess<D>| Some((process.child.pid(), process.child.activity()?));
        self.processes.iter().filter_map(activity).collect()
    }

    fn progress(&self) -> Vec<Progress> {
        self.control_pages.iter().flat_map(ControlPage::all_progress).collect()
    }
}

/// That a role was stopped for a moment while it was measured.
pub(crate) fn paused_failure(party: Party) -> Failure {
    let detail = "stopped by a signal and let go on while it was measured".to_owned();
    Failure { phase: Phase::Timed, party: Some(party), fault: Fault::Stopped, detail }
}

/// Which of several failures is the cause of the others: a death explains an error, and not the other way round; and an
/// error of one role explains that the other one found nobody.
fn cause(mut incidents: Vec<Failure>) -> Option<Failure> {
    sort_by_key(&mut incidents, |incident| match incident.fault {
        Fault::Killed => 0,
        Fault::Exited => 1,
        Fault::Stopped => 2,
        fault if fault.is_corruption() => 3,
        Fault::Error => 4,
        Fault::PeerGone => 5,
        _ => 6,
    });
    incidents.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::Role;

    #[test]
    fn the_cause_is_told_and_not_what_followed_from_it() {
        let failure = |fault: Fault| Failure {
            phase: Phase::WarmUp,
            party: Some(Role::Responder.into()),
            fault,
            detail: String::new(),
        };
        for (cause, consequence) in [
            (Fault::Killed, Fault::Error),
            (Fault::Exited, Fault::PeerGone),
            (Fault::Error, Fault::PeerGone),
            (Fault::Lost, Fault::PeerGone),
            (Fault::PeerGone, Fault::Silent),
        ] {
            for incidents in [[cause, consequence], [consequence, cause]] {
                let found = super::cause(incidents.map(failure).to_vec());
                assert_eq!(found.map(|failure| failure.fault), Some(cause), "{incidents:?}");
            }
        }
    }
}
