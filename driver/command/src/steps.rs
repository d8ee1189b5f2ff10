//! Steps that change the system. Each is a command that a user could type, and is printed before it runs.

use crate::{build, program, source};
use anyhow::Context;
use furlong_console::exit::Outcome;
use furlong_console::output;
use furlong_os::linux::noted_signal::NotedSignals;
use furlong_os::linux::signal::{self, ending};
use std::fmt;
use std::path::{Path, PathBuf};

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    words: Vec<String>,
    kind: Kind,
}

/// Executor of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The program that the command line names.
    Program,
    /// furlong, which writes the source into this directory.
    Source(PathBuf),
    /// furlong, which builds the module in a directory with these headers.
    Module(PathBuf, PathBuf),
}

impl Step {
    /// Creates a step that runs a program with its arguments.
    pub fn program<const N: usize>(words: [&str; N]) -> Step {
        Step { words: words.map(str::to_owned).to_vec(), kind: Kind::Program }
    }

    /// Creates a step that writes the driver's source into this directory.
    pub fn source(folder: &Path) -> Step {
        let words = ["furlong", "driver", "build", "--source-only", "--into", &folder.to_string_lossy()];
        Step { words: words.map(str::to_owned).to_vec(), kind: Kind::Source(folder.to_owned()) }
    }

    /// Creates a step that builds the module in this directory.
    pub fn module(folder: &Path, headers: &Path) -> Step {
        let (into, with) = (folder.to_string_lossy(), headers.to_string_lossy());
        let words = ["furlong", "driver", "build", "--headers", &with, "--into", &into];
        Step {
            words: words.map(str::to_owned).to_vec(),
            kind: Kind::Module(folder.to_owned(), headers.to_owned()),
        }
    }

    fn perform(&self) -> anyhow::Result<()> {
        match &self.kind {
            Kind::Source(folder) => source::write_into(folder),
            Kind::Module(folder, headers) => build::make(folder, headers, false).map(drop),
            Kind::Program => {
                let [name, arguments @ ..] = self.words.as_slice() else { return Ok(()) };
                let path = program::find(name).with_context(|| format!("{name} is not installed"))?;
                program::run(program::command(&path).args(arguments), false)
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.words.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns the steps, one line each.
pub fn listing(steps: &[Step]) -> String {
    steps.iter().map(|step| format!("{step}\n")).collect()
}

/// Performs the steps in order, and prints each before. `undo` tells the user how to revert the steps.
///
/// # Errors
/// Returns an error that names the failed step, its cause and the steps done before. Later steps are not done.
pub fn perform(steps: &[Step], undo: &str) -> anyhow::Result<Outcome> {
    let signals = NotedSignals::new(&ending()).context("cannot receive signals")?;
    for (number, step) in steps.iter().enumerate() {
        output::print(&format!("{step}\n"))?;
        let result = step.perform();
        if let Some(signal) = signals.first() {
            let last = if result.is_ok() { number + 1 } else { number };
            output::tell(format_args!(
                "furlong: {} arrived in step {} of {}{}",
                signal::name(signal),
                number + 1,
                steps.len(),
                done(&steps[..last], undo)
            ));
            return Ok(Outcome::Interrupted(signal));
        }
        result.map_err(|error| {
            let place = format!("step {} of {} failed: {step}", number + 1, steps.len());
            anyhow::anyhow!("{place}: {error:#}{}", done(&steps[..number], undo))
        })?;
    }
    Ok(Outcome::Done)
}

/// Returns a text that lists the steps done so far.
fn done(steps: &[Step], undo: &str) -> String {
    if steps.is_empty() {
        return "\nNothing was changed.".to_owned();
    }
    let steps: String = steps.iter().map(|step| format!("\n    {step}")).collect();
    format!("\nCompleted steps:{steps}\n{undo}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_step_reads_as_what_a_shell_takes() {
        assert_eq!(Step::program(["depmod", "6.1.0-56-amd64"]).to_string(), "depmod 6.1.0-56-amd64");
        assert_eq!(Step::program(["echo", "it's", ""]).to_string(), "echo 'it'\\''s' ''");
        let step = Step::source("/usr/src/x".as_ref());
        assert_eq!(step.to_string(), "furlong driver build --source-only --into /usr/src/x");
        assert_eq!(listing(&[step.clone(), step]).lines().count(), 2);
    }

    #[test]
    fn steps_end_with_the_first_that_fails_and_it_is_said_what_was_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let steps = [
            Step::source(&folder.path().join("source")),
            Step::program(["touch", &path("before")]),
            Step::program(["ls", &path("nothing")]),
            Step::program(["touch", &path("after")]),
        ];
        let text = perform(&steps, "So it is undone.").unwrap_err().to_string();
        assert!(text.starts_with("step 3 of 4 failed: ls "), "{text}");
        assert!(text.contains("No such file or directory"), "{text}");
        let done = format!("Completed steps:\n    {}\n    {}\nSo it is undone.", steps[0], steps[1]);
        assert!(text.ends_with(&done), "{text}");
        assert!(fs::exists(path("before")).unwrap() && !fs::exists(path("after")).unwrap());
        assert!(folder.path().join("source").join(source::RULE).exists());

        let text = perform(&steps[2..], "").unwrap_err().to_string();
        assert!(text.contains("Nothing was changed"), "{text}");
        assert_eq!(perform(&steps[..2], "").unwrap(), Outcome::Done);
        let text = perform(&[Step::program(["no-such-program-of-ours"])], "").unwrap_err().to_string();
        assert!(text.contains("no-such-program-of-ours is not installed"), "{text}");
    }
}
