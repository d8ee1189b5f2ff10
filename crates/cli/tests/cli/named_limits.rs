//! The error of an exceeded kernel limit names the limit, its value and a remedy. A small stack stops no verb.

use crate::common::{FinishedCommand, Place, Snapshot, can_trace, is_root};
use furlong_testing::skip;

const ONE: &str = "--trials 1 --budget 2ms --no-save --no-progress --format json";

/// Fails unless the reason of a benchmark that was not measured contains all of these texts.
#[track_caller]
fn expect_named(finished: &FinishedCommand, row: &str, words: &[&str]) {
    let skipped = finished.summary().skipped;
    let found = skipped.iter().find(|skipped| skipped.case.row() == row);
    let found = found.unwrap_or_else(|| panic!("{row} was measured: {finished:#?}"));
    let said = format!("{} {}", found.reason, found.remedy);
    for word in words {
        assert!(said.contains(word), "no '{word}' in '{said}'");
    }
}

#[test]
fn small_stack_stops_no_verb() {
    let (before, place) = (Snapshot::take(), Place::new());
    let measure = "run pipe posix-shm unix-stream --trials 1 --budget 2ms --no-progress --save run";
    let limited = |kib: u32, words: &str| {
        let finished = place.finish(&mut place.shell(&format!("ulimit -s {kib}; exec \"$FURLONG\" {words}")));
        finished.expect_no_panic()
    };
    for kib in [128, 1024] {
        limited(kib, &format!("{measure} --replace")).expect_code(0);
        for words in [
            "--version",
            "--help",
            "run --help",
            "list",
            "list --format json",
            "runs show run",
            "runs list",
            "export run --format json",
            "export run --format markdown",
            "report run -o page.html",
            "compare run run",
            "doctor",
            "man --all -o pages",
            "man run",
            "completions bash",
            "adapter list",
            "driver status",
            "fleet init ansible -o fleet",
            // A busy machine may measure nothing in this time.
            "recommend --size 64 --within 2s --no-progress --no-save",
        ] {
            let finished = limited(kib, words);
            assert!(
                finished.signal.is_none() && finished.code.is_some_and(|code| code < 100),
                "{kib} KiB: {finished:#?}"
            );
        }
        let _ = std::fs::remove_dir_all(place.path("fleet"));
    }
    before.expect_nothing_left(&place);
}

/// Fails unless furlong has printed all of these texts, in the row or as its error.
#[track_caller]
fn expect_said(finished: &FinishedCommand, words: &[&str]) {
    let said = format!("{} {}", finished.stdout, finished.stderr);
    for word in words {
        assert!(said.contains(word), "no '{word}' in {finished:#?}");
    }
}

#[test]
fn limits_of_a_process_are_named() {
    let place = Place::new();
    let under = |limit: &str, rows: &str| {
        place.finish(&mut place.shell(&format!("prlimit {limit} \"$FURLONG\" run {rows}"))).expect_no_panic()
    };
    // The result goes through a pipe, because the limit also applies to a file of the test.
    for rows in [format!("pipe {ONE} | cat"), format!("pipe {ONE}")] {
        expect_said(&under("--fsize=1000:1000", &rows), &["RLIMIT_FSIZE is 1000", "ulimit -f unlimited"]);
    }
    let signals = under("--sigpending=1:1", &format!("signal pipe {ONE}")).expect_code(0);
    expect_named(&signals, "signal/block", &["RLIMIT_SIGPENDING is 1", "ulimit -i 100"]);
}

#[test]
fn number_of_processes_is_named() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let line = format!("run pipe {ONE}");
    let unprivileged = place.furlong_as_nobody(line.split(' '));
    // The limit counts all processes of a user, so the test needs a user without processes.
    let own = (100_000 + std::process::id()).to_string();
    let words = unprivileged.get_args().map(|word| word.to_str().unwrap().replace("65534", &own));
    let mut command = place.program("prlimit");
    command.arg("--nproc=1:1").arg(unprivileged.get_program()).args(words);
    let finished = place.finish(&mut command).expect_no_panic();
    expect_said(&finished, &["RLIMIT_NPROC of this user is 1", "ulimit -u"]);
}

#[test]
fn limit_by_which_a_call_fails_is_named() {
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    for (row, call, error, words) in [
        ("pipe/epoll", "epoll_ctl", "ENOSPC", ["fs.epoll.max_user_watches is ", "sysctl -w fs.epoll"]),
        ("file-shm/inotify", "inotify_init1", "EMFILE", ["fs.inotify.max_user_instances is ", "sysctl"]),
        ("pipe", "clone", "EAGAIN", [" is ", "to raise it: "]),
    ] {
        let mut command = place.program("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
        command.args(["-e", &format!("inject={call}:error={error}"), env!("CARGO_BIN_EXE_furlong")]);
        let words_of_run = format!("run {row} {ONE}");
        let finished = place.finish(command.args(words_of_run.split(' '))).expect_no_panic();
        assert_ne!(finished.code, Some(0), "{finished:#?}");
        expect_said(&finished, &words);
    }
}

#[test]
fn buffer_of_a_socket_beyond_its_limit_is_refused_with_the_limit() {
    let place = Place::new();
    let asked = format!("run unix-stream --socket-buffer 1GiB {ONE}");
    let finished = place.run(asked.split(' ')).expect_code(7);
    let most = if is_root() { "at most 1073741823 bytes" } else { "net.core.wmem_max is " };
    let words = ["1073741824 bytes was requested", most, "ask for a smaller buffer"];
    expect_named(&finished, "unix-stream/block (buffer 1GiB)", &words);
    assert!(!finished.stdout.contains("seccomp profile"), "{finished:#?}");
    if is_root() {
        let place = Place::new();
        let finished = place.finish(&mut place.furlong_as_nobody(asked.split(' '))).expect_code(7);
        let row = "unix-stream/block (buffer 1GiB)";
        expect_named(&finished, row, &["net.core.wmem_max is ", "ask for a smaller buffer"]);
    }
}
