//! `cargo xtask faults`: one list of faults, crossed with every row. Each cell is judged by five conditions.

mod cell;
pub mod failed;
mod fault;
mod hostile;
mod judge;
mod list;
mod matrix;
mod page;
pub mod soak;

use crate::control_groups::ControlGroups;
use crate::driver::packages;
use crate::{root, target::target};
use anyhow::{Context, bail, ensure};
use failed::FailedCell;
use fault::Fault;
use matrix::Matrix;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The row that an adapter's program carries: role.sh makes it.
const ADAPTER_ROW: &str = "held/block";

/// Options of the command line.
#[derive(Default)]
pub struct Options {
    only: Vec<String>,
    mechanism: Option<String>,
    quick: bool,
    /// Whether to test all wait strategies of each mechanism instead of a sample.
    all: bool,
    write: bool,
    program: Option<PathBuf>,
    /// Arguments as typed, without the program.
    words: String,
}

impl Options {
    /// Parses the arguments of `faults`.
    ///
    /// # Errors
    /// Returns an error for an unknown argument.
    pub fn of(words: &[&str]) -> anyhow::Result<Options> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            if *word != "--program" {
                options.words.extend([" ", *word]);
            }
            match *word {
                "--only" => {
                    let value = value()?;
                    options.words.extend([" ", *value]);
                    options.only = value.split(',').map(str::to_owned).collect();
                }
                "--mechanism" => {
                    let value = value()?;
                    options.words.extend([" ", *value]);
                    options.mechanism = Some((*value).to_owned());
                }
                "--program" => options.program = Some(std::path::absolute(value()?)?),
                "--quick" => options.quick = true,
                "--all-waits" => options.all = true,
                "--write" => options.write = true,
                other => bail!("faults has no option {other}"),
            }
        }
        Ok(options)
    }

    /// Returns the options of the quick part.
    pub fn quick() -> Options {
        Options { quick: true, ..Options::default() }
    }

    /// Returns the options of the quick part for a single cell.
    pub fn for_cell(cell: &FailedCell) -> Options {
        let mechanism = (!cell.row.is_empty()).then(|| cell.row.clone());
        Options { only: vec![cell.number.to_owned()], mechanism, ..Options::quick() }
    }

    fn wants(&self, fault: &Fault) -> bool {
        let named = |pattern: &String| glob(pattern, fault.number);
        (!self.quick || fault.quick) && (self.only.is_empty() || self.only.iter().any(named))
    }
}

/// Returns whether `text` matches a pattern, in which a star matches any text.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && glob(after, &rest[at..]))
        }),
    }
}

/// Tries every cell and prints the matrix.
///
/// # Errors
/// Returns an error if cells failed, or if no cell could be tested.
pub fn run(options: &Options) -> anyhow::Result<()> {
    failed::none(&tried(options)?.0)
}

/// Tries every cell, prints the matrix, and returns the cells that failed and how many passed.
///
/// # Errors
/// Returns an error if no cell could be tested.
pub fn tried(options: &Options) -> anyhow::Result<(Vec<FailedCell>, usize)> {
    let begin = Instant::now();
    // Each cell names its group after its directory.
    let _groups = ControlGroups::remove_at_end(&format!("{}*", cell::directory_prefix()))?;
    let faults: Vec<Fault> = list::faults().into_iter().filter(|fault| options.wants(fault)).collect();
    ensure!(!faults.is_empty(), "no fault has this number");
    if faults.iter().any(|fault| fault.needs.contains(&"strace")) {
        packages::provide(&["strace"])?;
    }
    let furlong = options.program.clone().map_or_else(build, Ok)?;
    let (rows, unable) = rows(&furlong, options)?;
    let adapter = adapter_row(options);
    println!("xtask: {} faults, {} benchmarks", faults.len(), rows.len());
    let lines = Matrix::new(&furlong, &rows, options.quick, adapter.as_ref(), &unable).tried(faults)?;
    let text = page::table(&lines);
    println!("{text}");
    let [passed, not_applicable, not_triable, failed] = page::count(&lines);
    let seconds = begin.elapsed().as_secs();
    println!(
        "{passed} cells passed, {not_applicable} do not apply, {not_triable} cannot be tried here, {failed} failed, in {seconds} s"
    );
    if options.write {
        std::fs::write(root().join("docs/faults.md"), page::page(&lines, &rows, &options.words, seconds))?;
    }
    Ok((failed::of(&lines), passed))
}

/// Damages standard input, for the scripts of the matrix.
///
/// # Errors
/// Returns an error if the seed is not a number, or if reading or writing fails.
pub fn hostile(seed: &str, by_line: bool) -> anyhow::Result<()> {
    let seed = seed.parse().with_context(|| format!("{seed} is not a valid seed: write a number"))?;
    Ok(hostile::filter(seed, by_line)?)
}

/// Builds furlong in its release configuration.
fn build() -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()).status();
    ensure!(built.context("start cargo")?.success(), "furlong cannot be built");
    Ok(target()?.join("release/furlong"))
}

/// Returns the rows that can be measured here without a fault, and the others with the reasons.
fn rows(furlong: &Path, options: &Options) -> anyhow::Result<judge::Baseline> {
    let asked = options.mechanism.as_deref().unwrap_or("*/*");
    if asked == ADAPTER_ROW {
        return Ok((Vec::new(), Vec::new()));
    }
    let script = cell::all_rows("", &[format!("'{asked}'")], "");
    let ended = cell::run(furlong, &script, &[], Duration::from_secs(300))?;
    let (rows, mut unable) = judge::baseline(&ended).map_err(anyhow::Error::msg)?;
    unable.dedup();
    let (rows, unable) = if options.all || options.mechanism.is_some() {
        (rows, unable)
    } else {
        let defaults = default_waits(furlong)?;
        (sample(rows, |row| row, &defaults), sample(unable, |(row, _)| row, &defaults))
    };
    // One row of each kind suffices to detect breakage.
    let mut seen = BTreeSet::new();
    let quick = [
        "pipe/block",
        "unix-stream/block",
        "posix-mq/block",
        "sysv-mq/block",
        "posix-shm/futex",
        "anon-shm/futex",
        "process-vm/futex",
    ];
    let chosen = |row: &String| !options.quick || quick.contains(&row.as_str());
    let rows = rows.into_iter().filter(|row| seen.insert(row.clone()) && chosen(row)).collect::<Vec<_>>();
    ensure!(!rows.is_empty(), "no benchmark can be measured here: {:?}", unable.first());
    Ok((rows, if options.quick { Vec::new() } else { unable }))
}

/// Returns the default wait strategy of each mechanism, as rows.
fn default_waits(furlong: &Path) -> anyhow::Result<BTreeSet<String>> {
    let listed = Command::new(furlong).args(["list", "--format", "json"]).output()?;
    let listed: Value = serde_json::from_slice(&listed.stdout).context("furlong list")?;
    let row = |mechanism: &Value| {
        let capabilities = &mechanism["capabilities"];
        Some(format!("{}/{}", capabilities["name"].as_str()?, capabilities["waits"][0].as_str()?))
    };
    Ok(listed.as_array().into_iter().flatten().filter_map(row).collect())
}

/// Returns the rows with the default wait strategy of their mechanism, and the first row of each other strategy. A
/// sample suffices, because the wait strategy hardly changes which faults a row survives.
fn sample<T>(mut all: Vec<T>, row: fn(&T) -> &String, defaults: &BTreeSet<String>) -> Vec<T> {
    // The baseline lists rows by their times, which differ from run to run.
    all.sort_by(|a, b| row(a).cmp(row(b)));
    let wait = |row: &str| row.split_once('/').map(|(_, wait)| wait.to_owned());
    let mut waits: BTreeSet<_> = defaults.iter().map(|row| wait(row)).collect();
    let mut is_chosen = |one: &T| defaults.contains(row(one)) || waits.insert(wait(row(one)));
    all.into_iter().filter(|one| is_chosen(one)).collect()
}

/// Returns the row of an adapter's program, if it is requested.
fn adapter_row(options: &Options) -> Option<String> {
    options.mechanism.as_ref().is_none_or(|asked| glob(asked, ADAPTER_ROW)).then(|| ADAPTER_ROW.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_numbers() {
        assert!(glob("R*", "R12") && glob("D1", "D1") && glob("*", "E4") && glob("*1", "D1"));
        assert!(!glob("D1", "D10") && !glob("R*", "D1"));
        assert!(
            Options::of(&["--only", "D1,R*", "--quick"])
                .is_ok_and(|options| options.quick && options.only.len() == 2)
        );
        assert!(Options::of(&["--loud"]).is_err() && Options::of(&["--only"]).is_err());
    }

    #[test]
    fn sample_has_each_mechanism_and_each_wait_strategy() {
        let rows = ["pipe/block", "pipe/poll", "fifo/block", "fifo/poll", "eventfd/spin"].map(str::to_owned);
        let defaults = ["pipe/block", "fifo/block", "eventfd/spin"].map(str::to_owned).into();
        let expected = ["eventfd/spin", "fifo/block", "fifo/poll", "pipe/block"];
        assert_eq!(sample(rows.to_vec(), |row| row, &defaults), expected);
        let backwards = rows.into_iter().rev().collect();
        assert_eq!(
            sample(backwards, |row| row, &defaults),
            expected,
            "the order of the baseline does not matter"
        );
    }

    #[test]
    fn every_fault_says_what_is_done_and_what_must_come_of_it() {
        let faults = list::faults();
        let mut whats: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert!(
            faults.len() > 90 && faults.iter().all(|fault| !fault.must.is_empty() && !fault.means.is_empty())
        );
        whats.sort_unstable();
        assert!(whats.windows(2).all(|pair| pair[0] != pair[1]), "each is described apart");
        assert!(faults.iter().filter(|fault| fault.quick).count() > 20);
    }
}
