//! `furlong.exe` under Wine, in a place of its own: a folder whose name has spaces and umlauts holds the program, what it saves
//! and its temporary files.

use super::wine;
use crate::command::succeed;
use anyhow::Context;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is copied: the command, and the children of the two subsystems.
const PROGRAMS: [&str; 3] = ["furlong.exe", "furlong-child-console.exe", "furlong-child-windows.exe"];

/// The programs and their folder.
pub struct Furlong {
    /// Where Wine's prefix is.
    windows: PathBuf,
    place: PathBuf,
}

impl Furlong {
    /// Copies `furlong.exe`, and what lies beside it, into a new place in `windows`.
    ///
    /// # Errors
    /// What cannot be copied.
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

    /// The program with these arguments, to be started.
    ///
    /// # Errors
    /// As of [`wine::command`].
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
    /// If it ends with another code than 0.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<()> {
        succeed(&mut self.command(arguments)?)
    }

    /// Runs it, and gives what it printed.
    ///
    /// # Errors
    /// If it ends with another code than 0.
    pub fn text(&self, arguments: &[&str]) -> anyhow::Result<String> {
        step::text(&mut self.command(arguments)?)
    }

    /// Runs it to an end with this code, at which it says all of these words.
    ///
    /// # Errors
    /// If it ends otherwise or does not say them.
    pub fn expect(&self, arguments: &[&str], code: i32, words: &[&str]) -> anyhow::Result<()> {
        println!("xtask: furlong.exe {} ends with {code}", arguments.join(" "));
        let output = self.command(arguments)?.output().context("cannot start Wine")?;
        ended(&output, code, words)
    }

    /// The file of a saved run.
    pub fn saved(&self, name: &str) -> PathBuf {
        self.place.join("furlong/runs").join(name).with_extension("jsonl")
    }

    /// The pattern by which `pgrep -f` finds its children: every backslash and dot stands for any character.
    pub fn pattern_of_children(&self) -> String {
        let program = windows_path(&self.place.join(PROGRAMS[0]));
        format!("{} child [0-9]+$", program.replace('\\', "."))
    }

    /// The folder for its temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.place.join("Temp")
    }
}

/// Refuses an end with another code, or without these words, however their lines are broken.
///
/// # Errors
/// What it said.
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
        Some(missing) => anyhow::bail!("it does not say '{missing}': {said}"),
        None => Ok(()),
    }
}

/// What Wine calls a path of this system.
pub fn windows_path(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}
