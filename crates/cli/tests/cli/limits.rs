//! Missing, full or limited resources: the rows that need them report that, and the others run.

use crate::common::{FinishedCommand, Place, SkippedRow, Snapshot, can_trace, is_root, look_for};
use furlong_analysis::SkippedStatus;
use furlong_testing::skip;
use std::fs;
use std::time::Duration;

const QUICK: [&str; 5] = ["--trials", "1", "--budget", "5ms", "--format=json"];

fn words<'a>(rows: &[&'a str]) -> Vec<&'a str> {
    ["run"].into_iter().chain(rows.iter().copied()).chain(QUICK).collect()
}

/// Fails unless all of `rows` were measured.
#[track_caller]
fn expect_measured(finished: &FinishedCommand, rows: &[&str]) {
    let summary = finished.summary();
    for row in rows {
        let found = summary.rows.iter().find(|found| found.case.row() == *row);
        assert!(found.is_some_and(|found| found.verified), "{row} in {finished:#?}");
    }
}

/// Returns the entry of a row that was not measured.
#[track_caller]
fn skipped(finished: &FinishedCommand, row: &str) -> SkippedRow {
    let summary = finished.summary();
    let found = summary.skipped.iter().find(|found| found.case.row() == row);
    found.unwrap_or_else(|| panic!("{row} in {finished:#?}")).clone()
}

#[test]
fn few_descriptors() {
    let before = Snapshot::take();
    let place = Place::new();
    let mut measured = 0;
    for limit in [3, 4, 5, 6, 7, 9, 12, 16, 20, 28, 40] {
        let mut command = place.program("prlimit");
        command.arg(format!("--nofile={limit}:{limit}")).arg(env!("CARGO_BIN_EXE_furlong"));
        let finished = place.finish(command.args(words(&["pipe", "unix-stream", "posix-shm"])));
        let finished = finished.expect_no_panic();
        before.expect_nothing_left(&place);
        let said = format!("{}{}", finished.stdout, finished.stderr);
        match finished.code {
            Some(0) => {
                expect_measured(&finished, &["pipe/block", "unix-stream/block", "posix-shm/futex"]);
                measured += 1;
            }
            Some(1) => assert!(said.contains("Too many open files"), "{limit}: {finished:#?}"),
            // With this limit, the program cannot even be loaded.
            Some(127) => assert!(said.contains("error while loading shared libraries"), "{finished:#?}"),
            _ => panic!("{limit}: {finished:#?}"),
        }
    }
    assert!(measured > 0, "40 descriptors are enough");
}

/// Returns furlong without pidfds, as on older kernels and behind some filters.
fn without_pidfd(place: &Place, arguments: &[&str]) -> std::process::Command {
    let mut command = place.program("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=pidfd_open"]);
    command.args(["-e", "inject=pidfd_open:error=ENOSYS", env!("CARGO_BIN_EXE_furlong")]).args(arguments);
    command
}

#[test]
fn no_pidfd() {
    let before = Snapshot::take();
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    let rows = ["pipe", "unix-stream", "posix-shm", "anon-shm"];
    let finished = place.finish(&mut without_pidfd(&place, &words(&rows))).expect_code(0);
    expect_measured(&finished, &["pipe/block", "unix-stream/block", "posix-shm/futex", "anon-shm/futex"]);
    before.expect_nothing_left(&place);
}

#[test]
fn a_role_that_is_killed_where_there_is_no_pidfd() {
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    let rows = ["run", "pipe", "unix-stream", "--trials", "1", "--budget", "1s", "--format=json"];
    let mut running = place.start(&mut without_pidfd(&place, &rows));
    let roles = look_for(Duration::from_secs(30), || {
        let supervisor = place.processes().into_iter().find(|process| process.parent == running.pid())?;
        place.roles(supervisor.pid)
    });
    let [initiator, _] = roles.expect("roles");
    furlong_os::process::send_signal(initiator.pid, libc::SIGKILL).expect("a role that lives");
    assert!(!running.has_ended());
    let finished = running.finish().expect_code(1);
    let summary = finished.summary();
    assert_eq!((summary.rows.len(), summary.skipped.len()), (1, 1), "{finished:#?}");
    let reason = &summary.skipped[0].reason;
    assert!(reason.starts_with("initiator in phase ") && reason.contains("killed by SIGKILL"), "{reason}");
}

#[test]
fn memory_that_is_full() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let line = "mount -t tmpfs -o size=64k none /dev/shm && exec \"$FURLONG\" run \
        posix-shm memfd-shm pipe -s 1 -s 1MiB --trials 2 --budget 5ms --format json";
    let finished = place.finish(place.program("unshare").args(["--mount", "sh", "-c", line])).expect_code(1);
    expect_measured(&finished, &["posix-shm/futex", "memfd-shm/futex", "pipe/block"]);
    let failed = skipped(&finished, "posix-shm/futex");
    assert_eq!(failed.case.size_bytes, 1 << 20);
    for words in ["/dev/shm", "bytes are needed, 65536 are free", "No space left on device"] {
        assert!(failed.reason.contains(words), "{failed:?}");
    }
    assert!(!finished.stdout.contains("SIGBUS"), "{finished:#?}");
    assert_eq!(finished.summary().rows.len(), 5);
}

#[test]
fn a_loopback_that_is_down() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let line = format!("exec \"$FURLONG\" {}", words(&["tcp", "udp", "pipe"]).join(" "));
    let finished = place.finish(place.program("unshare").args(["--net", "sh", "-c", &line])).expect_code(0);
    expect_measured(&finished, &["pipe/block"]);
    for row in ["tcp/block", "udp/block"] {
        let unavailable = skipped(&finished, row);
        assert_eq!(unavailable.status, SkippedStatus::Unavailable);
        assert!(unavailable.reason.contains("the loopback interface is down"), "{unavailable:?}");
        assert!(unavailable.remedy.contains("ip link set lo up"), "{unavailable:?}");
    }
}

#[test]
fn no_home() {
    let place = Place::new();
    let mut command = place.furlong(words(&["pipe"]));
    let finished = place.finish(command.env_remove("HOME").env_remove("XDG_DATA_HOME")).expect_code(0);
    expect_measured(&finished, &["pipe/block"]);
    assert_eq!(finished.stderr, "", "there is nowhere to save to");
    // With `--save`, the missing directory is reported before anything is measured.
    let mut command = place.furlong(words(&["pipe", "--save", "x"]));
    let finished = place.finish(command.env_remove("HOME").env_remove("XDG_DATA_HOME")).expect_code(2);
    let finished = finished.expect_complaint("set XDG_DATA_HOME or HOME");
    assert_eq!(finished.stdout, "");
    // A relative directory would differ between working directories.
    let mut command = place.furlong(words(&["pipe"]));
    let finished = place.finish(command.env("HOME", "home").env("XDG_DATA_HOME", "data")).expect_code(0);
    assert_eq!(finished.stderr, "");
    // An unwritable home does not prevent a measurement, but furlong reports that the run is not saved.
    let mut command = place.furlong(words(&["pipe"]));
    let finished = place.finish(command.env_remove("XDG_DATA_HOME").env("HOME", "/proc/nobody"));
    let finished =
        finished.expect_code(1).expect_complaint("the run is not saved: cannot create /proc/nobody");
    expect_measured(&finished, &["pipe/block"]);
}

#[test]
fn a_home_is_where_runs_are_kept() {
    let place = Place::new();
    let mut command = place.furlong(words(&["pipe", "--save", "x"]));
    place.finish(command.env_remove("XDG_DATA_HOME")).expect_code(0);
    assert!(place.path("home/.local/share/furlong/runs/x.jsonl").is_file());
}

#[test]
fn temporary_folder_that_cannot_be_used_costs_only_the_rows_that_need_it() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    std::os::unix::fs::symlink("loop", place.path("loop")).unwrap();
    let long = format!("/{}", "x".repeat(4096));
    let odd = [
        place.path("missing"),
        place.path("file"),
        place.path("loop"),
        "/dev/null".into(),
        "/proc".into(),
        long.into(),
    ];
    for folder in odd {
        let before = Snapshot::take();
        let rows = words(&["pipe", "posix-shm", "unix-stream", "fifo", "file-shm"]);
        let finished = place.finish(place.furlong(rows).env("TMPDIR", &folder)).expect_code(0);
        expect_measured(&finished, &["pipe/block", "posix-shm/futex"]);
        for row in ["unix-stream/block", "fifo/block", "file-shm/futex"] {
            let refused = skipped(&finished, row);
            assert_eq!(refused.status, SkippedStatus::Refused);
            assert!(refused.reason.contains("needs the directory for temporary files"), "{refused:?}");
            assert!(refused.remedy.contains("set TMPDIR"), "{refused:?}");
        }
        before.expect_nothing_left(&place);
        // With --file-folder, file-backed rows are measured.
        let mut chosen = place.furlong(words(&["file-shm"]));
        chosen.env("TMPDIR", &folder).arg("--file-folder").arg(place.path("out"));
        expect_measured(&place.finish(&mut chosen).expect_code(0), &["file-shm/futex"]);
        // doctor reports the same fault.
        let judged =
            place.finish(place.furlong(["doctor", "--strict"]).env("TMPDIR", &folder)).expect_code(5);
        for said in ["BAD   ", "TMPDIR", "remedy: set TMPDIR to a directory", "clock source"] {
            assert!(judged.stdout.contains(said), "no '{said}' in {judged:#?}");
        }
    }
    assert!(!place.path("missing").exists());
}

#[test]
fn no_null_device() {
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    for (words, code) in [(words(&["pipe", "memfd-shm", "posix-shm"]).join(" "), 0), ("doctor".to_owned(), 0)]
    {
        let line = format!("mount -t tmpfs none /dev && exec \"$FURLONG\" {words} 2> error");
        let finished = place.finish(place.program("unshare").args(["--mount", "sh", "-c", &line]));
        let finished = finished.expect_code(code).expect_no_panic();
        if words.starts_with("run") {
            expect_measured(&finished, &["pipe/block", "memfd-shm/futex"]);
        }
    }
    before.expect_nothing_left(&place);
}

#[test]
fn a_temporary_folder_too_deep_for_sockets() {
    let before = Snapshot::take();
    let place = Place::new();
    let folder = place.path("tmp").join("deep".repeat(30));
    fs::create_dir(&folder).unwrap();
    let rows = ["unix-*", "socketpair", "fifo", "posix-shm"];
    let finished = place.finish(place.furlong(words(&rows)).env("TMPDIR", &folder)).expect_code(1);
    expect_measured(&finished, &["socketpair/block", "fifo/block", "posix-shm/futex"]);
    for row in ["unix-stream/block", "unix-seqpacket/block", "unix-dgram/block"] {
        let failed = skipped(&finished, row);
        assert_eq!(failed.status, SkippedStatus::Failed);
        assert!(failed.reason.contains("UNIX socket in "), "{failed:?}");
    }
    fs::remove_dir(&folder).expect("an empty folder");
    before.expect_nothing_left(&place);
}

#[test]
fn a_disk_that_is_full_when_the_run_is_saved() {
    if !is_root() {
        skip!("needs root");
    }
    for name in ["", "--save x"] {
        let place = Place::new();
        let line = format!(
            "mount -t tmpfs -o size=4k none data && \"$FURLONG\" run pipe --trials 5 --budget 5ms --format json {name}
            code=$?; cp -r data kept; exit $code"
        );
        let finished = place.finish(place.program("unshare").args(["--mount", "sh", "-c", &line]));
        // The result is printed, and so is the error.
        let finished = finished.expect_code(1).expect_complaint("the run is not complete in ");
        let finished = finished.expect_complaint("No space left on device");
        expect_measured(&finished, &["pipe/block"]);
        assert_eq!(finished.summary().rows[0].trials, 5);
        assert!(!finished.stderr.contains("saved: "), "{finished:#?}");
        // The saved part is readable and marked as partial.
        let kept = fs::read_dir(place.path("kept/furlong/runs")).unwrap().next().unwrap().unwrap().path();
        let kept = furlong_analysis::Run::read(kept).unwrap();
        assert!(kept.is_partial() && kept.trials.len() < 5, "{kept:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let place = Place::new();
    // Root may write anywhere but in /proc.
    let finished = place.run(words(&["file-shm", "pipe", "--file-folder", "/proc"])).expect_code(1);
    expect_measured(&finished, &["pipe/block"]);
    assert!(skipped(&finished, "file-shm/futex").reason.contains("create /proc/"), "{finished:#?}");
}

#[test]
fn where_nothing_can_be_measured_it_says_why_and_what_would_help() {
    let place = Place::new();
    for words in [
        "run pipe tcp --place 0:999",
        "run pipe --place 0:999 --format csv",
        "count pipe --place 0:999",
        "explain pipe --place 0:999 --trials 1 --budget 2ms",
        "replay racehorse --place 0:999 --no-save",
        "recommend --size 128 --place 0:999 --no-save",
    ] {
        let finished = place.run(words.split(' ')).expect_code(7).expect_no_panic();
        let said = format!("{}{}", finished.stdout, finished.stderr);
        for part in ["CPU 999 does not exist or is not allowed", "choose from these CPUs: 0"] {
            let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(part), "{words}: no '{part}' in {finished:#?}");
        }
    }
    // A part of the rows is enough, unless `--require` is given.
    let some = "run pipe udp -s 100KiB --trials 1 --budget 2ms --no-save";
    place.run(some.split(' ')).expect_code(0);
    place.run(some.split(' ').chain(["--require"])).expect_code(7);
}
