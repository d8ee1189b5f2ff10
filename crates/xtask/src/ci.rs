//! All that must hold before a change lands, in the order in which it fails fastest, and how long each stage took.

mod suites;

use crate::adapters;
use crate::channel;
use crate::command::succeed;
use crate::target::target;
use crate::{driver, faults, hosts, root, windows};
use anyhow::{Context, bail};
use std::process::Command;
use std::time::{Duration, Instant};
use suites::Suite;

/// Stages that have ended, by name, and how long each took.
#[derive(Default)]
struct Stages {
    ended: Vec<(String, Duration)>,
    /// What failed once and passed by itself, by suite.
    failed_once: Vec<String>,
}

impl Stages {
    fn run<T>(&mut self, name: &str, stage: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let begin = Instant::now();
        let result = stage();
        self.ended.push((name.to_owned(), begin.elapsed()));
        result
    }

    /// Notes what failed the first time, if anything did.
    fn passed_at_last(&mut self, suite: &str, failures: &str) {
        if !failures.is_empty() {
            self.failed_once.push(format!("{suite}: {failures}"));
        }
    }

    fn print(&self) {
        let total = ("in all".to_owned(), self.ended.iter().map(|(_, time)| *time).sum());
        println!("\nxtask: how long each stage took");
        for (name, time) in self.ended.iter().chain([&total]) {
            let seconds = time.as_secs();
            println!("{:>4} min {:02} s  {name}", seconds / 60, seconds % 60);
        }
        for suite in &self.failed_once {
            println!("\nxtask: failed once, and passed when it was run again by itself: {suite}");
        }
    }
}

/// Runs every check; the first that fails ends it, but for test suites, which all run. With `root_too`, also what root
/// alone can: the kernel module in an emulated machine, Windows under Wine, and the tests that touch the kernel as a user
/// without any right.
pub fn run(root_too: bool) -> anyhow::Result<()> {
    let mut stages = Stages::default();
    let result = all(&mut stages, root_too);
    stages.print();
    result
}

fn all(stages: &mut Stages, root_too: bool) -> anyhow::Result<()> {
    if has("fmt") {
        stages.run("format", || cargo(&["fmt", "--all", "--check"]))?;
    }
    if has("clippy") {
        let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        stages.run("lints", || cargo(&lints))?;
    }
    // The README's two commands, each in two stages: what takes long in them differs.
    stages.run("furlong is built", || cargo(&["build", "--release", "--locked"]))?;
    stages.run("the quick set", || cargo(&["run", "--release", "--locked"]))?;
    let suites = stages.run("tests are built", suites::build)?;
    // All of them, so that one run says all that is wrong.
    let mut failed = Vec::new();
    for suite in &suites {
        match stages.run(&format!("tests: {}", suite.name), || suite.run()) {
            Ok(failures) => stages.passed_at_last(&suite.name, &failures),
            Err(error) => failed.push(format!("{}: {error:#}", suite.name)),
        }
    }
    if !failed.is_empty() {
        bail!("{} of {} suites failed:\n{}", failed.len(), suites.len(), failed.join("\n"));
    }
    stages.run("tests: examples in comments", || {
        cargo(&["test", "--release", "--workspace", "--doc", "--locked"])
    })?;
    let failures = stages.run("faults", quick_faults)?;
    stages.passed_at_last("faults", &failures);
    stages.run("the channel", || channel::prove(channel::Amount::Quick))?;
    if root_too {
        let conformance = suites.iter().find(|suite| suite.name.ends_with(" conformance"));
        let conformance = conformance.context("no suite is called conformance")?;
        stages.run("adapters", || adapters::test(&adapters::IN_CI))?;
        stages.run("the kernel module", driver::test)?;
        stages.run("between hosts", || hosts::test(hosts::Amount::Quick))?;
        stages.run("Windows, under Wine", windows::test)?;
        let failures = stages.run("as an ordinary user", || as_ordinary_user(conformance))?;
        stages.passed_at_last("conformance as an ordinary user", &failures);
    }
    Ok(())
}

/// The quick part of the faults, and a few cells that failed once more, each by itself, as tests are. Gives what failed the
/// first time alone.
fn quick_faults() -> anyhow::Result<String> {
    let failed = faults::tried(&faults::Options::quick())?;
    if failed.len() > suites::MOST_TRIED_AGAIN {
        faults::failed::none(&failed)?;
    }
    for cell in &failed {
        println!("xtask: {} {} is tried again, by itself", cell.number, cell.row);
        let again = faults::tried(&faults::Options::of_one(cell))?;
        faults::failed::none(&again).with_context(|| format!("it failed first with: {cell}"))?;
    }
    Ok(faults::failed::listed(&failed))
}

/// The quick set and the conformance suite, with what was built before. Gives what failed the first time alone.
fn as_ordinary_user(conformance: &Suite) -> anyhow::Result<String> {
    let ordinary = root().join(".ci/as-ordinary-user");
    succeed(Command::new(&ordinary).arg(target()?.join("release/furlong")))?;
    conformance.run_by(ordinary)
}

/// Whether this toolchain has a component. Debian's packages come without.
fn has(component: &str) -> bool {
    let there = Command::new("cargo").args([component, "--version"]).output();
    let there = there.is_ok_and(|output| output.status.success());
    if !there {
        println!("xtask: cargo {component} is skipped, because this toolchain has none");
    }
    there
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    succeed(Command::new("cargo").args(arguments).current_dir(root()))
}
