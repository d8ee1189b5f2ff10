//! The counted pass: the system calls of a round trip, and its costs other than time.
//!
//! It makes two more trials of a case. In one, the system calls of both roles are traced, which slows the roles down
//! and makes them switch. In the other, only counters are read that cost nothing. The times of both are discarded.
//!
//! Each role calls `getrusage` at the start and at the end of the measured part. These calls separate the calls of the
//! measured part from those around it. For programs with their own loop, all threads are traced from before the request
//! for the measured part until after the reply. So reading the request and writing the reply count as well.

mod calls;

use crate::not_measured::NotMeasured;
use crate::survived::survived;
use crate::trial::{Claims, Settings, Span, TrialContext, Work};
use crate::watch::Observer;
use calls::{Calls, Log};
use furlong_model::{Count, CountMethod, Family, Party, Phase, RoleCount, RoleTally};
use furlong_os::linux::counter::{HardwareCounter, SystemCallLog, open_hardware};
use furlong_os::linux::tracefs;
use std::collections::BTreeMap;
use std::io;

/// The method by which this run counts system calls.
#[derive(Debug, Clone)]
pub struct CallCounting {
    method: CountMethod,
    /// The number of the kernel's event, if the method is a tracepoint.
    event: Option<u64>,
    why_not_better: Vec<String>,
}

impl CallCounting {
    /// Finds the best method that is available.
    pub fn find() -> CallCounting {
        // Opens a log of this process to test whether that is allowed.
        let event = tracefs::event_id("raw_syscalls", "sys_enter");
        let tried = event.and_then(|event| {
            survived(|| SystemCallLog::open(event, 0).map(drop))??;
            Ok(event)
        });
        let mut why_not_better = Vec::new();
        match tried {
            Ok(event) => CallCounting { method: CountMethod::Tracepoint, event: Some(event), why_not_better },
            Err(error) => {
                why_not_better.push(format!("no tracepoint: {error}"));
                CallCounting { method: CountMethod::Ptrace, event: None, why_not_better }
            }
        }
    }

    /// Returns the method by which system calls are counted.
    pub fn method(&self) -> CountMethod {
        self.method
    }

    /// Returns why each better method is unavailable.
    pub fn why_not_better(&self) -> &[String] {
        &self.why_not_better
    }

    /// Returns the method that stops the roles at each call, even if a better one is available.
    pub fn by_ptrace() -> CallCounting {
        let why_not_better = vec!["no tracepoint: it was not asked for".to_owned()];
        CallCounting { method: CountMethod::Ptrace, event: None, why_not_better }
    }

    /// Returns the method that only reads the resource usage, for this reason.
    fn usage_only(why: &str) -> CallCounting {
        CallCounting { method: CountMethod::Rusage, event: None, why_not_better: vec![why.to_owned()] }
    }

    /// Counts the costs of a case.
    ///
    /// # Errors
    /// Returns the reason if one of the two trials has no figures.
    pub fn count<W: Work>(
        &self,
        context: &TrialContext<'_, W>,
        settings: &Settings,
    ) -> Result<Count<W::Case>, NotMeasured> {
        let (untraced, traced) = context.work.counted_settings(settings);
        let mut hardware = HardwareCounters::default();
        let used = context.measure(&untraced, &mut hardware)?;
        let traced = match context.work.counted() {
            Ok(span) => self.trace(span, |observer| context.measure(&traced, observer))?,
            Err(why) => TraceResult { counting: CallCounting::usage_only(why), calls: None },
        };
        Ok(record(&context.work, &used, &traced, hardware))
    }

    /// Calls `run` with the best method that works. Returns its measurement and the calls.
    fn trace<M>(
        &self,
        span: Span,
        mut run: impl FnMut(&mut dyn Observer) -> Result<M, NotMeasured>,
    ) -> Result<TraceResult<M>, NotMeasured> {
        // The failure of one case does not affect the next: each case begins with the best method.
        let mut counting = self.clone();
        while counting.method != CountMethod::Rusage {
            let mut calls = Calls::new(counting.event, span);
            let measured = run(&mut calls)?;
            match calls.error {
                None if calls.logs.is_empty() => {
                    let why = "the program does not print 'ready', so its start would be counted too";
                    return Ok(TraceResult { counting: CallCounting::usage_only(why), calls: None });
                }
                None => return Ok(TraceResult { counting, calls: Some((measured, calls.logs)) }),
                // The trial succeeded without complete counts, so the next method repeats it.
                Some(error) => counting.fall_back(&error),
            }
        }
        Ok(TraceResult { counting, calls: None })
    }

    /// Changes to the next method.
    fn fall_back(&mut self, error: &io::Error) {
        self.why_not_better.push(format!("no {}: {error}", self.method));
        self.event = None;
        self.method = match self.method {
            CountMethod::Tracepoint => CountMethod::Ptrace,
            CountMethod::Ptrace | CountMethod::Rusage => CountMethod::Rusage,
        };
    }
}

/// The result of tracing.
struct TraceResult<M> {
    /// The method that worked in the end.
    counting: CallCounting,
    /// The measurement, and the log of each role; `None` if no method works.
    calls: Option<(M, Vec<Log>)>,
}

fn record<W: Work>(
    work: &W,
    used: &W::Measurement,
    TraceResult { counting, calls }: &TraceResult<W::Measurement>,
    hardware: HardwareCounters,
) -> Count<W::Case> {
    let role = |(index, usage): (usize, &RoleTally)| {
        let calls = calls.as_ref().map(|(measured, logs)| (&W::tallies(measured)[index], &logs[index]));
        let threads = calls.map_or_else(BTreeMap::new, |(_, log)| log.by_thread());
        let library_threads = calls.map_or_else(BTreeMap::new, |(_, log)| log.library_thread_calls());
        RoleCount {
            role: usage.party.role,
            round_trips: calls.map_or(0, |(tally, _)| tally.round_trips),
            system_calls: calls.map(|(_, log)| log.by_name()),
            threads,
            library_threads,
            usage: usage.clone(),
            hardware: hardware.read.get(index).cloned().unwrap_or_default(),
        }
    };
    let roles = W::tallies(used).iter().enumerate().map(role).collect();
    let Claims { family, has_own_loop, copies, calls: declared } = work.claims();
    Count {
        case: work.case().clone(),
        // The calls of a foreign loop are not declared, not even those of one that sends nothing.
        family: if has_own_loop { Some(Family::Adapter) } else { family },
        copies,
        method: counting.method,
        why_not_better: counting.why_not_better.clone(),
        roles,
        hardware_absent: hardware.absent,
        declared,
    }
}

/// An observer that reads the hardware counters of the CPU, if it has any.
#[derive(Debug, Default)]
struct HardwareCounters {
    /// The opened counters of the processes of each role.
    open: Vec<(Party, Vec<(&'static str, HardwareCounter)>)>,
    /// The values of each role.
    read: Vec<BTreeMap<String, u64>>,
    /// The reason if there are none.
    absent: Option<String>,
}

impl Observer for HardwareCounters {
    fn before(&mut self, phase: Phase, roles: &[(Party, i32)]) {
        match phase {
            Phase::Timed => {
                for (party, pid) in roles {
                    let mut open = Vec::new();
                    for (name, counter) in open_hardware(*pid) {
                        match counter.and_then(|counter| counter.enable().map(|()| counter)) {
                            Ok(counter) => open.push((name, counter)),
                            Err(error) => drop(self.absent.get_or_insert(format!("{name}: {error}"))),
                        }
                    }
                    match self.open.iter_mut().find(|(other, _)| other == party) {
                        Some((_, known)) => known.extend(open),
                        None => self.open.push((*party, open)),
                    }
                }
                if self.open.iter().any(|(_, open)| !open.is_empty()) {
                    self.absent = None;
                }
            }
            Phase::Finish => {
                let read = |(name, counter): &(&'static str, HardwareCounter)| {
                    // A counter that never ran is left out.
                    counter
                        .disable()
                        .and_then(|()| counter.read())
                        .ok()
                        .map(|count| ((*name).to_owned(), count))
                };
                let sum = |(_, open): &(Party, Vec<_>)| {
                    let mut sum = BTreeMap::new();
                    for (name, count) in open.iter().filter_map(read) {
                        *sum.entry(name).or_default() += count;
                    }
                    sum
                };
                self.read = self.open.iter().map(sum).collect();
                self.open.clear();
            }
            _ => {}
        }
    }
}
