//! Checks that must pass before a change lands, ordered to fail early, with the duration of each stage.

pub mod suites;

use crate::adapters;
use crate::channel;
use crate::command::{copy_this_program, succeed};
use crate::driver::packages;
use crate::target::target;
use crate::{faults, fuzz, hosts, observe, root, windows};
use anyhow::{Context, anyhow, bail, ensure};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use suites::{Report, Runner, Suite};

/// The stages that have ended.
struct Stages {
    begin: Instant,
    ended: Vec<FinishedPart>,
    /// Tests that failed at first and passed alone, by suite.
    failed_once: Vec<String>,
    /// Lines in which tests report that they were skipped.
    skipped: BTreeSet<String>,
}

/// A stage that has ended.
struct FinishedPart {
    name: String,
    time: Duration,
    /// Numbers of tests, if they are known.
    tests: String,
}

impl Stages {
    fn run<T>(&mut self, name: &str, stage: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let begin = Instant::now();
        let result = stage();
        self.ended.push(FinishedPart { name: name.to_owned(), time: begin.elapsed(), tests: String::new() });
        result
    }

    /// Runs a stage that reports its tests.
    fn test(&mut self, name: &str, stage: impl FnOnce() -> anyhow::Result<Report>) -> anyhow::Result<()> {
        let report = self.run(name, stage)?;
        self.note(report);
        Ok(())
    }

    /// Waits for a stage that runs next to others, and prints its output.
    fn end(&mut self, stage: BackgroundPart) -> anyhow::Result<()> {
        let BackgroundPart { name, ended, output } = stage;
        let ended = ended.join().map_err(|_| anyhow!("the thread that waits for {name} has panicked"))?;
        let (status, time) = ended.with_context(|| format!("cannot wait for {name}"))?;
        println!("\nxtask: {name}\n{}", String::from_utf8_lossy(&fs::read(output)?));
        self.ended.push(FinishedPart { name: format!("{name}, next to others"), time, tests: String::new() });
        ensure!(status.success(), "{name} ended with {status}");
        Ok(())
    }

    /// Notes the report of the stage that has just ended.
    fn note(&mut self, report: Report) {
        let Some(ended) = self.ended.last_mut() else { return };
        let ignored =
            if report.ignored > 0 { format!(", {} ignored", report.ignored) } else { String::new() };
        ended.tests = format!(": {} tests passed{ignored}", report.passed);
        if !report.failed_once.is_empty() {
            self.failed_once.push(format!("{}: {}", ended.name, report.failed_once));
        }
        self.skipped.extend(report.skipped);
    }

    /// Prints the stages, the slowest last.
    fn print(&self) {
        let seconds = |time: Duration| format!("{:>3} min {:02} s", time.as_secs() / 60, time.as_secs() % 60);
        let mut ended: Vec<_> = self.ended.iter().collect();
        ended.sort_by_key(|stage| stage.time);
        println!("\nxtask: the stages, the slowest last");
        for FinishedPart { name, time, tests } in ended {
            println!("{}  {name}{tests}", seconds(*time));
        }
        println!("{}  in all", seconds(self.begin.elapsed()));
        for skipped in &self.skipped {
            println!("{skipped}");
        }
        for suite in &self.failed_once {
            println!("\nxtask: failed once, but passed alone in a second run: {suite}");
        }
    }
}

/// Runs every check; the first that fails ends it, but for test suites, which all run. With `root_too`, also what root
/// alone can: the kernel module in an emulated machine, Windows under Wine, and the tests that touch the kernel as a user
/// without any right.
pub fn run(root_too: bool) -> anyhow::Result<()> {
    let begin = Instant::now();
    let mut stages = Stages { begin, ended: Vec::new(), failed_once: Vec::new(), skipped: BTreeSet::new() };
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
    // Only root can start a stage in a separate namespace. These stages get the CPU time that the next ones leave.
    let beside = root_too.then(|| {
        packages::provide(&fuzz::PACKAGES)?;
        windows::provide_packages()?;
        let fuzzing = BackgroundPart::start("fuzzing", &fuzz::MINUTE, Priority::Idle)?;
        let windows =
            BackgroundPart::start("Windows is compiled", &["windows", "build-tests"], Priority::Idle)?;
        let loom = BackgroundPart::start(
            "the channel, under loom",
            &["channel", "prove", "--loom"],
            Priority::Idle,
        )?;
        anyhow::Ok((fuzzing, windows, loom))
    });
    let beside = beside.transpose()?;
    // All suites run, so that one run reports all failures.
    let mut failed = Vec::new();
    for suite in &suites {
        if let Err(error) = stages.test(&format!("tests: {}", suite.name), || suite.run()) {
            failed.push(format!("{}: {error:#}", suite.name));
        }
    }
    if !failed.is_empty() {
        bail!("{} of {} suites failed:\n{}", failed.len(), suites.len(), failed.join("\n"));
    }
    let cargo_tests =
        |arguments: &[&str]| suites::counted(Command::new("cargo").args(arguments).current_dir(root()));
    let examples = ["test", "--release", "--workspace", "--doc", "--locked"];
    stages.test("tests: examples in comments", || cargo_tests(&examples))?;
    stages.test("tests: Parquet", || cargo_tests(&PARQUET))?;
    stages.test("faults", quick_faults)?;
    let part = if root_too { channel::Part::WithoutLoom } else { channel::Part::All };
    stages.test("the channel", || channel::prove(channel::Amount::Quick, part).map(passed))?;
    let Some((fuzzing, windows, loom)) = beside else {
        let minute = fuzz::Options::of(&fuzz::MINUTE[1..])?;
        return stages.test("fuzzing", || fuzz::run(&minute).map(passed));
    };
    let conformance = suites.iter().find(|suite| suite.name.ends_with(" conformance"));
    let conformance = conformance.context("no suite is called conformance")?;
    stages.test("adapters", || adapters::test(&adapters::IN_CI).map(passed))?;
    stages.run("programs that furlong observes", || observe::test(observe::Amount::Quick))?;
    // One of these stages mostly waits for timeouts, one emulates a machine with one CPU, and Wine does most of its
    // work on one.
    hosts::provide_packages()?;
    let hosts = BackgroundPart::start("between hosts", &["hosts", "test", "--quick"], Priority::Usual)?;
    let module = BackgroundPart::start("the kernel module", &["driver", "test"], Priority::Usual)?;
    stages.end(windows)?;
    stages.test("Windows, under Wine", || windows::build_tests().and_then(windows::test))?;
    for stage in [hosts, module, loom, fuzzing] {
        stages.end(stage)?;
    }
    stages.test("as an ordinary user", || as_ordinary_user(conformance))
}

/// Returns the report of tests that all passed, by their number.
fn passed(passed: usize) -> Report {
    Report { passed, ..Report::default() }
}

/// Tests what only a program with this feature can write. The usual tests are compiled without it.
const PARQUET: [&str; 11] = [
    "test",
    "--release",
    "--locked",
    "--package=furlong",
    "--package=furlong-render",
    "--features=parquet",
    "--lib",
    "--test=cli",
    "--",
    "export::",
    "queries::",
];

/// Scheduling priority of stages that run in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Priority {
    /// Default priority.
    Usual,
    /// Only CPU time that no other process uses.
    Idle,
}

/// A stage that runs next to others. A command of this program carries it out, and its output is kept until it has ended.
struct BackgroundPart {
    name: &'static str,
    ended: JoinHandle<io::Result<(ExitStatus, Duration)>>,
    output: PathBuf,
}

impl BackgroundPart {
    fn start(name: &'static str, arguments: &[&str], priority: Priority) -> anyhow::Result<BackgroundPart> {
        let folder = target()?.join("xtask-beside");
        fs::create_dir_all(&folder)?;
        let (program, output) =
            (folder.join(arguments[0]), folder.join("output of ".to_owned() + arguments[0]));
        copy_this_program(&program)?;
        let file = File::create(&output).with_context(|| format!("create {}", output.display()))?;
        // If this process ends early, the kernel kills all processes of the namespace.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        if priority == Priority::Idle {
            command.args(["chrt", "--idle", "0"]);
        }
        command.arg(program).args(arguments);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        println!("xtask: {name}, next to other stages: {}", arguments.join(" "));
        let begin = Instant::now();
        let mut child = command.spawn().context("cannot start setpriv, of util-linux")?;
        let ended = std::thread::spawn(move || child.wait().map(|status| (status, begin.elapsed())));
        Ok(BackgroundPart { name, ended, output })
    }
}

/// Runs the quick part of the faults. A few failed cells are repeated, each alone, like tests.
fn quick_faults() -> anyhow::Result<Report> {
    let (failed, passed) = faults::tried(&faults::Options::quick())?;
    if failed.len() > suites::MOST_TRIED_AGAIN {
        faults::failed::none(&failed)?;
    }
    for cell in &failed {
        println!("xtask: {} {} is tried again, alone", cell.number, cell.row);
        let (again, _) = faults::tried(&faults::Options::for_cell(cell))?;
        faults::failed::none(&again).with_context(|| format!("it failed first with: {cell}"))?;
    }
    let passed = passed + failed.len();
    Ok(Report { passed, failed_once: faults::failed::listed(&failed), ..Report::default() })
}

/// Conformance tests whose result does not depend on the rights of the user: they exchange messages of usual sizes, whose
/// system calls the kernel permits everyone.
const SAME_FOR_EVERY_USER: [&str; 20] = [
    "among ",
    "answers requests",
    "boundaries-as-claimed",
    "calls what it declares",
    "carries what it is given in one process",
    "copies-as-claimed",
    "finds-the-ready-one-of-several",
    "lends",
    "makes a link for each message",
    "messages outstanding",
    "pace/",
    "peer-death-as-claimed",
    "receivers",
    "saboteur/",
    "shares-its-ends-as-claimed",
    "streams one way",
    "tells-what-has-no-room",
    "three pairs",
    "waits-as-claimed",
    "when-full-as-claimed",
];

/// Prefix of the mechanisms whose resources the kernel limits per ordinary user, so the result of each test may
/// differ.
const LIMITED: &str = "mq/";

/// Runs the quick set and the conformance tests that depend on privileges as an unprivileged user, with the release
/// build.
fn as_ordinary_user(conformance: &Suite) -> anyhow::Result<Report> {
    let ordinary = root().join(".ci/as-ordinary-user");
    succeed(Command::new(&ordinary).arg(target()?.join("release/furlong")))?;
    let runner = Runner { program: ordinary, environment: Vec::new() };
    let skipped = SAME_FOR_EVERY_USER.iter().chain([&LIMITED]).flat_map(|name| ["--skip", *name]);
    let mut report = conformance.run_by(runner.clone(), &skipped.collect::<Vec<_>>())?;
    report.add(conformance.run_by(runner, &[LIMITED])?);
    Ok(report)
}

/// Returns whether this toolchain has a component. Debian's packages have none.
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
