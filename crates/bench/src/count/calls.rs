//! The log of the system calls of a trial's roles, kept during the trial.

use crate::trial::Span;
use crate::watch::Observer;
use furlong_model::{Party, Phase};
use furlong_os::BorrowedHandle;
use furlong_os::linux::counter::SystemCallLog;
use furlong_os::linux::system_call;
use furlong_os::linux::tracer::{Caller, Tracer};
use furlong_os::other_process;
use furlong_stats::sort_by_key;
use std::collections::BTreeMap;
use std::io;

/// The calls of one role within the span.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The number of `getrusage` calls so far.
    marks: u32,
    calls: BTreeMap<i64, u64>,
    /// The calls of each thread, if all threads of the role are traced.
    threads: BTreeMap<i32, ThreadLog>,
}

/// The calls of one thread.
#[derive(Debug, Default)]
struct ThreadLog {
    name: String,
    /// Whether the name differs from the name of its process, which each thread begins with.
    has_own_name: bool,
    calls: BTreeMap<i64, u64>,
    count: u64,
}

impl Log {
    /// Records a call of furlong's own loop, which marks the span with the call `mark`.
    fn enter(&mut self, number: i64, mark: i64) {
        if number == mark {
            self.marks += 1;
        } else if self.marks % 2 == 1 {
            *self.calls.entry(number).or_default() += 1;
        }
    }

    /// Records a call of any thread.
    fn enter_from(&mut self, caller: Caller, number: i64) {
        *self.calls.entry(number).or_default() += 1;
        let thread = self.threads.entry(caller.thread).or_default();
        *thread.calls.entry(number).or_default() += 1;
        thread.count += 1;
        // A thread may set its name after it has begun.
        if thread.count.is_power_of_two() {
            let now = other_process::thread_name(caller.process, caller.thread);
            if !now.is_empty() {
                thread.has_own_name = now != other_process::name(caller.process);
                thread.name = now;
            }
        }
    }

    /// Returns the number of times that this call was made.
    fn calls_by_name(&self, name: &str) -> u64 {
        system_call::number(name).and_then(|number| self.calls.get(&number)).copied().unwrap_or_default()
    }

    /// Returns the number of calls by threads of each name; empty if only one thread made calls.
    pub(crate) fn by_thread(&self) -> BTreeMap<String, u64> {
        let mut named: BTreeMap<String, u64> = BTreeMap::new();
        for thread in self.threads.values() {
            *named.entry(thread.name.clone()).or_default() += thread.count;
        }
        if self.threads.len() > 1 { named } else { BTreeMap::new() }
    }

    /// Returns the calls of threads that have set their names, by the names of thread and call.
    pub(crate) fn library_thread_calls(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let mut named: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for thread in self.threads.values().filter(|thread| thread.has_own_name) {
            add_by_name(&thread.calls, named.entry(thread.name.clone()).or_default());
        }
        named
    }

    /// Returns the number of times that each call was made, by name.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let mut named = BTreeMap::new();
        add_by_name(&self.calls, &mut named);
        named
    }
}

/// Adds the numbers of calls to those by name.
fn add_by_name(calls: &BTreeMap<i64, u64>, named: &mut BTreeMap<String, u64>) {
    for (number, count) in calls {
        *named.entry(system_call::name(*number)).or_default() += count;
    }
}

/// An observer that traces the system calls of all roles.
pub(super) struct Calls {
    span: Span,
    source: Source,
    /// Each process, with the index of its role's log.
    processes: Vec<(i32, usize)>,
    /// The log of each role, in the order of their tallies.
    pub(super) logs: Vec<Log>,
    /// The number of the system call that marks the start and the end.
    mark: i64,
    /// The reason why the counts cannot be trusted.
    pub(super) error: Option<io::Error>,
}

/// The source of the system calls.
enum Source {
    /// A kernel event with this number, with one log per thread.
    Event(u64, Vec<(Caller, SystemCallLog)>),
    /// The tracer, which stops the roles at each call.
    Stops(Option<Tracer>),
}

impl Calls {
    pub(super) fn new(event: Option<u64>, span: Span) -> Calls {
        let source = event.map_or(Source::Stops(None), |event| Source::Event(event, Vec::new()));
        // Every kernel has this call. Without it, no call would be counted between the marks, and the check of the
        // marks would report that.
        let mark = system_call::number("getrusage").unwrap_or(-1);
        Calls { span, source, processes: Vec::new(), logs: Vec::new(), mark, error: None }
    }

    /// Returns whether all threads are traced, as for a program that does not run furlong's loop.
    fn covers_all_threads(&self) -> bool {
        self.span.marks == 0
    }

    /// Begins the logs while the roles wait for the first phase.
    fn begin(&mut self, roles: &[(Party, i32)]) -> io::Result<()> {
        let mut parties: Vec<Party> = Vec::new();
        for (party, _) in roles {
            if !parties.contains(party) {
                parties.push(*party);
            }
        }
        let all_threads = self.covers_all_threads();
        if all_threads {
            // The tallies of own programs have this order, independent of the order in which they were started.
            sort_by_key(&mut parties, |party| party.role);
        }
        let log_of = |party| parties.iter().position(|known| known == party).unwrap_or_default();
        self.processes = roles.iter().map(|(party, pid)| (*pid, log_of(party))).collect();
        self.logs = parties.iter().map(|_| Log::default()).collect();
        let threads = if all_threads { other_process::threads } else { |pid| Ok(vec![pid]) };
        match &mut self.source {
            Source::Event(event, logs) => {
                for (process, _) in &self.processes {
                    for thread in threads(*process)? {
                        let mut log = SystemCallLog::open(*event, thread)?;
                        log.enable()?;
                        logs.push((Caller { process: *process, thread }, log));
                    }
                }
            }
            Source::Stops(tracer) => {
                let attach = if all_threads { Tracer::attach_all_threads } else { Tracer::attach };
                let tracer = tracer.insert(Tracer::new()?);
                self.processes.iter().try_for_each(|(pid, _)| attach(tracer, *pid))?;
            }
        }
        Ok(())
    }

    /// Records the calls since the last time.
    fn take(&mut self) -> io::Result<()> {
        let all_threads = self.covers_all_threads();
        let Calls { source, processes, logs, mark, .. } = self;
        let mut note = |caller: Caller, number| {
            let Some((_, log)) = processes.iter().find(|(pid, _)| *pid == caller.process) else { return };
            match all_threads {
                true => logs[*log].enter_from(caller, number),
                false => logs[*log].enter(number, *mark),
            }
        };
        match source {
            Source::Event(_, events) => {
                for (caller, event) in events {
                    let drained = event.drain(|number| note(*caller, number))?;
                    if drained.lost > 0 {
                        return Err(io::Error::other(format!("{} calls were lost", drained.lost)));
                    }
                }
                Ok(())
            }
            Source::Stops(Some(tracer)) => tracer.attend(note),
            Source::Stops(None) => Ok(()),
        }
    }

    /// Ends the logs while the roles wait for the phase after the last one.
    fn end(&mut self) -> io::Result<()> {
        if let Source::Event(_, events) = &mut self.source {
            events.iter_mut().try_for_each(|(_, log)| log.disable())?;
        }
        self.take()?;
        // The kernel's log has only the threads that existed at the start.
        let begins_threads = |log: &Log| ["clone", "clone3"].iter().any(|name| log.calls_by_name(name) > 0);
        if matches!(self.source, Source::Event(..))
            && self.covers_all_threads()
            && self.logs.iter().any(begins_threads)
        {
            return Err(io::Error::other("a thread started that was not traced"));
        }
        let marks = self.span.marks;
        match self.logs.iter().find(|log| log.marks != marks) {
            None => Ok(()),
            Some(log) => Err(io::Error::other(format!(
                "the start and end marks of the count were seen {} times, not {marks}",
                log.marks
            ))),
        }
    }

    /// Ends tracing after the first error. The trial itself goes on.
    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            self.source = Source::Stops(None);
        }
    }
}

impl Observer for Calls {
    fn before(&mut self, phase: Phase, roles: &[(Party, i32)]) {
        if self.error.is_some() {
            return;
        }
        if phase == self.span.begin {
            let begun = self.begin(roles);
            self.keep(begun);
        } else if phase == self.span.end {
            let ended = self.end();
            self.keep(ended);
            self.source = Source::Stops(None);
        }
    }

    fn observes_stopped_programs(&self) -> bool {
        // The kernel takes milliseconds to begin its log, and running programs would make calls in that time.
        self.covers_all_threads() && matches!(self.source, Source::Event(..))
    }

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        match &self.source {
            Source::Event(_, events) => events.iter().map(|(_, event)| event.descriptor()).collect(),
            Source::Stops(tracer) => tracer.iter().map(|tracer| tracer.descriptor()).collect(),
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
        for number in [7, MARK, 0, MARK, 7] {
            log.enter(number, MARK);
        }
        assert_eq!(log.calls, BTreeMap::from([(0, 3), (1, 1)]));
    }
}
