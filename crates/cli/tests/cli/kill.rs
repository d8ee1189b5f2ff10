//! Either role or the supervisor is killed or stopped at random times. furlong never hangs and leaves nothing. It
//! reports which process died of which signal and in which phase, and continues with the other rows.

use crate::common::{FinishedCommand, Place, Row, RunningCommand, Snapshot, Summary, Turn, look_for};
use fastrand::Rng;
use furlong_analysis::SkippedStatus;
use furlong_model::{Fault, Role};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of parallel runs. With more, they would mainly wait for each other.
const THREADS: usize = 3;
/// The seed of the rounds; `FURLONG_KILL_SEED` overrides it.
const SEED: u64 = 20_261_121;
const TRIALS: usize = 3;
/// The maximum time for each step. It is far more than needed, because the machine may be busy.
const WATCHDOG: Duration = Duration::from_secs(40);

const ROWS: [&str; 9] = [
    "pipe/block",
    "unix-stream/block",
    "posix-mq/block",
    "sysv-mq/block",
    "posix-shm/spin",
    "posix-shm/futex",
    "anon-shm/futex",
    "process-vm/futex",
    "fifo/poll",
];

/// The process that is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Role(Role),
    Supervisor,
}

/// The parameters of one round.
#[derive(Debug, Clone)]
struct Round {
    rows: [&'static str; 2],
    target: Target,
    signal: i32,
    moment: Duration,
    seed: u64,
}

impl Round {
    /// Returns the rounds of a seed: targets and signals alternate, so that each is frequent enough, and everything
    /// else is random.
    fn first(rounds: usize) -> Vec<Round> {
        let chosen = std::env::var("FURLONG_KILL_SEED").ok();
        let mut random = Rng::with_seed(chosen.map_or(SEED, |seed| seed.parse().expect("a number as seed")));
        let targets = [Target::Role(Role::Initiator), Target::Role(Role::Responder), Target::Supervisor];
        let round = |number: usize| {
            let first = random.usize(..ROWS.len());
            let second = (first + random.usize(1..ROWS.len())) % ROWS.len();
            Round {
                rows: [ROWS[first], ROWS[second]],
                target: targets[number % targets.len()],
                signal: if (number / targets.len()).is_multiple_of(2) {
                    libc::SIGKILL
                } else {
                    libc::SIGSTOP
                },
                moment: Duration::from_micros(random.u64(..400_000)),
                seed: random.u64(..),
            }
        };
        (0..rounds).map(round).collect()
    }
}

/// The result of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hit {
    /// A trial failed because of the signal.
    Role,
    /// The run ended because of the signal, and its last process exited after this number of milliseconds.
    Supervisor { gone_ms: u128 },
    /// The supervisor was stopped, and the run went on normally.
    Pause,
    /// The signal came after the run, or the role's part in it, had ended.
    TooLate,
}

#[test]
fn killed_and_stopped_at_random_nothing_hangs_and_nothing_is_left() {
    nothing_hangs_and_nothing_is_left(6);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn killed_and_stopped_at_random_more_often() {
        nothing_hangs_and_nothing_is_left(20);
    }
}

fn nothing_hangs_and_nothing_is_left(count: usize) {
    let turn = Turn::alone();
    let before = Snapshot::take();
    let rounds = Round::first(count);
    let (next, hits) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(round) = rounds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let hit = play(round, Place::in_turn(turn.clone()), &before);
                    println!("{round:?}: {hit:?}");
                    hits.lock().unwrap().push((round.clone(), hit));
                }
            });
        }
    });
    let hits = hits.into_inner().unwrap();
    assert_eq!(hits.len(), count);
    // A round that comes too late proves little, so there must be few.
    let late = hits.iter().filter(|(_, hit)| *hit == Hit::TooLate).count();
    assert!(late <= count / 3, "{late} rounds came too late: {hits:#?}");
    let slow = hits.iter().filter(|(_, hit)| matches!(hit, Hit::Supervisor { gone_ms } if *gone_ms > 1000));
    println!("{late} of {count} came too late, {} left processes for more than a second", slow.count());
}

fn play(round: &Round, place: Place, before: &Snapshot) -> Hit {
    let trials = TRIALS.to_string();
    let seed = round.seed.to_string();
    let arguments =
        ["run", round.rows[0], round.rows[1], "--trials", &trials, "--seed", &seed, "--save", "run"];
    let more = ["--budget", "50ms", "--timeout", "500ms", "--format", "json"];
    let mut running = place.start(&mut place.furlong(arguments.into_iter().chain(more)));
    // Trials begin after the first noise reading.
    look_for(WATCHDOG, || (running.has_ended() || place.records("run", "noise") > 0).then_some(()))
        .expect("a run that begins");
    std::thread::sleep(round.moment);
    let hit = match round.target {
        Target::Role(role) => hit_role(round, role, &place, running),
        Target::Supervisor if round.signal == libc::SIGKILL => kill_supervisor(round, &place, running),
        Target::Supervisor => pause_supervisor(round, running),
    };
    before.expect_nothing_left(&place);
    hit
}

fn hit_role(round: &Round, role: Role, place: &Place, mut running: RunningCommand<'_>) -> Hit {
    let supervisor = running.pid();
    let hit_one = || {
        let victim = &place.roles(supervisor)?[role.index()];
        furlong_os::process::send_signal(victim.pid, round.signal).ok()
    };
    let was_there = look_for(WATCHDOG, || hit_one().map(|()| true).or(running.has_ended().then_some(false)));
    let finished = running.finish_within(WATCHDOG);
    let summary = finished.summary();
    if finished.code == Some(0) {
        expect_whole(round, &finished, &summary);
        return Hit::TooLate;
    }
    assert_eq!(was_there, Some(true), "{round:?} {finished:#?}");
    let finished = finished.expect_code(1);

    assert_eq!(summary.skipped.len(), 1, "{round:?} {:#?}", summary.skipped);
    let failed = &summary.skipped[0];
    let (fault, words) = match round.signal {
        libc::SIGKILL => (Fault::Killed, "killed by SIGKILL"),
        _ => (Fault::Stopped, "stopped by a signal (state T)"),
    };
    assert_eq!((failed.status, failed.fault), (SkippedStatus::Failed, Some(fault)), "{round:?} {failed:?}");
    assert!(failed.reason.starts_with(&format!("{role} in phase ")), "{round:?} {failed:?}");
    assert!(failed.reason.contains(words), "{round:?} {failed:?}");
    assert!(round.rows.contains(&failed.case.row().as_str()), "{round:?} {failed:?}");

    // The other row is not affected.
    let other = summary.rows.iter().find(|row| row.case.row() != failed.case.row());
    let other = other.unwrap_or_else(|| panic!("{round:?}: the other row is missing in {finished:#?}"));
    assert!(other.verified && other.trials == TRIALS && other.failed_trials == 0, "{round:?} {other:?}");
    Hit::Role
}

fn kill_supervisor(round: &Round, place: &Place, mut running: RunningCommand<'_>) -> Hit {
    if running.has_ended() {
        running.finish().expect_code(0);
        return Hit::TooLate;
    }
    let start = Instant::now();
    running.signal(libc::SIGKILL);
    let finished = running.finish_within(WATCHDOG);
    if finished.code == Some(0) {
        return Hit::TooLate;
    }
    assert_eq!(finished.signal, Some(libc::SIGKILL), "{round:?} {finished:#?}");
    let gone = look_for(WATCHDOG, || place.processes().is_empty().then_some(()));
    assert!(gone.is_some(), "{round:?} left {:#?}", place.processes());
    let gone_ms = start.elapsed().as_millis();
    // Earlier measurements are kept.
    let saved = furlong_analysis::Run::read(place.saved("run")).unwrap();
    assert!(saved.is_partial() && saved.trials.len() <= 2 * TRIALS, "{round:?} {saved:?}");
    Hit::Supervisor { gone_ms }
}

fn pause_supervisor(round: &Round, mut running: RunningCommand<'_>) -> Hit {
    let late = running.has_ended();
    if !late {
        running.signal(libc::SIGSTOP);
        // The pause is longer than the timeout of the run, which concerns only roles.
        std::thread::sleep(Duration::from_millis(700));
        running.signal(libc::SIGCONT);
    }
    let finished = running.finish_within(WATCHDOG);
    expect_whole(round, &finished, &finished.summary());
    if late { Hit::TooLate } else { Hit::Pause }
}

/// Fails unless both rows were measured in all trials.
fn expect_whole(round: &Round, finished: &FinishedCommand, summary: &Summary) {
    assert_eq!(finished.code, Some(0), "{round:?} {finished:#?}");
    let whole = |row: &Row| row.trials == TRIALS && row.failed_trials == 0 && row.verified;
    assert!(summary.rows.len() == 2 && summary.rows.iter().all(whole), "{round:?} {finished:#?}");
    assert!(summary.skipped.is_empty() && !summary.partial, "{round:?} {finished:#?}");
}
