//! The programs that `cargo test --release --workspace` builds, each run by itself: cargo does not say how long one takes.

use crate::root;
use anyhow::{Context, bail, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// One program of tests.
#[derive(Clone)]
pub struct Suite {
    /// Its crate and the name of its target.
    pub name: String,
    program: PathBuf,
    /// The folder of its crate, in which cargo runs it.
    folder: PathBuf,
    /// The program that runs it, if another does.
    runner: Option<PathBuf>,
}

/// How a program of tests ended.
enum Ended {
    Passed,
    /// What it printed of its failures, from the first line that names them on.
    Failed(Vec<String>),
}

/// Selects the tests that `cargo test --release --workspace` leaves out because they are slow.
const SLOW: [&str; 2] = ["--ignored", "slow::"];

/// More failures than these are not the noise of a machine that others use too.
pub const MOST_TRIED_AGAIN: usize = 3;

impl Suite {
    /// Runs all of its tests, the slow ones too, and those that failed once more, each by itself: a bad moment of a machine
    /// that others use too is no fault of a measurement. Gives what failed the first time alone, empty where nothing did.
    /// The error holds what failed, so that it can be said again where it is found: at the end.
    pub fn run(&self) -> anyhow::Result<String> {
        let (usual, slow) = (self.run_part(&[]), self.run_part(&SLOW));
        Ok(usual? + &slow?)
    }

    /// The same without the slow ones, run by another program, which takes it and its arguments.
    pub fn run_by(&self, runner: PathBuf) -> anyhow::Result<String> {
        Self { runner: Some(runner), ..self.clone() }.run_part(&[])
    }

    fn run_part(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let Ended::Failed(failures) = self.run_with(arguments)? else { return Ok(String::new()) };
        let said = failures.join("\n");
        let names = names(&failures);
        if names.is_empty() || names.len() > MOST_TRIED_AGAIN {
            bail!("{said}");
        }
        for name in names {
            println!("xtask: {name} is run again, by itself");
            if let Ended::Failed(again) = self.run_with(&["--include-ignored", "--exact", name])? {
                bail!("{said}\nand by itself:\n{}", again.join("\n"));
            }
        }
        Ok(said)
    }

    fn run_with(&self, arguments: &[&str]) -> anyhow::Result<Ended> {
        println!("xtask: {} {}", self.program.display(), arguments.join(" "));
        let mut suite = Command::new(self.runner.as_ref().unwrap_or(&self.program));
        suite.args(self.runner.iter().map(|_| &self.program));
        let suite = suite.args(arguments).current_dir(&self.folder).stdout(Stdio::piped()).spawn();
        let mut suite = suite.with_context(|| format!("cannot start {}", self.program.display()))?;
        let mut failures = Vec::new();
        for line in suite.stdout.take().into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
            let line =
                String::from_utf8_lossy(&line.context("cannot read what the tests write")?).into_owned();
            println!("{line}");
            // The library of tests writes this before it says what failed and why.
            if line == "failures:" || !failures.is_empty() {
                failures.push(line);
            }
        }
        match suite.wait().context("cannot wait for the tests")? {
            status if status.success() => Ok(Ended::Passed),
            status => {
                failures.insert(0, status.to_string());
                Ok(Ended::Failed(failures))
            }
        }
    }
}

/// The names of the tests that failed: the lines below the last `failures:`, each behind four spaces.
fn names(failures: &[String]) -> Vec<&str> {
    let after = failures.iter().rposition(|line| line == "failures:").map_or(failures.len(), |at| at + 1);
    failures[after..].iter().map_while(|line| line.strip_prefix("    ")).collect()
}

/// Builds them all.
pub fn build() -> anyhow::Result<Vec<Suite>> {
    let format = ["--message-format", "json-render-diagnostics"];
    let arguments = [&["test", "--release", "--workspace", "--locked", "--no-run"][..], &format].concat();
    println!("xtask: cargo {}", arguments.join(" "));
    let output = Command::new("cargo").args(arguments).current_dir(root()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo test --no-run ended with {}", output.status);
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = messages.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>();
    let suites: Vec<_> = messages.context("what cargo writes is no JSON")?.iter().filter_map(suite).collect();
    ensure!(!suites.is_empty(), "cargo has built no tests");
    Ok(suites)
}

/// The suite that a message tells of, if it does.
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
}
