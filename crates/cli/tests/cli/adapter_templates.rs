//! `furlong adapter new` in each language: the template passes the check unchanged, and its row can be measured.

use crate::common::Place;
use furlong_testing::skip;
use std::path::PathBuf;
use std::time::Duration;

/// Creates an adapter in a language that CI may lack, checks it, and measures its row together with another row. An
/// adapter that claims to send messages when they are due is also tried in three more patterns, and one that follows a schedule in
/// three more.
fn passes_as_it_stands(language: &str, tool: &str, cases: u32) {
    let there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
    if !there {
        skip!("needs {tool}");
    }
    let place = Place::new();
    let furlong = |arguments: &[&str]| {
        let mut command = place.furlong(arguments.iter().copied());
        // Go compiles its standard library only once for all runs of this test.
        command.env("GOCACHE", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("go"));
        // cargo and rustup need the directories of the test's own user.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(variable, std::env::var_os(variable).unwrap_or_else(|| home.join(folder).into()));
        }
        place.start(&mut command).finish_within(Duration::from_secs(120))
    };
    let new = furlong(&["adapter", "new", "--lang", language, "mine"]).expect_code(0);
    assert!(new.stdout.contains("furlong adapter check ./mine"), "{}", new.stdout);
    let checked = furlong(&["adapter", "check", "./mine"]).expect_code(0);
    assert!(checked.stdout.contains(&format!("{cases} of {cases} passed")), "{}", checked.stdout);
    let short = ["--trials", "1", "--budget", "2ms", "--size", "128", "--format", "json", "--no-save"];
    let run = furlong(&[&["run", "--adapter", "./mine", "pipe"], &short[..]].concat()).expect_code(0);
    let summary = run.summary();
    assert!(summary.rows.iter().any(|row| row.case.mechanism == "mine"), "{:?}", summary.skipped);
    furlong(&["adapter", "new", "--lang", language, "mine"]).expect_code(2);
}

#[test]
fn python_passes_as_it_stands() {
    passes_as_it_stands("python", "python3", 20);
}

#[test]
fn c_passes_as_it_stands() {
    passes_as_it_stands("c", "cc", 17);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn cxx_passes_as_it_stands() {
        passes_as_it_stands("c++", "g++", 23);
    }

    #[test]
    #[ignore = "slow"]
    fn rust_passes_as_it_stands() {
        passes_as_it_stands("rust", "cargo", 20);
    }

    #[test]
    #[ignore = "slow"]
    fn node_passes_as_it_stands() {
        passes_as_it_stands("node", "node", 17);
    }

    #[test]
    #[ignore = "slow"]
    fn go_passes_as_it_stands() {
        passes_as_it_stands("go", "go", 17);
    }

    #[test]
    #[ignore = "slow"]
    fn java_passes_as_it_stands() {
        passes_as_it_stands("java", "javac", 17);
    }
}
