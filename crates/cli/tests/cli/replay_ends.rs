//! The end of a replay of bulk transfers: completed measurements are reported, and nothing is left.

use crate::common::experiment::{handovers, row};
use crate::common::{FinishedCommand, Place, Snapshot, is_root, look_for};
use furlong_analysis::{ReplayStatus, Run};
use furlong_testing::skip;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Backings that a killed run could leave behind; a block device comes first.
const MAKERS: [&str; 4] = ["ram-disk", "loop", "tmpfs", "huge-pages"];

/// Replays an experiment with a directory `files`, on which a line of shell mounts a file system in a private mount
/// namespace.
fn in_own_mounts(place: &Place, experiment: &str, mounts: &str) -> FinishedCommand {
    place.write_experiment(experiment);
    let line = format!(
        "{mounts} && \"$FURLONG\" replay ./mine.toml --format json --no-save --file-folder \"$PWD/files\"
        code=$?; umount files 2>/dev/null; exit $code"
    );
    place.finish(place.program("unshare").args(["--mount", "sh", "-c", &line]))
}

#[test]
fn an_interrupted_handover_is_partial_and_leaves_nothing() {
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let (before, place) = (Snapshot::take(), Place::new());
        let experiment = handovers(&["memfd", "tmpfs", "ram-disk", "loop"], "4MiB", 2, 1000);
        let running = place.start(&mut place.replaying(&experiment, &[]));
        look_for(A_WHILE, || (place.records_of_all("handover") >= 8).then_some(())).expect("trials that end");
        running.signal(signal);
        let finished = running.finish().expect_code(code).expect_complaint("saved: ");
        before.expect_nothing_left(&place);
        let replay = finished.replay();
        assert!(replay.run.partial, "{replay:#?}");
        let memfd = row(&replay, "memfd");
        assert!(memfd.status == ReplayStatus::Measured && memfd.trials > 0, "{memfd:#?}");
        let [saved] = place.all_saved().try_into().expect("one run");
        let saved = Run::read(saved).unwrap();
        assert_eq!(saved.end.as_ref().and_then(|end| end.interrupted_by), Some(signal));
        assert_eq!(furlong_analysis::replay(&furlong_analysis::DecodedRun::of(&saved)), Some(replay));
    }
}

/// The time at which a replay is killed. It counts from the first noise reading, after which objects are created.
#[derive(Debug, Clone, Copy)]
enum KillTime {
    /// That number of milliseconds later.
    After(u64),
    /// As soon as a trial is recorded.
    HandedOver,
}

/// Kills a replay. Returns the number of trials that it had finished.
fn kill_when(experiment: &str, when: KillTime, place: &Place) -> usize {
    let done = ["noise", "handover"].map(|kind| place.records_of_all(kind));
    let seed = match when {
        KillTime::After(milliseconds) => milliseconds,
        KillTime::HandedOver => 1,
    };
    let running = place.start(&mut place.replaying(experiment, &["--seed", &seed.to_string()]));
    let begun = look_for(A_WHILE, || (place.records_of_all("noise") > done[0]).then_some(()));
    assert!(begun.is_some(), "{:#?} {:#?}", place.processes(), running.finish());
    match when {
        KillTime::After(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
        KillTime::HandedOver => {
            let handed_over = || (place.records_of_all("handover") > done[1]).then_some(());
            look_for(A_WHILE, handed_over).expect("a handover");
        }
    }
    running.signal(libc::SIGKILL);
    let finished = running.finish();
    assert_eq!(finished.signal, Some(libc::SIGKILL), "{finished:#?}");
    place.records_of_all("handover") - done[1]
}

#[test]
fn a_killed_replay_leaves_nothing() {
    // An unprivileged user creates fewer objects, but none may be left either. The kills come while an object is
    // created, used and removed.
    let each = MAKERS.map(|name| (handovers(&[name], "16MiB", 2, 100), [0, 8, 40].map(KillTime::After)));
    let all = (handovers(&MAKERS, "16MiB", 2, 100), [150, 350].map(KillTime::After));
    let (before, place) = (Snapshot::take(), Place::new());
    let each = each.iter().map(|(experiment, moments)| (experiment, &moments[..]));
    for (experiment, moments) in each.chain([(&all.0, &all.1[..]), (&all.0, &[KillTime::HandedOver])]) {
        for &when in moments {
            let trials = kill_when(experiment, when, &place);
            let took = before.expect_nothing_left(&place);
            println!("killed {when:?}, after {trials} trials: gone {} ms later", took.as_millis());
        }
    }
}

#[test]
fn what_is_left_of_a_replay_that_is_killed_with_its_janitor_can_be_cleaned_up() {
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    let running = place.start(&mut place.replaying(&handovers(&["ram-disk"], "64MiB", 100, 1), &[]));
    let Some(_) = look_for(Duration::from_secs(5), || place.roles(running.pid())) else {
        skip!("needs zram: {}", running.finish().stdout);
    };
    let janitor = place.janitor(running.pid()).expect("a janitor");
    furlong_os::process::send_signal(janitor.pid, libc::SIGKILL).expect("a janitor that lives");
    running.signal(libc::SIGKILL);
    running.finish();
    look_for(A_WHILE, || place.processes().is_empty().then_some(())).expect("roles that die with their run");
    let left = before.left(&place);
    assert!(left.iter().any(|thing| thing.starts_with("device zram")), "{left:#?}");
    let cleaned = place.run(["doctor", "--clean"]).expect_code(0).stdout;
    assert!(cleaned.contains("removed the remains of a dead run: "), "{cleaned}");
    before.expect_nothing_left(&place);
}

#[test]
fn a_tmpfs_that_is_full_is_told_with_sizes() {
    // An ordinary user cannot mount a tmpfs, so the machine's own one would have to be filled.
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    place.write_experiment(&handovers(&["tmpfs", "memfd"], "4MiB", 2, 2));
    let nobody = place.furlong_as_nobody([]);
    let words: Vec<_> = nobody.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = format!(
        "mount -t tmpfs -o size=1m,mode=1777 none /dev/shm && exec setpriv {} replay ./mine.toml --format json \
         --no-save",
        words.join(" ")
    );
    let finished = place.finish(place.program("unshare").args(["--mount", "sh", "-c", &line])).expect_code(0);
    before.expect_nothing_left(&place);
    let replay = finished.replay();
    assert!(row(&replay, "memfd").verified, "{replay:#?}");
    let full = row(&replay, "tmpfs");
    assert_eq!(full.status, ReplayStatus::Unavailable, "{full:#?}");
    for words in ["/dev/shm", "4194304 bytes are needed", "1048576 are free"] {
        assert!(full.reason.as_ref().is_some_and(|reason| reason.contains(words)), "{words}: {full:#?}");
    }
    assert!(!finished.stdout.contains("SIGBUS"), "{finished:#?}");
}

#[test]
fn a_disk_that_is_full_is_told_with_sizes() {
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    let disk = "mkdir files && truncate -s 8M disk && mkfs.ext4 -q -F disk && mount -o loop disk files";
    let experiment = handovers(&["disk", "memfd"], "32MiB", 1, 1);
    let finished = in_own_mounts(&place, &experiment, disk);
    if finished.stderr.contains("mount: ") || finished.stderr.contains("mkfs") {
        skip!("needs loop devices with ext4: {}", finished.stderr);
    }
    let finished = finished.expect_code(0);
    before.expect_nothing_left(&place);
    let replay = finished.replay();
    assert!(row(&replay, "memfd").verified, "{replay:#?}");
    let full = row(&replay, "disk");
    assert_eq!(full.status, ReplayStatus::Unavailable, "{full:#?}");
    for words in ["files", "33554432 bytes are needed", " are free"] {
        assert!(full.reason.as_ref().is_some_and(|reason| reason.contains(words)), "{words}: {full:#?}");
    }
    assert!(!finished.stdout.contains("SIGBUS"), "{finished:#?}");
}

#[test]
fn a_role_that_is_killed_or_stopped_fails_its_row_alone() {
    for (index, signal, words) in
        [(0, libc::SIGKILL, "killed by SIGKILL"), (1, libc::SIGSTOP, "stopped by a signal")]
    {
        let (before, place) = (Snapshot::take(), Place::new());
        // Any of the rows may be hit, because no other row takes this long in a trial.
        let experiment = handovers(&["memfd", "tmpfs", "disk"], "6MiB", 3, 1);
        let running = place.start(&mut place.replaying(&experiment, &["--timeout", "500ms"]));
        let victim = look_for(A_WHILE, || place.roles(running.pid())).expect("roles")[index].clone();
        std::thread::sleep(Duration::from_millis(20));
        furlong_os::process::send_signal(victim.pid, signal).expect("a role that lives");
        let finished = running.finish().expect_code(1);
        before.expect_nothing_left(&place);
        let replay = finished.replay();
        let (failed, sound): (Vec<_>, Vec<_>) =
            replay.rows.iter().partition(|row| row.status == ReplayStatus::Failed);
        assert_eq!((failed.len(), sound.len()), (1, 2), "{replay:#?}");
        let reason = failed[0].reason.as_deref().unwrap_or_default();
        let role = ["initiator", "responder"][index];
        assert!(reason.starts_with(&format!("{role} in phase ")), "{reason}");
        assert!(reason.contains(words), "{reason}");
        assert!(sound.iter().all(|row| row.verified && row.trials == 1), "{sound:#?}");
    }
}
