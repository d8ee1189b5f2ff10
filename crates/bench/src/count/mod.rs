//! The counted pass: which system calls a round trip makes, and what else it costs beside time.
//!
//! Two short trials of a case. In one the system calls of both roles are traced, which slows them down and makes
//! them switch; in the other nothing is traced but what is free. The times of neither are kept.
//!
//! The calls of the measured loop are told from those around it by `getrusage`, which each role calls as the
//! measured leg begins and as it ends.

mod calls;

pub(crate) use calls::{Log, Span};

use crate::trial::{Interrupted, Settings, TrialContext};
use crate::watch::Observer;
use calls::Calls;
use furlong_model::{Count, CountMethod, Measurement, Outcome, Phase, Role, RoleCount, RoleTally};
use furlong_os::counter::{HardwareCounter, SystemCallLog, open_hardware};
use furlong_os::tracefs;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The measured leg, at both ends of which a role asks for its usage.
const LEG: Span = Span { begin: Phase::Timed, end: Phase::Finish, marks: 2 };

/// Round trips whose system calls are counted.
const TRACED_ROUND_TRIPS: u64 = 500;

/// How system calls are counted in this run.
#[derive(Debug, Clone)]
pub struct Counting {
    method: CountMethod,
    /// The number of the kernel's event, if that is the method.
    event: Option<u64>,
    why_not_better: Vec<String>,
}

impl Counting {
    /// Finds the best method that is to be had here.
    pub fn find() -> Counting {
        // The log of this process is opened to see whether it may be.
        let event = tracefs::event_id("raw_syscalls", "sys_enter");
        let tried = event.and_then(|event| SystemCallLog::open(event, 0).map(|_| event));
        let mut why_not_better = Vec::new();
        match tried {
            Ok(event) => Counting { method: CountMethod::Tracepoint, event: Some(event), why_not_better },
            Err(error) => {
                why_not_better.push(format!("no tracepoint: {error}"));
                Counting { method: CountMethod::Ptrace, event: None, why_not_better }
            }
        }
    }

    /// How system calls are going to be counted.
    pub fn method(&self) -> CountMethod {
        self.method
    }

    /// Why each better method cannot be had.
    pub fn why_not_better(&self) -> &[String] {
        &self.why_not_better
    }

    /// By stopping the roles at each call, whatever else may be had.
    pub fn by_ptrace() -> Counting {
        let why_not_better = vec!["no tracepoint: it was not asked for".to_owned()];
        Counting { method: CountMethod::Ptrace, event: None, why_not_better }
    }

    /// Counts what a case costs.
    ///
    /// # Errors
    /// [`Interrupted`]; inside, the outcome of a trial that did not end well.
    pub fn count(
        &self,
        context: &TrialContext<'_>,
        settings: &Settings,
    ) -> Result<Result<Count, Outcome>, Interrupted> {
        let mut plain = Plain::default();
        let settings = Settings {
            budget: Duration::from_millis(20),
            warm_up: Some(Duration::from_millis(2)),
            ..*settings
        };
        let used = match context.run_observed(&settings, &mut plain)? {
            Outcome::Measured(measurement) => measurement,
            outcome => return Ok(Err(outcome)),
        };
        let traced_settings = Settings {
            budget: Duration::from_millis(250),
            warm_up: Some(Duration::from_micros(100)),
            most_round_trips: Some(TRACED_ROUND_TRIPS),
            ..settings
        };
        let traced = self.trace(LEG, |observer| {
            Ok(match context.run_observed(&traced_settings, observer)? {
                Outcome::Measured(measurement) => Ok(measurement),
                outcome => Err(outcome),
            })
        })?;
        Ok(traced.map(|traced| record(context, &used, traced, plain)))
    }

    /// Lets `run` take place under the best method that works, and gives what it has measured beside what was called.
    ///
    /// # Errors
    /// [`Interrupted`]; inside, what did not end well.
    pub(crate) fn trace<T, E>(
        &self,
        span: Span,
        mut run: impl FnMut(&mut dyn Observer) -> Result<Result<T, E>, Interrupted>,
    ) -> Result<Result<Traced<T>, E>, Interrupted> {
        // What goes wrong with one case says nothing of the next: each begins with the best method.
        let mut counting = self.clone();
        while counting.method != CountMethod::Rusage {
            let mut calls = Calls::new(counting.event, span);
            let outcome = run(&mut calls)?;
            match (outcome, calls.error) {
                (Ok(measured), None) => {
                    return Ok(Ok(Traced { counting, calls: Some((measured, calls.logs)) }));
                }
                // What could not be traced is measured all the same; only the next method can tell more.
                (Ok(_), Some(error)) => counting.fall_back(&error),
                (Err(outcome), _) => return Ok(Err(outcome)),
            }
        }
        Ok(Ok(Traced { counting, calls: None }))
    }

    /// Goes on with the next method.
    fn fall_back(&mut self, error: &io::Error) {
        self.why_not_better.push(format!("no {}: {error}", self.method));
        self.event = None;
        self.method = match self.method {
            CountMethod::Tracepoint => CountMethod::Ptrace,
            CountMethod::Ptrace | CountMethod::Rusage => CountMethod::Rusage,
        };
    }
}

/// What came of tracing.
pub(crate) struct Traced<T> {
    /// The method that worked in the end.
    pub(crate) counting: Counting,
    /// What was measured, and what each role called; `None` where no method works.
    pub(crate) calls: Option<(T, Vec<Log>)>,
}

fn record(
    context: &TrialContext<'_>,
    used: &Measurement,
    Traced { counting, calls }: Traced<Measurement>,
    plain: Plain,
) -> Count {
    let TrialContext { case, entry, .. } = *context;
    let capabilities = entry.capabilities;
    let role = |(index, usage): (usize, &RoleTally)| {
        let calls = calls.as_ref().map(|(measurement, logs)| (&measurement.roles[index], &logs[index]));
        RoleCount {
            role: usage.role,
            round_trips: calls.map_or(0, |(tally, _)| tally.round_trips),
            system_calls: calls.map(|(_, log)| log.by_name()),
            usage: usage.clone(),
            hardware: plain.read.get(index).cloned().unwrap_or_default(),
        }
    };
    Count {
        case: case.clone(),
        family: Some(capabilities.family),
        copies: Some(capabilities.copies),
        method: counting.method,
        why_not_better: counting.why_not_better,
        roles: used.roles.iter().enumerate().map(role).collect(),
        hardware_absent: plain.absent,
        declared: capabilities.declared_in(case),
    }
}

/// Reads the processor's own counters, where it has any.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// For each role its counters that could be opened.
    open: Vec<Vec<(&'static str, HardwareCounter)>>,
    /// For each role what they said.
    pub(crate) read: Vec<BTreeMap<String, u64>>,
    /// Why there are none.
    absent: Option<String>,
}

impl Observer for Plain {
    fn before(&mut self, phase: Phase, roles: &[(Role, i32)]) {
        match phase {
            Phase::Timed => {
                for (_, pid) in roles {
                    let mut open = Vec::new();
                    for (name, counter) in open_hardware(*pid) {
                        match counter.and_then(|counter| counter.enable().map(|()| counter)) {
                            Ok(counter) => open.push((name, counter)),
                            Err(error) => drop(self.absent.get_or_insert(format!("{name}: {error}"))),
                        }
                    }
                    self.open.push(open);
                }
                if self.open.iter().any(|open| !open.is_empty()) {
                    self.absent = None;
                }
            }
            Phase::Finish => {
                let read = |(name, counter): &(&'static str, HardwareCounter)| {
                    // One that never got its turn is left out.
                    counter
                        .disable()
                        .and_then(|()| counter.read())
                        .ok()
                        .map(|count| ((*name).to_owned(), count))
                };
                self.read = self.open.iter().map(|open| open.iter().filter_map(read).collect()).collect();
                self.open.clear();
            }
            _ => {}
        }
    }
}
