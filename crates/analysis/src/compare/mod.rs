//! Comparison of saved runs, benchmark by benchmark. The first run is the baseline, and every other run is compared with
//! it.
//!
//! The comparison measures nothing. A benchmark is better or worse if chance between trials does not explain the
//! difference. The difference includes every other change between the two runs.

mod capacities;
mod cause;
mod counts;
mod environment;
mod incomparable;
mod power;
mod row;
mod together;
mod values;

pub use capacities::ComparedCapacity;
pub use cause::{Cause, Share};
pub use counts::{ChangedCall, ComparedCount, CountChange, CountedQuantity};
pub use environment::Difference;
pub use incomparable::ComparisonRefusal;
pub(crate) use row::by_margin;
pub use row::{Change, ComparedRow, InconclusiveReason};
pub use together::{CommonChange, Power};
pub use values::RunPart;

use crate::{NamedRun, RunFacts};
use furlong_model::Case;
use furlong_stats::tidy;
use serde::Serialize;

/// Version of [`Comparison`] as JSON. It changes if a field changes its meaning or is removed.
pub const COMPARISON_SCHEMA: u32 = 2;

/// Runs compared with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: u32,
    /// Name of the baseline.
    pub baseline: String,
    /// Largest change that counts as equal, as a factor less 1: 0.05 is 5 %.
    pub margin: f64,
    /// All runs, the baseline first.
    pub runs: Vec<ComparedRun>,
    /// Common benchmarks of each run and the baseline: by run, the worse first, then by ratio.
    pub rows: Vec<ComparedRow>,
    /// Highest rates of each run and the baseline: by run, the worse first; empty unless both searched them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<ComparedCapacity>,
    /// Counts of each run and the baseline: by run, the changed ones first.
    pub counts: Vec<ComparedCount>,
    /// Benchmarks with a speed in only one of two runs.
    pub only_in: Vec<OnlyIn>,
    /// Differences between the machines and the options of the runs.
    pub environment_differences: Vec<Difference>,
    /// Measured costs that account for a change.
    pub causes: Vec<Cause>,
}

/// Run of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Name that the user gave.
    pub name: String,
    /// Facts about the run.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Power of its inconclusive benchmarks; `None` for the baseline, or if no interval is too wide.
    pub power: Option<Power>,
    /// Common change of nearly all benchmarks; `None` for the baseline, or without such a change.
    pub together: Option<CommonChange>,
}

/// Benchmark that has a speed in only one of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OnlyIn {
    /// Run with the benchmark.
    pub run: String,
    /// Run without the benchmark.
    pub missing_in: String,
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Reason for the missing speed; `None` if the case was not requested.
    pub reason: Option<String>,
}

impl Comparison {
    /// Whether any benchmark is worse.
    pub fn has_regression(&self) -> bool {
        self.verdicts().any(|verdict| verdict == Change::Worse)
    }

    /// Whether any benchmark has a verdict.
    pub fn is_conclusive(&self) -> bool {
        self.verdicts().any(|verdict| verdict != Change::Inconclusive)
    }

    /// Whether any benchmark is inconclusive.
    pub fn is_inconclusive(&self) -> bool {
        self.verdicts().any(|verdict| verdict == Change::Inconclusive)
    }

    fn verdicts(&self) -> impl Iterator<Item = Change> {
        let rates = self.capacities.iter().map(|one| one.verdict);
        self.rows.iter().map(|row| row.verdict).chain(rates)
    }

    /// Whether any benchmark makes more system calls.
    pub fn has_more_calls(&self) -> bool {
        self.calls().any(|count| count.verdict == CountChange::More)
    }

    /// Whether the system calls of any benchmark have a verdict.
    pub fn is_conclusive_about_calls(&self) -> bool {
        self.calls().any(|count| count.verdict != CountChange::Inconclusive)
    }

    fn calls(&self) -> impl Iterator<Item = &ComparedCount> {
        self.counts.iter().filter(|count| count.counted == CountedQuantity::SystemCalls)
    }

    /// Returns the benchmarks of the run with this name, in the order of the table.
    pub fn rows_of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a ComparedRow> {
        self.rows.iter().filter(move |row| row.run == run)
    }

    /// Returns the highest rates of the run with this name, in the order of the table.
    pub fn capacities_of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a ComparedCapacity> {
        self.capacities.iter().filter(move |one| one.run == run)
    }

    /// Returns the counts of the run with this name, in the order of the table.
    pub fn counts_of<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a ComparedCount> {
        self.counts.iter().filter(move |count| count.run == run)
    }

    /// Returns all runs except the baseline.
    pub fn others(&self) -> impl Iterator<Item = &ComparedRun> {
        self.runs.iter().skip(1)
    }
}

/// Compares each of `runs` except the first with the first. `margin` is a share: 0.05 is 5 %. The names should differ.
///
/// # Errors
/// Returns an error if there are fewer than two runs, or if a run has neither a benchmark nor a count in common with the
/// baseline.
pub fn compare(runs: &[NamedRun], margin: f64) -> Result<Comparison, ComparisonRefusal> {
    let Some((baseline, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(ComparisonRefusal::TooFewRuns);
    };
    runs.iter().try_for_each(has_rows)?;
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA,
        baseline: baseline.name.to_owned(),
        margin: tidy(margin),
        runs: vec![ComparedRun::of(baseline, &[], margin)],
        rows: Vec::new(),
        capacities: Vec::new(),
        counts: Vec::new(),
        only_in: Vec::new(),
        environment_differences: Vec::new(),
        causes: Vec::new(),
    };
    for other in others {
        has_same_runtime(baseline, other)?;
        let rows = row::compare_rows(*baseline, *other, margin);
        let counts = counts::compare_counts(*baseline, *other);
        let capacities = capacities::compare_capacities(*baseline, *other, margin);
        if rows.is_empty() && counts.is_empty() && capacities.is_empty() {
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
        comparison.capacities.extend(capacities);
        comparison.counts.extend(counts);
    }
    Ok(comparison)
}

impl ComparedRun {
    /// Adds the facts about all benchmarks that the run has in common with the baseline.
    fn of(side: &NamedRun, rows: &[ComparedRow], margin: f64) -> Self {
        ComparedRun {
            name: side.name.to_owned(),
            run: side.run.summary.run.clone(),
            power: Power::of(rows),
            together: CommonChange::of(rows, margin),
        }
    }
}

/// Rejects the comparison of an emulated system with the system itself.
fn has_same_runtime(baseline: &NamedRun, other: &NamedRun) -> Result<(), ComparisonRefusal> {
    let of_machine = |side: &NamedRun| side.run.records.header.machine.runtime.clone();
    let runtime = |side: &NamedRun| of_machine(side).to_string();
    let is_emulated = [baseline, other].into_iter().any(|side| of_machine(side).is_emulation());
    if !is_emulated || runtime(baseline) == runtime(other) {
        return Ok(());
    }
    Err(ComparisonRefusal::OtherRuntime {
        baseline: baseline.name.to_owned(),
        baseline_runtime: runtime(baseline),
        run: other.name.to_owned(),
        runtime: runtime(other),
    })
}

fn has_rows(side: &NamedRun) -> Result<(), ComparisonRefusal> {
    if !side.run.summary.rows.is_empty() || !side.run.records.counts.is_empty() {
        return Ok(());
    }
    Err(ComparisonRefusal::NoRows {
        run: side.name.to_owned(),
        skipped: side.run.summary.skipped.len(),
        handovers: side.run.records.handovers.len(),
        starts: side.run.records.starts.len(),
    })
}

fn no_common_row(baseline: &NamedRun, other: &NamedRun) -> ComparisonRefusal {
    let has = |side: &NamedRun| {
        let rows = row::timed_rows(*side).map(|row| &row.case);
        let rows = rows.chain(side.run.summary.capacities.iter().map(|one| &one.case));
        let counted = side.run.records.counts.iter().map(|count| &count.case);
        let mut cases: Vec<Case> = rows.chain(counted).cloned().collect();
        cases.dedup();
        cases
    };
    ComparisonRefusal::NoCommonRow {
        baseline: baseline.name.to_owned(),
        run: other.name.to_owned(),
        baseline_has: has(baseline),
        has: has(other),
    }
}

/// Returns the benchmarks of `has` without a speed in `lacks`.
fn only_in_first(has: &NamedRun, lacks: &NamedRun) -> Vec<OnlyIn> {
    let is_missing = |case: &Case| !lacks.run.summary.rows.iter().any(|row| row.case == *case);
    let reason = |case: &Case| {
        let skipped = lacks.run.summary.skipped.iter().find(|entry| entry.case == *case);
        skipped.map(|entry| format!("{}: {}", entry.status.name(), entry.reason))
    };
    row::timed_rows(*has)
        .filter(|row| is_missing(&row.case))
        .map(|row| OnlyIn {
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
