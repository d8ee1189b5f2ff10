//! Parallel tests, each in one of a few worker processes that run one test at a time: children die with the thread that
//! started them, and a fork copies one thread only.
//!
//! The harness sends a worker the name of a test, and the worker answers with a line of JSON.

use crate::own_session;
#[cfg(target_os = "linux")]
use furlong_mechanism::probe_rings;
use libtest_mimic::{Arguments, Completion, Failed};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Lines, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The variable that is set in worker processes.
const WORKER: &str = "FURLONG_CONFORMANCE_WORKER";

/// The prefix of an answer, which distinguishes it from the output of a test.
const ANSWER: &str = "conformance: ";

/// A trial is placed on two CPUs and often sleeps or waits for a timeout, so two trials per CPU keep both busy.
const MOST_WORKERS: usize = 4;

/// A test and its name.
pub struct Trial {
    name: String,
    test: Box<dyn FnOnce() -> Result<Completion, Failed> + Send>,
    alone: Box<dyn Fn() -> bool + Send>,
    slow: bool,
}

impl Trial {
    /// Creates a test that passes or fails.
    pub fn test(
        name: impl Into<String>,
        test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
    ) -> Trial {
        Trial::ignorable_test(name, || test().map(|()| Completion::Completed))
    }

    /// Creates a test that may not apply.
    pub fn ignorable_test(
        name: impl Into<String>,
        test: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
    ) -> Trial {
        let name = name.into();
        #[cfg(target_os = "linux")]
        if name.contains("/io-uring:")
            && let Some(why) = probe_rings()
        {
            let skipped = move || Ok(Completion::ignored_with(format!("skipped, because {}", why.reason)));
            return Trial { name, test: Box::new(skipped), alone: Box::new(|| false), slow: false };
        }
        Trial { name, test: Box::new(test), alone: Box::new(|| false), slow: false }
    }

    /// Runs the test without parallel tests if `alone` returns true: it looks at the whole machine, or at times. Only
    /// the harness calls `alone`.
    pub fn alone_if(self, alone: impl Fn() -> bool + Send + 'static) -> Trial {
        Trial { alone: Box::new(alone), ..self }
    }

    /// Marks the test as slow: it runs only if slow tests are requested. Another test covers the same code, for example
    /// with the default wait strategy of the mechanism.
    pub fn slow_if(self, slow: bool) -> Trial {
        let name = if slow { format!("slow::{}", self.name) } else { self.name };
        Trial { name, slow, ..self }
    }
}

/// The result of a test.
#[derive(Serialize, Deserialize)]
enum Answer {
    Passed,
    Ignored(Option<String>),
    Failed(Option<String>),
}

/// The name of the test that this process runs.
#[cfg(windows)]
static CURRENT: Mutex<String> = Mutex::new(String::new());

/// Returns the name of the test that this process runs.
#[cfg(windows)]
pub fn current_test() -> String {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Runs the tests, in this process if it is a worker.
pub fn run(tests: Vec<Trial>) -> ExitCode {
    #[cfg(windows)]
    if let Some(name) = crate::pair::requested_test() {
        let test = tests.into_iter().find(|test| test.name == name);
        // The pair of the test ends this process.
        return test.map_or(ExitCode::FAILURE, |test| {
            let _ = (test.test)();
            ExitCode::FAILURE
        });
    }
    if std::env::var_os(WORKER).is_some() {
        return work(tests);
    }
    let mut arguments = Arguments::from_args();
    let workers = arguments.test_threads.unwrap_or(MOST_WORKERS).clamp(1, MOST_WORKERS);
    arguments.test_threads = Some(workers);
    let harness = Arc::new(Harness { idle: Mutex::new(Vec::new()), alone: RwLock::new(()) });
    // Tests that run alone come last: each of them waits for the longest of the parallel tests.
    let (alone, beside): (Vec<_>, Vec<_>) = tests.into_iter().partition(|test| (test.alone)());
    let beside = beside.into_iter().map(|test| (test, false));
    let trials = beside.chain(alone.into_iter().map(|test| (test, true))).map(|(test, alone)| {
        let (harness, name) = (harness.clone(), test.name.clone());
        libtest_mimic::Trial::ignorable_test(test.name, move || harness.run(&name, alone))
            .with_ignored_flag(test.slow)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The idle workers, and a lock that parallel tests share.
struct Harness {
    idle: Mutex<Vec<Worker>>,
    alone: RwLock<()>,
}

impl Harness {
    fn run(&self, name: &str, alone: bool) -> Result<Completion, Failed> {
        let _turn = match alone {
            true => (Some(self.alone.write().unwrap_or_else(PoisonError::into_inner)), None),
            false => (None, Some(self.alone.read().unwrap_or_else(PoisonError::into_inner))),
        };
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = idle().pop();
        let mut worker = worker.map_or_else(Worker::start, Ok)?;
        // A worker that has not answered is dropped, and the next test starts another one.
        let answer = worker.ask(name)?;
        idle().push(worker);
        match answer {
            Answer::Passed => Ok(Completion::Completed),
            Answer::Ignored(reason) => Ok(Completion::Ignored { reason }),
            Answer::Failed(Some(reason)) => Err(reason.into()),
            Answer::Failed(None) => Err(Failed::without_message()),
        }
    }
}

/// A process that runs one test at a time.
struct Worker {
    process: Child,
    names: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    fn start() -> Result<Worker, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.env(WORKER, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (names, answers) = process.stdin.take().zip(process.stdout.take()).ok_or("no pipes")?;
        Ok(Worker { process, names, answers: BufReader::new(answers).lines() })
    }

    /// Sends the name of a test, forwards its output, and returns the answer.
    fn ask(&mut self, name: &str) -> Result<Answer, Failed> {
        writeln!(self.names, "{name}")?;
        for line in &mut self.answers {
            let line = line?;
            match line.strip_prefix(ANSWER) {
                Some(answer) => return Ok(serde_json::from_str(answer)?),
                None => eprintln!("{line}"),
            }
        }
        Err(format!("its process ended: {}", self.process.wait()?).into())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the tests that are named on the standard input.
fn work(mut tests: Vec<Trial>) -> ExitCode {
    for name in std::io::stdin().lines() {
        let Ok(name) = name else { return ExitCode::FAILURE };
        #[cfg(windows)]
        CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&name);
        let found = tests.iter().position(|test| test.name == name);
        let answer = match found.map(|at| tests.swap_remove(at)) {
            Some(test) => match catch_unwind(AssertUnwindSafe(test.test)) {
                Ok(Ok(Completion::Completed)) => Answer::Passed,
                Ok(Ok(Completion::Ignored { reason })) => Answer::Ignored(reason),
                Ok(Err(failed)) => Answer::Failed(failed.message().map(str::to_owned)),
                Err(panic) => Answer::Failed(words_of(panic.as_ref())),
            },
            None => Answer::Failed(Some(format!("no test is called {name}"))),
        };
        own_session::close();
        match serde_json::to_string(&answer) {
            Ok(answer) => println!("{ANSWER}{answer}"),
            Err(_) => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> Option<String> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).map(str::to_owned)
}
