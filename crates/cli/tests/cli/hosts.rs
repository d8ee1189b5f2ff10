//! Rows between hosts. The other host is a shell of this machine, or a shell in a network namespace. Measured rows
//! are verified and name their hosts, and impossible ones are refused. A failure of either side neither hangs the run
//! nor leaves anything.

use crate::common::value::{at, list, number, row, text};
use crate::common::{FinishedCommand, Place, RunningCommand, SSH_TO_HERE, Snapshot, look_for};
use furlong_testing::skip;
use std::fs;
use std::process::Command;
use std::time::Duration;

const QUICK: [&str; 8] =
    ["--trials", "3", "--budget", "10ms", "--warm-up", "2ms", "--no-save", "--no-progress"];

/// Options that use a shell of this machine as the other host.
const HERE: [&str; 4] = ["--peer", "command:sh", "--peer-address", "127.0.0.1"];

/// A command that acknowledges the program but reads nothing of it.
const TAKES_NOTHING: &str =
    "echo furlong-peer $(uname -s) $(uname -m) furlong 0; while :; do echo taken; sleep 0.02; done";

/// The time within which a change must become visible.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns furlong with a PATH for the other host that contains furlong, unless a test has put another program in its
/// place.
fn furlong<'a>(place: &Place, words: impl IntoIterator<Item = &'a str>) -> Command {
    let folder = place.path("bin");
    let there = folder.join("furlong");
    fs::create_dir_all(&folder).unwrap();
    if fs::symlink_metadata(&there).is_err() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_furlong"), &there).unwrap();
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = place.furlong(words);
    command.env("PATH", path).env_remove("SSH_CONNECTION");
    command
}

#[test]
fn rows_between_hosts_are_verified_and_say_where_they_were() {
    let place = Place::new();
    let before = Snapshot::take();
    let words = ["run", "--format", "json"].into_iter().chain(HERE).chain(QUICK);
    let json = place.finish(&mut furlong(&place, words)).expect_code(0).json();
    for name in ["tcp/block", "udp/block"] {
        let row = row(&json, "rows", name);
        assert_eq!((text(row, "placement"), text(row, "group")), ("host", "host/sleeping/128B"));
        assert!(number(row, "round_trip_ns.p50") > 0.0 && at(row, "verified") == true, "{row:#}");
        // CPU numbers of different hosts cannot be compared.
        assert!(at(row, "trials_on_one_processor").is_null());
    }
    assert_eq!((list(&json, "rows").len(), list(&json, "skipped").len()), (2, 0));
    assert_eq!((text(&json, "peer.peer"), text(&json, "peer.address")), ("command:sh", "127.0.0.1"));
    assert_eq!(text(&json, "peer.machine.kernel"), text(&json, "machine.kernel"));
    before.expect_nothing_left(&place);
    let told = place.finish(&mut furlong(&place, ["run", "tcp"].into_iter().chain(HERE).chain(QUICK)));
    let told = told.expect_code(0).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("at 127.0.0.1 (command:sh)") && told.contains("128B messages on two hosts"),
        "{told}"
    );
}

#[test]
fn streams_requests_and_windows_end_between_hosts_too() {
    let place = Place::new();
    for words in [
        &["-m", "one-way"][..],
        &["-m", "one-way", "-s", "64KiB"],
        &["-m", "request", "--response", "4KiB"],
        &["--window", "4"],
        // A fixed rate is not tried, because a busy machine may not sustain it.
        &["--think-time", "1ms"],
        &["--wait", "spin"],
    ] {
        let row_name = if words.contains(&"spin") { "tcp/*" } else { "tcp" };
        let all = ["run", row_name, "--format", "json"].into_iter().chain(words.iter().copied());
        let all = all.chain(HERE).chain(QUICK);
        let json = place.finish(&mut furlong(&place, all)).expect_code(0).json();
        let rows = list(&json, "rows");
        assert_eq!((rows.len(), list(&json, "skipped").len()), (1, 0), "{words:?}: {json:#}");
        assert_eq!(text(&rows[0], "placement"), "host");
    }
}

#[test]
fn ssh_is_told_to_ask_nobody_and_says_where_it_came_in() {
    let place = Place::new();
    place.path_with("ssh", SSH_TO_HERE);
    let words = ["run", "tcp", "--peer", "ssh://me@node-7:2222", "--format", "json"];
    let json = place.finish(&mut furlong(&place, words.into_iter().chain(QUICK))).expect_code(0).json();
    assert_eq!(
        (text(&json, "peer.peer"), text(&json, "peer.address")),
        ("ssh://me@node-7:2222", "127.0.0.1")
    );
    let told = fs::read_to_string(place.path("home/ssh")).unwrap();
    assert_eq!(told.trim(), "-o BatchMode=yes -o ConnectTimeout=10 -p 2222 -- me@node-7 sh");
}

#[test]
fn furlong_is_copied_to_a_host_that_has_none() {
    let place = Place::new();
    let before = Snapshot::take();
    let mut command = place.furlong(["run", "udp", "--format", "json"].into_iter().chain(HERE).chain(QUICK));
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let json = place.finish(&mut command).expect_code(0).json();
    assert_eq!(text(row(&json, "rows", "udp/block"), "placement"), "host");
    before.expect_nothing_left(&place);
}

#[test]
fn what_does_not_reach_another_host_is_refused() {
    let place = Place::new();
    let words = |more: &[&'static str]| {
        let words = ["run"].into_iter().chain(more.iter().copied()).chain(["--format", "json"]);
        words.chain(QUICK).map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |words: Vec<String>| place.finish(&mut furlong(&place, words.iter().map(String::as_str)));
    let with_peer = |more: &[&'static str]| run(words(&[more, &HERE].concat()));
    for (more, why) in [
        (&["pipe"][..], "pipe does not reach another host (its reach: whoever is given the descriptor)"),
        (&["udp", "-m", "one-way"], "nothing holds the sender back"),
        (&["udp", "-s", "4"], "fewer than 8 bytes cannot be recognized"),
        (&["tcp", "-m", "one-way", "--rate", "1k/s"], "two hosts have two"),
    ] {
        with_peer(more).expect_code(2).expect_complaint(why);
    }
    let json = with_peer(&["tcp", "--pairs", "2"]).expect_code(0).json();
    let skipped = row(&json, "skipped", "tcp/block");
    assert!(text(skipped, "reason").contains("one on each host"), "{skipped:#}");
    let json = run(words(&["tcp", "--place", "host"])).expect_code(7).json();
    let skipped = row(&json, "skipped", "tcp/block");
    assert!(text(skipped, "reason").contains("none was named"), "{skipped:#}");
}

#[test]
fn a_peer_that_makes_no_sense_is_told_at_once() {
    let place = Place::new();
    for (words, told) in [
        (&["--peer", "node-7"][..], "a peer is ssh://[USER@]HOST[:PORT] or command:'COMMAND'"),
        (&["--peer", "ssh://-oProxyCommand=true"], "do not begin with '-'"),
        (&["--peer", "ssh://node 7"], "'node 7' is not a valid name"),
        (&["--peer", "ssh://node:99999"], "is not a valid port"),
        (&["--peer", "command:sh"], "--peer-address"),
        (&["--peer", "command:sh", "--peer-address", "node-7"], "--peer-address"),
        (&["--peer-address", "127.0.0.1"], "--peer"),
        (&["--peer", "command:sh", "--count"], "--count"),
        (&["--peer", "command:sh", "--place", "free"], "--place"),
    ] {
        let words = ["run", "tcp"].into_iter().chain(words.iter().copied());
        let finished = place.finish(&mut furlong(&place, words)).expect_code(2);
        assert!(finished.stderr.contains(told), "{told}: {}", finished.stderr);
    }
}

#[test]
fn a_peer_that_does_not_answer_as_furlong_does_is_a_clear_error() {
    let place = Place::new();
    let before = Snapshot::take();
    let version = place.run(["--version"]).expect_code(0).stdout.trim().to_owned();
    let says = |words: &str| format!("[ \"$1\" = peer ] || {{ echo {version}; exit; }}\n{words}");
    let hello = r#"echo '{"hello":{"version":"VERSION","machine":{},"reached_at":null}}'"#;
    let hello_of = |version: &str| hello.replace("VERSION", version);
    let own = version.split_once(' ').unwrap().1;
    let impossible = hello_of(own).replace("{},", "{\"memory_bytes\":18446744073709551615},");
    for (command, script, told) in [
        ("exit 3", None, "exited too early with exit code 3"),
        ("echo Permission denied >&2; exit 255", None, "exit code 255; it said: Permission denied"),
        ("no-such-command", None, "could not be started (exit code 127)"),
        ("setsid sleep 100 & exec sleep 100", None, "no answer of a shell came from it for 900ms"),
        (TAKES_NOTHING, None, "has not read its input for 900ms"),
        ("yes nonsense", None, "expected an answer of a shell there, got: nonsense"),
        ("exec 1>&-; sleep 100", None, "has closed its output"),
        ("sh", Some(says("echo what")), "cannot parse the reply"),
        ("sh", Some(says("exit 9")), "exit code 9"),
        ("sh", Some(says(&hello_of("0.0.1"))), "furlong there has version 0.0.1"),
        // A reader would reject a run with this header.
        ("sh", Some(says(&impossible)), "memory_bytes is 1.8446744073709552e19"),
        // The peer sends hello, and nothing more.
        ("sh", Some(says(&format!("{}; exec sleep 100", hello_of(own)))), "no reply came from it for 900ms"),
        (
            "sh",
            Some(says(&format!("{}; echo '\"known\"'; cat >/dev/null", hello_of(own)))),
            "unexpected reply",
        ),
    ] {
        if let Some(script) = &script {
            place.path_with("furlong", script);
        }
        let peer = format!("command:{command}");
        // A valid answer may be late on a busy machine.
        let timeout = if told.contains("900ms") { "900ms" } else { "10s" };
        let words = ["run", "tcp", "--timeout", timeout, "--peer", &peer, "--peer-address", "127.0.0.1"];
        let finished = place.finish(&mut furlong(&place, words.into_iter().chain(QUICK)));
        let all = format!("{}{}", finished.stdout, finished.stderr);
        let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(told), "{command}, {script:?}: {told}: {all}");
        // A program that sends hello counts as a host, and then the row fails.
        let failed = script.is_some_and(|script| script.contains(&hello_of(own)));
        finished.expect_code(if failed { 1 } else { 7 });
    }
    before.expect_nothing_left(&place);
}

#[test]
fn a_copy_is_not_tried_where_it_cannot_run() {
    let place = Place::new();
    place.path_with("furlong", "echo furlong 0.0.1");
    place.path_with("uname", "echo PDP-11");
    let words = ["run", "tcp"].into_iter().chain(HERE).chain(QUICK);
    let told = place.finish(&mut furlong(&place, words)).expect_code(7).stderr;
    for part in [
        "does not have this version of furlong (0.0.1)",
        "that host is PDP-11 PDP-11",
        "install furlong there",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Returns the PID of the furlong process on the other side.
fn agent(place: &Place) -> Option<i32> {
    place
        .processes()
        .into_iter()
        .find(|process| process.arguments.contains("furlong peer "))
        .map(|found| found.pid)
}

/// Starts a run whose responder is on the other side. Returns it with the PIDs of the other furlong process and of
/// the role.
fn under_way<'a>(place: &'a Place, timeout: &str) -> (RunningCommand<'a>, i32, i32) {
    let long = ["--trials", "200", "--budget", "200ms", "--no-save", "--no-progress", "--format", "json"];
    let words = ["run", "tcp", "--timeout", timeout].into_iter().chain(HERE).chain(long);
    let running = place.start(&mut furlong(place, words));
    let found = look_for(PATIENCE, || {
        let agent = agent(place)?;
        let role = place.processes().into_iter().find(|process| process.parent == agent)?;
        Some((agent, role.pid))
    });
    let (agent, role) = found.expect("a role on the other side");
    (running, agent, role)
}

fn signal(pid: i32, signal: i32) {
    furlong_os::process::send_signal(pid, signal).expect("a process that lives");
}

fn failure(finished: FinishedCommand) -> String {
    let json = finished.expect_code(1).json();
    let skipped = row(&json, "skipped", "tcp/block");
    assert_eq!(text(skipped, "status"), "failed", "{skipped:#}");
    text(skipped, "reason").to_owned()
}

#[test]
fn a_responder_that_is_killed_there_is_told_and_leaves_nothing() {
    let place = Place::new();
    let before = Snapshot::take();
    let (running, _, role) = under_way(&place, "10s");
    signal(role, libc::SIGKILL);
    let told = failure(running.finish());
    assert!(told.contains("responder") && told.contains("killed by SIGKILL"), "{told}");
    before.expect_nothing_left(&place);
}

#[test]
fn an_other_side_that_is_killed_is_told_and_leaves_nothing() {
    let place = Place::new();
    let before = Snapshot::take();
    let (running, agent, _) = under_way(&place, "10s");
    signal(agent, libc::SIGKILL);
    let told = failure(running.finish());
    assert!(told.contains("the connection to the other host has ended"), "{told}");
    before.expect_nothing_left(&place);
}

#[test]
fn an_other_side_that_stands_still_is_told_in_time_and_ends_when_it_goes_on() {
    let place = Place::new();
    let before = Snapshot::take();
    let (running, agent, _) = under_way(&place, "1s");
    signal(agent, libc::SIGSTOP);
    let told = failure(running.finish());
    assert!(told.contains("for 1s") && told.contains("the other host hangs"), "{told}");
    // The other side is on this host, so furlong has already ended it.
    let _ = furlong_os::process::send_signal(agent, libc::SIGCONT);
    before.expect_nothing_left(&place);
}

#[test]
fn a_supervisor_that_is_killed_leaves_nothing_on_either_side() {
    let place = Place::new();
    let before = Snapshot::take();
    let (running, ..) = under_way(&place, "10s");
    running.signal(libc::SIGKILL);
    running.finish();
    before.expect_nothing_left(&place);
}

#[test]
fn a_run_that_is_interrupted_keeps_what_was_measured() {
    let place = Place::new();
    let before = Snapshot::take();
    let (running, ..) = under_way(&place, "10s");
    running.signal(libc::SIGINT);
    running.finish().expect_code(130);
    before.expect_nothing_left(&place);
}

/// Runs in a new network namespace, connected to a second one by a virtual cable. `$FAR` is a process in the second
/// namespace, whose address is 10.11.12.2. The machine's own network is not changed.
const TWO_NAMESPACES: &str = r#"
unshare -n sleep 600 & FAR=$!
trap 'kill $FAR' EXIT
while [ "$(readlink /proc/$FAR/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
set -e
ip link set lo up
ip link add near type veth peer name far netns $FAR
ip address add 10.11.12.1/24 dev near
ip link set near up
nsenter -t $FAR -n sh -c 'ip link set lo up; ip address add 10.11.12.2/24 dev far; ip link set far up'
set +e
PEER="command:nsenter -t $FAR -n sh"
"#;

/// Runs that script and `script`; returns `None` if such namespaces cannot be created.
fn in_two_namespaces(place: &Place, script: &str) -> Option<FinishedCommand> {
    let script = format!("{TWO_NAMESPACES}{script}");
    let run = |script: &str| {
        let path =
            furlong(place, []).get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
        place.finish(place.program("unshare").args(["-Urn", "sh", "-c", script]).env("PATH", path))
    };
    let possible = run(&format!("{TWO_NAMESPACES} exit 0"));
    (possible.code == Some(0)).then(|| run(&script))
}

#[test]
fn two_network_namespaces_are_two_hosts() {
    let place = Place::new();
    let run = r#""$FURLONG" run tcp udp --peer "$PEER" --peer-address 10.11.12.2 --format json"#;
    let Some(finished) = in_two_namespaces(&place, &format!("{run} {}", QUICK.join(" "))) else {
        skip!("needs network namespaces")
    };
    let json = finished.expect_code(0).json();
    assert_eq!((list(&json, "rows").len(), text(&json, "peer.address")), (2, "10.11.12.2"));
}

#[test]
fn a_cable_that_is_cut_ends_a_run_in_time() {
    let place = Place::new();
    let before = Snapshot::take();
    // The cable is cut once a trial is saved, so that it interrupts a trial in progress and not the setup.
    let script = r#"
"$FURLONG" run tcp udp --peer "$PEER" --peer-address 10.11.12.2 --timeout 1s --trials 500 --save cut --no-progress \
    --format json & RUN=$!
until grep -q '"record":"trial"' "$XDG_DATA_HOME/furlong/runs/cut.jsonl" 2>/dev/null; do sleep 0.01; done
ip link set near down
wait $RUN"#;
    let Some(finished) = in_two_namespaces(&place, script) else { skip!("needs network namespaces") };
    let json = finished.expect_code(1).json();
    for name in ["tcp/block", "udp/block"] {
        let skipped = row(&json, "skipped", name);
        assert_eq!(text(skipped, "status"), "failed", "{skipped:#}");
    }
    before.expect_nothing_left(&place);
}

#[test]
fn datagrams_that_are_lost_are_sent_again_and_the_row_says_how_many() {
    let place = Place::new();
    // Sometimes the neighbour table has a wrong address for the other host. Datagrams sent in that time are lost
    // without an error.
    let script = r#"
(while ip neighbour replace 10.11.12.2 lladdr 02:00:00:00:00:99 dev near nud permanent; do
    sleep 0.1; ip neighbour del 10.11.12.2 dev near; sleep 0.3
done) & LOSE=$!
"$FURLONG" run udp/block --peer "$PEER" --peer-address 10.11.12.2 \
    --trials 2 --budget 700ms --warm-up 10ms --no-save --no-progress --format json
CODE=$?
kill $LOSE
exit $CODE"#;
    let Some(finished) = in_two_namespaces(&place, script) else { skip!("needs network namespaces") };
    let json = finished.expect_code(0).json();
    let rows = list(&json, "rows");
    assert_eq!((rows.len(), list(&json, "skipped").len()), (1, 0), "{json:#}");
    for row in rows {
        let lost = number(row, "sent_again_share");
        assert!(lost > 0.0 && lost < 0.5 && at(row, "verified") == true, "{row:#}");
        assert!(
            text(row, "group").starts_with("host/") && !text(row, "group").ends_with("losing"),
            "{row:#}"
        );
        // The statistics include the round trips with a lost datagram, which take longer than 0.2 s.
        assert!(number(row, "round_trip_ns.max") > 2e8, "{row:#}");
    }
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn signal_ends_a_run_that_waits_for_its_peer() {
        let place = Place::new();
        let before = Snapshot::take();
        // The first command blocks furlong while it waits for an answer, the second while it waits for room in the
        // pipe.
        let silent = "echo >begun; setsid sleep 100 & exec sleep 100".to_owned();
        let full = TAKES_NOTHING.replace("sleep 0.02", "sleep 0.02; echo >begun");
        for (command, signal, code) in [
            (&silent, libc::SIGTERM, Some(143)),
            (&silent, libc::SIGKILL, None),
            (&full, libc::SIGHUP, Some(129)),
        ] {
            let peer = format!("command:{command}");
            let words = ["run", "tcp", "--timeout", "10min", "--peer", &peer, "--peer-address", "127.0.0.1"];
            let running = place.start(&mut furlong(&place, words.into_iter().chain(QUICK)));
            look_for(PATIENCE, || place.path("begun").exists().then_some(())).expect("a command that runs");
            running.signal(signal);
            assert_eq!(running.finish_within(PATIENCE).expect_no_panic().code, code, "{command}");
            before.expect_nothing_left(&place);
            fs::remove_file(place.path("begun")).unwrap();
        }
    }

    #[test]
    #[ignore = "slow"]
    fn row_fails_if_the_peer_reads_nothing_during_a_run() {
        let (before, place) = (Snapshot::take(), Place::new());
        // The first connection is a shell for one second, which then drops the trial in progress.
        let peer = format!("command:if mkdir first; then exec timeout 1 sh; fi; {TAKES_NOTHING}");
        let words =
            ["run", "tcp/block", "tcp/epoll", "--timeout", "500ms", "--trials", "200", "--budget", "50ms"];
        let more = ["--no-save", "--format", "json", "--peer-address", "127.0.0.1", "--peer", peer.as_str()];
        let finished = place.finish(&mut furlong(&place, words.into_iter().chain(more)));
        let json = finished.expect_code(1).json();
        let told = "responder in phase create: alive, but it has not read its input for 500ms";
        let skipped = list(&json, "skipped");
        assert!(skipped.iter().any(|row| text(row, "reason").contains(told)), "{skipped:#?}");
        before.expect_nothing_left(&place);
    }
}
