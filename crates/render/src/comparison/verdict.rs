//! Conclusions of a comparison, as sentences.

use super::{capacities, counts, prose::NAMED};
use crate::noise::disturbance;
use crate::object::JudgedSentences;
use crate::words::first_of_each;
use furlong_analysis::text::{capital, listed, plain};
use furlong_analysis::{
    Cause, Change, CommonChange, ComparedRow, ComparedRun, Comparison, Level, Part, Power,
};
use furlong_model::format_ns;

/// Returns the conclusions: each run against the baseline, and what a comparison of two runs cannot
/// show.
pub fn comparison_verdict(comparison: &Comparison) -> Vec<String> {
    let start = |run: &ComparedRun| (run.run.started_unix_s, run.run.seed);
    let is_one_run = comparison.runs.windows(2).all(|runs| start(&runs[0]) == start(&runs[1]));
    let caveat = if is_one_run {
        "Trials of all values alternated in one run, so load and heat affect them alike."
    } else {
        "The ratios contain everything that changed between the runs: your change, but also load, heat and the physical \
         cores of a virtual machine. Measure both sides again, in turn, before you trust a difference."
    };
    let differs = !comparison.capacities.is_empty() || comparison.rows.iter().any(|row| !row.identical);
    let sentences = comparison
        .others()
        .flat_map(|run| {
            let rates = capacities::sentences(comparison, run);
            let is_of_rates_alone = !rates.is_empty() && comparison.rows_of(&run.name).next().is_none();
            let runs = comparison.runs.first().into_iter().chain([run]);
            let doubts: Vec<_> = runs.filter_map(|run| doubts(run, is_one_run)).collect();
            let of_rates = if is_of_rates_alone { doubts.clone() } else { Vec::new() };
            [conclude(comparison, run, doubts), of_rates, rates, counts::sentences(comparison, run)].concat()
        })
        .chain(differs.then(|| caveat.to_owned()));
    first_of_each(sentences)
}

/// Returns the conclusions from the benchmarks of a run against the baseline.
fn conclude(comparison: &Comparison, run: &ComparedRun, doubts: Vec<String>) -> Vec<String> {
    let rows: Vec<&ComparedRow> = comparison.rows_of(&run.name).collect();
    let (old, new) = (plain(&comparison.baseline), plain(&run.name));
    if rows.is_empty() {
        return Vec::new();
    }
    if rows.iter().all(|row| row.identical) {
        let of = if rows.len() == 1 {
            "one benchmark".to_owned()
        } else {
            format!("all {} benchmarks", rows.len())
        };
        return vec![format!("{new} and {old} have identical trials of {of}: they are copies of one run.")];
    }
    let margin = percent(comparison.margin);
    let counts =
        format!("{}, {new} against {old}, with a margin of {margin}: {}.", have(&rows), counts(&rows));
    let causes = comparison.causes.iter().filter(|cause| cause.run == run.name).map(because);
    [Some(counts)]
        .into_iter()
        .chain(doubts.into_iter().map(Some))
        .chain([Change::Worse, Change::Better].map(|change| changed(&rows, change)))
        .chain([run.power.map(power), run.together.map(together)])
        .flatten()
        .chain(causes)
        .collect()
}

fn have(rows: &[&ComparedRow]) -> String {
    match rows.len() {
        1 => "The benchmark that both have".to_owned(),
        count => format!("Of {count} benchmarks that both have"),
    }
}

fn counts(rows: &[&ComparedRow]) -> String {
    let count = |change: Change| rows.iter().filter(|row| row.verdict == change).count();
    let counts = Change::ALL.map(|change| (count(change), change.name()));
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Formats a share as a percentage: `5 %`, `2.5 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// Reports properties of the run that make its figures less reliable.
fn doubts(run: &ComparedRun, is_one_run: bool) -> Option<String> {
    let name = if is_one_run { "the run".to_owned() } else { plain(&run.name) };
    let noise = &run.run.noise;
    let because = noise.reasons.first().map(|seen| format!(" ({})", disturbance(seen))).unwrap_or_default();
    match noise.level {
        Level::Quiet => None,
        Level::Noisy => Some(format!(
            "The machine was noisy during {name}{because}: ratios may be off by more than their intervals say."
        )),
        Level::Unreliable => Some(format!(
            "The machine was UNRELIABLE during {name}{because}: no comparison with it is possible. Measure it again."
        )),
    }
}

fn changed(rows: &[&ComparedRow], change: Change) -> Option<String> {
    let of_change = rows.iter().filter(|row| row.verdict == change);
    let named = |row: &&ComparedRow| {
        let ends = row.ci95.map(|[low, high]| format!(", {low:.3} to {high:.3}")).unwrap_or_default();
        format!("{} ({:.3} times as long{ends})", plain(&row.case.to_string()), row.ratio.unwrap_or(1.0))
    };
    let names: Vec<_> = of_change.map(named).collect();
    (!names.is_empty()).then(|| format!("{}: {}.", capital(change.name()), listed(&names, NAMED)))
}

fn power(Power { detectable_change, trials_for_same }: Power) -> String {
    let found = format!(
        "Minimum detectable change of the inconclusive benchmarks: about {:.0} % (median; detected in 80 of 100 such \
         comparisons)",
        detectable_change * 100.0
    );
    match trials_for_same {
        None => format!(
            "{found}. A change as small as the margin needs a quieter machine: more trials do not suffice."
        ),
        Some(trials) => {
            format!(
                "{found}. With about {trials:.0} trials per run, unchanged benchmarks would be reported as the same."
            )
        }
    }
}

fn together(CommonChange { moved, rows, ratio }: CommonChange) -> String {
    let word = if ratio > 1.0 { "longer" } else { "less time" };
    format!(
        "{moved} of {rows} benchmarks take {word}, {ratio:.2} times as long in the median: look for a common cause \
         before you look at one mechanism."
    )
}

/// Returns the cost of each cause, for programs.
pub(super) fn costs(comparison: &Comparison) -> JudgedSentences {
    JudgedSentences::new("causes.part", "cost", comparison.causes.iter().map(|cause| cost(cause).into()))
}

/// Returns the name of the cost that changed.
fn cost(cause: &Cause) -> &'static str {
    cause.part.map_or("bare core-to-core round trips", Part::name)
}

fn because(cause: &Cause) -> String {
    let signed = |ns: f64| format!("{}{}", if ns > 0.0 { "+" } else { "" }, format_ns(ns));
    let named: Vec<_> = cause
        .rows
        .iter()
        .map(|share| {
            format!(
                "{} of {} in {} ({} x {} then, {} x {} now)",
                signed(share.part_ns),
                signed(share.change_ns),
                plain(&share.case.to_string()),
                times(share.count_then),
                format_ns(share.cost_then_ns),
                times(share.count_now),
                format_ns(share.cost_now_ns),
            )
        })
        .collect();
    format!("The cost of {} accounts for {}.", cost(cause), listed(&named, NAMED))
}

/// Formats a count with at most two decimals.
fn times(count: f64) -> String {
    ((count * 100.0).round() / 100.0).to_string()
}
