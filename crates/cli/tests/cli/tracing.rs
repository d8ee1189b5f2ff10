//! While the system calls of roles are traced things go wrong as at any other time: furlong never hangs, says what
//! happened, goes on with the other rows, and leaves nothing, by either method.

use crate::common::value::{at, list, row, text};
use crate::common::{Finished, Kind, Place, Running, Snapshot, look_for};
use std::fs;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// By which user furlong is run: each has a method of its own.
#[derive(Debug, Clone, Copy)]
enum User {
    /// Who runs the test: the kernel's log if this is root, else `ptrace`.
    Ours,
    /// Who may but use `ptrace`.
    Nobody,
}

impl User {
    /// All that can be played here.
    fn all() -> &'static [User] {
        let is_root = furlong_os::identity::is_administrator();
        if is_root { &[User::Ours, User::Nobody] } else { &[User::Ours] }
    }

    /// Begins to count these rows, and gives back once the calls of the first are traced.
    fn counting<'a>(self, place: &'a Place, arguments: &[&str]) -> Running<'a> {
        let words = ["count"].iter().chain(arguments).chain(&["--format", "json"]).copied();
        let running = place.start(&mut match self {
            User::Ours => place.furlong(words),
            User::Nobody => place.furlong_as_nobody(words),
        });
        let traces = || (has_log(running.pid()) || has_tracer(place)).then_some(());
        look_for(A_WHILE, traces).expect("roles that are traced");
        running
    }
}

/// Whether the supervisor has the kernel's log of a role.
fn has_log(supervisor: i32) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{supervisor}/fd")).into_iter().flatten().flatten();
    let mut links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.any(|link| link.to_string_lossy().contains("perf_event"))
}

/// Whether a role is traced by somebody.
fn has_tracer(place: &Place) -> bool {
    let is_traced = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).map(str::trim);
        tracer.is_some_and(|tracer| tracer != "0")
    };
    let processes = place.processes();
    processes.iter().any(|process| process.kind == Kind::Role && is_traced(process.pid))
}

/// Ends counting by a signal at several moments.
fn end_by(signal: i32, moments_ms: &[u64], check: impl Fn(&Finished)) {
    for user in User::all() {
        for &moment_ms in moments_ms {
            let (before, place) = (Snapshot::take(), Place::new());
            let running = user.counting(&place, &["*/*"]);
            std::thread::sleep(Duration::from_millis(moment_ms));
            running.signal(signal);
            let finished = running.finish_within(A_WHILE).expect_no_panic();
            // Every process that lives counts as left, so also one that stands still (t or T).
            before.expect_nothing_left(&place);
            check(&finished);
        }
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    end_by(libc::SIGINT, &[0, 130], |finished| {
        assert_eq!(finished.code, Some(130), "{finished:#?}");
        let json = finished.json();
        // What it was at did not fail; a machine may lack what a row needs.
        let failed = |skipped| text(skipped, "status") != "unavailable";
        assert!(!list(&json, "skipped").iter().any(failed), "{json:#}");
        assert!(list(&json, "rows").iter().all(|row| at(row, "as_declared") == true), "{json:#}");
    });
}

#[test]
fn a_killed_supervisor_leaves_nothing() {
    end_by(libc::SIGKILL, &[5], |finished| {
        assert_eq!(finished.signal, Some(libc::SIGKILL), "{finished:#?}");
    });
}

/// Hits the initiator of `hit` while its calls are traced: its row fails for that reason, and the one behind it in the
/// list is counted as ever. The responder never stops looking for the next message.
fn hit_initiator(users: &[User], hit: &str, signal: i32, words: &str) {
    for user in users {
        let (before, place) = (Snapshot::take(), Place::new());
        let more = ["file-shm/futex", "--place", "same-core", "--timeout", "500ms"];
        let running = user.counting(&place, &[&[hit], &more[..]].concat());
        let [initiator, _] = look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
        furlong_os::process::send_signal(initiator.pid, signal).expect("a role that lives");
        let finished = running.finish_within(A_WHILE).expect_code(1);
        before.expect_nothing_left(&place);
        let json = finished.json();
        assert_eq!((list(&json, "rows").len(), list(&json, "skipped").len()), (1, 1), "{user:?} {json:#}");
        row(&json, "rows", "file-shm/futex");
        let failed = row(&json, "skipped", hit);
        assert_eq!(text(failed, "status"), "failed");
        let reason = text(failed, "reason");
        assert!(reason.starts_with("initiator in phase ") && reason.contains(words), "{user:?} {reason}");
    }
}

#[test]
fn a_role_that_is_killed_fails_its_row_alone() {
    hit_initiator(User::all(), "posix-shm/spin", libc::SIGKILL, "killed by SIGKILL");
}

#[test]
fn a_role_that_is_stopped_fails_its_row_alone() {
    // ptrace stops roles by itself.
    hit_initiator(&User::all()[User::all().len() - 1..], "tcp/spin", libc::SIGSTOP, "stopped by a signal");
}
