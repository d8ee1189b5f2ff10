//! Saved runs compared row by row. The first is the baseline, and each of the others is compared with it.
//!
//! Nothing is measured. What can be said is about two runs: a row is better or worse if chance between trials does
//! not explain the difference, but all else that changed between the runs is in it too.

mod cause;
mod counts;
mod environment;
mod incomparable;
mod power;
mod row;
mod together;

pub use cause::{Cause, Share};
pub use counts::{ChangedCall, ComparedCount, CountChange, Counted};
pub use environment::Difference;
pub use incomparable::Incomparable;
pub(crate) use row::by_margin;
pub use row::{Change, ComparedRow, Inconclusive};
pub use together::{Power, Together};

use crate::{NamedRun, RunFacts};
use furlong_model::Case;
use furlong_stats::tidy;
use serde::Serialize;

/// Version of [`Comparison`] as JSON; it changes when a field changes its meaning or goes.
pub const COMPARISON_SCHEMA: u32 = 2;

/// Runs compared with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: u32,
    /// The name of the run that the others are compared with.
    pub baseline: String,
    /// How many times as long or as short a row may take and count as the same, less 1: 0.05 is 5 %.
    pub margin: f64,
    /// All runs, the baseline first.
    pub runs: Vec<ComparedRun>,
    /// The rows that a run shares with the baseline: by run, the worse first, then by ratio.
    pub rows: Vec<ComparedRow>,
    /// What was counted in a run and in the baseline: by run, those that changed first.
    pub counts: Vec<ComparedCount>,
    /// Rows with a speed in one of two runs only.
    pub only_in: Vec<OnlyIn>,
    /// What the machines and the runs differ in.
    pub environment_differences: Vec<Difference>,
    /// Measured costs that account for a change.
    pub causes: Vec<Cause>,
}

/// One of the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRun {
    /// The name that it was asked for by.
    pub name: String,
    /// Which run it is of.
    #[serde(flatten)]
    pub run: RunFacts,
    /// What its inconclusive rows could have shown; `None` of the baseline, or where no row is too wide.
    pub power: Option<Power>,
    /// That nearly all of its rows moved the same way; `None` of the baseline, or where they did not.
    pub together: Option<Together>,
}

/// A row that has a speed in one of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OnlyIn {
    /// The run that has it.
    pub run: String,
    /// The run that does not.
    pub missing_in: String,
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// Why it has no speed there; `None` where it was not asked for.
    pub reason: Option<String>,
}

impl Comparison {
    /// Whether some row is worse.
    pub fn has_regression(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Change::Worse)
    }

    /// Whether there is a row of which it can be said what became of it.
    pub fn is_conclusive(&self) -> bool {
        self.rows.iter().any(|row| row.verdict != Change::Inconclusive)
    }

    /// Whether of some row it cannot be said what became of it.
    pub fn is_inconclusive(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Change::Inconclusive)
    }

    /// Whether some row makes more system calls.
    pub fn has_more_calls(&self) -> bool {
        self.calls().any(|count| count.verdict == CountChange::More)
    }

    /// Whether there is a row of which it can be said what became of its system calls.
    pub fn is_conclusive_about_calls(&self) -> bool {
        self.calls().any(|count| count.verdict != CountChange::Inconclusive)
    }

    fn calls(&self) -> impl Iterator<Item = &ComparedCount> {
        self.counts.iter().filter(|count| count.counted == Counted::SystemCalls)
    }

    /// The rows of the run of this name, in the order of the table.
    pub fn rows_of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a ComparedRow> {
        self.rows.iter().filter(move |row| row.run == run)
    }

    /// The counts of the run of this name, in the order of the table.
    pub fn counts_of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a ComparedCount> {
        self.counts.iter().filter(move |count| count.run == run)
    }

    /// All runs but the baseline.
    pub fn others(&self) -> impl Iterator<Item = &ComparedRun> {
        self.runs.iter().skip(1)
    }
}

/// Compares each of `runs` but the first with the first. `margin` is a share: 0.05 is 5 %. Names should differ.
///
/// # Errors
/// That there are not two runs, or that one of them shares neither a row nor a count with the baseline.
pub fn compare(runs: &[NamedRun], margin: f64) -> Result<Comparison, Incomparable> {
    let Some((baseline, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(Incomparable::TooFewRuns);
    };
    runs.iter().try_for_each(has_rows)?;
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA,
        baseline: baseline.name.to_owned(),
        margin: tidy(margin),
        runs: vec![ComparedRun::of(baseline, &[], margin)],
        rows: Vec::new(),
        counts: Vec::new(),
        only_in: Vec::new(),
        environment_differences: Vec::new(),
        causes: Vec::new(),
    };
    for other in others {
        has_same_runtime(baseline, other)?;
        let rows = row::compare_rows(*baseline, *other, margin);
        let counts = counts::compare_counts(*baseline, *other);
        if rows.is_empty() && counts.is_empty() {
            return Err(no_common_row(baseline, other));
        }
        let differences = environment::differences(*baseline, *other, &rows);
        let causes = cause::causes(*baseline, *other, &rows);
        let only_in = [(baseline, other), (other, baseline)];
        comparison.only_in.extend(only_in.into_iter().flat_map(|(has, lacks)| only_in_first(has, lacks)));
        comparison.runs.push(ComparedRun::of(other, &rows, margin));
        comparison.environment_differences.extend(differences);
        comparison.causes.extend(causes);
        comparison.rows.extend(rows);
        comparison.counts.extend(counts);
    }
    Ok(comparison)
}

impl ComparedRun {
    /// With what the rows say together that it shares with the baseline.
    fn of(side: &NamedRun, rows: &[ComparedRow], margin: f64) -> Self {
        ComparedRun {
            name: side.name.to_owned(),
            run: side.run.summary.run.clone(),
            power: Power::of(rows),
            together: Together::of(rows, margin),
        }
    }
}

/// What stands for a system is never compared with the system itself.
fn has_same_runtime(baseline: &NamedRun, other: &NamedRun) -> Result<(), Incomparable> {
    let runtime = |side: &NamedRun| side.run.records.header.machine.runtime.to_string();
    if runtime(baseline) == runtime(other) {
        return Ok(());
    }
    Err(Incomparable::OtherRuntime {
        baseline: baseline.name.to_owned(),
        baseline_runtime: runtime(baseline),
        run: other.name.to_owned(),
        runtime: runtime(other),
    })
}

fn has_rows(side: &NamedRun) -> Result<(), Incomparable> {
    if !side.run.summary.rows.is_empty() || !side.run.records.counts.is_empty() {
        return Ok(());
    }
    Err(Incomparable::NoRows {
        run: side.name.to_owned(),
        skipped: side.run.summary.skipped.len(),
        handovers: side.run.records.handovers.len(),
        starts: side.run.records.starts.len(),
    })
}

fn no_common_row(baseline: &NamedRun, other: &NamedRun) -> Incomparable {
    let has = |side: &NamedRun| {
        let rows = side.run.summary.rows.iter().map(|row| &row.case);
        let counted = side.run.records.counts.iter().map(|count| &count.case);
        let mut cases: Vec<Case> = rows.chain(counted).cloned().collect();
        cases.dedup();
        cases
    };
    Incomparable::NoCommonRow {
        baseline: baseline.name.to_owned(),
        run: other.name.to_owned(),
        baseline_has: has(baseline),
        has: has(other),
    }
}

/// The rows of `has` that `lacks` has no speed for.
fn only_in_first(has: &NamedRun, lacks: &NamedRun) -> Vec<OnlyIn> {
    let is_missing = |case: &Case| !lacks.run.summary.rows.iter().any(|row| row.case == *case);
    let reason = |case: &Case| {
        let skipped = lacks.run.summary.skipped.iter().find(|entry| entry.case == *case);
        skipped.map(|entry| format!("{}: {}", entry.status.name(), entry.reason))
    };
    let rows = has.run.summary.rows.iter().filter(|row| is_missing(&row.case));
    rows.map(|row| OnlyIn {
        run: has.name.to_owned(),
        missing_in: lacks.name.to_owned(),
        case: row.case.clone(),
        reason: reason(&row.case),
    })
    .collect()
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
