//! `furlong recommend`: constraints hold, the answer is measured at the workload, and mistakes in the command line
//! are reported.

use crate::common::value::{at, list, number, text};
use crate::common::{Place, is_root, look_for};
use furlong_testing::skip;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// The text before the choice; the second one appears on an unreliable machine.
const ANSWERS: [&str; 2] = ["Recommendation: ", "Recommendation (provisional): "];

/// Returns the recommendation for the workload that these words describe, in a time that suffices while other tests
/// run.
fn recommended(place: &Place, words: &str) -> Value {
    let words = words.split(' ').chain(["--format", "json", "--no-save", "--no-progress", "--within", "4s"]);
    place.run(["recommend"].into_iter().chain(words)).expect_code(0).json()
}

/// Returns the names of the mechanisms in a list of the answer.
fn mechanisms<'a>(answer: &'a Value, of: &str) -> Vec<&'a str> {
    list(answer, of).iter().filter_map(|entry| at(entry, "mechanism").as_str()).collect()
}

#[test]
fn where_nothing_may_serve_the_exit_code_is_7() {
    // No socket that passes descriptors is also persistent.
    let words = "recommend --needs fd-passing,persistence --no-save --no-progress";
    let output = Place::new().run(words.split(' ')).expect_code(7);
    let none = "No recommendation: no mechanism of this machine meets the constraints\n";
    assert!(output.stdout.contains(none), "{}", output.stdout);
    assert!(output.stdout.ends_with("\nNext: furlong list --why\n"), "{}", output.stdout);
}

#[test]
fn what_is_typed_wrong_is_said() {
    let place = Place::new();
    let broken = place.path("broken.toml");
    for (text, expected) in [
        ("sise = \"1\"\n", "unexpected argument '--sise' found"),
        ("size = \"big\"\n", "'--size <SIZE>': 'big' is not a valid size"),
        ("boundary = [\"moon\"]\n", "'moon' for '--boundary <BOUNDARY>'"),
        ("receivers = 0\n", "'--receivers <N>': 0 is not in 1..=1000"),
    ] {
        fs::write(&broken, text).unwrap();
        let output = place.run(["recommend", "--workload", broken.to_str().unwrap()]).expect_code(2);
        assert!(output.stderr.contains(expected), "{text}: {}", output.stderr);
    }
    for (words, expected) in [
        ("", "no workload specified"),
        ("--workload nowhere.toml", "cannot read nowhere.toml"),
        ("--size 0", "--size must be at least 1 byte"),
        ("--request 1", "--request requires --pattern request"),
        ("--slo p98<1ms", "not a service level objective"),
        ("--slo p99<1ms --pattern one-way", "--slo limits the latency of single messages"),
        ("--boundary moon", "container"),
        ("--boundary seccomp:missing.json", "read missing.json: No such file"),
        ("--receivers 0", "--receivers must be between 1 and 1000, got 0"),
        (
            "--senders 2 --workers 2 --pattern one-way",
            "only one of --receivers, --senders and --workers may be above 1",
        ),
        ("--senders 2", "require --pattern one-way"),
        ("--senders 2 --pattern one-way --emit c", "--emit prints one sender"),
        ("--receivers 3 --pattern one-way --emit c", "--emit prints one sender"),
        ("--receivers 3 --pattern one-way --emit c --row pipe/block", "--emit prints one sender"),
        ("--workers 2 --pattern one-way --objective latency", "use an --objective other than latency"),
        ("--latest", "--latest requires --pattern one-way and --rate"),
        ("--latest --pattern one-way", "--latest requires --pattern one-way and --rate"),
        ("--latest --rate 1k/s", "--latest requires --pattern one-way and --rate"),
        (
            "--latest --rate 1k/s --pattern one-way --workers 2",
            "--latest requires --pattern one-way and --rate",
        ),
        ("--latest --emit c --row pipe/block", "--latest requires --pattern one-way and --rate"),
        ("--size 1 --emit c,rust", "writes several files"),
        ("--trust none --emit c --row posix-shm/futex", "memory that both can write"),
        ("--needs boundaries --emit c --row pipe/block", "messages have no boundaries"),
        ("--languages python --emit c --row posix-shm/futex", "not available in Python"),
        ("--rate 1k/s --pattern one-way --emit c --row seqlock/futex", "its reader may miss messages"),
        (
            "--senders 2 --pattern one-way --rate 1k/s --slo p99<1ms",
            "--slo limits the latency of single messages",
        ),
        ("--accept-shared-memory", "--trust none"),
        ("--size 1 --place one-process", "two processes"),
    ] {
        let words = ["recommend"].into_iter().chain(words.split(' ').filter(|word| !word.is_empty()));
        let output = place.run(words).expect_code(2);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
        assert!(output.stdout.is_empty(), "{}", output.stdout);
    }
}

#[test]
fn a_row_is_printed_as_a_program_without_measuring() {
    let place = Place::new();
    for (language, row, begins) in [
        ("c", "unix-seqpacket/block", "/*\n * unix-seqpacket/block: "),
        ("rust", "posix-shm/futex", "//! posix-shm/futex: "),
        ("python", "pipe/block", "#!/usr/bin/env python3\n# pipe/block: "),
    ] {
        let words = ["recommend", "--size", "100", "--emit", language, "--row", row];
        let output = place.run(words).expect_code(0);
        assert!(output.stdout.starts_with(begins), "{}", output.stdout);
        assert!(output.stderr.contains("save it as pair."), "{}", output.stderr);
    }
    assert!(place.all_saved().is_empty());
    for (row, expected) in [
        ("pipe", "expected MECHANISM/WAIT"),
        ("pipe/tape", "no wait is called 'tape'"),
        ("posix-shm/futex", "posix-semaphore"),
        ("pigeon/block", "pigeon"),
    ] {
        let output = place.run(["recommend", "--emit", "python", "--size", "9", "--row", row]).expect_code(2);
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{}", output.stderr);
    }
    place.run(["recommend", "--row", "pipe/block"]).expect_code(2);
    place.run(["recommend", "--emit", "c", "--format", "json"]).expect_code(2);
}

#[test]
fn a_program_is_printed_for_what_lies_between_its_ends() {
    let place = Place::new();
    let words = |boundary, row| ["recommend", "--boundary", boundary, "--emit", "c", "--row", row];
    for (boundary, row, command, lets_in) in [
        (
            "user",
            "unix-stream/block",
            "  PAIR_PEER=$(id -u OTHER_USER) ./pair ask",
            "only the user PAIR_PEER",
        ),
        ("user", "fifo/block", "  PAIR_PEER=$(id -u OTHER_USER) ./pair ask", "every user"),
        (
            "container",
            "memfd-shm/futex",
            "  PAIR_FOLDER=/SHARED_FOLDER ./pair serve",
            "only the user PAIR_PEER",
        ),
        ("host", "tcp/block", "  PAIR_ADDRESS=ADDRESS ./pair serve", "every process that reaches the port"),
    ] {
        let output = place.run(words(boundary, row)).expect_code(0);
        assert!(output.stderr.lines().any(|line| line == command), "{}", output.stderr);
        let said = output.stderr.lines().find(|line| line.starts_with("Lets in: ")).unwrap_or_default();
        assert!(said.contains(lets_in), "{}", output.stderr);
        assert!(
            output.stdout.contains(&format!(" * {}", said.split(':').next().unwrap())),
            "{}",
            output.stdout
        );
    }
    for (boundary, row, why) in [
        ("user", "pipe/block", "the program forks"),
        ("user", "process-vm/futex", "not accessible to processes of another user"),
        ("container", "sysv-mq/block", "named inside one IPC namespace"),
        ("host", "unix-stream/block", "not usable between hosts"),
    ] {
        let output = place.run(words(boundary, row)).expect_code(2);
        assert!(output.stderr.contains(why) && output.stdout.is_empty(), "{}", output.stderr);
    }
    let output = place.run(words("pid-namespace", "unix-stream/block")).expect_code(0);
    assert!(!output.stderr.contains("PAIR_PEER"), "one user in one file system: {}", output.stderr);
}

#[test]
fn the_choice_is_printed_beside_the_reasons_for_it() {
    let words = "recommend --size 100 --needs boundaries,peer-death --emit python --within 1s --why --no-save --no-progress";
    let output = Place::new().run(words.split(' ')).expect_code(0);
    let named = |line: &str| ANSWERS.iter().find_map(|answer| line.strip_prefix(answer)).map(str::to_owned);
    let choice = output.stderr.lines().find_map(named).expect("a choice");
    let header = output.stdout.lines().nth(1).unwrap_or_default();
    assert!(header.starts_with(&format!("# {choice}: ")), "{header}");
    assert!(
        output.stderr.contains("cannot print a program"),
        "what Python cannot do is no candidate: {output:#?}"
    );
}

#[test]
fn candidates_are_measured_under_the_boundary() {
    let words = "--size 1KiB --rate 1k/s --boundary seccomp:docker,pid-namespace";
    let answer = recommended(&Place::new(), words);
    assert_eq!(at(&answer, "workload.measured_boundary"), "seccomp:docker");
    let rest = list(&answer, "unmeasured_boundaries");
    assert_eq!((rest.len(), text(&rest[0], "boundary")), (1, "pid-namespace"));
    let excluded = list(&answer, "excluded").iter();
    let reasons: Vec<_> = excluded.map(|entry| (text(entry, "mechanism"), text(entry, "reason"))).collect();
    let why =
        |mechanism: &str| reasons.iter().find(|(name, _)| *name == mechanism).map(|(_, reason)| *reason);
    assert!(why("pidfd-getfd").is_some_and(|reason| reason.contains("PID namespace")), "{reasons:?}");
    // Without io_uring, the reason is its absence.
    let forbidden = why("io-uring-pipe").unwrap_or_default();
    assert!(forbidden.contains("forbids the system call") || forbidden.contains("io_uring"), "{reasons:?}");
}

#[test]
fn boundary_that_is_impossible_here_is_a_note() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let words = "recommend --size 64 --boundary user --within 1s --no-save --no-progress --format json";
    let answer = place.finish(&mut place.furlong_as_nobody(words.split(' '))).expect_code(0).json();
    assert_eq!(answer["workload"]["measured_boundary"], Value::Null);
    let note = &list(&answer, "unmeasured_boundaries")[0];
    assert_eq!(text(note, "boundary"), "user");
    assert!(text(note, "reason").contains("setgroups: Operation not permitted"), "{note:#}");
}

#[test]
fn an_interrupted_run_says_how_far_it_came_and_leaves_nothing() {
    let place = Place::new();
    let running = place.start(&mut place.furlong("recommend --size 64 --rate 50/s --no-progress".split(' ')));
    let saved = || (place.records_of_all("trial") > 0).then_some(());
    look_for(Duration::from_secs(60), saved).expect("a trial");
    running.signal(libc::SIGINT);
    let finished = running.finish().expect_code(130).expect_no_panic();
    assert!(finished.stdout.contains("The run is partial"), "{finished:#?}");
    assert_eq!(place.records_of_all("end"), 1);
    assert!(place.processes().is_empty());
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn a_small_rpc_from_a_file_is_measured_at_its_rate() {
        let place = Place::new();
        fs::write(
            place.path("small.toml"),
            "size = \"64KiB\"\nrate = \"100/s\"\nneeds = [\"boundaries\"]\nspin = false\n",
        )
        .expect("a file");
        let answer = recommended(&place, "--workload small.toml --size 128 --slo p99<10s --work 1s");
        assert_eq!(number(&answer, "workload.size_bytes"), 128.0, "what is typed counts before the file");
        assert_eq!(number(&answer, "workload.interval_ns"), 1e7);
        assert_eq!(list(&answer, "workload.needs"), ["boundaries"]);
        let choice = at(&answer, "choice");
        assert!(number(choice, "p50_ns") > 0.0, "{choice:#}");
        // 100 messages take one second, and all candidates share four.
        assert!(number(choice, "messages") < 100.0 && at(choice, "p99_ns").is_null(), "{choice:#}");
        assert!((0.0..1.0).contains(&number(choice, "cpu_share")), "{choice:#}");
        assert_eq!(at(choice, "slo.holds"), &Value::Null, "p99 needs 100 samples: {choice:#}");
        assert_eq!(at(&answer, "budget.matters"), false, "{answer:#}");
        assert!(!list(&answer, "ranked").iter().any(|row| at(row, "wait") == "spin"), "{answer:#}");
        assert_eq!(at(&answer, "if_spinning.wait"), "spin", "{answer:#}");
        let excluded = mechanisms(&answer, "excluded");
        assert!(excluded.contains(&"null") && excluded.contains(&"anon-shm"), "{excluded:?}");
        assert!(
            list(&answer, "sensitivities")
                .iter()
                .any(|sensitivity| at(sensitivity, "change") == "--boundary host"),
            "{answer:#}"
        );
    }

    #[test]
    #[ignore = "slow"]
    fn several_that_share_an_end_are_measured_so() {
        for (words, said) in [("--senders 3", "senders"), ("--workers 3 --rate 100/s", "workers")] {
            let answer = recommended(&Place::new(), &format!("--size 64 --pattern one-way {words}"));
            // It was measured, although a few noisy trials may eliminate it.
            let measured = [mechanisms(&answer, "ranked"), mechanisms(&answer, "eliminated")].concat();
            assert!(measured.contains(&"pipe"), "{answer:#}");
            let reasons = list(&answer, "excluded").iter().map(|excluded| text(excluded, "reason"));
            let reason = format!("{said} of tcp cannot share its end, which is for one process");
            assert!(reasons.into_iter().any(|said| said == reason), "{answer:#}");
            assert!(number(&answer, "capacity_per_second") > 0.0, "{answer:#}");
        }
    }

    #[test]
    #[ignore = "slow"]
    fn who_asks_again_is_told_whether_the_answer_is_the_same() {
        let place = Place::new();
        let ask = |more: &[&str]| {
            let words =
                ["recommend", "--size", "128", "--needs", "fd-passing", "--within", "1s", "--format", "json"];
            place.run(words.iter().chain(more).copied()).expect_code(0).json()
        };
        let first = ask(&[]);
        assert_eq!(at(&first, "earlier"), &Value::Null);
        let row =
            |answer: &Value| format!("{}/{}", text(answer, "choice.mechanism"), text(answer, "choice.wait"));
        let again = ask(&[]);
        assert_eq!(text(&again, "earlier.row"), row(&first), "{again:#}");
        let same = row(&again) == row(&first);
        assert_eq!(text(&again, "earlier.now") == "same", same, "{again:#}");
        // The first question is different, and its answer is not stored, so the second one has no earlier answer.
        assert_eq!(at(&ask(&["--spin", "--no-save"]), "earlier"), &Value::Null);
        assert_eq!(at(&ask(&["--spin"]), "earlier"), &Value::Null);
        // An invalid answers file from another program does no harm.
        fs::write(place.path("data/furlong/answers.json"), "[{}]").unwrap();
        assert_eq!(at(&ask(&[]), "earlier"), &Value::Null);
    }

    #[test]
    #[ignore = "slow"]
    fn an_objective_that_does_not_hold_is_exit_code_3_and_the_run_is_saved_with_its_verdict() {
        let place = Place::new();
        let words = "recommend --size 1KiB --slo p50<1ns --within 5s --save asked --no-progress";
        let output = place.run(words.split(' ')).expect_code(3);
        assert!(output.stdout.contains("  p50 < 1 ns   missed: "), "{}", output.stdout);
        assert!(output.stdout.lines().count() <= 25, "{}", output.stdout);
        // On a machine that loses most of its time, the choice may be a benchmark without a program to print.
        let has_next = output.stdout.contains("\nNext: furlong recommend ");
        assert!(has_next || output.stdout.contains("-accept/"), "{}", output.stdout);
        let again = place.run(words.split(' ')).expect_code(2);
        assert!(again.stderr.contains("already exists"), "{}", again.stderr);
        assert_eq!((place.records("asked", "shortlist"), place.records("asked", "end")), (1, 1));
        let page = place.run(["report", "asked", "--format", "markdown"]).expect_code(0).stdout;
        let answers = ANSWERS.map(|answer| format!("\n- {answer}"));
        let has_answer = answers.iter().any(|answer| page.contains(answer));
        assert!(page.contains("- Workload: round trips of 1KiB") && has_answer, "{page}");
    }

    #[test]
    #[ignore = "slow"]
    fn between_containers_nothing_is_taken_that_a_namespace_hides() {
        let place = Place::new();
        let answer = recommended(&place, "--size 4KiB --boundary container --trust none");
        assert_eq!(fs::read_dir(place.path("tmp")).unwrap().count(), 0, "nothing is left of what was tried");
        let excluded = mechanisms(&answer, "excluded");
        // Queues of System V are forbidden by the measurement, and memory by the lack of trust.
        for hidden in ["sysv-mq", "sysv-shm", "posix-shm", "process-vm"] {
            assert!(excluded.contains(&hidden), "{hidden} in {excluded:?}");
        }
        // The kernel may not allow this user to create namespaces.
        if let [path, object, process, network] = list(&answer, "tried") {
            assert_eq!(at(path, "failed"), &Value::Null, "{path}");
            assert!(
                [object, process, network].iter().all(|tried| at(tried, "failed").is_string()),
                "{answer:#}"
            );
        }
        let family = at(&answer, "choice.mechanism").as_str().unwrap_or_default();
        assert!(!family.ends_with("-shm") && !family.ends_with("-mq") && !family.is_empty(), "{answer:#}");
    }

    #[test]
    #[ignore = "slow"]
    fn a_stream_without_a_rate_is_about_throughput() {
        let answer = recommended(
            &Place::new(),
            "--size 16KiB --pattern one-way --languages rust,python --needs fd-passing",
        );
        assert_eq!(at(&answer, "workload.objective"), "throughput");
        assert!(number(&answer, "choice.bytes_per_second") > 0.0, "{answer:#}");
        let ranked = mechanisms(&answer, "ranked");
        let sockets =
            ["unix-stream", "unix-seqpacket", "unix-dgram", "socketpair", "scm-rights", "unix-accept"];
        assert!(ranked.iter().all(|name| sockets.contains(name)), "{ranked:?}");
    }
}
