//! `cargo xtask consistency`: looks for contradictions in the text that furlong prints of saved runs.

mod runs;

use crate::command::succeed;
use crate::root;
use crate::target::target;
use anyhow::{Context, bail};
use furlong_consistency::{Contradiction, RunContradictions, check_with_before, unpack, unpack_all};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directory of the corpus: one archive for each kind of run.
const CORPUS: &str = "tests/consistency";

/// Looks for contradictions in the text that `program` prints of these runs. Without a program it is the furlong of this tree, and
/// without runs the corpus.
///
/// # Errors
/// Returns an error with the number of contradictions, after all were printed.
pub fn check(program: Option<&str>, files: &[&str]) -> anyhow::Result<()> {
    let program = program.map_or_else(build, |program| Ok(program.into()))?;
    let mut runs: Vec<_> = files.iter().map(PathBuf::from).collect();
    if files.is_empty() {
        runs = unpack_all(&root().join(CORPUS), &new_folder("corpus")?)?;
    }
    report(&program, &runs)
}

/// Measures runs of the length that users measure, and checks each, or only those whose names begin with one of `only`.
///
/// # Errors
/// Returns an error that names the failed command, or the number of contradictions.
pub fn measure(only: &[&str]) -> anyhow::Result<()> {
    let program = build()?;
    let runs = runs::record(&program, &new_folder("fresh")?, &runs::FRESH, only)?;
    report(&program, &runs)
}

/// Prints the contradictions of runs, and of the comparison of each with the one before it if they are of one kind.
fn report(program: &Path, runs: &[PathBuf]) -> anyhow::Result<()> {
    let mut laws: BTreeMap<&str, usize> = BTreeMap::new();
    let mut print = |run: &Path, found: Vec<Contradiction>| {
        for Contradiction { law, text } in found {
            println!("{}: {law}: {text}", run.file_name().unwrap_or_default().display());
            *laws.entry(law).or_default() += 1;
        }
    };
    let mut compared = 0;
    for (at, run) in runs.iter().enumerate() {
        let RunContradictions { of_run, of_comparison } = check_with_before(program, runs, at)?;
        print(run, of_run);
        compared += usize::from(of_comparison.is_some());
        print(run, of_comparison.unwrap_or_default());
    }
    println!("{} runs and {compared} comparisons", runs.len());
    for (law, count) in &laws {
        println!("{count:>6}  {law}");
    }
    match laws.values().sum::<usize>() {
        0 => Ok(()),
        count => bail!("{count} contradictions"),
    }
}

/// Records the corpus again, or the kinds or runs whose names begin with one of `only`.
///
/// # Errors
/// Returns an error that names the failed command.
pub fn record(only: &[&str]) -> anyhow::Result<()> {
    let program = build()?;
    let (corpus, work) = (root().join(CORPUS), new_folder("record")?);
    for kind in runs::CORPUS {
        if !only.is_empty() && !only.iter().any(|only| only.starts_with(kind.0)) {
            continue;
        }
        let (folder, archive) = (work.join(kind.0), corpus.join(format!("{}.tar.gz", kind.0)));
        fs::create_dir_all(&folder)?;
        if archive.exists() {
            unpack(&archive, &folder)?;
        }
        if !runs::record(&program, &folder, &[kind], only)?.is_empty() {
            // Equal runs make equal archives.
            let mut pack = Command::new("tar");
            pack.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]);
            succeed(pack.arg("-czf").arg(archive).arg("-C").arg(folder).arg("."))?;
        }
    }
    Ok(())
}

/// Compiles furlong, and returns its path.
fn build() -> anyhow::Result<PathBuf> {
    succeed(Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(root()))?;
    Ok(target()?.join("release/furlong"))
}

/// Creates an empty directory below cargo's target directory.
fn new_folder(name: &str) -> anyhow::Result<PathBuf> {
    let folder = target()?.join("consistency").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
