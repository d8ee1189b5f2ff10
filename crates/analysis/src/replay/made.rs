//! Runs made for the tests of replays: an experiment, and trials with known times.

use crate::{
    Replay, Run,
    fixture::{header, measurement, quiet},
    read_experiment, replay,
};
use furlong_model::{
    Backing, Case, CountMethod, End, Experiment, Failure, Fault, Handover, HandoverCount,
    HandoverMeasurement, HandoverOutcome, HandoverTimes, HandoverTrial, Outcome, Phase, Record, Role,
    RoleCount, RoleTally, StartMethod, StartReading, Target, Touch, Trial, Unavailable,
};

/// What the trials of a row are multiplied with: its interval is about ±1 %.
const FACTORS: [f64; 7] = [1.0, 0.99, 1.01, 0.995, 1.005, 0.998, 1.002];

/// The records of a replay so far.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    experiment: Experiment,
    records: Vec<Record>,
}

impl Made {
    /// A run of the published experiment of this name, without any trial.
    pub(crate) fn published(name: &str) -> Self {
        let (_, text) = crate::published().iter().find(|(other, _)| *other == name).unwrap();
        Made::of(read_experiment(text, name).unwrap())
    }

    pub(crate) fn of(experiment: Experiment) -> Self {
        let records = vec![
            Record::Run(header()),
            Record::Experiment(experiment.clone()),
            Record::Noise(quiet(0, 291.0)),
        ];
        Made { experiment, records }
    }

    fn case(&self, name: &str, size_bytes: usize) -> Case {
        let row = self.experiment.row(name).unwrap();
        let Some(Target::Row { mechanism, wait }) = &row.target else { panic!("{name} is not measured") };
        self.experiment.measure.case(mechanism, *wait, size_bytes).unwrap()
    }

    fn trial(mut self, case: Case, number: u32, outcome: Outcome) -> Self {
        self.records.push(Record::Trial(Trial { case, family: None, number, outcome }));
        self
    }

    /// With trials of the row that was published under this name.
    pub(crate) fn row(self, name: &str, size_bytes: usize, median_ns: f64) -> Self {
        let case = self.case(name, size_bytes);
        self.trials(&case, median_ns)
    }

    /// The same where the mechanism has a size of its own.
    pub(crate) fn notification(self, name: &str, own_bytes: usize, median_ns: f64) -> Self {
        let case = Case { size_bytes: own_bytes, ..self.case(name, own_bytes) };
        self.trials(&case, median_ns)
    }

    fn trials(self, case: &Case, median_ns: f64) -> Self {
        (0..).zip(FACTORS).fold(self, |made, (number, factor)| {
            made.trial(case.clone(), number, Outcome::Measured(measurement(case, median_ns * factor, 0)))
        })
    }

    /// With a row that this machine has not.
    pub(crate) fn unavailable(self, name: &str, size_bytes: usize, reason: &str) -> Self {
        let case = self.case(name, size_bytes);
        self.trial(case, 0, Outcome::Unavailable(Unavailable::new(reason, "load it")))
    }

    /// With a row that exceeds a limit.
    pub(crate) fn refused(self, name: &str, size_bytes: usize, reason: &str) -> Self {
        let case = self.case(name, size_bytes);
        self.trial(case, 0, Outcome::Refused(Unavailable::new(reason, "")))
    }

    /// With a trial that failed.
    pub(crate) fn failed(self, name: &str, size_bytes: usize, fault: Fault) -> Self {
        let case = self.case(name, size_bytes);
        self.trial(case, 7, Outcome::Failed(failure(fault)))
    }

    fn handover(&self, backing: Backing) -> Handover {
        self.experiment.measure.handover(backing, self.experiment.measure.sizes_bytes[0]).unwrap()
    }

    /// With trials of a region: this long for the first repetition, and for each later one.
    pub(crate) fn region(self, backing: Backing, first_ms: f64, later_ms: f64) -> Self {
        (0..).zip(FACTORS).fold(self, |made, (number, factor)| {
            let measured = made.handed_over(backing, first_ms * factor, later_ms * factor);
            made.region_trial(backing, number, HandoverOutcome::Measured(measured))
        })
    }

    /// With one trial of a region.
    pub(crate) fn region_trial(mut self, backing: Backing, number: u32, outcome: HandoverOutcome) -> Self {
        let case = self.handover(backing);
        self.records.push(Record::Handover(HandoverTrial { case, family: None, number, outcome }));
        self
    }

    /// The figures of one trial.
    pub(crate) fn handed_over(&self, backing: Backing, first_ms: f64, later_ms: f64) -> HandoverMeasurement {
        let handover = self.handover(backing);
        let half_ns = |ms: f64| (ms * 0.5e6) as u64;
        let times = |ms: f64| HandoverTimes { write_ns: half_ns(ms), read_ns: half_ns(ms) };
        let later = std::iter::repeat_n(times(later_ms), handover.repetitions as usize - 1);
        let repetitions: Vec<_> = [times(first_ms)].into_iter().chain(later).collect();
        let elapsed_ns = repetitions.iter().map(|times| times.write_ns + times.read_ns).sum();
        let touched =
            if handover.touch == Touch::Byte { handover.size_bytes - 1 } else { handover.size_bytes / 64 };
        HandoverMeasurement {
            elapsed_ns,
            verified_bytes: touched as u64 * u64::from(handover.repetitions),
            in_effect: if backing == Backing::Disk { "ext4 on /dev/vda1".into() } else { String::new() },
            roles: Role::BOTH.map(|role| tally(role, handover.repetitions, elapsed_ns)).into(),
            repetitions,
        }
    }

    /// With the counted pass of a region, in which each process makes these calls.
    pub(crate) fn counted(mut self, backing: Backing, calls: &[(&str, u64)]) -> Self {
        let role = |role| RoleCount {
            role,
            round_trips: 10,
            system_calls: Some(calls.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()),
            usage: tally(role, 10, 1_000_000),
            hardware: Default::default(),
        };
        self.records.push(Record::HandoverCount(HandoverCount {
            case: self.handover(backing),
            family: None,
            copies: None,
            method: CountMethod::Tracepoint,
            why_not_better: Vec::new(),
            roles: Role::BOTH.map(role).into(),
            hardware_absent: None,
            declared: Default::default(),
        }));
        self
    }

    /// With starts of processes, in milliseconds.
    pub(crate) fn starts(mut self, method: StartMethod, ms: &[f64]) -> Self {
        let starts_ns = ms.iter().map(|ms| (ms * 1e6) as u64).collect();
        self.records.push(Record::Start(StartReading { method, starts_ns, trouble: None }));
        self
    }

    /// Every record, to the end of the run.
    pub(crate) fn records(self) -> Vec<Record> {
        let end = Record::End(End { interrupted_by: None, elapsed_ns: 40_000_000_000 });
        self.records.into_iter().chain([end]).collect()
    }

    pub(crate) fn replay(self) -> Replay {
        replay(&Run::from_records(self.records()).unwrap()).unwrap()
    }
}

/// What stands in a record of a failed trial.
pub(crate) fn failure(fault: Fault) -> Failure {
    Failure { phase: Phase::Timed, role: Some(Role::Responder), fault, detail: "it was made to".into() }
}

fn tally(role: Role, repetitions: u32, elapsed_ns: u64) -> RoleTally {
    RoleTally {
        role,
        processor: role.index(),
        messages_received: u64::from(repetitions),
        round_trips: u64::from(repetitions),
        user_ns: elapsed_ns / 2,
        system_ns: elapsed_ns / 100,
        idle_ns: 0,
        voluntary_switches: 3,
        involuntary_switches: 20,
        minor_faults: 0,
        major_faults: 0,
    }
}

/// The first experiment, as a machine of today would find it: the order of two rows is reversed, and the driver is
/// missing.
pub(crate) fn ka2yan() -> Made {
    Made::published("ka2yan-2008")
        .row("POSIX message queue", 128, 3600.0)
        .row("UNIX domain socket (stream)", 128, 5100.0)
        .row("FIFO", 128, 3150.0)
        .unavailable("device driver (shared memory)", 128, "the kernel module furlong is not loaded")
        .unavailable("device driver (read, write)", 128, "the kernel module furlong is not loaded")
}

/// The second one: all backings are alike but the last one, and one of them is not there.
pub(crate) fn itmedia() -> Made {
    use Backing::{Anonymous, Disk, HugePages, Loop, Memfd, RamDisk, Tmpfs};
    let calls = [("mmap", 4), ("munmap", 2), ("openat", 1)];
    [Anonymous, Loop, Tmpfs, Disk, Memfd]
        .into_iter()
        .fold(Made::published("itmedia-mmap-100mb"), |made, backing| {
            made.region(backing, 145.0, 92.0).counted(backing, &calls)
        })
        .region(HugePages, 99.0, 80.0)
        .region_trial(
            RamDisk,
            0,
            HandoverOutcome::Unavailable(Unavailable::new(
                "no right to mount (CAP_SYS_ADMIN)",
                "run as root",
            )),
        )
}

/// The third one with three rows: the pipe is best with 128 KiB, and shared memory with 512 KiB or the next size.
pub(crate) fn qiita() -> Made {
    const PIPE: [f64; 10] = [9.0, 14.0, 25.0, 55.0, 115.0, 260.0, 1200.0, 2500.0, 5400.0, 12000.0];
    const SHARED: [f64; 10] = [13.0, 21.0, 36.0, 64.0, 110.0, 222.0, 990.0, 2100.0, 4600.0, 9900.0];
    let sizes = Made::published("qiita-windows-blocks").experiment.measure.sizes_bytes;
    let made = Made::published("qiita-windows-blocks");
    let made =
        sizes.iter().zip(PIPE).fold(made, |made, (size, us)| made.row("console + pipe", *size, us * 1e3));
    let made =
        sizes.iter().zip(SHARED).fold(made, |made, (size, us)| made.row("console + shm", *size, us * 1e3));
    sizes
        .iter()
        .fold(made, |made, size| {
            made.refused("System V message queue", *size, "it is more than the 8KiB of msgmax")
        })
        .starts(StartMethod::PosixSpawn, &[1.2, 0.61, 0.6, 0.62, 0.63, 0.6, 0.61])
        .starts(StartMethod::Fork, &[0.21, 0.11, 0.12, 0.1])
}

/// The fifth one, where signals carry four bytes whatever was asked.
pub(crate) fn racehorse() -> Made {
    let made = Made::published("racehorse").notification("UNIX signals", 4, 12_000.0);
    [(100, 1.0), (1000, 1.3)].into_iter().fold(made, |made, (size, factor)| {
        made.row("TCP sockets", size, 31_000.0 * factor)
            .row("pipes", size, 21_000.0 * factor)
            .row("FIFOs", size, 21_050.0 * factor)
            .row("shared memory", size, 460.0 * factor)
            .row("memory-mapped file", size, 461.0 * factor)
    })
}
