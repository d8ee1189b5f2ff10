//! Tests a mechanism of furlong as a separate program, which furlong measures in its own loop.

use furlong_adapter_files::Manifest;
use furlong_bench::plan::Plan;
use furlong_bench::run::{Event, Run, harness};
use furlong_bench::session::{Options, Session};
use furlong_bench::{ChildProgram, MechanismEntry};
use furlong_model::{Arrival, Case, Outcome, Pattern, Placement, Record, Wait};
use libtest_mimic::{Arguments, Trial};
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Runs the tests on the only thread, as furlong does. A signal notifies the tracer of stops, and a second thread
/// would consume that signal.
fn main() -> ExitCode {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let test = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let tests = vec![
        test("it_can_all_that_the_built_in_row_can", it_can_all_that_the_built_in_row_can),
        test(
            "a_program_that_takes_no_arguments_is_given_none",
            a_program_that_takes_no_arguments_is_given_none,
        ),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Returns the path of the example, which cargo builds next to this test.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/adapter-pipe")
}

/// Returns the mechanism of the example, from a manifest with the additional text `more`.
fn entry(more: &str) -> MechanismEntry {
    let folder = tempfile::tempdir().unwrap();
    let command = example();
    let text = format!(
        "name = \"adapter-pipe\"\nlicence = \"MIT\"\ncommand = [{command:?}]\n[[rows]]\nname = \"adapter-pipe\"\n{more}"
    );
    fs::write(folder.path().join("adapter.toml"), text).unwrap();
    let manifest = Manifest::read(folder.path()).unwrap();
    MechanismEntry::from_adapter(&manifest, &manifest.rows[0], &session())
}

/// Opens a session whose child processes run the example.
fn session() -> Session {
    let program = ChildProgram::at(example());
    Session::open(Options { program, file_folder: None, handle_signals: false }).unwrap()
}

fn case(wait: Wait) -> Case {
    Case::round_trip("adapter-pipe", wait, 128, Placement::SameCore)
}

fn it_can_all_that_the_built_in_row_can() {
    let entry = entry("");
    // One process can hold both ends, which `explain` needs to find the call path of the mechanism.
    assert!(entry.runs_furlongs_loop());
    assert_eq!(entry.probe().map(|limits| limits.max_size_bytes), Ok(None));
    let cases = vec![
        case(Wait::Block),
        case(Wait::Epoll),
        case(Wait::Block).with_pattern(Pattern::OneWay),
        Case { arrival: Arrival::Interval(100_000), ..case(Wait::Block) },
        case(Wait::Block).with_window(NonZeroU32::new(4).unwrap()),
        Case { placement: Placement::OneProcess, ..case(Wait::Block) },
    ];
    let plan = Plan {
        cases,
        trials: 1,
        budget: Duration::from_millis(5),
        timeout: Duration::from_secs(10),
        count: true,
        ..Plan::default()
    };
    let session = session();
    let (mut measured, mut counted) = (0, 0);
    let mechanisms = [entry];
    Run { mechanisms: &mechanisms, plan: &plan, harness: harness(), session: &session, peer: None }.go(
        &mut |event| match event {
            Event::Record(Record::Trial(trial)) => match &trial.outcome {
                Outcome::Measured(found) => {
                    let adapter = found.adapter.as_ref().expect("the adapter's description");
                    assert!(adapter.versions.contains_key("furlong-adapter"));
                    assert!(found.effective.contains_key("pipe-size-bytes"), "{:?}", found.effective);
                    measured += 1;
                }
                other => panic!("{}: {other:?}", trial.case),
            },
            Event::Record(Record::Count(count)) => {
                assert!(!count.declared.is_empty());
                counted += usize::from(count.roles.iter().all(|role| role.system_calls.is_some()));
            }
            _ => {}
        },
    );
    assert_eq!((measured, counted), (6, 6));
}

fn a_program_that_takes_no_arguments_is_given_none() {
    let why = entry("arguments = [\"x\"]\n").probe().unwrap_err();
    assert!(why.reason.contains("arguments"), "{why}");
}
