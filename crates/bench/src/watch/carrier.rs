//! The loop in which the supervisor waits for the processes of a trial: roles, adapters, or own programs.

use super::observer::Observer;
use super::quiet::{ObservedProcesses, Silence, SilenceWatch};
use crate::not_measured::{InterruptedTrial, NotMeasured};
use crate::session::Session;
use furlong_model::{Failure, Fault, Phase, Unavailable, format_ns};
use furlong_os::wait::wait_any;
use furlong_os::{BorrowedHandle, clock};
use furlong_stats::sort_by_key;
use std::time::Duration;

/// The time to wait for the report of the other role: a role whose peer was killed often reports first that its call
/// failed.
pub(crate) const OTHER_REPORT: Duration = Duration::from_millis(100);

/// The time to wait for the death of a process whose peer reports a closed connection: the kernel closes the descriptors of a
/// dying process first, and on a busy machine it reports the death much later.
const DEATH_REPORT: Duration = Duration::from_secs(1);

/// Returns the time in whole milliseconds, rounded up so that no wait ends too early.
pub(crate) fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The time at which a trial is ended, whatever its roles do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LatestEnd {
    /// The time of the end on the clock of the watch, in nanoseconds.
    pub(crate) at_ns: u64,
    /// The time from the start of the trial to its end.
    pub(crate) limit: Duration,
}

impl LatestEnd {
    /// Returns the end of a trial that began at this time and may take up to `limit`.
    pub(crate) fn after(began_ns: u64, limit: Duration) -> LatestEnd {
        LatestEnd { at_ns: began_ns + limit.as_nanos() as u64, limit }
    }

    pub(crate) fn refusal(self) -> NotMeasured {
        let reason = format!("one trial takes longer than {}", format_ns(self.limit.as_nanos() as f64));
        NotMeasured::Refused(Unavailable::new(reason, "use a longer --within"))
    }
}

/// The processes that carry a trial.
pub(crate) trait Carrier: ObservedProcesses {
    /// The combined answer of the processes.
    type Answer;

    /// Returns the phase of the slowest process.
    fn phase(&self) -> Phase;

    /// Returns the time at which the trial is ended, whatever the processes do; `None` if there is no limit.
    fn latest_end(&self) -> Option<LatestEnd> {
        None
    }

    /// Returns the longest time without a report from now on.
    fn longest_silence(&self) -> Duration;

    /// Returns the longest time until [`attend`](Carrier::attend) is called again, even if no handle is readable.
    fn next_look(&self, _now_ns: u64) -> Duration {
        Duration::MAX
    }

    /// Returns handles that become readable when a process reports or dies.
    fn handles(&self) -> Vec<BorrowedHandle<'_>>;

    /// Reads reports and notices deaths, without waiting. `was_woken` is whether a handle was readable. Adds failures
    /// to `incidents`.
    ///
    /// # Errors
    /// Returns the reason if the trial must end at once.
    fn attend(
        &mut self,
        now_ns: u64,
        was_woken: bool,
        observer: &mut dyn Observer,
        incidents: &mut Vec<Failure>,
    ) -> Result<ProcessEvent<Self::Answer>, NotMeasured>;

    /// Returns whether no further report can explain the incidents.
    fn is_settled(&self, incidents: &[Failure]) -> bool;

    /// Returns the failures of silent processes.
    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure>;

    /// Gives the trial up: ends processes that would not end otherwise, and adds failures that show only then. Returns
    /// a remark on processes that have not ended.
    fn give_up(&mut self, _incidents: &mut Vec<Failure>) -> String {
        String::new()
    }
}

/// The result of a look at the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEvent<A> {
    /// Nothing that ends the silence.
    Nothing,
    /// A report.
    Report,
    /// The answer. It counts if there is no incident.
    Answer(A),
}

/// Waits for the answer of the processes. Also watches the observer, requests that the run ends, and time limits.
///
/// # Errors
/// Returns the cause if a process fails or is silent for too long. Returns a refusal if the trial takes too long, and
/// `Interrupted` if the run is to end.
pub(crate) fn supervise<C: Carrier>(
    carrier: &mut C,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<C::Answer, NotMeasured> {
    let mut incidents: Vec<Failure> = Vec::new();
    let mut now_ns = clock::now_ns();
    let mut was_woken = false;
    let mut quiet = SilenceWatch::since(now_ns, carrier);
    loop {
        observer.attend();
        if let Some(signal) = session.shutdown_request() {
            return Err(InterruptedTrial { signal }.into());
        }
        let end = carrier.latest_end().filter(|_| incidents.is_empty());
        if let Some(end) = end.filter(|end| now_ns >= end.at_ns) {
            carrier.give_up(&mut incidents);
            return Err(end.refusal());
        }
        let known = incidents.len();
        match carrier.attend(now_ns, was_woken, observer, &mut incidents)? {
            ProcessEvent::Answer(answer) if incidents.is_empty() => return Ok(answer),
            ProcessEvent::Report => quiet.heard(now_ns),
            _ if incidents.len() > known => quiet.heard(now_ns),
            _ if incidents.is_empty() => {
                if let Some(silence) = quiet.look(now_ns, carrier.longest_silence(), carrier) {
                    return Err(failure(carrier, carrier.why_silent(observer, &silence)));
                }
            }
            _ => {}
        }
        // A report of the other process may explain an incident.
        let is_bereft = incidents.iter().all(|incident| incident.fault == Fault::PeerGone);
        let longest = if is_bereft { DEATH_REPORT } else { OTHER_REPORT };
        let other_report = longest.saturating_sub(quiet.lasted(now_ns));
        if !incidents.is_empty() && (other_report.is_zero() || carrier.is_settled(&incidents)) {
            return Err(failure(carrier, incidents));
        }

        let mut handles = carrier.handles();
        let of_carrier = handles.len();
        let mut left = carrier.next_look(now_ns);
        if incidents.is_empty() {
            // An observed system call is not a report: a role that hangs may still make calls.
            handles.extend(observer.handles());
            let until_end = carrier.latest_end().map(|end| end.at_ns.saturating_sub(now_ns));
            left = left.min(until_end.map_or(Duration::MAX, Duration::from_nanos));
            left = left.min(quiet.left(now_ns, carrier.longest_silence()));
        } else {
            left = left.min(other_report);
        }
        handles.extend(session.shutdown_handle());
        let ready = wait_any(&handles, in_ms(left));
        now_ns = clock::now_ns();
        match ready {
            Ok(ready) => was_woken = ready.iter().take(of_carrier).any(|ready| *ready),
            Err(error) => {
                let detail = format!("poll: {error}");
                incidents.push(Failure { phase: carrier.phase(), party: None, fault: Fault::Error, detail });
                return Err(failure(carrier, incidents));
            }
        }
    }
}

/// Gives the trial up, and returns the cause of its incidents.
fn failure(carrier: &mut impl Carrier, mut incidents: Vec<Failure>) -> NotMeasured {
    let alive = carrier.give_up(&mut incidents);
    let cause = cause(incidents).unwrap_or_else(|| Failure {
        phase: carrier.phase(),
        party: None,
        fault: Fault::Silent,
        detail: "no progress, and no process reports a reason".to_owned(),
    });
    NotMeasured::from(Failure { detail: cause.detail + &alive, ..cause })
}

/// Returns the failure that caused the others. A death explains an error, but an error does not explain a death. An
/// error of one role explains that the other one lost its peer.
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
