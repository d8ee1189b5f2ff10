//! The log of system calls of a trial's roles, kept while it takes place.

use crate::trial::Span;
use crate::watch::Observer;
use furlong_model::{Party, Phase};
use furlong_os::BorrowedHandle;
use furlong_os::linux::counter::SystemCallLog;
use furlong_os::linux::system_call;
use furlong_os::linux::tracer::Tracer;
use std::collections::BTreeMap;
use std::io;

/// What one role called within the span.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Times that the usage was asked for so far.
    marks: u32,
    calls: BTreeMap<i64, u64>,
}

impl Log {
    fn enter(&mut self, number: i64, mark: i64) {
        if number == mark {
            self.marks += 1;
        } else if self.marks % 2 == 1 {
            *self.calls.entry(number).or_default() += 1;
        }
    }

    /// How often each call was made, by name.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let mut named: BTreeMap<String, u64> = BTreeMap::new();
        for (number, count) in &self.calls {
            *named.entry(system_call::name(*number)).or_default() += count;
        }
        named
    }
}

/// Traces the system calls of all roles.
pub(super) struct Calls {
    span: Span,
    source: Source,
    pids: Vec<i32>,
    pub(super) logs: Vec<Log>,
    /// The number of the call that marks beginning and end.
    mark: i64,
    /// Why the counts cannot be trusted.
    pub(super) error: Option<io::Error>,
}

/// Where system calls are learnt of.
enum Source {
    /// The kernel's event of this number, a log for each role.
    Event(u64, Vec<SystemCallLog>),
    /// Stops at each call.
    Stops(Option<Tracer>),
}

impl Calls {
    pub(super) fn new(event: Option<u64>, span: Span) -> Calls {
        let source = event.map_or(Source::Stops(None), |event| Source::Event(event, Vec::new()));
        // Every kernel has it; without, nothing would be found between the marks, and the counts be missing.
        let mark = system_call::number("getrusage").unwrap_or(-1);
        Calls { span, source, pids: Vec::new(), logs: Vec::new(), mark, error: None }
    }

    /// Begins with the roles waiting for the first phase.
    fn begin(&mut self, roles: &[(Party, i32)]) -> io::Result<()> {
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

    /// Ends with the roles waiting for the phase after the last one.
    fn end(&mut self) -> io::Result<()> {
        if let Source::Event(_, events) = &mut self.source {
            events.iter_mut().try_for_each(SystemCallLog::disable)?;
        }
        self.take()?;
        let marks = self.span.marks;
        match self.logs.iter().find(|log| log.marks != marks) {
            None => Ok(()),
            Some(log) => Err(io::Error::other(format!(
                "the ends of what is counted were seen {} times, not {marks}",
                log.marks
            ))),
        }
    }

    /// Gives up tracing after the first trouble. The trial itself goes on.
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

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        match &self.source {
            Source::Event(_, events) => events.iter().map(|event| event.descriptor()).collect(),
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
