//! The output for recorded runs, quiet and noisy and of every pattern, has no contradiction. The runs are in
//! `tests/consistency`; `cargo xtask consistency --record` records them again.

use furlong_analysis::{DecodedRun, Run, recommend};
use furlong_consistency::{RunContradictions, check, check_with_before, unpack_all};
use furlong_render::{RecommendationDetail, Style, recommendation_table};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// Returns the contradictions in the output of runs, each also compared with the run before it.
fn contradictions(runs: &[PathBuf]) -> Vec<String> {
    let furlong = Path::new(env!("CARGO_BIN_EXE_furlong"));
    let mut found = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let RunContradictions { of_run, of_comparison } =
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

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn recorded_noisy_runs_are_printed_without_contradictions() {
        expect_no_contradictions(|run| !run.contains("-idle-"));
    }
}

fn archives() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/consistency")
}

fn expect_no_contradictions(is_checked: fn(&str) -> bool) {
    let archives = archives();
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

#[test]
fn recorded_recommendations_are_short() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runs = unpack_all(&archives(), folder.path()).expect("archives of runs");
    let mut found = 0;
    for path in runs {
        let run = Run::read(&path).expect("a run");
        let Some(answer) = recommend(&DecodedRun::of(&run)) else { continue };
        let text = recommendation_table(&answer, RecommendationDetail::default(), Style::default());
        // `recommend` prints one line more, the next command.
        assert!(text.lines().count() < 25, "{}:\n{text}", path.display());
        assert_eq!(check(&text), [], "{}:\n{text}", path.display());
        found += 1;
    }
    assert!(found >= 20, "{found} recommendations");
}

/// Returns the laws that a text breaks if any one of its figures is changed.
fn laws_that_can_break(text: &str) -> BTreeSet<&'static str> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_figure = |at: usize| is_digit(at) || text[at..].starts_with('.') && is_digit(at + 1);
    let mut laws = BTreeSet::new();
    for start in (0..text.len())
        .filter(|at| is_digit(*at) && (*at == 0 || !text[..*at].ends_with(char::is_alphanumeric)))
    {
        let end = (start..text.len()).find(|at| !is_figure(*at)).unwrap_or(text.len());
        let figure = &text[start..end];
        let decimals = figure.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let value: f64 = figure.parse().unwrap_or(0.0);
        for other in [value * 3.0 + 1.0, value / 3.0] {
            // The width stays the same, because columns must keep their places.
            let other = format!("{other:width$.decimals$}", width = figure.len());
            let damaged = [&text[..start], &other, &text[end..]].concat();
            laws.extend(check(&damaged).into_iter().map(|found| found.law));
        }
    }
    laws
}

#[test]
fn laws_find_a_wrong_figure() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runs = unpack_all(&archives(), folder.path()).expect("archives of runs");
    let file = |name: &str| {
        let is_it = |run: &&PathBuf| run.file_stem().and_then(OsStr::to_str) == Some(name);
        runs.iter().find(is_it).unwrap_or_else(|| panic!("no run {name}")).as_path()
    };
    let printed = |verb: &[&str], runs: &[&str]| {
        let runs = runs.iter().map(|run| file(run));
        let output =
            Command::new(env!("CARGO_BIN_EXE_furlong")).args(verb).args(runs).output().expect("a furlong");
        String::from_utf8(output.stdout).expect("text")
    };
    let ranking =
        ["order follows the figure", "places count rows", "a ratio is the quotient", "percentiles rise"];
    for (text, laws) in [
        (
            printed(&["runs", "show"], &["explain-idle-1"]),
            &[
                "a part is its count times its cost",
                "all tables have the same figures",
                "an interval holds its figure",
                "counts of rows are those of the tables",
                "errors are of the measured time",
                "percentages add up",
                "sentences have the table's percentages",
                "summaries count the table's rows",
                "the remainder is the difference",
            ][..],
        ),
        (
            printed(&["runs", "show"], &["recommend-idle-1"]),
            &[
                "factors of sentences are quotients",
                "sentences have the table's figures",
                "the choice stands as its row does",
                "the share of a CPU is time by rate",
            ],
        ),
        (printed(&["runs", "show"], &["recommend-stream-idle-1"]), &["a stream has one rate"]),
        (printed(&["runs", "show"], &["recommend-idle-1"]), &ranking),
        (printed(&["runs", "show"], &["round-trip-idle-1"]), &ranking),
        (
            printed(&["runs", "show"], &["replay-rates-idle-1"]),
            &["factors are quotients", "pairs are counted once"],
        ),
        (
            printed(&["compare"], &["spin-idle-1", "spin-idle-2"]),
            &[
                "a ratio is the quotient",
                "summaries count the table's rows",
                "the interval of a ratio holds the ratio",
                "verdicts are counted once",
            ],
        ),
        (
            printed(&["compare", "--pairs"], &["spin-idle-1", "spin-idle-2"]),
            &["a ratio is the quotient", "summaries count the table's rows", "verdicts are counted once"],
        ),
        (printed(&["runs", "show"], &["count-idle-1"]), &["counts add up"]),
    ] {
        assert_eq!(check(&text), [], "{text}");
        let broken = laws_that_can_break(&text);
        let silent: Vec<_> = laws.iter().filter(|law| !broken.contains(*law)).collect();
        assert!(silent.is_empty(), "no wrong figure breaks {silent:?}:\n{text}");
    }
}
