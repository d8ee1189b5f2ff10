//! The loop in which the supervisor waits for the processes of a trial: roles, adapters, or own programs.

use super::{LatestEnd, OTHER_REPORT, ObservedProcesses, Observer, Quiet, Silence, cause, in_ms};
use crate::not_measured::{Interrupted, NotMeasured};
use crate::session::Session;
use furlong_model::{Failure, Fault, Phase};
use furlong_os::wait::wait_any;
use furlong_os::{BorrowedHandle, clock};
use std::time::Duration;

/// The processes that carry a trial.
pub(crate) trait Carrier: ObservedProcesses {
    /// The answer of the processes.
    type Answer;

    /// The phase of the slowest process.
    fn phase(&self) -> Phase;

    /// When the trial is ended, whatever the processes do; `None` if there is no limit.
    fn latest_end(&self) -> Option<LatestEnd> {
        None
    }

    /// How long the processes may be silent from now on.
    fn longest_silence(&self) -> Duration;

    /// How long to wait at most before [`attend`](Carrier::attend) is called again, although no handle is readable.
    fn next_look(&self, _now_ns: u64) -> Duration {
        Duration::MAX
    }

    /// Handles that become readable when a process reports or dies.
    fn handles(&self) -> Vec<BorrowedHandle<'_>>;

    /// Reads reports and notices deaths, without waiting. `was_woken` is whether a handle was readable. Adds failures to `incidents`.
    ///
    /// # Errors
    /// Returns the reason if the trial must end at once.
    fn attend(
        &mut self,
        now_ns: u64,
        was_woken: bool,
        observer: &mut dyn Observer,
        incidents: &mut Vec<Failure>,
    ) -> Result<Noticed<Self::Answer>, NotMeasured>;

    /// Whether no process can report anything that would explain the incidents.
    fn is_settled(&self, incidents: &[Failure]) -> bool;

    /// Returns a failure of each process that is silent.
    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure>;

    /// Gives the trial up: ends processes that would not end otherwise, and adds failures that show only then. Returns a remark on
    /// processes that have not ended.
    fn give_up(&mut self, _incidents: &mut Vec<Failure>) -> String {
        String::new()
    }
}

/// What a look at the processes has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noticed<A> {
    /// Nothing that ends a silence.
    Nothing,
    /// A report.
    Report,
    /// The answer. It counts if there is no incident.
    Answer(A),
}

/// Waits for the answer of the processes, and watches the observer, the request that the run ends, and the limits of time.
///
/// # Errors
/// Returns the cause if a process fails or is silent for too long; that the trial takes too long; or that the run is to end.
pub(crate) fn supervise<C: Carrier>(
    carrier: &mut C,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<C::Answer, NotMeasured> {
    let mut incidents: Vec<Failure> = Vec::new();
    let mut now_ns = clock::now_ns();
    let mut was_woken = false;
    let mut quiet = Quiet::since(now_ns, carrier);
    loop {
        observer.attend();
        if let Some(signal) = session.shutdown_request() {
            return Err(Interrupted { signal }.into());
        }
        let end = carrier.latest_end().filter(|_| incidents.is_empty());
        if let Some(end) = end.filter(|end| now_ns >= end.at_ns) {
            carrier.give_up(&mut incidents);
            return Err(end.refusal());
        }
        let known = incidents.len();
        match carrier.attend(now_ns, was_woken, observer, &mut incidents)? {
            Noticed::Answer(answer) if incidents.is_empty() => return Ok(answer),
            Noticed::Report => quiet.heard(now_ns),
            _ if incidents.len() > known => quiet.heard(now_ns),
            _ if incidents.is_empty() => {
                if let Some(silence) = quiet.look(now_ns, carrier.longest_silence(), carrier) {
                    return Err(failure(carrier, carrier.why_silent(observer, &silence)));
                }
            }
            _ => {}
        }
        // The other process's side of the story may explain an incident.
        let other_report = OTHER_REPORT.saturating_sub(quiet.lasted(now_ns));
        if !incidents.is_empty() && (other_report.is_zero() || carrier.is_settled(&incidents)) {
            return Err(failure(carrier, incidents));
        }

        let mut handles = carrier.handles();
        let of_carrier = handles.len();
        let mut left = carrier.next_look(now_ns);
        if incidents.is_empty() {
            // An observed system call is not a report: a role that hangs may well make calls.
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
        detail: "nothing happened, and no process reports why".to_owned(),
    });
    NotMeasured::from(Failure { detail: cause.detail + &alive, ..cause })
}
