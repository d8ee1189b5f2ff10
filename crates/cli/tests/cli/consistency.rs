//! What is printed of recorded runs, quiet and noisy and of every pattern, has no contradiction. The runs are in
//! `tests/consistency`; `cargo xtask consistency --record` records them again.

use furlong_consistency::{check_comparison, check_run, unpack};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// Returns what is wrong in what is printed of runs, each also compared with the one before.
fn contradictions(runs: &[PathBuf]) -> Vec<String> {
    let furlong = Path::new(env!("CARGO_BIN_EXE_furlong"));
    let mut found = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let mut all = check_run(furlong, run).unwrap_or_else(|error| panic!("{}: {error}", run.display()));
        let before = at.checked_sub(1).map(|before| check_comparison(furlong, [&runs[before], run]));
        // Runs of two kinds have no benchmark in common.
        all.extend(before.and_then(Result::ok).into_iter().flatten());
        found
            .extend(all.into_iter().map(|found| format!("{}: {}: {}", run.display(), found.law, found.text)));
    }
    found
}

#[test]
fn recorded_quiet_runs_are_printed_without_contradictions() {
    expect_no_contradictions(|run| run.contains("-idle-"));
}

/// Run where slow tests are asked for.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn recorded_noisy_runs_are_printed_without_contradictions() {
        expect_no_contradictions(|run| !run.contains("-idle-"));
    }
}

fn expect_no_contradictions(is_checked: fn(&str) -> bool) {
    let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/consistency");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut runs = Vec::new();
    let mut bytes = 0;
    for archive in fs::read_dir(archives).expect("the corpus") {
        let archive = archive.expect("an archive");
        bytes += archive.metadata().expect("an archive").len();
        runs = unpack(&archive.path(), folder.path()).expect("an archive of runs");
    }
    assert!(runs.len() >= 200 && bytes < 5_000_000, "{} runs in {bytes} bytes", runs.len());
    runs.retain(|run| run.file_name().and_then(OsStr::to_str).is_some_and(is_checked));
    assert!(runs.len() >= 40, "{} runs are checked", runs.len());
    let found: Vec<String> = thread::scope(|scope| {
        let parts: Vec<_> =
            runs.chunks(runs.len().div_ceil(4)).map(|part| scope.spawn(|| contradictions(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a check that ends")).collect()
    });
    assert!(found.is_empty(), "{} contradictions:\n{}", found.len(), found.join("\n"));
}
