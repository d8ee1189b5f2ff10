//! `cargo xtask fuzz`: runs the targets of `fuzz/` under libFuzzer, guided by the coverage of all of furlong.

use crate::driver::{packages, step};
use crate::faults::soak::length;
use crate::root;
use crate::target::target;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Compiler passes that count edges and report comparisons to libFuzzer. Every version of the compiler has these passes. `fuzz/rustc` chooses
/// the crates.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// The words of `.ci/run`: a minute for all targets, with the same random numbers each time.
pub const MINUTE: [&str; 5] = ["fuzz", "--for", "1m", "--seed", "1"];

/// Debian's package with the compiler of libFuzzer.
pub const PACKAGES: [&str; 1] = ["g++"];

/// Limits of one input. They are generous, because reading takes milliseconds and a few MiB.
const LIMITS: [&str; 4] = ["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=512", "-max_len=32768"];

/// The options of the command.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    length: Duration,
    /// The target to run; all if empty.
    only: String,
    /// An input to run instead of fuzzing.
    input: Option<PathBuf>,
    /// Whether inputs that reach new code are copied into the repository.
    keep: bool,
    /// Seed of libFuzzer's random numbers; 0 chooses one.
    seed: u32,
}

impl Options {
    /// Reads the words after `fuzz`.
    ///
    /// # Errors
    /// Returns an error for an unknown option, and for options without a length and an input.
    pub fn of(words: &[&str]) -> anyhow::Result<Options> {
        let mut options =
            Options { length: Duration::ZERO, only: String::new(), input: None, keep: false, seed: 0 };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match *word {
                "--for" => options.length = length(value()?).context("--for needs a duration, as in 10m")?,
                "--only" => options.only = (*value()?).to_owned(),
                "--input" => options.input = Some(PathBuf::from(value()?)),
                "--keep" => options.keep = true,
                "--seed" => options.seed = value()?.parse().context("--seed needs a number")?,
                other => bail!("fuzz has no option {other}"),
            }
        }
        ensure!(options.input.is_none() || !options.only.is_empty(), "--input needs a target: --only NAME");
        ensure!(
            !options.length.is_zero() || options.input.is_some() || options.keep,
            "the duration is missing: --for 10m"
        );
        Ok(options)
    }
}

/// A target with the figures that libFuzzer prints.
struct FuzzResult {
    target: String,
    executed: u64,
    seconds: u64,
    /// Edges of the program that inputs reach, and features: edges with the number of times that each is passed.
    edges: u64,
    features: u64,
    /// The file with a failing input.
    found: Option<PathBuf>,
}

/// Runs the targets, one after the other, each for its share of the time. Returns the number of targets.
///
/// # Errors
/// Returns an error with the failing inputs.
pub fn run(options: &Options) -> anyhow::Result<usize> {
    let program = build()?;
    let targets: Vec<String> = targets(&program)?
        .into_iter()
        .filter(|name| options.only.is_empty() || *name == options.only)
        .collect();
    ensure!(!targets.is_empty(), "{} is not a target", options.only);
    if let Some(input) = &options.input {
        let status = fuzzer(&program, &options.only).arg(input).status()?;
        ensure!(status.success(), "{} fails: {status}", input.display());
        return Ok(1);
    }
    let mut all = Vec::new();
    if !options.length.is_zero() {
        let share = (options.length / targets.len() as u32).max(Duration::from_secs(1));
        for target in &targets {
            let fuzzed = fuzz(&program, target, share, options.seed)?;
            println!("xtask: {}", line(&fuzzed));
            all.push(fuzzed);
        }
    }
    let executed: u64 = all.iter().map(|fuzzed| fuzzed.executed).sum();
    println!("\nxtask: {executed} executions of {} targets", all.len());
    for fuzzed in &all {
        println!("{}", line(fuzzed));
    }
    if options.keep {
        targets.iter().try_for_each(|target| keep(&program, target))?;
    }
    let again = all.iter().filter_map(|fuzzed| {
        let input = fuzzed.found.as_ref()?.display();
        Some(format!("  cargo xtask fuzz --only {} --input {input}", fuzzed.target))
    });
    let again: Vec<_> = again.collect();
    ensure!(again.is_empty(), "inputs fail:\n{}", again.join("\n"));
    Ok(targets.len())
}

fn line(fuzzed: &FuzzResult) -> String {
    let FuzzResult { target, executed, seconds, edges, features, found } = fuzzed;
    let found = if found.is_some() { "  FAILED" } else { "" };
    format!(
        "{target:<14}{executed:>10} executions in {seconds:>4} s, {edges:>6} edges, {features:>6} features{found}"
    )
}

/// Compiles the targets and all of furlong with these passes, into a separate directory.
fn build() -> anyhow::Result<PathBuf> {
    packages::provide(&PACKAGES)?;
    let version = step::text(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let folder = target()?.join("fuzz");
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--locked",
        "--target",
        host,
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
    ]);
    cargo.arg(&folder).env("RUSTFLAGS", "--cfg=fuzzing").env("FURLONG_COVERAGE", COVERAGE.join(" "));
    cargo.env("RUSTC_WRAPPER", root().join("fuzz/rustc")).env("CARGO_INCREMENTAL", "0").current_dir(root());
    println!("xtask: {cargo:?}");
    ensure!(cargo.status().context("cannot start cargo")?.success(), "the fuzz targets do not compile");
    Ok(folder.join(host).join("release/fuzz"))
}

/// Returns the names of all targets. The program prints them if the variable names none.
fn targets(program: &Path) -> anyhow::Result<Vec<String>> {
    let names = step::text(Command::new(program).env_remove("FURLONG_FUZZ"))?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// Returns the input directories of a target: its own, and that of `run` for a target such as `run-printed`.
fn inputs(target: &str) -> Vec<PathBuf> {
    let corpus = root().join("fuzz/corpus");
    let general = target.split('-').next().unwrap_or_default();
    let mut folders = vec![corpus.join(target), corpus.join(general)];
    folders.dedup();
    folders.retain(|folder| folder.is_dir());
    folders
}

/// Returns the command that runs a target.
fn fuzzer(program: &Path, target: &str) -> Command {
    let mut command = Command::new(program);
    command.env("FURLONG_FUZZ", target).args(LIMITS).stdin(Stdio::null());
    command
}

/// Runs a target for `length`. Keeps new inputs in the build directory.
fn fuzz(program: &Path, name: &str, length: Duration, seed: u32) -> anyhow::Result<FuzzResult> {
    let own = target()?.join("fuzz/corpus").join(name);
    let found = target()?.join("fuzz/found");
    [&own, &found].into_iter().try_for_each(fs::create_dir_all)?;
    let mut command = fuzzer(program, name);
    command.arg(own).args(inputs(name));
    command.arg(format!("-max_total_time={}", length.as_secs()));
    command.arg(format!("-artifact_prefix={}/{name}-", found.display()));
    command.arg(format!("-seed={seed}")).arg("-print_final_stats=1");
    let output = command.output().with_context(|| format!("start {}", program.display()))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let fuzzed = read_log(name, &log, length);
    if !output.status.success() {
        println!("{log}");
        ensure!(fuzzed.found.is_some(), "{name} ended with {} without an input", output.status);
    }
    ensure!(fuzzed.executed > 0 || fuzzed.found.is_some(), "{name} executed nothing:\n{log}");
    Ok(fuzzed)
}

/// Reads the figures that libFuzzer prints.
fn read_log(target: &str, log: &str, length: Duration) -> FuzzResult {
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or_default();
    let stat = |name: &str| log.lines().find_map(|line| line.strip_prefix(name)).map_or(0, number);
    let last = |name: &str| {
        let words: Vec<_> = log.split_whitespace().collect();
        words.windows(2).rev().find(|pair| pair[0] == name).map_or(0, |pair| number(pair[1]))
    };
    let found =
        log.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path.into());
    FuzzResult {
        target: target.to_owned(),
        executed: stat("stat::number_of_executed_units:"),
        seconds: length.as_secs(),
        edges: last("cov:"),
        features: last("ft:"),
        found,
    }
}

/// Copies the inputs that reach new edges into the repository.
fn keep(program: &Path, name: &str) -> anyhow::Result<()> {
    let folders = inputs(name);
    let own = target()?.join("fuzz/corpus").join(name);
    let mut command = fuzzer(program, name);
    command.arg("-set_cover_merge=1").args(&folders).arg(own);
    step::timed(&format!("keeping inputs of {name}"), || step::output(&mut command)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_log() {
        let log = "#2\tINITED cov: 5 ft: 6 corp: 1/1b\n#9\tNEW    cov: 1234 ft: 5678 corp: 3/9b lim: 4\n\
                   artifact_prefix='x'; Test unit written to /t/found/run-crash-1\n\
                   stat::number_of_executed_units: 99\nstat::average_exec_per_sec:     9\n";
        let fuzzed = read_log("run", log, Duration::from_secs(4));
        assert_eq!((fuzzed.executed, fuzzed.edges, fuzzed.features), (99, 1234, 5678));
        assert_eq!(fuzzed.found, Some(PathBuf::from("/t/found/run-crash-1")));
        assert_eq!(read_log("run", "", Duration::ZERO).found, None);
    }

    #[test]
    fn options_need_length_or_input() {
        let minute = Options::of(&MINUTE[1..]).unwrap();
        assert_eq!((minute.length, minute.seed), (Duration::from_mins(1), 1));
        let ten = Options::of(&["--for", "10m", "--only", "run"]).unwrap();
        assert_eq!((ten.length, ten.only.as_str()), (Duration::from_mins(10), "run"));
        for words in [&[][..], &["--for", "10"], &["--input", "x"], &["--fast"]] {
            assert!(Options::of(words).is_err(), "{words:?}");
        }
    }
}
