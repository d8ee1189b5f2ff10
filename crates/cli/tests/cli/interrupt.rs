//! Interrupted runs: all measurements are kept, and nothing is left.

use crate::common::{Place, RunningCommand, Snapshot, look_for};
use furlong_analysis::Run;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Starts a run of two rows that would take minutes, saved as `run`.
fn long_run(place: &Place) -> RunningCommand<'_> {
    let arguments = ["run", "pipe", "posix-shm/futex", "--trials", "1000", "--budget", "20ms"];
    place.start(&mut place.furlong(arguments.into_iter().chain(["--format", "json", "--save", "run"])))
}

#[test]
fn every_ending_signal_keeps_what_was_measured() {
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGHUP, 129)] {
        let (before, place) = (Snapshot::take(), Place::new());
        let running = long_run(&place);
        look_for(A_WHILE, || (place.records("run", "trial") >= 5).then_some(())).expect("trials that end");
        running.signal(signal);
        let finished = running.finish().expect_code(code).expect_complaint("saved: ");
        before.expect_nothing_left(&place);

        assert_eq!(finished.json()["partial"], true, "{finished:?}");
        let saved = Run::read(place.saved("run")).unwrap();
        assert!(saved.is_partial() && !saved.torn && saved.trials.len() >= 5, "{:?}", saved.end);
        assert_eq!(saved.end.and_then(|end| end.interrupted_by), Some(signal));
        // The trial that was cut off is not reported, because it did not fail.
        let summary = finished.summary();
        let judged = furlong_analysis::DecodedRun::of(&saved).summary;
        assert_eq!(furlong_render::json(&judged), finished.stdout);
        assert!(summary.skipped.is_empty(), "{summary:?}");
        assert_eq!(summary.rows.iter().map(|row| row.trials).sum::<usize>(), saved.trials.len());
    }
}

#[test]
fn an_interrupt_before_the_first_trial_has_ended_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments =
        ["run", "pipe", "--budget", "50s", "--timeout", "50s", "--save", "run", "--format", "json"];
    let running = place.start(&mut place.furlong(arguments));
    look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    running.signal(libc::SIGINT);
    let finished = running.finish_within(A_WHILE).expect_code(130);
    before.expect_nothing_left(&place);
    let summary = finished.summary();
    assert!(summary.partial && summary.rows.is_empty() && summary.skipped.is_empty(), "{summary:?}");
}

#[test]
fn an_interrupt_does_not_wait_for_a_stopped_role() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments = ["run", "pipe", "--budget", "50s", "--timeout", "50min", "--no-save", "--format", "json"];
    let running = place.start(&mut place.furlong(arguments));
    let [initiator, _] = look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    furlong_os::process::send_signal(initiator.pid, libc::SIGSTOP).expect("a role that lives");
    running.signal(libc::SIGTERM);
    let finished = running.finish_within(A_WHILE).expect_code(143);
    before.expect_nothing_left(&place);
    assert!(finished.summary().partial);
}

#[test]
fn the_whole_group_may_be_interrupted_as_by_a_terminal() {
    use std::os::unix::process::CommandExt;
    for signal in [libc::SIGINT, libc::SIGTSTP] {
        let (before, place) = (Snapshot::take(), Place::new());
        let arguments = ["run", "pipe", "--trials", "1000", "--save", "run", "--format", "json"];
        let running = place.start(place.furlong(arguments).process_group(0));
        look_for(A_WHILE, || (place.records("run", "trial") >= 2).then_some(())).expect("trials that end");
        let group = -running.pid();
        furlong_os::process::send_signal(group, signal).expect("a group of ours");
        if signal == libc::SIGTSTP {
            // After a suspension, the run continues normally until the interrupt.
            std::thread::sleep(Duration::from_millis(100));
            furlong_os::process::send_signal(group, libc::SIGCONT).expect("a group of ours");
            let done = place.records("run", "trial");
            look_for(A_WHILE, || (place.records("run", "trial") > done + 1).then_some(()))
                .expect("trials that end");
            running.signal(libc::SIGINT);
        }
        let finished = running.finish().expect_code(130);
        before.expect_nothing_left(&place);
        assert!(finished.summary().skipped.is_empty(), "{finished:#?}");
    }
}
