//! Inherited state, and features that a kernel lacks or a filter forbids: furlong measures anyway, or reports why it
//! cannot.

use crate::common::{FinishedCommand, Place, Snapshot, can_trace, is_root, look_for};
use furlong_testing::skip;
use std::time::Duration;

const QUICK: &str = "run pipe posix-shm/futex --trials 1 --budget 5ms --format json";
const A_WHILE: Duration = Duration::from_secs(30);

/// Fails unless both rows were measured.
#[track_caller]
fn expect_both(finished: FinishedCommand) -> FinishedCommand {
    let finished = finished.expect_code(0);
    assert_eq!(finished.summary().rows.len(), 2, "{finished:#?}");
    finished
}

#[test]
fn no_inherited_signal_or_mask_changes_anything() {
    let (before, place) = (Snapshot::take(), Place::new());
    for inherited in
        ["trap '' CHLD", "trap '' CHLD ALRM TERM USR1", "umask 000", "umask 777", "exec <&- 2>&-"]
    {
        let script = format!("{inherited}; exec \"$FURLONG\" {QUICK} --no-save");
        expect_both(place.finish(&mut place.shell(&script)));
    }
    before.expect_nothing_left(&place);
}

#[test]
fn a_saved_run_is_its_owners_to_read_and_nobodys_to_change() {
    use std::os::unix::fs::PermissionsExt;
    for (umask, mode) in [("000", 0o664), ("022", 0o644), ("777", 0o600)] {
        let place = Place::new();
        let script = format!("umask {umask}; exec \"$FURLONG\" {QUICK} --save run");
        place.finish(&mut place.shell(&script)).expect_code(0);
        let described = std::fs::metadata(place.saved("run")).unwrap();
        assert_eq!(described.permissions().mode() & 0o777, mode, "umask {umask}");
    }
}

#[test]
fn a_hang_up_that_its_user_wants_ignored_ends_nothing() {
    let place = Place::new();
    let script =
        "trap '' HUP INT; exec \"$FURLONG\" run pipe --trials 20 --budget 20ms --format json --save run";
    let running = place.start(&mut place.shell(script));
    look_for(A_WHILE, || (place.records("run", "trial") >= 2).then_some(())).expect("trials that end");
    running.signal(libc::SIGHUP);
    running.signal(libc::SIGINT);
    let finished = running.finish().expect_code(0);
    assert_eq!(finished.summary().rows[0].trials, 20);
}

#[test]
fn a_role_that_was_stopped_for_a_moment_is_measured_again() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments =
        ["run", "pipe", "--trials", "1", "--budget", "1s", "--warm-up", "1ms", "--format", "json"];
    let running = place.start(&mut place.furlong(arguments));
    let [initiator, _] = look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    // This is well inside the measured part, which is nearly the whole trial.
    std::thread::sleep(Duration::from_millis(300));
    for signal in [libc::SIGSTOP, libc::SIGCONT] {
        furlong_os::process::send_signal(initiator.pid, signal).expect("a role that lives");
        std::thread::sleep(Duration::from_millis(100));
    }
    let again =
        look_for(A_WHILE, || place.roles(running.pid()).filter(|[role, _]| role.pid != initiator.pid));
    assert!(again.is_some(), "a second trial");
    let finished = running.finish().expect_code(0);
    let rows = finished.summary().rows;
    assert_eq!((rows.len(), rows[0].trials), (1, 1));
    before.expect_nothing_left(&place);
}

/// Returns the result of furlong under a filter that answers these calls with `error`; `None` if strace cannot be
/// used.
fn filtered(place: &Place, calls: &str, error: &str, words: &str) -> Option<FinishedCommand> {
    let mut command = place.program("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:error={error}"), env!("CARGO_BIN_EXE_furlong")]);
    can_trace(place).then(|| place.finish(command.args(words.split(' '))))
}

#[test]
fn a_call_that_the_harness_lacks_does_not_cost_the_rows() {
    let (before, place) = (Snapshot::take(), Place::new());
    for (calls, error) in [("memfd_create", "EPERM"), ("fallocate", "ENOSYS"), ("sched_getaffinity", "EPERM")]
    {
        let Some(finished) = filtered(&place, calls, error, QUICK) else { skip!("needs strace") };
        let finished = expect_both(finished);
        let said = finished.stderr.contains("is backed by files in");
        assert_eq!(said, calls == "memfd_create", "{finished:#?}");
    }
    before.expect_nothing_left(&place);
}

#[test]
fn a_call_that_is_forbidden_is_told_from_one_that_there_is_not() {
    let place = Place::new();
    for (row, call) in [("memfd-shm", "memfd_create"), ("process-vm", "process_vm_readv")] {
        for (error, words) in [("EPERM", "is forbidden here (EPERM)"), ("ENOSYS", "the kernel lacks")] {
            let words_of_run = format!("run {row} --trials 1 --budget 5ms --no-save --format json");
            let Some(finished) = filtered(&place, call, error, &words_of_run) else { skip!("needs strace") };
            let finished = finished.expect_code(7);
            let reason = &finished.summary().skipped[0].reason;
            assert!(reason.contains(words) && reason.contains(call), "{error}: {reason}");
        }
    }
}

#[test]
fn a_filter_that_kills_costs_only_the_rows_that_need_the_call() {
    let (before, place) = (Snapshot::take(), Place::new());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/src/faults/list/killing.py");
    let calls = [libc::SYS_vmsplice, libc::SYS_perf_event_open].map(|number| number.to_string()).join(",");
    let killing = |words: &str| {
        let mut command = place.program("python3");
        command.args([script, &calls, env!("CARGO_BIN_EXE_furlong")]).args(words.split(' '));
        place.finish(&mut command).expect_code(0).expect_no_panic()
    };
    let finished = killing("run vmsplice pipe --trials 1 --budget 5ms --no-save --format json");
    let summary = finished.summary();
    assert_eq!(summary.rows.len(), 1, "{finished:#?}");
    let skipped = &summary.skipped[0];
    assert!(skipped.reason.contains("SIGSYS") && skipped.remedy.contains("seccomp profile"), "{skipped:?}");
    assert!(killing("list").stdout.contains("pipe"));
    let judged = killing("doctor").stdout;
    assert!(
        judged.contains("system calls are counted by ptrace") && judged.contains("seccomp filter"),
        "{judged}"
    );
    before.expect_nothing_left(&place);
}

#[test]
fn where_no_process_may_be_bound_it_says_what_would_help() {
    let place = Place::new();
    let words = "run pipe --trials 1 --budget 5ms --no-save --format json";
    let Some(finished) = filtered(&place, "sched_setaffinity", "EPERM", words) else { skip!("needs strace") };
    finished.expect_code(7).expect_complaint("sched_setaffinity").expect_complaint("--place free");
    let free = format!("{words} --place free");
    filtered(&place, "sched_setaffinity", "EPERM", &free).expect("strace").expect_code(0);
}

#[test]
fn no_processes_folder() {
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    let script = format!("umount -l /proc; exec \"$FURLONG\" {QUICK} --no-save");
    expect_both(place.finish(place.program("unshare").args(["--mount", "sh", "-c", &script])));
    before.expect_nothing_left(&place);
}

#[test]
fn a_folder_that_cannot_be_removed_is_said() {
    let place = Place::new();
    let Some(finished) = filtered(&place, "rmdir", "EIO", QUICK) else { skip!("needs strace") };
    let finished = finished.expect_code(1).expect_complaint("remove the run's directory ");
    let finished = finished.expect_complaint("remedy: furlong doctor --clean");
    assert_eq!(finished.summary().rows.len(), 2);
    place.age_leftovers();
    assert!(place.run(["doctor"]).expect_code(0).stdout.contains("left by a dead run: "));
    assert!(
        place.run(["doctor", "--clean"]).expect_code(0).stdout.contains("removed the remains of a dead run")
    );
}
