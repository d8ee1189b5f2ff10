//! Rows between two network namespaces of this machine: mechanisms that use TCP or UDP cross them, all other rows are
//! unchanged, and nothing is left.

use crate::common::value::{at, list, number, row, text};
use crate::common::{FinishedCommand, Place, Snapshot, look_for};
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
    (!finished.stderr.contains("cannot create two network namespaces")).then_some(finished)
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
    if finished.stderr.contains("cannot create two network namespaces") {
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
        assert_eq!(text(row, "boundary"), "network-namespace");
        assert_eq!(text(row, "group"), "other-core/sleeping/128B/between-network-namespaces");
        assert!(number(row, "round_trip_ns.p50") > 0.0 && at(row, "verified") == true, "{row:#}");
    }
    let own = ["run", "--boundary", "netns", "tcp", "--format", "table"].into_iter().chain(QUICK);
    let told = place.run(own).expect_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("pass through a virtual Ethernet pair"), "{told}");
    assert!(told.contains("between two network namespaces"), "{told}");
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
        &["pipe", "-m", "request", "--request-by", "tcp"],
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
        (&["--boundary", "user"], "network-namespace"),
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
    assert!(!tcp.is_empty(), "{run}");
    assert!(tcp.iter().all(|line| line.split(',').nth(column) == Some("network-namespace")), "{tcp:?}");
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
