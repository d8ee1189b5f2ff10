//! Every fault with every row, several cells at the same time.

use super::cell::{self, ScriptResult};
use super::fault::{Act, Fault, Moment, Setting};
use super::judge::{self, DisturbedBenchmark, Verdict};
use super::page::Line;
use anyhow::Context;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cells that are tried at the same time: they mostly wait.
const THREADS: usize = 5;

/// Number of cells after which the progress is printed.
const TOLD: usize = 200;

/// Number of faults that are listed as the slowest.
const SLOWEST: usize = 12;

/// Length of the phase in which a role is disturbed, and the run time of the role before that, in milliseconds. After
/// a disturbance that came too early or too late, the next pair is used.
const LONG: [(&str, u32); 4] = [("600ms", 30), ("1500ms", 150), ("3s", 500), ("6s", 1500)];

/// Rows whose roles are disturbed in the quick part, in addition to the adapter's row: one with descriptors and one with memory.
const QUICK_ROLES: [&str; 2] = ["pipe/block", "posix-shm/futex"];
/// One row for each kind of code that a role may be in: a stream, a datagram, a queue, shared memory that sleeps and that spins, a
/// notification, memory of the other role, and a ring of requests.
const FEW_ROLES: [&str; 8] = [
    "pipe/block",
    "unix-dgram/block",
    "posix-mq/block",
    "posix-shm/futex",
    "lamport-ring/spin",
    "eventfd/block",
    "process-vm/futex",
    "io-uring-pipe/block",
];

/// A row in a setting, by its options.
type InSetting = (String, &'static str);

/// Inputs of the test matrix.
pub struct Matrix<'a> {
    furlong: &'a Path,
    rows: &'a [String],
    /// Whether this is the quick part.
    quick: bool,
    /// The row of an adapter's program, whose roles are disturbed too.
    adapter: Option<&'a String>,
    unable: &'a [(String, String)],
    /// Rows that furlong refuses, with why.
    refused: BTreeMap<InSetting, String>,
    /// Seeds with which a row is measured first, each determined once.
    seeds: Mutex<BTreeMap<InSetting, String>>,
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Matrix<'a> {
    /// Creates a matrix.
    pub fn new(
        furlong: &'a Path,
        rows: &'a [String],
        quick: bool,
        adapter: Option<&'a String>,
        unable: &'a [(String, String)],
    ) -> Self {
        Matrix { furlong, rows, quick, adapter, unable, refused: BTreeMap::new(), seeds: Mutex::default() }
    }

    /// Tests all cells of all faults.
    ///
    /// # Errors
    /// Returns an error if a cell cannot be tested.
    pub fn tried(mut self, faults: Vec<Fault>) -> anyhow::Result<Vec<Line>> {
        // A fault of a role has a separate cell for each row. Other faults are one script.
        let mut cells: Vec<(usize, Option<&String>)> = Vec::new();
        let has_few = self.rows.iter().any(|row| FEW_ROLES.contains(&row.as_str()));
        for (index, fault) in faults.iter().enumerate() {
            match fault.act {
                Act::Role { setting, .. } => {
                    self.ask_what_is_refused(setting)?;
                    let adapter = self.adapter.filter(|_| setting.options.is_empty());
                    let wanted = |row: &&String| match (self.quick, fault.of_few) {
                        (true, _) => QUICK_ROLES.contains(&row.as_str()),
                        (false, true) => !has_few || FEW_ROLES.contains(&row.as_str()),
                        (false, false) => true,
                    };
                    let rows = self.rows.iter().filter(wanted).chain(adapter);
                    cells.extend(rows.map(|row| (index, Some(row))));
                }
                Act::Rows { .. } | Act::Script(_) => cells.push((index, None)),
            }
        }
        // The long ones first.
        cells.sort_by_key(|(_, row)| row.is_some());
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let durations = Mutex::new(vec![Duration::ZERO; faults.len()]);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let begun = next.fetch_add(1, Ordering::Relaxed);
                        let Some((index, row)) = cells.get(begun) else { break };
                        if begun > 0 && begun % TOLD == 0 {
                            println!("xtask: {begun} of {} runs have begun", cells.len());
                        }
                        let start = Instant::now();
                        let tried = self.cell(&faults[*index], *row);
                        lock(&durations)[*index] += start.elapsed();
                        if let Ok(tried) = &tried {
                            tell_failed(&faults[*index], tried);
                        }
                        lock(&found).push((*index, tried));
                    }
                });
            }
        });
        print_slowest(&faults, &lock(&durations));
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
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

    /// Queries furlong for the rows that it refuses in a setting.
    fn ask_what_is_refused(&mut self, setting: Setting) -> anyhow::Result<()> {
        let options = setting.options;
        if options.is_empty() || self.refused.keys().any(|(_, asked)| *asked == options) {
            return Ok(());
        }
        let ended = cell::run(
            self.furlong,
            &cell::all_rows("", &self.quoted(), options),
            &[],
            Duration::from_secs(600),
        )?;
        let refused = judge::refused(&ended).map_err(anyhow::Error::msg)?;
        self.refused.extend(refused.into_iter().map(|(row, why)| ((row, options), why)));
        Ok(())
    }

    fn quoted(&self) -> Vec<String> {
        self.rows.iter().map(|row| format!("'{row}'")).collect()
    }

    /// Returns the cell of a row, or all cells of a fault that is tried once.
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
            Act::Role { setting, moment, then, row: must, code } => {
                let row = row.context("a fault of a role needs a benchmark")?;
                // A benchmark with a single role has no peer to disturb.
                let why = if let Some(why) = self.refused.get(&(row.clone(), setting.options)) {
                    Some(why.clone())
                } else if row.starts_with("null/") && (then.contains("$responder") || then.contains("$last"))
                {
                    Some("it has one role, which is called initiator".to_owned())
                } else {
                    None
                };
                let verdict = match why {
                    Some(why) => Verdict::NotApplicable(why),
                    None => {
                        let disturbed = DisturbedBenchmark {
                            row,
                            other: setting.other(row),
                            parties: setting.parties,
                            phase: moment.phase,
                            must: *must,
                            code: *code,
                        };
                        self.role(disturbed, *setting, *moment, then)?
                    }
                };
                Ok(vec![(row.clone(), verdict)])
            }
            Act::Rows { before, says, options, may_fail } => {
                let script = cell::all_rows(before, &self.quoted(), options);
                let ended = cell::run(self.furlong, &script, &[], Duration::from_secs(400))?;
                Ok(judge::judge_rows(&ended, self.rows, says, *may_fail))
            }
            Act::Script(script) => {
                let ended = cell::run(self.furlong, script, &[], Duration::from_secs(3600))?;
                Ok(vec![(String::new(), judge::judge_script(&ended))])
            }
        }
    }

    /// Disturbs a role of a row.
    fn role(
        &self,
        disturbed: DisturbedBenchmark<'_>,
        setting: Setting,
        moment: Moment,
        then: &str,
    ) -> anyhow::Result<Verdict> {
        let seed = match self.seed(disturbed, setting)? {
            Ok(seed) => seed,
            Err(verdict) => return Ok(verdict),
        };
        let script = format!(
            "{}\n{then}\n[ ! -d held ] || : > held/let-go\n[ -n \"${{ended-}}\" ] || {{ wait $run; ended=$?; }}\necho $ended > code\nnothing_left",
            include_str!("role.sh")
        );
        for (long, ran_ms) in LONG {
            let more = [
                ("OPTIONS", moment.options.replace("$LONG", long)),
                ("RAN_MS", ran_ms.to_string()),
                ("SEED", seed.clone()),
            ];
            let ended = self.pair(&script, disturbed, setting, &more)?;
            if !disturbed.missed(&ended) {
                return Ok(disturbed.judge(&ended));
            }
        }
        Ok(Verdict::Failed(format!("the {} was missed each time", moment.phase)))
    }

    /// Returns the seed with which a row is measured before the other one, or the verdict of the search.
    fn seed(
        &self,
        disturbed: DisturbedBenchmark<'_>,
        setting: Setting,
    ) -> anyhow::Result<Result<String, Verdict>> {
        let key = (disturbed.row.to_owned(), setting.options);
        if let Some(seed) = lock(&self.seeds).get(&key) {
            return Ok(Ok(seed.clone()));
        }
        let ended = self.pair(include_str!("first.sh"), disturbed, setting, &[])?;
        let seed = ended.stdout.trim().to_owned();
        match judge::judge_script(&ended) {
            Verdict::Passed if seed.is_empty() => {
                return Ok(Err(Verdict::Failed(format!("no seed was found: {}", ended.stderr))));
            }
            Verdict::Passed => {}
            other => return Ok(Err(other)),
        }
        lock(&self.seeds).insert(key, seed.clone());
        Ok(Ok(seed))
    }

    /// Runs a script about a row and the other one.
    fn pair(
        &self,
        script: &str,
        disturbed: DisturbedBenchmark<'_>,
        setting: Setting,
        more: &[(&str, String)],
    ) -> anyhow::Result<ScriptResult> {
        let roles = if disturbed.row.starts_with("null/") { 1 } else { setting.roles };
        let mut variables = vec![
            ("ROW", disturbed.row.to_owned()),
            ("OTHER", disturbed.other.to_owned()),
            ("SETTING", setting.options.to_owned()),
            ("PARTIES", disturbed.parties.map_or_else(String::new, |parties| parties.to_string())),
            ("ROLES", roles.to_string()),
            ("PHASE", disturbed.phase.to_owned()),
        ];
        variables.extend_from_slice(more);
        let script = format!("{}\n{script}", include_str!("pair.sh"));
        cell::run(self.furlong, &script, &variables, Duration::from_secs(60))
    }
}

/// Prints the faults whose cells take the longest; several cells run in parallel.
fn print_slowest(faults: &[Fault], durations: &[Duration]) {
    let mut slowest: Vec<_> = faults.iter().zip(durations).collect();
    slowest.sort_by_key(|(_, duration)| Reverse(**duration));
    for (fault, duration) in slowest.into_iter().take(SLOWEST) {
        println!("xtask: {:>5} s: {} {}", duration.as_secs(), fault.number, fault.what);
    }
}

/// Prints failed cells immediately.
fn tell_failed(fault: &Fault, cells: &[(String, Verdict)]) {
    for (row, verdict) in cells {
        if let Verdict::Failed(what) = verdict {
            println!("xtask: {} {} {row}: {what}", fault.number, fault.what);
        }
    }
}

/// Returns whether a program is found in PATH.
fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for() {
        assert!(is_here("sh") && !is_here("no-such-program-of-anybody"));
    }
}
