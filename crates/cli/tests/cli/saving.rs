//! Files of runs that change during the run, and results that would replace a run.

use crate::common::value::{list, text};
use crate::common::{FinishedCommand, Place, can_trace};
use furlong_testing::skip;
use std::fs;

/// Measures a program that runs `script` before it is ready.
fn measure(place: &Place, script: &str, more: &[&str]) -> FinishedCommand {
    let program = format!("{{ {script}; }} >&2 && echo ready && sleep 0.01 && echo done 1");
    let words = ["run", "--program", &program, "--trials", "1", "--budget", "1ms", "--no-progress"];
    place.run(words.iter().chain(more).copied())
}

#[test]
fn run_whose_file_was_removed_or_replaced_is_written_again() {
    let place = Place::new();
    let runs = r#""$XDG_DATA_HOME/furlong/runs""#;
    let lost = measure(&place, &format!("rm -r {runs}"), &["--save", "lost"]).expect_code(0);
    lost.expect_complaint("so the run is saved in a new file").expect_complaint("lost.jsonl");
    place.run(["runs", "show", "lost"]).expect_code(0);
    let taken = measure(
        &place,
        &format!("cd {runs}; mv taken.jsonl moved; echo other > taken.jsonl"),
        &["--save", "taken"],
    );
    taken.expect_code(0).expect_complaint("saved: ").expect_complaint("taken-2.jsonl");
    assert_eq!(fs::read_to_string(place.saved("taken")).unwrap(), "other\n");
    place.run(["runs", "show", "taken-2"]).expect_code(0);
}

#[test]
fn run_whose_file_another_process_changed_is_written_again() {
    let other_bytes = r#"head -c "$(wc -c <"$file")" /dev/zero | dd conv=notrunc status=none of="$file""#;
    for (name, change) in
        [("cut", r#": >"$file""#), ("longer", r#"echo >>"$file""#), ("as-long", other_bytes)]
    {
        let place = Place::new();
        let script = format!(r#"file="$XDG_DATA_HOME/furlong/runs/{name}.jsonl"; {change}"#);
        let changed = measure(&place, &script, &["--save", name]).expect_code(0);
        changed
            .expect_complaint(&format!("{name}.jsonl was changed by another process while"))
            .expect_complaint(&format!(
                "so the run is saved in a new file: {}",
                place.saved("").parent().unwrap().display()
            ))
            .expect_complaint(&format!("{name}-2.jsonl"));
        place.run(["runs", "show", &format!("{name}-2")]).expect_code(0);
    }
}

#[test]
fn run_that_cannot_be_saved_under_its_name_is_not_measured() {
    let place = Place::new();
    fs::create_dir_all(place.saved("folder")).unwrap();
    for more in [&[][..], &["--replace"]] {
        let words = [&["--save", "folder"][..], more].concat();
        let refused = measure(&place, "touch measured", &words).expect_code(2);
        refused.expect_complaint("folder.jsonl is a directory: remove it");
    }
    // The header does not fit into a file of this length, as on a full disk. The memory that the roles share does.
    let label = "x".repeat(10_000);
    for more in [&[][..], &["--replace"]] {
        let program =
            ["--fsize=6000:6000", env!("CARGO_BIN_EXE_furlong"), "run", "pipe/block", "--trials", "1"];
        let mut command = place.program("prlimit");
        command.args(program).args(["--budget", "1ms", "--label", &label, "--save", "x"]).args(more);
        let refused = place.finish(&mut command).expect_code(1);
        assert!(refused.stdout.is_empty(), "{refused:#?}");
        refused.expect_complaint("so nothing is measured").expect_complaint("free some space there, or set");
    }
    assert_eq!(place.all_saved(), [place.saved("folder")]);
    assert!(!place.path("measured").exists());
}

#[test]
fn replacing_run_takes_its_name_only_when_it_is_complete() {
    let place = Place::new();
    let other = r#""$FURLONG" run pipe/block --trials 1 --budget 1ms --no-progress --save mine"#;
    measure(&place, other, &["--save", "mine", "--replace"]).expect_code(0).expect_complaint("saved: ");
    let list_of_runs = place.run(["runs", "list", "--format", "json"]).expect_code(0).json();
    let [run] = list(&list_of_runs, "runs") else { panic!("{list_of_runs}") };
    assert!(
        text(run, "run") == "mine" && fs::read_to_string(place.saved("mine")).unwrap().contains("--program")
    );
}

#[test]
fn saved_run_is_never_overwritten_by_a_result() {
    let place = Place::new();
    measure(&place, "true", &["--save", "first"]).expect_code(0);
    let run = place.saved("first");
    let before = fs::read(&run).unwrap();
    let (path, copy) = (run.to_str().unwrap(), place.path("copy.txt"));
    fs::copy(&run, &copy).unwrap();
    // One copy has a byte order mark first, and one lacks the beginning of its first line.
    let damaged =
        [("marked.txt", [b"\xef\xbb\xbf", &before[..]].concat()), ("cut.txt", before[9..].to_vec())];
    for (name, bytes) in &damaged {
        fs::write(place.path(name), bytes).unwrap();
        place.run(["export", path, "-o", name]).expect_code(2).expect_complaint("this file is a saved run");
        assert_eq!(fs::read(place.path(name)).unwrap(), *bytes);
    }
    for target in [path, copy.to_str().unwrap()] {
        for verb in ["export", "report"] {
            let refused = place.run([verb, path, "-o", target]).expect_code(2);
            refused.expect_complaint(
                "this file is a saved run, which is never overwritten; specify another file",
            );
        }
        assert_eq!(fs::read(target).unwrap(), before);
    }
    fs::write(&run, "{\"record\":\"run\",\"schema\":99}\n").unwrap();
    place.run(["man", "-o", path]).expect_code(2).expect_complaint("is a saved run");
    // A run that is being measured would be saved again.
    let change = r#"! "$FURLONG" runs rename now then && ! "$FURLONG" runs remove now"#;
    measure(&place, change, &["--save", "now"]).expect_code(0);
    place.run(["runs", "show", "now"]).expect_code(0);
}

#[test]
fn chart_and_pages_never_overwrite_a_saved_run() {
    let place = Place::new();
    // A single benchmark has no chart.
    let two = ["run", "pipe", "fifo", "--trials", "3", "--budget", "1ms", "--no-progress", "--save", "first"];
    place.run(two).expect_code(0);
    let before = fs::read(place.saved("first")).unwrap();
    for words in
        [&["report", "first", "--charts", "made", "-o", "x.html"][..], &["man", "--all", "-o", "made"]]
    {
        place.run(words.iter().copied()).expect_code(0);
        let made =
            fs::read_dir(place.path("made")).unwrap().flatten().map(|entry| entry.path()).max().unwrap();
        fs::remove_dir_all(place.path("made")).unwrap();
        fs::create_dir(place.path("made")).unwrap();
        std::os::unix::fs::symlink(place.saved("first"), made).unwrap();
        place.run(words.iter().copied()).expect_code(2).expect_complaint("this file is a saved run");
        fs::remove_dir_all(place.path("made")).unwrap();
    }
    assert_eq!(fs::read(place.saved("first")).unwrap(), before);
}

#[test]
fn open_file_takes_a_result_after_the_bytes_that_it_has() {
    let place = Place::new();
    measure(&place, "true", &["--save", "first"]).expect_code(0);
    let result = place.run(["export", "first"]).expect_code(0).stdout;
    let export = |to: &str| format!(r#""$FURLONG" export first -o {to}"#);
    let both = format!("before\n{result}after\n");
    for script in [
        format!("echo before >all; {} >>all; echo after >>all", export("/dev/stdout")),
        format!("{{ echo before; {}; echo after; }} >all", export("/dev/stdout")),
        format!("{{ echo before >&3; {}; echo after >&3; }} 3>all", export("/dev/fd/3")),
        format!("ln -s /dev/stdout to; {{ echo before; {}; echo after; }} >all", export("to")),
        format!(
            "mkfifo pipe; cat pipe >all & {{ echo before; {}; echo after; }} >pipe; wait",
            export("/dev/stdout")
        ),
    ] {
        place.finish(&mut place.shell(&script)).expect_code(0);
        assert_eq!(fs::read_to_string(place.path("all")).unwrap(), both, "{script}");
    }
}

#[test]
fn signal_leaves_no_half_written_file() {
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    measure(&place, "true", &["--save", "first"]).expect_code(0);
    let mut command = place.program("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:signal=TERM"]);
    command.args([env!("CARGO_BIN_EXE_furlong"), "report", "first", "-o", "new.html"]);
    place.finish(&mut command).expect_code(143).expect_complaint("interrupted");
    let names = fs::read_dir(place.path(".")).unwrap().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("furlong-")).collect();
    assert!(left.is_empty() && !place.path("new.html").exists(), "{left:?}");
}

#[test]
fn run_is_renamed_where_there_are_no_hard_links() {
    let place = Place::new();
    if !can_trace(&place) {
        skip!("needs strace");
    }
    for name in ["first", "second"] {
        measure(&place, "true", &["--save", name]).expect_code(0);
    }
    let rename = |to: &str| {
        let mut command = place.program("strace");
        command.args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=linkat",
            "-e",
            "inject=linkat:error=EPERM",
        ]);
        place.finish(command.args([env!("CARGO_BIN_EXE_furlong"), "runs", "rename", "first", to]))
    };
    rename("second").expect_code(2).expect_complaint("already exists");
    rename("third").expect_code(0);
    assert_eq!(place.all_saved().len(), 2);
    place.run(["runs", "show", "third"]).expect_code(0);
}
