//! Boundaries between the roles. Between two network namespaces of this machine, mechanisms that use TCP or UDP cross them, all
//! other rows are unchanged, and nothing is left. Filters and other walls are measured next to none.

use crate::common::value::{at, list, number, row, text};
use crate::common::{FinishedCommand, Place, Snapshot, is_root, look_for};
use furlong_testing::skip;
use std::fs;
use std::time::Duration;

const QUICK: [&str; 8] =
    ["--trials", "3", "--budget", "10ms", "--warm-up", "2ms", "--no-save", "--no-progress"];

/// The time within which a change must become visible.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs between two namespaces. Returns `None` if they cannot be created.
fn between(place: &Place, words: &[&str]) -> Option<FinishedCommand> {
    let words = ["run", "--boundary", "netns", "--format", "json"].iter().chain(words).copied();
    let finished = place.run(words.chain(QUICK));
    can_separate_networks(&finished).then_some(finished)
}

fn can_separate_networks(finished: &FinishedCommand) -> bool {
    let reason = "cannot create two network namespaces";
    !finished.stdout.contains(reason) && !finished.stderr.contains(reason)
}

#[test]
fn row_between_networks_fails_if_no_thread_can_be_started() {
    let place = Place::new();
    let source = "#include <errno.h>\nint pthread_create(void){return EAGAIN;}\n";
    fs::write(place.path("none.c"), source).unwrap();
    let compiled = place.program("cc").args(["-shared", "-fPIC", "-o", "none.so", "none.c"]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        skip!("needs cc");
    }
    let words = ["run", "tcp/block", "unix-stream/block", "--boundary", "netns", "--format", "json"];
    let mut command = place.furlong(words.into_iter().chain(QUICK));
    let finished = place.finish(command.env("LD_PRELOAD", place.path("none.so")));
    if !can_separate_networks(&finished) {
        skip!("needs network namespaces");
    }
    let json = finished.expect_code(1).json();
    let failed = row(&json, "skipped", "tcp/block");
    let reason = text(failed, "reason");
    for said in ["in phase create", "start the thread that creates the responder's end", "pthread_create"] {
        assert!(reason.contains(said), "{said}: {failed:#}");
    }
    assert_eq!(text(row(&json, "rows", "unix-stream/block"), "placement"), "other-core");
}

#[test]
fn what_goes_by_the_network_is_measured_beside_what_does_not() {
    let place = Place::new();
    let before = Snapshot::take();
    let devices = fs::read_to_string("/proc/net/dev").unwrap().lines().count();
    let Some(finished) = between(&place, &["tcp", "udp", "unix-stream", "posix-shm"]) else {
        skip!("needs network namespaces")
    };
    let json = finished.expect_code(0).json();
    assert_eq!((list(&json, "rows").len(), list(&json, "skipped").len()), (4, 0), "{json:#}");
    for row in list(&json, "rows") {
        let crosses = ["tcp", "udp"].contains(&text(row, "mechanism"));
        assert_eq!(row["boundary"] == "network-namespace", crosses, "{row:#}");
        assert_eq!(text(row, "group"), "other-core/sleeping/128B");
        assert!(number(row, "round_trip_ns.p50") > 0.0 && at(row, "verified") == true, "{row:#}");
    }
    let own = ["run", "--boundary", "netns", "tcp", "--format", "table"].into_iter().chain(QUICK);
    let told = place.run(own).expect_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("pass through a virtual Ethernet pair"), "{told}");
    assert!(told.contains("tcp/block (boundary network-namespace)"), "{told}");
    assert_eq!(fs::read_to_string("/proc/net/dev").unwrap().lines().count(), devices);
    before.expect_nothing_left(&place);
}

#[test]
fn every_pattern_and_place_can_be_between() {
    let place = Place::new();
    for words in [
        &["tcp", "-m", "one-way"][..],
        &["udp", "-m", "request", "--response", "4KiB"],
        &["tcp/spin", "--place", "same-core"],
        &["udp", "--place", "one-process"],
        &["tcp", "-m", "ready", "--links", "3", "--wait", "epoll"],
        &["tcp", "--count"],
    ] {
        let Some(finished) = between(&place, words) else { skip!("needs network namespaces") };
        let json = finished.expect_code(0).json();
        assert!(!list(&json, "rows").is_empty() && list(&json, "skipped").is_empty(), "{words:?}: {json:#}");
    }
}

#[test]
fn the_messages_do_go_from_one_namespace_to_the_other() {
    let place = Place::new();
    let Some(finished) = between(&place, &["tcp"]) else { skip!("needs network namespaces") };
    finished.expect_code(0);
    let words = ["run", "tcp", "--boundary", "netns", "--trials", "200", "--budget", "200ms", "--no-save"];
    let before = Snapshot::take();
    let running = place.start(&mut place.furlong(words));
    // The sockets in the namespace of a process with the remote address 10.0.0.2, in the kernel's byte order.
    let peer_of = |pid: i32| {
        let sockets = fs::read_to_string(format!("/proc/{pid}/net/tcp")).ok()?;
        sockets.lines().find_map(|line| line.split_whitespace().nth(2)?.strip_prefix("0200000A:").map(|_| ()))
    };
    let seen = look_for(PATIENCE, || place.processes().into_iter().find_map(|process| peer_of(process.pid)));
    assert!(seen.is_some(), "no role has a socket to 10.0.0.2");
    running.signal(libc::SIGKILL);
    running.finish();
    // The namespaces end with the last process in them.
    before.expect_nothing_left(&place);
}

#[test]
fn what_makes_no_sense_between_is_told() {
    let place = Place::new();
    let Some(finished) = between(&place, &["udp-multicast", "-m", "fan-out", "--receivers", "2"]) else {
        skip!("needs network namespaces");
    };
    let json = finished.expect_code(7).json();
    let skipped = row(&json, "skipped", "udp-multicast/block");
    assert!(text(skipped, "reason").contains("the loopback of one network namespace"), "{skipped:#}");
    let json = between(&place, &["tcp", "pipe", "-m", "connect"]).unwrap().expect_code(0).json();
    let skipped = row(&json, "skipped", "tcp/block");
    assert!(text(skipped, "reason").contains("one network namespace"), "{skipped:#}");
    let by = ["tcp", "-m", "request", "--request", "16B", "--request-by", "tcp-accept"];
    let json = between(&place, &by).unwrap().expect_code(7).json();
    let skipped = row(&json, "skipped", "tcp/block");
    assert!(
        text(skipped, "reason").starts_with("tcp-accept can be measured only over the loopback"),
        "{skipped:#}"
    );
    for (words, told) in [
        (&["--boundary", "netns", "--peer", "command:sh"][..], "--peer"),
        (&["--boundary", "tape"], "network-namespace"),
        (&["--boundary", "seccomp:"], "seccomp:FILE"),
    ] {
        let finished = place.run(["run", "tcp"].into_iter().chain(words.iter().copied())).expect_code(2);
        assert!(finished.stderr.contains(told), "{told}: {}", finished.stderr);
    }
}

#[test]
fn a_recommendation_for_containers_rests_on_what_is_between_them() {
    let place = Place::new();
    let Some(_) = between(&place, &["tcp"]) else { skip!("needs network namespaces") };
    let words = ["recommend", "--boundary", "container,host", "--within", "5s"];
    let saved = place.run(words.into_iter().chain(["--format", "json", "--save", "asked", "--no-progress"]));
    assert_eq!(at(&saved.json(), "workload.boundaries")[0], "container");
    let run = place.run(["export", "asked", "--format", "csv"]).expect_code(0).stdout;
    let column = run.lines().next().unwrap().split(',').position(|name| name == "boundary").unwrap();
    let tcp: Vec<_> = run.lines().filter(|line| line.contains(",tcp,")).collect();
    // The longer look also measures finalists without the boundary.
    let across = tcp.iter().filter(|line| line.split(',').nth(column) == Some("container")).count();
    let without = tcp.iter().filter(|line| line.split(',').nth(column) == Some("process")).count();
    assert!(across > 0 && across + without == tcp.len(), "{tcp:?}");
}

#[test]
fn where_there_can_be_no_namespace_the_reason_and_the_remedy_are_said() {
    let place = Place::new();
    for words in
        ["run tcp --boundary netns", "recommend --boundary container,host --within 1s --why --no-save"]
    {
        let script = format!("echo 0 >/proc/sys/user/max_net_namespaces && exec \"$FURLONG\" {words}");
        let finished = place.finish(place.program("unshare").args(["-Ur", "sh", "-c", &script]));
        // The message comes from one of those programs and not from furlong.
        if ["unshare: ", "sh: "].iter().any(|program| finished.stderr.starts_with(program)) {
            skip!("needs user namespaces: {}", finished.stderr);
        }
        let finished = finished.expect_code(7);
        let told = [finished.stdout, finished.stderr].concat();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("new network namespace") && told.contains("user.max_net_namespaces"), "{told}");
    }
}

/// A profile in the form of Docker with these rules; all other calls are allowed.
fn profile(place: &Place, name: &str, rules: &str) -> String {
    let text = format!(r#"{{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{rules}]}}"#);
    fs::write(place.path(name), text).unwrap();
    format!("seccomp:{name}")
}

#[test]
fn filters_are_measured_next_to_none_with_their_instructions() {
    let place = Place::new();
    let rule = r#"{"names": ["read", "write"], "action": "SCMP_ACT_ERRNO",
        "args": [{"index": 5, "value": 3735928559, "op": "SCMP_CMP_EQ"}]}"#;
    let tested = profile(&place, "tested.json", &[rule; 40].join(","));
    let words = ["run", "pipe", "--boundary", "none", "--boundary", "seccomp:docker", "--boundary", &tested];
    let finished = place.run(words.into_iter().chain(["--format", "json"]).chain(QUICK)).expect_code(0);
    let json = finished.json();
    assert_eq!(list(&json, "rows").len(), 3, "{json:#}");
    for (boundary, least, evaluated) in [("seccomp:docker", 300.0, 0.0), (&tested, 640.0, 2.0)] {
        let row = list(&json, "rows").iter().find(|row| row["boundary"] == boundary).unwrap();
        assert!(number(row, "effective.seccomp-instructions") > least, "{row:#}");
        assert_eq!(number(row, "effective.seccomp-evaluated-calls"), evaluated, "{row:#}");
        assert_eq!(text(row, "group"), text(&list(&json, "rows")[0], "group"));
    }
    let printed = place.run(words.into_iter().chain(QUICK)).expect_code(0).stdout;
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["remembers that the calls", "tests arguments of calls of pipe"] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
}

#[test]
fn forbidden_calls_are_named() {
    let place = Place::new();
    let never = profile(&place, "never.json", r#"{"names": ["write"], "action": "SCMP_ACT_ERRNO"}"#);
    let long = profile(
        &place,
        "long.json",
        r#"{"names": ["write"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 2, "value": 64, "op": "SCMP_CMP_EQ"}]}"#,
    );
    let unknown = profile(&place, "unknown.json", r#"{"names": ["write"], "action": "ALLOW"}"#);
    for (words, told) in [
        (["pipe", &never], &["forbids the system call write, which every benchmark needs"][..]),
        (["pipe", &long], &["Operation not permitted", "tests the arguments of", "write"]),
        (["pipe", &unknown], &["'ALLOW' is not valid", "SCMP_ACT_ALLOW"]),
        (["pipe", "seccomp:missing.json"], &["read missing.json: No such file"]),
        (
            ["io-uring-pipe", "seccomp:docker"],
            &["forbidden by the boundary seccomp:docker", "io_uring", "which it needs"],
        ),
    ] {
        let [row, boundary] = words;
        let words = ["run", row, "-s", "64", "--boundary", boundary, "--format", "json"];
        let finished = place.run(words.into_iter().chain(QUICK));
        // An invalid profile is bad input, and a valid one may forbid what a benchmark needs.
        if ["seccomp:missing.json", &unknown].contains(&boundary) {
            let finished = finished.expect_code(2);
            assert!(told.iter().all(|told| finished.stderr.contains(told)), "{finished:?}");
            continue;
        }
        let Some(skipped) = finished.json()["skipped"].as_array().and_then(|all| all.first().cloned()) else {
            panic!("{words:?}: {finished:?}");
        };
        for told in told {
            assert!(text(&skipped, "reason").contains(told), "{told}: {skipped:#}");
        }
        finished.expect_code(7);
    }
}

#[test]
fn walls_are_measured_next_to_none_or_forbid_with_the_error() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let before = Snapshot::take();
    let walls = ["none", "landlock", "user", "container"].map(|wall| ["--boundary", wall]).concat();
    let words = ["run", "pipe", "sysv-mq", "process-vm", "--format", "json"].into_iter().chain(walls);
    let json = place.run(words.chain(QUICK)).expect_code(0).json();
    let skipped = |mechanism: &str, wall: &str| {
        let mut all = list(&json, "skipped").iter();
        let found = all.find(|row| row["mechanism"] == mechanism && row["boundary"] == wall);
        found.map(|row| text(row, "reason").to_owned())
    };
    let here = |wall: &str| skipped("pipe", wall).is_none();
    for (mechanism, wall, error) in [
        ("process-vm", "landlock", "Operation not permitted"),
        ("sysv-mq", "user", "receive: Permission denied"),
        ("process-vm", "user", "Operation not permitted"),
        ("sysv-mq", "container", "Invalid argument"),
        ("process-vm", "container", "No such process"),
    ] {
        let reason = skipped(mechanism, wall).unwrap_or_default();
        let expected = if here(wall) { error } else { "is not possible here" };
        assert!(reason.contains(wall) && reason.contains(expected), "{mechanism} {wall}: {reason}");
    }
    assert!(here("user") && list(&json, "rows").iter().all(|row| at(row, "verified") == true), "{json:#}");
    before.expect_nothing_left(&place);
}

#[test]
fn ordinary_user_is_told_the_missing_right_of_a_wall() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let words = ["run", "pipe", "--format", "json", "--boundary", "user", "--boundary", "seccomp:docker"];
    let finished = place.finish(&mut place.furlong_as_nobody(words.into_iter().chain(QUICK)));
    let json = finished.expect_code(0).json();
    assert_eq!(text(&list(&json, "rows")[0], "boundary"), "seccomp:docker");
    let skipped = &list(&json, "skipped")[0];
    assert!(text(skipped, "reason").contains("setgroups: Operation not permitted"), "{skipped:#}");
    assert!(text(skipped, "remedy").contains("CAP_SETUID"), "{skipped:#}");
}

#[test]
fn relay_and_container_end_with_a_killed_run() {
    let place = Place::new();
    let before = Snapshot::take();
    let walls = ["--boundary", "proxy", "--boundary", "container", "--boundary", "none"];
    let words = ["run", "tcp", "unix-stream", "-m", "one-way", "-s", "4KiB", "--format", "json"];
    let json = place.run(words.into_iter().chain(walls).chain(QUICK)).expect_code(0).json();
    let crossed = |wall: &str| list(&json, "rows").iter().filter(|row| row["boundary"] == wall).count();
    assert_eq!((crossed("proxy"), crossed("none")), (2, 2), "{json:#}");
    // The supervisor, the cleanup process, two roles, and the relay or the processes that wait for the roles.
    let words = ["run", "tcp", "--trials", "200", "--budget", "200ms", "--no-save"].into_iter().chain(walls);
    let running = place.start(&mut place.furlong(words));
    let seen = look_for(PATIENCE, || (place.processes().len() > 4).then_some(()));
    assert!(seen.is_some(), "no relay was started");
    running.signal(libc::SIGKILL);
    running.finish();
    before.expect_nothing_left(&place);
}
