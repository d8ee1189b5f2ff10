//! Faults while the system calls of roles are traced, by either method: furlong never hangs, reports the fault,
//! continues with the other rows, and leaves nothing.

use crate::common::value::{at, list, row, text};
use crate::common::{FinishedCommand, Kind, Place, RunningCommand, Snapshot, look_for};
use std::fs;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// The user that runs furlong, which determines the counting method.
#[derive(Debug, Clone, Copy)]
enum User {
    /// The user that runs the test: the tracepoint if this is root, otherwise `ptrace`.
    Ours,
    /// An unprivileged user, who may only use `ptrace`.
    Nobody,
}

impl User {
    /// Returns the users that this test can run furlong as.
    fn all() -> &'static [User] {
        let is_root = furlong_os::identity::is_administrator();
        if is_root { &[User::Ours, User::Nobody] } else { &[User::Ours] }
    }

    /// Starts to count these rows, and returns once the calls of the first row are traced.
    fn counting<'a>(self, place: &'a Place, arguments: &[&str]) -> RunningCommand<'a> {
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

/// Returns whether the supervisor has opened a perf event.
fn has_log(supervisor: i32) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{supervisor}/fd")).into_iter().flatten().flatten();
    let mut links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.any(|link| link.to_string_lossy().contains("perf_event"))
}

/// Returns whether a role is being traced with ptrace.
fn has_tracer(place: &Place) -> bool {
    let is_traced = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).map(str::trim);
        tracer.is_some_and(|tracer| tracer != "0")
    };
    let processes = place.processes();
    processes.iter().any(|process| process.kind == Kind::Role && is_traced(process.pid))
}

/// Ends the count with a signal, at each of these times.
fn end_by(signal: i32, moments_ms: &[u64], check: impl Fn(&FinishedCommand)) {
    for user in User::all() {
        for &moment_ms in moments_ms {
            let (before, place) = (Snapshot::take(), Place::new());
            let running = user.counting(&place, &["*/*"]);
            std::thread::sleep(Duration::from_millis(moment_ms));
            running.signal(signal);
            let finished = running.finish_within(A_WHILE).expect_no_panic();
            // Every living process counts as left, also one in state t or T.
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
        // The interrupted row did not fail. Rows for which the machine lacks something are unavailable.
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

/// Signals the initiator of `hit` while its calls are traced. That row fails for this reason, and the next row is
/// counted normally. The responder keeps checking for the next message.
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
    // ptrace itself stops roles.
    hit_initiator(&User::all()[User::all().len() - 1..], "tcp/spin", libc::SIGSTOP, "stopped by a signal");
}
