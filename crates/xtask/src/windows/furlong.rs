//! `furlong.exe` under Wine, in a separate folder whose name has spaces and umlauts. The folder holds the program,
//! its saved runs and its temporary files.

use super::wine;
use crate::command::succeed;
use anyhow::Context;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Copied programs: the command, and the child programs of both subsystems.
const PROGRAMS: [&str; 3] = ["furlong.exe", "furlong-child-console.exe", "furlong-child-windows.exe"];

/// The programs and their directory.
pub struct Furlong {
    /// Directory of Wine's prefix.
    windows: PathBuf,
    place: PathBuf,
}

impl Furlong {
    /// Copies `furlong.exe` and the programs next to it into a new directory in `windows`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied.
    pub fn new(windows: &Path, program: &Path) -> anyhow::Result<Furlong> {
        let place = windows.join("Prüfung mit Lücken");
        let _ = fs::remove_dir_all(&place);
        let furlong = Furlong { windows: windows.to_owned(), place };
        for folder in [furlong.place.clone(), furlong.temporary()] {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        for name in PROGRAMS {
            let from = program.with_file_name(name);
            fs::copy(&from, furlong.place.join(name)).with_context(|| from.display().to_string())?;
        }
        Ok(furlong)
    }

    /// Returns a command that runs the program with these arguments.
    ///
    /// # Errors
    /// Returns the errors of [`wine::command`].
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Command> {
        let mut command = wine::command(&self.windows)?;
        command.arg(self.place.join(PROGRAMS[0])).args(arguments);
        command.env("XDG_DATA_HOME", windows_path(&self.place));
        command.envs(["TMP", "TEMP"].map(|name| (name, windows_path(&self.temporary()))));
        Ok(command)
    }

    /// Runs it, and shows what it prints.
    ///
    /// # Errors
    /// Returns an error if it exits with a status other than 0.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        succeed(&mut self.command(arguments)?)
    }

    /// Runs the program, and returns its output.
    ///
    /// # Errors
    /// Returns an error if it exits with a status other than 0.
    pub fn text(&self, arguments: &[&str]) -> anyhow::Result<String> {
        step::text(&mut self.command(arguments)?)
    }

    /// Runs the program and checks that it exits with this status and prints all of these words.
    ///
    /// # Errors
    /// Returns an error if the status differs or a word is missing.
    pub fn expect(&self, arguments: &[&str], code: i32, words: &[&str]) -> anyhow::Result<()> {
        println!("xtask: furlong.exe {} ends with {code}", arguments.join(" "));
        let output = self.command(arguments)?.output().context("cannot start Wine")?;
        ended(&output, code, words)
    }

    /// Returns the file of a saved run.
    pub fn saved(&self, name: &str) -> PathBuf {
        self.place.join("furlong/runs").join(name).with_extension("jsonl")
    }

    /// Returns a pattern for `pgrep -f` that matches the children. In the pattern, a dot matches every backslash and
    /// dot.
    pub fn pattern_of_children(&self) -> String {
        let program = windows_path(&self.place.join(PROGRAMS[0]));
        format!("{} child [0-9]+$", program.replace('\\', "."))
    }

    /// Returns the directory for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.place.join("Temp")
    }
}

/// Checks the exit status and the printed words, which may be broken across lines.
///
/// # Errors
/// Returns an error with the output.
pub fn ended(output: &Output, code: i32, words: &[&str]) -> anyhow::Result<()> {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let said = format!("{stdout}{stderr}");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    anyhow::ensure!(
        output.status.code() == Some(code),
        "it ended with {}, not {code}: {said}",
        output.status
    );
    match words.iter().find(|words| !flat.contains(**words)) {
        Some(missing) => anyhow::bail!("it does not contain '{missing}': {said}"),
        None => Ok(()),
    }
}

/// Returns the path of a file as Wine names it.
pub fn windows_path(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}
