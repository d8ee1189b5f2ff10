//! Mistakes in the command line are rejected with exit status 2 and a remedy, before anything is measured.

use crate::common::{Place, Terminal};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Fails unless furlong rejects these arguments with a message that contains `words`.
#[track_caller]
fn refused(arguments: &[&str], words: &str) {
    let place = Place::new();
    let finished =
        place.run(arguments.iter().copied()).expect_code(2).expect_complaint(words).expect_no_panic();
    assert_eq!(finished.stdout, "", "{finished:?}");
}

#[test]
fn sizes_that_are_none() {
    for size in ["9223372036854775808", "10GiB"] {
        refused(
            &["run", "pipe", "-s", size],
            &format!("furlong: --size must be between 0 and 1GiB, got {size}"),
        );
    }
    for size in ["-1", "1e9", "NaN", "", " ", "1.5KiB", "4XB", "0x10", "-4KiB"] {
        refused(&["run", "pipe", "-s", size], "write whole bytes from 0 to 1GiB");
        refused(&["run", "pipe", &format!("--size={size}")], "write whole bytes from 0 to 1GiB");
    }
}

#[test]
fn times_that_are_none() {
    for option in ["--budget", "--timeout"] {
        for time in ["0", "-1s", "5", "1e3s", "inf", ""] {
            refused(&["run", "pipe", option, time], "write a number above 0 and up to 60min");
        }
        for time in ["0ms", "61min"] {
            let must = format!("{option} must be above 0 and up to 60min, got {time}");
            refused(&["run", "pipe", option, time], &must);
        }
    }
}

#[test]
fn paces_that_are_none() {
    for rate in ["0/s", "0.5/s", "11M/s"] {
        refused(
            &["run", "pipe", "--rate", rate],
            &format!("--rate must be between 1/s and 10M/s, got {rate}"),
        );
    }
    for rate in ["abc", "-1/s", "1x", "1/min", "/s", ""] {
        refused(&["run", "pipe", "--rate", rate], "--rate <RATE>");
        refused(&["run", "pipe", "--rate", rate], "write a number per second, from 1/s to 10M/s");
    }
    refused(&["run", "pipe", "--gap", "61min"], "--think-time must be above 0 and up to 60min, got 61min");
    for gap in ["-1ms", "1", ""] {
        refused(&["run", "pipe", "--gap", gap], "--think-time <TIME>");
        refused(&["run", "pipe", "--gap", gap], "write a number above 0 and up to 60min");
    }
}

#[test]
fn options_that_exclude_each_other() {
    refused(
        &["run", "pipe", "--rate", "1k/s", "--gap", "1ms"],
        "'--rate <RATE>' cannot be used with '--think-time",
    );
    refused(&["run", "pipe", "--self-check", "--count"], "'--self-check' cannot be used with '--count'");
    refused(&["run", "pipe", "--self-check", "--require"], "'--self-check' cannot be used with '--require'");
    // The placement that helps to explain other placements is not explained itself.
    refused(&["explain", "pipe", "--place", "one-process"], "both ends are in one process");
    refused(&["explain", "null/spin"], "it carries no message");
    refused(&["explain", "pipe/spin", "--place", "same-core"], "until its time slice ends");
}

#[test]
fn numbers_that_are_none() {
    for trials in ["0", "-1", "10001", "4294967296"] {
        let must = format!("--trials must be between 1 and 10000, got {trials}");
        refused(&["run", "pipe", "--trials", trials], &must);
    }
    for trials in ["many", "1.5"] {
        let must = format!("--trials must be a whole number without a sign, got {trials}");
        refused(&["run", "pipe", "--trials", trials], &must);
    }
    refused(&["run", "pipe", "--trials", ""], "--trials");
    for repeats in ["0", "-1", "1001"] {
        let must = format!("--repeats must be between 1 and 1000, got {repeats}");
        refused(&["run", "pipe", "--self-check", "--repeats", repeats], &must);
    }
    refused(&["run", "pipe", "--repeats", "3"], "--self-check");
    for verb in ["costs", "explain"] {
        refused(&[verb, "--trials", "0"], "--trials must be between 1 and 1000, got 0");
        refused(&[verb, "--trials", "1001"], "--trials must be between 1 and 1000, got 1001");
    }
    for option in ["--pairs", "--receivers", "--senders", "--workers", "--links"] {
        let must = format!("{option} must be between 1 and 4096, got 100000");
        refused(&["run", "pipe", option, "100000"], &must);
        refused(&["run", "pipe", option, "1..100000"], &must.replace("got ", "got 1.."));
    }
    refused(&["run", "pipe", "--window", "0"], "--window must be between 1 and 1000000, got 0");
    refused(&["serve", "--port", "70000"], "--port must be between 0 and 65535, got 70000");
    for seed in ["-1", "one"] {
        let must = format!("--seed must be a whole number without a sign, got {seed}");
        refused(&["run", "pipe", "--seed", seed], &must);
    }
    refused(&["run", "pipe", "--seed", "18446744073709551616"], "--seed <N>': number too large");
}

#[test]
fn names_that_nothing_has() {
    refused(&["run", "pipe", "--wait", "sleep"], "there are: block, spin, yield");
    refused(&["run", "pipe", "--wait", ""], "there are: block, spin, yield");
    refused(&["run", "pipe", "-m", "stream"], "there are: round-trip");
    refused(&["run", "pipe", "--format", "xml"], "table, json, csv, markdown");
    for place in ["2", "0:", ":1", "a:b", "0:1:", "-1:0", "l2", ""] {
        let known =
            "there are: other-core, same-core, one-process, free, spread, packed, smt, l3, node, far, A:B";
        refused(&["run", "pipe", &format!("--place={place}")], known);
    }
}

#[test]
fn rows_that_nothing_matches() {
    for row in ["pip", "pipe/futex", "pipe/", "", "/", "PIPE", "pipe/block/block"] {
        refused(&["run", row], "run 'furlong list' to see all mechanisms");
        refused(&["run", "tcp", row], "run 'furlong list' to see all mechanisms");
        refused(&["count", "tcp", row], "run 'furlong list' to see all mechanisms");
        refused(&["explain", "tcp", row], "run 'furlong list' to see all mechanisms");
    }
    refused(&["run", "mq"], "did you mean posix-mq or sysv-mq?");
    refused(&["run", "mq/spin"], "did you mean posix-mq/spin or sysv-mq/spin?");
    refused(&["run", "["], "'[' is not a valid benchmark");
    refused(&["run", "pipe", "--wait", "futex"], "run 'furlong list'");
}

#[test]
fn verbs_and_options_that_are_none() {
    refused(&["go"], "Usage: furlong [COMMAND]");
    for (words, verb) in
        [(&["rnu"][..], "run"), (&["reprot"], "report"), (&["hlep"], "help"), (&["runs", "lsit"], "list")]
    {
        refused(words, &format!("a similar subcommand exists: '{verb}'\n"));
    }
    refused(&["doctor", "now"], "Usage: furlong doctor [OPTIONS]");
    refused(&["run", "--quickly"], "Usage: furlong run [OPTIONS] [ROW]...");
    for verb in ["list", "count", "costs", "explain"] {
        refused(&[verb, "--format", "csv"], "table, json");
    }
    refused(&["costs", "pipe"], "Usage: furlong costs [OPTIONS]");
    // The argument with which furlong starts its children is not a verb.
    refused(&["child"], "Usage: furlong [COMMAND]");
    refused(&["child", "x"], "Usage: furlong [COMMAND]");
}

#[test]
fn list_keeps_names_whole_at_the_width_that_columns_asks_for() {
    let place = Place::new();
    let json = place.run(["list", "--format", "json"]).expect_code(0).json();
    for columns in ["1", "40", "80", "100", "200"] {
        let listed = place.finish(place.furlong(["list"]).env("COLUMNS", columns)).expect_code(0).stdout;
        let firsts: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let words: Vec<&str> = listed.split_whitespace().collect();
        let width: usize = columns.parse().unwrap();
        assert!(
            width < 40 || listed.lines().all(|line| line.chars().count() <= width),
            "{columns}: {listed}"
        );
        for entry in json.as_array().expect("mechanisms") {
            let name = entry["mechanism"].as_str().expect("a name");
            assert!(firsts.contains(&name), "{columns}: {name} is split: {listed}");
            for wait in entry["capabilities"]["waits"].as_array().expect("wait strategies") {
                let wait = wait.as_str().expect("a name");
                assert!(words.contains(&wait), "{columns}: {wait} is split: {listed}");
            }
        }
    }
    let line = r#"stty cols 150; COLUMNS=40 "$FURLONG" list io-uring-socketpair"#;
    let listed = Terminal::start(&place, line).finish().stdout;
    assert!(listed.starts_with("io-uring-socketpair\r\n"), "{listed:?}");
}

#[test]
fn list_has_the_named_mechanisms_alone() {
    let place = Place::new();
    let json =
        place.run(["list", "pipe", "unix-dgr*m", "tcp/spin", "--format", "json"]).expect_code(0).json();
    let names: Vec<_> =
        json.as_array().expect("mechanisms").iter().map(|entry| &entry["mechanism"]).collect();
    assert_eq!(names, ["pipe", "unix-dgram", "tcp"]);
    let why = place.run(["list", "pipe", "eventfd", "--why"]).expect_code(0).stdout;
    assert_eq!(why.lines().filter(|line| line.starts_with("pipe") || line.starts_with("eventfd")).count(), 2);
    assert!(!why.contains("posix-mq"), "{why}");
    refused(&["list", "pip"], "no benchmark matches 'pip'; did you mean pipe?");
    refused(&["list", "pipe", "mq", "--why"], "did you mean posix-mq or sysv-mq?");
    refused(&["list", "[", "--format", "json"], "'[' is not a valid benchmark");
}

#[test]
fn what_is_no_text() {
    let place = Place::new();
    for words in [&["run"][..], &[], &["child"]] {
        let mut command = place.furlong(words.iter().copied());
        command.arg(OsStr::from_bytes(b"pi\xffpe"));
        place.finish(&mut command).expect_code(2).expect_complaint("--help");
    }
}

#[test]
fn names_command_no_terminal() {
    let place = Place::new();
    let name = "./a\x1b[31m\u{202e}b";
    for words in [&["replay"][..], &["explain"], &["run", "pipe", "--adapter"], &["run", "pipe", "--save"]] {
        let finished =
            place.run(words.iter().copied().chain([name])).expect_code(2).expect_complaint("./a [31m b");
        assert!(!finished.stderr.contains(['\x1b', '\u{202e}']), "{finished:?}");
    }
}

#[test]
fn names_to_save_under() {
    let long = "x".repeat(10_000);
    for name in ["../x", ".hidden", "", ".", "..", "a/b", "/etc/passwd", "a b", "x\n", "ä"] {
        let name = format!("--save={name}");
        refused(&["run", "pipe", &name, "--trials", "1", "--budget", "2ms"], "use only letters, digits");
    }
    refused(&["run", "pipe", "--save", "x", "--no-save"], "cannot be used with");
    let place = Place::new();
    let finished = place.run(["run", "pipe", "--trials", "1", "--budget", "2ms", "--save", &long]);
    finished.expect_code(1).expect_complaint("File name too long");
    assert!(!place.path("home").join(".hidden").exists() && !place.saved(".hidden").exists());
}

#[test]
fn a_saved_run_is_never_overwritten() {
    let place = Place::new();
    let arguments = ["run", "pipe", "--trials", "1", "--budget", "2ms", "--save", "mine"];
    place.run(arguments).expect_code(0);
    let first = fs::read(place.saved("mine")).unwrap();
    let refused =
        place.run(arguments).expect_code(2).expect_complaint("already exists; --replace replaces it");
    refused.expect_complaint("'furlong runs remove mine' deletes it");
    assert_eq!(first, fs::read(place.saved("mine")).unwrap());
    // Another program's file with that name is not overwritten either, even if it is a dangling link.
    std::os::unix::fs::symlink("/nonexistent/target", place.saved("link")).unwrap();
    let arguments = ["run", "pipe", "--trials", "1", "--budget", "2ms", "--save", "link"];
    place.run(arguments).expect_code(2).expect_complaint("already exists");
    assert!(fs::read_dir(place.path("tmp")).unwrap().next().is_none(), "nothing is left of a refused run");
}

#[test]
fn argument_that_is_no_text_is_named() {
    let place = Place::new();
    let refused =
        place.finish(&mut place.shell(r#""$FURLONG" run pipe "tcp$(printf '\377')""#)).expect_code(2);
    refused.expect_complaint(r#"the argument "tcp\xFF" is not valid UTF-8"#);
}
