//! The counted pass: which system calls a round trip makes, and what else it costs beside time.
//!
//! Two short trials of a case. In one the system calls of both roles are traced, which slows them down and makes
//! them switch; in the other nothing is traced but what is free. The times of neither are kept.
//!
//! The calls of the measured loop are told from those around it by `getrusage`, which each role calls as the
//! measured leg begins and as it ends.

use crate::trial::{Interrupted, Observer, Scene, Settings};
use furlong_model::{Count, CountMethod, Measurement, Outcome, Phase, Role, RoleCount, RoleTally};
use furlong_os::counter::{HardwareCounter, SystemCallLog, open_hardware};
use furlong_os::tracer::Tracer;
use furlong_os::{system_call, tracefs};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

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
        scene: &Scene<'_>,
        settings: &Settings,
    ) -> Result<Result<Count, Outcome>, Interrupted> {
        let mut plain = Plain::default();
        let settings = Settings {
            budget: Duration::from_millis(20),
            warm_up: Some(Duration::from_millis(2)),
            ..*settings
        };
        let used = match scene.run_observed(&settings, &mut plain)? {
            Outcome::Measured(measurement) => measurement,
            outcome => return Ok(Err(outcome)),
        };
        let traced_settings = Settings {
            budget: Duration::from_millis(250),
            warm_up: Some(Duration::from_micros(100)),
            most_round_trips: Some(TRACED_ROUND_TRIPS),
            ..settings
        };
        // What goes wrong with one case says nothing of the next: each begins with the best method.
        let mut counting = self.clone();
        let mut traced = None;
        while counting.method != CountMethod::Rusage {
            let mut calls = Calls::new(counting.event);
            let outcome = scene.run_observed(&traced_settings, &mut calls)?;
            match (outcome, calls.trouble) {
                (Outcome::Measured(measurement), None) => {
                    traced = Some((measurement, calls.logs));
                    break;
                }
                // What could not be traced is measured all the same; only the next method can tell more.
                (Outcome::Measured(_), Some(trouble)) => counting.fall_back(&trouble),
                (outcome, _) => return Ok(Err(outcome)),
            }
        }
        Ok(Ok(counting.record(scene, &used, traced, plain)))
    }

    /// Goes on with the next method.
    fn fall_back(&mut self, trouble: &io::Error) {
        self.why_not_better.push(format!("no {}: {trouble}", self.method));
        self.event = None;
        self.method = match self.method {
            CountMethod::Tracepoint => CountMethod::Ptrace,
            CountMethod::Ptrace | CountMethod::Rusage => CountMethod::Rusage,
        };
    }

    fn record(
        &self,
        scene: &Scene<'_>,
        used: &Measurement,
        traced: Option<(Measurement, Vec<Log>)>,
        plain: Plain,
    ) -> Count {
        let Scene { case, driver, .. } = *scene;
        let promises = driver.capabilities;
        let role = |(index, usage): (usize, &RoleTally)| {
            let calls = traced.as_ref().map(|(measurement, logs)| (&measurement.roles[index], &logs[index]));
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
            family: Some(promises.family),
            copies: Some(promises.copies),
            method: self.method,
            why_not_better: self.why_not_better.clone(),
            roles: used.roles.iter().enumerate().map(role).collect(),
            hardware_absent: plain.absent,
            declared: promises.declared_in(case),
        }
    }
}

/// What one role called in its measured leg.
#[derive(Debug, Default)]
struct Log {
    /// Times that the usage was asked for so far: once as the leg begins, once as it ends.
    marks: u32,
    calls: BTreeMap<i64, u64>,
}

impl Log {
    fn enter(&mut self, number: i64, mark: i64) {
        if number == mark {
            self.marks += 1;
        } else if self.marks == 1 {
            *self.calls.entry(number).or_default() += 1;
        }
    }

    fn by_name(&self) -> BTreeMap<String, u64> {
        let mut named: BTreeMap<String, u64> = BTreeMap::new();
        for (number, count) in &self.calls {
            *named.entry(system_call::name(*number)).or_default() += count;
        }
        named
    }
}

/// Traces the system calls of all roles in the measured leg.
struct Calls {
    source: Source,
    pids: Vec<i32>,
    logs: Vec<Log>,
    /// The number of the call that marks beginning and end.
    mark: i64,
    /// Why the counts cannot be trusted.
    trouble: Option<io::Error>,
}

/// Where system calls are learnt of.
enum Source {
    /// The kernel's event of this number, a log for each role.
    Event(u64, Vec<SystemCallLog>),
    /// Stops at each call.
    Stops(Option<Tracer>),
}

impl Calls {
    fn new(event: Option<u64>) -> Calls {
        let source = event.map_or(Source::Stops(None), |event| Source::Event(event, Vec::new()));
        // Every kernel has it; without, nothing would be found between the marks, and the counts be missing.
        let mark = system_call::number("getrusage").unwrap_or(-1);
        Calls { source, pids: Vec::new(), logs: Vec::new(), mark, trouble: None }
    }

    /// Begins with the roles waiting for the measured phase.
    fn begin(&mut self, roles: &[(Role, i32)]) -> io::Result<()> {
        self.pids = roles.iter().map(|(_, pid)| *pid).collect();
        self.logs = roles.iter().map(|_| Log::default()).collect();
        match &mut self.source {
            Source::Event(event, logs) => {
                for pid in &self.pids {
                    let mut log = SystemCallLog::open(*event, *pid)?;
                    log.enable()?;
                    logs.push(log);
                }
            }
            Source::Stops(tracer) => {
                let tracer = tracer.insert(Tracer::new()?);
                self.pids.iter().try_for_each(|pid| tracer.attach(*pid))?;
            }
        }
        Ok(())
    }

    /// Notes what was called since the last time.
    fn take(&mut self) -> io::Result<()> {
        let Calls { source, pids, logs, mark, .. } = self;
        match source {
            Source::Event(_, events) => {
                for (event, log) in events.iter_mut().zip(logs) {
                    let drained = event.drain(|number| log.enter(number, *mark))?;
                    if drained.lost > 0 {
                        return Err(io::Error::other(format!("{} calls were lost", drained.lost)));
                    }
                }
                Ok(())
            }
            Source::Stops(Some(tracer)) => tracer.attend(|pid, number| {
                if let Some(index) = pids.iter().position(|known| *known == pid) {
                    logs[index].enter(number, *mark);
                }
            }),
            Source::Stops(None) => Ok(()),
        }
    }

    /// Ends with the roles waiting for the phase after the measured one.
    fn end(&mut self) -> io::Result<()> {
        if let Source::Event(_, events) = &mut self.source {
            events.iter_mut().try_for_each(SystemCallLog::disable)?;
        }
        self.take()?;
        match self.logs.iter().find(|log| log.marks != 2) {
            None => Ok(()),
            Some(log) => {
                Err(io::Error::other(format!("the leg's ends were seen {} times, not 2", log.marks)))
            }
        }
    }

    /// Gives up tracing after the first trouble. The trial itself goes on.
    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.trouble.get_or_insert(error);
            self.source = Source::Stops(None);
        }
    }
}

impl Observer for Calls {
    fn before(&mut self, phase: Phase, roles: &[(Role, i32)]) {
        if self.trouble.is_some() {
            return;
        }
        match phase {
            Phase::Timed => {
                let begun = self.begin(roles);
                self.keep(begun);
            }
            Phase::Finish => {
                let ended = self.end();
                self.keep(ended);
                self.source = Source::Stops(None);
            }
            _ => {}
        }
    }

    fn descriptors(&self) -> Vec<RawFd> {
        match &self.source {
            Source::Event(_, events) => events.iter().map(|event| event.descriptor().as_raw_fd()).collect(),
            Source::Stops(tracer) => tracer.iter().map(|tracer| tracer.descriptor().as_raw_fd()).collect(),
        }
    }

    fn attend(&mut self) {
        let taken = self.take();
        self.keep(taken);
    }

    fn sees_stopped(&self, pid: i32) -> bool {
        matches!(&self.source, Source::Stops(Some(tracer)) if tracer.is_stopped(pid))
    }
}

/// Reads the processor's own counters, where it has any.
#[derive(Debug, Default)]
struct Plain {
    /// For each role its counters that could be opened.
    open: Vec<Vec<(&'static str, HardwareCounter)>>,
    /// For each role what they said.
    read: Vec<BTreeMap<String, u64>>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_outside_of_the_leg_are_not_counted() {
        const MARK: i64 = 98;
        let mut log = Log::default();
        for number in [0, 1, MARK, 0, 1, 0, MARK, 1, 1] {
            log.enter(number, MARK);
        }
        assert_eq!(log.marks, 2);
        assert_eq!(log.calls, BTreeMap::from([(0, 2), (1, 1)]));
    }
}
