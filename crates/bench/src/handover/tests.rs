//! End-to-end tests of handovers, over every backing that this machine has, and with accessors that make mistakes.

use super::*;
use crate::child_process::tests::program;
use crate::placement;
use crate::session::{Options, Session};
use furlong_loops::region_bytes::{Mismatch, ReadFunction, Write};
use furlong_model::{Backing, HandoverOutcome, Touch};
use furlong_os::process::send_signal;
use furlong_testing::skipped;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Larger than a stretch, and not a multiple of a page or of a cache line.
const SIZE: usize = (1 << 20) + 4_097;

const REPETITIONS: u32 = 3;

fn session() -> Session {
    Session::open(Options { program: program(), file_folder: None, handle_signals: false }).unwrap()
}

fn handover(backing: Backing, touch: Touch, size_bytes: usize) -> Handover {
    let placement = Placement::OtherCore;
    Handover { backing, touch, size_bytes, repetitions: REPETITIONS, placement }
}

/// Two cores if this process may use two.
fn processors() -> [usize; 2] {
    placement::resolve(Placement::OtherCore).or_else(|_| placement::resolve(Placement::SameCore)).unwrap()
}

fn settings(timeout_ms: u64) -> Settings {
    Settings { timeout: Duration::from_millis(timeout_ms), ..Settings::default() }
}

fn run(handover: &Handover) -> HandoverOutcome {
    run_on(handover, processors())
}

fn run_on(handover: &Handover, processors: [usize; 2]) -> HandoverOutcome {
    let work = RegionHandover::new(handover);
    TrialContext { work, processors: Some(processors.into()), session: &session() }
        .run(&settings(20_000))
        .unwrap()
}

/// Checks the figures of a measurement, or reports why this machine lacks the backing.
fn sound(handover: &Handover, outcome: HandoverOutcome) {
    let root = furlong_os::identity::is_administrator();
    match outcome {
        HandoverOutcome::Measured(measured) => {
            let HandoverMeasurement { elapsed_ns, repetitions, verified_bytes, in_effect, roles } = measured;
            let each = Accessor::of(handover.touch).touched(handover.size_bytes);
            assert_eq!(verified_bytes, each as u64 * u64::from(REPETITIONS), "{handover}");
            assert_eq!(repetitions.len(), REPETITIONS as usize, "{handover}");
            let sum: u64 = repetitions.iter().map(|times| times.write_ns + times.read_ns).sum();
            assert!(sum > 0 && sum <= elapsed_ns, "{handover}: {sum} of {elapsed_ns}");
            assert_eq!(roles.iter().map(|tally| tally.party.role).collect::<Vec<_>>(), Role::ALL);
            assert!(roles.iter().all(|tally| tally.round_trips == u64::from(REPETITIONS)));
            assert_eq!(in_effect.is_empty(), handover.backing == Backing::Anonymous, "{in_effect}");
            eprintln!("{handover}: {in_effect}");
        }
        HandoverOutcome::Refused(why) => panic!("{handover}: {why:?}"),
        HandoverOutcome::Unavailable(unavailable) => {
            assert!(!unavailable.reason.is_empty() && !unavailable.remedy.is_empty(), "{unavailable:?}");
            let everywhere = [Backing::Anonymous, Backing::Memfd, Backing::Tmpfs];
            assert!(!everywhere.contains(&handover.backing), "{unavailable:?}");
            let devices = [Backing::RamDisk, Backing::Loop];
            let needs_root = !root && devices.contains(&handover.backing);
            assert!(!needs_root || unavailable.remedy.contains("root"), "{unavailable:?}");
            let facility = if needs_root { "root" } else { handover.backing.name() };
            skipped(handover, format_args!("needs {facility}: {}", unavailable.reason));
        }
        HandoverOutcome::Failed(failure) => panic!("{handover}: {failure}"),
    }
}

#[test]
fn every_backing_is_measured_or_says_why_not() {
    for backing in Backing::ALL {
        for touch in [Touch::Byte, Touch::Line] {
            let handover = handover(backing, touch, SIZE);
            sound(&handover, run(&handover));
        }
    }
}

#[test]
fn the_smallest_region_has_one_byte_beside_the_flag() {
    for (touch, size_bytes) in [(Touch::Byte, 2), (Touch::Line, 65)] {
        let smallest = handover(Backing::Memfd, touch, size_bytes);
        sound(&smallest, run(&smallest));
        let smaller = Handover { size_bytes: size_bytes - 1, ..smallest };
        match run(&smaller) {
            HandoverOutcome::Unavailable(unavailable) => {
                assert!(unavailable.remedy.contains(&size_bytes.to_string()), "{unavailable:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_makes_no_sense_is_not_begun() {
    let sensible = handover(Backing::Memfd, Touch::Byte, SIZE);
    let alone = Handover { placement: Placement::OneProcess, ..sensible.clone() };
    for handover in [alone, Handover { repetitions: 0, ..sensible }] {
        assert!(matches!(run(&handover), HandoverOutcome::Unavailable(_)), "{handover}");
    }
}

#[test]
fn one_core_is_enough() {
    let handover = handover(Backing::Anonymous, Touch::Line, SIZE);
    let [processor, _] = placement::resolve(Placement::SameCore).unwrap();
    sound(&handover, run_on(&handover, [processor; 2]));
}

#[test]
fn more_than_there_is_memory_is_not_even_tried() {
    for backing in Backing::ALL {
        match run(&handover(backing, Touch::Line, 1 << 50)) {
            HandoverOutcome::Unavailable(unavailable) => {
                let words = if backing == Backing::Disk { "are free" } else { "are available" };
                assert!(unavailable.reason.contains(words), "{unavailable:?}");
            }
            other => panic!("{backing}: {other:?}"),
        }
    }
}

#[test]
fn no_room_in_a_file_system_is_an_error_in_words() {
    let full = handover(Backing::Disk, Touch::Line, SIZE);
    let refused = |folder: &str| {
        let file_folder = Some(folder.into());
        let session =
            Session::open(Options { program: program(), file_folder, handle_signals: false }).unwrap();
        let work = RegionHandover::new(&full);
        let context = TrialContext { work, processors: Some(vec![0, 0]), session: &session };
        match context.run(&settings(10_000)).unwrap() {
            HandoverOutcome::Unavailable(unavailable) => unavailable.reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused("/dev/shm").contains("tmpfs"));
    assert!(refused("/proc/self").contains("/proc/self"));
    assert!(refused("/no/such/folder").contains("No such file"));
}

/// The number of calls of the accessor in this process.
static USED: AtomicU32 = AtomicU32::new(0);

/// Returns whether to make the mistake now: in the second repetition. Each repetition has two stretches.
fn now() -> bool {
    USED.fetch_add(1, Ordering::Relaxed) == 3
}

fn honest() -> Accessor {
    Accessor::of(Touch::Byte)
}

fn raise(signal: i32) {
    send_signal(std::process::id() as i32, signal).unwrap();
}

fn sensitivities(bytes: &[AtomicU8], state: u64) {
    (honest().write)(bytes, state);
    if now() {
        bytes[100].fetch_xor(1, Ordering::Relaxed);
    }
}

fn forgets(bytes: &[AtomicU8], state: u64) {
    if !now() {
        (honest().write)(bytes, state);
    }
}

fn writes_and<const SIGNAL: i32>(bytes: &[AtomicU8], state: u64) {
    (honest().write)(bytes, state);
    if now() {
        raise(SIGNAL);
    }
}

fn reads_and<const SIGNAL: i32>(bytes: &[AtomicU8], state: u64) -> Result<(), Mismatch> {
    if now() {
        raise(SIGNAL);
    }
    (honest().read)(bytes, state)
}

fn panics(_: &[AtomicU8], _: u64) {
    panic!("the saboteur panics");
}

fn hangs(bytes: &[AtomicU8], state: u64) -> Result<(), Mismatch> {
    while now() || USED.load(Ordering::Relaxed) > 3 {
        std::thread::park();
    }
    (honest().read)(bytes, state)
}

/// Returns the failure of a trial in which one role has a different accessor.
fn sabotaged(write: Option<Write>, read: Option<ReadFunction>) -> Failure {
    // Only forks can use other functions, because a new process chooses its accessor by the handover.
    let handover = handover(Backing::Anonymous, Touch::Byte, SIZE);
    let accessor =
        Accessor { write: write.unwrap_or(honest().write), read: read.unwrap_or(honest().read), ..honest() };
    let work = RegionHandover { handover: &handover, accessor };
    let session = session();
    match (TrialContext { work, processors: Some(processors().into()), session: &session })
        .run(&settings(300))
        .unwrap()
    {
        HandoverOutcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_byte_that_is_wrong_is_found_and_named() {
    let wrong: [(Write, usize); 2] = [(sensitivities, 100), (forgets, 0)];
    for (write, offset) in wrong {
        let failure = sabotaged(Some(write), None);
        assert_eq!(
            (failure.fault, failure.party, failure.phase),
            (Fault::Flipped, Some(Role::Responder.into()), Phase::Timed)
        );
        let place = format!("repetition 2: byte {}", (1 << 20) + offset);
        assert!(failure.detail.contains(&place), "{failure}");
    }
}

#[test]
fn a_role_that_dies_or_stops_is_named_with_its_cause() {
    use Role::{Initiator, Responder};
    type Case = (Option<Write>, Option<ReadFunction>, Role, Fault, &'static str);
    let cases: [Case; 7] = [
        (Some(writes_and::<{ libc::SIGKILL }>), None, Initiator, Fault::Killed, "SIGKILL"),
        (None, Some(reads_and::<{ libc::SIGKILL }>), Responder, Fault::Killed, "SIGKILL"),
        (None, Some(reads_and::<{ libc::SIGABRT }>), Responder, Fault::Killed, "SIGABRT"),
        (Some(writes_and::<{ libc::SIGSTOP }>), None, Initiator, Fault::Stopped, "state T"),
        (None, Some(reads_and::<{ libc::SIGSTOP }>), Responder, Fault::Stopped, "state T"),
        (Some(panics), None, Initiator, Fault::Exited, "101"),
        (None, Some(hangs), Responder, Fault::Silent, "alive"),
    ];
    for (write, read, role, fault, words) in cases {
        let failure = sabotaged(write, read);
        assert_eq!((failure.fault, failure.party, failure.phase), (fault, Some(role.into()), Phase::Timed));
        assert!(failure.detail.contains(words), "{failure}");
    }
}
