//! Events of threads, joined to complete system calls, and the CPU time between context switches.

use furlong_os::linux::counter::{TraceEvent, TraceRecord};
use std::collections::{BTreeMap, HashMap, HashSet};

/// System call that has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub pid: i32,
    pub tid: i32,
    pub number: i64,
    pub arguments: [u64; 6],
    /// A negative number is an errno.
    pub result: i64,
    pub entered_ns: u64,
    pub returned_ns: u64,
    /// Time that the thread ran in the call.
    pub ran_ns: u64,
    /// Whether the thread has left its CPU to wait in the call.
    pub has_slept: bool,
}

/// CPU time and context switches of a process within the observed time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    pub cpu_ns: u64,
    /// Switches because a thread waits.
    pub voluntary: u64,
    pub preempted: u64,
    /// Observed system calls.
    pub calls: u64,
}

/// State of all threads.
#[derive(Debug)]
pub struct Threads {
    start_ns: u64,
    /// Threads that existed at the beginning.
    first: HashSet<i32>,
    threads: HashMap<i32, Thread>,
    activities: BTreeMap<i32, Activity>,
}

#[derive(Debug)]
struct Thread {
    pid: i32,
    call: Option<Call>,
    running_since_ns: Option<u64>,
}

impl Threads {
    /// Creates the state at the beginning of the observation, with the threads that exist.
    pub fn new(start_ns: u64, first: HashSet<i32>) -> Threads {
        Threads { start_ns, first, threads: HashMap::new(), activities: BTreeMap::new() }
    }

    /// Adds an event; events come in the order of their times. Returns the call that it completes.
    pub fn add(&mut self, record: &TraceRecord) -> Option<Call> {
        let TraceRecord { time_ns, pid, tid, event } = *record;
        let thread = self.threads.entry(tid).or_insert_with(|| {
            // A thread whose first event is not its start or its switch to a CPU was running before.
            let was_running = !matches!(event, TraceEvent::SwitchedIn | TraceEvent::Started);
            let since_ns = if self.first.contains(&tid) { self.start_ns } else { time_ns };
            Thread { pid, call: None, running_since_ns: was_running.then_some(since_ns) }
        });
        let activity = self.activities.entry(thread.pid).or_default();
        match event {
            TraceEvent::Entered { call, arguments } => {
                activity.calls += 1;
                let (result, entered_ns, returned_ns) = (0, time_ns, time_ns);
                let (pid, number, ran_ns, has_slept) = (thread.pid, call, 0, false);
                thread.call = Some(Call {
                    pid,
                    tid,
                    number,
                    arguments,
                    result,
                    entered_ns,
                    returned_ns,
                    ran_ns,
                    has_slept,
                });
                None
            }
            TraceEvent::Returned { call, result } => {
                activity.cpu_ns += thread.leave(time_ns);
                thread.running_since_ns = Some(time_ns);
                let pending = thread.call.take().filter(|pending| pending.number == call)?;
                Some(Call { result, returned_ns: time_ns, ..pending })
            }
            TraceEvent::SwitchedIn => {
                thread.running_since_ns = Some(time_ns);
                None
            }
            TraceEvent::SwitchedOut { is_preempted } => {
                activity.cpu_ns += thread.leave(time_ns);
                activity.preempted += u64::from(is_preempted);
                activity.voluntary += u64::from(!is_preempted);
                if let Some(call) = thread.call.as_mut().filter(|_| !is_preempted) {
                    call.has_slept = true;
                }
                None
            }
            TraceEvent::Started | TraceEvent::Scheduling(_) => None,
            TraceEvent::Exited => {
                activity.cpu_ns += thread.leave(time_ns);
                self.threads.remove(&tid);
                None
            }
        }
    }

    /// Forgets calls that have not returned, because events were lost.
    pub fn forget_calls(&mut self) {
        self.threads.values_mut().for_each(|thread| thread.call = None);
    }

    /// Returns the activity of each process in the interval until now, and begins the next one.
    pub fn begin_interval(&mut self, now_ns: u64) -> BTreeMap<i32, Activity> {
        for thread in self.threads.values_mut().filter(|thread| thread.running_since_ns.is_some()) {
            self.activities.entry(thread.pid).or_default().cpu_ns += thread.leave(now_ns);
            thread.running_since_ns = Some(now_ns);
        }
        self.start_ns = now_ns;
        std::mem::take(&mut self.activities)
    }
}

impl Thread {
    /// Notes that the thread leaves its CPU. Returns the time that it ran.
    fn leave(&mut self, time_ns: u64) -> u64 {
        let Some(since_ns) = self.running_since_ns.take() else { return 0 };
        if let Some(call) = &mut self.call {
            call.ran_ns += time_ns.saturating_sub(since_ns.max(call.entered_ns));
        }
        time_ns.saturating_sub(since_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_ns: u64, tid: i32, event: TraceEvent) -> TraceRecord {
        TraceRecord { time_ns, pid: 7, tid, event }
    }

    fn entered(call: i64) -> TraceEvent {
        TraceEvent::Entered { call, arguments: [3, 0, 8, 0, 0, 0] }
    }

    #[test]
    fn calls_are_joined_per_thread() {
        let mut threads = Threads::new(100, HashSet::from([7, 8]));
        let out = |is_preempted| TraceEvent::SwitchedOut { is_preempted };
        assert_eq!(threads.add(&record(110, 7, entered(0))), None);
        assert_eq!(threads.add(&record(115, 8, entered(1))), None);
        assert_eq!(threads.add(&record(120, 7, out(false))), None);
        assert_eq!(threads.add(&record(125, 8, out(true))), None);
        assert_eq!(threads.add(&record(150, 7, TraceEvent::SwitchedIn)), None);
        let read = threads.add(&record(160, 7, TraceEvent::Returned { call: 0, result: 8 })).unwrap();
        assert_eq!((read.entered_ns, read.returned_ns, read.result, read.has_slept), (110, 160, 8, true));
        assert_eq!(read.ran_ns, 20);
        let write = threads.add(&record(170, 8, TraceEvent::Returned { call: 1, result: -11 })).unwrap();
        assert_eq!((write.tid, write.has_slept), (8, false));
        assert_eq!(threads.add(&record(180, 8, TraceEvent::Returned { call: 1, result: 0 })), None);
        let used = threads.begin_interval(200)[&7];
        // Thread 7 ran from 100 to 120 and from 150, thread 8 from 100 to 125, and after its call returned at 170.
        assert_eq!(used, Activity { cpu_ns: 20 + 50 + 25 + 30, voluntary: 1, preempted: 1, calls: 2 });
        assert_eq!(threads.begin_interval(300)[&7], Activity { cpu_ns: 2 * 100, ..Activity::default() });
    }

    #[test]
    fn lost_events_end_pending_calls() {
        let mut threads = Threads::new(0, HashSet::from([7]));
        threads.add(&record(10, 7, entered(0)));
        threads.forget_calls();
        assert_eq!(threads.add(&record(20, 7, TraceEvent::Returned { call: 0, result: 8 })), None);
        threads.add(&record(30, 7, entered(1)));
        assert_eq!(threads.add(&record(40, 7, TraceEvent::Returned { call: 0, result: 8 })), None);
        threads.add(&record(50, 7, TraceEvent::Exited));
        assert_eq!(threads.begin_interval(100)[&7].cpu_ns, 50);
    }
}
