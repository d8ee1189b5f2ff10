//! Two programs that know nothing of furlong: their times, the output about them, and their faults.

use crate::common::value::number;
use crate::common::{Place, Row, Snapshot, look_for};
use serde_json::Value;
use std::fs;
use std::time::Duration;

const SERVE: &str = "echo ready; exec sleep 60";
const ASK: &str = "echo ready; sleep 0.02; echo done 10";

/// Faults of a server and a client, and the reasons that are reported.
const WRONGS: [(&str, &str, &str); 22] = [
    ("exec sleep 60", ASK, "alive, but no line 'ready' came from it"),
    ("echo I give up >&2; exit 3", ASK, "exited too early with exit code 3; it said: I give up"),
    ("echo done", ASK, "it printed 'done' before 'ready'"),
    ("echo ready; sleep 0.1; exit 2", "exec sleep 60", "exited too early with exit code 2"),
    ("trap '' TERM; echo ready; while :; do sleep 1; done", ASK, "has not exited 1s after it was asked to"),
    (SERVE, "exec sleep 60", "alive, but no line 'done' came from it"),
    (SERVE, "kill -STOP $$", "stopped by a signal (state T)"),
    (SERVE, "kill -KILL $$", "killed by SIGKILL"),
    (SERVE, "echo ready; exit 5", "exited too early with exit code 5"),
    (SERVE, "echo ready; sleep 0.1; echo done; exit 4", "after it was done"),
    (SERVE, "./nowhere", "it could not be started"),
    (SERVE, "echo ready; exec yes", "it printed more than"),
    (SERVE, "exec head -c 100000 /dev/zero", "its line is longer than"),
    (SERVE, "printf 'ready\\ndone\\n'", "two of its lines arrived together"),
    (SERVE, "echo ready; sleep 0.1; echo ready", "it printed 'ready' twice"),
    (SERVE, "echo ready; sleep 0.1; echo done many", "it printed 'done many'"),
    (
        SERVE,
        "sleep 60 & echo ready; sleep 0.1; echo done",
        "they left processes behind, which furlong has killed",
    ),
    (
        SERVE,
        "setsid env -i sleep 60 & echo ready; sleep 0.1; echo done",
        "they left processes behind, which furlong has",
    ),
    // The last line of a client hides no crash of its server.
    (
        "echo $$ > server; echo ready; exec sleep 60",
        "echo ready; sleep 0.02; kill -SEGV $(cat server); echo done 1",
        "killed by SIGSEGV",
    ),
    // Signals that furlong ignores.
    (SERVE, "kill -PIPE $$", "killed by SIGPIPE"),
    (SERVE, "kill -XFSZ $$", "killed by SIGXFSZ"),
    (SERVE, "kill -INT $$", "killed by SIGINT"),
];

fn with_programs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<&'a str> {
    let options = pairs.into_iter().flat_map(|(serve, ask)| ["--program", serve, "--program", ask]);
    ["run", "--no-save"].into_iter().chain(options).collect()
}

#[test]
fn what_programs_do_wrong_fails_their_row_and_no_other() {
    let (before, place) = (Snapshot::take(), Place::new());
    let pairs = WRONGS.iter().map(|(serve, ask, _)| (*serve, *ask)).chain([(SERVE, ASK)]);
    let more = [
        "pipe",
        "--trials",
        "1",
        "--budget",
        "2ms",
        "--place",
        "same-core",
        "--timeout",
        "1s",
        "--format",
        "json",
    ];
    let words = [with_programs(pairs), more.into()].concat();
    let running = place.start(&mut place.furlong(words));
    let finished = running.finish_within(Duration::from_secs(120)).expect_code(1);
    before.expect_nothing_left(&place);
    let summary = finished.summary();
    // Rows are in the order of the pairs. A failure does not contain the commands, so each is found by its reason.
    for (serve, ask, said) in WRONGS {
        let found = summary.skipped.iter().any(|skipped| skipped.reason.contains(said));
        assert!(found, "{serve} with {ask}: {:#?}", summary.skipped);
    }
    assert_eq!(summary.skipped.len(), WRONGS.len(), "{:#?}", summary.skipped);
    let mut measured: Vec<_> =
        summary.rows.iter().map(|row| (row.case.mechanism.as_str(), row.verified)).collect();
    measured.sort_unstable();
    assert_eq!(measured.len(), 2, "{measured:?}");
    assert!(measured[0].0.starts_with("echo+echo") && !measured[0].1, "{measured:?}");
    assert_eq!(measured[1], ("pipe", true));
}

#[test]
fn server_may_exit_before_its_client_is_done() {
    let place = Place::new();
    let serve = "echo ready; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let words = with_programs([(serve, "echo ready; sleep 1; echo done 10")]);
    let more = ["--trials", "1", "--place", "free", "--format", "json"];
    let summary = place.run([&words[..], &more].concat()).expect_code(0).summary();
    let [row] = &summary.rows[..] else { panic!("{summary:#?}") };
    // Its CPU time counts. The client uses less than a millisecond per exchange.
    let cpu_ns: f64 = ["user", "system"]
        .map(|mode| number(&row.figures, &format!("cpu_ns_per_round_trip.{mode}")))
        .iter()
        .sum();
    assert!(cpu_ns > 2e6, "{row:#?}");
}

#[test]
fn programs_are_timed_beside_other_rows_and_never_ranked_with_them() {
    let place = Place::new();
    let slow = "echo ready; sleep 0.06; echo done 10";
    let whole = "sleep 0.02";
    let pairs = [(SERVE, ASK), (SERVE, slow), (SERVE, whole)];
    let more = ["pipe", "--trials", "4", "--budget", "2ms", "--place", "free", "--place", "other-core"];
    let words = [with_programs(pairs), more.into()].concat();
    let summary = place.run([&words[..], &["--format", "json"]].concat()).expect_code(0).summary();
    let row = |mechanism: &str| {
        summary
            .rows
            .iter()
            .find(|row| row.case.mechanism == mechanism)
            .unwrap_or_else(|| panic!("{mechanism}"))
    };
    let [pipe, fast, slow, whole] = ["pipe", "echo+echo", "echo+echo-2", "echo+sleep"].map(row);
    assert!(pipe.verified && ![fast, slow, whole].iter().any(|row| row.verified));
    // A sleep takes at least the requested time.
    let median_ns = |row: &Row| number(&row.figures, "round_trip_ns.p50");
    assert!(median_ns(fast) >= 2e6 && median_ns(slow) >= 6e6 && median_ns(whole) >= 20e6);
    assert!(median_ns(slow) > median_ns(fast));
    assert_eq!(fast.group, slow.group);
    assert!(fast.group != pipe.group && whole.group != fast.group, "{summary:#?}");
    let other_core = summary.rows.iter().filter(|row| row.group.starts_with("other-core"));
    assert!(other_core.clone().all(|row| row.processors[0] != row.processors[1]), "{summary:#?}");
    assert_eq!(other_core.count(), 4);
    let table = place.run(words).expect_code(0).stdout;
    assert!(table.contains("exchanges that they count, mean of a trial; messages not verified"), "{table}");
    assert!(table.contains("CPU/run"), "{table}");
}

#[test]
fn what_a_program_uses_is_counted_with_its_children() {
    let place = Place::new();
    // A child does half of the work. It exists when the time begins and when it ends.
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let over = "while [ -e $f ]; do sleep 0.01; done; echo done 1; sleep 0.2; kill $!; wait";
    let ask = format!("f=$(mktemp); ({busy}; rm $f; exec sleep 60) & echo ready; {busy}; {over}");
    let alone = format!("echo ready; {busy}; sleep 0.1; echo done 1");
    // The trials alternate, because the CPU's speed changes from second to second.
    let pairs = with_programs([(SERVE, ask.as_str()), (SERVE, alone.as_str())]);
    let words = [&pairs[..], &["--place", "same-core", "--trials", "5", "--format", "json"]].concat();
    let summary = place.run(words).expect_code(0).summary();
    let of = |alone: bool| {
        let row = summary.rows.iter().find(|row| row.case.mechanism.ends_with("echo") == alone);
        let figures = &row.unwrap_or_else(|| panic!("{summary:#?}")).figures;
        number(figures, "cpu_ns_per_round_trip.user") + number(figures, "cpu_ns_per_round_trip.system")
    };
    let [both, one] = [of(false), of(true)];
    assert!(both > 1.4 * one, "{both} {one}");
}

#[test]
fn what_a_program_used_that_ends_with_its_last_line_is_counted() {
    let place = Place::new();
    let ask = "echo ready; i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; echo done 1";
    let how = ["--place", "same-core", "--trials", "30", "--save", "used"];
    let options = ["run", "--program", SERVE, "--program", ask];
    place.run(options.into_iter().chain(how)).expect_code(0);
    let saved = fs::read_to_string(place.saved("used")).unwrap();
    let trials = saved.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // All of its few ticks of the kernel's clock may have arrived while it was in the kernel.
    let both = |trial: Value| {
        let ns = |key: &str| trial["outcome"]["roles"][0][key].as_u64().expect("a time");
        ns("user_ns") + ns("system_ns")
    };
    let used: Vec<u64> = trials.filter(|line| line["record"] == "trial").map(both).collect();
    assert!(used.len() == 30 && !used.contains(&0), "{used:?}");
}

#[test]
fn programs_end_with_a_run_that_is_killed() {
    let (before, place) = (Snapshot::take(), Place::new());
    let serve = "echo ready; sleep 61 & wait";
    let running = place.start(&mut place.furlong(with_programs([(serve, "exec sleep 62")])));
    let started = || place.processes().into_iter().find(|process| process.arguments.contains("sleep 62"));
    look_for(Duration::from_secs(30), started).expect("what asks");
    running.signal(libc::SIGKILL);
    drop(running.finish());
    before.expect_nothing_left(&place);
}

#[test]
fn client_without_a_server_beside_others_is_refused() {
    let place = Place::new();
    let refused = place.run(["run", "--program", "./serve", "--program", "./ask", "--program", "./serve"]);
    let refused = refused.expect_code(2);
    assert!(refused.stderr.contains("first the server, then the client"), "{refused:#?}");
}

/// Returns the script of a shell and a child that answer each other 2000 times through two FIFOs in this place.
fn whole_system(place: &Place) -> String {
    let [there, back] = ["there", "back"].map(|name| place.path(name).display().to_string());
    format!(
        "rm -f {there} {back}; mkfifo {there} {back}; (exec <{there} >{back}; while read -r line; do echo $line; done) & \
         exec 3>{there} 4<{back}; echo ready; i=0; while [ $i -lt 2000 ]; do echo hello >&3; read -r line <&4; i=$((i+1)); done; \
         echo done 2000; exec 3>&- 4<&-; wait"
    )
}

#[test]
fn one_program_with_its_own_peer_is_measured_with_all_its_processes() {
    let (before, place) = (Snapshot::take(), Place::new());
    let whole = whole_system(&place);
    let words = ["run", "--program", &whole, "--place", "same-core", "--trials", "3", "--format", "json"];
    let summary = place.run(words).expect_code(0).summary();
    let row = &summary.rows[0].figures;
    assert_eq!(number(row, "trials_on_one_processor"), 3.0, "{row:#?}");
    // Both processes are counted: on one CPU each sleeps once per exchange, or is preempted by the process that it
    // wakes.
    let switches: f64 = ["voluntary", "involuntary"]
        .map(|kind| number(row, &format!("switches_per_round_trip.{kind}")))
        .iter()
        .sum();
    let cpu_ns = ["user", "system"].map(|part| number(row, &format!("cpu_ns_per_round_trip.{part}")));
    assert!(switches > 1.5 && cpu_ns.iter().sum::<f64>() > 0.0, "{row:#?}");
    before.expect_nothing_left(&place);
}

#[test]
fn client_that_starts_its_server_is_not_headed_two_cores() {
    let place = Place::new();
    let whole = whole_system(&place);
    let how = ["--place", "other-core", "--trials", "3", "--no-save"];
    let words = ["run", "--program", SERVE, "--program", &whole];
    let table = place.run(words.into_iter().chain(how)).expect_code(0).stdout;
    // On a busy machine the scheduler may spread them in one of the trials.
    let words = ["all processes were on one CPU in each trial", "trials with all processes on one CPU: "];
    assert!(words.iter().any(|words| table.contains(words)), "{table}");
    assert!(!table.contains("two cores"), "{table}");
}

#[test]
fn program_that_waits_for_a_timer_gets_a_finding() {
    let place = Place::new();
    let ask = "echo ready; sleep 0.05; sleep 0.05; echo done 2";
    let how = ["--place", "same-core", "--trials", "3", "--no-save"];
    let table = place.run(["run", "--program", ask].into_iter().chain(how)).expect_code(0).stdout;
    assert!(table.contains("echo/own same-core waits for 9"), "{table}");
}

#[test]
fn calls_of_own_programs_are_counted_per_exchange() {
    let place = Place::new();
    let whole = whole_system(&place);
    let counted = place.run(["count", "--program", &whole, "--place", "same-core", "--format", "json"]);
    let counted = counted.expect_code(0).json();
    let row = &counted["rows"][0];
    let calls = number(row, "system_calls_per_round_trip.write");
    // Each of the two processes writes once. A shell reads byte by byte.
    assert!(calls > 1.5 && calls < 2.2 || counted["counting"][0]["method"] == "rusage", "{counted:#}");
}

#[test]
fn program_that_ends_right_after_ready_is_not_timed_until_the_timeout() {
    let place = Place::new();
    let ask = "printf 'ready\\nresult: 5\\n'";
    let words =
        ["run", "--program", SERVE, "--program", ask, "--trials", "3", "--timeout", "3s", "--format", "json"];
    let summary = place.run(words).expect_code(0).summary();
    let timeout_ns = 3e9;
    let p50_ns = |row| number(row, "round_trip_ns.p50");
    assert!(summary.rows.iter().all(|row| p50_ns(&row.figures) < timeout_ns), "{summary:#?}");
}
