//! Files of runs that change while the run is measured, and results that would replace a run.

use crate::common::value::{list, text};
use crate::common::{Finished, Place};
use std::fs;

/// Measures a program that runs `script` before it is ready.
fn measure(place: &Place, script: &str, more: &[&str]) -> Finished {
    let program = format!("{{ {script}; }} >&2 && echo ready && sleep 0.01 && echo done 1");
    let words = ["run", "--program", &program, "--trials", "1", "--budget", "1ms", "--no-progress"];
    place.run(words.iter().chain(more).copied())
}

#[test]
fn run_whose_file_was_removed_or_replaced_is_written_again() {
    let place = Place::new();
    let runs = r#""$XDG_DATA_HOME/furlong/runs""#;
    let lost = measure(&place, &format!("rm -r {runs}"), &["--save", "lost"]).expect_code(0);
    lost.expect_complaint("so the run is written again").expect_complaint("lost.jsonl");
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
fn run_whose_file_another_process_changed_is_not_saved() {
    for (name, change) in [("cut", ": >"), ("longer", "echo >>")] {
        let place = Place::new();
        let script = format!(r#"{change} "$XDG_DATA_HOME/furlong/runs/{name}.jsonl""#);
        let changed = measure(&place, &script, &["--save", name]).expect_code(1);
        changed.expect_complaint("another process changed ").expect_complaint("Measure again");
    }
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
    for target in [path, copy.to_str().unwrap()] {
        for verb in ["export", "report"] {
            let refused = place.run([verb, path, "-o", target]).expect_code(2);
            refused
                .expect_complaint("this file is a saved run, which is never overwritten: name another file");
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
