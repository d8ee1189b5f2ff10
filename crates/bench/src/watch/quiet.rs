//! The time since the processes of a trial last reported, and whether their silence is a failure yet.

use furlong_loops::control_page::Progress;
use furlong_os::activity::{Activity, Lack};
use std::time::Duration;

/// The time in nanoseconds between the end of the timeout and a second look, which decides. If the whole machine was
/// suspended, the timeout is over for all processes, and they need a moment to make progress.
const CONFIRM_NS: u64 = 300_000_000;

/// The factor on the timeout of a process that waits for a CPU, or for its disk to read a page.
const PATIENCE: u64 = 5;

/// The processes of a trial that may be silent.
pub(crate) trait ObservedProcesses {
    /// Returns the PID and the activity of each process that has not reported yet.
    fn activities(&self) -> Vec<(i32, Activity)>;

    /// Returns the progress of the processes; empty if they do not note it.
    fn progress(&self) -> Vec<Progress> {
        Vec::new()
    }
}

/// The reason why a silence is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Silence {
    /// The process that would have made progress if it had got a resource that no process of the trial can provide.
    pub(crate) lack: Option<(i32, Lack)>,
    /// The length of the silence.
    pub(crate) quiet: Duration,
}

/// The silence of the processes of a trial.
#[derive(Debug)]
pub(crate) struct SilenceWatch {
    since_ns: u64,
    progress: Vec<Progress>,
    state: State,
    /// The factor on the time for which the processes may be silent.
    patience: u64,
}

#[derive(Debug)]
enum State {
    /// The time within which a report must arrive is not over.
    Heard,
    /// The time is over, and the processes are looked at again after [`CONFIRM_NS`].
    Silent { noticed_ns: u64, activities: Vec<(i32, Activity)> },
}

impl SilenceWatch {
    /// Returns the state of processes whose silence begins now.
    pub(crate) fn since(now_ns: u64, processes: &impl ObservedProcesses) -> SilenceWatch {
        SilenceWatch { since_ns: now_ns, progress: processes.progress(), state: State::Heard, patience: 1 }
    }

    /// Notes a report.
    pub(crate) fn heard(&mut self, now_ns: u64) {
        (self.since_ns, self.state, self.patience) = (now_ns, State::Heard, 1);
    }

    /// Returns the time since the last report.
    pub(crate) fn lasted(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(now_ns.saturating_sub(self.since_ns))
    }

    /// Returns the time until the processes must be looked at, if a report must arrive within `limit`.
    pub(crate) fn left(&self, now_ns: u64, limit: Duration) -> Duration {
        let at_ns = match self.state {
            State::Heard => self.since_ns + self.patience * limit.as_nanos() as u64,
            State::Silent { noticed_ns, .. } => noticed_ns + CONFIRM_NS,
        };
        Duration::from_nanos(at_ns.saturating_sub(now_ns))
    }

    /// Looks at processes that report nothing. Returns why their silence is a failure, once it is one.
    pub(crate) fn look(
        &mut self,
        now_ns: u64,
        limit: Duration,
        processes: &impl ObservedProcesses,
    ) -> Option<Silence> {
        if !self.left(now_ns, limit).is_zero() {
            return None;
        }
        let progress = processes.progress();
        if progress != self.progress {
            self.progress = progress;
            self.heard(now_ns);
            return None;
        }
        let activities = processes.activities();
        let State::Silent { activities: earlier, .. } = &self.state else {
            self.state = State::Silent { noticed_ns: now_ns, activities };
            return None;
        };
        let lack = activities.iter().find_map(|(pid, activity)| {
            let (_, earlier) = earlier.iter().find(|(other, _)| other == pid)?;
            Some((*pid, activity.lack_since(*earlier)?))
        });
        if lack.is_none() || self.patience == PATIENCE {
            return Some(Silence { lack, quiet: self.lasted(now_ns) });
        }
        (self.state, self.patience) = (State::Heard, self.patience + 1);
        None
    }
}

impl Silence {
    /// Returns the process that lacks a resource, and a sentence that explains it.
    pub(crate) fn lacked(&self) -> Option<(i32, String)> {
        let (pid, lack) = self.lack?;
        let lacked = match lack {
            Lack::Processor => "ready to run, but other processes occupied the CPUs",
            Lack::Device => {
                "in an uninterruptible wait (state D: the disk, another device, a frozen control group)"
            }
        };
        let quiet = Duration::from_millis(self.quiet.as_millis() as u64);
        let sentence = format!(
            "{lacked}: nothing came from it for {quiet:?}; run again when fewer processes are busy, or with a longer --timeout"
        );
        Some((pid, sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::activity::State as Doing;
    use std::cell::Cell;

    const LIMIT: Duration = Duration::from_secs(1);
    const SECOND: u64 = 1_000_000_000;

    /// A simulated process.
    struct Fake {
        doing: Cell<Option<Doing>>,
        ran_ns: Cell<u64>,
        at_ns: Cell<u64>,
    }

    impl Fake {
        fn new(doing: Doing) -> Fake {
            Fake { doing: Cell::new(Some(doing)), ran_ns: Cell::new(0), at_ns: Cell::new(0) }
        }

        /// Looks at each time that is due, until the end. Returns when and why the silence is a failure.
        fn until(&self, quiet: &mut SilenceWatch, mut now_ns: u64, end_ns: u64) -> Option<(u64, Silence)> {
            while now_ns < end_ns {
                now_ns += quiet.left(now_ns, LIMIT).as_nanos() as u64;
                self.at_ns.set(now_ns);
                if let Some(silence) = quiet.look(now_ns, LIMIT, self) {
                    return Some((now_ns, silence));
                }
            }
            None
        }
    }

    impl ObservedProcesses for Fake {
        fn activities(&self) -> Vec<(i32, Activity)> {
            let activity = |state| Activity { state, ran_ns: self.ran_ns.get(), at_ns: self.at_ns.get() };
            self.doing.get().map(|doing| (7, activity(doing))).into_iter().collect()
        }
    }

    #[test]
    fn silence_is_a_failure_after_the_limit_and_a_second_look() {
        for doing in [Some(Doing::Other), None] {
            let fake = Fake::new(Doing::Other);
            fake.doing.set(doing);
            let found = fake.until(&mut SilenceWatch::since(0, &fake), 0, 60 * SECOND);
            let quiet = Duration::from_millis(1300);
            assert_eq!(found, Some((1_300_000_000, Silence { lack: None, quiet })));
        }
    }

    #[test]
    fn process_that_lacks_something_has_five_times_the_limit() {
        for (doing, lack) in [(Doing::Runnable, Lack::Processor), (Doing::WaitsForDevice, Lack::Device)] {
            let fake = Fake::new(doing);
            let (at_ns, silence) = fake.until(&mut SilenceWatch::since(0, &fake), 0, 60 * SECOND).unwrap();
            assert_eq!((at_ns, silence.lack), (5 * SECOND + CONFIRM_NS, Some((7, lack))));
            let (pid, sentence) = silence.lacked().unwrap();
            assert!(pid == 7 && sentence.contains("nothing came from it for 5.3s; run again"), "{sentence}");
        }
    }

    #[test]
    fn process_that_runs_lacks_nothing() {
        let fake = Fake::new(Doing::Runnable);
        let mut quiet = SilenceWatch::since(0, &fake);
        assert_eq!(fake.until(&mut quiet, 0, 1), None, "the first look");
        fake.ran_ns.set(CONFIRM_NS / 2);
        let (at_ns, silence) = fake.until(&mut quiet, SECOND, 60 * SECOND).unwrap();
        assert_eq!((at_ns, silence.lack), (SECOND + CONFIRM_NS, None));
    }

    #[test]
    fn what_is_heard_begins_the_time_again() {
        let fake = Fake::new(Doing::Runnable);
        let mut quiet = SilenceWatch::since(0, &fake);
        assert_eq!(fake.until(&mut quiet, 0, 4 * SECOND), None, "it has patience");
        fake.doing.set(Some(Doing::Other));
        quiet.heard(5 * SECOND);
        assert_eq!(quiet.lasted(6 * SECOND), Duration::from_secs(1));
        assert_eq!(quiet.left(5 * SECOND, LIMIT), LIMIT);
        let (at_ns, _) = fake.until(&mut quiet, 5 * SECOND, 60 * SECOND).unwrap();
        assert_eq!(at_ns, 6 * SECOND + CONFIRM_NS);
    }
}
