//! `furlong doctor` finds and, with `--clean`, removes leftovers that even the cleanup process could not remove, and
//! nothing else.

use crate::common::{Place, RunningCommand, look_for};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Starts a run that creates names and would take minutes, and waits for its first trial.
fn long_run(place: &Place) -> RunningCommand<'_> {
    let arguments = ["run", "unix-stream", "fifo", "--trials", "1000", "--save", "run"];
    let running = place.start(&mut place.furlong(arguments));
    look_for(A_WHILE, || (place.records("run", "trial") >= 1).then_some(())).expect("a trial that ends");
    running
}

/// Returns the directories of runs.
fn folders(place: &Place) -> Vec<PathBuf> {
    fs::read_dir(place.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Kills a run and its cleanup process.
fn kill_with_janitor(place: &Place, running: RunningCommand<'_>) {
    let janitor = place.janitor(running.pid()).expect("a janitor");
    furlong_os::process::send_signal(janitor.pid, libc::SIGKILL).expect("a janitor that lives");
    running.signal(libc::SIGKILL);
    assert_eq!(running.finish().signal, Some(libc::SIGKILL));
    look_for(A_WHILE, || place.processes().is_empty().then_some(())).expect("roles that die with their run");
}

#[test]
fn what_a_dead_run_has_left_is_found_and_removed() {
    let place = Place::new();
    let clean = "nothing is left of dead runs";
    assert!(place.run(["doctor"]).expect_code(0).stdout.contains(clean));

    kill_with_janitor(&place, long_run(&place));
    let left = folders(&place);
    assert_eq!(left.len(), 1, "{left:?}");
    let name = left[0].to_str().unwrap();

    // `doctor` without `--clean` changes nothing.
    for _ in 0..2 {
        let looked = place.run(["doctor"]).expect_code(0).stdout;
        assert!(looked.contains(&format!("left by a dead run: {name}")), "{looked}");
        assert!(looked.contains("remedy: furlong doctor --clean"), "{looked}");
    }
    place.run(["doctor", "--strict"]).expect_code(5);
    assert_eq!(folders(&place), left);

    let cleaned = place.run(["doctor", "--clean"]).expect_code(0).stdout;
    assert!(cleaned.contains(&format!("removed the remains of a dead run: {name}")), "{cleaned}");
    assert!(folders(&place).is_empty());
    let again = place.run(["doctor", "--clean"]).expect_code(0).stdout;
    assert!(again.contains(clean) && !again.contains("removed"), "{again}");
    // The saved run is kept.
    assert!(place.records("run", "trial") >= 1);
}

#[test]
fn a_live_run_is_not_touched() {
    let place = Place::new();
    let running = long_run(&place);
    let live = folders(&place);
    let cleaned = place.run(["doctor", "--clean"]).expect_code(0).stdout;
    assert!(cleaned.contains("nothing is left of dead runs"), "{cleaned}");
    assert_eq!((live.len(), &folders(&place)), (1, &live));
    // The run continues with both rows, whose names are in that directory.
    let done = place.records("run", "trial");
    look_for(A_WHILE, || (place.records("run", "trial") >= done + 4).then_some(())).expect("trials that end");
    running.signal(libc::SIGINT);
    running.finish().expect_code(130);
    let saved = furlong_analysis::Run::read(place.saved("run")).unwrap();
    let failed =
        saved.trials.iter().find(|trial| !matches!(trial.outcome, furlong_model::Outcome::Measured(_)));
    assert_eq!(failed, None);
}

#[test]
fn what_is_not_furlongs_is_not_touched() {
    let place = Place::new();
    let foreign = ["furlong-notes", "furlong-0123456789abcde", "other-0123456789abcdef"];
    for name in foreign {
        fs::create_dir(place.path("tmp").join(name)).unwrap();
    }
    // A file or a link with such a name is not a run's directory either.
    fs::write(place.path("tmp").join("furlong-0123456789abcdef"), "mine").unwrap();
    fs::create_dir(place.path("target")).unwrap();
    fs::write(place.path("target/journal"), "{}").unwrap();
    std::os::unix::fs::symlink(place.path("target"), place.path("tmp/furlong-00000000000000ff")).unwrap();
    // In a dead run's directory, files that the run did not create stay, and are reported.
    let run = place.path("tmp/furlong-00000000000000aa");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("journal"), "").unwrap();
    fs::write(run.join("precious"), "mine").unwrap();

    let before = folders(&place).len();
    let cleaned = place.run(["doctor", "--clean"]).expect_code(1).stdout;
    assert!(cleaned.contains(&format!("cannot remove {}", run.display())), "{cleaned}");
    assert_eq!(folders(&place).len(), before);
    assert_eq!(fs::read_to_string(run.join("precious")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(place.path("target/journal")).unwrap(), "{}");
}

#[test]
fn a_killed_run_gives_its_name_back_to_the_next() {
    let place = Place::new();
    kill_with_janitor(&place, long_run(&place));
    // Leftovers of the dead run do not disturb the next run, which leaves them to `doctor`.
    let left = folders(&place);
    place.run(["run", "unix-stream", "fifo", "--trials", "1", "--budget", "5ms"]).expect_code(0);
    assert_eq!(folders(&place), left);
}
