//! After any end of furlong, nothing is left: no name in memory, no System V object, no queue, no file, no process.

use crate::common::{Kind, Place, Snapshot, look_for};
use furlong_testing::skip;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Rows that create something with a name.
const NAMED: [&str; 9] = [
    "fifo",
    "unix-*",
    "posix-mq",
    "sysv-mq",
    "sysv-shm",
    "posix-shm",
    "file-shm",
    "sysv-semaphore",
    "posix-shm/sysv-semaphore",
];

fn words(more: &[&'static str]) -> Vec<&'static str> {
    ["run"].into_iter().chain(NAMED).chain(more.iter().copied()).collect()
}

#[test]
fn a_run_that_ends_well_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    let finished = place.run(words(&["--trials", "2", "--budget", "5ms", "--format", "json"])).expect_code(0);
    before.expect_nothing_left(&place);
    assert!(finished.summary().rows.len() >= 9, "{finished:#?}");
    // The run keeps only its file in the directory of saved runs.
    assert_eq!(std::fs::read_dir(place.saved("any").parent().unwrap()).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(place.path("home")).unwrap().count(), 0);
}

#[test]
fn a_run_that_fails_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    let arguments = ["run", "fifo", "posix-mq", "--trials", "1", "--budget", "1s", "--format", "json"];
    let running = place.start(&mut place.furlong(arguments));
    let [_, responder] = look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    furlong_os::process::send_signal(responder.pid, libc::SIGABRT).expect("a role that lives");
    let finished = running.finish().expect_code(1);
    before.expect_nothing_left(&place);
    assert!(finished.summary().skipped[0].reason.contains("SIGABRT"), "{finished:#?}");
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    let (before, place) = (Snapshot::take(), Place::new());
    place.run(["run", "pipe", "--save", "../x"]).expect_code(2);
    for row in ["file-shm", "pipe"] {
        let finished = place.run(["run", row, "--file-folder", "/nonexistent"]).expect_code(2);
        finished.expect_complaint("--file-folder /nonexistent: name a directory that exists");
    }
    before.expect_nothing_left(&place);
}

#[test]
fn a_file_folder_is_as_it_was() {
    let (before, place) = (Snapshot::take(), Place::new());
    let folder = place.path("files");
    std::fs::create_dir(&folder).unwrap();
    let arguments = "run file-shm/* --place other-core --trials 2 --budget 5ms --file-folder files";
    place.run(arguments.split(' ')).expect_code(0);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    before.expect_nothing_left(&place);
}

#[test]
fn a_janitor_that_is_killed_or_stopped_holds_nothing_up() {
    for signal in [libc::SIGKILL, libc::SIGSTOP] {
        let (before, place) = (Snapshot::take(), Place::new());
        let arguments = words(&["--trials", "2", "--budget", "5ms", "--format", "json"]);
        let running = place.start(&mut place.furlong(arguments));
        let janitor = look_for(A_WHILE, || place.janitor(running.pid())).expect("a janitor");
        furlong_os::process::send_signal(janitor.pid, signal).expect("a janitor that lives");
        running.finish().expect_code(0);
        before.expect_nothing_left(&place);
    }
}

#[test]
fn a_role_has_no_descriptor_but_its_own() {
    let place = Place::new();
    let running = place.start(&mut place.furlong(["run", "pipe", "--budget", "50s", "--no-save"]));
    let roles = look_for(A_WHILE, || {
        // Both roles must be at work, and no longer starting.
        let roles = place.roles(running.pid())?;
        let at_work = |pid| {
            let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
            Some(read("cmdline")?.contains("child") && read("status")?.contains("Cpus_allowed"))
        };
        roles.iter().all(|role| at_work(role.pid) == Some(true)).then_some(roles)
    });
    for role in roles.expect("roles") {
        assert_eq!(role.kind, Kind::Role);
        let count = |limit: usize| {
            look_for(Duration::from_secs(5), || {
                let count = std::fs::read_dir(format!("/proc/{}/fd", role.pid)).ok()?.count();
                (count <= limit).then_some(count)
            })
        };
        // The seven include three standard descriptors, two ends of pipes and the control. The descriptor of the
        // board is closed once the board is mapped.
        assert!(count(7).is_some(), "{role:?} has {:?}", std::fs::read_dir(format!("/proc/{}/fd", role.pid)));
    }
    running.signal(libc::SIGINT);
    running.finish().expect_code(130);
}

/// Returns a line of shell that runs `script` with private IPC objects, where furlong cannot create its own
/// namespace. Then it prints the existing objects.
fn without_namespace(script: &str) -> String {
    let listing = "for kind in shm msg sem; do tail -n +2 /proc/sysvipc/$kind | sed s/^/$kind/; done
        mkdir -p queues && mount -t mqueue none queues && ls queues | sed s/^/queue:/";
    let inside = format!("echo 0 > /proc/sys/user/max_ipc_namespaces && {script}\n echo left:; {listing}");
    format!("exec unshare --user --map-root-user --ipc --mount sh -c '{inside}'")
}

/// Returns whether this user may create such namespaces.
fn can_do_without_namespace(place: &Place) -> bool {
    let script = without_namespace("ipcmk -Q >/dev/null && \"$FURLONG\" run null --trials 1 --format json");
    let finished = place.finish(&mut place.shell(&script));
    let can = finished.code == Some(0) && finished.stdout.contains("\"private_ipc_namespace\": false");
    assert!(!can || finished.stdout.contains("left:\nmsg"), "objects show: {finished:#?}");
    can
}

const OBJECTS: &str = "\"$FURLONG\" run posix-mq sysv-mq sysv-shm sysv-semaphore posix-shm/sysv-semaphore";

#[test]
fn without_a_namespace_of_its_own_a_run_removes_its_objects() {
    let place = Place::new();
    if !can_do_without_namespace(&place) {
        skip!("needs user namespaces");
    }
    let script = without_namespace(&format!("{OBJECTS} --trials 2 --budget 5ms --format csv"));
    let finished = place.finish(&mut place.shell(&script)).expect_code(0);
    assert!(finished.stdout.contains("sysv-mq,block,round-trip,128,other-core,measured"), "{finished:#?}");
    assert!(finished.stdout.ends_with("left:\n"), "{finished:#?}");
}

#[test]
fn without_a_namespace_of_its_own_the_janitor_removes_the_objects_of_a_killed_run() {
    // The script waits for roles, and the roles of another test would look the same.
    let place = Place::alone();
    if !can_do_without_namespace(&place) {
        skip!("needs user namespaces");
    }
    // One row at a time, so that its objects exist when it is killed.
    for row in ["posix-mq", "sysv-mq", "sysv-semaphore", "sysv-shm/sysv-semaphore"] {
        let script = format!(
            "roles() {{
                grep -qs furlong-stderr /proc/*/maps || ls -l /proc/*/fd 2>/dev/null | grep -q furlong-stderr
            }}
            \"$FURLONG\" run {row} --budget 50s --no-save & run=$!
            until roles; do sleep 0.01; done
            sleep 0.2; kill -KILL $run; wait $run
            # A role that is about to die may still have the segment.
            until [ -z \"$(ls tmp)\" ] && ! roles; do sleep 0.01; done"
        );
        let finished = place.finish(&mut place.shell(&without_namespace(&script))).expect_code(0);
        assert!(finished.stdout.ends_with("left:\n"), "{row}: {finished:#?}");
    }
}
