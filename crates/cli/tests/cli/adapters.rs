//! Faulty adapters: each fault fails only its own row, with a specific reason, and leaves nothing.

use crate::common::value::{at, list, number, text};
use crate::common::{Place, Snapshot, Summary, look_for};
use furlong_model::Case;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The faults of the deliberately broken adapter, and the reasons that are reported.
const WRONGS: [(&str, &str); 23] = [
    ("name", "it calls itself 'another'"),
    ("version", "it uses version 2 of the adapter protocol"),
    ("clock", "its clock is not CLOCK_MONOTONIC"),
    ("unsupported", "there is no such thing here"),
    ("nonsense", "its reply is not valid in the adapter protocol"),
    ("twice", "it replied more than once to a request"),
    ("endless", "its reply is longer than"),
    ("size", "it does round-trip with spin and [1, 1]"),
    ("boundless", "an impossible figure was reported: queue is 1.8446744073709552e19"),
    ("foreign", "it names process 1, which is not a live process that it has started"),
    ("silent", "alive, but no reply came from it"),
    ("deaf", "alive, but no reply came from it"),
    ("stopped", "stopped by a signal (state T)"),
    ("killed", "killed by SIGKILL"),
    ("leaves", "exited too early with exit code 3; it said: I give up"),
    ("holds", "exited too early with exit code 4"),
    ("flipped", "message 7 differs from the sent message"),
    ("count", "messages, but has exchanged"),
    ("early", "before it was asked"),
    ("few", "it read the clock"),
    ("forks", "it left processes or objects behind, which furlong has removed: process"),
    ("hides", "it left processes or objects behind, which furlong has removed: process"),
    ("files", "it left processes or objects behind, which furlong has removed: "),
];

/// The code that all Python adapters share.
const PROTOCOL: &str = include_str!("../../../../adapters/python/protocol.py");

/// Returns the directory of the deliberately broken adapter with these rows.
fn saboteur<'a>(place: &Place, modes: impl IntoIterator<Item = &'a str>) -> PathBuf {
    adapter(place, "saboteur", &[("saboteur.py", include_str!("adapters/saboteur.py"))], modes)
}

/// Returns the directory of an adapter with these rows and files. The first file is its program.
fn adapter<'a>(
    place: &Place,
    name: &str,
    files: &[(&str, &str)],
    modes: impl IntoIterator<Item = &'a str>,
) -> PathBuf {
    let folder = place.path(name);
    fs::create_dir(&folder).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    let program = files[0].0;
    let mut manifest =
        format!("name = \"{name}\"\nlicence = \"MIT\"\ncommand = [\"python3\", \"{program}\"]\n");
    for mode in modes {
        write!(manifest, "[[rows]]\nname = \"{mode}\"\narguments = [\"{mode}\"]\n").unwrap();
    }
    fs::write(folder.join("adapter.toml"), manifest).unwrap();
    folder
}

/// The faults of an adapter with several receivers, and the reasons that are reported.
const WRONGS_TO_SEVERAL: [(&str, &str); 6] = [
    ("skips", "responder 2 in phase verify: message 6 arrived instead of 5, which was lost"),
    ("killed", "responder 2 in phase verify: killed by SIGKILL"),
    ("stopped", "responder 2 in phase verify: stopped by a signal (state T)"),
    ("own", "it claims fan-out, for which it needs the shape pair and rates"),
    ("unpaced", "it claims fan-out, for which it needs the shape pair and rates"),
    ("unasked", "it claims fan-in, which furlong does not support for adapters"),
];

/// The faults of an adapter with several workers, and the reasons that are reported.
const WRONGS_OF_WORKERS: [(&str, &str); 4] = [
    ("two-workers", "message 8 arrived at two workers"),
    ("no-worker", "message 8 arrived at no worker"),
    ("untold", "responder 1 in phase verify: its reply has no `taken`"),
    ("both", "it claims both fan-out and work"),
];

const SHORT: [&str; 8] = ["--trials", "1", "--budget", "2ms", "--timeout", "1s", "--place", "same-core"];

#[test]
fn what_an_adapter_does_wrong_fails_its_row_and_no_other() {
    let (before, place) = (Snapshot::take(), Place::new());
    let folder =
        saboteur(&place, WRONGS.iter().map(|(mode, _)| *mode).chain(["honest", "chatter", "server"]));
    let more = ["run", "--adapter", folder.to_str().unwrap(), "pipe", "--format", "json", "--no-save"];
    let running = place.start(&mut place.furlong(more.into_iter().chain(SHORT)));
    let finished = running.finish_within(Duration::from_secs(120)).expect_code(1);
    before.expect_nothing_left(&place);
    let summary = finished.summary();
    for (mode, said) in WRONGS {
        let skipped = summary.skipped.iter().find(|skipped| skipped.case.mechanism == mode);
        let reason = &skipped.unwrap_or_else(|| panic!("{mode} was measured")).reason;
        assert!(reason.contains(said), "{mode}: {reason}");
    }
    let mut measured: Vec<_> = summary.rows.iter().map(|row| row.case.mechanism.as_str()).collect();
    measured.sort_unstable();
    let why: Vec<_> =
        summary.skipped.iter().map(|skipped| (&skipped.case.mechanism, &skipped.reason)).collect();
    assert_eq!(measured, ["chatter", "honest", "pipe", "server"], "{why:#?}");
}

#[test]
fn what_an_adapter_has_started_ends_with_a_run_that_is_killed() {
    let (before, place) = (Snapshot::take(), Place::new());
    let folder = saboteur(&place, ["starts"]);
    let asked = ["run", "--adapter", folder.to_str().unwrap(), "--no-save", "--place", "same-core"];
    let running = place.start(&mut place.furlong(asked));
    let started = || place.processes().into_iter().find(|process| process.arguments.contains("sleep 60"));
    look_for(Duration::from_secs(30), started).expect("what the adapter starts");
    running.signal(libc::SIGKILL);
    drop(running.finish());
    before.expect_nothing_left(&place);
}

#[test]
fn every_pattern_of_a_program_has_figures() {
    let place = Place::new();
    place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
    let request = ["--request", "1", "--response", "128"];
    for pattern in
        [&["-m", "round-trip"][..], &["-m", "one-way"], &[&["-m", "request"][..], &request].concat()]
    {
        let words = ["run", "--adapter", "./mine", "--format", "json", "--no-save"];
        let summary = place.run(words.iter().chain(pattern).copied().chain(SHORT)).expect_code(0).summary();
        // A row that breaks a law is void and has no figures.
        assert_eq!(summary.rows.len(), 1, "{pattern:?}: {summary:#?}");
    }
}

#[test]
fn program_that_compiles_while_it_runs_warms_up_for_a_second() {
    let place = Place::new();
    place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
    let manifest = place.path("mine/adapter.toml");
    let template = fs::read_to_string(&manifest).unwrap();
    let how = ["--place", "same-core", "--trials", "1", "--budget", "5ms"];
    let warm_up_ns = |compiles: &str| {
        fs::write(&manifest, format!("compiles_while_running = {compiles}\n{template}")).unwrap();
        let words = ["run", "--adapter", "./mine", "--save", compiles];
        let finished = place.run(words.into_iter().chain(how)).expect_code(0);
        assert_eq!(finished.stdout.contains("compiles while it runs"), compiles == "true", "{finished:#?}");
        assert_eq!(finished.stderr.contains("trials are of programs that compile"), compiles == "true");
        let saved = fs::read_to_string(place.saved(compiles)).unwrap();
        let lines = saved.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let trial = lines.into_iter().find(|line| line["record"] == "trial").expect("a trial");
        trial["outcome"]["warm_up"]["elapsed_ns"].as_u64().expect("a warm-up")
    };
    let long_ns = warm_up_ns("true");
    assert!(long_ns >= 1_000_000_000);
    assert!(warm_up_ns("false") < long_ns / 2);
}

#[test]
fn each_message_of_a_program_comes_to_every_receiver() {
    let (before, place) = (Snapshot::take(), Place::new());
    let several = [("several.py", include_str!("adapters/several.py")), ("protocol.py", PROTOCOL)];
    let modes = WRONGS_TO_SEVERAL.iter().map(|(mode, _)| *mode).chain(["honest"]);
    let folder = adapter(&place, "several", &several, modes);
    let words = ["run", "--adapter", folder.to_str().unwrap(), "-m", "fan-out", "--receivers", "3"];
    let more = ["--format", "json", "--no-save", "--trials", "1", "--budget", "150ms", "--timeout", "1s"];
    let running = place.start(&mut place.furlong(words.into_iter().chain(more)));
    let summary = running.finish_within(Duration::from_secs(120)).expect_code(1).summary();
    before.expect_nothing_left(&place);
    expect_skipped(&summary, &WRONGS_TO_SEVERAL, 3);
    for receivers in [1, 3] {
        let is_it = |case: &Case| case.mechanism == "honest" && case.parties().get() == receivers;
        let row = summary.rows.iter().find(|row| is_it(&row.case));
        let row = row.unwrap_or_else(|| panic!("honest was not measured: {:#?}", summary.skipped));
        assert!(row.verified, "{row:#?}");
    }
    // With a single receiver, a fault of the second receiver does not occur.
    assert!(summary.rows.iter().any(|row| row.case.mechanism == "skips"), "{:#?}", summary.skipped);
}

#[test]
fn each_message_of_a_program_comes_to_one_worker() {
    let (before, place) = (Snapshot::take(), Place::new());
    let modes = WRONGS_OF_WORKERS.iter().map(|(mode, _)| *mode).chain(["honest"]);
    let folder = adapter(&place, "workers", &[("workers.py", include_str!("adapters/workers.py"))], modes);
    let words =
        ["run", "--adapter", folder.to_str().unwrap(), "-m", "work", "--workers", "3", "--format", "json"];
    let more = ["--no-save", "--trials", "1", "--budget", "20ms", "--timeout", "1s"];
    let summary = place.run(words.into_iter().chain(more)).expect_code(1).summary();
    before.expect_nothing_left(&place);
    expect_skipped(&summary, &WRONGS_OF_WORKERS, 3);
    let is_it = |case: &Case| case.mechanism == "honest" && case.parties().get() == 3;
    let row = summary.rows.iter().find(|row| is_it(&row.case));
    assert!(row.is_some_and(|row| row.verified), "{:#?}", summary.skipped);
}

/// Fails unless each of these modes with this number of parties was not measured, for the given reason.
fn expect_skipped(summary: &Summary, wrongs: &[(&str, &str)], several: u32) {
    for (mode, said) in wrongs {
        let is_it = |case: &Case| case.mechanism == *mode && case.parties().get() == several;
        let skipped = summary.skipped.iter().find(|skipped| is_it(&skipped.case));
        let reason = &skipped.unwrap_or_else(|| panic!("{mode} was measured")).reason;
        assert!(reason.contains(said), "{mode}: {reason}");
    }
}

#[test]
fn check_says_what_fails_and_ends_with_1() {
    let (before, place) = (Snapshot::take(), Place::new());
    let folder = saboteur(&place, ["honest", "count"]);
    let adapters = place.path("data/furlong/adapters");
    fs::create_dir_all(&adapters).unwrap();
    fs::rename(&folder, adapters.join("saboteur")).unwrap();
    // A directory with the adapter's name but without a manifest is not used.
    fs::create_dir(&folder).unwrap();
    let finished = place.run(["adapter", "check", "saboteur"]).expect_code(1);
    before.expect_nothing_left(&place);
    assert!(
        finished.stdout.contains("honest: does one thing wrong (saboteur 1.0)\n  11 of 11 passed\n"),
        "{finished:#?}"
    );
    assert!(finished.stdout.contains("failed: count/spin 1B free: "), "{finished:#?}");
}

#[test]
fn a_manifest_that_cannot_be_used_is_named() {
    let place = Place::new();
    let folder = saboteur(&place, ["pipe"]);
    let path = folder.to_str().unwrap();
    let two = place.run(["run", "--adapter", path, "--no-save"]).expect_code(2);
    assert!(two.stderr.contains("two mechanisms are called pipe"), "{two:#?}");
    fs::write(folder.join("adapter.toml"), "name = 1").unwrap();
    for arguments in [&["run", "--adapter", path][..], &["adapter", "check", path]] {
        let wrong = place.run(arguments.iter().copied()).expect_code(2);
        assert!(wrong.stderr.contains("saboteur/adapter.toml"), "{wrong:#?}");
    }
    let nowhere = place.run(["run", "--adapter", "nowhere"]).expect_code(2);
    assert!(nowhere.stderr.contains("cannot read nowhere"), "{nowhere:#?}");
}

#[test]
fn an_adapter_is_installed_used_by_name_and_removed() {
    let (before, place) = (Snapshot::take(), Place::new());
    let unknown = place.run(["adapter", "install", "pythn"]).expect_code(2);
    assert!(unknown.stderr.contains("unknown adapter pythn"), "{unknown:#?}");
    let installed = place.run(["adapter", "install", "python"]).expect_code(0);
    assert!(
        installed.stdout.contains("python: installed in ") && installed.stdout.contains("python-pipe: "),
        "{installed:#?}"
    );
    let listed = place.run(["adapter", "list"]).expect_code(0);
    assert!(
        listed.stdout.lines().any(|line| line.contains("python") && line.contains("installed")),
        "{listed:#?}"
    );
    let asked = ["run", "python-p*", "--format", "json", "--no-save"];
    let run = place.run(asked.into_iter().chain(SHORT)).expect_code(0);
    assert_eq!(run.summary().rows[0].case.mechanism, "python-pipe");
    place.run(["adapter", "remove", "python"]).expect_code(0);
    place.run(["adapter", "remove", "python"]).expect_code(2);
    place.run(["run", "python-pipe"]).expect_code(2);
    before.expect_nothing_left(&place);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn the_calls_of_all_threads_of_a_program_are_counted() {
        let (before, place) = (Snapshot::take(), Place::new());
        let folder = saboteur(&place, ["thread"]);
        let asked = ["count", "--adapter", folder.to_str().unwrap(), "--place", "same-core"];
        let counted = place.run(asked.into_iter().chain(["--format", "json"])).expect_code(0).json();
        before.expect_nothing_left(&place);
        let rows = list(&counted, "rows");
        let row = rows.first().unwrap_or_else(|| panic!("nothing was counted: {counted:#}"));
        // A thread that starts while it is traced calls it once per message, and the protocol adds a few calls.
        let calls = number(row, "system_calls_per_round_trip.getppid");
        assert!((calls - 1.0).abs() < 0.01, "{row:#}");
        let threads = at(&list(row, "roles")[0], "threads_per_round_trip");
        assert!(number(threads, "helper") >= 1.0 && number(threads, "python3") > 0.0, "{row:#}");
        assert_eq!(at(row, "as_declared"), &Value::Null, "{row:#}");
    }

    /// Installs a new Python adapter, and returns the directory of installed adapters.
    fn install_new(place: &Place) -> PathBuf {
        let installed = place.path("data/furlong/adapters");
        fs::create_dir_all(&installed).unwrap();
        let mut new = place.furlong(["adapter", "new", "--lang", "python", "mine"]);
        place.finish(new.current_dir(&installed)).expect_code(0);
        installed
    }

    fn recommended_with_adapters(place: &Place, more: &[&str]) -> Value {
        let asked =
            ["recommend", "--size", "128", "--within", "8s", "--also", "adapters", "--format", "json"];
        let words = asked.iter().chain(&["--no-save", "--no-progress"]).chain(more).copied();
        place.run(words).expect_code(0).json()
    }

    #[test]
    #[ignore = "slow"]
    fn installed_adapters_are_recommended_where_that_is_asked() {
        let (before, place) = (Snapshot::take(), Place::alone());
        install_new(&place);
        let with = recommended_with_adapters(&place, &["--rate", "200/s"]);
        // The adapter is slower than most, but measured like them. A busy machine may not sustain the rate.
        let measured = ["ranked", "eliminated"].into_iter().flat_map(|of| list(&with, of));
        let behind = |row: &&Value| {
            ["saturated", "CPU time was lost"].iter().any(|why| text(row, "reason").starts_with(why))
        };
        let saturated = list(&with, "excluded").iter().filter(behind);
        assert!(measured.chain(saturated).any(|row| text(row, "mechanism") == "mine"), "{with:#}");
        let at_a_rate =
            ["run", "mine", "--rate", "500/s", "--place", "same-core", "--format", "json", "--no-save"];
        let run =
            place.run(at_a_rate.into_iter().chain(["--trials", "3", "--budget", "50ms"])).expect_code(0);
        let row = &run.summary().rows[0];
        // The number of messages that are due in that time, not the number that it could send. A busy machine may
        // send fewer.
        assert!((50.0..625.0).contains(&number(&row.figures, "round_trips_per_second")), "{row:#?}");
        before.expect_nothing_left(&place);
    }

    #[test]
    #[ignore = "slow"]
    fn slow_trial_of_an_adapter_ends_with_the_time_of_a_recommendation() {
        let (before, place) = (Snapshot::take(), Place::new());
        let installed = install_new(&place);
        let program = installed.join("mine/adapter.py");
        let source = fs::read_to_string(&program).unwrap();
        fs::write(&program, source.replacen("\nimport os", "\nimport os, time; time.sleep(2)", 1)).unwrap();
        let answer = recommended_with_adapters(&place, &[]);
        let is_it = |row: &&Value| text(row, "mechanism") == "mine";
        let excluded = list(&answer, "excluded").iter().find(is_it).expect("the adapter");
        assert!(text(excluded, "reason").starts_with("one trial takes longer than"), "{excluded:#}");
        before.expect_nothing_left(&place);
    }

    #[test]
    fn a_warm_up_that_was_asked_for_is_not_cut_into_short_exchanges() {
        let (before, place) = (Snapshot::take(), Place::new());
        place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
        let (program, log) = (place.path("mine/adapter.py"), place.path("log"));
        let counting = format!(
            "\nimport protocol\n\nanswer = protocol.Conversation.answer\n\n\ndef logged(self, op, request):\n    with open({:?}, \"a\") as \
             log:\n        log.write(op + \"\\n\")\n    return answer(self, op, request)\n\n\nprotocol.Conversation.answer = logged\n",
            log.display().to_string()
        );
        let source = fs::read_to_string(&program).unwrap().replacen("\nimport protocol\n", &counting, 1);
        fs::write(&program, source).unwrap();
        let words =
            "run --adapter ./mine mine --trials 1 --budget 5ms --warm-up 300ms --no-save --no-progress";
        place.run(words.split(' ')).expect_code(0);
        before.expect_nothing_left(&place);
        let exchanges = fs::read_to_string(&log).unwrap().lines().filter(|op| *op == "exchange").count();
        // Two programs exchange messages to verify them, to warm up and on the clock. Warm-up in exchanges of 5 ms
        // would add 60 to each.
        assert!((6..60).contains(&exchanges), "{exchanges}");
    }

    #[test]
    #[ignore = "slow"]
    fn a_program_with_a_loop_of_its_own_is_explained_by_its_calls() {
        let (before, place) = (Snapshot::take(), Place::new());
        place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
        let program = place.path("mine/adapter.py");
        let template = fs::read_to_string(&program).unwrap();
        let (send, with_thread) = ("return self.socket.sendall, receive", include_str!("adapters/thread.py"));
        assert!(template.contains(send), "{template}");
        fs::write(&program, template.replace(send, with_thread.trim_start())).unwrap();
        let asked =
            ["explain", "--adapter", "./mine", "--place", "same-core", "--trials", "3", "--budget", "5ms"];
        let explained = place.run(asked.into_iter().chain(["--format", "json"])).expect_code(0).json();
        let row = list(&explained, "rows").first().unwrap_or_else(|| panic!("not explained: {explained:#}"));
        let count = |name: &str, of: &str| {
            let is_it =
                |term: &&Value| text(term, "name") == name && term.get("of").is_some_and(|found| found == of);
            let term = list(row, "terms").iter().find(is_it);
            number(term.unwrap_or_else(|| panic!("no {name} {of} in {row:#}")), "count")
        };
        // Each role sends, receives, makes a request to its thread and waits for it. That is three calls, or more if
        // the two threads wait for each other's turn in the interpreter.
        for name in ["sendto", "recvfrom", "write", "read"] {
            assert!((count("system-calls", name) - 2.0).abs() < 0.1, "{name} in {row:#}");
        }
        assert!((5.7..18.0).contains(&count("library-threads", "helper")), "{row:#}");
        let [measured, predicted, left] =
            ["measured_ns", "predicted_ns", "unexplained_ns"].map(|name| number(row, name));
        let sum: f64 = list(row, "terms").iter().map(|term| number(term, "ns")).sum();
        assert!((sum - predicted).abs() < 1.0 && (measured - predicted - left).abs() < 1.0, "{row:#}");
        let table = place.run(asked).expect_code(0).stdout;
        before.expect_nothing_left(&place);
        for said in ["mine/block 128B same-core: ", "system calls: sendto", "library threads: helper"] {
            assert!(table.contains(said), "{said} in {table}");
        }
        assert!(table.contains("Library threads may run in parallel to the round trip"), "{table}");
    }
}
