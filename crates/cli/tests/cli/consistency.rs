//! What is printed of recorded runs, quiet and noisy and of every pattern, has no contradiction. The runs are in
//! `tests/consistency`; `cargo xtask consistency --record` records them again.

use furlong_consistency::{Checked, check_with_before, unpack_all};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// Returns what is wrong in what is printed of runs, each also compared with the one before.
fn contradictions(runs: &[PathBuf]) -> Vec<String> {
    let furlong = Path::new(env!("CARGO_BIN_EXE_furlong"));
    let mut found = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let Checked { of_run, of_comparison } =
            check_with_before(furlong, runs, at).unwrap_or_else(|error| panic!("{}: {error}", run.display()));
        let all = of_run.into_iter().chain(of_comparison.into_iter().flatten());
        found.extend(all.map(|found| format!("{}: {}: {}", run.display(), found.law, found.text)));
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
    let bytes: u64 = fs::read_dir(&archives)
        .expect("the corpus")
        .map(|archive| archive.and_then(|archive| archive.metadata()).expect("an archive").len())
        .sum();
    let mut runs = unpack_all(&archives, folder.path()).expect("archives of runs");
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
