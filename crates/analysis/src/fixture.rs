//! A run made up for tests: the orders of magnitude of a real virtual machine, with every kind of trouble.

use crate::{Distribution, Row, Run, Summary, summarise};
use base64::{Engine, engine::general_purpose::STANDARD};
use furlong_model::{
    Arrival, Bounds, Cache, Case, Count, CountMethod, End, Failure, Family, Fault, Harness, Machine,
    Measurement, NoiseReading, Outcome, Phase, Placement, Record, Role, RoleCount, RoleTally, RunHeader,
    SCHEMA, Trial, Unavailable, Wait, WaitKind,
};
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};
use std::collections::BTreeMap;

/// What the trials of one row are multiplied with.
const TRIALS: [f64; 5] = [1.0, 0.985, 1.01, 0.99, 1.015];

/// A mechanism through the kernel, for runs that are made by formula.
pub(crate) const THROUGH_THE_KERNEL: &str = "pipe";
/// A mechanism that needs no kernel.
pub(crate) const SHARED_MEMORY: &str = "posix-shm";

/// Samples as a record stores them.
pub(crate) fn encode(values: impl IntoIterator<Item = u64>) -> String {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
    values.into_iter().for_each(|value| histogram.record(value).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

/// The case of 128 bytes.
pub(crate) fn case(mechanism: &str, wait: Wait, placement: Placement) -> Case {
    let mechanism = mechanism.to_owned();
    Case::round_trip(mechanism, wait, 128, placement)
}

/// A sound trial with a median of about `median_ns`, and a tail.
pub(crate) fn measurement(case: &Case, median_ns: f64, preemptions: u64) -> Measurement {
    let per_sample = if median_ns < 100.0 { 64 } else { 1 };
    let samples: u32 = 2000;
    let time_ns = |sample: u32| {
        let q = (f64::from(sample) + 0.5) / f64::from(samples);
        let tail = if q > 0.999 { 2.5 } else { (q - 0.9).max(0.0) * 4.0 };
        (median_ns * (1.0 + 0.1 * (q - 0.5) + tail)).round() as u64
    };
    let times: Vec<u64> = (0..samples).map(time_ns).collect();
    let round_trips = u64::from(samples * per_sample);
    let elapsed_ns = times.iter().sum::<u64>() * u64::from(per_sample);
    let alone = case.mechanism == "null";
    let roles = Role::BOTH.into_iter().take(if alone { 1 } else { 2 });
    Measurement {
        round_trips,
        elapsed_ns,
        round_trips_per_sample: per_sample,
        histogram: encode(times),
        late_sends: 0,
        verified_messages: 2048,
        effective: BTreeMap::from([("size-bytes".to_owned(), case.size_bytes as u64)]),
        roles: roles.map(|role| tally(case, role, round_trips, elapsed_ns, preemptions)).collect(),
    }
}

fn tally(case: &Case, role: Role, round_trips: u64, elapsed_ns: u64, preemptions: u64) -> RoleTally {
    let spins = case.wait.kind() == WaitKind::Spinning;
    let busy_ns = if spins { elapsed_ns } else { elapsed_ns / 4 };
    let processor = match case.placement {
        Placement::OtherCore => role.index(),
        Placement::SameCore | Placement::OneProcess => 0,
        Placement::Explicit(initiator, responder) => [initiator, responder][role.index()],
    };
    RoleTally {
        role,
        processor,
        messages_received: round_trips + 100,
        round_trips,
        user_ns: if spins { busy_ns } else { busy_ns / 5 },
        system_ns: if spins { 0 } else { busy_ns - busy_ns / 5 },
        idle_ns: 0,
        voluntary_switches: if spins { 0 } else { round_trips },
        involuntary_switches: preemptions,
        minor_faults: 0,
        major_faults: 0,
    }
}

/// The counted pass of a case in which each role makes one call of this name a round trip, as declared.
pub(crate) fn count(case: &Case, name: &str, round_trips: u64) -> Count {
    let role = |role| RoleCount {
        role,
        round_trips,
        system_calls: Some(BTreeMap::from([(name.to_owned(), round_trips)])),
        usage: tally(case, role, round_trips, round_trips * 5000, 0),
        hardware: BTreeMap::new(),
    };
    Count {
        case: case.clone(),
        family: family(&case.mechanism),
        copies: None,
        method: CountMethod::Tracepoint,
        why_not_better: Vec::new(),
        roles: Role::BOTH.map(role).into(),
        hardware_absent: Some("this machine has no counters for guests".to_owned()),
        declared: BTreeMap::from([(name.to_owned(), Bounds { least: 1, most: Some(1) })]),
    }
}

/// What a reader of the trial would decode.
pub(crate) fn decoded(trial: &Measurement) -> Distribution {
    Distribution::decode(&trial.histogram).unwrap()
}

/// A run's header, of a virtual machine with two cores.
pub(crate) fn header() -> RunHeader {
    RunHeader {
        schema: SCHEMA,
        version: "0.1.0".into(),
        argv: vec!["furlong".into(), "run".into()],
        started_unix_s: 1_775_000_000,
        seed: 7,
        trials: TRIALS.len() as u32,
        budget_ns: 40_000_000,
        machine: machine(),
        harness: Harness { clock_read_ns: 23.4, clock_step_ns: 2.0 },
    }
}

fn machine() -> Machine {
    Machine {
        system: "Linux".into(),
        kernel: "6.18.0-cloud".into(),
        architecture: "x86_64".into(),
        distribution: Some("Debian GNU/Linux 12 (bookworm)".into()),
        processor: Some("Intel(R) Xeon(R) Platinum 8481C".into()),
        processors: vec![0, 1],
        threads_share_cores: Some(false),
        caches: vec![Cache { level: 1, kind: "Data".into(), size_bytes: 48 << 10 }],
        memory_bytes: Some(8 << 30),
        clock_source: Some("tsc".into()),
        hypervisor: Some("KVM".into()),
        private_ipc_namespace: true,
        ..Machine::default()
    }
}

/// A look at a quiet machine, `at_s` seconds into the run.
pub(crate) fn quiet(at_s: u64, core_to_core_ns: f64) -> NoiseReading {
    NoiseReading {
        at_ns: at_s * 1_000_000_000,
        core_to_core_ns: Some(core_to_core_ns),
        spin_lost: Some(0.001),
        load_average: Some(0.2),
        processor_pressure: Some(1.5),
        steal_ticks: Some(100),
        total_ticks: Some(100_000 + at_s * 200),
        throttled_periods: Some(0),
    }
}

/// Kinds of the mechanisms used here.
pub(crate) fn family(name: &str) -> Option<Family> {
    match name {
        "null" => Some(Family::Floor),
        "pipe" | "fifo" => Some(Family::Pipe),
        "posix-mq" | "sysv-mq" => Some(Family::Queue),
        "unix-stream" | "unix-seqpacket" | "unix-dgram" | "tcp" | "udp" => Some(Family::Socket),
        "posix-shm" => Some(Family::Memory),
        "eventfd" => Some(Family::Notification),
        _ => None,
    }
}

/// A row with an interval of ±1 %, of a known family.
pub(crate) fn row(mechanism: &str, wait: Wait, placement: Placement, median_ns: f64) -> Row {
    let case = case(mechanism, wait, placement);
    let trials = [1.0, 0.99, 1.01].map(|factor| measurement(&case, median_ns * factor, 0));
    let numbered: Vec<_> = (0..).zip(&trials).collect();
    Row::measure(&header(), &case, family(mechanism), &numbered).unwrap()
}

/// The trials of a sound row.
fn sound(mechanism: &str, wait: Wait, placement: Placement, median_ns: f64) -> Vec<Trial> {
    let mut case = case(mechanism, wait, placement);
    if mechanism == "eventfd" {
        case.size_bytes = 8;
    }
    let trial = |(number, factor): (u32, f64)| {
        let outcome = Outcome::Measured(measurement(&case, median_ns * factor, 0));
        Trial { case: case.clone(), family: family(mechanism), number, outcome }
    };
    (0..).zip(TRIALS).map(trial).collect()
}

fn failed(phase: Phase, role: Role, fault: Fault, detail: &str) -> Outcome {
    Outcome::Failed(Failure { phase, role: Some(role), fault, detail: detail.into() })
}

/// The trials of a row with a message every 100 us, some of them late.
fn paced() -> Vec<Trial> {
    const INTERVAL_NS: u64 = 100_000;
    let mut trials = sound("unix-seqpacket", Wait::Block, Placement::OtherCore, 71_000.0);
    for trial in &mut trials {
        trial.case.arrival = Arrival::Interval(INTERVAL_NS);
        if let Outcome::Measured(measured) = &mut trial.outcome {
            (measured.elapsed_ns, measured.late_sends) = (INTERVAL_NS * measured.round_trips, 62);
        }
    }
    trials
}

/// The trials of a row whose clock left out half of the time.
fn impossible() -> Vec<Trial> {
    let mut trials = sound("fifo", Wait::Block, Placement::OtherCore, 54_000.0);
    for trial in &mut trials {
        if let Outcome::Measured(measured) = &mut trial.outcome {
            measured.elapsed_ns *= 2;
        }
    }
    trials
}

/// The cases that come to nothing, or lose a trial.
fn troubles() -> Vec<Trial> {
    use Placement::OtherCore;
    let mut corrupted = sound("udp", Wait::Block, OtherCore, 57_300.0);
    corrupted[3].outcome =
        failed(Phase::Timed, Role::Responder, Fault::Flipped, "message 812 differs from byte 17 on");
    let mut lossy = sound("unix-dgram", Wait::Block, OtherCore, 60_100.0);
    lossy[1].outcome = failed(Phase::WarmUp, Role::Initiator, Fault::Silent, "nothing came from it for 2 s");
    let killed = failed(Phase::Open, Role::Responder, Fault::Killed, "killed by SIGKILL");
    let too_large = Outcome::Refused(Unavailable::new(
        "1MiB is more than the 64KiB that posix-mq takes here: fs.mqueue.msgsize_max",
        "run as root, or with user namespaces",
    ));
    let absent = |name: &str| {
        Outcome::Unavailable(Unavailable::new(
            format!("the module of {name} is not loaded"),
            "cargo xtask driver load",
        ))
    };
    let alone = |case: Case, outcome| {
        let family = family(&case.mechanism);
        Trial { case, family, number: 0, outcome }
    };
    let large = Case { size_bytes: 1 << 20, ..case("posix-mq", Wait::Block, OtherCore) };
    let driver = |placement| alone(case("driver-shm", Wait::Futex, placement), absent("driver-shm"));
    [corrupted, lossy]
        .concat()
        .into_iter()
        .chain([
            alone(case("sysv-mq", Wait::Block, OtherCore), killed),
            alone(large, too_large),
            driver(OtherCore),
            driver(Placement::SameCore),
        ])
        .collect()
}

/// Every record of the run, in the order written.
pub(crate) fn records() -> Vec<Record> {
    use Placement::{OtherCore, SameCore};
    let sound_rows = [
        ("null", Wait::Spin, OtherCore, 12.0),
        ("posix-mq", Wait::Block, OtherCore, 52_000.0),
        ("posix-shm", Wait::Futex, OtherCore, 52_400.0),
        ("pipe", Wait::Block, OtherCore, 53_600.0),
        ("tcp", Wait::Block, OtherCore, 60_800.0),
        ("posix-shm", Wait::Spin, OtherCore, 547.0),
        ("pipe", Wait::Spin, OtherCore, 1_880.0),
        ("posix-mq", Wait::Block, SameCore, 3_400.0),
        ("posix-shm", Wait::Futex, SameCore, 3_620.0),
        ("pipe", Wait::Block, SameCore, 4_400.0),
        ("tcp", Wait::Block, SameCore, 8_700.0),
        ("eventfd", Wait::Eventfd, OtherCore, 51_900.0),
    ];
    let trials =
        sound_rows.into_iter().flat_map(|(name, wait, placement, ns)| sound(name, wait, placement, ns));
    let first = [Record::Run(header()), Record::Noise(quiet(0, 291.0))];
    let last = [
        Record::Noise(quiet(20, 305.0)),
        Record::Noise(quiet(40, 297.0)),
        Record::End(End { interrupted_by: None, elapsed_ns: 40_000_000_000 }),
    ];
    let rest = paced().into_iter().chain(impossible()).chain(troubles());
    first.into_iter().chain(trials.chain(rest).map(Record::Trial)).chain(last).collect()
}

/// The run of [`records`], summarised.
pub(crate) fn summary() -> Summary {
    summarise(&Run::from_records(records()).unwrap())
}
