//! `cargo xtask faults`: one list of faults, crossed with every row, each cell judged by the same five things.

mod cell;
mod fault;
mod hostile;
mod judge;
mod list;
mod page;
pub mod soak;

use crate::driver::packages;
use crate::{root, target::target};
use anyhow::{Context, bail, ensure};
use fault::{Act, Fault, Moment, RowMust};
use judge::Verdict;
use page::Line;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Cells that are tried at the same time: they mostly wait.
const THREADS: usize = 3;

/// How long a phase lasts in which something is done to a role, and how long once that came too late.
const LONG: [&str; 3] = ["1200ms", "3s", "6s"];

/// The row that an adapter's program carries: role.sh makes it.
const ADAPTER_ROW: &str = "held/block";

/// What was asked.
#[derive(Default)]
pub struct Options {
    only: Vec<String>,
    mechanism: Option<String>,
    quick: bool,
    write: bool,
    program: Option<PathBuf>,
    /// What was asked, as it was typed, without the program.
    words: String,
}

impl Options {
    /// From the words behind `faults`.
    ///
    /// # Errors
    /// A word that says nothing.
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
                "--program" => options.program = Some(PathBuf::from(value()?)),
                "--quick" => options.quick = true,
                "--write" => options.write = true,
                other => bail!("faults has no option {other}"),
            }
        }
        Ok(options)
    }

    /// The quick part.
    pub fn quick() -> Options {
        Options { quick: true, ..Options::default() }
    }

    fn wants(&self, fault: &Fault) -> bool {
        let named = |pattern: &String| glob(pattern, fault.number);
        (!self.quick || fault.quick) && (self.only.is_empty() || self.only.iter().any(named))
    }
}

/// Whether `text` is what a pattern describes, in which a star stands for anything.
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
/// That cells failed, or that nothing could be tried.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let begin = Instant::now();
    let faults: Vec<Fault> = list::faults().into_iter().filter(|fault| options.wants(fault)).collect();
    ensure!(!faults.is_empty(), "no fault has such a number");
    if faults.iter().any(|fault| fault.needs.contains(&"strace")) {
        packages::provide(&["strace"])?;
    }
    let furlong = options.program.clone().map_or_else(build, Ok)?;
    let (rows, unable) = rows(&furlong, options)?;
    let adapter = adapter_row(options);
    println!("xtask: {} faults, {} rows", faults.len(), rows.len());
    let lines =
        Matrix { furlong: &furlong, rows: &rows, adapter: &adapter, unable: &unable }.tried(faults)?;
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
    ensure!(failed == 0, "{failed} cells failed");
    Ok(())
}

/// Damages what comes in, as a script of the matrix asks for it.
///
/// # Errors
/// That the seed is no number, or what failed to be read or written.
pub fn hostile(seed: &str, by_line: bool) -> anyhow::Result<()> {
    let seed = seed.parse().with_context(|| format!("{seed} is no seed"))?;
    Ok(hostile::filter(seed, by_line)?)
}

/// Whether a program is found where programs lie.
fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Furlong as it is released.
fn build() -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()).status();
    ensure!(built.context("start cargo")?.success(), "furlong cannot be built");
    Ok(target()?.join("release/furlong"))
}

/// The rows that can be measured here without a fault, and those that cannot, with why.
fn rows(furlong: &Path, options: &Options) -> anyhow::Result<judge::Baseline> {
    let asked = options.mechanism.as_deref().unwrap_or("*/*");
    if asked == ADAPTER_ROW {
        return Ok((Vec::new(), Vec::new()));
    }
    let script = all_rows("", &[format!("'{asked}'")], "");
    let ended = cell::run(furlong, &script, &[], Duration::from_secs(300))?;
    let (rows, mut unable) = judge::baseline(&ended).map_err(anyhow::Error::msg)?;
    unable.dedup();
    // One row of each kind is enough to see whether something is broken.
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
    ensure!(!rows.is_empty(), "no row can be measured here: {:?}", unable.first());
    Ok((rows, if options.quick { Vec::new() } else { unable }))
}

/// The row that an adapter's program carries, if it is asked for.
fn adapter_row(options: &Options) -> Option<String> {
    options.mechanism.as_ref().is_none_or(|asked| glob(asked, ADAPTER_ROW)).then(|| ADAPTER_ROW.to_owned())
}

/// The script that measures all these rows at once.
fn all_rows(before: &str, rows: &[String], options: &str) -> String {
    format!(
        "( {before} \"$FURLONG\" run {} --trials 1 --budget 2ms --warm-up 100us {options} --no-save --no-progress \
         --format json > stdout 2> stderr ); echo $? > code\nnothing_left",
        rows.join(" ")
    )
}

/// What is tried.
struct Matrix<'a> {
    furlong: &'a Path,
    rows: &'a [String],
    /// The row that an adapter's program carries, of which roles are disturbed too.
    adapter: &'a Option<String>,
    unable: &'a [(String, String)],
}

impl Matrix<'_> {
    /// All cells of all faults.
    fn tried(&self, faults: Vec<Fault>) -> anyhow::Result<Vec<Line>> {
        // A role's fault has a cell of its own for each row; the others are one script.
        let mut cells: Vec<(usize, Option<&String>)> = Vec::new();
        for (index, fault) in faults.iter().enumerate() {
            match fault.act {
                Act::Role { .. } => {
                    cells.extend(self.rows.iter().chain(self.adapter).map(|row| (index, Some(row))))
                }
                Act::Rows { .. } | Act::Script(_) => cells.push((index, None)),
            }
        }
        // The long ones first.
        cells.sort_by_key(|(_, row)| row.is_some());
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Some((index, row)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let tried = self.cell(&faults[*index], *row);
                        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        found.push((*index, tried));
                        let bad = |(_, verdict): &&(String, Verdict)| matches!(verdict, Verdict::Failed(_));
                        if let (_, Ok(cells)) = &found[found.len() - 1] {
                            for (row, verdict) in cells.iter().filter(bad) {
                                println!(
                                    "xtask: {} {} {row}: {verdict:?}",
                                    faults[*index].number, faults[*index].what
                                );
                            }
                        }
                    }
                });
            }
        });
        let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut lines: Vec<Line> =
            faults.into_iter().map(|fault| Line { fault, cells: Vec::new() }).collect();
        for (index, tried) in found {
            lines[index].cells.extend(tried?);
        }
        for line in &mut lines {
            if !matches!(line.fault.act, Act::Script(_)) {
                let why = |(row, why): &(String, String)| (row.clone(), Verdict::NotTriable(why.clone()));
                line.cells.extend(self.unable.iter().map(why));
            }
            line.cells.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        Ok(lines)
    }

    /// The cell of a row, or all cells of a fault that is tried once.
    fn cell(&self, fault: &Fault, row: Option<&String>) -> anyhow::Result<Vec<(String, Verdict)>> {
        if let Some(missing) = fault.needs.iter().find(|program| !is_here(program)) {
            let why = Verdict::NotTriable(format!("{missing} is not here"));
            let rows = match fault.act {
                Act::Rows { .. } => self.rows,
                _ => &[row.cloned().unwrap_or_default()],
            };
            return Ok(rows.iter().map(|row| (row.clone(), why.clone())).collect());
        }
        match &fault.act {
            Act::Role { moment, then, row: must, code } => {
                let row = row.context("a role's fault needs a row")?;
                // One role alone has no peer that could be told from it.
                if row.starts_with("null/") && then.contains("$responder") {
                    let why = "it has one role, which is called initiator".to_owned();
                    return Ok(vec![(row.clone(), Verdict::NotApplicable(why))]);
                }
                self.role(row, *moment, then, *must, *code).map(|verdict| vec![(row.clone(), verdict)])
            }
            Act::Rows { before, says, options, may_fail } => {
                let quoted: Vec<String> = self.rows.iter().map(|row| format!("'{row}'")).collect();
                let script = all_rows(before, &quoted, options);
                let ended = cell::run(self.furlong, &script, &[], Duration::from_secs(400))?;
                let judged = |row: &String| (row.clone(), judge::of_rows(&ended, row, says, *may_fail));
                Ok(self.rows.iter().map(judged).collect())
            }
            Act::Script(script) => {
                let ended = cell::run(self.furlong, script, &[], Duration::from_secs(3600))?;
                Ok(vec![(String::new(), judge::of_script(&ended))])
            }
        }
    }

    fn role(
        &self,
        row: &str,
        moment: Moment,
        then: &str,
        must: RowMust,
        code: i32,
    ) -> anyhow::Result<Verdict> {
        let other = if row.starts_with("pipe/") { "unix-stream/block" } else { "pipe/block" };
        let roles = if row.starts_with("null/") { "1" } else { "2" };
        let script = format!(
            "{}\n{then}\n[ ! -d held ] || : > held/let-go\n[ -n \"${{ended-}}\" ] || {{ wait $run; ended=$?; }}\necho $ended > code\nnothing_left",
            include_str!("role.sh")
        );
        for long in LONG {
            let variables = [
                ("ROW", row.to_owned()),
                ("OTHER", other.to_owned()),
                ("OPTIONS", moment.options.replace("$LONG", long)),
                ("PHASE", moment.phase.to_owned()),
                ("ROLES", roles.to_owned()),
            ];
            let ended = cell::run(self.furlong, &script, &variables, Duration::from_secs(60))?;
            // On a busy machine the phase may be over before something is done in it.
            if !ended.stderr.contains("No such process") {
                return Ok(judge::of_role(&ended, row, other, must, code));
            }
        }
        Ok(Verdict::Failed(format!("the {} was over each time", moment.phase)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for() {
        assert!(is_here("sh") && !is_here("no-such-program-of-anybody"));
    }

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
