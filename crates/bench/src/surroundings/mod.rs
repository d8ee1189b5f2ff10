//! Conditions that the supervisor keeps around a trial: a CPU quota for each role, and neighbours.
//!
//! They are made before the roles begin to work, and undone when this is dropped, after the roles have ended. The journal has the
//! control groups before they exist. Neighbours are children, which die with the supervisor.

pub(crate) mod neighbour;
mod quota;

use crate::not_measured::NotMeasured;
use crate::session::Session;
use crate::watch::Observer;
use furlong_model::{Case, Party, Phase, TrialEnvironment, Unavailable};
use furlong_os::BorrowedHandle;
use neighbour::Neighbours;
use quota::Quotas;
use std::io;

/// Quotas and neighbours of one trial; both are `None` if none is requested.
pub(crate) struct Surroundings<'a> {
    quotas: Option<Quotas<'a>>,
    neighbours: Option<Neighbours>,
    /// Whether the roles may keep neighbours from running.
    real_time: bool,
}

/// Returns why the quota or the neighbours of a case are impossible here, or `None`. Creates nothing.
pub(crate) fn refusal(case: &Case, session: &Session) -> Option<Unavailable> {
    let quota = case.conditions.quota_percent().and_then(|_| quota::refusal(case));
    quota.or_else(|| neighbour::refusal(case.conditions.neighbour()?, session))
}

impl<'a> Surroundings<'a> {
    /// Makes what the case requests. `processors` are the CPUs of the parties, unless the scheduler chooses.
    ///
    /// # Errors
    /// Returns an error if a group or a neighbour cannot be made. Nothing remains then.
    pub(crate) fn create(
        case: &Case,
        parties: usize,
        processors: Option<&[usize]>,
        session: &'a Session,
    ) -> io::Result<Surroundings<'a>> {
        let (quota, neighbour) = (case.conditions.quota_percent(), case.conditions.neighbour());
        Ok(Surroundings {
            quotas: quota.map(|percent| Quotas::create(percent, parties, session)).transpose()?,
            neighbours: neighbour.map(|kind| Neighbours::start(kind, processors, session)).transpose()?,
            real_time: case.conditions.real_time_policy().is_some(),
        })
    }

    /// Puts the process of the party at this place under its quota.
    pub(crate) fn enter(&self, place: usize, pid: i32) -> io::Result<()> {
        self.quotas.as_ref().map_or(Ok(()), |quotas| quotas.enter(place, pid))
    }

    /// Returns an observer that calls `observer`, and reads the counters before and after the measured part.
    pub(crate) fn observer<'b>(&'b mut self, observer: &'b mut dyn Observer) -> SurroundingsObserver<'a, 'b> {
        SurroundingsObserver { surroundings: self, observer }
    }

    /// Returns the quotas and neighbours as they were in the measured part; `None` if none was requested.
    ///
    /// # Errors
    /// Returns `Disturbed` if a neighbour did not run, so that the figures are those of another condition.
    pub(crate) fn in_effect(&self) -> Result<Option<Box<TrialEnvironment>>, NotMeasured> {
        let used = |neighbours: &Neighbours| neighbours.used(self.real_time);
        let environment = TrialEnvironment {
            quotas: self.quotas.as_ref().map(Quotas::used).unwrap_or_default(),
            neighbours: self.neighbours.as_ref().map(used).transpose()?.unwrap_or_default(),
        };
        Ok((environment != TrialEnvironment::default()).then(|| Box::new(environment)))
    }
}

/// Observer that reads the counters of quotas and neighbours, in addition to another observer.
pub(crate) struct SurroundingsObserver<'a, 'b> {
    surroundings: &'b mut Surroundings<'a>,
    observer: &'b mut dyn Observer,
}

impl Observer for SurroundingsObserver<'_, '_> {
    fn before(&mut self, phase: Phase, roles: &[(Party, i32)]) {
        self.observer.before(phase, roles);
        if matches!(phase, Phase::Timed | Phase::Finish) {
            self.surroundings.quotas.iter_mut().for_each(Quotas::read);
            self.surroundings.neighbours.iter_mut().for_each(Neighbours::read);
        }
    }

    fn observes_stopped_programs(&self) -> bool {
        self.observer.observes_stopped_programs()
    }

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        self.observer.handles()
    }

    fn attend(&mut self) {
        self.observer.attend();
    }

    fn sees_stopped(&self, pid: i32) -> bool {
        self.observer.sees_stopped(pid)
    }
}
