//! Traced trials: the system calls, wake-ups and switches of both roles of a benchmark, with the times of the kernel.

use crate::not_measured::NotMeasured;
use crate::survived::survived;
use crate::trial::{MessageExchange, Settings, TrialContext, Work};
use crate::watch::{NoObserver, Observer};
use furlong_model::{
    CallResult, MessageEvent, MessageEventKind, MessageTrace, Party, Phase, Role, TracedTrial, Unavailable,
};
use furlong_os::linux::counter::{ActivityTrace, SchedulingEvent, TRACE_REMEDY, TraceEvent, TraceRecord};
use furlong_os::linux::ipc_call::{CallDirection, CallEffect, effect};
use furlong_os::linux::system_call;
use std::io;
use std::time::Duration;

/// Pairs of a trial without tracing and a trial with tracing.
const PAIRS: usize = 5;
/// Round trips of each trial. Their events fit into the rings, which are read when the trial is over.
const ROUND_TRIPS: u64 = 1_000;
/// Trials that may be repeated because a signal stopped a role.
const FURTHER_ATTEMPTS: usize = 3;

/// Checks that this user may trace processes and whole CPUs.
///
/// # Errors
/// Returns the missing right.
pub fn check() -> Result<(), Unavailable> {
    let own = std::process::id() as i32;
    survived(|| begin([own; 2], &[0]).map(drop)).and_then(|tried| tried).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => TRACE_REMEDY,
            _ => "run on a kernel with perf events and tracepoints, outside of containers",
        };
        Unavailable::new(format!("cannot trace messages: {error}"), remedy)
    })
}

/// Runs trials without and with tracing in turn.
///
/// # Errors
/// Returns the reason if a trial has no figures, or its events cannot be read.
pub(crate) fn trace(
    context: &TrialContext<'_, MessageExchange<'_>>,
    settings: &Settings,
) -> Result<MessageTrace, NotMeasured> {
    let settings =
        Settings { budget: Duration::from_secs(1), most_round_trips: Some(ROUND_TRIPS), ..*settings };
    let measure = |observer: &mut dyn Observer| {
        let measured = context.measure(&settings, observer)?;
        Ok(context.work.deciding_ns(&measured).unwrap_or_default())
    };
    let cpus = context.processors.clone().unwrap_or_default();
    let mut found = MessageTrace::default();
    let mut attempts = PAIRS + FURTHER_ATTEMPTS;
    while found.trials.len() < PAIRS {
        let mut tracing = TracingObserver::new(&cpus);
        attempts -= 1;
        let pair = measure(&mut NoObserver).and_then(|untraced_ns| Ok((untraced_ns, measure(&mut tracing)?)));
        let (untraced_ns, round_trip_ns) = match pair {
            Err(NotMeasured::Disturbed(_)) if attempts > PAIRS - found.trials.len() => continue,
            pair => pair?,
        };
        if let Some(error) = tracing.error {
            let why = Unavailable::new(format!("the trace failed: {error}"), "try again");
            return Err(NotMeasured::Unavailable(why));
        }
        found.untraced_ns.push(untraced_ns);
        let (events, lost) = (events(tracing.records, tracing.pids), tracing.lost);
        found.trials.push(TracedTrial { events, lost, round_trip_ns });
        found.missing = tracing.missing;
    }
    Ok(found)
}

fn begin(pids: [i32; 2], cpus: &[usize]) -> io::Result<(ActivityTrace, Vec<&'static str>)> {
    let mut trace = ActivityTrace::new(&[])?;
    pids.iter().try_for_each(|pid| trace.add_thread(*pid))?;
    let missing = trace.add_scheduling(&pids, cpus)?;
    Ok((trace, missing))
}

/// An observer that traces the measured part of a trial.
struct TracingObserver<'a> {
    cpus: &'a [usize],
    /// Process of each role.
    pids: [i32; 2],
    trace: Option<ActivityTrace>,
    missing: Vec<&'static str>,
    /// Records with their CPUs.
    records: Vec<(usize, TraceRecord)>,
    lost: u64,
    error: Option<io::Error>,
}

impl TracingObserver<'_> {
    fn new(cpus: &[usize]) -> TracingObserver<'_> {
        let (trace, missing, records) = (None, Vec::new(), Vec::new());
        TracingObserver { cpus, pids: [0; 2], trace, missing, records, lost: 0, error: None }
    }

    fn begin(&mut self, roles: &[(Party, i32)]) -> io::Result<()> {
        roles.iter().for_each(|(party, pid)| self.pids[party.role.index()] = *pid);
        let (trace, missing) = begin(self.pids, self.cpus)?;
        trace.enable()?;
        (self.trace, self.missing) = (Some(trace), missing);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(mut trace) = self.trace.take() else { return Ok(()) };
        trace.disable()?;
        trace.drain_by_cpu(|cpu, record| self.records.push((cpu, record)))?;
        self.lost = trace.lost;
        Ok(())
    }
}

impl Observer for TracingObserver<'_> {
    fn before(&mut self, phase: Phase, roles: &[(Party, i32)]) {
        let done = match phase {
            Phase::Timed => self.begin(roles),
            Phase::Finish => self.end(),
            _ => Ok(()),
        };
        self.error = self.error.take().or(done.err());
    }
}

/// Returns the events between the first and the second `getrusage` of the initiator, which mark the measured part.
fn events(mut records: Vec<(usize, TraceRecord)>, pids: [i32; 2]) -> Vec<MessageEvent> {
    records.sort_by_key(|(_, record)| record.time_ns);
    let mark = system_call::number("getrusage");
    let role =
        |pid: i32| [Role::Initiator, Role::Responder].into_iter().find(|role| pids[role.index()] == pid);
    let mut entered = [None; 2];
    let (mut events, mut marks) = (Vec::new(), 0);
    for (cpu, record) in records {
        let own = role(record.tid);
        let kind = match (record.event, own) {
            (TraceEvent::Entered { call, .. }, Some(Role::Initiator)) if Some(call) == mark => {
                marks += 1;
                None
            }
            (TraceEvent::Entered { call, arguments }, Some(role)) => {
                entered[role.index()] = Some((call, arguments));
                Some(MessageEventKind::Entered(role))
            }
            (TraceEvent::Returned { call, result }, Some(role)) => {
                entered[role.index()].take_if(|(entered, _)| *entered == call).map(|(_, arguments)| {
                    MessageEventKind::Returned(role, call_result(call, &arguments, result))
                })
            }
            (TraceEvent::SwitchedIn, Some(role)) => Some(MessageEventKind::SwitchedIn(role)),
            (TraceEvent::SwitchedOut { is_preempted: false }, Some(role)) => {
                Some(MessageEventKind::Blocked(role))
            }
            (TraceEvent::Scheduling(event), by) => scheduling(event, by, role),
            _ => None,
        };
        if let Some(kind) = kind.filter(|_| marks == 1) {
            events.push(MessageEvent { time_ns: record.time_ns, cpu, kind });
        }
    }
    events
}

fn scheduling(
    event: SchedulingEvent,
    by: Option<Role>,
    role: impl Fn(i32) -> Option<Role>,
) -> Option<MessageEventKind> {
    match event {
        SchedulingEvent::Waking(tid) => role(tid).map(|role| MessageEventKind::Waking { by, role }),
        SchedulingEvent::Woken(tid) => role(tid).map(MessageEventKind::Woken),
        SchedulingEvent::Selected(tid) => role(tid).map(MessageEventKind::Selected),
        SchedulingEvent::IdleExit => Some(MessageEventKind::IdleExit),
        SchedulingEvent::Interrupt => Some(MessageEventKind::Interrupt),
    }
}

/// Returns whether the call sent or received. One that may have done both, such as `splice`, is unknown.
fn call_result(call: i64, arguments: &[u64; 6], result: i64) -> CallResult {
    let Some(CallEffect::Transfers(transfers)) = effect(call, arguments, result) else {
        return CallResult::Other;
    };
    let mut directions = transfers
        .into_iter()
        .flatten()
        .filter(|transfer| transfer.messages > 0)
        .map(|transfer| transfer.direction);
    match (directions.next(), directions.next()) {
        (Some(CallDirection::Send), None) => CallResult::Sent,
        (Some(CallDirection::Receive), None) => CallResult::Received,
        _ => CallResult::Other,
    }
}
