//! Test programs that `cargo test --release --workspace` builds. Each runs separately, because cargo does not report
//! their run times.

use crate::root;
use anyhow::{Context, bail, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A test program.
#[derive(Clone)]
pub struct Suite {
    /// Name of its crate and of its target.
    pub name: String,
    program: PathBuf,
    /// Directory of its crate, which is the working directory as under cargo.
    folder: PathBuf,
    /// Command that runs the program, if it does not run directly.
    runner: Option<Runner>,
}

/// A program that runs test programs, with environment variables.
#[derive(Clone)]
pub struct Runner {
    /// The program.
    pub program: PathBuf,
    /// Names and values of variables.
    pub environment: Vec<(&'static str, String)>,
}

/// The report of tests that passed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of passed tests.
    pub passed: usize,
    /// Number of ignored tests.
    pub ignored: usize,
    /// The output of the tests that failed at first and passed alone; empty if there are none.
    pub failed_once: String,
    /// Lines in which tests report that they were skipped.
    pub skipped: Vec<String>,
}

impl Report {
    /// Adds the report of further tests.
    pub fn add(&mut self, other: Report) {
        self.passed += other.passed;
        self.ignored += other.ignored;
        self.failed_once += &other.failed_once;
        self.skipped.extend(other.skipped);
    }

    /// Counts the tests of a line like `test result: ok. 12 passed; 0 failed; 3 ignored; ...`.
    fn count(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        let words: Vec<_> = result.split([' ', ';']).collect();
        let before = |word| {
            words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse::<usize>().ok())
        };
        self.passed += before("passed").unwrap_or_default();
        self.ignored += before("ignored").unwrap_or_default();
    }
}

/// Output of the test programs about failures, from the first line that names them; `None` if all passed.
type Failures = Option<Vec<String>>;

/// Selects the tests that `cargo test --release --workspace` leaves out because they are slow.
const SLOW: [&str; 2] = ["--ignored", "slow::"];

/// More failures than these are not the noise of a machine that others use too.
pub const MOST_TRIED_AGAIN: usize = 5;

/// Runs of a test alone, until it passes once.
const RUNS_ALONE: u32 = 2;

impl Suite {
    /// Runs all of its tests, the slow ones too, and runs those that failed again, each alone: a bad moment of a shared machine
    /// is not a fault of a measurement.
    ///
    /// # Errors
    /// Returns an error with the tests that failed again, and their output.
    pub fn run(&self) -> anyhow::Result<Report> {
        let (usual, slow) = (self.run_part(&[]), self.run_part(&SLOW));
        let (mut report, slow) = (usual?, slow?);
        // The first part counted the slow ones as ignored.
        report.ignored = report.ignored.saturating_sub(slow.passed);
        report.add(slow);
        Ok(report)
    }

    /// Runs the tests that are not slow, with these arguments, through another program, which gets the program of the tests and
    /// its arguments.
    ///
    /// # Errors
    /// Returns the error of [`run`](Self::run).
    pub fn run_by(&self, runner: Runner, arguments: &[&str]) -> anyhow::Result<Report> {
        Self { runner: Some(runner), ..self.clone() }.run_part(arguments)
    }

    fn run_part(&self, arguments: &[&str]) -> anyhow::Result<Report> {
        let (mut report, failures) = self.run_with(arguments)?;
        let Some(failures) = failures else { return Ok(report) };
        let said = failures.join("\n");
        let names = names(&failures);
        if names.is_empty() || names.len() > MOST_TRIED_AGAIN {
            bail!("{said}");
        }
        for name in names {
            report.add(self.run_alone(name).with_context(|| said.clone())?);
        }
        report.failed_once = said;
        Ok(report)
    }

    fn run_alone(&self, name: &str) -> anyhow::Result<Report> {
        let mut said = String::new();
        for _ in 0..RUNS_ALONE {
            println!("xtask: {name} runs again, alone");
            match self.run_with(&["--include-ignored", "--exact", name])? {
                (report, None) => return Ok(report),
                (_, Some(failures)) => said = failures.join("\n"),
            }
        }
        bail!("and alone:\n{said}")
    }

    fn run_with(&self, arguments: &[&str]) -> anyhow::Result<(Report, Failures)> {
        println!("xtask: {} {}", self.program.display(), arguments.join(" "));
        let mut suite = Command::new(self.runner.as_ref().map_or(&self.program, |runner| &runner.program));
        if let Some(runner) = &self.runner {
            suite.arg(&self.program).envs(runner.environment.iter().cloned());
        }
        let suite = suite.args(arguments).current_dir(&self.folder);
        let suite = suite.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut suite = suite.with_context(|| format!("cannot start {}", self.program.display()))?;
        let complaints = suite.stderr.take().map(echo_complaints);
        let (mut report, mut failures) = (Report::default(), Vec::new());
        for line in lines(suite.stdout.take()) {
            println!("{line}");
            report.count(&line);
            // The test harness prints this line before the failures.
            if line == "failures:" || !failures.is_empty() {
                failures.push(line);
            }
        }
        let status = suite.wait().context("cannot wait for the tests")?;
        let complaints = complaints.into_iter().flat_map(|lines| {
            // A process that the tests have left may keep its standard error open.
            std::iter::from_fn(move || lines.recv_timeout(Duration::from_secs(1)).ok())
        });
        report.skipped = complaints.filter(|line| line.starts_with("skipped: ")).collect();
        if status.success() {
            return Ok((report, None));
        }
        failures.insert(0, status.to_string());
        Ok((report, Some(failures)))
    }
}

/// Returns the lines of the output of a program.
fn lines(output: Option<impl Read>) -> impl Iterator<Item = String> {
    let lines = output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n'));
    lines.map_while(Result::ok).map(|line| String::from_utf8_lossy(&line).into_owned())
}

/// Prints the lines of a standard error while they come, and returns them.
fn echo_complaints(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in lines(Some(stderr)) {
            eprintln!("{line}");
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Returns the names of the failed tests: the lines below the last `failures:`, each after four spaces.
fn names(failures: &[String]) -> Vec<&str> {
    let after = failures.iter().rposition(|line| line == "failures:").map_or(failures.len(), |at| at + 1);
    failures[after..].iter().map_while(|line| line.strip_prefix("    ")).collect()
}

/// Builds them all.
pub fn build() -> anyhow::Result<Vec<Suite>> {
    let format = ["--message-format", "json-render-diagnostics"];
    let arguments = [&["test", "--release", "--workspace", "--locked", "--no-run"][..], &format].concat();
    println!("xtask: cargo {}", arguments.join(" "));
    built_by(Command::new("cargo").args(arguments).current_dir(root()))
}

/// Runs a command that runs tests, prints its output and counts them.
///
/// # Errors
/// Returns an error if the command fails.
pub fn counted(command: &mut Command) -> anyhow::Result<Report> {
    println!("xtask: {command:?}");
    let mut running = command.stdout(Stdio::piped()).spawn().with_context(|| format!("start {command:?}"))?;
    let mut report = Report::default();
    for line in lines(running.stdout.take()) {
        println!("{line}");
        report.count(&line);
    }
    let status = running.wait().with_context(|| format!("wait for {command:?}"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(report)
}

/// Runs a cargo command that prints its messages as JSON, and returns the programs of tests that it built.
///
/// # Errors
/// Returns the error of the command, or an error if it built no tests.
pub fn built_by(cargo: &mut Command) -> anyhow::Result<Vec<Suite>> {
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "{cargo:?} ended with {}", output.status);
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = messages.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>();
    let suites: Vec<_> =
        messages.context("cargo's output is not valid JSON")?.iter().filter_map(suite).collect();
    ensure!(!suites.is_empty(), "cargo has built no tests");
    Ok(suites)
}

/// Returns the test suite that a cargo message reports, if any.
fn suite(message: &Value) -> Option<Suite> {
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let crate_name = folder.file_name()?.to_string_lossy().into_owned();
    let target = message["target"]["name"].as_str()?;
    let is_unit_tests = message["target"]["kind"][0] != "test";
    let name = if is_unit_tests { format!("{crate_name} units") } else { format!("{crate_name} {target}") };
    Some(Suite { name, program: PathBuf::from(program), folder, runner: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_what_failed_are_in_the_last_list() {
        let printed = "exit status: 101\nfailures:\n\n---- a::b stdout ----\n    indented\n\nfailures:\n    a::b\n    c::d\n\n\
                       test result: FAILED. 2 passed; 2 failed";
        let lines: Vec<_> = printed.lines().map(str::to_owned).collect();
        assert_eq!(names(&lines), ["a::b", "c::d"]);
        assert!(names(&lines[..1]).is_empty(), "a program that was killed names none");
    }

    #[test]
    fn results_of_both_libraries_are_counted() {
        let mut report = Report::default();
        report.count(
            "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 5 filtered out; finished in 0.1s",
        );
        report.count("test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
        report.count("test some::result: ok");
        assert_eq!((report.passed, report.ignored), (16, 3));
    }
}
