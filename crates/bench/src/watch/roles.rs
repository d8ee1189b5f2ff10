//! The roles of a trial as a carrier: phases, reports and failures.

use super::carrier::{Carrier, LatestEnd, ProcessEvent};
use super::observer::Observer;
use super::quiet::{ObservedProcesses, Silence};
use super::role_process::RoleProcess;
use crate::not_measured::NotMeasured;
use furlong_loops::control_page::{ControlPage, Progress};
use furlong_model::{Failure, Fault, Party, Phase};
use furlong_os::activity::Activity;
use furlong_os::{AsHandle, BorrowedHandle};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The interval at which to poll for a death if the system has no pidfd.
const POLL: Duration = Duration::from_millis(1);

/// A function that explains a silence.
pub(crate) type Explain<D> = Box<dyn Fn(&Watch<D>) -> Option<Failure>>;

/// The roles of a trial, each of which reports a `D` when it is done.
pub(crate) struct Watch<D> {
    pub(crate) processes: Vec<RoleProcess<D>>,
    /// The pages on which the roles note their progress.
    pub(crate) control_pages: Vec<ControlPage>,
    /// The longest time without progress.
    pub(crate) timeout: Duration,
    /// The longest time that a phase takes if nothing goes wrong.
    pub(crate) budget: Duration,
    /// The end of the trial; `None` if it may take as long as it makes progress.
    pub(crate) end: Option<LatestEnd>,
    /// Explains a silence from the work of the roles. If it returns `None`, the roles that are alive are reported.
    pub(crate) explain: Explain<D>,
}

impl<D: DeserializeOwned> Watch<D> {
    /// Returns whether a role is about to die and has no pidfd, so that its death must be polled for.
    fn polls(&self) -> bool {
        let unseen = |process: &RoleProcess<D>| {
            process.silent && process.exit.is_none() && process.child.death().is_none()
        };
        self.processes.iter().any(unseen)
    }

    /// Lets the roles begin the next phase once all are ready for it.
    ///
    /// # Errors
    /// Returns `Disturbed` if a signal has stopped a role for a moment during the measured part.
    fn let_go_on(&mut self, observer: &mut dyn Observer) -> Result<(), NotMeasured> {
        if self.processes.iter().all(|process| process.ready) {
            // Asked in every phase, because each answer covers the time since the previous question.
            let paused = self.processes.iter().filter(|process| process.child.take_continued());
            let paused = paused.map(|process| process.party).collect::<Vec<_>>();
            if let (Phase::Finish, Some(party)) = (self.phase(), paused.first()) {
                return Err(NotMeasured::Disturbed(paused_failure(*party)));
            }
            let roles: Vec<_> =
                self.processes.iter().map(|process| (process.party, process.task())).collect();
            observer.before(self.processes[0].phase, &roles);
            for process in &mut self.processes {
                process.ready = false;
                // If the role has died in between, the watch notices that.
                let _ = process.control.send(&process.phase);
            }
        }
        Ok(())
    }

    /// Returns the report of each role, once all have reported and ended.
    fn finished(&mut self) -> Option<Vec<D>> {
        if !self.processes.iter().all(|process| process.done.is_some() && process.exit.is_some()) {
            return None;
        }
        self.processes.iter_mut().map(|process| process.done.take()).collect()
    }

    /// Returns the failure of a role that is alive and reports nothing.
    pub(crate) fn silence_failure(&self, party: Party) -> Failure {
        let process = self.processes.iter().find(|process| process.party == party);
        let detail = if process.is_some_and(|process| process.done.is_some()) {
            format!("it has reported its results, but has not exited after {:?}", self.timeout)
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
    ) -> Result<ProcessEvent<Vec<D>>, NotMeasured> {
        incidents.extend(self.processes.iter_mut().filter_map(RoleProcess::attend));
        if incidents.is_empty() {
            if let Some(reported) = self.finished() {
                return Ok(ProcessEvent::Answer(reported));
            }
            self.let_go_on(observer)?;
        }
        Ok(if was_woken { ProcessEvent::Report } else { ProcessEvent::Nothing })
    }

    fn is_settled(&self, incidents: &[Failure]) -> bool {
        incidents.len() >= self.processes.len()
    }

    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure> {
        let timeout = self.timeout;
        let stopped: Vec<Failure> = self
            .processes
            .iter()
            .filter(|process| process.child.is_stopped() || observer.sees_stopped(process.task()))
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
                .then(|| format!("; process {} was killed and has not exited yet", process.child.pid()))
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

/// Returns the failure of a role that a signal stopped for a moment while it was measured.
pub(crate) fn paused_failure(party: Party) -> Failure {
    let detail = "stopped and continued by signals during the measurement".to_owned();
    Failure { phase: Phase::Timed, party: Some(party), fault: Fault::Stopped, detail }
}
